"""How good rankings are, query by query: measures from ir_measures over rankings of document ids.

Gain is linear, as in trec_eval. A query whose ranking is empty counts 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from pipeline.errors import SettingsError

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
    """Every measure of :data:`NAMES` for every query of ``qrels``.

    ``rankings`` gives document ids, best first. Raises ``SettingsError`` where ir_measures is not installed.
    """
    library = require_library()
    measures = {library.parse_measure(name): key for key, name in NAMES.items()}
    scored = [
        library.ScoredDoc(query, document, float(len(ranking) - at))
        for query, ranking in rankings.items()
        for at, document in enumerate(ranking)
    ]
    judged = [
        library.Qrel(query, document, gain)
        for query, gains in qrels.items()
        for document, gain in gains.items()
    ]
    values = {query: dict.fromkeys(NAMES, 0.0) for query in qrels}
    for metric in library.iter_calc(list(measures), judged, scored):
        values[metric.query_id][measures[metric.measure]] = float(metric.value)
    return values


def require_library() -> ModuleType:
    """ir_measures; raises ``SettingsError`` where it is not installed, before hours of search."""
    try:
        import ir_measures
    except ImportError:
        raise SettingsError(
            "ir_measures is not installed, which computes the measures",
            hint="Install it: pip install -e '.[evaluate]', in noctule's folder",
        ) from None
    return ir_measures
