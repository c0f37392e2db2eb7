"""The steps from a request to an answer: understand, retrieve, fuse, rank by the stages, make hits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np

from ...pipeline.model import SnapshotId
from ...pipeline.printable import bounded
from ...pipeline.settings.search import Search
from .answer import Answer
from .context import QueryContext, RankedCorpus, SearchRequest, SearchResources
from .hits import hits_of
from .index.corpus import CorpusReader
from .model import Mask, Query, Step, Vector
from .ranking.calibrate import Curve
from .ranking.fuse import attainable, balanced, convex_combination, reciprocal_rank_fusion
from .ranking.rerank import PairScorer
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
class Prepared:
    """A request taken apart and understood, before any list is made.

    ``allowed`` are the passages that meet its conditions (``None``: all). ``phrases`` has a note for each
    phrase that stands nowhere, and an empty one for each that does; ``emptied`` says why nothing is allowed,
    where that is so; ``conditions`` are the filters and operators as they were given.
    """

    queries: tuple[Query, ...]
    weights: Mapping[str, float]
    allowed: Mask | None
    conditions: str
    has_words: bool
    phrases: Mapping[str, str] = field(default_factory=dict)
    emptied: str = ""
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_nothing(self) -> bool:
        """Return whether no list could find anything."""
        return not self.has_words or (self.allowed is not None and not self.allowed.any())

    @property
    def warnings(self) -> list[str]:
        """Return what is to be told of all this."""
        return [*self.notes, *filter(None, self.phrases.values()), *filter(None, [self.emptied])]


@contextmanager
def _timing(steps: list[Step], stage: str) -> Iterator[None]:
    """Note the seconds that the block takes."""
    start = time.perf_counter()
    yield
    steps.append(Step(stage, 0, time.perf_counter() - start))


def answer(request: SearchRequest, resources: SearchResources) -> Answer:
    """Answer a request; a list that fails is left out with a warning, unless it is the only one."""
    ranked, corpus = rank(request, resources), resources.corpus
    return answer_of(request, ranked, resources.settings, corpus, corpus.snapshot.id)


def answer_of(
    request: SearchRequest, ranked: Ranked, settings: Search, corpus: RankedCorpus, snapshot: SnapshotId
) -> Answer:
    """Make hits of the first candidates, whose rows are those of the corpus."""
    start, chars = time.perf_counter(), request.excerpt_chars or settings.excerpt_chars
    hits = hits_of(ranked.run, request.top_n, ranked.queries, corpus, chars)
    return Answer(
        query=request.text,
        snapshot=snapshot,
        hits=hits,
        warnings=ranked.warnings,
        understood=ranked.queries,
        steps=(*ranked.steps, Step("hits", len(hits), time.perf_counter() - start)),
        weights=ranked.weights,
    )


def rank(request: SearchRequest, resources: SearchResources) -> Ranked:
    """Rank the candidates for a request without hits, whose excerpts take most of a long answer's time."""
    prepared = prepare(request, resources)
    run = StageResults([]) if prepared.is_nothing else _run(request, prepared, resources)
    return Ranked(run, prepared.queries, prepared.weights, tuple(prepared.steps), tuple(prepared.warnings))


def prepare(request: SearchRequest, resources: SearchResources) -> Prepared:
    """Take a request apart and understand it; find which passages meet its conditions."""
    parsed, steps, notes = parse_query(request.text), list[Step](), list[str]()
    with _timing(steps, "understand"):
        queries = _understood(parsed, resources, notes)
    every = bounded(f"{_asked_of(request)} {parsed.operators}".strip(), _MOST_SHOWN)
    weights = _weights(request, queries, resources.settings)
    made = Prepared(queries, weights, None, every, bool(parsed.plain), steps=steps, notes=notes)
    with _timing(steps, "filter"):
        _allow(made, request, parsed, resources.corpus)
    return made


def _understood(parsed: ParsedQuery, resources: SearchResources, notes: list[str]) -> tuple[Query, ...]:
    try:
        return understand(parsed, resources)
    except NEVER_LEFT_OUT:
        raise
    except FAILURES as error:
        notes.append(f"the query is taken as it stands: {error}")
        plain = resources.settings.model_copy(update={"understand": ()})
        return understand(parsed, replace(resources, settings=plain, reformulate=None))


def _allow(made: Prepared, request: SearchRequest, parsed: ParsedQuery, corpus: CorpusReader) -> None:
    """Note which passages meet the conditions of a request."""
    matches = match_operators(parsed.operators, corpus)
    made.notes.extend(matches.notes)
    made.allowed, made.phrases = matches.allowed, matches.phrases
    if request.filters or request.where:
        documents = documents_allowed(request.filters, corpus, request.where)
        passages: Mask = documents[corpus.document_of]
        made.allowed = passages if made.allowed is None else passages & made.allowed
        if not documents.any():
            made.emptied = f"no document matches the filter {bounded(_asked_of(request), _MOST_SHOWN)}"
            return
    if made.allowed is not None and not made.allowed.any():
        made.emptied = nothing_meets(made.conditions)


def _asked_of(request: SearchRequest) -> str:
    """Return the filters and the condition in SQL of a request, as they are shown."""
    return " ".join([*map(str, request.filters), request.where]).strip()


def nothing_meets(conditions: str) -> str:
    """Return the warning where no passage meets the conditions of a request."""
    return f"no passage meets all of: {conditions}"


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


def retrievers_of(request: SearchRequest, resources: SearchResources) -> Retrievers:
    """Return what makes the lists of a request."""
    # Two lists and every try ask for the vector.
    return Retrievers(resources, request, lru_cache(partial(_vector, resources.encode)))


def _run(request: SearchRequest, prepared: Prepared, resources: SearchResources) -> StageResults:
    retrievers = retrievers_of(request, resources)

    def lists(limit: int) -> Lists:
        found = retrievers.retrieve(prepared.queries, prepared.weights, limit, prepared.allowed)
        return Lists(found, prepared.queries, prepared.weights, resources.corpus)

    last = run_until_filled(request, lists, resources.settings, resources.curve, resources.scorer)
    found, run = last.lists.found, last.run
    if found.failed and not found.made:
        raise next(iter(found.failed.values()))
    prepared.steps.extend([*found.steps, *run.steps])
    prepared.notes.extend(f"no {name} list: {error}" for name, error in found.failed.items())
    return run


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of a request, what they were made for, and the corpus whose rows they name."""

    found: Retrieved
    queries: tuple[Query, ...]
    weights: Mapping[str, float]
    corpus: RankedCorpus


@dataclass(frozen=True, slots=True)
class FilledLists:
    """The lists that were long enough, or the longest asked for, and what the stages made of them."""

    lists: Lists
    run: StageResults


def run_until_filled(
    request: SearchRequest,
    lists_of: Callable[[int], Lists],
    settings: Search,
    curve: Curve,
    scorer: PairScorer | None,
) -> FilledLists:
    """Rank lists of a length, and longer ones if too few candidates are left of them."""
    limit = max(settings.candidates, request.top_n)
    for _ in range(_TRIES):
        lists = lists_of(limit)
        run = _staged(request, lists, settings, curve, scorer)
        full = any(len(ranked.rows) >= limit for ranked in lists.found.made)
        if _filled(run, request.top_n) or not full:
            break
        limit *= _LONGER
    return FilledLists(lists, run)


def _filled(run: StageResults, top_n: int) -> bool:
    by_score = (
        before.count - after.count for before, after in pairwise(run.steps) if after.stage in _BY_SCORE
    )
    return len(run.candidates) + sum(by_score) >= top_n


def _staged(
    request: SearchRequest, lists: Lists, settings: Search, curve: Curve, scorer: PairScorer | None
) -> StageResults:
    made, weights, corpus = lists.found.made, lists.weights, lists.corpus
    if settings.balance.enabled:
        weights = balanced(made, weights, settings.balance.spread, settings.balance.min_factor)
    start, k = time.perf_counter(), settings.rrf_k if settings.fusion == "rrf" else None
    if k is None:
        candidates = convex_combination(made, weights, corpus.places)
    else:
        candidates = reciprocal_rank_fusion(made, weights, k, corpus.places)
    fused = Step("fuse", len(candidates), time.perf_counter() - start)
    most = attainable(made, weights, k)
    context = QueryContext(request, lists.queries, settings, corpus, most, curve, scorer)
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
