"""References to documents, sections and passages, in any of the ways in which a program may write one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from rapidfuzz import fuzz, process

from ...pipeline.errors import QueryError
from ...pipeline.printable import bounded
from .documents import SnapshotDocuments

SCHEME = "noctule://"
_NEAREST = 5
_PASSAGE = re.compile(r"(.+)@(\d{1,9})", re.DOTALL)
_MOST_SHOWN = 120


@dataclass(frozen=True, slots=True)
class DocumentReference:
    """A document by its row, and the anchor or the number of a passage in it that was named with it."""

    row: int
    slug: str = ""
    ordinal: int | None = None


class References:
    """Finds what references name among the documents of one snapshot; threads may share it."""

    def __init__(self, documents: SnapshotDocuments) -> None:
        self._documents = documents
        table = documents.corpus.documents
        columns = (table.column(name).to_pylist() for name in ("doc_id", "path", "url"))
        self._by_id: dict[str, int] = {}
        self._by_address: dict[str, int] = {}
        paths: dict[str, list[int]] = {}
        for row, (doc_id, path, url) in enumerate(zip(*columns, strict=True)):
            if not documents.sees(doc_id):
                continue
            self._by_id[doc_id] = row
            self._by_address.setdefault(str(url), row)
            paths.setdefault(path, []).append(row)
        self._by_path: Mapping[str, int] = {path: rows[0] for path, rows in paths.items() if len(rows) == 1}

    def find(self, text: str) -> DocumentReference:
        """Return what a reference names: an id, an address of this snapshot, or a path that is unique.

        Raise ``QueryError`` with the nearest names.
        """
        wanted = self._without_scheme(text.strip())
        if (row := self._row(wanted)) is not None:
            return DocumentReference(row)
        if (passage := _PASSAGE.fullmatch(wanted)) and (row := self._row(passage[1])) is not None:
            return DocumentReference(row, ordinal=int(passage[2]))
        document, _, slug = wanted.rpartition("#")
        if document and (row := self._row(document)) is not None:
            return DocumentReference(row, slug)
        raise _unknown("there is no such document or part of one", text, self.nearest(document or wanted))

    def _without_scheme(self, text: str) -> str:
        if not text.startswith(SCHEME):
            return text
        snapshot, _, name = text.removeprefix(SCHEME).partition("/")
        current = str(self._documents.corpus.snapshot.id)
        if snapshot != current:
            name = unquote(name)
            what = f"the snapshot {bounded(snapshot, 40)} is not the one that is served now"
            nearest = [resource_address(current, name)] if name in self._by_id else self.nearest(name)
            raise _unknown(what, text, nearest)
        return unquote(name)

    def _row(self, name: str) -> int | None:
        for known in (self._by_id, self._by_address, self._by_path):
            if name in known:
                return known[name]
        return self._by_path.get(name.removeprefix("./").removeprefix("/"))

    def nearest(self, text: str) -> list[str]:
        """Return the ids of listed documents whose names are most like a text, the nearest first."""
        return nearest_names(text, self._documents.listed, processor=str.lower)

    def section_of(self, reference: DocumentReference, slug: str) -> DocumentReference:
        """Return the reference to a section of the same document, by its anchor or its title.

        Raise ``QueryError`` with the nearest anchors.
        """
        document = self._documents.read(reference.row)
        wanted = slug.strip().removeprefix("#")
        folded = " ".join(wanted.lower().split())
        for each in document.sections:
            if each.slug and (each.slug == wanted or each.title.lower() == folded):
                return DocumentReference(reference.row, each.slug)
        slugs = [each.slug for each in document.sections if each.slug]
        near = nearest_names(wanted, slugs)
        nearest = [f"{document.doc_id}#{name}" for name in near] or [document.doc_id]
        raise _unknown("the document has no such section", f"{document.doc_id}#{wanted}", nearest)


def nearest_names(
    text: str, names: Sequence[str], processor: Callable[[str], str] | None = None
) -> list[str]:
    """Return the names that are most like a text, the nearest first, compared as ``processor`` makes them."""
    given = text[:_MOST_SHOWN]
    found = process.extract(given, names, scorer=fuzz.WRatio, processor=processor, limit=_NEAREST)
    return [name for name, _, _ in found]


def resource_address(snapshot: str, doc_id: str) -> str:
    """Return the address of a document as a resource."""
    return f"{SCHEME}{snapshot}/{quote(doc_id, safe='/:')}"


def _unknown(what: str, where: str, nearest: Sequence[str]) -> QueryError:
    names = ", ".join(bounded(name, 2 * _MOST_SHOWN) for name in nearest)
    hint = f"Nearest: {names}" if nearest else "See what there is: browse_docs()"
    return QueryError(what, where=bounded(where, _MOST_SHOWN), hint=hint)
