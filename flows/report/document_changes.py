"""Changes of documents and links between two snapshots, computed from their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.store.snapshot import Snapshot
from ...pipeline.model import ReportEntry

# What a report names of a long list; the count is always whole.
MOST_NAMED = 1000
_FENCE = "\x00"


@dataclass(frozen=True, slots=True)
class NamedCount:
    """A count, and the first of the things counted by name."""

    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """Changed documents by id; ``moved``: the same source at another path, as ``before -> now``."""

    added: NamedCount
    changed: NamedCount
    moved: NamedCount
    removed: NamedCount


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link by its source and target, and what became of it."""

    source: str
    target: str
    fate: str


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """Links that broke since the last snapshot, and links that were broken and no longer are."""

    broken: int
    mended: int
    first_broken: tuple[LinkChange, ...]
    first_mended: tuple[LinkChange, ...]


@dataclass(frozen=True, slots=True)
class RefusedFiles:
    """Files newly left out, with the reason, and how many are usable again."""

    count: int
    first: tuple[tuple[str, str], ...]
    mended: NamedCount


def named(names: Iterable[str]) -> NamedCount:
    """Return the names, sorted and bounded."""
    ordered = sorted(names)
    return NamedCount(len(ordered), tuple(ordered[:MOST_NAMED]))


def document_changes(before: Snapshot | None, now: Snapshot) -> DocumentChanges:
    """Return the documents added, changed, moved and removed since the last snapshot, if there was one."""
    old, new = document_hashes(before), document_hashes(now)
    added, removed = new.keys() - old.keys(), old.keys() - new.keys()
    by_hash = {old[name]: name for name in sorted(removed, reverse=True)}
    moved = {name: by_hash[new[name]] for name in sorted(added) if new[name] in by_hash}
    return DocumentChanges(
        added=named(added - moved.keys()),
        changed=named(name for name in new.keys() & old.keys() if new[name] != old[name]),
        moved=named(f"{source} -> {name}" for name, source in moved.items()),
        removed=named(removed - set(moved.values())),
    )


def document_hashes(snapshot: Snapshot | None) -> Mapping[str, str]:
    """Return the hash of each document's source by its id; none without a snapshot."""
    if snapshot is None:
        return {}
    table = snapshot.table("documents", ["doc_id", "sha256"])
    return dict(zip(*(table.column(name).to_pylist() for name in ("doc_id", "sha256")), strict=True))


def refused_files(before: Snapshot | None, now: Snapshot) -> RefusedFiles:
    """Return the files that are newly left out, and the number that no longer are."""
    old, new = _rejected(before), _rejected(now)
    fresh = sorted(new.keys() - old.keys())
    return RefusedFiles(
        len(fresh), tuple((name, new[name]) for name in fresh[:MOST_NAMED]), named(old.keys() - new.keys())
    )


def _rejected(snapshot: Snapshot | None) -> Mapping[str, str]:
    if snapshot is None:
        return {}
    entries = (ReportEntry(**row) for row in snapshot.table("report").to_pylist())
    return {f"{e.collection}:{e.path}": f"{e.kind}: {e.reason}" for e in entries if e.is_left_out}


def link_changes(before: Snapshot | None, now: Snapshot) -> LinkChanges:
    """Return links that broke and links that were repaired, by their page and target as written."""
    if before is None:
        return LinkChanges(0, 0, (), ())
    was, is_ = _missing(before), _missing(now)
    broken = _sorted(is_.filter(pc.invert(pc.is_in(is_.column("key"), was.column("key").combine_chunks()))))
    mended = _sorted(was.filter(pc.invert(pc.is_in(was.column("key"), is_.column("key").combine_chunks()))))
    return LinkChanges(
        broken=len(broken),
        mended=len(mended),
        first_broken=tuple(_link(key, status) for key, status in broken[:MOST_NAMED]),
        first_mended=_fates(now, [key for key, _ in mended[:MOST_NAMED]]),
    )


def _missing(snapshot: Snapshot) -> pa.Table:
    table = snapshot.table("links", ["source_id", "target", "status"])
    return _keyed(table.filter(pc.starts_with(table.column("status"), "missing")))


def _keyed(table: pa.Table) -> pa.Table:
    key = pc.binary_join_element_wise(table.column("source_id"), table.column("target"), _FENCE)
    return pa.table({"key": key, "status": table.column("status")})


def _sorted(table: pa.Table) -> list[tuple[str, str]]:
    """Return each key once, sorted."""
    return sorted(dict(zip(*(table.column(i).to_pylist() for i in range(2)), strict=True)).items())


def _link(key: str, fate: str) -> LinkChange:
    source, _, target = key.partition(_FENCE)
    return LinkChange(source, target, fate)


def _fates(now: Snapshot, keys: list[str]) -> tuple[LinkChange, ...]:
    """Return the reason why each of these links is no longer broken."""
    if not keys:
        return ()
    sources = pa.array(sorted({key.partition(_FENCE)[0] for key in keys}), pa.string())
    table = now.table("links", ["source_id", "target", "status"])
    there = dict(_sorted(_keyed(table.filter(pc.is_in(table.column("source_id"), sources)))))
    documents = now.table("documents", ["doc_id"]).column("doc_id")
    left = set(documents.filter(pc.is_in(documents, sources)).to_pylist())
    return tuple(
        _link(
            key, there.get(key) or ("taken out" if key.partition(_FENCE)[0] in left else "its page is gone")
        )
        for key in keys
    )
