"""Weights chosen on the other collections, searched with on the collection that is left out.

python -m bench relevance --part left-out

The grid has the weights of the keyword, the semantic and the document list, which sum to 1. What is best on
the mean of the other collections tells what a collection that nobody tuned for can expect; what is best on
the collection itself bounds what tuning could bring.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from bench.judged import CORPUS_OF
from bench.relevance import ablation
from bench.variants import DEFAULTS, Variant, fused
from noctule.artifacts.judged.measures import HEADLINE

Floats = npt.NDArray[np.float64]
_KEYWORD = (0.1, 0.2, 0.3, 0.4, 0.5)
_OF_DOCUMENTS = (0.3, 0.5, 0.7, 0.9)


def grid() -> list[Variant]:
    """Return a variant for each combination of weights."""
    return [_weighted(keyword, share) for keyword, share in product(_KEYWORD, _OF_DOCUMENTS)]


def _weighted(keyword: float, share: float) -> Variant:
    document = round((1 - keyword) * share, 3)
    passage = round(1 - keyword - document, 3)
    return fused(f"{keyword} / {passage} / {document}", (keyword, passage, document))


def rows(names: Sequence[str]) -> Iterator[str]:
    """Yield a markdown table: defaults, weights of the other collections, and the best of its own."""
    variants = grid()
    table = ablation([DEFAULTS, *variants], names, 10)
    found = {(cell.judged, cell.variant): cell.evaluation.means[HEADLINE] for cell in table.cells}
    scores = {name: np.array([found[name, each.name] for each in variants]) for name in names}
    yield "| left out | defaults | weights of the others | nDCG@10 | its own best weights | nDCG@10 |"
    yield "| --- | ---: | --- | ---: | --- | ---: |"
    for name in names:
        others, own = variants[_best(name, scores)], variants[int(scores[name].argmax())]
        figures = [f"{found[name, each.name]:.4f}" for each in (DEFAULTS, others, own)]
        yield (f"| {name} | {figures[0]} | {others.name} | {figures[1]} | {own.name} | {figures[2]} |")


def _best(left_out: str, scores: Mapping[str, Floats]) -> int:
    """Return the row of the grid that is best on the mean over the other collections, each counted once."""
    by_collection: dict[str, list[Floats]] = {}
    for name, values in scores.items():
        if CORPUS_OF[name] != CORPUS_OF[left_out]:
            by_collection.setdefault(CORPUS_OF[name], []).append(values)
    means = [np.mean(several, axis=0) for several in by_collection.values()]
    return int(np.mean(means, axis=0).argmax()) if means else int(scores[left_out].argmax())
