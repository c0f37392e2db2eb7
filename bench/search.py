"""Warm search latency by stage, over real queries."""

from __future__ import annotations

import time

import numpy as np

import artifacts.query
from artifacts.query import Mode
from artifacts.store import Store
from bench.corpora import cache_folder, queries
from pipeline.settings import Settings

JUDGED = {"mdn": "mdn-3p-links"}
WARM_UP = 30


def measure(name: str = "mdn") -> None:
    """p50 and p95 of every stage in milliseconds, hybrid and keyword alone."""
    texts = queries(JUDGED[name])
    with artifacts.query.open(Store(cache_folder() / f"store-{name}"), Settings()) as searcher:
        modes: tuple[Mode, ...] = ("hybrid", "keyword")
        for mode in modes:
            for text in texts[:WARM_UP]:
                searcher.search(text, mode=mode)
            stages: dict[str, list[float]] = {}
            for text in texts:
                start = time.perf_counter()
                answer = searcher.search(text, mode=mode)
                stages.setdefault("whole", []).append(time.perf_counter() - start)
                for stage, seconds in answer.timings.items():
                    stages.setdefault(stage, []).append(seconds)
            print(f"search on {name}, {mode}, {len(texts)} queries, warm, milliseconds")
            for stage, seconds_of in stages.items():
                p50, p95 = np.percentile(np.array(seconds_of) * 1000, [50, 95])
                print(f"  {stage:10} p50 {p50:7.2f}   p95 {p95:7.2f}")
