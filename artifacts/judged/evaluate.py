"""Evaluation on judged queries: every query is run through the real search, and its answer is measured.

with store.open() as snapshot:
    searcher = Searcher(snapshot, for_evaluation(settings))
    judged = read_judged(Path("judged/scifact"))
    print(evaluate(searcher, judged, locate(judged, places(snapshot))).means["ndcg@10"])
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...pipeline.settings.search import Caches
from ...pipeline.settings.settings import Settings
from ..query import Mode, Searcher
from ..query.context import SearchRequest
from .locating import Located
from .measures import DEPTH, NAMES, measure
from .reading import Judged

WARM_UP = 10
# What a user sees who asks for hits without saying how many.
SHOWN = 10


@dataclass(frozen=True, slots=True)
class RankedDocuments:
    """The documents that a search found for a query, best first, each once.

    ``confidence`` is that of the best hit, ``None`` if there is none or it has none.
    """

    documents: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from a query to its first ten hits, in a warm process."""

    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class QueryScore:
    """The quality of the answer to one query by measure; ``rank`` is the first relevant document's, or 0.

    ``confidence`` is that of the best hit.
    """

    query_id: str
    text: str
    values: Mapping[str, float]
    rank: int
    found: int
    confidence: float | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the query as JSON and Parquet hold it."""
        named = {"query": self.query_id, "text": self.text}
        return {**named, **self.values, "rank": self.rank, "found": self.found}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The quality of a search on a set of judged queries.

    ``scores`` has the scored queries, ordered by id; ``excluded`` are those that no document answers, sorted.
    ``missing`` are judged documents that the snapshot does not hold: they count against the search.
    """

    judged: str
    scores: tuple[QueryScore, ...]
    excluded: tuple[str, ...]
    missing: tuple[str, ...]
    unknown_queries: tuple[str, ...]
    unknown_documents: tuple[str, ...]
    unknown_ranked: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    latency: Latency | None = None

    @property
    def means(self) -> dict[str, float]:
        """Return the mean of each measure over the scored queries."""
        return {name: float(np.mean([score.values[name] for score in self.scores])) for name in NAMES}

    @property
    def unanswered(self) -> float:
        """Return the share of the scored queries for which the search found nothing at all."""
        return sum(score.found == 0 for score in self.scores) / len(self.scores)

    def as_dict(self, *, per_query: bool = False) -> dict[str, object]:
        """Return the evaluation as JSON prints it."""
        rounded = {name: round(value, 6) for name, value in self.means.items()}
        given: dict[str, object] = {
            "judged": self.judged,
            **rounded,
            "unanswered": round(self.unanswered, 6),
            "p50_ms": round(self.latency.p50_ms, 3) if self.latency else None,
            "p95_ms": round(self.latency.p95_ms, 3) if self.latency else None,
            "queries": len(self.scores),
            "excluded_queries": len(self.excluded),
            "excluded": list(self.excluded),
            "missing_documents": list(self.missing),
            "unknown_queries": list(self.unknown_queries),
            "unknown_documents": list(self.unknown_documents),
            "unknown_ranked": list(self.unknown_ranked),
            "warnings": list(self.warnings),
        }
        return given | ({"per_query": [score.as_dict() for score in self.scores]} if per_query else {})


def for_evaluation(settings: Settings) -> Settings:
    """Return the settings without caches and, where that changes no order, with one passage per document.

    100 hits are then 100 documents. Where another stage follows the limit, or no limit is set, hits are
    folded into documents as they come.
    """
    search = settings.search
    changes: dict[str, object] = {"caches": Caches(answers=0, vectors=0)}
    others = tuple(stage for stage in search.stages if stage != "per_document")
    if search.stages[: len(others)] == others:
        changes |= {"stages": (*others, "per_document"), "max_per_document": 1}
    return settings.model_copy(update={"search": search.model_copy(update=changes)})


def evaluate(
    searcher: Searcher,
    judged: Judged,
    located: Located,
    *,
    mode: Mode = "hybrid",
    depth: int = DEPTH,
    timed: bool = False,
    advance: Callable[[int], None] | None = None,
) -> Evaluation:
    """Measure the searcher's answers to the judged queries; ``timed`` runs each once more for its latency.

    ``advance`` is called for each finished query.
    """
    asked = sorted(judged.answerable)
    if timed:
        for query in asked[:WARM_UP]:
            seconds_to_answer(searcher, judged.queries[query], mode)
    seconds: list[float] = []
    rankings: dict[str, RankedDocuments] = {}
    for query in asked:
        text = judged.queries[query]
        if timed:
            seconds.append(seconds_to_answer(searcher, text, mode))
        rankings[query] = rank_documents(searcher, text, mode, depth)
        if advance:
            advance(1)
    return evaluate_rankings(judged, located, rankings, _latency(seconds) if timed else None)


def evaluate_run(judged: Judged, located: Located) -> Evaluation:
    """Measure the ranking that came with the judged queries."""
    rankings = {query: _as_ranked(judged.run.get(query, ()), located) for query in sorted(judged.answerable)}
    return evaluate_rankings(judged, located, rankings, None)


def _as_ranked(documents: Sequence[str], located: Located) -> RankedDocuments:
    """Translate document ids into the snapshot's; of several that are the same there, the first counts."""
    own = dict.fromkeys(str(located.doc_ids.get(each, each)) for each in documents)
    return RankedDocuments(tuple(own)[:DEPTH])


def evaluate_rankings(
    judged: Judged, located: Located, rankings: Mapping[str, RankedDocuments], latency: Latency | None
) -> Evaluation:
    """Measure rankings of the snapshot's documents, given by query."""
    qrels = {query: _own_gains(judged.qrels[query], located) for query in rankings}
    values = measure(qrels, {query: ranking.documents for query, ranking in rankings.items()})
    scores = tuple(
        QueryScore(
            query,
            judged.queries[query],
            values[query],
            _first_right(qrels[query], ranking.documents),
            len(ranking.documents),
            ranking.confidence,
        )
        for query, ranking in rankings.items()
    )
    return Evaluation(
        judged=judged.name,
        scores=scores,
        excluded=tuple(sorted(set(judged.queries) - set(rankings))),
        missing=located.missing,
        unknown_queries=judged.unknown_queries,
        unknown_documents=judged.unknown_documents,
        unknown_ranked=judged.unknown_ranked,
        warnings=tuple(dict.fromkeys(w for ranking in rankings.values() for w in ranking.warnings)),
        latency=latency,
    )


def rank_documents(searcher: Searcher, text: str, mode: Mode, depth: int = DEPTH) -> RankedDocuments:
    """Rank the documents of the ``depth`` best passages by best rank, after those of a search for ten.

    A search for a hundred hits may consult longer lists than one for ten, and their additions may rank among
    the first ten.
    """
    shown = _found(searcher, SearchRequest(text, min(depth, SHOWN), mode))
    if depth <= SHOWN:
        return shown
    deep = _found(searcher, SearchRequest(text, depth, mode))
    documents = dict.fromkeys([*shown.documents, *deep.documents])
    return RankedDocuments(tuple(documents)[:depth], deep.warnings, shown.confidence)


def _found(searcher: Searcher, request: SearchRequest) -> RankedDocuments:
    ranked, corpus = searcher.rank(request), searcher.corpus
    best = ranked.run.candidates[: request.top_n]
    rows = dict.fromkeys(int(corpus.document_of[each.row]) for each in best)
    confidence = best[0].confidence if best else None
    return RankedDocuments(tuple(corpus.doc_id(row) for row in rows), ranked.warnings, confidence)


def seconds_to_answer(searcher: Searcher, text: str, mode: Mode) -> float:
    """Return how long the search takes for its ten best hits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        start = time.perf_counter()
        searcher.search(text, top_n=SHOWN, mode=mode)
        return time.perf_counter() - start


def _latency(seconds: Sequence[float]) -> Latency:
    p50, p95 = np.percentile(np.array(seconds) * 1000, [50, 95])
    return Latency(float(p50), float(p95))


def _own_gains(gains: Mapping[str, int], located: Located) -> dict[str, int]:
    """Return gains by the snapshot's document; the best gain if two judged documents are the same there."""
    found: dict[str, int] = {}
    for document, gain in gains.items():
        # The id of a missing judged document must not look like that of an existing one.
        name = str(located.doc_ids.get(document, f"missing {document}"))
        found[name] = max(gain, found.get(name, 0))
    return found


def _first_right(gains: Mapping[str, int], documents: Sequence[str]) -> int:
    return next((rank for rank, document in enumerate(documents, 1) if gains.get(document, 0) > 0), 0)
