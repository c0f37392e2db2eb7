"""``--from STAGE`` on a set: the pass that makes the stage, and all later ones, are made again."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.disk.manifest_records import FileEntry
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.graph import BUILD, reads_sources
from noctule.flows.report.dry_run import dry_run
from noctule.flows.run import retry
from noctule.flows.run.context import BuildOptions, RunContext
from noctule.flows.shards import link_graph, writing
from noctule.flows.shards.build import SetBuild
from noctule.flows.shards.files import PassFiles
from noctule.flows.shards.passes import PassCaller, repeated_passes
from noctule.flows.shards.worker import ALL_SHARDS
from noctule.flows.stages.embedding import query_model
from noctule.flows.stages.embedding.query_model import EXPORTING
from noctule.pipeline.settings.reading import parse
from tests.faulty_store import FaultyStore, faulty_store
from tests.sentence_model_builder import small_model
from tests.unit.flows.shards.test_shards import Built, built, copy, settings_for  # noqa: F401  # fixtures

EVERY = ("survey", "links", "counts", "statistics", "communities", "snapshot")
OF_EVERY_RUN = {
    "judged queries",
    "relevance",
    "publish",
    "site check",
    "search lookup",
    "site",
    "publish elsewhere",
}


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often each pass was made, and not only found to be made."""
    found, write = dict[str, int](), PassFiles.write

    def noting(self: PassFiles, name: str, key: str, tables: Mapping[str, Any], **values: object) -> object:
        if name in EVERY:
            found[name] = found.get(name, 0) + 1
        return write(self, name, key, tables, **values)

    monkeypatch.setattr(PassFiles, "write", noting)
    return found


@pytest.fixture
def exported(copy: Built, monkeypatch: pytest.MonkeyPatch) -> list[str]:  # noqa: F811
    """The query models that are exported; not really, which takes a minute."""
    found = list[str]()
    with copy.sharded.open() as opened:
        record = opened.manifest.query_model
    assert record is not None

    def noting(*_: object) -> Mapping[str, FileEntry]:
        found.append("model")
        return record.files

    monkeypatch.setattr(query_model, "_export", noting)
    return found


@pytest.mark.parametrize(
    ("stage", "first"),
    [
        ("parse", "survey"),
        ("embed", "survey"),
        ("links", "links"),
        ("query model", "statistics"),
        ("write", "snapshot"),
    ],
)
def test_a_set_begins_at_a_stage(
    stage: str,
    first: str,
    copy: Built,  # noqa: F811
    passes: dict[str, int],
    exported: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    before, settings = copy.sharded.current(), settings_for(copy.root, count=3, drift=0)
    with caplog.at_level(logging.INFO, "noctule"):
        again = build_snapshot(settings, copy.sharded, options=BuildOptions(start=stage))
    assert (again.snapshot, again.changed) == (before, False)
    made = EVERY[EVERY.index(first) :]
    assert passes == {name: 1 if name in {"statistics", "communities"} else 3 for name in made}
    assert (again.parsed, again.encoded > 0) == (39 if stage == "parse" else 0, stage == "embed")
    assert len(exported) == (stage == "query model")
    assert f"--from {stage}: these passes are repeated: {', '.join(made)}" in caplog.text


@pytest.mark.parametrize("start", ["query model", "links"])
def test_the_model_is_exported_by_a_worker_that_ends_and_this_is_said_once(
    start: str,
    copy: Built,  # noqa: F811
    exported: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Torch leaves hundreds of megabytes in its process; what a worker says comes after its pass."""
    ended, call = list[str](), PassCaller.call

    def noting(self: PassCaller, name: str, work: Any, tasks: Any, *, apart: bool = False) -> object:
        assert EXPORTING in caplog.text or not apart
        ended.extend([name] if apart else [])
        return call(self, name, work, tasks, apart=apart)

    monkeypatch.setattr(PassCaller, "call", noting)
    settings = settings_for(copy.root, count=3, drift=0)
    with caplog.at_level(logging.INFO, "noctule"):
        build_snapshot(settings, copy.sharded, options=BuildOptions(start=start))
    is_exported = start == "query model"
    assert (ended, exported) == ((["statistics"], ["model"]) if is_exported else ([], []))
    assert caplog.text.count(EXPORTING) == is_exported


def test_a_set_makes_nothing_again_for_what_every_run_makes(copy: Built, passes: dict[str, int]) -> None:  # noqa: F811
    settings = settings_for(copy.root, count=3, drift=0)
    again = build_snapshot(settings, copy.sharded, options=BuildOptions(start="publish"))
    assert (again.changed, passes) == (False, {})


def test_each_stage_belongs_to_a_pass_or_to_every_run() -> None:
    assert {stage.name for stage in BUILD if not repeated_passes(stage.name)} == OF_EVERY_RUN
    assert repeated_passes(None) == ()


def test_statistics_that_were_kept_within_the_drift_are_made_again(copy: Built) -> None:  # noqa: F811
    path = copy.root / "hub.md"
    path.write_text(path.read_text() + "\nOf herons, and of owls.\n")
    kept = build_snapshot(settings_for(copy.root, count=3, drift=0.5), copy.sharded)
    exact = build_snapshot(
        settings_for(copy.root, count=3, drift=0.5),
        copy.sharded,
        options=BuildOptions(start="static encoder"),
    )
    assert exact.snapshot != kept.snapshot
    assert build_snapshot(settings_for(copy.root, count=3, drift=0), copy.sharded).counts == exact.counts


def test_a_dry_run_of_a_set_reads_its_sources_whatever_the_stage(copy: Built) -> None:  # noqa: F811
    settings, options = settings_for(copy.root, count=3, drift=0), BuildOptions(start="links")
    run = RunContext(
        settings, copy.sharded.root, options, reads_sources=reads_sources(options.start, settings)
    )
    found = dry_run(run, copy.sharded)
    assert found.reads and {each.collection: each.files for each in found.collections} == {"library": 39}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FaultyStore]]:
    monkeypatch.setattr(retry, "_PAUSES_S", (0.0, 0.0))
    with faulty_store() as empty:
        empty.put(**{f"{number}.md": f"# Owl {number}\n\nOf [another](1.md)." for number in range(6)})
        yield empty


def test_only_a_stage_that_reads_files_reads_those_at_an_address_again(
    bucket: type[FaultyStore], tmp_path: Path
) -> None:
    given = {
        "collections": {"c": {"root": "faulty://bucket"}},
        "engine": {"name": "inline"},
        "embed": {"model": small_model()},
        "shards": {"count": 2, "drift": 0},
    }
    settings, store, read = parse(given, where="test"), Store(tmp_path / "store"), dict[str, int]()
    for start in (None, "embed", "load model", "hash", "parse"):
        bucket.requests.clear()
        build_snapshot(settings, store, options=BuildOptions(start=start))
        read[str(start)] = len(set(bucket.asked("read")))
    assert read == {"None": 6, "embed": 0, "load model": 0, "hash": 6, "parse": 6}


class _Stopped(Exception):
    """Thrown where the shards' snapshots would be written."""


def test_how_pages_are_divided_is_part_of_what_a_shard_depends_on(
    copy: Built,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a run that stops after ``--from communities`` would leave shards of two divisions for the next."""
    found, each = list[dict[str, str]](), SetBuild._each

    def recorded(self: SetBuild, name: str, work: Any, keys: Mapping[str, str], **more: Any) -> object:
        if name == link_graph.NAME:
            return {ALL_SHARDS: {"tables": {"members": str(len(found))}}}
        if name == writing.NAME:
            found.append(dict(keys))
            raise _Stopped
        return each(self, name, work, keys, **more)

    monkeypatch.setattr(SetBuild, "_each", recorded)
    (copy.root / "hub.md").write_text("# Hub\n\nChanged.\n")
    for _ in range(2):
        with pytest.raises(_Stopped):
            build_snapshot(settings_for(copy.root, count=3, drift=0), copy.sharded)
    assert found[0].keys() == found[1].keys() and not set(found[0].values()) & set(found[1].values())


def test_a_pass_is_repeated_once_a_run() -> None:
    """Conflicts, collections that fail, and sources that change ask for passes again."""
    build = SetBuild.__new__(SetBuild)
    build._repeated, build._made = ("survey",), {"0000": {"survey": "key"}}
    asked = [("0000", "survey"), ("0001", "survey"), ("0001", "links")]
    assert [build._is_to_repeat(*each) for each in asked] == [False, True, False]
