"""What hits can be filtered by: each document's tags, community, language, collection and first folder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from ..library import Entry
from ..outline.plan import SitePlan
from .format import FACETS

_EPOCH = date(1970, 1, 1).toordinal()


def facets(plan: SitePlan) -> list[bytes]:
    """Return the columns of the file that a browser loads with the first search.

    The names of all values come first, then for each document the places of its own among them.
    """
    entries = plan.library.entries
    collections = list(plan.library.collections)
    languages = sorted({entry.language for entry in entries})
    folders = _folders(entries)
    sections = sorted(set(folders))
    tags = list(plan.tags)
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
        "language": _places(languages, [entry.language for entry in entries]),
        "section": _places(sections, folders),
        "community": [communities.get(entry.community, -1) + 1 for entry in entries],
        "tags": _tags(tags, entries),
        "modified": [_day(entry.modified) for entry in entries],
    }
    return FACETS.pack(values)


def _places(names: Sequence[str], values: Sequence[str]) -> list[int]:
    place = {name: at for at, name in enumerate(names)}
    return [place[value] for value in values]


def _tags(names: Sequence[str], entries: Sequence[Entry]) -> list[int]:
    place = {name: at for at, name in enumerate(names)}
    numbers: list[int] = []
    for entry in entries:
        own = sorted({place[tag] for tag in entry.tags})
        numbers += [len(own), *own]
    return numbers


def _folders(entries: Sequence[Entry]) -> list[str]:
    """Return each page's first folder below the one that all pages share, or nothing for a page directly in
    that.
    """
    folders = [entry.page.split("/")[:-1] for entry in entries]
    shared = 0
    while folders and all(len(each) > shared and each[shared] == folders[0][shared] for each in folders):
        shared += 1
    return [each[shared] if len(each) > shared else "" for each in folders]


def _day(modified: str) -> int:
    """Return the days since 1970 plus 1, or 0 if the date is not known."""
    try:
        return max(0, date.fromisoformat(modified[:10]).toordinal() - _EPOCH + 1)
    except ValueError:
        return 0
