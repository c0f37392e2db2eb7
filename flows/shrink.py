"""The shrink guard: a collection that lost many of its documents overnight is more often a fault than a wish."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from artifacts.snapshot import Snapshot, read_manifest
from artifacts.store import Store
from flows.collect import Listing, Understanding
from pipeline.errors import ArtifactError, CollectionShrank
from pipeline.settings import Settings

_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A collection with fewer documents than the current snapshot has of it."""

    collection: str
    before: int
    after: int

    @property
    def share(self) -> float:
        """The part of its documents that is gone, from 0 to 1."""
        return (self.before - self.after) / self.before

    def __str__(self) -> str:
        lost = self.before - self.after
        return f"collection {self.collection!r} would lose {lost:,} of its {self.before:,} documents ({self.share:.0%})"


def require_unshrunk(settings: Settings, store: Store, found: Mapping[str, int], *, accept: bool) -> None:
    """Returns if no collection lost more than ``limits.max_shrink_share``; raises ``CollectionShrank``.

    ``found`` has the documents of each collection as they are now. One that holds none at all is an
    ``EmptyCollection``, which has a flag of its own; ``accept`` makes this a warning.
    """
    most = settings.limits.max_shrink_share
    before = documents_before(store)
    pairs = (Shrunk(name, before.get(name, 0), found.get(name, 0)) for name in sorted(settings.collections))
    shrunk = [each for each in pairs if 0 < each.after < each.before and each.share > most]
    if not shrunk:
        return
    said = "; ".join(map(str, shrunk))
    if accept:
        _log.warning("accepted: %s", said)
        return
    raise CollectionShrank(
        f"{said}, more than the {most:.0%} that limits.max_shrink_share allows",
        where=", ".join(settings.collections[each.collection].root for each in shrunk),
        hint="Nothing was published, the current snapshot is as it was. Is a disk not mounted, a checkout half done, an "
        "exclude too wide? To publish all the same: --accept-shrink.",
    )


def documents_before(store: Store) -> Mapping[str, int]:
    """Documents of each collection in the current snapshot; none where there is no snapshot that can be read."""
    try:
        current = store.current()
        if current is None:
            return {}
        path = store.path_of(current)
        snapshot = Snapshot(path, read_manifest(path, current), None)
        return Counter(snapshot.table("documents", ["collection"]).column("collection").to_pylist())
    except ArtifactError as error:
        _log.warning("the shrink guard has nothing to compare with: %s", error)
        return {}


def of_listing(listing: Listing) -> Mapping[str, int]:
    """Files of each collection, before any is read."""
    return Counter(file.collection for file in listing.files)


def of_understanding(understanding: Understanding) -> Mapping[str, int]:
    """Documents of each collection that could be used."""
    return Counter(understanding.whole.documents["collection"].to_pylist())
