"""One search system over the same passages and vectors, in a process of its own.

``python -m bench.peer_systems NAME FOLDER`` prints JSON: seconds to build, milliseconds of each query with
its vector given and with its text encoded, and the passage rows of each answer. Only the requested system is
imported.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

TOP, CANDIDATES, RRF_K = 10, 100, 60
WARM_UP = 30

Vector = npt.NDArray[np.float32]
# The rows of the ten best passages, best first; a system fetches their texts as well.
Search = Callable[[str, Vector], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Given:
    """The passages and their vectors, row by row, and a folder to build in."""

    texts: list[str]
    vectors: Vector
    folder: Path


def lancedb(given: Given) -> Search:
    """Search with LanceDB: its full-text index, exact vectors, its reciprocal rank fusion of ten and ten."""
    return _lancedb(given, lambda _: None)


def lancedb_approximate(given: Given) -> Search:
    """Search with LanceDB and its HNSW index of scalar-quantized vectors."""
    return _lancedb(
        given, lambda table: table.create_index(metric="cosine", index_type="IVF_HNSW_SQ", num_partitions=1)
    )


def _lancedb(given: Given, index: Callable[[Any], None]) -> Search:
    import lancedb as library
    import pyarrow as pa
    from lancedb.rerankers import RRFReranker

    flat = pa.array(given.vectors.reshape(-1))
    columns = {
        "row": np.arange(len(given.texts)),
        "text": given.texts,
        "vector": pa.FixedSizeListArray.from_arrays(flat, given.vectors.shape[1]),
    }
    table = library.connect(str(given.folder)).create_table("passages", pa.table(columns))
    table.create_fts_index("text")
    index(table)
    reranker = RRFReranker(K=RRF_K)

    def search(text: str, vector: Vector) -> Sequence[int]:
        asked = table.search(query_type="hybrid").vector(vector).text(text).distance_type("cosine")
        found = asked.rerank(reranker).limit(TOP).select(["row", "text"]).to_arrow()
        return [int(row) for row in found["row"].to_pylist()]

    return search


def txtai(given: Given) -> Search:
    """Search with txtai: content in SQLite, its BM25, its approximate default FAISS index, its own fusion."""
    from txtai.embeddings import Embeddings

    vectors: dict[str, Vector] = dict(zip(given.texts, given.vectors, strict=True))

    def transform(texts: Sequence[str]) -> Vector:
        return np.stack([vectors[text] for text in texts])

    embeddings = Embeddings(method="external", transform=transform, hybrid=True, content=True)
    embeddings.index((row, text, None) for row, text in enumerate(given.texts))

    def search(text: str, vector: Vector) -> Sequence[int]:
        vectors[text] = vector
        return [int(hit["id"]) for hit in embeddings.search(text, TOP)]

    return search


def fts5_numpy(given: Given) -> Search:
    """Search with SQLite's FTS5 and a product with all vectors, fused by rank."""
    connection = sqlite3.connect(given.folder / "passages.sqlite")
    connection.execute("create virtual table passages using fts5(text, tokenize='porter unicode61')")
    rows = ((row + 1, text) for row, text in enumerate(given.texts))
    connection.executemany("insert into passages(rowid, text) values (?, ?)", rows)
    connection.commit()

    def search(text: str, vector: Vector) -> Sequence[int]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text)))
        sql = "select rowid - 1 from passages where passages match ? order by rank limit ?"
        matched = [row for (row,) in connection.execute(sql, (words, CANDIDATES))]
        scores = given.vectors @ vector
        nearest = np.argpartition(scores, -CANDIDATES)[-CANDIDATES:]
        found = _fused(matched, nearest[np.argsort(-scores[nearest])].tolist())
        for row in found:
            connection.execute("select text from passages where rowid = ?", (row + 1,)).fetchone()
        return found

    return search


def bm25s_faiss(given: Given) -> Search:
    """Search with bm25s with stemming and a flat FAISS index, fused by rank."""
    import bm25s
    import faiss
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    retriever = bm25s.BM25()
    retriever.index(
        bm25s.tokenize(given.texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False
    )
    index = faiss.IndexFlatIP(given.vectors.shape[1])
    index.add(given.vectors)

    def search(text: str, vector: Vector) -> Sequence[int]:
        words = bm25s.tokenize(text, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)
        matched = retriever.retrieve(words, k=CANDIDATES, show_progress=False)
        rows = matched.documents[0][matched.scores[0] > 0].tolist()
        found = _fused(rows, index.search(vector[None, :], CANDIDATES)[1][0].tolist())
        assert all(given.texts[row] for row in found)
        return found

    return search


def _fused(*lists: Sequence[int]) -> list[int]:
    """Fuse ranked rows by reciprocal rank."""
    scores: dict[int, float] = {}
    for ranked in lists:
        for rank, row in enumerate(ranked, start=1):
            scores[row] = scores.get(row, 0.0) + 1.0 / (RRF_K + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))[:TOP]


SYSTEMS: dict[str, Callable[[Given], Search]] = {
    "lancedb": lancedb,
    "lancedb-approximate": lancedb_approximate,
    "txtai": txtai,
    "fts5-numpy": fts5_numpy,
    "bm25s-faiss": bm25s_faiss,
}


PACKAGES = {
    "lancedb": ("lancedb",),
    "lancedb-approximate": ("lancedb",),
    "txtai": ("txtai",),
    "bm25s-faiss": ("bm25s", "faiss"),
}


def timed(
    search: Search, by_text: Callable[[str], object], queries: Sequence[str], vectors: Vector
) -> dict[str, Any]:
    """Return milliseconds of each query with its vector given and by its text alone, both warm; the answers.

    ``processor`` is the time of all threads for one query with its vector given, which other load disturbs
    less.
    """
    for text, vector in zip(queries[:WARM_UP], vectors, strict=False):
        by_text(text)
        search(text, vector)
    given, encoded, answers = [], [], []
    processor = time.process_time()
    for text, vector in list(zip(queries, vectors, strict=True))[WARM_UP:]:
        start = time.perf_counter()
        answers.append([int(row) for row in search(text, vector)])
        given.append((time.perf_counter() - start) * 1000)
    processor = (time.process_time() - processor) * 1000 / max(1, len(given))
    for text in queries[WARM_UP:]:
        start = time.perf_counter()
        by_text(text)
        encoded.append((time.perf_counter() - start) * 1000)
    return {"given": given, "encoded": encoded, "answers": answers, "processor": processor}


def main(name: str, folder: Path, scratch: Path) -> None:
    """Build a system and run every query of the folder."""
    import pyarrow.parquet as pq

    from noctule.pipeline.embedding.encoder import load_encoder
    from noctule.pipeline.settings.settings import Embed

    texts = pq.read_table(folder / "passages.parquet").column("text").to_pylist()
    queries = json.loads((folder / "queries.json").read_text("utf-8"))
    start = time.perf_counter()
    search = SYSTEMS[name](Given(texts, np.load(folder / "vectors.npy"), scratch))
    built = time.perf_counter() - start
    encoder = load_encoder(Embed())

    def by_text(text: str) -> object:
        return search(text, encoder.encode_query(text))

    print(json.dumps({"built_s": built, **timed(search, by_text, queries, np.load(folder / "queries.npy"))}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
