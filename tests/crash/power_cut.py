"""Records what a run does to the disk, and builds every tree that a power cut at any point could leave.

The model: what was synced survives. Every change to a directory since its last sync (a new name, a removal, a
rename) may be there or not; the bytes of a file since its last sync may be there, cut in half, or missing.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from noctule.artifacts.disk import durable
from noctule.artifacts.disk.system_calls import Disk

ALL_COMBINATIONS_UP_TO = 6


@dataclass(eq=False)
class Node:
    """A file or a folder, whatever its name; a folder's content is None."""

    content: bytes | None = b""
    on_disk: bytes = b""


@dataclass(eq=False)
class Change:
    """Names taken away and names put in, in one step; lost or kept as a whole."""

    away: tuple[tuple[Node, str], ...]
    put: tuple[tuple[Node, str, Node], ...]
    synced: bool = False

    def folders(self) -> set[Node]:
        return {folder for folder, _ in self.away} | {folder for folder, _, _ in self.put}


@dataclass
class World:
    """Everything that happened since the tree was loaded, as changes in order."""

    root: Node = field(default_factory=lambda: Node(None))
    changes: list[Change] = field(default_factory=list)
    files: list[Node] = field(default_factory=list)

    def load(self, folder: Path, node: Node | None = None) -> None:
        """A real tree, taken as synced."""
        node = node or self.root
        for path in sorted(folder.iterdir()):
            child = Node(None) if path.is_dir() else self.file(path.read_bytes())
            self.changes.append(Change((), ((node, path.name, child),), synced=True))
            if path.is_dir():
                self.load(path, child)

    def file(self, content: bytes = b"") -> Node:
        node = Node(content, content)
        self.files.append(node)
        return node

    def names(self, keep: Callable[[Change], bool] = lambda _: True) -> dict[Node, dict[str, Node]]:
        """The entries of every folder once the kept changes are made."""
        entries: dict[Node, dict[str, Node]] = {}
        for change in filter(keep, self.changes):
            if all(name in entries.get(folder, {}) for folder, name in change.away):
                for folder, name in change.away:
                    del entries[folder][name]
                for folder, name, node in change.put:
                    entries.setdefault(folder, {})[name] = node
        return entries

    def trees(self) -> Iterator[dict[str, bytes | None]]:
        """Every tree (path to content, None for a folder) that a power cut now could leave."""
        changes = [change for change in self.changes if not change.synced]
        torn = [node for node in self.files if node.content != node.on_disk]
        for lost in _subsets([*changes, *torn]):
            names = self.names(lambda change, lost=lost: change not in lost)
            for share in (0.0, 0.5) if any(node in lost for node in torn) else (1.0,):
                yield dict(_walk(self.root, "", names, lost, share))


def _subsets(pending: list[Change | Node]) -> Iterator[set[Change | Node]]:
    if len(pending) <= ALL_COMBINATIONS_UP_TO:
        sizes = range(len(pending) + 1)
        yield from (set(s) for size in sizes for s in itertools.combinations(pending, size))
        return
    everything = set(pending)
    yield set()
    yield everything
    for one in pending:
        yield {one}
        yield everything - {one}


def _walk(
    folder: Node, at: str, names: Mapping[Node, Mapping[str, Node]], lost: set[Change | Node], share: float
) -> Iterator[tuple[str, bytes | None]]:
    for name, node in sorted(names.get(folder, {}).items()):
        if node.content is None:
            yield at + name, None
            yield from _walk(node, f"{at}{name}/", names, lost, share)
        elif node in lost:
            added = node.content[len(node.on_disk) :]
            yield at + name, node.on_disk + added[: int(len(added) * share)]
        else:
            yield at + name, node.content


class RecordingDisk(Disk):
    """Does everything for real, and keeps every tree that a power cut on the way could have left."""

    def __init__(self, root: Path, forget: Callable[[Path], bool] = lambda _: False) -> None:
        self.base, self.forget = root, forget
        self.world = World()
        self.world.load(root)
        self.open_files: dict[int, tuple[Path, Node]] = {}
        self.seen: dict[frozenset[tuple[str, bytes | None]], dict[str, bytes | None]] = {}
        self._cut()

    def trees(self) -> list[dict[str, bytes | None]]:
        """The distinct trees so far, as readers see them: staged files do not count."""
        return list(self.seen.values())

    def _cut(self) -> None:
        for tree in self.world.trees():
            visible = {path: content for path, content in tree.items() if "/." not in f"/{path}"}
            self.seen.setdefault(frozenset(visible.items()), visible)

    def _find(self, path: Path) -> tuple[Node, str]:
        names, folder = self.world.names(), self.world.root
        parts = path.relative_to(self.base).parts
        for part in parts[:-1]:
            folder = names[folder][part]
        return folder, parts[-1] if parts else ""

    def _node(self, path: Path) -> Node:
        folder, name = self._find(path)
        return self.world.names()[folder][name] if name else folder

    def _change(self, away: Iterable[Path], put: Iterable[tuple[Path, Node]]) -> None:
        gone = tuple(self._find(path) for path in away)
        self.world.changes.append(Change(gone, tuple((*self._find(path), node) for path, node in put)))
        self._cut()

    def open(self, path: Path, flags: int) -> int:
        is_new = bool(flags & os.O_CREAT) and not path.exists()
        descriptor = super().open(path, flags)
        if is_new:
            self._change([], [(path, self.world.file())])
        self.open_files[descriptor] = (path, self._node(path))
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and flags & os.O_WRONLY and not is_new:
            self._node(path).content = b""  # overwrite() starts again from the first byte
        return descriptor

    def write(self, descriptor: int, content: bytes | memoryview) -> int:
        written = super().write(descriptor, content)
        node = self.open_files[descriptor][1]
        node.content = (node.content or b"") + bytes(content[:written])
        self._cut()
        return written

    def fsync(self, descriptor: int) -> None:
        super().fsync(descriptor)
        path, node = self.open_files[descriptor]
        if not self.forget(path):
            self._sync(node)
        self._cut()

    def sync_file_system(self, descriptor: int) -> None:
        super().sync_file_system(descriptor)
        if not self.forget(self.open_files[descriptor][0]):
            for node in self.world.files:
                self._sync(node)
            for change in self.world.changes:
                change.synced = True
        self._cut()

    def _sync(self, node: Node) -> None:
        if node.content is not None:
            node.on_disk = node.content
            return
        for change in self.world.changes:
            change.synced |= node in change.folders()

    def close(self, descriptor: int) -> None:
        self.open_files.pop(descriptor, None)
        super().close(descriptor)

    def mkdir(self, path: Path) -> None:
        super().mkdir(path)
        self._change([], [(path, Node(None))])

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._change([source], [(target, self._node(source))])

    def exchange(self, first: Path, second: Path) -> None:
        super().exchange(first, second)
        a, b = self._node(first), self._node(second)
        self._change([first, second], [(first, b), (second, a)])

    def unlink(self, path: Path | str) -> None:
        super().unlink(path)
        self._change([Path(path)], [])

    def rmdir(self, path: Path) -> None:
        super().rmdir(path)
        self._change([path], [])


@contextmanager
def using(disk: Disk) -> Iterator[None]:
    """Every durable call goes to this disk for the block's time."""
    before, durable.disk = durable.disk, disk
    try:
        yield
    finally:
        durable.disk = before


def materialise(tree: Mapping[str, bytes | None], folder: Path) -> None:
    """The tree as real files."""
    folder.mkdir()
    for path, content in sorted(tree.items()):
        if content is None:
            (folder / path).mkdir()
        else:
            (folder / path).write_bytes(content)
