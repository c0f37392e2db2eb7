"""A corpus in shards beside the same corpus whole: the same answers, and what a build and a query cost.

``NOCTULE_SHARDS="mdn-3p-links:hash:4 mdn-3p-links:hash:16" python -m bench shards`` for other judged sets,
ways to cut and numbers of shards. Vectors come from the whole store's embedding store; with
``NOCTULE_SHARDS_STAND_IN=1`` those of passages are stand-ins, where encoding would take an hour. Where the
whole has an approximate vector index, both are compared with the whole that has an exact one too. ``--part
compared`` is this alone, ``--part sizes`` is ``bench.shard_sizes``.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from bench import shard_sizes
from bench.children import noctule
from bench.corpora import cache_folder, queries
from bench.judged import CORPUS_OF, settings_for, store_for
from bench.million import mdn_vectors
from bench.standin import use_stand_in
from noctule.artifacts.disk.layout import EMBEDDINGS
from noctule.artifacts.query import Answer, Mode, Searcher
from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.store.store import Store
from noctule.artifacts.tables.vector_columns import vector_matrix
from noctule.artifacts.tables.vectors import build_index
from noctule.flows.api import build_snapshot
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.progress import LogProgress
from noctule.pipeline.settings.settings import Settings, VectorIndex

DEFAULT = "rust-book-links:hash:4 rust-book-links:folder:4 cranfield:hash:4"
MODES: tuple[Mode, ...] = ("keyword", "semantic", "hybrid")
QUERIES = 120
EXACT = 1e-6


@dataclass(frozen=True, slots=True)
class Case:
    """A judged set whose corpus is cut into shards."""

    judged: str
    by: str
    count: int

    @property
    def folder(self) -> Path:
        """Return the folder of the store in shards."""
        return cache_folder() / f"shards-{CORPUS_OF[self.judged]}-{self.by}-{self.count}"


def measure(parts: Sequence[str] = ()) -> None:
    """Compare corpora in shards with the same whole, and measure sets of more and more shards."""
    if not parts or "compared" in parts:
        compare()
    if not parts or "sizes" in parts:
        shard_sizes.measure()


def compare() -> None:
    """Print a line a case and mode: overlap of the ten best, largest difference of scores, and latencies."""
    given = os.environ.get("NOCTULE_SHARDS", DEFAULT).split()
    for judged, by, count in (each.split(":") for each in given):
        case = Case(judged, by, int(count))
        whole = _whole(judged)
        print(f"{judged} by {by} in {count}: {_built(case, whole)}")
        with whole.open() as snapshot, Store(case.folder).open() as shards:
            _compare(snapshot, shards, queries(judged)[:QUERIES])


def _compare(whole: Snapshot, shards: Snapshot, texts: list[str]) -> None:
    """Print how shards answer beside the whole, and where its index is approximate, beside an exact one."""
    with Searcher(whole, Settings()) as one, Searcher(shards, Settings()) as set_:
        for mode in MODES:
            print(f"  {mode:9} {', '.join(_compared(one, set_, texts, mode))}")
        if whole.manifest.index.kind == "flat":
            return
        with Searcher(_with_exact_index(whole), Settings()) as exact:
            for mode, (name, searcher) in product(MODES, {"shards": set_, "whole": one}.items()):
                agreement, _ = _compared(exact, searcher, texts, mode)
                print(f"  {mode:9} {name} against the whole with an exact index: {agreement}")


def _whole(judged: str) -> Store:
    """Return the store of a judged set's corpus in one piece."""
    settings = settings_for(judged)
    if not os.environ.get("NOCTULE_SHARDS_STAND_IN"):
        return store_for(judged, settings)
    store = Store(cache_folder() / f"store-{CORPUS_OF[judged]}-stand-in")
    if store.current() is None:
        use_stand_in(mdn_vectors())
        build_snapshot(settings, store, PlainDriver(), LogProgress())
    return store


def _with_exact_index(snapshot: Snapshot) -> Snapshot:
    """Return the same snapshot, which searches all its vectors."""
    exact = Snapshot(snapshot.path, snapshot.manifest, pin=None)
    vectors = vector_matrix(snapshot.table("vectors")["vector"], snapshot.manifest.model.dimension)
    exact._index, _ = build_index(vectors, VectorIndex(index="flat"))  # what index() would read from its file
    return exact


def _built(case: Case, whole: Store) -> str:
    """Build the set from nothing but the vectors; return what it took."""
    shutil.rmtree(case.folder, ignore_errors=True)
    shutil.copytree(whole.root / EMBEDDINGS, case.folder / EMBEDDINGS)
    config = case.folder / "noctule.toml"
    plain = (cache_folder() / f"{CORPUS_OF[case.judged]}.toml").read_text("utf-8")
    config.write_text(f'{plain}\n[shards]\nby = "{case.by}"\ncount = {case.count}\ndrift = 0\n', "utf-8")
    built = noctule("index", "--config", config, "--store", case.folder, "--no-prefect", "--json")
    night = noctule("index", "--config", config, "--store", case.folder, "--no-prefect", "--json")
    report = json.loads(built.output.splitlines()[-1])
    return (
        f"{report['passages']} passages, {built.wall_s:.0f} s, {built.cpu_s:.0f} s of processor, "
        f"peak {built.peak_mb:.0f} MB; nothing changed {night.wall_s:.1f} s"
    )


def _compared(one: Searcher, other: Searcher, texts: list[str], mode: Mode) -> tuple[str, str]:
    """Return how the second's answers agree with the first's, and the latencies of both."""
    overlap, worst, exact, taken = [], 0.0, [], ([], [])  # type: ignore[var-annotated]
    for text in texts:
        answers = []
        for searcher, times in zip((one, other), taken, strict=True):
            start = time.perf_counter()
            answers.append(searcher.search(text, 10, mode))
            times.append(time.perf_counter() - start)
        scores = [_scores(answer) for answer in answers]
        both = scores[0].keys() & scores[1].keys()
        overlap.append(len(both) / max(1, len(scores[0])))
        apart = [abs(scores[0][each] - scores[1][each]) for each in both]
        exact += [each <= EXACT for each in apart]
        worst = max([worst, *apart])
    p50 = [1000 * statistics.median(times) for times in taken]
    return (
        f"overlap@10 {np.mean(overlap):.4f}, scores equal to 1e-6 {np.mean(exact):.4f}, largest difference "
        f"{worst:.2g}",
        f"p50 {p50[1]:.1f} ms and whole {p50[0]:.1f} ms ({p50[1] / p50[0]:.2f} times)",
    )


def _scores(answer: Answer) -> dict[str, float]:
    return {hit.passage_id: hit.score for hit in answer.hits}
