"""The steps from a request to an answer: understand, retrieve, fuse, rank by the stages, make hits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np

from ...pipeline.printable import bounded
from ...pipeline.settings.search import Search
from .answer import Answer
from .context import QueryContext, SearchRequest, SearchResources
from .hits import hits_of
from .index.corpus import CorpusReader
from .model import Mask, Query, Step, Vector
from .ranking.fuse import attainable, balanced, convex_combination, reciprocal_rank_fusion
from .ranking.stages import StageResults, run_stages
from .retrieval.filters import documents_allowed
from .retrieval.operator_filters import match_operators
from .retrieval.retrievers import FAILURES, NEVER_LEFT_OUT, Retrieved, Retrievers
from .understanding.classify import adapted
from .understanding.operators import ParsedQuery, parse_query
from .understanding.understand import understand

# If too few candidates are left, longer lists are asked for, so many times; a low score is no reason.
_TRIES, _LONGER = 3, 4
_MOST_SHOWN = 300
_BY_SCORE = ("calibrate", "elbow")


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates for a request in their order, before any becomes a hit, and how they came about."""

    run: StageResults
    queries: tuple[Query, ...]
    weights: Mapping[str, float]
    steps: tuple[Step, ...]
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Log:
    """The steps and warnings on the way to an answer."""

    steps: list[Step] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Note the seconds that the block takes."""
        start = time.perf_counter()
        yield
        self.steps.append(Step(stage, 0, time.perf_counter() - start))


def answer(request: SearchRequest, resources: SearchResources) -> Answer:
    """Answer a request; a list that fails is left out with a warning, unless it is the only one."""
    ranked, start = rank(request, resources), time.perf_counter()
    chars = request.excerpt_chars or resources.settings.excerpt_chars
    hits = hits_of(ranked.run, request.top_n, ranked.queries, resources.corpus, chars)
    return Answer(
        query=request.text,
        snapshot=resources.corpus.snapshot.id,
        hits=hits,
        warnings=ranked.warnings,
        understood=ranked.queries,
        steps=(*ranked.steps, Step("hits", len(hits), time.perf_counter() - start)),
        weights=ranked.weights,
    )


def rank(request: SearchRequest, resources: SearchResources) -> Ranked:
    """Rank the candidates for a request without hits, whose excerpts take most of a long answer's time."""
    log = _Log()
    parsed = parse_query(request.text)
    with log.timing("understand"):
        queries = _understood(parsed, resources, log)
    with log.timing("filter"):
        allowed = _allowed(request, parsed, resources.corpus, log)
    weights = _weights(request, queries, resources.settings)
    nothing = not parsed.plain or (allowed is not None and not allowed.any())
    run = StageResults([]) if nothing else _run(request, queries, weights, allowed, resources, log)
    return Ranked(run, queries, weights, tuple(log.steps), tuple(log.warnings))


def _understood(parsed: ParsedQuery, resources: SearchResources, log: _Log) -> tuple[Query, ...]:
    try:
        return understand(parsed, resources)
    except NEVER_LEFT_OUT:
        raise
    except FAILURES as error:
        log.warnings.append(f"the query is taken as it stands: {error}")
        plain = resources.settings.model_copy(update={"understand": ()})
        return understand(parsed, replace(resources, settings=plain, reformulate=None))


def _allowed(request: SearchRequest, parsed: ParsedQuery, corpus: CorpusReader, log: _Log) -> Mask | None:
    matches = match_operators(parsed.operators, corpus)
    log.warnings.extend(matches.notes)
    allowed, asked = matches.allowed, " ".join([*map(str, request.filters), request.where]).strip()
    if request.filters or request.where:
        documents = documents_allowed(request.filters, corpus, request.where)
        passages: Mask = documents[corpus.document_of]
        if not documents.any():
            log.warnings.append(f"no document matches the filter {bounded(asked, _MOST_SHOWN)}")
            return passages
        allowed = passages if allowed is None else passages & allowed
    if allowed is not None and not allowed.any():
        every = bounded(f"{asked} {parsed.operators}".strip(), _MOST_SHOWN)
        log.warnings.append(f"no passage meets all of: {every}")
    return allowed


def _weights(request: SearchRequest, queries: Sequence[Query], settings: Search) -> dict[str, float]:
    """Return the weights of the lists that are to be asked."""
    if request.mode != "hybrid":
        weights = {str(request.mode): 1.0}
    else:
        weights = adapted(settings.weights, queries[0].kind if queries else None, settings.classify)
    if request.hypothesis:
        weights["hypothesis"] = settings.weights["hypothesis"]
    else:
        weights.pop("hypothesis", None)
    return {name: weight for name, weight in weights.items() if weight > 0}


def _run(
    request: SearchRequest,
    queries: Sequence[Query],
    weights: Mapping[str, float],
    allowed: Mask | None,
    resources: SearchResources,
    log: _Log,
) -> StageResults:
    vector_of = lru_cache(partial(_vector, resources.encode))  # two lists and every try ask for it
    retrievers = Retrievers(resources, request, vector_of)
    limit = max(resources.settings.candidates, request.top_n)
    for _ in range(_TRIES):
        found = retrievers.retrieve(queries, weights, limit, allowed)
        run = _staged(request, queries, weights, found, resources)
        full = any(len(ranked.rows) >= limit for ranked in found.made)
        if _filled(run, request.top_n) or not full:
            break
        limit *= _LONGER
    if found.failed and not found.made:
        raise next(iter(found.failed.values()))
    log.steps.extend([*found.steps, *run.steps])
    log.warnings.extend(f"no {name} list: {error}" for name, error in found.failed.items())
    return run


def _filled(run: StageResults, top_n: int) -> bool:
    by_score = (
        before.count - after.count for before, after in pairwise(run.steps) if after.stage in _BY_SCORE
    )
    return len(run.candidates) + sum(by_score) >= top_n


def _staged(
    request: SearchRequest,
    queries: Sequence[Query],
    weights: Mapping[str, float],
    found: Retrieved,
    resources: SearchResources,
) -> StageResults:
    settings = resources.settings
    if settings.balance.enabled:
        weights = balanced(found.made, weights, settings.balance.spread, settings.balance.min_factor)
    start, k = time.perf_counter(), settings.rrf_k if settings.fusion == "rrf" else None
    if k is None:
        candidates = convex_combination(found.made, weights)
    else:
        candidates = reciprocal_rank_fusion(found.made, weights, k)
    fused = Step("fuse", len(candidates), time.perf_counter() - start)
    most = attainable(found.made, weights, k)
    context = QueryContext(
        request, tuple(queries), settings, resources.corpus, most, resources.curve, resources.scorer
    )
    run = run_stages(candidates, context)
    run.steps.insert(0, fused)
    return run


def _vector(encode: Callable[[str], Vector], query: Query) -> Vector:
    """Return the query's unit vector, with those of the texts near it added at their weights."""
    vector = encode(query.text)
    if not query.nearby:
        return vector
    total = vector + sum(weight * encode(text) for text, weight in query.nearby)
    length = float(np.linalg.norm(total))
    unit: Vector = (total / length).astype(np.float32) if length > 0 else vector
    return unit
