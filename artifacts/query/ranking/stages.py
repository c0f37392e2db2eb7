"""The ranking stages by name. They run in the order of the settings, each from candidates to candidates."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ....pipeline.settings.search import Search, StageName
from ...disk.manifest import Manifest
from ..context import QueryContext
from ..model import Candidate, Move, Step
from .boosts import (
    boost_alike,
    boost_communities,
    boost_glossary_pages,
    boost_linked,
    boost_recent,
    support_documents,
)
from .calibrate import calibrated
from .cutoffs import before_elbow, limit_per_document
from .duplicates import without_near_meaning, without_near_text, without_same
from .fuse import values_of
from .rerank import diversified, reranked
from .sections import aggregated, with_parents

Stage = Callable[[Sequence[Candidate], QueryContext], list[Candidate]]


@dataclass(slots=True)
class StageResults:
    """The candidates after the stages, the count and time of each stage, and the order that each left."""

    candidates: list[Candidate]
    steps: list[Step] = field(default_factory=list)
    orders: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def moves_of(self, row: int) -> tuple[Move, ...]:
        """Return the stages that changed the rank of a passage, in order."""
        ranks = [(stage, rows.index(row) + 1) for stage, rows in self.orders if row in rows]
        pairs = itertools.pairwise(ranks)
        return tuple(Move(stage, before, after) for (_, before), (stage, after) in pairs if before != after)


def run_stages(candidates: list[Candidate], context: QueryContext) -> StageResults:
    """Run every stage of the settings, in their order."""
    run = StageResults(candidates, orders=[("fuse", tuple(each.row for each in candidates))])
    for name in context.settings.stages:
        start = time.perf_counter()
        run.candidates = STAGES[name](run.candidates, context) if run.candidates else []
        run.steps.append(Step(name, len(run.candidates), time.perf_counter() - start))
        run.orders.append((name, tuple(each.row for each in run.candidates)))
    return run


def _among_best(stage: Stage) -> Stage:
    """Run a stage on as many candidates as are compared with each other; the others follow as they were."""

    def run(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
        return [*stage(candidates[: context.compared], context), *candidates[context.compared :]]

    return run


def applicable(settings: Search, manifest: Manifest) -> Search:
    """Return the settings without the stages that gain nothing in a snapshot: decision 76.

    Term vectors rank in browsers too, where documents have no vectors.
    """
    if settings.encoder == "full" and manifest.mostly_without_headings:
        return settings
    kept = tuple(name for name in settings.stages if name != "rocchio")
    return settings.model_copy(update={"stages": kept})


def _looks_near_the_best(context: QueryContext) -> bool:
    """Return whether ``rocchio`` changes scores; shards send no centroids where it gains nothing."""
    is_asked = "rocchio" in context.settings.stages and context.request.mode == "hybrid"
    return is_asked and len(context.corpus.centroids) > 0


def _rocchio(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    corpus, settings = context.corpus, context.settings.rocchio
    if not _looks_near_the_best(context):
        return list(candidates)
    share = settings.share * context.attainable
    return boost_alike(candidates, corpus.document_of, corpus.centroids, settings.documents, share)


def _support(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    corpus, share = context.corpus, context.settings.support.share
    return support_documents(candidates, corpus.document_of, corpus.passages_of, share)


def _in_degree(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    corpus, share = context.corpus, context.settings.in_degree.share
    return boost_linked(candidates, corpus.document_of, corpus.links_in, share)


def _community(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    corpus, settings = context.corpus, context.settings.community
    return boost_communities(
        candidates, corpus.document_of, corpus.community_of, settings.seeds, settings.factor
    )


def _recency(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    corpus, settings = context.corpus, context.settings
    if settings.recency_bias == 0 or context.request.today is None:
        return list(candidates)
    today, tiers, bias = context.request.today, settings.recency, settings.recency_bias
    return boost_recent(candidates, corpus.document_of, corpus.modified, today, tiers, bias)


@_among_best
def _glossary(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    corpus = context.corpus

    def place(candidate: Candidate) -> tuple[str, str, str]:
        document = corpus.document(int(corpus.document_of[candidate.row]))
        return document["path"], document["title"], corpus.rows.of(candidate.row)["breadcrumb"]

    return boost_glossary_pages(candidates, place, context.terms, corpus.languages, context.settings.glossary)


def _calibrate(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    settings = context.settings
    # What both add is part of what ranks can give: without it, half of the most would be easy to reach.
    most = context.attainable * (1 + settings.support.share if "support" in settings.stages else 1)
    most *= 1 + settings.rocchio.share if _looks_near_the_best(context) else 1

    def share(candidate: Candidate) -> float:
        if settings.fusion == "convex":
            return candidate.attained
        return candidate.score / most if most > 0 else 0.0

    least = settings.calibrate.min_confidence
    # The others are never shown, and none of them is left out.
    seen = len(candidates) if least > 0 else max(context.compared, context.request.top_n)
    return [*calibrated(candidates[:seen], share, context.curve, least), *candidates[seen:]]


def _duplicate_hash(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    return without_same(candidates, values_of(context.corpus.content_of, candidates))


def _duplicate_url(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    return without_same(candidates, values_of(context.corpus.address_of, candidates))


@_among_best
def _duplicate_ngram(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    return without_near_text(candidates, context.text_of, context.settings.duplicates.ngram)


@_among_best
def _duplicate_cosine(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    vectors = context.corpus.vectors([each.row for each in candidates])
    return without_near_meaning(candidates, vectors, context.settings.duplicates.cosine)


def _per_document(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    return limit_per_document(candidates, context.corpus.document_of, context.settings.max_per_document)


def _rerank(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    if context.scorer is None:
        return list(candidates)
    head = candidates[: context.settings.rerank.depth]
    rows = [context.corpus.rows.of(each.row) for each in head]
    passages = [f"{row['breadcrumb']}\n\n{row['text']}" for row in rows]
    question = " ".join(query.text for query in context.queries)
    relevance = context.scorer.relevance(question, passages)
    return reranked(candidates, relevance, context.settings.rerank)


@_among_best
def _mmr(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    top = max(each.score for each in candidates) or 1.0
    relevance = np.array([each.score / top for each in candidates])
    vectors = context.corpus.vectors([each.row for each in candidates])
    weight = context.settings.mmr.relevance_weight
    return diversified(candidates, relevance, vectors, weight, context.compared)


def _elbow(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    return before_elbow(candidates, context.settings.elbow.ratio, context.settings.elbow.max_results)


@_among_best
def _aggregate(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    sections = [context.section_of(each) for each in candidates]
    return aggregated(candidates, sections, context.corpus.sections, context.settings.aggregate)


@_among_best
def _parents(candidates: Sequence[Candidate], context: QueryContext) -> list[Candidate]:
    sections = [context.section_of(each) for each in candidates]
    return with_parents(candidates, sections, context.corpus.sections, context.settings.parents.max_bytes)


STAGES: Mapping[StageName, Stage] = {
    "rocchio": _rocchio,
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
