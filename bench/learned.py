"""Learned fusion: can a model over what the explanation says of a hit order documents better than fusion does?

Two models, each trained on four fifths of the queries and asked the rest: a linear one (a softmax over the documents of a
query), and LambdaMART where scikit-learn is there. They are compared with the defaults, and with the plainest thing
that can be learned: the weight of a convex combination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from artifacts.evaluate import for_evaluation
from artifacts.judged import Judged
from artifacts.located import Located, locate, places
from artifacts.measures import HEADLINE, measure
from artifacts.query import Searcher
from artifacts.query.answering import Ranked
from artifacts.query.asking import Request
from artifacts.query.corpus import Corpus
from artifacts.query.keyword import postings_of
from artifacts.significance import Comparison, compare, holm
from bench.judged import judged_set, settings_for, store_for
from bench.query_vectors import RememberedEncoder
from flows.tuning.held_out import fold_of
from pipeline.settings import FIELDS, Settings

Floats = npt.NDArray[np.float64]
FOLDS, SEED, DEPTH = 5, 0, 10
_K = 60
_SHOWN_FIELDS = ("title", "headings", "body", "anchors")
FEATURES = (
    "keyword score", "semantic score", "keyword 1/(60+rank)", "semantic 1/(60+rank)", "second keyword score",
    "second semantic score", "in both lists", "only passage", "words found", *(f"words in {f}" for f in _SHOWN_FIELDS),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A query's candidates: document ids, their features (a row each), and which of them are right."""

    query: str
    documents: tuple[str, ...]
    features: Floats
    right: npt.NDArray[np.bool_]


# From training queries: what gives a score to each row of features.
Scorer = Callable[[Floats], Floats]
Learner = Callable[[Sequence[Asked]], Scorer]


def rows(names: Sequence[str]) -> Iterator[str]:
    """A markdown table: each way to order the candidates on each set, against the defaults and the convex weight."""
    yield "| set | order by | nDCG@10 | to the defaults | p (Holm) | to the convex weight | p (Holm) |"
    yield "| --- | --- |" + " ---: |" * 5
    encoder = RememberedEncoder(Settings().embed)
    found = [(name, _studied(name, encoder)) for name in names]
    encoder.save()
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


def _studied(name: str, encoder: RememberedEncoder) -> dict[str, Floats]:
    """nDCG@10 of every query by each order."""
    judged, settings = judged_set(name), settings_for(name)
    with store_for(name, settings).open() as snapshot:
        located = locate(judged, places(snapshot))
        searcher = Searcher(snapshot, for_evaluation(settings), encoder)
        asked = [_asked(searcher, judged, located, query) for query in sorted(judged.answerable)]
        default = {query: _default(searcher, judged.queries[query]) for query in sorted(judged.answerable)}
        searcher.close()
    print(
        f"{name}: {len(asked)} queries, {np.mean([len(each.documents) for each in asked]):.0f} documents each"
    )
    gains = _gains(judged, located)
    found = {"defaults": _scores(gains, default)}
    for order, learner in _learners().items():
        found[order] = _scores(gains, _held_out(asked, learner))
        print(f"{name}: {order}: {found[order].mean():.4f}", flush=True)
    return found


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
    candidates = searcher.rank(Request(text, DEPTH)).run.candidates
    return [corpus.doc_id(row) for row in dict.fromkeys(int(corpus.document_of[c.row]) for c in candidates)]


def _held_out(asked: Sequence[Asked], learner: Learner) -> dict[str, list[str]]:
    """Each query's documents as a model orders them that has not seen the query."""
    parts = fold_of(len(asked), FOLDS, SEED)
    found: dict[str, list[str]] = {}
    for fold in range(FOLDS):
        score = learner([each for each, part in zip(asked, parts, strict=True) if part != fold])
        for each in (asked[at] for at in np.flatnonzero(parts == fold).tolist()):
            order = np.argsort(-score(each.features), kind="stable")
            found[each.query] = [each.documents[at] for at in order]
    return found


# Features


def _asked(searcher: Searcher, judged: Judged, located: Located, query: str) -> Asked:
    """The documents of every list's candidates, in the order of the plain fusion."""
    plain = searcher.with_settings(
        for_evaluation(Settings()).search.model_copy(update={"stages": (), "fusion": "rrf", "rrf_k": _K})
    )
    ranked, corpus = plain.rank(Request(judged.queries[query], DEPTH)), searcher.corpus
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


def _passage_features(ranked: Ranked, corpus: Corpus) -> Floats:
    """Columns: keyword and semantic score, then their reciprocal ranks, then shares of words found, by field too."""
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
    """The best of each column, and the second best scores."""
    best = passages.max(axis=0)
    second = np.sort(passages, axis=0)[-2] if len(passages) > 1 else (best if alone else best * 0)
    both = float(best[2] > 0 and best[3] > 0)
    return [*best[:4], second[0], second[1], both, float(alone), *best[4:]]


# Models


def _learners() -> dict[str, Learner]:
    found: dict[str, Learner] = {"convex, weight learned": _convex, "linear": _linear}
    try:
        import sklearn.tree  # noqa: F401
    except ImportError:
        print("scikit-learn is not here: no trees")
        return found
    return found | {"LambdaMART": _lambda_mart}


def _convex(asked: Sequence[Asked]) -> Scorer:
    """The weight of the keyword score with the best nDCG@10 on the training queries."""
    weights = np.linspace(0, 1, 21)
    best = max(weights.tolist(), key=lambda weight: _worth(asked, weight))
    return lambda features: best * features[:, 0] + (1 - best) * features[:, 1]


def _worth(asked: Sequence[Asked], weight: float) -> float:
    total = 0.0
    for each in asked:
        score = weight * each.features[:, 0] + (1 - weight) * each.features[:, 1]
        right = each.right[np.argsort(-score, kind="stable")[:DEPTH]]
        total += float((right / np.log2(np.arange(2, 2 + len(right)))).sum())
    return total


def _linear(asked: Sequence[Asked], ridge: float = 1.0) -> Scorer:
    """Weights under which a softmax over each query's documents gives the right ones most; the loss is convex."""
    from scipy.optimize import minimize

    scale = np.concatenate([each.features for each in asked]).std(axis=0) + 1e-9
    known = [(each.features / scale, each.right) for each in asked if each.right.any()]

    def loss(w: Floats) -> tuple[float, Floats]:
        total, gradient = ridge / 2 * float(w @ w), ridge * w
        for x, right in known:
            score = x @ w
            share = np.exp(score - score.max())
            total += float(np.log(share.sum()) + score.max() - score[right].mean())
            gradient = gradient + share @ x / share.sum() - x[right].mean(axis=0)
        return total, gradient

    learned = minimize(loss, np.zeros(len(scale)), jac=True, method="L-BFGS-B").x / scale
    return lambda features: features @ learned


def _lambda_mart(asked: Sequence[Asked], trees: int = 60, rate: float = 0.1) -> Scorer:
    """LambdaMART (Burges 2010): each tree is fitted to what nDCG would gain if two documents changed places."""
    from sklearn.tree import DecisionTreeRegressor

    known = [each for each in asked if each.right.any()]
    x, ends = (
        np.concatenate([each.features for each in known]),
        np.cumsum([len(each.right) for each in known]),
    )
    score, grown = np.zeros(len(x)), []
    for _ in range(trees):
        parts = np.split(score, ends[:-1])
        found = [_pull(own, each.right) for own, each in zip(parts, known, strict=True)]
        pull, bend = np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])
        tree = DecisionTreeRegressor(max_leaf_nodes=8, min_samples_leaf=20, random_state=SEED)
        leaf = tree.fit(x, pull).apply(x)
        step = np.bincount(leaf, pull) / (np.bincount(leaf, bend) + 1.0)
        score += rate * step[leaf]
        grown.append((tree, step))

    def scored(features: Floats) -> Floats:
        total = np.zeros(len(features))
        for tree, step in grown if len(features) else ():
            total += rate * step[tree.apply(features)]
        return total

    return scored


def _pull(score: Floats, right: npt.NDArray[np.bool_]) -> Floats:
    """Two rows: how strongly each document is pulled up or down, and how fast that changes with its score."""
    place = np.empty(len(score), dtype=np.int64)
    place[np.argsort(-score, kind="stable")] = np.arange(len(score))
    discount = 1 / np.log2(place + 2)
    ideal = (1 / np.log2(np.arange(int(right.sum())) + 2)).sum()
    gain = np.abs(discount[right][:, None] - discount[~right][None, :]) / ideal
    wrong_way = 1 / (1 + np.exp(np.clip(score[right][:, None] - score[~right][None, :], -30, 30)))
    pull, bend = gain * wrong_way, gain * wrong_way * (1 - wrong_way)
    found = np.zeros((2, len(score)))
    found[0, right], found[0, ~right] = pull.sum(axis=1), -pull.sum(axis=0)
    found[1, right], found[1, ~right] = bend.sum(axis=1), bend.sum(axis=0)
    return found
