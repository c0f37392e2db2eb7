"""The router: a server that asks others, which hold some shards of a set, and answers as one over all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from starlette.types import ASGIApp

from ...artifacts.query.answer import Answer
from ...artifacts.query.caches import Cache
from ...artifacts.query.context import SearchRequest
from ...artifacts.query.ranking.calibrate import curve_of
from ...artifacts.query.searcher import Searcher
from ...artifacts.query.shards.merging import Replies
from ...artifacts.query.shards.ranking import (
    RankingSettings,
    SetEdition,
    SourceLost,
    merged_answer,
    require_mergeable,
)
from ...artifacts.query.shards.wire import from_bytes, shown_rows
from ...pipeline.embedding.cross_encoder import CrossEncoder
from ...pipeline.errors import ArtifactError, NoctuleError, NoSnapshot, QueryError
from ...pipeline.model import SnapshotId
from ...pipeline.settings.settings import Settings, recorded_addresses
from ...pipeline.thread_pool import ThreadPool
from ..api.operations import OPERATIONS
from ..app import service_app
from ..observe.metrics import Metrics
from ..served import ServedSnapshot
from ..service import SearchService
from .asking import GroupAsker
from .backend_metrics import BackendMetrics
from .backends import Backend, BackendFailed, read_token
from .editions import ServedEdition, choose_edition
from .held import FindParameters, search_digest
from .routed_documents import RoutedDocuments

_T = TypeVar("_T")
_log = logging.getLogger("noctule")
# The other operations read what only the process that holds a document has, or list what all of them have.
_ROUTED = frozenset({"search", "searchByBody", "multiSearch", "collections"})


@dataclass(frozen=True)
class RoutedSnapshot(ServedSnapshot):
    """The edition that a router answers from when a request begins."""

    served: ServedEdition | None = None
    backends: Sequence[Backend] = ()

    def status(self) -> dict[str, object]:
        """Return what ``/readyz`` says: the edition, what is missing of it, and why servers are not asked."""
        states = {each.url: each.state.status(self.snapshot) for each in self.backends}
        missing = list(self.served.missing) if self.served else []
        return {"snapshot": self.snapshot, "missing": missing, "backends": states}

    @cached_property
    def collections(self) -> Mapping[str, int]:
        """Return the collections of the edition."""
        return self.served.collections if self.served else {}


class RoutedSearcher:
    """Answers requests from the servers; threads may share it."""

    def __init__(self, backends: Sequence[Backend], settings: Settings, metrics: BackendMetrics) -> None:
        search = settings.search
        require_mergeable(search)
        scorer = CrossEncoder(search.rerank.model) if "rerank" in search.stages else None
        self._ranking = RankingSettings(search, curve_of(search.calibrate), scorer)
        self._backends, self._metrics = backends, metrics
        self._asker = GroupAsker(settings.serve.router, metrics)
        self._answers: Cache[Answer] = Cache(search.caches.answers, search.caches.ttl_seconds)

    def close(self) -> None:
        """Ask nobody any more."""
        self._asker.close()

    def documents(self) -> RoutedDocuments:
        """Return what answers requests for one document."""
        return RoutedDocuments(self.served, self._asker)

    def ask(self, request: SearchRequest) -> Answer:
        """Return the answer of all servers that answer, all of one edition; raise ``ArtifactError`` if none.

        If the edition is gone meanwhile, the one that took its place is asked.
        """
        request = request.completed(self._ranking.search.stages, date.today)
        served = self.served()
        kept = self._answers.get((served.edition.snapshot, request))
        if kept is not None:
            return kept
        sources = _Sources(served, self._asker)
        try:
            answer = self._answer(request, sources)
        except ArtifactError:
            if not sources.is_stale:
                raise
            answer = None
        if sources.is_stale:
            for each in self._backends:
                each.probe()
            served, before = self.served(), served
            if served.edition.snapshot != before.edition.snapshot or answer is None:
                answer = self._answer(request, _Sources(served, self._asker))
                answer = replace(answer, warnings=(*answer.warnings, "the set changed while it was asked"))
        assert answer is not None
        if not answer.warnings:
            self._answers.put((served.edition.snapshot, request), answer)
        return answer

    def served(self) -> ServedEdition:
        """Return the edition to answer from now; raise ``NoSnapshot`` if no server answers."""
        served = choose_edition(self._backends)
        if served is None:
            why = "; ".join(f"{each.url}: {each.state.problem}" for each in self._backends)
            hint = "Are the servers that hold the shards running?"
            raise NoSnapshot("no server answers", where=why, hint=hint)
        return served

    def _answer(self, request: SearchRequest, sources: _Sources) -> Answer:
        held = sources.served.edition
        edition = SetEdition(SnapshotId(held.snapshot), held.languages, recorded_addresses(held.addresses))
        merged = merged_answer(request, edition, self._ranking, sources)
        missing = sources.served.without(merged.used)
        if not missing:
            return merged.answer
        self._metrics.partial.inc()
        why = {**sources.failures, **merged.lost}
        reasons = "".join(f"; {name}: {reason}" for name, reason in sorted(why.items()))
        _log.warning("an answer lacks the shards %s%s", ", ".join(missing), reasons)
        told = f"shards that do not answer: {', '.join(missing)}"
        return replace(merged.answer, missing=missing, warnings=(*merged.answer.warnings, told))


class _Sources:
    """The groups of servers of an edition, as a merge asks them for one request."""

    def __init__(self, served: ServedEdition, asker: GroupAsker) -> None:
        self.served, self._asker = served, asker
        self.failures: dict[str, str] = {}
        self.is_stale = False

    def find(self, request: SearchRequest, limit: int) -> Replies:
        """Return what each group found."""
        given = FindParameters(
            snapshot=self.served.edition.snapshot,
            text=request.text,
            mode=request.mode,
            limit=limit,
            filters=tuple((each.kind, each.value) for each in request.filters),
            hypothesis=request.hypothesis,
        )

        def find(_: str, backend: Backend, seconds: float) -> Any:
            return _sound(lambda: from_bytes(backend.find(given, seconds), backend.url))

        replies = self._asker.ask(self.served.groups, find)
        for name, each in replies.items():
            rejected = [failure.reason for failure in each.failures if failure.outcome == "rejected"]
            if rejected:
                raise QueryError(rejected[0], hint="See the filters and operators of searches.")
            if each.value is None:
                self.failures[name] = "; ".join(failure.reason for failure in each.failures)
                self.is_stale |= each.is_stale
        return {name: each.value for name, each in replies.items() if each.value is not None}

    def show(self, wanted: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return what hits show of the passages of each group, asked at once; raise ``SourceLost``."""
        snapshot = self.served.edition.snapshot

        def show(source: str, backend: Backend, seconds: float) -> Sequence[Mapping[str, Any]]:
            rows = wanted[source]
            return _sound(lambda: shown_rows(backend.show(snapshot, rows, seconds), len(rows), backend.url))

        found = {}
        for source, reply in self._asker.ask(
            [each for each in self.served.groups if each.name in wanted], show
        ).items():
            if reply.value is None:
                self.is_stale |= reply.is_stale
                raise SourceLost(source, "; ".join(failure.reason for failure in reply.failures))
            found[source] = reply.value
        return found


def _sound(read: Callable[[], _T]) -> _T:
    """Return what was read; raise ``BackendFailed`` for bytes that are not what was asked for."""
    try:
        return read()
    except ArtifactError as error:
        raise BackendFailed("failed", error.what) from None


class RoutedCurrent:
    """Lends the edition that is served, as ``CurrentSearcher`` does, and follows the servers."""

    def __init__(self, settings: Settings, metrics: BackendMetrics) -> None:
        router, digest = settings.serve.router, search_digest(settings)
        token = read_token(router.token)
        self.settings, self._metrics = settings, metrics
        self._backends = [Backend(url, digest, token, router.timeout_s) for url in router.backends]
        self.searcher = RoutedSearcher(self._backends, settings, metrics)
        self._probes = ThreadPool(len(self._backends), thread_name_prefix="noctule-probe")

    @property
    def failure(self) -> NoctuleError | None:
        """Return ``None``: answers and ``/readyz`` name the servers that fail."""
        return None

    @property
    def editions(self) -> tuple[ServedSnapshot, ...]:
        """Return nothing: a router is not asked by another."""
        return ()

    @contextmanager
    def borrow(self, snapshot: str = "") -> Iterator[ServedSnapshot]:  # noqa: ARG002  # as others lend
        """Yield the edition that is served now; raise ``NoSnapshot`` if no server answers."""
        served = self.searcher.served()
        # It answers requests, which is all that a router's operations ask of a searcher.
        searcher = cast(Searcher, self.searcher)
        edition = SnapshotId(served.edition.snapshot)
        yield RoutedSnapshot(searcher, edition, 0, served, self._backends)

    async def follow(self, seconds: float) -> None:
        """Ask all servers what they hold, now and then so often, for as long as the task lives."""
        await asyncio.gather(*(self._follow(each, seconds) for each in self._backends))

    async def _follow(self, backend: Backend, seconds: float) -> None:
        while True:  # by itself, since one that is late must not hold up what is known of the others
            await self._looked(backend)
            await asyncio.sleep(seconds)

    async def refresh_or_log(self) -> None:
        """Ask all servers what they hold, at once."""
        await asyncio.gather(*map(self._looked, self._backends))

    async def _looked(self, backend: Backend) -> None:
        await asyncio.get_running_loop().run_in_executor(self._probes, self._look, backend)

    def _look(self, backend: Backend) -> None:
        before = backend.state.problem
        backend.probe()
        self._metrics.observe_state(backend)
        if backend.state.problem != before:
            _log.info("%s: %s", backend.url, backend.state.problem or "answers")

    def close(self) -> None:
        """Ask nobody any more."""
        self._probes.shutdown(wait=False, cancel_futures=True)
        self.searcher.close()


def router_app(settings: Settings, site: Path | None = None) -> ASGIApp:
    """Return the application of a router, beside it a site; raise ``SettingsError``."""
    made: list[RoutedCurrent] = []

    def current(metrics: Metrics) -> RoutedCurrent:
        made.append(RoutedCurrent(settings, BackendMetrics(metrics.registry)))
        return made[-1]

    service = SearchService(None, settings, current)
    operations = [each for each in OPERATIONS if each.name in _ROUTED]
    return service_app(service, site, [made[0].searcher.documents().extension()], operations)
