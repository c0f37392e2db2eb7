"""What resolving links needs of documents, which may lie in files and be made when they are asked for."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from ..assets.media import media_type_of
from ..model import DocId, Document, Link
from ..parse.labels import BLOCK_ID, LABEL_PREFIX
from .fragments import find_anchor
from .published import ENDINGS, published_names

# The kinds of link that name a document instead of its place.
BY_NAME = ("wikilink", "transclusion", "tag")
Rows = npt.NDArray[np.int32]
# Documents for which tables of their names are kept: a page of thousands of labels links to its own.
KEPT_TABLES = 256


@dataclass(frozen=True, slots=True, eq=False)
class LinkingDocument:
    """The part of a document that resolving links needs; ``aliases`` that are paths begin with a slash.

    Each is itself alone, so that tables of its names can be kept for it.
    """

    doc_id: DocId
    collection: str
    path: str
    url: str
    title: str
    aliases: tuple[str, ...]
    anchors: tuple[str, ...]
    links: Collection[Link]


class LinkingDocuments(Protocol):
    """Documents by row; ``order`` is the rows by the name of the document."""

    @property
    def order(self) -> Rows:
        """Return the rows in the order of the documents' ids."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[LinkingDocument]: ...

    def __getitem__(self, row: int, /) -> LinkingDocument: ...


class ListedDocuments:
    """Documents in memory, sorted by name."""

    def __init__(self, documents: Sequence[LinkingDocument]) -> None:
        self._documents = sorted(documents, key=lambda document: document.doc_id)

    @property
    def order(self) -> Rows:
        """Return the rows in the order of the documents' ids."""
        return np.arange(len(self._documents), dtype=np.int32)

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[LinkingDocument]:
        return iter(self._documents)

    def __getitem__(self, row: int) -> LinkingDocument:
        return self._documents[row]


def linking_document(document: Document, slugs: Sequence[str]) -> LinkingDocument:
    """Return the part of a document that link resolution needs; ``slugs`` are those of its headings."""
    return LinkingDocument(
        document.doc_id,
        document.collection,
        document.path,
        document.url,
        document.title,
        (*document.aliases, *published_names(document.path, document.front_matter)),
        (*slugs, *document.inner_anchors, *document.anchors),
        document.links,
    )


def has_heading(document: LinkingDocument, fragment: str) -> bool:
    """Return whether a fragment names a place of the document, or one that is not looked up."""
    if BLOCK_ID.fullmatch(fragment):
        return has_anchor(document, fragment)
    # Obsidian's block references, text fragments, wildcards, and labels, which already led to the document.
    if (
        fragment.startswith(("^", ":~:", "*", LABEL_PREFIX))
        or fragment == "top"
        or has_anchor(document, fragment)
    ):
        return True
    return bool(find_anchor(fragment, document.anchors))


def has_anchor(document: LinkingDocument, name: str) -> bool:
    """Return whether the document has exactly this anchor; of a page of many, many are asked for."""
    return name in _distinct_anchors(document)


@lru_cache(KEPT_TABLES)
def _distinct_anchors(document: LinkingDocument) -> frozenset[str]:
    return frozenset(document.anchors)


def absent(link: Link, target: str) -> str:
    """Return the status of a link to what is not there, by what it would be."""
    path = unquote(target.partition("?")[0]).lower()
    if link.kind == "image" or media_type_of(path) is not None:
        return "missing-asset"
    is_document = path.endswith(ENDINGS) or "." not in posixpath.basename(path.rstrip("/"))
    return "missing-document" if is_document or link.kind in BY_NAME else "missing-asset"
