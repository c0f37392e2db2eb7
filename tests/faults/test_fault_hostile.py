"""A hostile document costs seconds, once: it is isolated at once, and what was found is remembered."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.engines.local import Processes
from noctule.flows.report.result import BuildResult
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.flows.run.versions import parse_fingerprints
from noctule.flows.run.workers import Begin, WorkerFailed, Workers, WorkStep
from noctule.flows.stages import parse as parse_stage
from noctule.flows.stages.parse_batch import FileBatch, parse_files
from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.parse import parse as parse_document
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.source_files import FoundFile
from tests.faults.greedy_parser import parse_files_greedily
from tests.processor_time import processor_seconds
from tests.repetitions import ALL, sample, torture_only
from tests.sentence_model_builder import small_model

HOSTILE = 10 if ALL else 2
_HANGS = "a" * 60 + "!"


@pytest.fixture(autouse=True)
def _encodes_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that loads the model in each night would cost more than all that is tested here."""
    monkeypatch.setattr(Processes, "prepare", lambda *_: None)


def _vault(folder: Path) -> Path:
    folder.mkdir()
    for number in range(20):
        (folder / f"note{number}.md").write_text(f"# Note {number}\n\nText of {number}.\n")
    for number in range(HOSTILE):
        (folder / f"evil{number}.md").write_text(f"{number}\n\n{_HANGS}")
    return folder


def _settings(folder: Path, limit_s: float = 1.0) -> Settings:
    rules = [{"pattern": "(a+)+$", "replacement": ""}]
    given = {
        "collections": {"vault": {"root": str(folder / "vault"), "rules": rules}},
        "limits": {"parse_timeout_s": limit_s, "max_failed_share": 0.5},
        "embed": {"model": small_model(), "workers": 1},
    }
    return parse(given, "test")


def _night(folder: Path) -> BuildResult:
    return build_snapshot(_settings(folder), Store(folder / "store"), PlainDriver(), Silent())


def _quarantined(result: BuildResult) -> set[str]:
    return {each.path for each in result.rejections if "1 s of processor time" in each.reason}


@pytest.mark.timeout(100 * HOSTILE)
def test_documents_that_hang_cost_their_limit_once(tmp_path: Path) -> None:
    vault = _vault(tmp_path / "vault")
    evil = {f"evil{number}.md" for number in range(HOSTILE)}
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    first = _night(tmp_path)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used.ru_utime
    assert first.documents == 20 and _quarantined(first) == evil
    assert spent > HOSTILE
    second = _night(tmp_path)
    assert (second.parsed, second.snapshot) == (0, first.snapshot)
    assert _quarantined(second) == evil
    # Another document is parsed without them, one of them that was mended is indexed.
    (vault / "evil1.md").write_text("# Mended\n\nText.\n")
    third = _night(tmp_path)
    assert 0 < third.parsed <= 4 and third.documents == 21
    assert _quarantined(third) == evil - {"evil1.md"}
    other = parse_fingerprints(_settings(tmp_path, limit_s=0.5)).values()
    assert not set(other) & set(parse_fingerprints(_settings(tmp_path)).values()), (
        "other limits get the old verdicts"
    )


def work(batch: str, begin: Begin) -> str:
    """Begin three items, and get stuck at the second in the way that the batch names."""
    for number in range(3):
        begin(WorkStep(number, mark=f"mark {number}"))
        if number == 1:
            _WAYS[batch]()
    return "done"


def _spin() -> None:
    while True:
        pass


def _bomb() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    bytearray(8 << 30)


_WAYS = {
    "spin": _spin,
    "crash": lambda: signal.raise_signal(signal.SIGSEGV),
    "killed": lambda: signal.raise_signal(signal.SIGKILL),
    "fine": lambda: None,
    "waits": lambda: time.sleep(1.5),
    "bomb": _bomb,
}


@pytest.mark.parametrize(
    ("way", "lasting", "by_chance"),
    sample([("spin", True, False), ("crash", True, False), ("killed", False, True)], 3),
)
def test_a_failure_names_its_culprit_and_whether_it_would_come_again(
    way: str, lasting: bool, by_chance: bool
) -> None:
    with Workers(1) as workers:
        with pytest.raises(WorkerFailed) as caught:
            workers.watch(work, way, 0.5)
        assert caught.value.at == WorkStep(1, mark="mark 1")
        assert (caught.value.is_lasting, caught.value.by_chance) == (lasting, by_chance)
        # Processor time decides: waiting for a busy machine costs no document.
        assert workers.watch(work, "waits", 0.5) == "done"
        with pytest.raises(MemoryError):
            workers.watch(work, "bomb", 30)
        assert workers.watch(work, "fine", 0.5) == "done"


_BOMBS = {
    "line.md": "word " * 999_999,
    "quotes.md": ">" * 200_000 + " deep",
    "lists.md": "\n".join(" " * (2 * depth) + "- item" for depth in range(1500)),
    "brackets.md": "[" * 500_000,
    "emphasis.md": "*a " * 200_000,
    "tags.html": "<div>" * 200_000 + "deep",
    "yaml.md": "---\na: &a [x,x,x,x,x,x,x,x,x]\n"
    + "\n".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]" for n in range(9))
    + "\n---\ntext\n",
    "nested.md": "---\na: " + "[" * 100_000 + "\n---\ntext\n",
    "cells.ipynb": json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [{"cell_type": "markdown", "metadata": {}, "source": ["x\n"] * 10}] * 20_000,
        }
    ),
    "nested.ipynb": '{"cells":' + "[" * 400_000 + "]" * 400_000 + "}",
    "emphasis.rst": "*a " * 400_000,
    "references.rst": "a_ " * 300_000,
    "sections.rst": "\n".join("  " * depth + "* item\n" for depth in range(400)),
}


def parse_bomb(path: str, begin: Begin) -> float:
    """Parse a file in this process, which may have 3 GiB; return the seconds of processor time."""
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    place = Path(path)
    collection = Collection(root=str(place.parent))
    begin(WorkStep(0))
    before = processor_seconds()
    with suppress(RejectedDocument):
        found = FoundFile("c", place.name, path, place.stat().st_size)
        parse_document(read_source(found, collection), collection)
    return processor_seconds() - before


@pytest.fixture(scope="module")
def parser_process() -> Iterator[Workers]:
    """One for all bombs: a process takes seconds to start."""
    with Workers(1) as workers:
        yield workers


@pytest.mark.timeout(200)
@pytest.mark.parametrize("name", sample(_BOMBS, 2))
def test_a_bomb_ends_within_its_bounds_of_time_and_memory(
    name: str, parser_process: Workers, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(_BOMBS[name])
    assert parser_process.watch(parse_bomb, str(tmp_path / name), 30) < 30


_STEPS = "NOCTULE_TEST_STEPS"


def parse_files_within(batch: FileBatch, begin: Begin) -> pa.Table:
    """Understand a batch in this process, which may have 3 GiB, and note each file that it begins."""
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    paths = [file.path for group in batch.groups for file in group]

    def noted(step: WorkStep) -> None:
        with Path(os.environ[_STEPS]).open("a") as steps:
            begun = "group" if step.count > 1 else "parse" if step.mark else "read"
            steps.write(f"{begun} {paths[step.first]}\n")
        begin(step)

    return parse_files(batch, noted)


@torture_only
@pytest.mark.timeout(300)
def test_a_line_of_100_megabytes_costs_its_limit_and_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where ``max_bytes`` allows it at all, the limit of time or of memory ends it.

    Attempts are counted, since each has its limit from the kernel. Seconds of the whole build would mostly
    be those in which worker processes import their libraries: how many, the machine decides.
    """
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "note.md").write_text("# Note\n\nText.\n")
    (vault / "line.md").write_text("word " * 20_000_000)
    given = {
        "collections": {"vault": {"root": str(vault), "max_bytes": 200_000_000}},
        "limits": {"parse_timeout_s": 8.0, "max_failed_share": 0.9},
        "embed": {"model": small_model(), "workers": 1},
    }
    monkeypatch.setenv(_STEPS, str(tmp_path / "steps"))
    monkeypatch.setattr(parse_stage, "parse_files", parse_files_within)
    done = build_snapshot(parse(given, "test"), Store(tmp_path / "store"), PlainDriver(), Silent())
    steps = Counter((tmp_path / "steps").read_text().splitlines())
    print(f"{dict(steps)}: {[each.reason for each in done.rejections]}")
    assert steps["parse line.md"] == steps["parse note.md"] == 1
    assert steps["read line.md"] <= 2  # once more to see that it is still the file of the verdict
    assert done.documents == 1
    [line] = done.rejections
    assert line.path == "line.md" and ("processor time" in line.reason or "memory" in line.reason)


@pytest.mark.timeout(900)
def test_parsers_that_take_all_their_memory_cost_their_documents_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"hoard.md": "HOARD", "killed.md": "KILLED", "note.md": "# Note\n\nText.\n"}
    (tmp_path / "vault").mkdir()
    for name, text in texts.items():
        (tmp_path / "vault" / name).write_text(text)
    monkeypatch.setattr(parse_stage, "parse_files", parse_files_greedily)
    for _night in range(2 if ALL else 1):
        done = _night_of_greed(tmp_path)
        assert done.documents == 1
        assert {each.path: each.reason for each in done.rejections} == {
            "hoard.md": "took more memory than there is",
            "killed.md": "the parser crashed (signal 9)",
        }
    monkeypatch.undo()
    assert _night_of_greed(tmp_path).documents == 3, "what may heal is tried again"


def _night_of_greed(folder: Path) -> BuildResult:
    given = {
        "collections": {"vault": {"root": str(folder / "vault")}},
        "limits": {"max_failed_share": 0.9},
        "embed": {"model": small_model(), "workers": 1},
    }
    return build_snapshot(parse(given, "test"), Store(folder / "store"), PlainDriver(), Silent())
