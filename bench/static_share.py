"""Term vectors against the full model, by the length of the query.

python -m bench relevance --part static
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bench.relevance import ablation
from bench.variants import DEFAULTS, Variant
from noctule.artifacts.judged.evaluate import Evaluation
from noctule.artifacts.judged.measures import HEADLINE

_STATIC = Variant("static", {"search": {"encoder": "static"}})
_LENGTHS = {"1–7 words": range(1, 8), "8–30 words": range(8, 31), "more": range(31, 1_000_000)}
_FEWEST = 10  # below it a share says nothing


def rows(names: Sequence[str]) -> Iterator[str]:
    """Yield a markdown table: nDCG@10 with each encoder, and the share that term vectors retain."""
    yield f"| set | full | static | share | {' | '.join(_LENGTHS)} |"
    yield "| --- |" + " ---: |" * (3 + len(_LENGTHS))
    shares = []
    for name in names:
        full, static = (cell.evaluation for cell in ablation([DEFAULTS, _STATIC], [name], 10).cells)
        means = full.means[HEADLINE], static.means[HEADLINE]
        shares.append(means[1] / means[0])
        by_length = [_share(full, static, lengths) for lengths in _LENGTHS.values()]
        yield f"| {name} | {means[0]:.4f} | {means[1]:.4f} | {shares[-1]:.3f} | {' | '.join(by_length)} |"
    yield f"| mean |  |  | {np.mean(shares):.3f} |" + " |" * len(_LENGTHS)


def _share(full: Evaluation, static: Evaluation, lengths: range) -> str:
    pairs = [
        (before.values[HEADLINE], after.values[HEADLINE])
        for before, after in zip(full.scores, static.scores, strict=True)
        if len(before.text.split()) in lengths
    ]
    if len(pairs) < _FEWEST:
        return ""
    before, after = np.mean(pairs, axis=0)
    return f"{after / before:.3f} ({len(pairs)})"
