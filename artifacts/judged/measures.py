"""The measures of trec_eval over rankings of document ids, query by query.

Gain is linear, as in trec_eval. A query whose ranking is empty counts 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

HEADLINE = "ndcg@10"
NAMES = {
    "ndcg@10": "nDCG@10",
    "recall@100": "R@100",
    "mrr@10": "RR@10",
    "hit@1": "Success@1",
    "judged@10": "Judged@10",
}
DEPTH = 100

Qrels = Mapping[str, Mapping[str, int]]
Rankings = Mapping[str, Sequence[str]]


def measure(qrels: Qrels, rankings: Rankings) -> dict[str, dict[str, float]]:
    """Return every measure of :data:`NAMES` for every query of ``qrels``; ``rankings`` are best first."""
    return {query: _measured(gains, rankings.get(query, ())) for query, gains in qrels.items()}


def _measured(gains: Mapping[str, int], ranking: Sequence[str]) -> dict[str, float]:
    found = [max(0, gains.get(document, 0)) for document in ranking[:DEPTH]]
    relevant = sorted((gain for gain in gains.values() if gain > 0), reverse=True)
    ten = ranking[:10]
    return {
        "ndcg@10": _discounted(found[:10]) / _discounted(relevant[:10]) if relevant else 0.0,
        "recall@100": sum(gain > 0 for gain in found) / len(relevant) if relevant else 0.0,
        "mrr@10": next((1 / rank for rank, gain in enumerate(found[:10], 1) if gain), 0.0),
        "hit@1": float(any(found[:1])),
        "judged@10": sum(document in gains for document in ten) / len(ten) if ten else 0.0,
    }


def _discounted(gains: Iterable[int]) -> float:
    """Return the sum of gains, each divided by the binary logarithm of its rank plus one."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
