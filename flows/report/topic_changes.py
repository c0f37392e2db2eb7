"""Communities that moved and terms that became more frequent, from the columns of two snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.store.snapshot import Snapshot

MOST_TERMS = 20
_MOST_NAMED = 100
_LONGEST_WORD = 40
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Topic:
    """A community of more than one document: its name, and its number of documents before and now."""

    label: str
    before: int
    now: int
    label_before: str = ""


@dataclass(frozen=True, slots=True)
class TopicChanges:
    """Changed communities; ``moved`` documents are not in the community that most of their old one became."""

    moved: int
    new: tuple[Topic, ...]
    gone: tuple[Topic, ...]
    renamed: tuple[Topic, ...]
    grown: tuple[Topic, ...]


@dataclass(frozen=True, slots=True)
class RisingTerm:
    """A term, and the number of passages with it before and now."""

    term: str
    before: int
    now: int


def topic_changes(before: Snapshot | None, now: Snapshot) -> TopicChanges:
    """Return communities matched by shared documents: each is the same as the one it shares most with."""
    if before is None:
        return TopicChanges(0, (), (), (), ())
    same, moved = _matched(before, now)
    old, new = _communities(before), _communities(now)
    pairs = [(old[o], new[n]) for n, o in sorted(same.items()) if o in old and n in new]
    come = (each for number, each in new.items() if number not in same and each.size > 1)
    gone = (each for number, each in old.items() if number not in same.values() and each.size > 1)
    return TopicChanges(
        moved=moved,
        new=_bounded(Topic(each.shown, 0, each.size) for each in come),
        gone=_bounded(Topic(each.shown, each.size, 0) for each in gone),
        renamed=_bounded(Topic(n.shown, o.size, n.size, o.shown) for o, n in pairs if o.label != n.label),
        grown=_bounded(Topic(n.shown, o.size, n.size) for o, n in pairs if o.size != n.size),
    )


def _bounded(topics: Iterable[Topic]) -> tuple[Topic, ...]:
    """Return those that changed most, by size, then by name."""
    return tuple(sorted(topics, key=lambda each: (-abs(each.now - each.before), each.label)))[:_MOST_NAMED]


@dataclass(frozen=True, slots=True)
class _Community:
    number: int
    label: str
    size: int

    @property
    def shown(self) -> str:
        """Return the name, or the number where it has none, as the site does."""
        return self.label or f"Topic {self.number}"


def _communities(snapshot: Snapshot) -> Mapping[int, _Community]:
    table = snapshot.table("communities", ["community_id", "label", "size"])
    rows = (_Community(*row) for row in zip(*(table.column(i).to_pylist() for i in range(3)), strict=True))
    return {each.number: each for each in rows}


def _matched(before: Snapshot, now: Snapshot) -> tuple[Mapping[int, int], int]:
    """Return each new community's old one, where the overlap is mutual, and how many documents moved."""
    old, new = (each.table("documents", ["doc_id", "community"]) for each in (before, now))
    at = pc.index_in(new.column("doc_id"), value_set=old.column("doc_id").combine_chunks())
    kept = np.flatnonzero(at.is_valid().to_numpy())
    was = _numbers(old.column("community"))[at.drop_null().to_numpy()]
    is_ = _numbers(new.column("community"))[kept]
    pairs, counts = np.unique(np.stack([is_, was], axis=1), axis=0, return_counts=True)
    # Largest overlap first, then by number, so that each side's first is its best.
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -counts))
    best_of_new: dict[int, int] = {}
    best_of_old: dict[int, int] = {}
    for n, o in pairs[order].tolist():
        best_of_new.setdefault(n, o)
        best_of_old.setdefault(o, n)
    same = {n: o for n, o in best_of_new.items() if best_of_old[o] == n and n >= 0 and o >= 0}
    stayed = sum(
        int(count) for (n, o), count in zip(pairs.tolist(), counts, strict=True) if best_of_old[o] == n
    )
    return same, len(kept) - stayed


def _numbers(column: pa.ChunkedArray) -> Ints:
    numbers: Ints = column.fill_null(-1).to_numpy().astype(np.int64)
    return numbers


def rising_terms(before: Snapshot | None, now: Snapshot) -> tuple[RisingTerm, ...]:
    """Return the terms whose passages grew most for their number, in their most common spelling."""
    if before is None:
        return ()
    old, new = (snapshot.table("terms", ["term", "passages"]) for snapshot in (before, now))
    at = pc.index_in(new.column("term"), value_set=old.column("term").combine_chunks())
    was = old.column("passages").take(at.combine_chunks()).fill_null(0).to_numpy().astype(np.int64)
    is_ = new.column("passages").to_numpy().astype(np.int64)
    rows = np.flatnonzero(is_ > was)
    rows = rows[np.lexsort((rows, -(is_ - was)[rows] / np.sqrt(is_[rows])))]
    terms = new.column("term")
    chosen: list[RisingTerm] = []
    for row in rows.tolist():
        term = terms[row].as_py()
        if term.isalpha() and 2 < len(term) <= _LONGEST_WORD:
            chosen.append(RisingTerm(term, int(was[row]), int(is_[row])))
        if len(chosen) == MOST_TERMS:
            break
    written = _surfaces(now, [each.term for each in chosen])
    return tuple(RisingTerm(written.get(each.term, each.term), each.before, each.now) for each in chosen)


def _surfaces(snapshot: Snapshot, terms: list[str]) -> Mapping[str, str]:
    """Return the most common word for each index term."""
    table = snapshot.table("surfaces", ["surface", "terms", "count"])
    table = table.filter(pc.equal(pc.list_value_length(table.column("terms")), 1))
    stems = pc.list_flatten(table.column("terms"))
    table = table.filter(pc.is_in(stems, pa.array(terms, pa.string())))
    rows = zip(*(table.column(i).to_pylist() for i in range(3)), strict=True)
    return {names[0]: surface for surface, names, _ in sorted(rows, key=lambda row: (row[2], row[0]))}
