"""Isolation of files that crash their parser: what is around them is parsed twice at most, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from noctule.artifacts.cache.parsed_corpus import joined
from noctule.flows.run.versions import parse_fingerprints
from noctule.flows.run.workers import WorkerFailed, WorkStep
from noctule.flows.stages import parse as stage
from noctule.flows.stages.parse_batch import FileBatch, ParseVerdict, parse_files
from noctule.pipeline.discover import list_files
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings.reading import parse

FILES = 24
CULPRITS = {3, 4, 9, 15, 23}


class _Crashing:
    """A caller whose worker dies at files that are about to be parsed and hold a certain word."""

    count = 1

    def __init__(self) -> None:
        self.parsed = Counter[str]()

    def watch(self, work: Callable[..., pa.Table], batch: FileBatch, limit_s: float) -> pa.Table:
        files = [file for group in batch.groups for file in group]

        def begin(step: WorkStep) -> None:
            if step.count > 1 or not step.mark:
                return
            path = files[step.first].path
            self.parsed[path] += 1
            if path.startswith("evil"):
                raise _Dead(WorkerFailed("crashed (signal 11)", step, is_lasting=True))

        try:
            return work(batch, begin)
        except _Dead as dead:
            raise dead.failure from None


class _Dead(BaseException):
    def __init__(self, failure: WorkerFailed) -> None:
        self.failure = failure


@pytest.mark.parametrize("of_a_group", [1, 2, 5])
def test_files_around_those_that_crash_are_parsed_twice_at_most(of_a_group: int, tmp_path: Path) -> None:
    for number in range(FILES):
        name = "evil" if number in CULPRITS else "note"
        (tmp_path / f"{name}{number:02}.md").write_text(f"# {name} {number}\n\nText.\n")
    given: dict[str, Any] = {"collections": {"c": {"root": str(tmp_path)}}}
    settings = parse(given, "test")
    files = sorted(list_files("c", settings.collections["c"]).files, key=lambda file: file.path[4:])
    groups = tuple(tuple(files[at : at + of_a_group]) for at in range(0, FILES, of_a_group))
    batch = FileBatch(groups, settings, parse_fingerprints(settings))
    caller = _Crashing()
    rows = stage.isolated(caller, batch)
    found = joined(rows)
    assert len(rows) == len(groups)
    assert found.documents["path"].to_pylist() == [f.path for f in files if f.path.startswith("note")]
    assert sorted(each.path for each in found.rejections) == [
        f.path for f in files if f.path.startswith("evil")
    ]
    assert max(caller.parsed[path] for path in caller.parsed if path.startswith("evil")) == 1
    # Once before the crash after it, once again; and its group may begin anew at each crash in it.
    most = 2 + max(len(CULPRITS & set(range(at, at + of_a_group))) for at in range(0, FILES, of_a_group))
    assert max(caller.parsed.values()) <= most
    reader = settings.collections["c"]
    verdicts = {
        number: ParseVerdict("crashed", read_source(file, reader).sha256, True)
        for number, file in enumerate(files)
        if file.path.startswith("evil")
    }
    at_once = parse_files(FileBatch(groups, settings, batch.fingerprints, verdicts))
    assert rows["key"].to_pylist() == at_once["key"].to_pylist()
