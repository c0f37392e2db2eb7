"""Whole documents of a snapshot: their text, and the sections and code blocks in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ....pipeline.visibility import visibility_of
from ...store.snapshot import Snapshot
from ..model import Ints
from .corpus import CorpusReader
from .postings import TableRows

_COLUMNS = (
    "doc_id", "collection", "path", "title", "url", "description", "tags", "language", "modified", "syntax",
    "text",
)  # fmt: skip
_SECTION_COLUMNS = ("slug", "title", "depth", "byte_start", "byte_end")
_CODE_COLUMNS = ("language", "byte_start", "byte_end")


def listed_documents(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the ids of all documents that lists may name, in order: those that are not ``unlisted``."""
    table = snapshot.table("documents", ["doc_id", "front_matter"])
    rows = zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)
    return tuple(name for name, front in rows if visibility_of(front or "{}").listed)


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A section or a code block: its byte range in the document's text; ``name`` is a slug or a language."""

    name: str
    title: str
    depth: int
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the snapshot keeps it, with its sections in order; the document itself is none."""

    doc_id: str
    collection: str
    path: str
    title: str
    url: str
    description: str
    tags: tuple[str, ...]
    language: str
    modified: str
    syntax: str
    text: str
    sections: tuple[TextSpan, ...]
    code: tuple[TextSpan, ...]


class RowsByDocument:
    """The rows of a table that belong to each document; threads may share it.

    Which rows are whose is read when it is first asked for.
    """

    def __init__(self, corpus: CorpusReader, table: str, columns: Sequence[str]) -> None:
        self._corpus, self._table = corpus, table
        self._rows = TableRows(corpus.snapshot, table, columns)

    def of(self, document: int) -> list[Mapping[str, Any]]:
        """Return the rows of the document in a row by column, in the order of the table."""
        order, starts = self._order
        start, end = starts[document : document + 2].tolist()
        return [self._rows.of(int(row)) for row in order[start:end]]

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        """Return the rows in the order of documents, and where those of each begin."""
        documents = self._corpus.documents.column("doc_id").combine_chunks()
        names = self._corpus.snapshot.table(self._table, ["doc_id"]).column("doc_id").combine_chunks()
        owners: Ints = pc.fill_null(pc.index_in(names, value_set=documents), -1).to_numpy().astype(np.int64)
        order = np.argsort(owners, kind="stable")
        return order, np.searchsorted(owners[order], np.arange(len(documents) + 1))


class DocumentReader:
    """Reads whole documents of one snapshot; threads may share it."""

    def __init__(self, corpus: CorpusReader) -> None:
        self._columns = TableRows(corpus.snapshot, "documents", _COLUMNS)
        self._sections = RowsByDocument(corpus, "sections", _SECTION_COLUMNS)
        self._code = RowsByDocument(corpus, "code_blocks", _CODE_COLUMNS)

    def read(self, row: int) -> StoredDocument:
        """Return the document in a row."""
        values, sections, code = self._columns.of(row), self._sections.of(row), self._code.of(row)
        return StoredDocument(
            **{name: str(values[name] or "") for name in _COLUMNS if name != "tags"},
            tags=tuple(values["tags"] or ()),
            sections=tuple(
                TextSpan(
                    each["slug"], each["title"] or "", each["depth"], each["byte_start"], each["byte_end"]
                )
                for each in sections
                if each["slug"]
            ),
            code=tuple(
                TextSpan(each["language"] or "", "", 0, each["byte_start"], each["byte_end"]) for each in code
            ),
        )
