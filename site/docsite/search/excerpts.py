"""What hits show: titles, addresses and texts of a few neighbouring documents a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from docsite.library import Entry, SnapshotTables
from docsite.plan import SitePlan
from docsite.search.packing import Part, part, text

# Bytes of text in a file before it is packed; packing leaves about a third.
GROUP_BYTES = 14_000
_BETWEEN = " › "
_NOT_IN_SLUG = re.compile(r"[^\w -]")


@dataclass(frozen=True, slots=True)
class Groups:
    """The files, and how many documents each has; documents are in the order of the library."""

    parts: tuple[Part, ...]
    documents: tuple[int, ...]


class Texts:
    """The passages of documents, read once and cut by document."""

    def __init__(self, snapshot: SnapshotTables, starts: Sequence[int]) -> None:
        self._passages = snapshot.table("passages", ["section_id", "text"])
        sections = snapshot.table("sections", ["section_id", "slug", "title", "breadcrumb"])
        self._place = pc.index_in(
            self._passages["section_id"], value_set=sections["section_id"].combine_chunks()
        )
        self._sections = sections
        self._starts = starts

    def of(self, row: int) -> list[object]:
        """The document's sections as ``[title, name, headings above]``, and its passages as ``[section, text]``."""
        start, end = self._starts[row], self._starts[row + 1]
        places = self._place.slice(start, end - start).to_pylist()
        own = list(dict.fromkeys(places))
        texts = self._passages["text"].slice(start, end - start).to_pylist()
        passages = [[own.index(place), each] for place, each in zip(places, texts, strict=True)]
        return [[self._section(place) for place in own], passages]

    def _section(self, place: int | None) -> list[object]:
        """Title, name and the headings above; a name that the title gives is 0."""
        if place is None:
            return ["", "", ""]
        title, slug, breadcrumb = (
            str(self._sections[name][place].as_py() or "") for name in ("title", "slug", "breadcrumb")
        )
        above = breadcrumb.split(_BETWEEN)[1:-1]
        return [title, 0 if slug and slug == _slug(title) else slug, _BETWEEN.join(above)]


def _slug(title: str) -> str:
    """The name of a heading as the engine guesses it."""
    return _NOT_IN_SLUG.sub("", title.lower()).strip().replace(" ", "-")


def make_groups(plan: SitePlan, snapshot: SnapshotTables, starts: Sequence[int]) -> Groups:
    """The files of all documents."""
    texts = Texts(snapshot, starts)
    crumbs = {page: [node.label for node in trail[:-1]] for page, trail in plan.tree.trails.items()}
    parts: list[Part] = []
    counts: list[int] = []
    for group in _grouped(_described(entry, crumbs, texts) for entry in plan.library.entries):
        parts.append(part([text(group)]))
        counts.append(len(group))
    return Groups(tuple(parts), tuple(counts))


def _described(entry: Entry, crumbs: Mapping[str, list[str]], texts: Texts) -> list[object]:
    return [entry.title, entry.page, crumbs.get(entry.page, []), entry.modified, *texts.of(entry.row)]


def _grouped(documents: Iterator[list[object]]) -> Iterator[list[list[object]]]:
    group: list[list[object]] = []
    size = 0
    for document in documents:
        weight = len(json.dumps(document, ensure_ascii=False))
        if group and size + weight > GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(document)
        size += weight
    if group:
        yield group


