"""Where a page stands by itself: by the path of its file, its dotted name, and its parent in front matter."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence, Set

from ...pipeline.address import slug_path, unnumbered
from ...pipeline.links.published import dated_path, without_ending
from .. import urls
from ..library import Entry


def place_of(entry: Entry) -> str:
    """Return the path of a page in the tree, which is that of its file, whatever address it has."""
    if entry.page == urls.HOME and posixpath.basename(entry.path) != urls.VAULT_ROOT:
        return urls.page_path(entry.path)
    place, own = entry.place or entry.page, urls.page_path(entry.path)
    plain = unnumbered(own)
    said = entry.placement.slug or entry.placement.name
    for path in (plain, entry.path) if said else (entry.path,):
        slug = without_ending(slug_path(path, said)) or "index"
        published = f"{slug if said else dated_path(path)}.html"
        if f"/{place}".endswith(f"/{published}"):
            return place.removesuffix(published) + own
    # Numbers that are left out of addresses order the tree all the same.
    return place if place.endswith(own) or not place.endswith(plain) else place.removesuffix(plain) + own


def is_index(entry: Entry) -> bool:
    """Return whether a page stands for its folder."""
    return place_of(entry).rsplit("/", 1)[-1] == urls.HOME


def dotted_folders(entries: Sequence[Entry]) -> frozenset[tuple[str, str]]:
    """Return the folders of each collection that are vaults of Dendron.

    They hold a ``root.md``, or half of their notes stand below another one by their dotted name.
    """
    folders: dict[tuple[str, str], set[str]] = {}
    for entry in entries:
        folder, name = posixpath.split(entry.path)
        folders.setdefault((entry.collection, folder), set()).add(posixpath.splitext(name)[0])
    return frozenset(folder for folder, names in folders.items() if _is_vault(names))


def _is_vault(names: Set[str]) -> bool:
    below = sum("." in name and name.partition(".")[0] in names for name in names)
    return posixpath.splitext(urls.VAULT_ROOT)[0] in names or (below > 1 and 2 * below >= len(names))


def parents_of(entries: Sequence[Entry]) -> dict[str, tuple[Entry, Entry]]:
    """Return for each page that names its parent by title the page and that parent, without circles."""
    by_title: dict[str, list[Entry]] = {}
    if any(entry.placement.parent for entry in entries):
        for entry in entries:
            by_title.setdefault(entry.title, []).append(entry)
    found: dict[str, tuple[Entry, Entry]] = {}
    for entry in entries:
        wanted = by_title.get(entry.placement.parent, ()) if entry.placement.parent else ()
        grand = entry.placement.grand_parent
        fitting = [each for each in wanted if not grand or each.placement.parent == grand]
        if fitting and fitting[0] is not entry:
            found[entry.page] = (entry, fitting[0])
    return {page: pair for page, pair in found.items() if _ends(page, found)}


def _ends(page: str, found: Mapping[str, tuple[Entry, Entry]]) -> bool:
    """Return whether going up from this page leaves the pages with a parent, and does not come back."""
    seen = set[str]()
    while page in found:
        if page in seen:
            return False
        seen.add(page)
        page = found[page][1].page
    return True
