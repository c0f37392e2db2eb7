"""The stages by name, and how they run: in the order that the settings list them, each from candidates to candidates."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ....pipeline.settings.search import StageName
from ..context import Asking
from ..model import Candidate, Move, Step
from .aggregate import aggregated
from .calibrate import calibrated
from .community import boost_communities
from .diversity import diversified
from .duplicates import without_near_meaning, without_near_text, without_same
from .elbow import before_elbow
from .glossary_pages import boost_glossary_pages
from .in_degree import boost_linked
from .limit import limit_per_document
from .parents import with_parents
from .recency import boost_recent
from .rerank import reranked
from .support import support_documents

Stage = Callable[[Sequence[Candidate], Asking], list[Candidate]]


@dataclass(slots=True)
class Run:
    """What the stages made of the candidates, and how it went."""

    candidates: list[Candidate]
    steps: list[Step] = field(default_factory=list)
    orders: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def moves_of(self, row: int) -> tuple[Move, ...]:
        """The stages that changed the rank of a passage, in order."""
        ranks = [(stage, rows.index(row) + 1) for stage, rows in self.orders if row in rows]
        pairs = itertools.pairwise(ranks)
        return tuple(Move(stage, before, after) for (_, before), (stage, after) in pairs if before != after)


def run_stages(candidates: list[Candidate], asking: Asking) -> Run:
    """The candidates after every stage of the settings, in their order."""
    run = Run(candidates, orders=[("fuse", tuple(each.row for each in candidates))])
    for name in asking.settings.stages:
        start = time.perf_counter()
        run.candidates = STAGES[name](run.candidates, asking) if run.candidates else []
        run.steps.append(Step(name, len(run.candidates), time.perf_counter() - start))
        run.orders.append((name, tuple(each.row for each in run.candidates)))
    return run


def _support(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    corpus, share = asking.corpus, asking.settings.support.share
    return support_documents(candidates, corpus.document_of, corpus.passages_of, share)


def _in_degree(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    corpus, share = asking.corpus, asking.settings.in_degree.share
    return boost_linked(candidates, corpus.document_of, corpus.links_in, share)


def _community(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    corpus, settings = asking.corpus, asking.settings.community
    return boost_communities(
        candidates, corpus.document_of, corpus.community_of, settings.seeds, settings.factor
    )


def _recency(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    corpus, settings = asking.corpus, asking.settings
    if settings.recency_bias == 0 or asking.request.today is None:
        return list(candidates)
    return boost_recent(
        candidates,
        corpus.document_of,
        corpus.modified,
        asking.request.today,
        settings.recency,
        settings.recency_bias,
    )


def _glossary(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    corpus = asking.corpus

    def place(candidate: Candidate) -> tuple[str, str, str]:
        document = corpus.document(int(corpus.document_of[candidate.row]))
        return document["path"], document["title"], corpus.rows.of(candidate.row)["breadcrumb"]

    head = candidates[: asking.pool]
    boosted = boost_glossary_pages(head, place, asking.terms, corpus.languages, asking.settings.glossary)
    return [*boosted, *candidates[asking.pool :]]


def _calibrate(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    settings = asking.settings
    # Support is part of what a passage can have: without it, half of the most would be easy to reach.
    most = asking.attainable * (1 + settings.support.share if "support" in settings.stages else 1)
    least = settings.calibrate.min_confidence
    # Nobody sees the others, and none of them is left out.
    seen = len(candidates) if least > 0 else max(asking.pool, asking.request.top_n)
    return [*calibrated(candidates[:seen], most, asking.curve, least), *candidates[seen:]]


def _duplicate_hash(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    # Passages of one content hash share their vector.
    return without_same(candidates, _of(asking.corpus.vector_row, candidates))


def _duplicate_url(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    return without_same(candidates, _of(asking.corpus.address_of, candidates))


def _of(column: npt.NDArray[np.int64], candidates: Sequence[Candidate]) -> list[int]:
    """The numbers that a column has for the candidates' passages."""
    found: list[int] = column[[each.row for each in candidates]].tolist()
    return found


def _duplicate_ngram(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    threshold = asking.settings.duplicates.ngram
    head, tail = candidates[: asking.pool], candidates[asking.pool :]
    return [*without_near_text(head, asking.text_of, threshold), *tail]


def _duplicate_cosine(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    head = candidates[: asking.pool]
    vectors = asking.corpus.vectors([each.row for each in head])
    kept = without_near_meaning(head, vectors, asking.settings.duplicates.cosine)
    return [*kept, *candidates[asking.pool :]]


def _per_document(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    return limit_per_document(candidates, asking.corpus.document_of, asking.settings.max_per_document)


def _rerank(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    if asking.scorer is None:
        return list(candidates)
    head = candidates[: asking.settings.rerank.depth]
    rows = [asking.corpus.rows.of(each.row) for each in head]
    passages = [f"{row['breadcrumb']}\n\n{row['text']}" for row in rows]
    question = " ".join(query.text for query in asking.queries)
    relevance = asking.scorer.relevance(question, passages)
    return reranked(candidates, relevance, asking.settings.rerank)


def _mmr(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    head = candidates[: asking.pool]
    top = max(each.score for each in head) or 1.0
    relevance = np.array([each.score / top for each in head])
    vectors = asking.corpus.vectors([each.row for each in head])
    taken = diversified(head, relevance, vectors, asking.settings.mmr.balance, asking.pool)
    return [*taken, *candidates[asking.pool :]]


def _elbow(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    return before_elbow(candidates, asking.settings.elbow.ratio, asking.settings.elbow.max_results)


def _aggregate(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    head = candidates[: asking.pool]
    sections = [asking.section_of(each) for each in head]
    found = aggregated(head, sections, asking.corpus.sections, asking.settings.aggregate)
    return [*found, *candidates[asking.pool :]]


def _parents(candidates: Sequence[Candidate], asking: Asking) -> list[Candidate]:
    head = candidates[: asking.pool]
    sections = [asking.section_of(each) for each in head]
    found = with_parents(head, sections, asking.corpus.sections, asking.settings.parents.max_bytes)
    return [*found, *candidates[asking.pool :]]


STAGES: Mapping[StageName, Stage] = {
    "support": _support,
    "in_degree": _in_degree,
    "community": _community,
    "recency": _recency,
    "glossary": _glossary,
    "calibrate": _calibrate,
    "duplicate_hash": _duplicate_hash,
    "duplicate_url": _duplicate_url,
    "duplicate_ngram": _duplicate_ngram,
    "duplicate_cosine": _duplicate_cosine,
    "rerank": _rerank,
    "mmr": _mmr,
    "per_document": _per_document,
    "elbow": _elbow,
    "aggregate": _aggregate,
    "parents": _parents,
}
