"""Whether confidence tells questions that a collection answers from those that it cannot.

python -m bench relevance --part confidence

The questions that a collection cannot answer are those of the sets made for other collections. The figures
are of the best hit: AUROC, and the share of both kinds that is at least ``SURE``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.judged import CORPUS_OF, judged_set, settings_for, store_for
from bench.query_vectors import CachedEncoder
from noctule.artifacts.query import Searcher
from noctule.artifacts.query.answer import SURE
from noctule.artifacts.query.context import SearchRequest
from noctule.artifacts.query.ranking.calibrate import Curve, fit
from noctule.pipeline.settings.settings import Settings

Shares = npt.NDArray[np.float64]
_OF_EACH = 60


@dataclass(frozen=True, slots=True)
class Separation:
    """What the best hits attain, for questions that a collection answers and for those that it cannot."""

    name: str
    answered: Shares
    unanswered: Shares

    @property
    def auroc(self) -> float:
        """Return the chance that an answered question attains more than one that is not."""
        above = self.answered[:, None] > self.unanswered
        return float((above + 0.5 * (self.answered[:, None] == self.unanswered)).mean())

    def sure(self, curve: Curve) -> tuple[float, float]:
        """Return the share of answered and of unanswered questions whose best hit is sure."""
        kinds = ([curve.at(share) >= SURE for share in kind] for kind in (self.answered, self.unanswered))
        answered, unanswered = (float(np.mean(kind)) for kind in kinds)
        return answered, unanswered


def separations(names: Sequence[str]) -> list[Separation]:
    """Ask each set's collection its own questions and some of every other collection."""
    encoder = CachedEncoder(Settings().embed)
    texts = {name: _some(judged_set(name).queries.values()) for name in names}
    found = []
    for name in names:
        settings = settings_for(name)
        foreign = [text for other in names if CORPUS_OF[other] != CORPUS_OF[name] for text in texts[other]]
        searcher = Searcher(store_for(name, settings).open(), settings, encoder)
        with closing(searcher):
            found.append(Separation(name, _attained(searcher, texts[name]), _attained(searcher, foreign)))
        encoder.save()
    return found


def _some(texts: object) -> list[str]:
    given = sorted(set(texts))  # type: ignore[call-overload]
    return given[:: max(1, len(given) // _OF_EACH)][:_OF_EACH]


def _attained(searcher: Searcher, texts: Sequence[str]) -> Shares:
    ranked = (searcher.rank(SearchRequest(text)).run.candidates for text in texts)
    return np.array([found[0].attained if found else 0.0 for found in ranked])


def fitted(found: Sequence[Separation]) -> Curve:
    """Fit the curve to all sets, each and both kinds with the same weight."""
    rng = np.random.default_rng(0)
    size = 400
    kinds = [(each.answered, each.unanswered) for each in found]
    shares = np.concatenate([rng.choice(kind, size) for pair in kinds for kind in pair])
    relevant = np.tile(np.repeat([True, False], size), len(kinds))
    return fit(shares, relevant)


def rows(names: Sequence[str]) -> Iterator[str]:
    """Yield a markdown table: AUROC, and what the curve, and one fitted to the other sets, calls sure."""
    found = separations(names)
    default = Settings().search.calibrate
    curve = Curve(default.steepness, default.threshold)
    yield "| set | AUROC | sure, answered | sure, unanswered | without this set: answered | unanswered |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for each in found:
        others = [other for other in found if CORPUS_OF[other.name] != CORPUS_OF[each.name]]
        figures = (each.auroc, *each.sure(curve), *each.sure(fitted(others or found)))
        yield f"| {each.name} | {' | '.join(f'{figure:.3f}' for figure in figures)} |"
