"""What hits can be filtered by: each document's tags, community, language, collection and first folder.

And the order in which a filter without words lists its pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise

from ..library import Entry
from ..outline.navigation import Tree
from ..outline.plan import SitePlan
from .format import FACETS

_EPOCH = date(1970, 1, 1).toordinal()


def facets(plan: SitePlan) -> list[bytes]:
    """Return the columns of the file that a browser loads with the first search.

    The names of all values come first, then for each document the places of its own among them.
    """
    entries = plan.library.entries
    shown = [entry for entry in entries if entry.shown.searched]
    collections = list(plan.library.collections)
    language_of = {entry.page: plan.languages.of(entry.page) or entry.language for entry in entries}
    languages = sorted({language_of[entry.page] for entry in shown})
    folders = _folders(shown)
    sections = sorted(set(folders.values()))
    tags = sorted({tag for entry in shown for tag in entry.tags})
    labels = {each.community_id: each.label for each in plan.topics}
    names = {
        "collection": collections,
        "language": languages,
        "section": sections,
        "tag": tags,
        "community": [[number, label] for number, label in sorted(labels.items())],
    }
    communities = {number: place for place, number in enumerate(sorted(labels))}
    values = {
        "names": names,
        "collection": _places(collections, [entry.collection for entry in entries]),
        "language": _places(languages, [language_of[entry.page] for entry in entries]),
        "section": _places(sections, [folders.get(entry.page, "") for entry in entries]),
        "community": [communities.get(entry.community, -1) + 1 for entry in entries],
        "tags": _tags(tags, entries),
        "modified": [_day(entry.modified) for entry in entries],
        "reading": _steps([_reading(plan.tree, entry) for entry in entries]),
    }
    return FACETS.pack(values)


def _places(names: Sequence[str], values: Sequence[str]) -> list[int]:
    place = {name: at for at, name in enumerate(names)}
    return [place.get(value, 0) for value in values]


def _tags(names: Sequence[str], entries: Sequence[Entry]) -> list[int]:
    place = {name: at for at, name in enumerate(names)}
    numbers: list[int] = []
    for entry in entries:
        own = sorted({place[tag] for tag in entry.tags}) if entry.shown.searched else []
        numbers += [len(own), *own]
    return numbers


def _folders(entries: Sequence[Entry]) -> Mapping[str, str]:
    """Return by page its first folder below the one that all pages share, or nothing for a page directly in
    that.
    """
    folders = [(entry.place or entry.page).split("/")[:-1] for entry in entries]
    shared = 0
    while folders and all(len(each) > shared and each[shared] == folders[0][shared] for each in folders):
        shared += 1
    firsts = [each[shared] if len(each) > shared else "" for each in folders]
    return {entry.page: first for entry, first in zip(entries, firsts, strict=True)}


def _reading(tree: Tree, entry: Entry) -> int:
    """Return the place of a page in reading order, after the last for one that is hidden there, or 0
    if no search finds it.
    """
    return tree.place.get(entry.page, len(tree.order)) + 1 if entry.shown.searched else 0


def _steps(places: Sequence[int]) -> list[int]:
    """Return differences of neighbours, zigzag: neighbours are mostly read one after the other."""
    steps = [after - before for before, after in pairwise([0, *places])]
    return [2 * step if step >= 0 else -2 * step - 1 for step in steps]


def _day(modified: str) -> int:
    """Return the days since 1970 plus 1, or 0 if the date is not known."""
    try:
        return max(0, date.fromisoformat(modified[:10]).toordinal() - _EPOCH + 1)
    except ValueError:
        return 0
