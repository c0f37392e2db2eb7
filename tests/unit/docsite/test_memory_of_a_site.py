"""What a site's build holds in memory: next to nothing of postings, sixty a passage, and of packed files."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from noctule.artifacts.store.merged_postings import merged_postings
from noctule.artifacts.tables.outside_memory import mapped_table
from noctule.artifacts.tables.schemas import POSTINGS
from noctule.docsite.incremental.columns import group_digests, row_digests
from noctule.docsite.incremental.previous import PreviousSite
from noctule.docsite.search.cosine_contributions import CosineContributions, no_contributions
from noctule.docsite.search.files import Files, Half
from noctule.docsite.search.index_inputs import Lexicon, Shape, read_lexicon
from noctule.docsite.search.postings import arrange
from noctule.pipeline.errors import ArtifactError, DamagedSnapshot
from tests.held_memory import held_memory
from tests.site_builder import TablesInMemory

TERMS, EACH, PASSAGES = 64, 10_000, 100_000
NAMES = [f"term{number:02}" for number in range(TERMS)]
FILES = [Path("shards/0000/postings.parquet"), Path("shards/0001/postings.parquet")]


def postings(folder: Path, shard: int) -> pa.Table:
    """Postings outside memory, a batch for each few terms; each shard lacks some of them."""
    random = np.random.default_rng(shard)

    def some(first: int) -> pa.Table:
        names = [name for name in NAMES[first : first + 8] if hash_of(name) % 5 != shard]
        rows = [np.sort(random.choice(PASSAGES, EACH, replace=False)).astype(np.int32) for _ in names]
        scores = [random.random(EACH, np.float32) for _ in names]
        fields = [np.ones(EACH, np.uint16) for _ in names]
        return pa.table({"term": names, "passage": rows, "score": scores, "fields": fields}, schema=POSTINGS)

    return mapped_table(POSTINGS, map(some, range(0, TERMS, 8)), folder)


def hash_of(name: str) -> int:
    """A number of a name, the same in every process."""
    return sum(name.encode())


def test_the_postings_of_shards_are_merged_outside_memory(tmp_path: Path) -> None:
    parts, terms = [postings(tmp_path, shard) for shard in (0, 1)], pa.array(NAMES)
    with held_memory() as held:
        merged = merged_postings(terms, parts, [0, PASSAGES], tmp_path, FILES)
    assert held.peak < merged.nbytes / 4
    assert merged.equals(merged_postings(terms, parts, [0, PASSAGES], None, FILES))
    lists = [dict(zip(part["term"].to_pylist(), part["passage"], strict=True)) for part in parts]
    for name, found in zip(NAMES, merged["passage"], strict=True):
        own = [
            each[name].values.to_numpy() + first
            for each, first in zip(lists, (0, PASSAGES), strict=True)
            if name in each
        ]
        assert np.array_equal(found.values.to_numpy(), np.concatenate([np.zeros(0, np.int32), *own])), name


def test_postings_that_cannot_be_merged_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"term": ["eagle", "owl"], "passage": [[0], [0, 1]]}
    part = pa.table(columns, pa.schema([POSTINGS.field(name) for name in columns]))
    with pytest.raises(DamagedSnapshot, match="'eagle'") as found:
        merged_postings(pa.array(["eagle", "owl"][1:]), [part, part], [0, 2], None, FILES)
    assert "0000/postings" in found.value.where
    monkeypatch.setattr("noctule.artifacts.store.merged_postings._MOST", 5)
    with pytest.raises(ArtifactError, match="6 postings"):
        merged_postings(pa.array(["eagle", "owl"]), [part, part], [0, 2], None, FILES)


def test_postings_are_read_and_arranged_outside_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noctule.docsite.search.postings._POSTINGS_AT_A_TIME", EACH)
    rows = postings(tmp_path, 0)
    terms = pa.table({"term": rows["term"], "idf": np.ones(len(rows))})
    shape = Shape(np.arange(0, PASSAGES + 1, 10), np.zeros(PASSAGES // 10, np.int64))
    sizes, made = list[int](), list[Lexicon]()
    for folder in (tmp_path, None):
        with held_memory() as held:
            lexicon = read_lexicon(TablesInMemory("x", {"terms": terms, "postings": rows}, folder))
            found = arrange(lexicon, shape, nothing(lexicon, shape), 1.0, folder=folder)
        sizes.append(held.peak)
        made.append(lexicon)
        assert found.passages[-1] == len(lexicon.passage) == len(rows) * EACH
    assert sizes[0] < sizes[1] / 4
    assert np.array_equal(made[0].passage, made[1].passage) and np.array_equal(made[0].score, made[1].score)


def test_open_files_do_not_grow_with_the_postings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noctule.docsite.search.postings._POSTINGS_AT_A_TIME", 10)
    terms, documents = [f"term{number}" for number in range(40)], 10
    passage = np.tile(np.arange(documents, dtype=np.int32), len(terms))
    score = np.random.default_rng(1).random(len(passage), np.float32)
    starts = np.arange(0, len(passage) + 1, documents)
    lexicon = Lexicon(terms, np.ones(len(terms), np.float32), starts, passage, score)
    shape, before = Shape(np.arange(documents + 1), np.zeros(documents, np.int64)), open_files()
    most = list[int]()

    def noting(first: int, end: int) -> CosineContributions:
        most.append(open_files())
        return nothing(lexicon, shape)(first, end)

    found = arrange(lexicon, shape, noting, 1.0, folder=tmp_path)
    assert len(most) == len(terms) and max(most) <= before + 8
    plain = arrange(lexicon, shape, nothing(lexicon, shape), 1.0)
    assert all(np.array_equal(getattr(found, name), getattr(plain, name)) for name in ("lists", "impact"))


def open_files() -> int:
    """How many descriptors this process holds."""
    return sum(1 for _ in Path("/dev/fd").iterdir())


def nothing(lexicon: Lexicon, shape: Shape) -> Callable[[int, int], CosineContributions]:
    """No vectors, for each range of terms."""
    return lambda *some: no_contributions(lexicon.between(*some), shape)


def test_texts_are_joined_for_their_digests_some_documents_at_a_time() -> None:
    texts = [hash_text(number) * 50 for number in range(6_000)]
    table = pa.chunked_array([texts[:2_500], texts[2_500:]], pa.string())
    bounds = np.array([0, 0, 1, 3_000, 3_000, 3_001, 5_000, 5_000])
    pool = pa.default_memory_pool()
    counting = pa.proxy_memory_pool(pool)
    pa.set_memory_pool(counting)
    try:
        found = row_digests([table, table])
    finally:
        pa.set_memory_pool(pool)
    assert 0 < counting.max_memory() < table.nbytes
    assert found == [digest for at in range(6_000) for digest in row_digests([table.slice(at, 1)] * 2)]
    groups = group_digests([table], bounds)
    assert groups == [
        group_digests([table.slice(first, end - first)], np.array([0, end - first]))[0]
        for first, end in pairwise(bounds.tolist())
    ]


def hash_text(number: int) -> str:
    """Forty letters that differ from number to number."""
    return f"{number:040x}"


def test_packed_files_wait_outside_memory(tmp_path: Path) -> None:
    contents = [np.random.default_rng(each).bytes(20_000) for each in range(600)]
    sizes, pages = list[int](), list[list[bytes]]()
    for folder in (tmp_path, None):
        with held_memory() as held, Files("", PreviousSite(), Half.SHOWN, folder) as files:
            names = files.add_all([content] for content in contents)
            found = sorted(hash_of(page.path) for page in files.pages())
        sizes.append(held.peak)
        with Files("", PreviousSite(), Half.SHOWN, folder) as files:
            files.add_all([content] for content in contents)
            pages.append([page.content for page in files.pages()])
        assert len(set(names)) == len(found) == 600
    assert pages[0] == pages[1] and sizes[0] < sizes[1] * 2 / 3
    assert list(tmp_path.iterdir()) == []
