"""A snapshot's files: an index that cannot be built fails the run; a failed table stops the others."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.flows.stages import write as written
from noctule.pipeline.errors import ArtifactError, NoSnapshot, WriteFailed
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# One\n\nA page, and [another](b.md).\n")
    (tmp_path / "docs" / "b.md").write_text("# Other\n\nAnother page.\n")
    given = {"collections": {"docs": {"root": str(tmp_path / "docs")}}, "engine": {"name": "inline"}}
    return parse(given, where="a test")


def test_an_index_that_cannot_be_built_fails_the_run(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> Any:
        raise ArtifactError("no index today", where="the vectors", hint="Try tomorrow.")

    monkeypatch.setattr(written, "build_index", refused)
    store = Store(tmp_path / "store")
    with pytest.raises(ArtifactError, match="no index today"):
        build_snapshot(settings, store, PlainDriver(), Silent())
    with pytest.raises(NoSnapshot):
        store.open()


def test_a_table_that_cannot_be_written_stops_the_others(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    def slow(_table: Any, path: Path, **_: Any) -> None:
        begun.append(path.name)
        time.sleep(0.05)
        if len(begun) == 2:
            raise WriteFailed("the disk is full", where=str(path), hint="Make room.")

    monkeypatch.setattr(written, "write_table", slow)
    with pytest.raises(WriteFailed, match="the disk is full"):
        build_snapshot(settings, Store(tmp_path / "store"), PlainDriver(), Silent())
    assert 2 <= len(begun) <= 8
