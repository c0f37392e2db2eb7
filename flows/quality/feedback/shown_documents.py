"""Documents of the current snapshot by the names that events have for them: a page, a path or an id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from ....artifacts.store.snapshot import Snapshot
from ....docsite.library import Library
from ....pipeline.settings.site import Site
from .logged_searches import LoggedSearch

_INDEX = "index.html"


@dataclass(frozen=True, slots=True)
class ShownDocuments:
    """The documents of a snapshot; ``titles`` are theirs by id."""

    titles: Mapping[str, str]
    _by_page: Mapping[str, str]
    _base: str

    def find(self, name: str) -> str:
        """Return the id of the document that is named; nothing for one that is not in the snapshot."""
        if name in self.titles:
            return name
        page = unquote(name.removeprefix(self._base) if self._base else name).lstrip("/")
        inside = f"{page.rstrip('/')}/{_INDEX}".lstrip("/")
        return next((self._by_page[each] for each in (page, inside) if each in self._by_page), "")


def shown_documents(snapshot: Snapshot, settings: Site) -> ShownDocuments:
    """Return the documents of a snapshot; the settings decide what their pages are called."""
    library = Library(snapshot, settings=settings)
    # Where search was added to pages that another tool built, these are the documents themselves.
    pages = {entry.path: entry.doc_id for entry in library.entries} if len(library.collections) == 1 else {}
    pages |= {entry.page: entry.doc_id for entry in library.entries}
    titles = {entry.doc_id: entry.title for entry in library.entries}
    base = settings.base_url.rstrip("/")
    return ShownDocuments(titles, pages, f"{base}/" if base else "")


def with_documents(
    searches: Iterable[LoggedSearch], documents: ShownDocuments
) -> tuple[tuple[LoggedSearch, ...], Counter[str]]:
    """Return searches with ids in place of names, and how often each name was shown that is none here.

    Such a hit keeps its place, since it took a reader's time, under a name that no document has.
    """
    unknown: Counter[str] = Counter()
    found = []
    for each in searches:
        ids = [documents.find(name) for name in each.hits]
        unknown.update(name for name, known in zip(each.hits, ids, strict=True) if not known)
        found.append(replace(each, hits=tuple(_distinct(each.hits, ids))))
    return tuple(found), unknown


def _distinct(names: Sequence[str], ids: Sequence[str]) -> Iterable[str]:
    """Yield an id for each name, and the name where there is none or the document stands above already."""
    seen: set[str] = set()
    for name, known in zip(names, ids, strict=True):
        yield known if known and known not in seen else f"?{name}"
        seen.add(known)
