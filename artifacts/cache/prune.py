"""Pruning of the embedding store: unused vectors are dropped and small files merged into larger ones.

New segments are on disk before old ones are removed, so a crash may leave a vector twice but never loses one.
The caller must hold the store's lock: a run that encodes would not notice that a segment it relies on is
gone.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ..disk import durable, folders
from ..disk.layout import EMBEDDINGS
from .embeddings import read_segment, write_segment
from .segments import UnusableSegment

# Segments below this size are merged; none grows much larger than twice this.
_SMALL_BYTES = 4_000_000
_LARGE_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Freed:
    """What was removed from the embedding store, and what it holds now."""

    vectors: int
    bytes: int
    kept_vectors: int
    kept_bytes: int


@dataclass(slots=True)
class _Folder:
    """One folder being pruned: rows that wait to be rewritten, and the files that they come from."""

    path: Path
    used: Container[str]
    seen: set[str] = field(default_factory=set)
    waiting: list[pa.Table] = field(default_factory=list)
    sources: list[Path] = field(default_factory=list)
    is_needed: bool = False
    dropped: int = 0

    def take(self, source: Path, segment: pa.Table) -> None:
        """Keep the segment as it is, or add its used rows to a new one."""
        hashes = segment.column("content_hash").to_pylist()
        mask = [each in self.used and each not in self.seen for each in hashes]
        self.seen.update(each for each, kept in zip(hashes, mask, strict=True) if kept)
        whole = all(mask)
        if whole and source.stat().st_size >= _SMALL_BYTES:
            return
        self.is_needed |= not whole or bool(self.sources)
        self.dropped += mask.count(False)
        self.waiting.append(segment if whole else segment.filter(pa.array(mask, type=pa.bool_())))
        self.sources.append(source)
        if sum(table.nbytes for table in self.waiting) >= _LARGE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write one new segment for all that waits, then remove its sources."""
        if self.is_needed:
            rows = pa.concat_tables(self.waiting).combine_chunks()
            made = write_segment(self.path, rows) if len(rows) else None
            for source in self.sources:
                if source != made:
                    durable.remove_file(source)
        self.waiting, self.sources, self.is_needed = [], [], False


def prune_embeddings(store: Path, used: Mapping[str, Container[str]], spare_since_s: float) -> Freed:
    """Remove all vectors except those whose content hash is in ``used``, by folder; raises ``WriteFailed``.

    Segments written at ``spare_since_s`` (seconds since the epoch) or later stay whole: a run that did not
    publish may have made them.
    """
    root = store / EMBEDDINGS
    before, dropped, kept = _bytes(root), 0, 0
    for folder in filter(durable.is_directory, folders.entries(root)):
        done = _pruned(folder, used.get(folder.name, frozenset()), spare_since_s)
        dropped, kept = dropped + done.vectors, kept + done.kept_vectors
        if not folders.entries(folder):
            folders.remove_tree(folder)
    after = _bytes(root)
    return Freed(dropped, max(0, before - after), kept, after)


def _pruned(path: Path, used: Container[str], spare_since_s: float) -> Freed:
    folder, spared = _Folder(path, used), 0
    for source in folders.entries(path):
        if source.name.startswith("."):
            durable.remove_file(source)  # left unfinished by a run that died
        elif source.stat().st_mtime >= spare_since_s:
            spared += len(_rows(source) or ())
        elif (segment := _rows(source)) is None:
            durable.remove_file(source)  # damaged, or of another model: it is never read again
        else:
            folder.take(source, segment)
    folder.flush()
    durable.sync_directory(path)
    return Freed(folder.dropped, 0, len(folder.seen) + spared, 0)


def _rows(path: Path) -> pa.Table | None:
    try:
        return read_segment(path)
    except UnusableSegment:
        return None


def _bytes(root: Path) -> int:
    with durable.refusals(root, "look at"):
        return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
