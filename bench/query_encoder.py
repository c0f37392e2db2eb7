"""The query encoder's study: what each lesson, number and idea is worth, as a share of the full model's nDCG@10.

python -m bench relevance --part encoder
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bench.encoder_ideas import Bigrams, Dense, narrowed, with_hard_negatives
from bench.judged import judged_set, settings_for, store_for
from bench.lessons import Course, course_of
from bench.query_vectors import RememberedEncoder
from noctule.artifacts.judged.evaluate import evaluate, for_evaluation
from noctule.artifacts.judged.locating import locate, places
from noctule.artifacts.judged.measures import HEADLINE
from noctule.artifacts.query import Searcher
from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.query.understanding.term_vectors import TermEncoder
from noctule.artifacts.store.snapshot import Snapshot
from noctule.pipeline.embedding.query_encoder import Lessons, fit_term_vectors, solve, weighted_terms
from noctule.pipeline.settings.settings import QueryEncoder, Settings

Vector = npt.NDArray[np.float32]
Table = Mapping[str, Vector]
_SIF = 1e-3
# An encoder of queries, out of the lessons and the corpus that it is to search.
Made = Callable[[Course, CorpusReader], object]


class OtherVectors(CorpusReader):
    """A corpus with other term vectors than its snapshot has."""

    def __init__(self, corpus: CorpusReader, table: Table) -> None:
        super().__init__(corpus.snapshot)
        self._kept = {**corpus._kept, "term_vectors": table}


class Whole(dict[str, Vector]):
    """Term vectors that know every word, so that none is taken apart: zeros for those that they do not know."""

    def __contains__(self, term: object) -> bool:
        return True

    def __missing__(self, term: str) -> Vector:
        return np.zeros(len(next(iter(self.values()))), np.float32)


@dataclass(frozen=True, slots=True)
class Idea:
    """A name for the table, and how its encoder is made."""

    name: str
    make: Made


def _encoder(table: Table, corpus: CorpusReader) -> TermEncoder:
    return TermEncoder(OtherVectors(corpus, table))


def _fitted(course: Course, settings: QueryEncoder, without: Sequence[str] = ()) -> Table:
    taught = [lessons for kind, lessons in course.lessons.items() if kind not in without]
    found = fit_term_vectors(taught, course.terms, course.idf, settings)
    return dict(zip(found.terms, found.scale[:, None] * found.code.astype(np.float32), strict=True))


def _learning(name: str, without: Sequence[str] = (), **settings: object) -> Idea:
    given = QueryEncoder().model_copy(update=settings)
    return Idea(name, lambda course, corpus: _encoder(_fitted(course, given, without), corpus))


def _floats(course: Course) -> Table:
    """The vectors as they are solved, before they become 8-bit integers."""
    row, given = {term: at for at, term in enumerate(course.terms)}, QueryEncoder()
    lessons = [each for each in course.lessons.values() if len(each.texts)]
    from scipy import sparse

    x = sparse.vstack([weighted_terms(each, row, course.idf) for each in lessons], format="csr")
    y = np.concatenate([each.vectors for each in lessons])
    weight = np.repeat(
        np.array([each.weight for each in lessons], np.float32), [len(each.texts) for each in lessons]
    )
    seen = np.unique(x.indices)
    found = solve(x[:, seen], y, weight, given.ridge, given.iterations) * course.idf[seen, None]
    return {course.terms[at]: vector.astype(np.float32) for at, vector in zip(seen, found, strict=True)}


def _unweighted(course: Course) -> Table:
    return _fitted(replace(course, idf=np.ones_like(course.idf)), QueryEncoder())


def _sif(course: Course) -> Table:
    """Smooth inverse frequency, a / (a + p): S. Arora, Y. Liang, T. Ma, "A simple but tough-to-beat baseline for sentence
    embeddings", ICLR 2017; p by the share of the passages that hold the word."""
    rarity = np.exp(-course.idf)
    return _fitted(replace(course, idf=_SIF / (_SIF + rarity / rarity.sum())), QueryEncoder())


def _averaged(course: Course) -> Table:
    words = course.lessons["words"]
    idf = dict(zip(course.terms, course.idf, strict=True))
    return {
        term: np.float32(idf[term]) * vector for term, vector in zip(words.texts, words.vectors, strict=True)
    }


def _against_wrong(course: Course) -> Table:
    return _fitted(with_hard_negatives(course, _as_built(course)), QueryEncoder())


def _as_built(course: Course) -> Table:
    return _fitted(course, QueryEncoder())


def _uniform_lessons(course: Course) -> Table:
    lessons: dict[str, Lessons] = {kind: replace(each, weight=1.0) for kind, each in course.lessons.items()}
    return _fitted(replace(course, lessons=lessons), QueryEncoder())


IDEAS: tuple[Idea, ...] = (
    _learning("as built"),
    *(
        _learning(f"without {kind}", [kind])
        for kind in ("words", "phrases", "spans", "passages", "anchors", "titles")
    ),
    _learning("without anchors and titles: the model alone teaches", ["anchors", "titles"]),
    Idea("every lesson at weight 1", lambda course, corpus: _encoder(_uniform_lessons(course), corpus)),
    _learning("ridge 0.1", ridge=0.1),
    _learning("ridge 1", ridge=1.0),
    _learning("4 steps", iterations=4),
    _learning("25 steps", iterations=25),
    Idea("unknown words are left out", lambda course, corpus: _encoder(Whole(_as_built(course)), corpus)),
    Idea("weights of 1 in place of idf", lambda course, corpus: _encoder(_unweighted(course), corpus)),
    Idea("SIF weights in place of idf", lambda course, corpus: _encoder(_sif(course), corpus)),
    Idea("anchors and titles against hard negatives", lambda course, corpus: _encoder(_against_wrong(course), corpus)),
    Idea("no regression: words' vectors averaged by idf", lambda course, corpus: _encoder(_averaged(course), corpus)),
    Idea("32-bit floats in place of 8-bit integers", lambda course, corpus: _encoder(_floats(course), corpus)),
    Idea("with frequent pairs of words", Bigrams),
    Idea("with a dense layer after the sum", lambda course, corpus: Dense(course, _encoder(_as_built(course), corpus))),
    *(
        Idea(
            f"{size} dimensions (principal components)",
            lambda course, corpus, size=size: narrowed(_encoder(_as_built(course), corpus), corpus, size),  # type: ignore[misc]
        )
        for size in (256, 192, 128)
    ),
)  # fmt: skip


def rows(names: Sequence[str]) -> Iterator[str]:
    """The study as a table in markdown: the full model's nDCG@10, and each idea's share of it, by set."""
    columns = {name: _shares(name) for name in names}
    yield f"| query encoder | {' | '.join(columns)} |"
    yield "| --- |" + " ---: |" * len(columns)
    for idea in ("full model", *(each.name for each in IDEAS)):
        yield f"| {idea} | {' | '.join(columns[name][idea] for name in names)} |"


def _shares(name: str) -> dict[str, str]:
    settings = settings_for(name)
    store = store_for(name, settings)
    remembered = RememberedEncoder(Settings().embed)
    with ExitStack() as stack:
        snapshot = stack.enter_context(store.open())
        full = _ndcg(name, settings, snapshot, remembered)
        remembered.save()
        found = {"full model": f"{full:.4f}"}
        course, corpus = course_of(store, snapshot, settings), CorpusReader(snapshot)
        for idea in IDEAS:
            share = _ndcg(name, settings, snapshot, idea.make(course, corpus)) / full
            found[idea.name] = f"{share:.3f}"
            print(f"{name}: {idea.name}: {share:.4f}", flush=True)
    return found


def _ndcg(name: str, settings: Settings, snapshot: Snapshot, encoder: object) -> float:
    judged = judged_set(name)
    searcher = Searcher(snapshot, for_evaluation(settings), encoder)  # type: ignore[arg-type]
    return evaluate(searcher, judged, locate(judged, places(snapshot)), depth=10).means[HEADLINE]
