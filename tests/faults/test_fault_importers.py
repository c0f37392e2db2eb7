"""Folders whose settings mean harm: imported within their project, or refused, in seconds."""

from __future__ import annotations

import resource
import tomllib
from pathlib import Path

import pytest

from noctule.flows.cli.init import import_settings
from noctule.pipeline.errors import NoctuleError
from tests.fuzz.hostile_folders import SECRET, cases, written
from tests.processor_time import processor_seconds
from tests.repetitions import ALL

CASES = list(cases())
TAKEN = CASES if ALL else CASES[::23]
_PARTS, _LIMIT_S, _LIMIT_KB = 8, 20.0, 1_000_000


def _peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize("part", range(_PARTS))
def test_settings_that_mean_harm_lead_nowhere_and_cost_seconds(part: int, tmp_path: Path) -> None:
    peak_before = _peak_kb()
    for at, (name, files) in enumerate(TAKEN[part::_PARTS]):
        (tmp_path / str(at)).mkdir()
        work, began = written(files, tmp_path / str(at)), processor_seconds()
        try:
            started, _ = import_settings(work, work)
        except NoctuleError as error:
            assert SECRET not in str(error), name
        else:
            text = (work / "noctule.toml").read_text("utf-8")
            assert SECRET not in text and "root:x" not in text and Path(started.root).is_relative_to(work), (
                name
            )
            for each in tomllib.loads(text)["collections"].values():
                folders = (each["root"], *each.get("static_folders", ()), *each.get("snippet_folders", ()))
                assert all((work / one).resolve().is_relative_to(work.resolve()) for one in folders), name
        assert processor_seconds() - began < _LIMIT_S, name
    assert not (tmp_path / "PWNED").exists()
    # The peak of the process: earlier tests may have gone higher, and then nothing is added to it.
    assert _peak_kb() - peak_before < _LIMIT_KB


def test_the_folders_are_of_every_tool() -> None:
    names = {name.rpartition("/")[2] for _, files in CASES for name in files}
    assert len(CASES) > 300
    assert names >= {"mkdocs.yml", "book.toml", "hugo.toml", "conf.py", "_config.yml", "dendron.yml"}
