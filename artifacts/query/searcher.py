"""The searcher: one opened snapshot, ready to answer."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...pipeline.embedding.cross_encoder import CrossEncoder, is_folder_name
from ...pipeline.errors import ModelUnavailable, QueryError
from ...pipeline.settings.search import Search
from ...pipeline.settings.settings import Settings
from ...pipeline.thread_pool import ThreadPool
from ..store.snapshot import Snapshot
from .answer import Answer
from .caches import Cache, Usage
from .context import Reformulate, Remember, SearchRequest, SearchResources
from .graph import link_graph
from .index.corpus import CorpusReader
from .model import Mask, Mode, TextEncoder
from .pipeline import Ranked, answer, rank
from .ranking.calibrate import curve_of
from .ranking.rerank import PairScorer
from .ranking.stages import applicable
from .retrieval.filters import Filter, documents_allowed, parse_filter
from .shards.found import FoundInShards, find_in_shards
from .similar import related_terms, similar_documents
from .understanding.expansion import Concept
from .understanding.query_vectors import QueryVectors, load_query_encoder, torch_notice
from .understanding.synonyms import read_glossary

if TYPE_CHECKING:
    import duckdb
    import networkx as nx

_THREADS = 4


class Searcher:
    """Answers queries on one snapshot; threads may share it.

    Whatever the settings name (a glossary, a calibration, a cross-encoder's folder) is read when it is made,
    so that a file that is missing or broken is a ``SettingsError`` then and not at a query. Warnings of an
    answer are Python's warnings too, unless it is ``silent``.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        settings: Settings,
        encoder: TextEncoder | None = None,
        *,
        reformulate: Reformulate | None = None,
        scorer: PairScorer | None = None,
        clock: Callable[[], date] = date.today,
        silent: bool = False,
    ) -> None:
        self._snapshot, self._clock, self._settings, self._silent = snapshot, clock, settings, silent
        self._corpus = CorpusReader(snapshot)
        # By the encoder's name, the given one too; shared with the searchers that ``with_settings`` makes.
        self._encoders: dict[str, QueryVectors] = {}
        if encoder is not None:
            vectors = QueryVectors(lambda: encoder, settings.search.caches.vectors)
            self._encoders[settings.search.encoder] = vectors
        self._scorer, self._reformulate = scorer, reformulate
        self._pool = ThreadPool(_THREADS, thread_name_prefix="noctule-list")
        self._use(settings.search)

    def _use(self, search: Search, remember: Remember | None = None) -> None:
        """Read what the settings name, and begin with empty caches of answers."""
        search = applicable(search, self._snapshot.manifest)
        self._warned: set[str] = set()
        self._notices: list[str] = []
        self._vectors = self._vectors_of(search)
        # Answers over another corpus or by other settings must not be found here.
        self._answers: Cache[Answer] = Cache(search.caches.answers, search.caches.ttl_seconds)
        if self._scorer is None:
            self._scorer = self._cross_encoder(search)
        glossary = search.synonyms.file
        self._resources = SearchResources(
            corpus=self._corpus,
            settings=search,
            encode=self._vectors.encode_query,
            glossary=read_glossary(Path(glossary).expanduser()) if glossary else {},
            curve=curve_of(search.calibrate),
            scorer=self._scorer,
            threads=self._pool,
            reformulate=self._reformulate,
            remember=remember,
        )

    def __enter__(self) -> Searcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and let go of the snapshot."""
        self._pool.shutdown()
        self._corpus.database.close()
        self._snapshot.close()

    @property
    def corpus(self) -> CorpusReader:
        """Return the reader of the snapshot's content."""
        return self._corpus

    def search(
        self,
        text: str,
        top_n: int = 10,
        mode: Mode = "hybrid",
        *,
        filters: Sequence[Filter | str] = (),
        hypothesis: str = "",
        today: date | None = None,
        where: str = "",
    ) -> Answer:
        """Return the ``top_n`` best passages for ``text``.

        ``filters`` are ``kind:value``, and ``where`` is an SQL predicate on documents such as ``"modified >
        date '2026-01-01' and list_contains(tags, 'api')"``; both must hold. ``hypothesis`` is a made-up
        answer whose vector joins the search (HyDE); ``today`` is the day that recency counts from. A list
        that fails is left out with a warning; the only list of a mode that fails raises its error. Raise
        ``QueryError`` for a request that cannot be one.
        """
        parsed = tuple(parse_filter(str(each)) for each in filters)
        return self.ask(SearchRequest(text, top_n, mode, parsed, hypothesis, today, where.strip()))

    def ask(self, request: SearchRequest) -> Answer:
        """Return the answer to a request; raise as :meth:`search` does."""
        _require_some(request.top_n)
        request = request.completed(self._resources.settings.stages, self._clock)
        found = self._answers.get(request)
        if found is None:
            with self._blaming():
                if request.mode in ("hybrid", "semantic"):
                    self._vectors.begin()
                made = answer(request, self._resources)
            found = replace(made, warnings=self._told(made.warnings))
            if not made.warnings:  # what failed may be there again at the next try
                self._answers.put(request, found)
        self._warn(found.warnings)
        return found

    def rank(self, request: SearchRequest) -> Ranked:
        """Return the candidates for a request, best first, uncached; raise as :meth:`search` does."""
        _require_some(request.top_n)
        with self._blaming():
            ranked = rank(replace(request, today=request.today or self._clock()), self._resources)
        return replace(ranked, warnings=self._told(ranked.warnings))

    def find(self, request: SearchRequest, limit: int) -> FoundInShards:
        """Return what the lists of a request find, for a ranking over several processes."""
        with self._blaming():
            if request.mode in ("hybrid", "semantic"):
                self._vectors.begin()
            return find_in_shards(request, limit, self._resources)

    def with_settings(
        self, search: Search, corpus: CorpusReader | None = None, remember: Remember | None = None
    ) -> Searcher:
        """Return a searcher on the same snapshot with other settings; they share what was read and encoded.

        ``corpus`` takes the place of the snapshot's own, ``remember`` keeps lists. Close only one of the two.
        """
        other = copy.copy(self)
        other._corpus = corpus or self._corpus
        other._use(search, remember)
        return other

    def similar(self, doc_id: str, top_n: int = 10, *, filters: Sequence[Filter | str] = ()) -> Answer:
        """Find documents like one by the mean of its vectors and its telling terms; raise ``QueryError``."""
        _require_some(top_n)
        parsed = tuple(parse_filter(str(each)) for each in filters)
        with self._blaming():
            return similar_documents(doc_id, top_n, self._resources, parsed)

    def related(self, term: str, top_n: int = 10) -> list[Concept]:
        """Find terms of the concept vocabulary near any text, nearest first; raise ``QueryError``."""
        _require_some(top_n)
        with self._blaming():
            return related_terms(term, top_n, self._resources)

    def facets(
        self,
        column: str,
        text: str = "",
        *,
        filters: Sequence[Filter | str] = (),
        where: str = "",
        limit: int = 100,
    ) -> dict[str, int]:
        """Count documents by the values of a column, such as ``tags`` or ``language``, the commonest first.

        With a ``text``, only documents among its candidates are counted; ``filters`` and ``where`` as in
        :meth:`search`. Raise ``QueryError``.
        """
        _require_some(limit)
        parsed = tuple(parse_filter(str(each)) for each in filters)
        where = where.strip()
        with self._blaming():
            return self._corpus.database.counts(column, self._counted(text, parsed, where), limit)

    def _counted(self, text: str, parsed: tuple[Filter, ...], where: str) -> Mask | None:
        """Return the documents that facets count, ``None`` for all."""
        if text:
            request = SearchRequest(text, self._resources.settings.candidates, filters=parsed, where=where)
            found = [each.row for each in self.rank(request).run.candidates]
            counted: Mask = np.zeros(len(self._corpus.documents), dtype=np.bool_)
            counted[self._corpus.document_of[found]] = True
            return counted
        return documents_allowed(parsed, self._corpus, where) if parsed or where else None

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Return the answer to an SQL query over the snapshot as a DuckDB relation; raise ``QueryError``.

        It has the views and macros of ``noctule sql``, reads the snapshot and nothing else, and writes
        nothing.
        """
        return self._corpus.database.sql(query)

    def graph(self) -> nx.DiGraph:
        """Return a new link graph: documents by id with attributes, edges with number and texts of links."""
        with self._blaming():
            return link_graph(self._snapshot)

    def _blaming(self) -> AbstractContextManager[None]:
        from ..store.check import blaming

        return blaming(self._snapshot)

    def cache_usage(self) -> Mapping[str, Usage]:
        """Return how the caches of answers and of query vectors were used."""
        return {"answers": self._answers.usage(), "vectors": self._vectors.usage()}

    def _vectors_of(self, search: Search) -> QueryVectors:
        """Return the vectors of queries by the encoder that the settings name."""
        if search.encoder not in self._encoders:
            settings, corpus = self._settings.model_copy(update={"search": search}), self._corpus
            load = partial(load_query_encoder, corpus, settings)
            notice = torch_notice(self._snapshot, settings)
            self._encoders[search.encoder] = QueryVectors(load, search.caches.vectors, notice)
        return self._encoders[search.encoder]

    def _cross_encoder(self, search: Search) -> PairScorer | None:
        """Load the cross-encoder if a stage needs it; only one named by its folder must be there."""
        if "rerank" not in search.stages:
            return None
        try:
            return CrossEncoder(search.rerank.model)
        except ModelUnavailable as error:
            if is_folder_name(search.rerank.model):
                raise
            self._notices.append(f"not reranked: {error}")
            return None

    def _told(self, messages: Sequence[str]) -> tuple[str, ...]:
        """Return the warnings of an answer with what is to be told beside it."""
        return (*self._notices, *self._vectors.notices(), *messages)

    def _warn(self, messages: Sequence[str]) -> None:
        for message in () if self._silent else messages:
            if message not in self._warned:
                self._warned.add(message)
                warnings.warn(message, RuntimeWarning, stacklevel=3)


def _require_some(top_n: int) -> None:
    if top_n < 1:
        raise QueryError("top_n must be at least 1", where=f"top_n={top_n}", hint="Ask for one hit or more.")
