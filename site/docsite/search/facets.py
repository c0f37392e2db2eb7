"""What hits can be filtered by: each document's tags, community, language, collection and first folder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np

from ..library import Entry
from ..plan import SitePlan
from .packing import text, varints

_EPOCH = date(1970, 1, 1).toordinal()


def facets(plan: SitePlan) -> list[bytes]:
    """The columns of the file that a browser loads with the first search: names, then for each document their numbers."""
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
    return [
        text(names),
        _places(collections, [entry.collection for entry in entries]),
        _places(languages, [entry.language for entry in entries]),
        _places(sections, folders),
        varints(np.array([communities.get(entry.community, -1) + 1 for entry in entries])),
        _tags(tags, entries),
        varints(np.array([_day(entry.modified) for entry in entries])),
    ]


def _places(names: Sequence[str], values: Sequence[str]) -> bytes:
    place = {name: at for at, name in enumerate(names)}
    return varints(np.array([place[value] for value in values]))


def _tags(names: Sequence[str], entries: Sequence[Entry]) -> bytes:
    place = {name: at for at, name in enumerate(names)}
    numbers: list[int] = []
    for entry in entries:
        own = sorted({place[tag] for tag in entry.tags})
        numbers += [len(own), *own]
    return varints(np.array(numbers))


def _folders(entries: Sequence[Entry]) -> list[str]:
    """The first folder of each page below the folder that all of them share; nothing for a page in it."""
    folders = [entry.page.split("/")[:-1] for entry in entries]
    shared = 0
    while folders and all(len(each) > shared and each[shared] == folders[0][shared] for each in folders):
        shared += 1
    return [each[shared] if len(each) > shared else "" for each in folders]


def _day(modified: str) -> int:
    """Days since 1970, and 1; 0 where the day is not known."""
    try:
        return max(0, date.fromisoformat(modified[:10]).toordinal() - _EPOCH + 1)
    except ValueError:
        return 0
