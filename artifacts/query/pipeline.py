"""From a request to an answer: understand, list, fuse, then the stages in their order, then hits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ...pipeline.settings.search import Search
from .context import Asking, Request
from .hits import hits_of
from .index.corpus import Corpus
from .model import Answer, Candidate, Mask, Query, RankedList, Step, Vector
from .ranking.calibrate import Curve
from .ranking.fuse import attainable, balanced, convex_combination, reciprocal_rank_fusion
from .ranking.rerank import PairScorer
from .ranking.stages import Run, run_stages
from .retrieval.demands import demanded
from .retrieval.filters import documents_allowed, passages_allowed
from .retrieval.retrievers import FAILURES, Lister, Lists, Remember
from .understanding.classify import adapted
from .understanding.operators import Typed, take_apart
from .understanding.synonyms import Glossary
from .understanding.understand import Reader, Reformulate, understand

# When what is left out leaves too few, longer lists are asked for, so many times; not for what scored too little.
_TRIES, _LONGER = 3, 4
_BY_SCORE = ("calibrate", "elbow")


@dataclass(frozen=True, slots=True)
class Means:
    """What there is to answer with."""

    corpus: Corpus
    settings: Search
    encode: Callable[[str], Vector]
    glossary: Glossary
    curve: Curve
    scorer: PairScorer | None
    pool: ThreadPoolExecutor
    reformulate: Reformulate | None = None
    remember: Remember | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates for a request in their order, before any of them is made a hit; and how they came about."""

    run: Run
    queries: tuple[Query, ...]
    weights: Mapping[str, float]
    steps: tuple[Step, ...]
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Log:
    """What happened on the way to an answer."""

    steps: list[Step] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Notes the seconds that the block takes."""
        start = time.perf_counter()
        yield
        self.steps.append(Step(stage, 0, time.perf_counter() - start))


def answer(request: Request, means: Means) -> Answer:
    """The hits for a request; a list that fails is left out with a warning, unless it is the only one."""
    ranked, start = rank(request, means), time.perf_counter()
    hits = hits_of(ranked.run, request.top_n, ranked.queries, means.corpus, means.settings.excerpt_chars)
    return Answer(
        query=request.text,
        snapshot=means.corpus.snapshot.id,
        hits=hits,
        warnings=ranked.warnings,
        understood=ranked.queries,
        steps=(*ranked.steps, Step("hits", len(hits), time.perf_counter() - start)),
        weights=ranked.weights,
    )


def rank(request: Request, means: Means) -> Ranked:
    """All that :func:`answer` does but for the hits, whose excerpts take most of the time of a long answer."""
    log = _Log()
    typed = take_apart(request.text)
    with log.timing("understand"):
        queries = _understood(typed, means, log)
    with log.timing("filter"):
        allowed = _allowed(request, typed, means.corpus, log)
    weights = _weights(request, queries, means.settings)
    nothing = not typed.plain or (allowed is not None and not allowed.any())
    run = Run([]) if nothing else _run(request, queries, weights, allowed, means, log)
    return Ranked(run, queries, weights, tuple(log.steps), tuple(log.warnings))


def _understood(typed: Typed, means: Means, log: _Log) -> tuple[Query, ...]:
    reader = Reader(means.corpus, means.settings, means.glossary, means.encode, means.reformulate)
    try:
        return understand(typed, reader)
    except FAILURES as error:
        log.warnings.append(f"the query is taken as it stands: {error}")
        plain = means.settings.model_copy(update={"understand": ()})
        return understand(typed, replace(reader, settings=plain, reformulate=None))


def _allowed(request: Request, typed: Typed, corpus: Corpus, log: _Log) -> Mask | None:
    demands = demanded(typed.operators, corpus)
    log.warnings.extend(demands.notes)
    allowed, asked = demands.allowed, " ".join(map(str, request.filters))
    if request.filters:
        documents = documents_allowed(request.filters, corpus)
        if not documents.any():
            log.warnings.append(f"no document matches the filter {asked}")
            return passages_allowed(documents, corpus)
        passages = passages_allowed(documents, corpus)
        allowed = passages if allowed is None else passages & allowed
    if allowed is not None and not allowed.any():
        log.warnings.append(f"no passage meets all of: {f'{asked} {typed.operators}'.strip()}")
    return allowed


def _weights(request: Request, queries: Sequence[Query], settings: Search) -> dict[str, float]:
    """The weights of the lists that are to be asked."""
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
    request: Request,
    queries: Sequence[Query],
    weights: Mapping[str, float],
    allowed: Mask | None,
    means: Means,
    log: _Log,
) -> Run:
    vector_of = lru_cache(lambda query: _vector(query, means.encode))  # two lists and every try ask for it
    lister = Lister(means.corpus, means.settings, vector_of, means.encode, means.pool, means.remember)
    limit = max(means.settings.candidates, request.top_n)
    for _ in range(_TRIES):
        found = lister.lists(request, queries, weights, limit, allowed)
        run = _staged(request, queries, weights, found, means)
        full = any(len(ranked.rows) >= limit for ranked in found.made)
        if _filled(run, request.top_n) or not full:
            break
        limit *= _LONGER
    if found.failed and not found.made:
        raise next(iter(found.failed.values()))
    log.steps.extend([*found.steps, *run.steps])
    log.warnings.extend(f"no {name} list: {error}" for name, error in found.failed.items())
    return run


def _filled(run: Run, top_n: int) -> bool:
    by_score = (
        before.count - after.count for before, after in pairwise(run.steps) if after.stage in _BY_SCORE
    )
    return len(run.candidates) + sum(by_score) >= top_n


def _staged(
    request: Request,
    queries: Sequence[Query],
    weights: Mapping[str, float],
    found: Lists,
    means: Means,
) -> Run:
    settings = means.settings
    if settings.balance.on:
        weights = balanced(found.made, weights, settings.balance.spread, settings.balance.least)
    start = time.perf_counter()
    candidates = _fused(found.made, weights, settings)
    fused = Step("fuse", len(candidates), time.perf_counter() - start)
    most = attainable(found.made, weights, settings.rrf_k if settings.fusion == "rrf" else None)
    asking = Asking(request, tuple(queries), settings, means.corpus, most, means.curve, means.scorer)
    run = run_stages(candidates, asking)
    run.steps.insert(0, fused)
    return run


def _fused(lists: Sequence[RankedList], weights: Mapping[str, float], settings: Search) -> list[Candidate]:
    if settings.fusion == "convex":
        return convex_combination(lists, weights)
    return reciprocal_rank_fusion(lists, weights, settings.rrf_k)


def _vector(query: Query, encode: Callable[[str], Vector]) -> Vector:
    """The query's vector, with those of the texts near it added at their weights, made unit again."""
    vector = encode(query.text)
    if not query.nearby:
        return vector
    total = vector + sum(weight * encode(text) for text, weight in query.nearby)
    length = float(np.linalg.norm(total))
    unit: Vector = (total / length).astype(np.float32) if length > 0 else vector
    return unit
