"""Where rows of terms are cut into files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Weights = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a run may weigh: up to ``least`` it is never cut, beyond ``most`` it always is."""

    least: float
    most: float


def runs(weights: Weights, limit: float) -> Iterator[slice]:
    """Runs of entries that weigh ``limit`` together at most; one that weighs more is alone."""
    start, weight = 0, 0.0
    for at, each in enumerate(weights.tolist()):
        if at > start and weight + each > limit:
            yield slice(start, at)
            start, weight = at, 0.0
        weight += each
    if start < len(weights):
        yield slice(start, len(weights))


def runs_by_use(weights: Weights, asked: Weights, sizes: Sizes, cost: float) -> Iterator[slice]:
    """Runs in which little is loaded for nothing.

    ``asked[i]`` is the share of queries that ask for entry ``i``, and then load its neighbours too. One joins the run
    before it as long as this makes fewer bytes a query than ``cost``, within ``sizes``.
    """
    start, weight, share = 0, 0.0, 0.0
    for at, (each, own) in enumerate(zip(weights.tolist(), asked.tolist(), strict=True)):
        whole, wasted = weight + each, share * each + own * weight
        if at > start and (whole > sizes.most or (wasted > cost and whole > sizes.least)):
            yield slice(start, at)
            start, weight, share = at, 0.0, 0.0
        weight += each
        share += own
    if start < len(weights):
        yield slice(start, len(weights))
