"""The shrink guard: a collection that lost many of its documents overnight is more often a fault than a wish."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from ...artifacts.store.snapshot import Snapshot, read_manifest
from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError, CollectionShrank
from ...pipeline.settings.settings import Settings

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


def require_unshrunk(settings: Settings, name: str, before: int, after: int, *, accept: bool) -> None:
    """Returns if the collection lost no more than ``limits.max_shrink_share``; raises ``CollectionShrank``.

    ``before`` and ``after`` count its documents. One that holds none at all is an ``EmptyCollection``, which has a flag of
    its own; ``accept`` makes this a warning.
    """
    most, shrunk = settings.limits.max_shrink_share, Shrunk(name, before, after)
    if not 0 < after < before or shrunk.share <= most:
        return
    if accept:
        _log.warning("accepted: %s", shrunk)
        return
    raise CollectionShrank(
        f"{shrunk}, more than the {most:.0%} that limits.max_shrink_share allows",
        where=settings.collections[name].root,
        hint="Nothing of it was published, the current snapshot is as it was. Is a disk not mounted, a checkout half done, "
        "an exclude too wide? To publish all the same: --accept-shrink.",
    )


def published_paths(store: Store) -> Mapping[str, frozenset[str]]:
    """Return the paths of each collection's documents in the current snapshot; raise ``ArtifactError`` where it cannot be read."""
    current = store.current()
    if current is None:
        return {}
    path = store.path_of(current)
    snapshot = Snapshot(path, read_manifest(path, current), None)
    found: dict[str, set[str]] = {}
    for row in snapshot.table("documents", ["collection", "path"]).to_pylist():
        found.setdefault(row["collection"], set()).add(row["path"])
    return {name: frozenset(paths) for name, paths in found.items()}


def documents_before(store: Store) -> Mapping[str, frozenset[str]]:
    """Return the paths of each collection's documents in the current snapshot; none where no snapshot can be read."""
    try:
        return published_paths(store)
    except ArtifactError as error:
        _log.warning("the shrink guard has nothing to compare with: %s", error)
        return {}
