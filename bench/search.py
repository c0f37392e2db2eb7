"""Search latency: warm by stage, over real queries, and cold, from the start of a process to its answer."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

import numpy as np

import noctule.artifacts.query
from bench.children import noctule as command
from bench.corpora import cache_folder, queries
from noctule.artifacts.query import Mode, Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.settings.reading import parse

JUDGED = {"mdn": "mdn-3p-links"}
_COLD_RUNS = 5
_MEMORY_SAMPLE_S = 0.2


def measure(name: str = "mdn") -> None:
    """Print p50 and p95 of every stage in ms: hybrid with and without query encoding, and keyword alone."""
    texts = queries(JUDGED[name])
    cases: tuple[tuple[str, Mode, int], ...] = (
        ("hybrid, query encoding included", "hybrid", 0),
        ("hybrid, query vectors known", "hybrid", len(texts)),
        ("keyword", "keyword", 0),
    )
    for label, mode, vectors in cases:
        caches = {"answers": 0, "vectors": vectors}
        settings = parse({"search": {"caches": caches}}, where="bench")
        with noctule.artifacts.query.open(Store(cache_folder() / f"store-{name}"), settings) as searcher:
            # The first round reads what the second finds in memory.
            _round(searcher, texts, mode)
            _print(
                f"search on {name}, {label}, {len(texts)} queries, warm, milliseconds",
                _round(searcher, texts, mode),
            )
    _measure_cold(name, texts[0])


def _measure_cold(name: str, text: str) -> None:
    """Print the least seconds and the peak memory of ``noctule search`` in a process of its own."""
    print(f"noctule search on {name}, least of {_COLD_RUNS} runs, load {os.getloadavg()[0]:.1f}")
    # Whoever forbids Python to keep bytecode measures its compiler.
    environment = {"PYTHONDONTWRITEBYTECODE": ""}
    for encoder in ("full", "static"):
        given = ("search", text, "--encoder", encoder, "--store", cache_folder() / f"store-{name}")
        command(*given, environment=environment)
        costs = [
            command(*given, environment=environment, sample_s=_MEMORY_SAMPLE_S) for _ in range(_COLD_RUNS)
        ]
        wall, cpu, peak = min(c.wall_s for c in costs), min(c.cpu_s for c in costs), costs[0].peak_mb
        print(f"  {encoder:7} wall {wall:5.2f} s   processor {cpu:5.2f} s   peak {peak:5.0f} MB")


def _round(searcher: Searcher, texts: Sequence[str], mode: Mode) -> dict[str, list[float]]:
    stages: dict[str, list[float]] = {}
    for text in texts:
        start = time.perf_counter()
        answer = searcher.search(text, mode=mode)
        stages.setdefault("whole", []).append(time.perf_counter() - start)
        for stage, seconds in answer.timings.items():
            stages.setdefault(stage, []).append(seconds)
    return stages


def _print(title: str, stages: dict[str, list[float]]) -> None:
    print(title)
    for stage, seconds in stages.items():
        p50, p95 = np.percentile(np.array(seconds) * 1000, [50, 95])
        print(f"  {stage:14} p50 {p50:7.2f}   p95 {p95:7.2f}")
