"""What hits show: titles, addresses and texts, some passages of a document in each file.

The files of up to some 16 neighbouring documents are a group, of which the manifest knows one name: that of
each file follows from it, so that a hit is one request. Where groups end depends on the pages' names alone: a
page that is added changes one of them. For a host that takes so many files only, neighbours of a group share
files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, groupby, islice, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..library import SnapshotTables
from ..outline.plan import SitePlan
from .files import Files
from .format import BREADCRUMB_SEPARATOR, EXCERPT_PASSAGES, EXCERPTS
from .index_inputs import Ints, blocks

_SECTIONS_AT_A_TIME = 4_096
# A page in 2**4 ends a group, of fewer than 4,096 pages one in less; no group has more than two hexadecimal
# digits count.
_MOST_BITS, _BITS_BELOW, _MOST_PAGES = 4, 8, 256
_NOT_IN_SLUG = re.compile(r"[^\w -]")


class TooManyFiles(Exception):
    """Raised where a site would have more files than it may, by how many in its argument."""


@dataclass(frozen=True, slots=True)
class ExcerptGroups:
    """What the names of each group's files begin with, and its first document, in the library's order.

    So many documents of a group share a file.
    """

    names: tuple[str, ...]
    documents: tuple[int, ...]
    sharing: int


@dataclass(frozen=True, slots=True)
class Card:
    """What excerpts say of a document: title, page, labels of the pages above, and date."""

    title: str
    page: str
    above: tuple[str, ...]
    modified: str


def cards(plan: SitePlan) -> tuple[Card, ...]:
    """Return the cards of all documents, in the library's order."""
    above = {page: tuple(node.label for node in trail[:-1]) for page, trail in plan.tree.trails.items()}
    return tuple(
        Card(entry.title, entry.page, above.get(entry.page, ()), entry.modified)
        if entry.shown.searched
        else Card("", "", (), "")
        for entry in plan.library.entries
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """Passages of one document, each with the place of its section; ``number`` counts its pieces."""

    row: int
    number: int
    passages: Sequence[_Passage]


@dataclass(frozen=True, slots=True)
class _Passage:
    section: int | None
    text: str


class ExcerptTexts:
    """A reader of documents' passages that cuts them, a block at a time, into pieces."""

    def __init__(self, snapshot: SnapshotTables) -> None:
        self._snapshot = snapshot
        sections = snapshot.table("sections", ["section_id", "slug", "title", "breadcrumb"])
        ids = sections["section_id"].combine_chunks()
        places = pc.index_in(snapshot.table("passages", ["section_id"])["section_id"], value_set=ids)
        self._places = places.combine_chunks()
        self._sections = [sections[name] for name in ("title", "slug", "breadcrumb")]
        self._first, self._some = 0, list[tuple[str | None, ...]]()
        pa.default_memory_pool().release_unused()

    def pieces(self, counts: Sequence[int]) -> Iterator[_Piece]:
        """Yield all documents in order, with this many passages each, in pieces; a short one is whole."""
        texts = chain.from_iterable(block.to_pylist() for block in blocks(self._snapshot, "passages", "text"))
        start = 0
        for row, count in enumerate(counts):
            places = self._places.slice(start, count).to_pylist()
            yield from _cut(row, [_Passage(place, next(texts)) for place in places])
            start += count

    def section(self, place: int | None) -> list[object]:
        """Return title, slug and the headings above; a slug that follows from the title is 0."""
        if place is None:
            return ["", "", ""]
        title, slug, breadcrumb = (given or "" for given in self._row(place))
        above = breadcrumb.split(BREADCRUMB_SEPARATOR)[1:-1]
        return [title, 0 if slug and slug == _slug(title) else slug, BREADCRUMB_SEPARATOR.join(above)]

    def _row(self, place: int) -> tuple[str | None, ...]:
        """Return one section's columns; as sections are asked for in order, many are read at a time."""
        if not 0 <= place - self._first < len(self._some):
            self._first = place
            some = (column.slice(place, _SECTIONS_AT_A_TIME).to_pylist() for column in self._sections)
            self._some = list(zip(*some, strict=True))
        return self._some[place - self._first]


def _cut(row: int, passages: Sequence[_Passage]) -> Iterator[_Piece]:
    for number, at in enumerate(range(0, max(1, len(passages)), EXCERPT_PASSAGES)):
        yield _Piece(row, number, passages[at : at + EXCERPT_PASSAGES])


def _slug(title: str) -> str:
    """Return the slug of a heading as the client guesses it."""
    return _NOT_IN_SLUG.sub("", title.lower()).strip().replace(" ", "-")


def make_excerpts(
    shown: Sequence[Card],
    snapshot: SnapshotTables,
    counts: Sequence[int],
    files: Files,
    most: int | None = None,
) -> ExcerptGroups:
    """Add the files of all documents, each of which has a card and this many passages, ``most`` of them.

    Raises ``TooManyFiles`` if they were more even if all documents of a group shared theirs.
    """
    texts = ExcerptTexts(snapshot)
    pieces = groupby(texts.pieces(counts), lambda piece: piece.row)
    starts, sharing = _group_starts(shown, _usual_bits(len(shown))), 1
    if most is not None and _files_of(starts, np.array(counts), 1) > most:
        starts = _group_starts(shown, _MOST_BITS)
        sharing = _sharing(starts, np.array(counts), most)
    names = list[str]()
    for first, end in pairwise([*starts, len(shown)]):
        group: dict[str, list[object]] = {}
        for row, own in islice(pieces, end - first):
            place = (row - first) % sharing
            for piece in own:
                file = group.setdefault(f"{row - first - place:02x}{piece.number:x}", [])
                file += [None] * (place - len(file)) + [_described(shown[row], texts, piece)]
        names.append(
            files.add_group({suffix: EXCERPTS.pack({"documents": own}) for suffix, own in group.items()})
        )
    return ExcerptGroups(tuple(names), tuple(starts), sharing)


def _usual_bits(documents: int) -> int:
    return min(_MOST_BITS, max(0, documents.bit_length() - 1 - _BITS_BELOW))


def _group_starts(shown: Sequence[Card], bits: int) -> list[int]:
    starts = [0] if shown else []
    for row, card in enumerate(shown[:-1]):
        if _ends_group(card.page, 1 << bits) or row + 1 == starts[-1] + _MOST_PAGES:
            starts.append(row + 1)
    return starts


def _sharing(starts: Sequence[int], passages: Ints, most: int) -> int:
    """Return how few documents share a file if there may be so many files."""
    sharing = 2
    while (needed := _files_of(starts, passages, sharing)) > most:
        if sharing >= _MOST_PAGES:
            raise TooManyFiles(needed - most)
        sharing *= 2
    return sharing


def _files_of(starts: Sequence[int], passages: Ints, sharing: int) -> int:
    """Return how many files there are: as many for some documents as the longest of them has pieces."""
    pieces = np.maximum(1, -(-passages // EXCERPT_PASSAGES))
    firsts = [at for first, end in pairwise([*starts, len(pieces)]) for at in range(first, end, sharing)]
    return int(np.maximum.reduceat(pieces, firsts).sum()) if firsts else 0


def _ends_group(page: str, every: int) -> bool:
    return sha256(page.encode("utf-8", "surrogatepass")).digest()[0] % every == 0


def _described(card: Card, texts: ExcerptTexts, piece: _Piece) -> list[object]:
    """Return what a browser shows of the piece: document, sections, passages as ``[section, text]``."""
    own = list(dict.fromkeys(each.section for each in piece.passages))
    passages = [[own.index(each.section), each.text] for each in piece.passages]
    sections = [texts.section(place) for place in own]
    return [card.title, card.page, card.above, card.modified, sections, passages]
