"""What a worker logs in a pass is in the log of the run, by shard; what shards lack is judged by the set."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from noctule.artifacts.store.night_reports import read_night
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.engines.local import Inline, InlineCaller, Processes
from noctule.flows.run import prefect_tasks
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import seconds_by_stage
from noctule.flows.run.workers import Begin
from noctule.flows.shards.passes import PassCaller
from noctule.flows.shards.plan import ShardPlan
from noctule.flows.shards.worker import receipt
from noctule.pipeline.settings.settings import Settings
from tests.unit.flows.shards.test_failed_collections import (
    Nights,
    nights,  # noqa: F401  # a fixture
    settings_for,
)

_log = logging.getLogger("noctule")


class Task:
    """A task for a shard."""

    def __init__(self, shard: str) -> None:
        self.shard = shard


def remarking(task: Task, _begin: Begin) -> pa.Table:
    """A pass with something to say, of which only the log would know."""
    _log.info("%s files are read", len(task.shard))
    _log.warning("an image is read again")
    _log.warning("an image is read again")
    if task.shard == "0002":
        raise ValueError("the pass fails")
    return receipt({"key": task.shard})


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    """The lines of the log, without those that say how long a pass took."""
    found = [(each.levelno, each.getMessage()) for each in caplog.records]
    return [
        (level, text)
        for level, text in found
        if not re.search(r"of (\d shards?|all shards): [\d.]+ s$", text)
    ]


@pytest.mark.parametrize("kind", ["inline", "processes"])
def test_remarks_of_workers_are_in_the_log_in_the_order_of_the_shards(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A process of its own has no log that anybody reads; this one's would not name the shard."""
    engine = Inline() if kind == "inline" else Processes(Settings())
    with engine.workers(6) as here, caplog.at_level(logging.INFO, "noctule"):
        caller = PassCaller(kind, engine, here, PlainDriver())
        names = ["0001", "0000", ""]
        found = caller.call("survey", remarking, [Task(each) for each in names])
        assert [each["key"] for each in found] == names
        assert lines(caplog) == [
            (20, "shard 0001: 4 files are read"),
            (30, "shard 0001: an image is read again"),
            (20, "shard 0000: 4 files are read"),
            (30, "shard 0000: an image is read again"),
            (20, "0 files are read"),
            (30, "an image is read again"),
        ]
        caplog.clear()
        caller.call("links", remarking, [Task("0001")])
        assert lines(caplog) == [], "the same caches are opened by several passes"
        with pytest.raises(ValueError, match="the pass fails"):
            caller.call("counts", remarking, [Task("0003"), Task("0002")])
        assert (20, "shard 0003: 4 files are read") in lines(caplog)
        assert (kind == "inline") == ((20, "4 files are read") in lines(caplog))


def damage_parse_caches(store: Path, *shards: str) -> None:
    """Damage the parse caches of these shards, of which each says so as soon as it opens them."""
    for name in shards:
        for path in (store / "shards" / name / "parse-cache").glob("*.arrow"):
            path.chmod(0o644)
            path.write_bytes(b"damaged")


def shards_with_damage(log: Iterable[str]) -> list[str]:
    """Return who says so in the lines of a log, in their order."""
    found = (
        re.search(r"(shard \d+): .* are not used, so their files are parsed again", line) for line in log
    )
    return list(dict.fromkeys(each[1] for each in found if each))


def test_what_a_shard_cannot_use_of_its_caches_is_in_the_log(
    nights: Nights,  # noqa: F811
    caplog: pytest.LogCaptureFixture,
) -> None:
    damage_parse_caches(nights.sharded.root, "0002", "0000")
    nights.change_library()
    with caplog.at_level(logging.INFO, "noctule"):
        nights.build()
    assert shards_with_damage(text for _, text in lines(caplog)) == ["shard 0000", "shard 0002"]


def test_a_task_of_prefect_names_the_shard_and_not_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass may be made again over the third of several shards alone."""
    shown = list[str]()

    def run(call: Any, _stage: str, name: str) -> Any:
        shown.append(name)
        return call.work()

    monkeypatch.setattr(prefect_tasks, "_run", run)
    caller = PassCaller("inline", Inline(), InlineCaller(), prefect_tasks.PrefectDriver())
    caller.call("survey", remarking, [Task("0001"), Task("0003")])
    caller.call("set", remarking, [Task("")])
    assert shown == ["survey of shard 0001", "survey of shard 0003", "set of all shards"]


def test_a_pass_that_took_a_while_says_how_long(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("noctule.flows.shards.passes._WORTH_A_LINE_S", 0)
    caller = PassCaller("inline", Inline(), InlineCaller(), PlainDriver())
    with caplog.at_level(logging.INFO, "noctule"):
        caller.call("counts", remarking, [Task("0000"), Task("0001")])
        caller.call("set", remarking, [Task("")])
    said = [
        each.getMessage().rpartition(": ")[0] for each in caplog.records if each.getMessage().endswith(" s")
    ]
    assert said == ["counts of 2 shards", "set of all shards"]


def test_the_report_of_a_night_has_the_seconds_of_each_pass(nights: Nights) -> None:  # noqa: F811
    nights.change_library()
    done = nights.build()
    passes = [
        "files",
        "survey",
        "conflicts",
        "links",
        "counts",
        "statistics",
        "communities",
        "snapshot",
        "set",
    ]
    taken = seconds_by_stage(done.times)
    assert [name for name in taken if name in passes] == passes and taken["survey"] > 0
    assert sum(taken.values()) <= done.seconds
    night = read_night(nights.sharded.root, done.snapshot)
    assert night is not None
    assert {each["stage"]: each["seconds"] for each in night["stages"] if each["stage"] in passes} == {
        name: taken[name] for name in passes
    }


def _break(root: Path, number: int) -> None:
    for each in range(number):
        (root / "journal" / f"journal{each:02}.md").write_bytes(b"\x00\xff\xfe")


def test_a_collection_that_lost_too_much_keeps_its_documents(
    nights: Nights,  # noqa: F811
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its files are all there, and many cannot be used: each shard sees a part of them."""
    nights.change_library()
    _break(nights.root, 5)
    whole = build_snapshot(settings_for(nights.root), nights.whole)
    failed = nights.build()
    assert failed.failed == whole.failed and "lose 5 of its 13 documents" in failed.failed["journal"]
    nights.require_as_the_whole()
    # Accepted, it is said once, and of the collection: a shard may have lost more, or nothing.
    caplog.clear()
    with caplog.at_level(logging.INFO, "noctule"):
        options = BuildOptions(accept_shrink=True)
        done = build_snapshot(settings_for(nights.root, count=3, drift=0), nights.sharded, options=options)
    assert done.changed and not done.failed
    said = [text for _, text in lines(caplog) if "would lose" in text]
    assert said == ["accepted: collection 'journal' would lose 5 of its 13 documents (38%)"]


def test_what_is_accepted_is_said_once_though_another_collection_fails(
    nights: Nights,  # noqa: F811
    caplog: pytest.LogCaptureFixture,
) -> None:
    """All shards are surveyed again without the one that fails, and the others judged no second time."""
    _break(nights.root, 5)
    for number in range(8):
        (nights.root / f"library/library{number:02}.md").write_bytes(b"\x00\xff\xfe")
    with caplog.at_level(logging.INFO, "noctule"):
        options = BuildOptions(accept_shrink=True)
        done = build_snapshot(settings_for(nights.root, count=3, drift=0), nights.sharded, options=options)
    assert list(done.failed) == ["library"]
    said = [text for _, text in lines(caplog) if text.startswith("accepted")]
    assert said == ["accepted: collection 'journal' would lose 5 of its 13 documents (38%)"]


def test_documents_whose_address_another_shard_has_are_lost_to_the_collection(nights: Nights) -> None:  # noqa: F811
    plan = ShardPlan("hash", 3, ("library", "journal"))
    names = [f"journal{number:02}" for number in range(12)]
    apart = [x for x in names if len({plan.shard_of(f"journal:{x}.{end}") for end in ("md", "txt")}) == 2][:5]
    for name, gone in zip(apart, [each for each in names if each not in apart][:5], strict=True):
        (nights.root / f"journal/{name}.txt").write_text(f"The other {name}.\n")
        (nights.root / f"journal/{gone}.md").unlink()
    nights.change_library()
    whole = build_snapshot(settings_for(nights.root), nights.whole)
    failed = nights.build()
    assert failed.failed == whole.failed and "lose 5 of its 13 documents" in failed.failed["journal"]
    nights.require_as_the_whole()


def test_few_unusable_files_in_one_shard_are_no_failure_of_the_collection(nights: Nights) -> None:  # noqa: F811
    """Of one shard they are all; of the collection they are few."""
    plan = ShardPlan("folder", 2, ("library", "journal"))
    folder = next(x for x in "abcdef" if plan.shard_of(f"library:{x}/1.md") != plan.shard_of("library:1.md"))
    (nights.root / "library" / folder).mkdir()
    for each in range(4):
        (nights.root / "library" / folder / f"{each}.md").write_bytes(b"\x00\xff\xfe")
    settings = settings_for(nights.root, count=2, by="folder")
    assert not build_snapshot(settings, Store(nights.root.parent / "other")).failed
