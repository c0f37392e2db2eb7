"""noctule's hybrid search compared with other systems in one run: the same passages, vectors and queries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from bench.children import run
from bench.judged import judged_set, settings_for, store_for
from bench.peer_systems import PACKAGES, SYSTEMS, TOP, timed
from bench.query_vectors import CachedEncoder
from noctule.artifacts.query import Searcher
from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.store.store import Store
from noctule.artifacts.tables.vector_columns import vector_matrix
from noctule.pipeline.chunk.passages import embedded_text
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.settings.settings import Embed, Settings

JUDGED = "mdn-3p-links"


@dataclass(frozen=True, slots=True)
class _Result:
    """Milliseconds of each query, with its vector given and with its text encoded; the rows of each answer.

    ``processor`` is the milliseconds of all threads together for one query with its vector given.
    """

    built_s: float
    given: Sequence[float]
    encoded: Sequence[float]
    answers: Sequence[Sequence[int]]
    processor: float


def measure(name: str = JUDGED) -> None:
    """Print p50 and p95 of every system, absolute and relative to noctule's, and the overlap of answers."""
    store, settings = store_for(name, settings_for(name)), settings_for(name)
    queries = list(dict.fromkeys(judged_set(name).queries.values()))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with store.open() as snapshot:
            documents = _write_given(snapshot, queries, folder)
        vectors = np.load(folder / "queries.npy")
        first = _noctule(store, settings, queries, vectors)
        print(f"{len(documents)} passages, {len(first.given)} queries, warm, milliseconds; ratios to noctule")
        _print("noctule", first, first, documents)
        for system in SYSTEMS:
            result = _peer(system, folder)
            if result:
                _print(system, result, first, documents)
        _print("noctule again", _noctule(store, settings, queries, vectors), first, documents)


def _write_given(snapshot: Snapshot, queries: Sequence[str], folder: Path) -> npt.NDArray[np.int64]:
    """Write the input of every system: the texts as embedded, their vectors, the queries and theirs."""
    passages = snapshot.table("passages", ["doc_id", "breadcrumb", "text", "vector_row"])
    pairs = zip(passages["breadcrumb"].to_pylist(), passages["text"].to_pylist(), strict=True)
    pq.write_table(pa.table({"text": [embedded_text(*pair) for pair in pairs]}), folder / "passages.parquet")
    vectors = vector_matrix(snapshot.table("vectors")["vector"], snapshot.manifest.model.dimension)
    np.save(folder / "vectors.npy", vectors[passages["vector_row"].to_numpy()])
    encoder = load_encoder(Embed())
    np.save(folder / "queries.npy", np.stack([encoder.encode_query(text) for text in queries]))
    (folder / "queries.json").write_text(json.dumps(queries), "utf-8")
    return np.asarray(passages["doc_id"].combine_chunks().dictionary_encode().indices.to_numpy(), np.int64)


def _noctule(
    store: Store, settings: Settings, queries: Sequence[str], vectors: npt.NDArray[np.float32]
) -> _Result:
    """Measure noctule with its default stages and without its caches: each query is computed afresh."""
    caches = settings.search.caches.model_copy(update={"answers": 0, "vectors": 0})
    search = settings.search.model_copy(update={"caches": caches})
    uncached = settings.model_copy(update={"search": search})
    start = time.perf_counter()
    with (
        Searcher(store.open(), uncached, CachedEncoder(settings.embed)) as given,
        Searcher(store.open(), uncached, load_encoder(settings.embed)) as encoding,
    ):
        given.search(queries[0])
        built = time.perf_counter() - start
        with store.open() as snapshot:
            ids = snapshot.table("passages", ["passage_id"])["passage_id"].to_pylist()
        row_of = {passage_id: row for row, passage_id in enumerate(ids)}
        for text in queries:  # so that every vector is cached: a query may be rewritten before it is encoded
            given.search(text)

        def answer(text: str, _: npt.NDArray[np.float32]) -> list[int]:
            return [row_of[hit.passage_id] for hit in given.search(text, TOP).hits]

        return _Result(built, **timed(answer, lambda text: encoding.search(text, TOP), queries, vectors))


def _peer(system: str, folder: Path) -> _Result | None:
    """Run a system in a process of its own, with the interpreter that has it installed."""
    interpreter = os.environ.get("NOCTULE_PEERS_PYTHON", sys.executable)
    needs = PACKAGES.get(system, ())
    if subprocess.run(
        [interpreter, "-c", "".join(f"import {name};" for name in needs)], check=False
    ).returncode:
        print(f"  {system}: not measured; {', '.join(needs)} not installed (pip install '.[peers]')")
        return None
    with tempfile.TemporaryDirectory() as scratch:
        command = [interpreter, "-m", "bench.peer_systems", system, str(folder), scratch]
        cost = run(command, {"LANCEDB_LOG": "error"})
    return _Result(**json.loads(cost.output.splitlines()[-1]))


def _print(system: str, result: _Result, first: _Result, documents: npt.NDArray[np.int64]) -> None:
    cells = []
    for mine, theirs in ((result.given, first.given), (result.encoded, first.encoded)):
        p50, p95 = np.percentile(mine, [50, 95])
        cells.append(f"p50 {p50:7.2f} p95 {p95:7.2f} ratio {p50 / np.median(theirs):6.2f}")
    same = [
        len({*documents[list(a)]} & {*documents[list(b)]}) / max(1, len({*documents[list(b)]}))
        for a, b in zip(result.answers, first.answers, strict=True)
    ]
    print(
        f"  {system:20} vector given: {cells[0]}   encoded: {cells[1]}"
        f"   processor {result.processor:6.2f} ready after {result.built_s:5.1f} s"
        f"   documents in common {np.mean(same):.2f}",
        flush=True,
    )
