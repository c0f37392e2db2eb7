"""What a pass over a shard holds, and what the driver does not: links in blocks, files, models, tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from noctule.artifacts.disk.manifest_records import FileEntry, QueryModel
from noctule.artifacts.store import query_models
from noctule.artifacts.store.store import Store
from noctule.docsite.library import Library
from noctule.flows.api import build_snapshot
from noctule.flows.engines.local import InlineCaller
from noctule.flows.shards import listing, merging, statistics
from noctule.flows.shards.files import of_corpus, of_shard
from noctule.pipeline.communities import communities
from noctule.pipeline.communities.communities import Clusters, LinkGraph
from noctule.pipeline.settings.settings import Communities
from tests.unit.flows.shards.test_shards import settings_for, write_library


def test_links_of_a_shard_are_objects_one_block_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_library(tmp_path / "notes")
    monkeypatch.setattr("noctule.flows.stages.links._LINKS_AT_A_TIME", 8)
    store = Store(tmp_path / "store")
    build_snapshot(settings_for(tmp_path / "notes", count=2, by="hash"), store)
    for name in ("0000", "0001"):
        links = of_shard(store.root, name).read("links")
        assert len(links) > 16 and max(map(len, links.to_batches())) <= 8


@pytest.mark.parametrize("shards", [{}, {"count": 3}])
def test_what_a_site_keeps_of_its_documents_is_outside_memory(tmp_path: Path, shards: dict[str, int]) -> None:
    write_library(tmp_path / "notes")
    store, held = Store(tmp_path / "store"), list[int]()
    build_snapshot(settings_for(tmp_path / "notes", **shards), store)
    with store.open() as opened:
        for snapshot in (opened, opened.outside_memory(tmp_path)):
            before = pa.total_allocated_bytes()
            library = Library(snapshot)
            held.append(pa.total_allocated_bytes() - before)
            assert library.documents.column("doc_id").to_pylist() == [*library.by_id]
            assert len(library.link_rows.table) == opened.rows("links")
        for name in ("documents", "sections", "passages", "postings", "links", "terms"):
            assert opened.outside_memory(tmp_path).table(name).equals(opened.table(name)), name
    assert held[1] < held[0] / 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "store"]


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passes that workers are at, the innermost last."""
    passes, watch = list[str](), InlineCaller.watch

    def watched(caller: InlineCaller, stage: Any, batch: Any, limit_s: float) -> Any:
        work = getattr(stage, "args", (stage,))[0]
        passes.append(getattr(work, "__name__", "a pass with a folder"))
        try:
            return watch(caller, stage, batch, limit_s)
        finally:
            passes.pop()

    monkeypatch.setattr(InlineCaller, "watch", watched)
    return passes


_BY_WORKERS = {
    "discover_under": (listing, "list_set"),
    "export_query_model": (merging, "merge_shards"),
    "vocabulary": (statistics, "merge_shards"),
    "term_vectors": (statistics, "merge_shards"),
    "term_table": (statistics, "a pass with a folder"),
}


def test_what_grows_with_the_corpus_is_made_by_workers(
    at_work: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = dict[str, str]()

    def noting(name: str, made: Any) -> Any:
        def noted(*given: Any) -> Any:
            found[name] = at_work[-1] if at_work else "the driver"
            return made(*given)

        return noted

    for name, (module, _) in _BY_WORKERS.items():
        monkeypatch.setattr(module, name, noting(name, getattr(module, name)))
    monkeypatch.setattr("noctule.flows.shards.build.known_query_model", lambda *_: None)
    write_library(tmp_path / "notes")
    build_snapshot(settings_for(tmp_path / "notes", count=2), Store(tmp_path / "store"))
    assert found == {name: work for name, (_, work) in _BY_WORKERS.items()}


def test_communities_are_found_by_a_worker_and_only_when_something_changed(
    at_work: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_library(tmp_path / "notes")
    found, find_clusters = list[str](), communities.find_clusters

    def noted(graph: LinkGraph, settings: Communities) -> Clusters:
        found.append(at_work[-1] if at_work else "the driver")
        return find_clusters(graph, settings)

    monkeypatch.setattr(communities, "find_clusters", noted)
    store, settings = Store(tmp_path / "store"), settings_for(tmp_path / "notes", count=2)
    first = build_snapshot(settings, store)
    assert found == ["cluster_set"]
    assert not build_snapshot(settings, store).changed and len(found) == 1
    (of_corpus(store.root).folder / "members.arrow").write_bytes(b"damaged")
    again = build_snapshot(settings, store)
    assert found == ["cluster_set"] * 2 and again.snapshot == first.snapshot


def test_the_exported_model_is_read_once_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_library(tmp_path / "notes")
    settings, store = settings_for(tmp_path / "notes", count=2), Store(tmp_path / "store")
    build_snapshot(settings, Store(tmp_path / "other"))  # from now on the machine has an export
    read, give, is_sound = list[str](), query_models.ExportedModels.give, query_models.is_sound

    def given(models: query_models.ExportedModels, folder: Path) -> dict[str, FileEntry] | None:
        read.append("another store's")
        return give(models, folder)

    def own(folder: Path, record: QueryModel) -> bool:
        read.append("its own")
        return is_sound(folder, record)

    monkeypatch.setattr(query_models.ExportedModels, "give", given)
    monkeypatch.setattr(query_models, "is_sound", own)
    build_snapshot(settings, store)
    (tmp_path / "notes" / "new.md").write_text("# New\n\nA heron.\n")
    assert build_snapshot(settings, store).changed
    assert read == ["another store's", "its own"]
