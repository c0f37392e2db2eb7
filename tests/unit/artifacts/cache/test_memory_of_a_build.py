"""What a build holds in memory of a corpus: next to nothing of its tables, counts, links and vectors."""

from __future__ import annotations

from mmap import mmap
from pathlib import Path

import faiss
import numpy as np
import pyarrow as pa
import pytest

from noctule.artifacts.cache.embeddings import EmbeddingStore
from noctule.artifacts.cache.parse_cache import ParseCache
from noctule.artifacts.cache.parsed_corpus import joined
from noctule.artifacts.disk.layout import PARSE_CACHE
from noctule.artifacts.tables.outside_memory import mapped_rows, mapped_zeros
from noctule.artifacts.tables.parquet import read_outside_memory, write_table
from noctule.artifacts.tables.vectors import build_index as build_index_of_vectors
from noctule.flows.run.context import RunContext
from noctule.flows.run.versions import parse_fingerprints
from noctule.flows.stages.embedding.encode import Encoded
from noctule.flows.stages.lexical import count_anchors, index_prose
from noctule.flows.stages.links import stored
from noctule.flows.stages.parse_batch import FileBatch, parse_files
from noctule.flows.stages.write import index_vectors
from noctule.pipeline.discover import list_files
from noctule.pipeline.errors import DamagedSnapshot, WriteFailed
from noctule.pipeline.lexical.analyzer import prose_analyzer
from noctule.pipeline.lexical.bm25f import SharedField, build_index
from noctule.pipeline.lexical.field_counts import count_fields
from noctule.pipeline.model import DocId, ResolvedLink
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import LexicalField
from tests.held_memory import held_memory

COPIES = 300


@pytest.fixture
def rows(tmp_path: Path) -> pa.Table:
    """A row of a parsed document, many times under other keys."""
    root = tmp_path / "docs"
    root.mkdir()
    words = " ".join(f"owl{number} hunts [at dusk](owls.md#n{number})" for number in range(400))
    (root / "owls.md").write_text(f"# Owls\n\n{words}\n", "utf-8")
    settings = parse({"collections": {"c": {"root": str(root)}}}, where="a test")
    files = list_files("c", settings.collections["c"]).files
    row = parse_files(FileBatch((tuple(files),), settings, parse_fingerprints(settings)))
    keys = pa.array([f"{number:032}" for number in range(COPIES)], pa.string())
    return pa.concat_tables([row] * COPIES).set_column(0, row.schema.field("key"), keys)


def test_a_corpus_from_the_cache_is_outside_memory(
    rows: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noctule.artifacts.cache.parse_cache._ROWS_AT_A_TIME", 32)
    monkeypatch.setattr("noctule.artifacts.cache.parse_cache.SEGMENT_BYTES", 1_000_000)
    keys, size = rows["key"].to_pylist(), rows.nbytes
    with held_memory() as adding:
        ParseCache(tmp_path).add(rows)
    assert adding.left < size / 100 and adding.peak < size / 4
    assert len(list((tmp_path / PARSE_CACHE).iterdir())) > 4, "it is written in parts"
    with held_memory() as holding:
        cache = ParseCache(tmp_path)
        parsed = joined(cache.rows(keys)).outside_memory(tmp_path)
        cache.release()
    assert parsed.passages.num_rows >= COPIES and len(parsed.prose.term) > 100_000
    assert holding.left < size / 10
    assert parsed.passages.equals(joined(rows).passages)
    assert np.array_equal(parsed.prose.term, joined(rows).prose.term)


def test_postings_wait_outside_memory_until_they_are_written(rows: pa.Table, tmp_path: Path) -> None:
    settings = parse({"collections": {"c": {"root": str(tmp_path)}}}, where="a test")
    run, parsed = RunContext(settings, tmp_path), joined(rows)
    anchors = count_anchors(parsed, [])
    with held_memory() as indexing:
        prose = index_prose(run, parsed, anchors)
    assert len(prose.passage) > 100_000
    postings = prose.passage.nbytes + prose.score.nbytes + prose.fields.nbytes
    assert indexing.left < postings / 5
    assert indexing.peak > postings, "they were in memory while they were made"


def test_a_vector_index_waits_outside_memory_until_it_is_written(tmp_path: Path) -> None:
    vectors = np.eye(384, dtype=np.float32)
    hashes = pa.array([f"{at:064}" for at in range(384)], pa.string())
    settings = parse({"collections": {"c": {"root": str(tmp_path)}}}, where="a test")
    encoded = Encoded(hashes, vectors, np.arange(384, dtype=np.int32), 384)
    found, record = index_vectors(RunContext(settings, tmp_path), encoded)
    assert isinstance(found.obj, mmap), "and FAISS holds nothing"
    faiss.write_index(build_index_of_vectors(vectors, settings.vectors)[0], str(tmp_path / "whole.faiss"))
    assert record.kind == "flat" and bytes(found) == (tmp_path / "whole.faiss").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["whole.faiss"]


def test_links_as_written_are_objects_one_document_at_a_time(rows: pa.Table) -> None:
    parsed = joined(rows)
    with held_memory() as holding:
        documents = list(parsed.linking_documents().in_order())
    assert len(documents) == COPIES and holding.left < 1_000_000
    links = documents[-1].links
    assert len(links) == 400
    assert [link.target for link in links] == [f"owls.md#n{number}" for number in range(400)]
    assert next(iter(links)) in links


def test_links_are_objects_one_block_at_a_time(tmp_path: Path) -> None:
    links = (
        ResolvedLink(DocId("c:a"), None, "", "link", f"{n}.md", f"{n}", n, "external") for n in range(20_000)
    )
    with held_memory() as storing:
        held = stored(links, tmp_path)
    assert storing.left < 500_000
    assert len(held) == 20_000 and next(iter(held)).target == "0.md"
    assert [link.ordinal for link in held] == list(range(20_000))


def test_vectors_that_are_recalled_are_outside_memory(tmp_path: Path) -> None:
    hashes, vectors = [f"{at:064}" for at in range(4_000)], np.eye(4_000, 384, dtype=np.float32)
    store = EmbeddingStore(tmp_path, ["model"], 384)
    for at in range(0, 4_000, 500):
        store.add(hashes[at : at + 500], vectors[at : at + 500])
    EmbeddingStore(tmp_path, ["model"], 384).recall(hashes[:1])  # what it imports is no part of it
    with held_memory() as recalling:
        recall = EmbeddingStore(tmp_path, ["model"], 384).recall(hashes)
    assert np.array_equal(recall.vectors, vectors) and not len(recall.missing)
    assert recalling.left < vectors.nbytes / 5 and recalling.peak < vectors.nbytes / 2
    recall.vectors[7] = 1.0  # what is missing is filled in


def test_a_table_that_is_proved_is_outside_memory(tmp_path: Path) -> None:
    rows = pa.table({"id": [f"{at:064}" for at in range(40_000)], "unread": pa.nulls(40_000, pa.int32())})
    write_table(rows, tmp_path / "rows.parquet")
    with held_memory() as reading:
        found = read_outside_memory(tmp_path / "rows.parquet", ["id"], tmp_path)
    assert found.equals(rows.select(["id"])) and reading.left < found.nbytes / 10
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(DamagedSnapshot):
        read_outside_memory(tmp_path / "rows.parquet", ["id"], tmp_path)


def test_rows_are_put_in_order_a_few_at_a_time(tmp_path: Path) -> None:
    texts = pa.array(["x" * 1_000] * 1_000)
    parts = [pa.table({"id": np.arange(at, at + 1_000), "text": texts}) for at in range(0, 40_000, 1_000)]
    table, order = pa.concat_tables(parts), np.random.default_rng(1).permutation(40_000)
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(pool)
    try:
        found = mapped_rows(table, order, tmp_path)
    finally:
        pa.set_memory_pool(usual)
    assert found["id"].to_numpy().tolist() == order.tolist()
    assert pool.max_memory() < table.nbytes / 2


def test_room_for_vectors_is_taken_before_they_are_there(tmp_path: Path) -> None:
    with pytest.raises(WriteFailed, match="cannot write"):
        mapped_zeros((1 << 40, 1 << 10), np.float32, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_anchor_texts_are_spread_over_passages_a_range_of_terms_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = 4_000
    analyzer = prose_analyzer("en")
    batch = count_fields([["owl"] * texts, [""] * texts], [analyzer] * texts)
    anchors = count_fields([[" ".join(f"word{number}" for number in range(100))]], [analyzer])
    shared = SharedField(anchors, np.array([texts]), 1)
    fields = (LexicalField(weight=1.0), LexicalField(weight=1.0))
    whole = build_index([batch], fields, 1.2, shared)
    monkeypatch.setattr("noctule.pipeline.lexical.bm25f._OCCURRENCES_AT_A_TIME", 10 * texts)
    with held_memory() as indexing:
        index = build_index([batch], fields, 1.2, shared)
    postings = 101 * texts
    assert len(index.passage) == postings and np.array_equal(index.score, whole.score)
    assert np.array_equal(index.passage, whole.passage) and index.terms == whole.terms
    assert indexing.peak < 35 * postings, "ten bytes for each, and one range's work"
