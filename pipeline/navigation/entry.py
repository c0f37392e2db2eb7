"""The noun that every reader of a table of contents returns, and the bounds on what it may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from .categories import Category

MAX_ENTRIES = 20_000
MAX_DEPTH = 12
_MOST_PLACES = 5
_UNREAD = "what is not a literal (a call, a condition, an import) is left out"
# Stands for every page of a folder that is not named elsewhere, in the order of the folder.
REST = "**"


@dataclass(frozen=True, slots=True)
class NavEntry:
    """A page, an address elsewhere, all of a folder (``folder/**``), or a heading over other entries.

    ``target`` is a path in the collection, with or without extension, or an address with a scheme.
    """

    title: str
    target: str = ""
    children: tuple[NavEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """What a file in a folder says of that folder: its name, its place, and the order of what it holds.

    ``page`` is the document that stands for the folder, empty for its index, and None if none does.
    """

    title: str = ""
    order: float = float("inf")
    entries: tuple[NavEntry, ...] = ()
    page: str | None = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """The entries of a file, or what it says of folders, by path, and remarks on what was not understood.

    ``categories`` are those with generated pages.
    """

    entries: tuple[NavEntry, ...] = ()
    folders: Mapping[str, FolderEntry] = field(default_factory=lambda: MappingProxyType({}))
    remarks: tuple[str, ...] = ()
    categories: tuple[Category, ...] = ()


class Bounded:
    """Counts entries while a file is read, and collects remarks, and categories with generated pages."""

    def __init__(self) -> None:
        self.remarks: list[str] = []
        self.categories: dict[str, Category] = {}
        self._unread: dict[str, None] = {}
        self._left = MAX_ENTRIES
        self._numbers: dict[str, int] = {}  # the last one behind each address

    def admits(self, depth: int) -> bool:
        """Return whether there may be one more entry at this depth; the first refusal is a remark."""
        self._left -= 1
        if self._left == -1:
            self.remarks.append(f"more than {MAX_ENTRIES:,} entries: the rest is left out")
        if depth == MAX_DEPTH:
            self.remarks.append(f"entries deeper than {MAX_DEPTH} levels are left out")
        return self._left >= 0 and depth < MAX_DEPTH

    def note_unread(self, place: str) -> None:
        """Note that something is computed, and where; nothing if that is not known."""
        self._unread[place] = None

    def _remark_on_unread(self) -> str:
        places = [*filter(None, self._unread)]
        more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
        return _UNREAD + (f" ({'; '.join(places[:_MOST_PLACES])}{more})" if places else "")

    def contents(self, entries: Sequence[NavEntry]) -> Contents:
        """Return what was read, each remark once."""
        remarks = [*self.remarks, *([self._remark_on_unread()] if self._unread else [])]
        categories = tuple(self.categories.values())
        return Contents(tuple(entries), remarks=tuple(dict.fromkeys(remarks)), categories=categories)

    def generated(self, category: Category) -> Category:
        """Return the category at an address that none before it has, as Docusaurus numbers them."""
        slug, number = category.slug, self._numbers.get(category.slug, 0)
        while slug in self.categories:
            number += 1
            slug = f"{category.slug}-{number}"
        self._numbers[category.slug] = number
        self.categories[slug] = category = replace(category, slug=slug)
        return category
