"""A collection that cannot be read keeps, in shards too, what the current set says of it."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.query import Searcher
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.report.result import BuildResult
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.workers import Begin
from noctule.flows.shards import counting
from noctule.flows.shards.failed_collections import sizes_of_collections
from noctule.flows.shards.worker import ShardTask
from noctule.flows.stages import sources
from noctule.flows.stages.guards import CollectionSize
from noctule.pipeline.errors import EmptyCollection, MissingRoot, SourceError
from noctule.pipeline.model import ReportEntry, Source
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.source_files import FoundFile
from tests.pictures import notebook
from tests.sentence_model_builder import small_model
from tests.shared_folder import copied_store, shared_folder
from tests.unit.flows.shards.test_shards import shown

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c626001000000ffff03000006000557bfabd40000000049454e44ae426082"
)


def write_collections(root: Path) -> None:
    """Two collections; one of them has images, and a file that cannot be used."""
    for number in range(12):
        for name in ("library", "journal"):
            path = root / name / f"{name}{number:02}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                f"# {name} {number}\n\nOf owls and word{number}; [another]({name}{(number + 5) % 12:02}.md)."
            )
    journal = root / "journal"
    (journal / "owl.png").write_bytes(PIXEL)
    (journal / "plot.ipynb").write_text(notebook(PIXEL))
    (journal / "journal03.md").write_text("# Journal 3\n\nHerons at dawn.\n\n![An owl](owl.png)\n")
    (journal / "broken.md").write_bytes(b"\x00\xff\xfe")


def settings_for(root: Path, **shards: object) -> Settings:
    collections = {name: {"root": str(root / name)} for name in ("library", "journal")}
    given = {
        "collections": collections,
        "engine": {"name": "inline"},
        "embed": {"model": small_model()},
        "publish": {"keep": 0},
    }
    return parse({**given, **({"shards": shards} if shards else {})}, where="test")


@dataclass(frozen=True)
class Nights:
    """The same notes in a store of the whole, and in one of shards."""

    root: Path
    whole: Store
    sharded: Store

    def build(self, **shards: object) -> BuildResult:
        return build_snapshot(settings_for(self.root, **{"count": 3, "drift": 0, **shards}), self.sharded)

    def change_library(self) -> None:
        path = self.root / "library/library04.md"
        path.write_text(path.read_text() + "\n\nOf wrens.\n")

    def report(self, store: Store) -> list[str]:
        with store.open() as opened:
            return sorted(map(str, opened.table("report").to_pylist()))

    def require_as_the_whole(self) -> None:
        """The set has the documents, report, images and answers of the whole."""
        assert self.report(self.whole) == self.report(self.sharded)
        with (
            Searcher(self.whole.open(), Settings()) as one,
            Searcher(self.sharded.open(), Settings()) as other,
        ):
            for query in ("wrens", "owls", "herons at dawn"):
                assert shown(one.search(query, 50)) == shown(other.search(query, 50))
            for table in ("documents", "assets", "links"):
                rows = [sorted(map(str, _rows(each, table))) for each in (one, other)]
                assert rows[0] == rows[1] and rows[0], table
            assert "plot.ipynb/cell-1-output-1.png" in {path for _, path, _ in _rows(one, "assets")}
        with self.sharded.open() as opened:
            check_deep(opened.path, opened.id)


def _rows(searcher: Searcher, table: str) -> list[tuple[object, ...]]:
    columns = {
        "documents": "doc_id, sha256, links_in, links_out",
        "assets": "collection, path, asset_id",
        "links": "source_id, target_id, status, asset",
    }
    return searcher.sql(f"select {columns[table]} from {table}").fetchall()


def _build(base: Path) -> None:
    write_collections(base / "notes")
    build_snapshot(settings_for(base / "notes"), Store(base / "whole"))
    build_snapshot(settings_for(base / "notes", count=3, drift=0), Store(base / "sharded"))


@pytest.fixture
def nights(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Nights:
    copied_store(shared_folder(tmp_path_factory, "collections in shards", _build), tmp_path / "nights")
    base = tmp_path / "nights"
    return Nights(base / "notes", Store(base / "whole"), Store(base / "sharded"))


def test_a_collection_that_is_away_keeps_its_documents(nights: Nights) -> None:
    nights.change_library()
    (nights.root / "journal").rename(nights.root / "away")
    whole = build_snapshot(settings_for(nights.root), nights.whole)
    failed = nights.build()
    assert failed.changed and failed.failed == whole.failed and list(failed.failed) == ["journal"]
    nights.require_as_the_whole()
    assert (
        sum("the collection failed, its documents are" in each for each in nights.report(nights.sharded)) == 1
    )
    # The same again costs nothing, and the collection comes back.
    again = nights.build()
    assert (again.changed, again.parsed, again.encoded) == (False, 0, 0) and again.failed == failed.failed
    (nights.root / "away").rename(nights.root / "journal")
    build_snapshot(settings_for(nights.root), nights.whole)
    assert not nights.build().failed
    nights.require_as_the_whole()


def test_what_is_kept_is_that_of_the_current_set(nights: Nights) -> None:
    """A later set was made and rolled back: its shards are not what the current set says."""
    journal = nights.root / "journal"
    (journal / "journal03.md").write_text("# Journal 3\n\nNothing of the kind.\n")
    nights.build()
    nights.sharded.rollback()
    nights.change_library()
    journal.rename(nights.root / "away")
    build_snapshot(settings_for(nights.root), nights.whole)
    nights.build()
    nights.require_as_the_whole()


def test_a_collection_that_fails_while_it_is_read_falls_back_in_all_shards(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights.change_library()
    for number in (1, 2, 3):
        path = nights.root / f"journal/journal{number:02}.md"
        path.write_text(path.read_text() + "\n\nNew, and not to be seen.\n")
    read = sources.read_in_full

    def away(file: FoundFile, settings: Settings) -> Source:
        if file.path == "journal07.md":
            raise SourceError("the store is away", where=file.path, hint="Try again.")
        return read(file, settings)

    monkeypatch.setattr(sources, "read_in_full", away)
    build_snapshot(settings_for(nights.root), nights.whole)
    assert list(nights.build().failed) == ["journal"]
    nights.require_as_the_whole()


def test_a_collection_that_goes_away_after_the_survey_falls_back(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights.change_library()
    read, count_shard, counted = sources.read_in_full, counting.count_shard, list[str]()

    def away(file: FoundFile, settings: Settings) -> Source:
        if counted and file.collection == "journal":
            raise SourceError("the store is away", where=file.path, hint="Try again.")
        return read(file, settings)

    def late(task: ShardTask, begin: Begin) -> pa.Table:
        counted.append(task.shard)
        return count_shard(task, begin)

    monkeypatch.setattr(sources, "read_in_full", away)
    monkeypatch.setattr(counting, "count_shard", late)
    assert list(nights.build().failed) == ["journal"]
    build_snapshot(settings_for(nights.root), nights.whole)
    nights.require_as_the_whole()


def test_a_collection_whose_documents_lie_in_other_shards_fails_the_run(nights: Nights) -> None:
    before = nights.sharded.current()
    (nights.root / "journal").rename(nights.root / "away")
    with pytest.raises(MissingRoot, match="cut into other shards"):
        nights.build(count=4)
    assert nights.sharded.current() == before


def test_a_new_collection_that_cannot_be_read_has_no_documents(nights: Nights, tmp_path: Path) -> None:
    shutil.rmtree(nights.root / "journal")
    for name in ("whole", "sharded"):
        shutil.rmtree(nights.root.parent / name)
    whole = build_snapshot(settings_for(nights.root), nights.whole)
    assert nights.build().failed == whole.failed
    reports = [nights.report(each) for each in (nights.whole, nights.sharded)]
    assert reports[0] == reports[1] and "it has no documents yet" in str(reports[1])


@pytest.mark.parametrize("allowed", [False, True])
def test_a_collection_without_a_file_fails_unless_it_may_be_empty(nights: Nights, allowed: bool) -> None:
    for path in (nights.root / "journal").iterdir():
        path.unlink()
    options = BuildOptions(allow_empty=allowed, accept_shrink=True)
    wanted = settings_for(nights.root, count=3, drift=0)
    done = build_snapshot(wanted, nights.sharded, options=options)
    assert [*done.failed] == ([] if allowed else ["journal"])
    for path in nights.root.rglob("*.md"):
        path.unlink()
    with pytest.raises(EmptyCollection):
        build_snapshot(wanted, nights.sharded, options=options)


def test_if_all_fail_so_does_the_run(nights: Nights) -> None:
    before = nights.sharded.current()
    shutil.rmtree(nights.root)
    with pytest.raises(MissingRoot):
        nights.build()
    assert nights.sharded.current() == before


def test_the_first_reason_may_be_that_of_a_document_left_out_because_of_others(tmp_path: Path) -> None:
    lost = [
        ReportEntry("library", "a.md", "skipped", "a draft"),
        ReportEntry("library", "b.md", "quarantined", "same address as B.md"),
    ]
    surveys = {"0000": {"before": None, "sizes": {"library": asdict(CollectionSize(1, 1, 0, 0))}}}
    found = sizes_of_collections(Store(tmp_path), surveys, lost)
    assert found["library"] == CollectionSize(3, 1, 1, 0, "b.md: same address as B.md")


def test_the_first_reason_may_be_that_two_documents_have_one_address(tmp_path: Path) -> None:
    root = tmp_path / "library"
    root.mkdir()
    for name in ("owl.html", "owl.md"):
        (root / name).write_text("<h1>Owl</h1>\n")
    given = {"collections": {"library": {"root": str(root)}}, "engine": {"name": "inline"}}
    settings = parse(given | {"limits": {"max_failed_share": 0.1}}, where="test")
    with pytest.raises(EmptyCollection) as found:
        build_snapshot(settings, Store(tmp_path / "store"))
    assert "First reason: owl.md" in found.value.hint
