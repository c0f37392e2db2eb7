"""Records what a run does to the disk, and what a power cut at any point of it could leave.

Before every flush, and at the end, the recording asks ``disk_model`` for the trees that a power cut could
leave then: earlier ones leave nothing else, for between two flushes there is only more to lose.
"""

from __future__ import annotations

import itertools
import os
import random
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noctule.artifacts.disk import durable
from noctule.artifacts.disk.system_calls import Disk
from tests.crash.disk_model import Change, Entry, Node, Tree, World
from tests.crash.failing_disk import InterceptedDisk
from tests.repetitions import POWER_CUTS

FEW = min(20, POWER_CUTS)
"""As many, where one bad tree has to be found, or only what a power cut in the end leaves matters."""

_EXHAUSTIVE_UP_TO = 256
FLUSHES = {"fsync", "sync_file_system"}
Seen = frozenset[tuple[str, bytes | None]]


def is_for_readers(path: str) -> bool:
    """Return whether readers of a store look at it: not what waits under a hidden name."""
    return "/." not in f"/{path}"


@dataclass(frozen=True)
class Flush:
    """A flush of a recorded run: the number among them, and what was flushed."""

    number: int
    path: Path


class RecordingDisk(InterceptedDisk):
    """Does everything for real, and keeps what a power cut on the way could have left.

    A walk before and after each call finds what changed, so that changes by other libraries, which do not go
    through the disk, are recorded too. A flush that ``forget`` names is not made.
    """

    def __init__(
        self,
        root: Path,
        forget: Callable[[Flush], bool] = lambda _: False,
        sees: Callable[[str], bool] = is_for_readers,
        keep: int = 0,
        samples: int = POWER_CUTS,
    ) -> None:
        self._base, self._forget, self._sees, self._keep = root, forget, sees, keep
        self.samples = samples
        self._chance = random.Random(9)
        self._nodes: dict[int, Node] = {}
        self._names: dict[Node, dict[str, Node]] = {}
        self._paths: dict[int, Path] = {}
        self.world = World()
        self.seen: dict[Seen, dict[str, bytes | None]] = {}
        self.kept: list[Tree] = []
        self.made = 0
        self.flushes: list[Flush] = []
        self.calls = Counter[str]()
        self.order: list[str] = []
        self.world.root = self._node_of(root.stat())
        self._notice()
        self.world.flush_all()

    def trees(self) -> list[dict[str, bytes | None]]:
        """The distinct trees so far, as those see them who ``sees`` stands for."""
        return list(self.seen.values())

    def cut_at_the_end(self) -> None:
        """Forget what was seen so far, and keep what a power cut now could leave, with all samples."""
        self.seen.clear()
        self.samples = POWER_CUTS
        self.cut()

    def cut(self) -> None:
        """Keep what a power cut now could leave."""
        self._notice()
        for tree in self.world.trees(max(_EXHAUSTIVE_UP_TO, self.samples), self.samples, self._chance):
            self.made += 1
            visible = {path: entry.content for path, entry in tree.items() if self._sees(path)}
            self.seen.setdefault(frozenset(visible.items()), visible)
            self._keep_some(tree)

    def _keep_some(self, tree: Tree) -> None:
        """Keep a sample of whole trees, each as likely as any other."""
        if len(self.kept) < self._keep:
            self.kept.append(tree)
        elif (at := self._chance.randrange(self.made)) < self._keep:
            self.kept[at] = tree

    def _call(self, name: str, method: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        self.calls[name] += 1
        self.order += [name] * (name != "close")
        self._notice()
        if name in FLUSHES:
            self.cut()
            self._flush(name, arguments[0])
            return None  # the model is what flushes; a real flush only takes time
        result = method(*arguments)
        if name == "open":
            self._paths[result] = arguments[0]
        self._notice(in_one_step=True)
        return result

    def _flush(self, name: str, descriptor: int) -> None:
        flush = Flush(len(self.flushes), self._paths[descriptor])
        self.flushes.append(flush)
        if self._forget(flush):
            return
        if name == "sync_file_system":
            self.world.flush_all()
        else:
            self.world.flush(self._nodes[os.fstat(descriptor).st_ino])

    def _notice(self, in_one_step: bool = False) -> None:
        """Record what is not as it was at the last look."""
        away: list[tuple[Node, str, Node]] = []
        put: list[tuple[Node, str, Node]] = []
        before, self._names = self._names, {}
        live = {self.world.root, *before, *itertools.chain.from_iterable(n.values() for n in before.values())}
        self._nodes = {number: node for number, node in self._nodes.items() if node in live}
        self._look(self._base, self.world.root, before)
        for folder in {**before, **self._names}:
            old, new = before.get(folder, {}), self._names.get(folder, {})
            away += [(folder, name, node) for name, node in old.items() if new.get(name) is not node]
            put += [(folder, name, node) for name, node in new.items() if old.get(name) is not node]
        if in_one_step and (away or put):
            self.world.changes.append(Change(tuple(away), tuple(put)))
        elif not in_one_step:
            self.world.changes += [Change((each,), ()) for each in away]
            self.world.changes += [Change((), (each,)) for each in put]

    def _look(self, folder: Path, node: Node, before: Mapping[Node, Mapping[str, Node]]) -> None:
        names: dict[str, Node] = {}
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            found = entry.stat(follow_symlinks=False)
            known = before.get(node, {}).get(entry.name)
            names[entry.name] = self._node_of(found, known)
            if entry.is_dir(follow_symlinks=False):
                self._look(Path(entry.path), names[entry.name], before)
            elif names[entry.name].mtime_ns != found.st_mtime_ns or _size(names[entry.name]) != found.st_size:
                names[entry.name].content = Path(entry.path).read_bytes()
                names[entry.name].mtime_ns = found.st_mtime_ns
        self._names[node] = names

    def _node_of(self, found: os.stat_result, known: Node | None = None) -> Node:
        node = self._nodes.get(found.st_ino)
        is_folder = stat.S_ISDIR(found.st_mode)
        if node is None or not _is_same(node, found, known, is_folder):
            node = self._nodes[found.st_ino] = Node(None if is_folder else b"")
            if not is_folder:
                self.world.files.append(node)
        return node


def _is_same(node: Node, found: os.stat_result, known: Node | None, is_folder: bool) -> bool:
    """Return whether it is that node, and not another that got the number of a removed one."""
    if is_folder or node.content is None:
        return is_folder and node.content is None
    return node is known or (found.st_mtime_ns, found.st_size) == (node.mtime_ns, _size(node))


def _size(node: Node) -> int:
    return len(node.content or b"")


class Killed(BaseException):
    """Ends a run at once."""


class KilledOnce(RecordingDisk):
    """Ends a run before its n-th call; of the next one it makes every call."""

    def __init__(
        self, root: Path, nth: int, sees: Callable[[str], bool] = is_for_readers, samples: int = POWER_CUTS
    ) -> None:
        super().__init__(root, sees=sees, samples=samples)
        self._left, self._is_dead = nth, False

    def _call(self, name: str, method: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        if name != "close":  # a killed process closes everything
            self._left -= 1
            self._is_dead |= self._left == 0
            if self._is_dead:
                raise Killed
        return super()._call(name, method, arguments)

    def revive(self) -> None:
        self._is_dead = False


@contextmanager
def using(disk: Disk) -> Iterator[None]:
    """Every durable call goes to this disk for the block's time."""
    before, durable.disk = durable.disk, disk
    try:
        yield
    finally:
        durable.disk = before


def materialise(tree: Mapping[str, bytes | None] | Tree, folder: Path) -> None:
    """The tree as real files; names of one file stay names of one file, and files keep their times."""
    folder.mkdir()
    first: dict[Node, Path] = {}
    for name, found in sorted(tree.items()):
        path, content = folder / name, found.content if isinstance(found, Entry) else found
        if content is None:
            path.mkdir()
        elif isinstance(found, Entry) and found.node in first:
            path.hardlink_to(first[found.node])
        else:
            path.write_bytes(content)
            if isinstance(found, Entry):
                first[found.node] = path
    for node, path in first.items():
        os.utime(path, ns=(node.mtime_ns, node.mtime_ns))
