"""What is served at a moment, and who lends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..artifacts.query.index.documents import DocumentReader, listed_documents
from ..artifacts.query.searcher import Searcher
from ..artifacts.store.snapshot import Snapshot
from ..pipeline.errors import NoctuleError
from ..pipeline.model import SnapshotId
from ..pipeline.settings.settings import Settings


@dataclass(frozen=True)
class ServedSnapshot:
    """A snapshot's searcher, and the generation in which the snapshot became current."""

    searcher: Searcher
    snapshot: SnapshotId
    generation: int

    def status(self) -> dict[str, object]:
        """Return what ``/readyz`` says of it."""
        return {"snapshot": self.snapshot, "generation": self.generation}

    @cached_property
    def documents(self) -> DocumentReader:
        """Return what reads whole documents."""
        return DocumentReader(self.searcher.corpus)

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Return the ids of the documents that lists may name, in order."""
        return listed_documents(self.searcher.corpus.snapshot)

    @cached_property
    def collections(self) -> Mapping[str, int]:
        """Return how many documents each collection lists, by its name in order."""
        return _counted(self.searcher.corpus.snapshot, self.listed)

    @cached_property
    def collections_by_shard(self) -> Mapping[str, Mapping[str, int]]:
        """Return the same for each open shard of a set, by the shard's name; empty for what is no set."""
        parts = self.searcher.corpus.snapshot.parts
        return {
            part.manifest.shard: _counted(part, listed_documents(part))
            for part in parts
            if part.manifest.shard
        }


def _counted(snapshot: Snapshot, listed: Iterable[str]) -> dict[str, int]:
    counted = Counter(each.partition(":")[0] for each in listed)
    names = snapshot.table("documents", ["collection"]).column("collection").unique().to_pylist()
    return {name: counted[name] for name in sorted(names)}


class SnapshotLender(Protocol):
    """What lends what is served, and follows what there is to serve."""

    @property
    def settings(self) -> Settings:
        """Return the settings by which it is searched."""

    @property
    def failure(self) -> NoctuleError | None:
        """Return why what is current is not served, if it is not."""

    @property
    def editions(self) -> tuple[ServedSnapshot, ...]:
        """Return what can be borrowed, what is current first."""

    def borrow(self, snapshot: str = "") -> AbstractContextManager[ServedSnapshot]:
        """Yield what is served now, or the named snapshot; raise ``NoSnapshot``."""

    async def follow(self, seconds: float) -> None:
        """Look at what there is now, and then so often, for as long as the task lives."""

    async def refresh_or_log(self) -> None:
        """Look at what there is."""

    def close(self) -> None:
        """Serve nothing from now on."""
