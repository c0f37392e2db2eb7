"""One opened snapshot, ready to answer."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ...pipeline.embedding.cross_encoder import CrossEncoder, is_folder_name
from ...pipeline.errors import ModelUnavailable, QueryError
from ...pipeline.identity import sha256_hex
from ...pipeline.settings.search import Search
from ...pipeline.settings.settings import Settings
from ..store.snapshot import Snapshot
from .caches import Cache, Usage
from .context import Request
from .graph import link_graph
from .index.corpus import Corpus
from .model import Answer, Mode
from .pipeline import Means, Ranked, answer, rank
from .ranking.calibrate import curve_of
from .ranking.rerank import PairScorer
from .retrieval.filters import Filter, parse_filter
from .retrieval.retrievers import Remember
from .retrieval.semantic import QueryEncoder
from .similar import related_terms, similar_documents
from .understanding.concepts import Concept
from .understanding.query_vectors import QueryVectors, load_query_encoder
from .understanding.synonyms import read_glossary
from .understanding.understand import Reformulate

if TYPE_CHECKING:
    import networkx as nx

_THREADS = 4


class Searcher:
    """Answers queries on one snapshot; threads may share it.

    Whatever the settings name (a glossary, a calibration, a cross-encoder's folder) is read here, so that a file
    that is missing or broken is an error now (``SettingsError``) and not at a query.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        settings: Settings,
        encoder: QueryEncoder | None = None,
        *,
        reformulate: Reformulate | None = None,
        scorer: PairScorer | None = None,
        clock: Callable[[], date] = date.today,
    ) -> None:
        search = settings.search
        self._snapshot, self._clock = snapshot, clock
        self._warned: set[str] = set()
        self._notices: list[str] = []
        self._corpus = Corpus(snapshot)
        self._settings = settings
        # By the encoder's name, the one that was given too; shared by the searchers that are made of this one.
        self._encoders: dict[str, QueryVectors] = {}
        if encoder is not None:
            self._encoders[search.encoder] = QueryVectors(
                self._corpus, lambda: encoder, search.caches.vectors
            )
        self._vectors = self._vectors_of(search)
        self._answers: Cache[Answer] = Cache(search.caches.answers, search.caches.seconds)
        self._fingerprint = sha256_hex(search.model_dump_json().encode())
        glossary = search.synonyms.file
        self._means = Means(
            corpus=self._corpus,
            settings=search,
            encode=self._vectors,
            glossary=read_glossary(Path(glossary).expanduser()) if glossary else {},
            curve=curve_of(search.calibrate),
            scorer=scorer or self._cross_encoder(search),
            pool=ThreadPoolExecutor(_THREADS, thread_name_prefix="noctule-list"),
            reformulate=reformulate,
        )

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the snapshot."""
        self._means.pool.shutdown()
        self._snapshot.close()

    @property
    def corpus(self) -> Corpus:
        """The snapshot's content."""
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
    ) -> Answer:
        """The ``top_n`` best passages for ``text``.

        ``filters`` are ``kind:value``; ``hypothesis`` is a made-up answer whose vector joins the search (HyDE);
        ``today`` is the day that recency counts from. A list that fails is left out with a warning; the only
        list of a mode that fails raises its error. Raises ``QueryError`` for a request that cannot be one.
        """
        parsed = tuple(parse_filter(str(each)) for each in filters)
        return self.ask(Request(text, top_n, mode, parsed, hypothesis, today))

    def ask(self, request: Request) -> Answer:
        """The answer to a request; raises as :meth:`search` does."""
        _require_some(request.top_n)
        recent = "recency" in self._means.settings.stages
        day = (request.today or self._clock()) if recent else None
        request = replace(request, today=day, filters=tuple(sorted(set(request.filters))))
        key = (self._snapshot.id, self._fingerprint, request)
        found = self._answers.get(key)
        if found is None:
            made = answer(request, self._means)
            found = replace(made, warnings=(*self._notices, *made.warnings))
            if not made.warnings:  # what failed may be there again at the next try
                self._answers.put(key, found)
        self._warn(found.warnings)
        return found

    def rank(self, request: Request) -> Ranked:
        """The candidates for a request, best first, without hits or caches; raises as :meth:`search` does."""
        _require_some(request.top_n)
        ranked = rank(replace(request, today=request.today or self._clock()), self._means)
        return replace(ranked, warnings=(*self._notices, *ranked.warnings))

    def with_settings(
        self, search: Search, corpus: Corpus | None = None, remember: Remember | None = None
    ) -> Searcher:
        """A searcher on the same snapshot with other settings; what was read and encoded so far is shared.

        ``corpus`` takes the place of the snapshot's own, ``remember`` keeps lists. Close only one of the two.
        """
        other = copy.copy(self)
        other._notices, other._warned = [], set()
        other._fingerprint = sha256_hex(search.model_dump_json().encode())
        other._vectors = self._vectors_of(search)
        other._corpus = corpus or self._corpus
        # Answers over another corpus must not be found here.
        other._answers = Cache(search.caches.answers, search.caches.seconds)
        glossary, reranks = search.synonyms.file, "rerank" in search.stages
        other._means = replace(
            self._means,
            corpus=other._corpus,
            settings=search,
            encode=other._vectors,
            glossary=read_glossary(Path(glossary).expanduser()) if glossary else {},
            curve=curve_of(search.calibrate),
            scorer=(self._means.scorer or other._cross_encoder(search)) if reranks else None,
            remember=remember,
        )
        return other

    def similar(self, doc_id: str, top_n: int = 10) -> Answer:
        """More documents like one: by the mean of its vectors and by its telling terms; raises ``QueryError``."""
        _require_some(top_n)
        return similar_documents(doc_id, top_n, self._means)

    def related(self, term: str, top_n: int = 10) -> list[Concept]:
        """Terms of the concept vocabulary near a term or any text, nearest first; raises ``QueryError``."""
        _require_some(top_n)
        return related_terms(term, top_n, self._means)

    def graph(self) -> nx.DiGraph:
        """Return the link graph: documents by id with their attributes, and edges with the number and texts of links.

        It is made anew at each call, so that it may be changed.
        """
        return link_graph(self._snapshot)

    def cache_usage(self) -> Mapping[str, Usage]:
        """How the caches of answers and of query vectors were used."""
        return {"answers": self._answers.usage(), "vectors": self._vectors.usage()}

    def _vectors_of(self, search: Search) -> QueryVectors:
        """The vectors that queries have by the encoder that is asked for."""
        if search.encoder not in self._encoders:
            settings, corpus = self._settings.model_copy(update={"search": search}), self._corpus
            self._encoders[search.encoder] = QueryVectors(
                corpus, lambda: load_query_encoder(corpus, settings), search.caches.vectors
            )
        return self._encoders[search.encoder]

    def _cross_encoder(self, search: Search) -> PairScorer | None:
        """The cross-encoder, if a stage asks for it; one named by its folder must be there, others may be missing."""
        if "rerank" not in search.stages:
            return None
        try:
            return CrossEncoder(search.rerank.model)
        except ModelUnavailable as error:
            if is_folder_name(search.rerank.model):
                raise
            self._notices.append(f"not reranked: {error}")
            return None

    def _warn(self, messages: Sequence[str]) -> None:
        for message in messages:
            if message not in self._warned:
                self._warned.add(message)
                warnings.warn(message, RuntimeWarning, stacklevel=3)


def _require_some(top_n: int) -> None:
    if top_n < 1:
        raise QueryError("top_n must be at least 1", where=f"top_n={top_n}", hint="Ask for one hit or more.")
