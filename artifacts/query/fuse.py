"""Fusion: several ranked lists become one list of candidates, best first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from artifacts.query.model import Candidate, Contribution, RankedList


def reciprocal_rank_fusion(
    lists: Sequence[RankedList], weights: Mapping[str, float], k: int
) -> list[Candidate]:
    """Weighted reciprocal rank fusion: ``score = Σ weight / (k + rank)``, ranks from 1.

    Cormack, Clarke, Büttcher 2009. A passage that is missing from a list gets nothing from it. Order:
    ``(-score, row)``.
    """
    found: dict[int, tuple[Contribution, ...]] = {}
    for ranked in lists:
        weight = weights.get(ranked.name, 0.0)
        if weight <= 0:
            continue
        for rank, (row, score) in enumerate(
            zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True), 1
        ):
            share = Contribution(ranked.name, rank, score, weight, weight / (k + rank))
            found[row] = (*found.get(row, ()), share)
    return in_order(Candidate(row, shares) for row, shares in found.items())


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates in the total order ``(-score, row)``."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.row))
