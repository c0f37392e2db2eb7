"""The retrievers of a query run side by side; one that fails is left out, with its error."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from ....pipeline.errors import NoctuleError
from ....pipeline.settings.search import Search
from ..context import Remember, SearchRequest
from ..index.corpus import CorpusReader
from ..model import ListName, Mask, Query, RankedList, Step, Vector
from ..understanding.operators import readable
from .graph_list import best_documents, graph_list
from .keyword import code_list, keyword_list
from .semantic import document_list, semantic_list

_QUERY_LISTS: tuple[ListName, ...] = ("semantic", "keyword", "code", "hypothesis")
# Besides our own errors: a torch that does not load, a GPU that is full, a file that is not there.
FAILURES = (NoctuleError, ImportError, OSError, RuntimeError)


@dataclass(slots=True)
class Retrieved:
    """The ranked lists of a query, the retrievers that failed and why, and the time that each took."""

    made: list[RankedList] = field(default_factory=list)
    failed: dict[str, Exception] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Retrievers:
    """The retrievers over one corpus; ``vector_of`` gives the vector of a question.

    ``encode`` that of any text.
    """

    corpus: CorpusReader
    settings: Search
    vector_of: Callable[[Query], Vector]
    encode: Callable[[str], Vector]
    pool: ThreadPoolExecutor
    remember: Remember | None = None

    def retrieve(
        self,
        request: SearchRequest,
        queries: Sequence[Query],
        weights: Mapping[str, float],
        limit: int,
        allowed: Mask | None,
    ) -> Retrieved:
        """Make every list whose weight is above 0, for every question.

        Those of documents and of the graph come last, as they start from what the others found.
        """
        jobs = [
            _Job(name, number, self._known(name, query, request, limit, allowed))
            for number, query in enumerate(queries)
            for name in _QUERY_LISTS
            if weights.get(name, 0) > 0 and (name != "hypothesis" or (request.hypothesis and number == 0))
        ]
        found = Retrieved()
        # The first is made by this thread: one less to wait for.
        waiting = [self.pool.submit(_timed, job.make) for job in jobs[1:]]
        if jobs:
            _take(found, jobs[0], lambda: _timed(jobs[0].make))
        for job, future in zip(jobs[1:], waiting, strict=True):
            _take(found, job, future.result)
        if weights.get("document", 0) > 0:
            self._add_documents(queries, found)
        if weights.get("graph", 0) > 0 and found.made:
            graph = _Job("graph", 0, lambda: self._graph(queries[0], found.made, limit, allowed))
            _take(found, graph, lambda: _timed(graph.make))
        return found

    def _known(
        self, name: ListName, query: Query, request: SearchRequest, limit: int, allowed: Mask | None
    ) -> Callable[[], RankedList]:
        """Return what makes a list, or remembers it unless a mask or a hypothesis is part of the question."""
        make, remember = self._maker(name, query, request, limit, allowed), self.remember
        if remember is None or allowed is not None or name == "hypothesis":
            return make
        return lambda: remember(name, query, limit, make)

    def _maker(
        self, name: ListName, query: Query, request: SearchRequest, limit: int, allowed: Mask | None
    ) -> Callable[[], RankedList]:
        corpus, oversample = self.corpus, self.settings.oversample
        if name == "keyword":
            fuzzy = self.settings.fuzziness == "auto"
            return lambda: keyword_list(query, corpus, limit, allowed, fuzzy=fuzzy)
        if name == "code":
            return lambda: code_list(query, corpus, limit, allowed)
        if name == "hypothesis":
            return lambda: semantic_list(
                self.encode(readable(request.hypothesis)),
                corpus,
                limit,
                allowed,
                oversample=oversample,
                name="hypothesis",
            )
        return lambda: semantic_list(self.vector_of(query), corpus, limit, allowed, oversample=oversample)

    def _add_documents(self, queries: Sequence[Query], found: Retrieved) -> None:
        """Add the list of documents for every question that found anything.

        Without a vector there is none.
        """
        for number, query in enumerate(queries):
            others = [each for each in found.made if each.question == number]
            job = _Job("document", number, lambda q=query, o=others: self._documents(q, o))  # type: ignore[misc]
            if others and _Job("semantic", number, job.make).label not in found.failed:
                _take(found, job, lambda j=job: _timed(j.make))  # type: ignore[misc]

    def _documents(self, query: Query, others: Sequence[RankedList]) -> RankedList:
        return document_list(self.vector_of(query), self.corpus, others)

    def _graph(
        self, query: Query, lists: Sequence[RankedList], limit: int, allowed: Mask | None
    ) -> RankedList:
        seeds = best_documents(lists, self.corpus, self.settings.graph.seeds)
        vector = self.vector_of(query) if any(each.name == "semantic" for each in lists) else None
        return graph_list(seeds, self.corpus, self.settings.graph, limit, allowed=allowed, vector=vector)


@dataclass(frozen=True, slots=True)
class _Job:
    """One list to make for one question."""

    name: ListName
    question: int
    make: Callable[[], RankedList]

    @property
    def label(self) -> str:
        """Return the list's name in steps and warnings."""
        return self.name if self.question == 0 else f"{self.name}#{self.question + 1}"


@dataclass(frozen=True, slots=True)
class _Timed:
    made: RankedList
    seconds: float


def _timed(make: Callable[[], RankedList]) -> _Timed:
    start = time.perf_counter()
    made = make()
    return _Timed(made, time.perf_counter() - start)


def _take(found: Retrieved, job: _Job, result: Callable[[], _Timed]) -> None:
    try:
        timed = result()
    except FAILURES as error:
        found.failed[job.label] = error
        return
    found.made.append(replace(timed.made, question=job.question))
    found.steps.append(Step(job.label, len(timed.made.rows), timed.seconds))
