"""What a power cut may leave of a folder: a model of what a file system promises, and of nothing more.

What was flushed survives. Of everything else, any part may be there, in any order: every change of names
since the folder's last flush (a new name, a removal, a rename, an exchange) as a whole or not at all, and of
the bytes of a file since its last flush any blocks; the others are as they were, or zeros where the file has
grown.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

BLOCKS = 8


@dataclass(eq=False)
class Node:
    """A file or a folder, whatever its names; a folder's content is None."""

    content: bytes | None = b""
    on_disk: bytes = b""
    mtime_ns: int = 0

    @property
    def is_pending(self) -> bool:
        return self.content is not None and self.content != self.on_disk


@dataclass(eq=False)
class Change:
    """Names taken away and names put in, in one step."""

    away: tuple[tuple[Node, str, Node], ...]
    put: tuple[tuple[Node, str, Node], ...]
    synced: bool = False

    def folders(self) -> set[Node]:
        """Return those whose flush keeps the change: where a name came, else where one went."""
        return {folder for folder, _, _ in self.put or self.away}


@dataclass(frozen=True)
class Entry:
    """A name in a tree: the content of a file, None for a folder; names of one file have one node."""

    content: bytes | None
    node: Node


Tree = dict[str, Entry]
Fate = bool | bytes
"""Of a change: whether it is kept. Of a file: its content."""


@dataclass
class World:
    """Everything that happened since the folder was looked at first, as changes in order."""

    root: Node = field(default_factory=lambda: Node(None))
    changes: list[Change] = field(default_factory=list)
    files: list[Node] = field(default_factory=list)

    def flush(self, node: Node) -> None:
        """One file's bytes, or one folder's names."""
        node.on_disk = node.content or b""
        for change in self.changes:
            change.synced |= node in change.folders()

    def flush_all(self) -> None:
        for node in self.files:
            node.on_disk = node.content or b""
        for change in self.changes:
            change.synced = True

    def trees(self, exhaustive_up_to: int, samples: int, chance: random.Random) -> Iterator[Tree]:
        """Every tree that a power cut now could leave; beyond so many of them, the extremes and a sample."""
        pending = [c for c in self.changes if not c.synced]
        torn = [node for node in self.files if node.is_pending]
        choices: list[list[Fate]] = [[True, False] for _ in pending]
        choices += [list(contents_after_a_cut(node, chance)) for node in torn]
        things: list[Change | Node] = [*pending, *torn]
        for fates in _combinations(choices, exhaustive_up_to, samples, chance):
            yield self._tree(dict(zip(things, fates, strict=True)))

    def _tree(self, fates: Mapping[Change | Node, Fate]) -> Tree:
        names = self._names(lambda change: change.synced or bool(fates.get(change, True)))
        return dict(_walk(self.root, "", names, fates))

    def _names(self, keep: Callable[[Change], bool]) -> dict[Node, dict[str, Node]]:
        entries: dict[Node, dict[str, Node]] = {}
        for change in filter(keep, self.changes):
            there = [entries.get(folder, {}).get(name) is node for folder, name, node in change.away]
            # A folder has one name: without what came before, it cannot be moved.
            if not all(there) and any(node.content is None for *_, node in change.put):
                continue
            for (folder, name, _), is_there in zip(change.away, there, strict=True):
                if is_there:
                    del entries[folder][name]
            for folder, name, node in change.put:
                entries.setdefault(folder, {})[name] = node
        return entries


def contents_after_a_cut(node: Node, chance: random.Random) -> Iterator[bytes]:
    """The content, and what may be in its place: nothing new, cut, zeros, holes, blocks by chance."""
    half = [at < BLOCKS // 2 for at in range(BLOCKS)]
    yield node.content or b""
    yield node.on_disk
    yield _blocks(node, half, BLOCKS // 2)
    yield _blocks(node, [False] * BLOCKS, BLOCKS)
    yield _blocks(node, half, BLOCKS)
    yield _blocks(node, [not kept for kept in half], BLOCKS)
    for _ in range(2):
        yield _blocks(node, [chance.random() < 0.5 for _ in range(BLOCKS)], chance.randint(0, BLOCKS))


def _blocks(node: Node, kept: list[bool], end: int) -> bytes:
    """The blocks that are kept, each of the others as it was before, up to a block's end."""
    new = node.content or b""
    old = node.on_disk.ljust(len(new), b"\0")
    size = math.ceil(len(new) / BLOCKS) or 1
    parts = ((new if is_kept else old)[at * size : (at + 1) * size] for at, is_kept in enumerate(kept))
    grown = b"".join(itertools.islice(parts, end))
    return grown if end == BLOCKS or len(grown) >= len(node.on_disk) else grown + node.on_disk[len(grown) :]


def _combinations(
    choices: list[list[Fate]], exhaustive_up_to: int, samples: int, chance: random.Random
) -> Iterator[tuple[Fate, ...]]:
    if math.prod(map(len, choices)) <= exhaustive_up_to:
        yield from itertools.product(*choices)
        return
    kept, lost = tuple(each[0] for each in choices), tuple(each[1] for each in choices)
    yield kept
    yield lost
    for at, each in enumerate(choices):
        for fate in each[1:]:
            yield (*kept[:at], fate, *kept[at + 1 :])
        for fate in (each[0], *each[2:]):
            yield (*lost[:at], fate, *lost[at + 1 :])
    for _ in range(samples):
        share = chance.random()  # else nearly all samples would keep about half
        yield tuple(each[0] if chance.random() < share else chance.choice(each[1:]) for each in choices)


def _walk(
    folder: Node, at: str, names: Mapping[Node, Mapping[str, Node]], fates: Mapping[Change | Node, Fate]
) -> Iterator[tuple[str, Entry]]:
    for name, node in sorted(names.get(folder, {}).items()):
        fate = fates.get(node)
        yield at + name, Entry(fate if isinstance(fate, bytes) else node.content, node)
        if node.content is None:
            yield from _walk(node, f"{at}{name}/", names, fates)
