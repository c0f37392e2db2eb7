"""Options that name several stores take addresses too, and so does the variable in their place."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path
from typing import NoReturn

import pytest

from noctule.artifacts.remote.mirror import mirror_folder
from noctule.flows.cli.main import app
from noctule.flows.cli.query.search import _namespace
from noctule.flows.cli.query.tune import TuningFlags
from noctule.pipeline.errors import SettingsError

ADDRESS = "s3://bucket/docs"


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path))


def test_stores_to_tune_may_be_at_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    stores: list[object] = []

    def seen(given: TuningFlags, config: Path | None) -> NoReturn:
        stores.extend(given.store or ())
        raise SettingsError("seen", where="here", hint="")

    monkeypatch.setattr(TuningFlags, "request", seen)
    with pytest.raises(SystemExit), redirect_stderr(io.StringIO()):
        raise SystemExit(app(["tune", "--store", ADDRESS, "--store", "a folder"], standalone_mode=False))
    assert stores == [mirror_folder(ADDRESS), Path("a folder")]


@pytest.mark.parametrize("given", [ADDRESS, "/srv/a folder"])
def test_one_variable_names_one_store_to_tune(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOCTULE_STORE", given)
    expected = mirror_folder(given) if given == ADDRESS else Path(given)
    assert TuningFlags().request(None).stores == (expected,)


def test_a_namespace_may_be_at_an_address() -> None:
    assert _namespace(f"docs={ADDRESS}") == ("docs", mirror_folder(ADDRESS))
