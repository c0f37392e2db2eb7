"""The plan of a set: which file is part of which shard, by the document's name alone."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from ...pipeline.settings.settings import Settings, ShardSettings
from ..stages.sources import Listing

# Of text; the first night knows bytes only. Later ones know how many passages there were.
_BYTES_PER_PASSAGE = 600


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """A rule that gives each document its shard; ``count`` shards at most have any."""

    by: str
    count: int
    collections: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all shards that may have documents."""
        return tuple(f"{number:04d}" for number in range(self.count))

    def shard_of(self, document: str) -> str:
        """Return the name of the shard of a document by its id, ``collection:path``."""
        collection, _, path = document.partition(":")
        if self.by == "collection":
            return f"{self.collections.index(collection):04d}"
        key = (
            document if self.by == "hash" else f"{collection}:{path.partition('/')[0] if '/' in path else ''}"
        )
        return f"{zlib.crc32(key.encode()) % self.count:04d}"


def plan_shards(settings: Settings, listing: Listing, before: Iterable[str] = ()) -> ShardPlan:
    """Return the plan that the settings ask for, given the files that were found.

    ``before`` are the shards of the current set: where a collection could not be listed, its size is unknown.
    """
    wanted, names = settings.shards, tuple(settings.collections)
    if wanted.by == "collection":
        return ShardPlan(wanted.by, len(names), names)
    least = 1 + max(map(int, before), default=0) if listing.failures else 1
    return ShardPlan(wanted.by, max(wanted.count, _enough(wanted, listing, least)), names)


def _enough(wanted: ShardSettings, listing: Listing, least: int) -> int:
    """Return so many shards that none has more than ``max_passages``, about: a power of two.

    The next night with a few more files has the same number, or every document would move.
    """
    if not wanted.max_passages:
        return 1
    passages = sum(file.size for file in listing.files) / _BYTES_PER_PASSAGE
    count = 1
    while count * wanted.max_passages < passages or count < least:
        count *= 2
    return count
