"""The names of documents that links may have, and documents by such a name.

A name takes twelve bytes, its hash and a row; the names themselves stay with the documents.
"""

from __future__ import annotations

import posixpath
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..includes.python_blocks import OBJECT_PREFIX
from ..parse.labels import BLOCK_ID, LABEL_PREFIX
from ..parse.python_objects import ends_of
from ..parse.standard_objects import STANDARD_PREFIX
from .linking_documents import KEPT_TABLES, LinkingDocument, LinkingDocuments, Rows
from .published import address_key, path_stem, published_paths, without_ending

_OBJECTS = (OBJECT_PREFIX, STANDARD_PREFIX)
Names = Callable[[LinkingDocument], Iterable[str]]


class NameIndex:
    """Documents by what ``names`` gives for each; add them all, sort, and then ask.

    Names with one hash are told apart by the documents' own, so which hash Python chose does not matter.
    """

    def __init__(self, documents: LinkingDocuments, names: Names) -> None:
        self._documents, self._names = documents, names
        self._names_of = lru_cache(KEPT_TABLES)(lambda row: frozenset(names(documents[row])))
        self._added = array("q"), array("i")
        self._hashes: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._rows: Rows = np.zeros(0, np.int32)

    def add(self, row: int, document: LinkingDocument) -> None:
        """Add the names of the document in this row."""
        hashes, rows = self._added
        for name in self._names(document):
            hashes.append(hash(name))
            rows.append(row)

    def sort(self, *ranks: Rows) -> None:
        """Sort documents with one name by the ranks of their rows, first by the last of these."""
        hashes, rows = np.asarray(self._added[0], np.int64), np.asarray(self._added[1], np.int32)
        keys: list[npt.NDArray[np.signedinteger]] = [*(rank[rows] for rank in ranks), hashes]
        order = np.lexsort(keys)
        self._hashes, self._rows = hashes[order], rows[order]
        self._added = array("q"), array("i")

    def get(self, name: str) -> LinkingDocument | None:
        """Return the first document with this name."""
        return next(self.each(name), None)

    def each(self, name: str) -> Iterator[LinkingDocument]:
        """Yield the documents with this name, the first first."""
        wanted = hash(name)
        at = int(self._hashes.searchsorted(np.int64(wanted)))
        while at < len(self._hashes) and self._hashes[at] == wanted:
            row = int(self._rows[at])
            if name in self._names_of(row):
                yield self._documents[row]
            at += 1


def stem(document: LinkingDocument) -> tuple[str, ...]:
    """Return its path, as different spellings of it share it."""
    return (path_stem(document.path).lower(),)


def address(document: LinkingDocument) -> tuple[str, ...]:
    """Return its published address."""
    return (address_key(document.url),)


def labels(document: LinkingDocument) -> list[str]:
    """Return labels of Sphinx and MyST in the document, and names of blocks of Logseq."""
    return [
        anchor
        for anchor in document.anchors
        if anchor.startswith(LABEL_PREFIX) or (anchor.startswith("^") and BLOCK_ID.fullmatch(anchor))
    ]


def objects(document: LinkingDocument) -> list[str]:
    """Return objects of code that it describes: by their anchors, and those of headings."""
    return [anchor for anchor in document.anchors if "." in anchor or anchor.startswith(_OBJECTS)]


def headings(document: LinkingDocument) -> tuple[str, ...]:
    """Return the anchors of its headings and of other places in it."""
    return document.anchors


@lru_cache(KEPT_TABLES)
def objects_by_end(document: LinkingDocument) -> Mapping[str, str]:
    """Return the objects that it describes by what their names end with; empty where several end so."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for name in document.anchors if name.startswith(OBJECT_PREFIX)):
        full = name.removeprefix(OBJECT_PREFIX)
        for end in ends_of(full):
            found[end] = "" if end in found else full
    return found


def published_stems(document: LinkingDocument) -> list[str]:
    """Return the paths at which its own tool publishes it."""
    return [path_stem(path) for path in published_paths(document.path, document.aliases)]


def file_name(document: LinkingDocument) -> tuple[str, ...]:
    """Return the name of its file."""
    return (posixpath.basename(without_ending(document.path)).lower(),)


def aliases(document: LinkingDocument) -> list[str]:
    """Return its other names."""
    return [alias.lower() for alias in document.aliases]


def title(document: LinkingDocument) -> tuple[str, ...]:
    """Return its title."""
    return (document.title.lower(),)
