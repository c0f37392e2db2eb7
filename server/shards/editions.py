"""Which edition of a set a router answers from, and who holds its shards: one edition for each answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .backends import Backend, HeldEdition


@dataclass(frozen=True, slots=True)
class ReplicaGroup:
    """The servers that hold the same shards of an edition."""

    shards: tuple[str, ...]
    replicas: tuple[Backend, ...]

    @property
    def name(self) -> str:
        """Return a name for messages."""
        return ",".join(self.shards)


@dataclass(frozen=True, slots=True)
class ServedEdition:
    """An edition, the groups of servers to ask, and the shards that none of them holds."""

    edition: HeldEdition
    groups: tuple[ReplicaGroup, ...]
    missing: tuple[str, ...]

    def without(self, answered: frozenset[str]) -> tuple[str, ...]:
        """Return the shards that are missing if only the groups of these names have answered."""
        held = {shard for group in self.groups if group.name in answered for shard in group.shards}
        return tuple(each for each in self.edition.all_shards if each not in held)

    @property
    def collections(self) -> dict[str, int]:
        """Return how many documents each collection lists in the shards that are held.

        Where shards are missing, collections that are only configured are among them.
        """
        found: dict[str, int] = {}
        if self.missing:
            found.update(dict.fromkeys(self.edition.addresses.get("collections", {}), 0))
        by_shard = dict[str, dict[str, int]]()  # two groups may hold the same shard
        for group in self.groups:
            for held in _held(group.replicas[0], self.edition.snapshot):
                by_shard |= held.collections
        for counts in by_shard.values():
            for name, count in counts.items():
                found[name] = found.get(name, 0) + count
        return dict(sorted(found.items()))


def choose_edition(backends: Sequence[Backend]) -> ServedEdition | None:
    """Return the edition with most of its shards at hand; of several, the one that most servers have come to.

    A server holds the edition before the current one for a while, so that none is left before all shards of
    the next can be asked.
    """
    up = [each for each in backends if each.state.is_up]
    known = {edition.snapshot: edition for each in up for edition in each.state.editions}
    if not known:
        return None
    served = [_served(edition, up) for edition in known.values()]
    return max(served, key=lambda each: (-_share_missing(each), _votes(each, up), each.edition.snapshot))


def _share_missing(served: ServedEdition) -> float:
    return len(served.missing) / len(served.edition.all_shards)


def _votes(served: ServedEdition, up: Sequence[Backend]) -> int:
    """Return how many servers have the edition as their current one, less those that have left it."""
    places = [
        [edition.snapshot for edition in each.state.editions].index(served.edition.snapshot)
        for each in up
        if any(edition.snapshot == served.edition.snapshot for edition in each.state.editions)
    ]
    return sum(1 if place == 0 else -1 for place in places)


def _served(edition: HeldEdition, up: Sequence[Backend]) -> ServedEdition:
    """Return groups, the largest first, until they hold all there is of an edition."""
    holders: dict[tuple[str, ...], list[Backend]] = {}
    for each in up:
        for held in _held(each, edition.snapshot):
            holders.setdefault(held.shards, []).append(each)
    groups, covered = list[ReplicaGroup](), set[str]()
    for shards in sorted(holders, key=lambda each: (-len(each), each)):
        if not covered.issuperset(shards):
            groups.append(ReplicaGroup(shards, tuple(holders[shards])))
            covered.update(shards)
    missing = tuple(each for each in edition.all_shards if each not in covered)
    return ServedEdition(edition, tuple(groups), missing)


def _held(backend: Backend, snapshot: str) -> list[HeldEdition]:
    return [each for each in backend.state.editions if each.snapshot == snapshot]
