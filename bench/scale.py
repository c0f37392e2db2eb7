"""A model of 100 million passages: arithmetic on measured figures, and a small simulation where needed.

``python -m bench scale`` prints the tables of docs/concepts/scale.md. It needs no corpus and takes seconds;
if a store of MDN is in the cache, vector codes are measured on it as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bench.corpora import cache_folder
from noctule.artifacts.store.store import Store
from noctule.artifacts.tables.inverted_file import lists_for
from noctule.artifacts.tables.vector_columns import vector_matrix

PASSAGES = 100_000_000
# Measured: docs/benchmarks.md (MDN, encoding on two cores; a million passages).
TOKENS_PER_PASSAGE = 12.8e6 / 110_007
TOKENS_PER_CORE_SECOND = 18_125 / 2
PARSE_CORE_SECONDS_PER_PASSAGE = 2 * 393 / 1_000_699
REST_SECONDS_PER_PASSAGE = (727 - 393) / 1_000_699
BUILD_BYTES_PER_PASSAGE = 3_326e6 / 1_000_772
SNAPSHOT_BYTES_PER_PASSAGE = 2_616e6 / 1_000_699
SEARCH_P50_MS, SEARCH_P95_MS = 16.6, 29.9
CHANGED_SHARE = 30 / 14_592
# An assumption, not a measurement: the price of a core per hour, in any currency.
PRICE_PER_CORE_HOUR = 0.04
# Assumptions too: how many answers of a server are late, and how much (a pause of its machine, a cold disk).
LATE_SHARE, LATE_FACTOR = 0.01, 10.0
DIMENSION = 384
TRIALS = 20_000
SAMPLE, QUERIES = 20_000, 200


@dataclass(frozen=True, slots=True)
class Shards:
    """One way to divide the corpus into shards, and its consequences."""

    shards: int
    build_gb: float
    snapshot_gb: float
    lists: int
    build_hours: float
    p50_ms: float
    p95_ms: float
    asked_each: int


def measure() -> None:
    """Print every table of the page."""
    _print_whole()
    print(
        f"\n{'shards':>7} {'build GB':>9} {'snapshot GB':>12} {'lists':>6} {'build h':>8} {'p50':>6} "
        f"{'p95':>6} {'asked':>6}"
    )
    for count in (10, 25, 50, 100, 200):
        found = shards(count)
        print(
            f"{found.shards:7} {found.build_gb:9.1f} {found.snapshot_gb:12.1f} {found.lists:6} "
            f"{found.build_hours:8.2f} "
            f"{found.p50_ms:6.1f} {found.p95_ms:6.1f} {found.asked_each:6}"
        )
    for count in (10, 100):
        _print_late(count)
    _print_night()
    _print_codes()


def _print_whole() -> None:
    encode = PASSAGES * TOKENS_PER_PASSAGE / TOKENS_PER_CORE_SECOND / 3600
    parse = PASSAGES * PARSE_CORE_SECONDS_PER_PASSAGE / 3600
    print(
        f"encode {encode:,.0f} core hours, parse {parse:,.0f} core hours, price "
        f"{PRICE_PER_CORE_HOUR * (encode + parse):,.0f}"
    )
    for cores in (16, 64, 256):
        print(f"  {cores} cores: {(encode + parse) / cores:,.0f} h")
    for name, per in (
        ("exact, fp32", 4 * DIMENSION),
        ("lists, 8 bits", DIMENSION + 8),
        ("lists, 48 codes", 48 + 8),
    ):
        print(f"  vectors, {name:16} {PASSAGES * per / 1e9:8.1f} GB")


def shards(count: int) -> Shards:
    """Return the cost of that many shards of equal size, and the latency of a query over all of them."""
    each, chance = PASSAGES / count, np.random.default_rng(1)
    spread = math.log(SEARCH_P95_MS / SEARCH_P50_MS) / 1.645
    # A query waits for the slowest of all shards, which work in parallel.
    slowest = np.exp(math.log(SEARCH_P50_MS) + spread * chance.standard_normal((TRIALS, count)).max(axis=1))
    return Shards(
        shards=count,
        build_gb=each * BUILD_BYTES_PER_PASSAGE / 1e9,
        snapshot_gb=each * SNAPSHOT_BYTES_PER_PASSAGE / 1e9,
        lists=lists_for(int(each)),
        build_hours=each * REST_SECONDS_PER_PASSAGE / 3600,
        p50_ms=float(np.quantile(slowest, 0.5)),
        p95_ms=float(np.quantile(slowest, 0.95)),
        asked_each=asked_each(count),
    )


def _print_late(count: int) -> None:
    """Print the latency over so many shards if some answers are late, without and with a second replica."""
    chance = np.random.default_rng(5)
    first, second = (_answers(chance, count) for _ in range(2))
    patience = float(np.quantile(first, 0.95))
    hedged = np.minimum(first, patience + second)
    more = float((first > patience).mean())
    for name, times in (("once", first), ("hedged", hedged)):
        p50, p95, p99 = np.quantile(times.max(axis=1), (0.5, 0.95, 0.99))
        print(f"{count:4} shards, {name:6}: p50 {p50:6.1f} p95 {p95:6.1f} p99 {p99:6.1f} ms")
    print(f"  a second server is asked after {patience:.1f} ms, for {more:.1%} of requests")


def _answers(chance: np.random.Generator, count: int) -> np.ndarray:
    """Return the milliseconds of one answer of each shard, in many trials."""
    spread = math.log(SEARCH_P95_MS / SEARCH_P50_MS) / 1.645
    times = np.exp(math.log(SEARCH_P50_MS) + spread * chance.standard_normal((TRIALS, count)))
    return times * np.where(chance.random((TRIALS, count)) < LATE_SHARE, LATE_FACTOR, 1.0)


def asked_each(count: int, wanted: int = 100, sure: float = 0.999) -> int:
    """Return how many hits each shard must return to include the best ``wanted`` of all, so probably."""
    chance = np.random.default_rng(2)
    most = [np.bincount(chance.integers(0, count, wanted), minlength=count).max() for _ in range(TRIALS)]
    return int(np.quantile(np.array(most), sure))


def _print_night() -> None:
    """Print a night's share of changed documents: by hash they touch all shards, by folder a few."""
    changed, chance = round(PASSAGES / 7.54 * CHANGED_SHARE), np.random.default_rng(3)
    hours = PASSAGES * CHANGED_SHARE * TOKENS_PER_PASSAGE / TOKENS_PER_CORE_SECOND / 3600
    print(f"a night: {changed:,} documents, {hours:.1f} core hours of encoding")
    for touched in (5, 20, 100):
        counts = [len(np.unique(chance.integers(0, 100, touched))) for _ in range(TRIALS // 10)]
        print(f"  changes in {touched} folders: {np.mean(counts):.1f} of 100 shards by folder, 100 by hash")


def _print_codes() -> None:
    """Print the recall of the 100 nearest with quantized vectors, on MDN's if they are in the cache."""
    root = cache_folder() / "store-mdn"
    if not root.is_dir():
        print("no store of MDN in the cache: codes are not measured")
        return
    import faiss

    with Store(root).open() as snapshot:
        table = snapshot.table("vectors")
        vectors = np.array(vector_matrix(table["vector"], DIMENSION), dtype=np.float32)
    rows = np.random.default_rng(4).permutation(len(vectors))[: SAMPLE + QUERIES]
    base, asked = vectors[rows[:SAMPLE]], vectors[rows[SAMPLE:]]
    truth = np.argsort(-(asked @ base.T), axis=1, kind="stable")[:, :100]
    for name, text in (("8 bits", "SQ8"),):
        index = faiss.index_factory(DIMENSION, text, faiss.METRIC_INNER_PRODUCT)
        index.train(base)
        index.add(base)
        _, wide = index.search(asked, 400)
        print(
            f"  {name:10} recall {_recall(truth, wide[:, :100]):.3f}, of the best 400, scored again: "
            f"{_recall(truth, wide):.3f}"
        )


def _recall(truth: np.ndarray, found: np.ndarray) -> float:
    return float(np.mean([len(np.intersect1d(a, b)) / len(a) for a, b in zip(truth, found, strict=True)]))
