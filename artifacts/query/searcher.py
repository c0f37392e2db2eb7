"""One opened snapshot, ready to answer: which retrievers run, in which order the stages stand."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import TracebackType

import numpy as np
import pyarrow as pa

from artifacts.query.excerpt import excerpt
from artifacts.query.fuse import reciprocal_rank_fusion
from artifacts.query.limit import limit_per_document
from artifacts.query.model import Answer, Candidate, Hit, Mode, RankedList, Why
from artifacts.query.postings import Postings, Rows
from artifacts.query.retrieve import (
    CodeRetriever,
    KeywordRetriever,
    QueryEncoder,
    Retriever,
    SemanticRetriever,
)
from artifacts.snapshot import Snapshot
from pipeline.address import with_anchor
from pipeline.errors import ModelMismatch, NoctuleError, QueryError
from pipeline.settings import Address, Settings, recorded_addresses, recorded_model_name
from pipeline.text import query_terms

_DOCUMENT_COLUMNS = ("doc_id", "collection", "path", "title", "url")
_PASSAGE_COLUMNS = ("passage_id", "section_id", "doc_id", "text", "breadcrumb")
MAX_QUERY_CHARS = 10_000


class Searcher:
    """Answers queries on one snapshot; not to be shared by threads."""

    def __init__(self, snapshot: Snapshot, settings: Settings, encoder: QueryEncoder | None = None) -> None:
        self._snapshot, self._settings, self._given_encoder = snapshot, settings, encoder
        self._warned: set[str] = set()

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the snapshot."""
        self._snapshot.close()

    def search(self, text: str, top_n: int = 10, mode: Mode = "hybrid") -> Answer:
        """The ``top_n`` best passages for ``text``.

        In hybrid mode a list that fails is left out with a warning; the only list of a mode that fails
        raises its error. Raises ``QueryError`` for a query that cannot be one.
        """
        text = self._checked(text, top_n)
        watch = _Watch()
        lists, warned = self._retrieve(text, mode, max(self._settings.search.candidates, top_n), watch)
        with watch("fuse"):
            weights: Mapping[str, float] = (
                {**self._settings.search.weights} if mode == "hybrid" else {mode: 1.0}
            )
            candidates = reciprocal_rank_fusion(lists, weights, self._settings.search.rrf_k)
        with watch("limit"):
            limit = self._settings.search.max_per_document
            candidates = limit_per_document(candidates, self._document_of, limit)
        with watch("excerpt"):
            hits = tuple(self._hit(candidate, text) for candidate in candidates[:top_n])
        return Answer(text, self._snapshot.id, hits, tuple(warned), watch.seconds)

    def _checked(self, text: str, top_n: int) -> str:
        if top_n < 1:
            raise QueryError(
                "top_n must be at least 1", where=f"top_n={top_n}", hint="Ask for one hit or more."
            )
        # A hostile query costs bounded time: what no person types is cut off.
        return text.replace("\x00", " ")[:MAX_QUERY_CHARS].strip()

    def _retrieve(
        self, text: str, mode: Mode, limit: int, watch: _Watch
    ) -> tuple[list[RankedList], list[str]]:
        weights = self._settings.search.weights
        names = (
            [name for name in ("keyword", "semantic", "code") if weights[name] > 0]
            if mode == "hybrid"
            else [mode]
        )
        lists: list[RankedList] = []
        failed: dict[str, Exception] = {}
        for name in names if text else []:
            try:
                with watch(name):
                    lists.append(self._retriever(name).retrieve(text, limit))
            # Besides our own errors: a torch that does not load, a GPU that is full.
            except (NoctuleError, ImportError, OSError, RuntimeError) as error:
                failed[name] = error
        if failed and not lists:
            raise next(iter(failed.values()))
        return lists, [self._warn(name, error) for name, error in failed.items()]

    def _warn(self, name: str, error: Exception) -> str:
        message = f"no {name} list: {error}"
        if message not in self._warned:
            self._warned.add(message)
            warnings.warn(message, RuntimeWarning, stacklevel=4)
        return message

    def _retriever(self, name: str) -> Retriever:
        if name == "semantic":
            return self._semantic
        return self._keyword if name == "keyword" else self._code

    @cached_property
    def _keyword(self) -> KeywordRetriever:
        postings = Postings(self._snapshot.table("terms"), self._snapshot.file("postings"))
        return KeywordRetriever(postings, self._languages, len(self._document_of))

    @cached_property
    def _code(self) -> CodeRetriever:
        postings = Postings(self._snapshot.table("code_terms"), self._snapshot.file("code_postings"))
        return CodeRetriever(postings, len(self._document_of))

    @cached_property
    def _semantic(self) -> SemanticRetriever:
        rows = self._snapshot.table("passages", ["vector_row"]).column("vector_row").to_numpy()
        return SemanticRetriever(self._snapshot.index(), rows.astype(np.int64), self._encoder)

    @cached_property
    def _encoder(self) -> QueryEncoder:
        if self._given_encoder is not None:
            return self._given_encoder
        from pipeline.embed import load_encoder
        from pipeline.model_files import find

        record = self._snapshot.manifest.model
        configured = self._settings.embed
        if recorded_model_name(configured.model) != record.name:
            configured = configured.model_copy(update={"model": record.name})
        if find(configured).sha256 != record.sha256:
            raise ModelMismatch(
                f"the model {record.name!r} on this machine is not the one that made the snapshot's vectors",
                where=f"snapshot {self._snapshot.id}",
                hint="Name that model as embed.model, or run noctule index to encode with this one.",
            )
        return load_encoder(configured)

    @cached_property
    def _languages(self) -> Sequence[str]:
        return tuple(self._snapshot.manifest.analyzer["languages"].split(","))

    @cached_property
    def _document_of(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """The document row of every passage; passages stand in the order of the documents."""
        counts = self._snapshot.table("documents", ["passages"]).column("passages").to_numpy()
        return np.repeat(np.arange(len(counts), dtype=np.int32), counts)

    @cached_property
    def _documents(self) -> pa.Table:
        return self._snapshot.table("documents", list(_DOCUMENT_COLUMNS))

    @cached_property
    def _passages(self) -> Rows:
        return Rows(self._snapshot.file("passages"), _PASSAGE_COLUMNS)

    @cached_property
    def _addresses(self) -> dict[str, Address]:
        return recorded_addresses(self._snapshot.manifest.settings)

    def _hit(self, candidate: Candidate, query: str) -> Hit:
        passage = self._passages.of(candidate.row)
        at = int(self._document_of[candidate.row])
        document = {name: self._documents.column(name)[at].as_py() for name in _DOCUMENT_COLUMNS}
        wanted = frozenset(query_terms(query, self._languages))
        shown = excerpt(passage["text"], wanted, self._languages, self._settings.search.excerpt_chars)
        slug = passage["section_id"].removeprefix(document["doc_id"]).removeprefix("#")
        return Hit(
            passage_id=passage["passage_id"],
            section_id=passage["section_id"],
            doc_id=document["doc_id"],
            path=document["path"],
            title=document["title"],
            breadcrumb=passage["breadcrumb"],
            url=with_anchor(document["url"], slug, self._addresses[document["collection"]]),
            excerpt=shown.text,
            highlights=shown.highlights,
            score=candidate.score,
            why=Why(candidate.contributions, candidate.multipliers),
        )


class _Watch:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
