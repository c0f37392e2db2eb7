"""The listing of a set lies in tables: workers read their rows of it, and the driver holds no file."""

from __future__ import annotations

import errno
import gc
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.disk import durable
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.workers import Begin
from noctule.flows.shards import listing, writing
from noctule.flows.shards.files import table_digest
from noctule.flows.shards.listing import ListingTask, category_pages, listed, listing_of
from noctule.flows.shards.worker import ShardTask, record_of
from noctule.flows.sources.publishing_rules import rules_of
from noctule.flows.stages.sources import list_sources
from noctule.pipeline.errors import ArtifactError, MissingRoot, SourceError, WriteFailed, from_dict
from noctule.pipeline.source_files import FoundFile, version_of
from tests.crash.failing_disk import FailingDisk
from tests.pictures import notebook
from tests.unit.flows.shards.test_failed_collections import PIXEL, settings_for, write_collections


def listed_in(root: Path, store: Path, **shards: object) -> tuple[listing.ListedFiles, ShardTask]:
    """What the driver knows of the files, and the task of a worker but for its shard."""
    settings = settings_for(root, **(shards or {"count": 3}))
    rules = rules_of(settings)
    record = record_of(listing.list_set(ListingTask(settings, store, BuildOptions(), rules)))
    found = listed(record, settings)
    return found, ShardTask(
        "",
        store,
        settings,
        found.plan,
        tuple(sorted(found.files)),
        {"": {"files": found.key}},
        BuildOptions(),
        rules,
    )


def test_shards_read_their_files_as_they_were_found(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    write_collections(root)
    (root / "library" / "été.md").write_text("# Summer\n")
    found, task = listed_in(root, tmp_path / "store")
    expected = list_sources(task.settings, rules=()).files
    files = {name: listing_of(replace(task, shard=name)).files for name in task.shards}
    assert sorted((f for own in files.values() for f in own), key=str) == sorted(expected, key=str)
    for name, own in files.items():
        assert {found.plan.shard_of(f"{each.collection}:{each.path}") for each in own} == {name}
        counts = {kind: sum(each.collection == kind for each in own) for kind in ("library", "journal")}
        assert found.files[name] == {kind: number for kind, number in counts.items() if number}
    # Neither of a collection that failed, nor what lost its address.
    lost = frozenset({("library", "library01.md")})
    later = replace(task, failures={"journal": SourceError("away")}, left_out=lost)
    left = [each for name in task.shards for each in listing_of(replace(later, shard=name)).files]
    assert {each.collection for each in left} == {"library"}
    assert "library01.md" not in {each.path for each in left} and len(left) == 12
    assert found.shards(()) == set(task.shards) and found.shards(("journal", "library")) == set()


def test_only_the_assets_that_are_named_are_read(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    write_collections(root)
    (root / "library" / "plain.ipynb").write_text(notebook(PIXEL))
    _, task = listed_in(root, tmp_path / "store")
    image = "plot.ipynb/cell-1-output-1.png"
    named = [("journal", "gone.png"), ("journal", "owl.png"), ("journal", image), ("library", "owl.png")]
    owl, plot = listing_of(replace(task, shard=task.shards[0]), named).assets
    assert (owl.path, owl.location) == ("owl.png", str(root / "journal/owl.png"))
    place, version = str(root / "journal/plot.ipynb"), version_of((root / "journal/plot.ipynb").stat())
    assert plot == FoundFile("journal", image, place, 0, member=plot.member, version=version)
    failed = replace(task, shard=task.shards[0], failures={"journal": SourceError("away")})
    assert listing_of(failed, named).assets == ()


def test_a_worker_that_finds_another_runs_listing_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network disk, whose clients may still see last night's file."""
    monkeypatch.setattr("noctule.flows.shards.files._SEEN_WITHIN_S", 0)
    write_collections(tmp_path / "notes")
    (_, before), (_, now) = (listed_in(tmp_path / "notes", tmp_path / "store") for _ in range(2))
    assert listing_of(replace(now, shard="0000")).files
    with pytest.raises(ArtifactError, match="'files' belong to another run") as caught:
        listing_of(replace(before, shard="0000"))
    assert str(tmp_path / "store") in caught.value.where


def test_a_folder_whose_name_is_not_utf_8_survives(tmp_path: Path) -> None:
    root = Path(str(tmp_path / "folder-") + "\udcff")
    write_collections(root)
    _, task = listed_in(root, tmp_path / "store")
    files = [each for name in task.shards for each in listing_of(replace(task, shard=name)).files]
    assert files and all(each.location.startswith(str(root)) for each in files)


def test_generated_pages_of_categories_are_found_in_all_shards(tmp_path: Path) -> None:
    write_collections(tmp_path / "notes")
    for name in ("plans", "zoo"):
        (tmp_path / "notes/library" / name).mkdir()
        (tmp_path / "notes/library" / name / "a.md").write_text("# A\n")
        content = '{"label": "Plans", "link": {"type": "generated-index"}}'
        (tmp_path / "notes/library" / name / "_category_.json").write_text(content)
    found, task = listed_in(tmp_path / "notes", tmp_path / "store")
    first, second = pages = category_pages(task)
    assert {first.category, second.category} == {"plans", "zoo"}
    assert [found.plan.shard_of(f"library:{each.path}") for each in pages] == sorted(
        found.plan.shard_of(f"library:{each.path}") for each in pages
    )
    assert category_pages(replace(task, left_out=frozenset({("library", first.path)}))) == [second]
    assert category_pages(replace(task, failures={"library": SourceError("away")})) == []


def test_the_next_listing_of_the_same_files_gives_links_the_same_key(tmp_path: Path) -> None:
    write_collections(tmp_path / "notes")
    digests = set()
    for _ in range(2):
        _, task = listed_in(tmp_path / "notes", tmp_path / "store")
        paths = listing.asset_paths(task.corpus, (), {"journal": ["kept.png", "owl.png"]})
        assert paths.to_pylist() == [{"collection": "journal", "path": x} for x in ("kept.png", "owl.png")]
        digests.add(table_digest(paths))
    assert len(digests) == 1


def test_failures_and_rejections_travel(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    write_collections(root)
    (root / "journal").rename(tmp_path / "away")
    found, _ = listed_in(root, tmp_path / "store")
    (error,) = found.failures.values()
    assert isinstance(error, MissingRoot) and str(error) == str(from_dict(error.as_dict()))
    assert "journal" in error.where and error.hint


def _write_many(root: Path, documents: int) -> None:
    for number in range(documents):
        path = root / "library" / f"a_folder_with_a_long_name_{number % 50}" / f"document_{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (root / "journal").mkdir()


def test_what_the_driver_knows_does_not_grow_with_the_documents(tmp_path: Path) -> None:
    sizes = []
    for documents in (50, 1000):
        root = tmp_path / str(documents)
        _write_many(root, documents)
        found, task = listed_in(root, tmp_path / f"store{documents}", count=4)
        assert sum(sum(counts.values()) for counts in found.files.values()) == documents
        sizes.append(_held([found, task.plan]))
    assert sizes[1] < sizes[0] + 1000


def _held(roots: list[object]) -> int:
    """The bytes of all objects that these lead to, without classes and modules."""
    seen: dict[int, object] = {}
    waiting = list(roots)
    while waiting:
        each = waiting.pop()
        if id(each) not in seen and not isinstance(each, type):
            seen[id(each)] = each
            waiting += gc.get_referents(each)
    return sum(map(sys.getsizeof, seen.values()))


def test_a_disk_that_is_full_in_mid_set_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last shard finds no room, after others were written; the next run goes on from there."""
    write_collections(tmp_path / "notes")
    settings, store = settings_for(tmp_path / "notes", count=3, drift=0), Store(tmp_path / "store")
    before = build_snapshot(settings, store).snapshot
    (tmp_path / "notes/library/library04.md").write_text("# Library 4\n\nOf wrens.\n")
    write_shard = writing.write_shard

    def full(task: ShardTask, begin: Begin) -> pa.Table:
        if task.shard == task.shards[-1]:
            monkeypatch.setattr(durable, "disk", FailingDisk(9, errno.ENOSPC, for_ever=True))
        return write_shard(task, begin)

    monkeypatch.setattr(writing, "write_shard", full)
    with pytest.raises(WriteFailed, match="No space left") as caught:
        build_snapshot(settings, store)
    monkeypatch.undo()
    assert "Free some space" in caught.value.hint and str(store.root) in caught.value.where
    assert store.current() == before
    check_deep(store.path_of(before), before)
    again = build_snapshot(settings, store)
    assert again.changed and (again.parsed, again.encoded) == (0, 0), "surveys are not made again"
