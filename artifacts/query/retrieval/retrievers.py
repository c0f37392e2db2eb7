"""The retrievers of a query run side by side; one that fails is left out, with its error."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ....pipeline.errors import DamagedModel, DamagedSnapshot, ModelUnavailable, NoctuleError
from ..context import SearchRequest, SearchResources
from ..model import ListName, Mask, Query, RankedList, Step, Vector, list_label
from ..understanding.operators import readable
from .graph_list import best_documents, graph_list
from .keyword import code_list, keyword_list
from .semantic import document_list, semantic_list

_QUERY_LISTS: tuple[ListName, ...] = ("semantic", "keyword", "code", "hypothesis")
# Besides our own errors: a torch that does not load, a GPU that is full, a file that is not there.
FAILURES = (NoctuleError, ImportError, OSError, RuntimeError)
# Whoever asked for the model must not be answered without it, nor from a snapshot that is not sound.
NEVER_LEFT_OUT = (ModelUnavailable, DamagedModel, DamagedSnapshot)


@dataclass(slots=True)
class Retrieved:
    """The ranked lists of a query, the retrievers that failed and why, and the time that each took."""

    made: list[RankedList] = field(default_factory=list)
    failed: dict[str, Exception] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Retrievers:
    """The retrievers of one request; ``vector_of`` gives the vector of a question."""

    resources: SearchResources
    request: SearchRequest
    vector_of: Callable[[Query], Vector]

    def retrieve(
        self, queries: Sequence[Query], weights: Mapping[str, float], limit: int, allowed: Mask | None
    ) -> Retrieved:
        """Make every list whose weight is above 0, for every question.

        Those of documents and of the graph come last, as they start from what the others found.
        """
        jobs = [
            _Job(name, number, self._known(name, query, limit, allowed))
            for number, query in enumerate(queries)
            for name in _QUERY_LISTS
            if weights.get(name, 0) > 0
            and (name != "hypothesis" or (self.request.hypothesis and number == 0))
        ]
        found = Retrieved()
        # The first is made by this thread: one less to wait for.
        waiting = [self.resources.threads.submit(job.timed) for job in jobs[1:]]
        results = [jobs[0].timed, *(future.result for future in waiting)] if jobs else []
        for job, result in zip(jobs, results, strict=True):
            _take(found, job, result)
        if weights.get("document", 0) > 0:
            self._add_documents(queries, found)
        if weights.get("graph", 0) > 0 and found.made:
            graph = _Job("graph", 0, lambda: self._graph(queries[0], found.made, limit, allowed))
            _take(found, graph, graph.timed)
        return found

    def _known(
        self, name: ListName, query: Query, limit: int, allowed: Mask | None
    ) -> Callable[[], RankedList]:
        """Return what makes a list, or remembers it unless a mask or a hypothesis is part of the question."""
        make, remember = partial(self._make, name, query, limit, allowed), self.resources.remember
        if remember is None or allowed is not None or name == "hypothesis":
            return make
        return lambda: remember(name, query, limit, make)

    def _make(self, name: ListName, query: Query, limit: int, allowed: Mask | None) -> RankedList:
        corpus, settings = self.resources.corpus, self.resources.settings
        if name == "keyword":
            return keyword_list(query, corpus, limit, allowed, fuzzy=settings.fuzziness == "auto")
        if name == "code":
            return code_list(query, corpus, limit, allowed)
        if name == "hypothesis":
            vector = self.resources.encode(readable(self.request.hypothesis))
        else:
            vector = self.vector_of(query)
        return semantic_list(vector, corpus, limit, allowed, oversample=settings.oversample, name=name)

    def _add_documents(self, queries: Sequence[Query], found: Retrieved) -> None:
        """Add the list of documents for every question that found anything and has a vector."""
        for number, query in enumerate(queries):
            others = [each for each in found.made if each.question == number]
            job = _Job("document", number, partial(self._documents, query, others))
            if others and job.label.replace("document", "semantic") not in found.failed:
                _take(found, job, job.timed)

    def _documents(self, query: Query, others: Sequence[RankedList]) -> RankedList:
        return document_list(self.vector_of(query), self.resources.corpus, others)

    def _graph(
        self, query: Query, lists: Sequence[RankedList], limit: int, allowed: Mask | None
    ) -> RankedList:
        corpus, settings = self.resources.corpus, self.resources.settings.graph
        vector = self.vector_of(query) if any(each.name == "semantic" for each in lists) else None
        seeds = best_documents(lists, corpus, settings.seeds)
        return graph_list(seeds, corpus, settings, limit, allowed=allowed, vector=vector)


@dataclass(frozen=True, slots=True)
class _Job:
    """One list to make for one question."""

    name: ListName
    question: int
    make: Callable[[], RankedList]

    @property
    def label(self) -> str:
        """Return the list's name in steps and warnings."""
        return list_label(self.name, self.question)

    def timed(self) -> tuple[RankedList, float]:
        """Return the list, and the seconds that it took."""
        start = time.perf_counter()
        made = self.make()
        return replace(made, question=self.question), time.perf_counter() - start


def _take(found: Retrieved, job: _Job, result: Callable[[], tuple[RankedList, float]]) -> None:
    try:
        made, seconds = result()
    except NEVER_LEFT_OUT:
        raise
    except FAILURES as error:
        found.failed[job.label] = error
    else:
        found.made.append(made)
        found.steps.append(Step(job.label, len(made.rows), seconds))
