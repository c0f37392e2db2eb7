"""Federated search: one query over several stores, whose answers are fused by rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .answer import Answer, Hit
from .context import SearchRequest
from .searcher import Searcher


@dataclass(frozen=True, slots=True)
class NamedHit:
    """A hit, the namespace it comes from, its rank there (from 1), and its share ``weight / (k + rank)``."""

    namespace: str
    rank: int
    score: float
    hit: Hit


@dataclass(frozen=True, slots=True)
class Federated:
    """Hits of all namespaces, best first, and the answer of each."""

    hits: tuple[NamedHit, ...]
    answers: Mapping[str, Answer]


def search_namespaces(
    searchers: Mapping[str, Searcher],
    request: SearchRequest,
    weights: Mapping[str, float] | None = None,
    k: int = 60,
) -> Federated:
    """Ask several searchers the same query and fuse their answers by weighted reciprocal rank.

    Ranks are all that answers of different snapshots have in common: nothing is in two of them, so equal
    weights interleave. Order: ``(-score, -confidence, namespace, rank)``; at equal scores, the hit with the
    higher confidence comes first.
    """
    answers = {name: searchers[name].ask(request) for name in sorted(searchers)}
    found = [
        NamedHit(name, rank, (weights or {}).get(name, 1.0) / (k + rank), hit)
        for name, answer in answers.items()
        for rank, hit in enumerate(answer.hits, start=1)
    ]
    found.sort(key=lambda each: (-each.score, -(each.hit.confidence or 0.0), each.namespace, each.rank))
    return Federated(tuple(found[: request.top_n]), answers)
