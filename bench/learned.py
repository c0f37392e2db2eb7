"""Learned fusion: can a model over the explanation of a hit order documents better than fusion does?

Two models are each trained on four fifths of the queries and tested on the rest: a linear one (a softmax over
the documents of a query), and LambdaMART if scikit-learn is installed. They are compared with the defaults,
and with the simplest thing that can be learned: the weight of a convex combination.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.judged import CORPUS_OF, judged_set, settings_for, store_for
from bench.learned_models import DEPTH, SEED, Asked, Floats, Learner, Scorer, learners, linear
from bench.query_vectors import CachedEncoder
from noctule.artifacts.judged.evaluate import for_evaluation
from noctule.artifacts.judged.locating import Located, locate, places
from noctule.artifacts.judged.measures import HEADLINE, measure
from noctule.artifacts.judged.reading import Judged
from noctule.artifacts.judged.significance import Comparison, compare, holm
from noctule.artifacts.query import Searcher
from noctule.artifacts.query.context import SearchRequest
from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.query.pipeline import Ranked
from noctule.artifacts.query.retrieval.keyword import postings_of
from noctule.flows.quality.tuning.held_out import fold_of
from noctule.pipeline.settings.settings import FIELDS, Settings

FOLDS = 5
_K = 60
_SHOWN_FIELDS = ("title", "headings", "body", "anchors")
FEATURES = (
    "keyword score", "semantic score", "keyword 1/(60+rank)", "semantic 1/(60+rank)", "second keyword score",
    "second semantic score", "in both lists", "only passage", "words found",
    *(f"words in {f}" for f in _SHOWN_FIELDS),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Study:
    """A set's candidates: nDCG@10 of every query by each order, and the gains behind it."""

    name: str
    asked: tuple[Asked, ...]
    gains: dict[str, dict[str, int]]
    scores: dict[str, Floats]


def rows(names: Sequence[str]) -> Iterator[str]:
    """Yield a markdown table: each order of the candidates, against the defaults and the convex weight."""
    yield "| set | order by | nDCG@10 | to the defaults | p (Holm) | to the convex weight | p (Holm) |"
    yield "| --- | --- |" + " ---: |" * 5
    encoder = CachedEncoder(Settings().embed)
    studies = [_studied(name, encoder) for name in names]
    encoder.save()
    found = [(each.name, each.scores | _from_others(each, studies)) for each in studies]
    to_defaults = _compared(found, "defaults")
    to_convex = _compared(found, "convex, weight learned")
    corrected = [
        dict(zip(each, holm([c.p for c in each.values()]), strict=True)) for each in (to_defaults, to_convex)
    ]
    for name, scores in found:
        for order, values in scores.items():
            cells = [
                text
                for each, p in zip((to_defaults, to_convex), corrected, strict=True)
                for text in _cells(each.get((name, order)), p.get((name, order), 1.0))
            ]
            yield f"| {name} | {order} | {values.mean():.4f} | {' | '.join(cells)} |"


def _from_others(study: Study, studies: Sequence[Study]) -> dict[str, Floats]:
    """Fit the linear model to the other collections alone: its value to a user without judgements."""
    others = [each for each in studies if CORPUS_OF[each.name] != CORPUS_OF[study.name]]
    if not others:
        return {}
    score = linear([asked for each in others for asked in each.asked])
    return {
        "linear, of other collections": _scores(
            study.gains, {a.query: _ordered(a, score) for a in study.asked}
        )
    }


def _ordered(asked: Asked, score: Scorer) -> list[str]:
    return [asked.documents[at] for at in np.argsort(-score(asked.features), kind="stable").tolist()]


def _compared(
    found: Sequence[tuple[str, dict[str, Floats]]], baseline: str
) -> dict[tuple[str, str], Comparison]:
    return {
        (name, order): compare(scores[baseline].tolist(), values.tolist())
        for name, scores in found
        for order, values in scores.items()
        if order not in ("defaults", baseline)
    }


def _cells(comparison: Comparison | None, p: float) -> list[str]:
    return ["", ""] if comparison is None else [f"{comparison.difference:+.4f}", f"{p:.4f}"]


def _studied(name: str, encoder: CachedEncoder) -> Study:
    judged, settings = judged_set(name), settings_for(name)
    with store_for(name, settings).open() as snapshot:
        located = locate(judged, places(snapshot))
        searcher = Searcher(snapshot, for_evaluation(settings), encoder)
        asked = tuple(_asked(searcher, judged, located, query) for query in sorted(judged.answerable))
        default = {query: _default(searcher, judged.queries[query]) for query in sorted(judged.answerable)}
        searcher.close()
    print(
        f"{name}: {len(asked)} queries, {np.mean([len(each.documents) for each in asked]):.0f} documents each"
    )
    gains = _gains(judged, located)
    found = {"defaults": _scores(gains, default)}
    for order, learner in learners().items():
        found[order] = _scores(gains, _held_out(asked, learner))
        print(f"{name}: {order}: {found[order].mean():.4f}", flush=True)
    return Study(name, asked, gains, found)


def _gains(judged: Judged, located: Located) -> dict[str, dict[str, int]]:
    return {
        query: {str(located.doc_ids.get(d, f"missing {d}")): gain for d, gain in judged.qrels[query].items()}
        for query in sorted(judged.answerable)
    }


def _scores(gains: dict[str, dict[str, int]], rankings: dict[str, list[str]]) -> Floats:
    values = measure(gains, {query: rankings[query][:DEPTH] for query in gains})
    return np.array([values[query][HEADLINE] for query in gains])


def _default(searcher: Searcher, text: str) -> list[str]:
    corpus = searcher.corpus
    candidates = searcher.rank(SearchRequest(text, DEPTH)).run.candidates
    return [corpus.doc_id(row) for row in dict.fromkeys(int(corpus.document_of[c.row]) for c in candidates)]


def _held_out(asked: Sequence[Asked], learner: Learner) -> dict[str, list[str]]:
    """Return each query's documents as ordered by a model that was not trained on the query."""
    parts = fold_of(len(asked), FOLDS, SEED)
    found: dict[str, list[str]] = {}
    for fold in range(FOLDS):
        score = learner([each for each, part in zip(asked, parts, strict=True) if part != fold])
        for each in (asked[at] for at in np.flatnonzero(parts == fold).tolist()):
            found[each.query] = _ordered(each, score)
    return found


# Features


def _asked(searcher: Searcher, judged: Judged, located: Located, query: str) -> Asked:
    """Return the documents of every list's candidates, in the order of the plain fusion."""
    plain = searcher.with_settings(
        for_evaluation(Settings()).search.model_copy(update={"stages": (), "fusion": "rrf", "rrf_k": _K})
    )
    ranked, corpus = plain.rank(SearchRequest(judged.queries[query], DEPTH)), searcher.corpus
    by_document: dict[int, list[int]] = {}
    for at, candidate in enumerate(ranked.run.candidates):
        by_document.setdefault(int(corpus.document_of[candidate.row]), []).append(at)
    right = {str(located.doc_ids.get(d)) for d, gain in judged.qrels[query].items() if gain > 0}
    documents = tuple(corpus.doc_id(document) for document in by_document)
    passages = _passage_features(ranked, corpus)
    alone = [corpus.passages_of[document] == 1 for document in by_document]
    rows = [_document(passages[found], one) for found, one in zip(by_document.values(), alone, strict=True)]
    features = np.array(rows) if rows else np.zeros((0, len(FEATURES)))
    return Asked(query, documents, features, np.array([each in right for each in documents], dtype=np.bool_))


def _passage_features(ranked: Ranked, corpus: CorpusReader) -> Floats:
    """Return columns: keyword and semantic score, their reciprocal ranks, shares of words found."""
    candidates = ranked.run.candidates
    found = np.zeros((len(candidates), 5 + len(_SHOWN_FIELDS)))
    most = (
        sum(w * float(p.scores.max()) for q in ranked.queries[:1] for p, w in postings_of(q, corpus)) or 1.0
    )
    for at, candidate in enumerate(candidates):
        for each in candidate.contributions:
            column = {"keyword": 0, "semantic": 1}.get(each.list)
            if column is not None:
                found[at, column] = each.score / most if each.list == "keyword" else each.score
                found[at, 2 + column] = _K / (_K + each.rank)
    rows = np.array([candidate.row for candidate in candidates], dtype=np.int64)
    terms = ranked.queries[0].terms if ranked.queries else ()
    for term in terms:
        posting = corpus.prose.of(term)
        if posting is not None:
            place = np.minimum(np.searchsorted(posting.passages, rows), len(posting.passages) - 1)
            there = posting.passages[place] == rows
            found[:, 4] += there / len(terms)
            for number, field in enumerate(_SHOWN_FIELDS):
                bit = (posting.fields[place] >> FIELDS.index(field)) & 1
                found[:, 5 + number] += there * bit / len(terms)
    return found


def _document(passages: Floats, alone: bool) -> list[float]:
    """Return the maximum of each column, and the second best scores."""
    best = passages.max(axis=0)
    second = np.sort(passages, axis=0)[-2] if len(passages) > 1 else (best if alone else best * 0)
    both = float(best[2] > 0 and best[3] > 0)
    return [*best[:4], second[0], second[1], both, float(alone), *best[4:]]
