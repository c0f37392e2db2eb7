"""Changed documents and broken links by folder: as many folders of the page tree as one can look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pyarrow.compute as pc

from ...artifacts.store.snapshot import Snapshot
from .document_changes import document_hashes

MOST_FOLDERS = 40
# How many unchanged documents weigh as much as a changed one, where folders are chosen.
_CHANGE = 20
# The part of a path that stands for files directly in a folder: no folder has an empty name.
_OWN = ""
_Counts = Counter[str]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder: its documents, what became of them, and how many of its links are broken.

    ``documents`` counts the removed ones too. A name that ends in ``*`` stands for files directly in the
    folder; ``others`` is how many folders a row stands for beside its own.
    """

    name: str
    documents: int
    added: int = 0
    changed: int = 0
    removed: int = 0
    links: int = 0
    broken: int = 0
    others: int = 0

    @property
    def weight(self) -> int:
        """Return how much there is to see."""
        return self.documents + _CHANGE * (self.added + self.changed + self.removed) + self.broken


@dataclass(slots=True)
class _Tree:
    """The counts of every folder, with all below it, and the folders directly in each."""

    counts: dict[str, _Counts]
    below: dict[str, set[str]]

    def add(self, path: tuple[str, ...], kind: str, count: int = 1) -> None:
        """Count a thing for the folders of the path; the last part is that of files directly in one."""
        for end in range(1, len(path) + 1):
            name = "/".join(path[:end])
            self.counts.setdefault(name, Counter())[kind] += count
            if end > 1:
                self.below.setdefault("/".join(path[: end - 1]), set()).add(name)

    def folder(self, name: str) -> Folder:
        """Return a folder with its counts."""
        return Folder(name, **self.counts[name])

    def is_leaf(self, folder: Folder) -> bool:
        """Return whether nothing more can be seen below the folder."""
        return len(self.below.get(folder.name, ())) == 0


def folder_changes(before: Snapshot | None, now: Snapshot) -> tuple[Folder, ...]:
    """Return the folders in which there is most to see, by name; a row of others stands for the rest."""
    tree = _Tree({}, {})
    for doc_id, kind in _kinds(before, now).items():
        path = _path(doc_id)
        tree.add(path, "documents")
        if kind and before is not None:
            tree.add(path, kind)
    for status, doc_id, count in _links(now):
        tree.add(_path(doc_id), "links", count)
        if status:
            tree.add(_path(doc_id), "broken", count)
    return _chosen(tree)


def _kinds(before: Snapshot | None, now: Snapshot) -> Mapping[str, str]:
    """Return what became of each document of either snapshot; one that moved is new where it is now."""
    old, new = document_hashes(before), document_hashes(now)
    kinds = {name: "" if old.get(name) == digest else "changed" for name, digest in new.items()}
    kinds |= dict.fromkeys(new.keys() - old.keys(), "added")
    return kinds | dict.fromkeys(old.keys() - new.keys(), "removed")


def _links(now: Snapshot) -> Iterable[tuple[bool, str, int]]:
    """Yield how many links of each document are whole and how many are broken."""
    table = now.table("links", ["source_id", "status"])
    broken = pc.starts_with(table.column("status"), "missing")
    counted = (
        table.set_column(1, "status", broken).group_by(["source_id", "status"]).aggregate([([], "count_all")])
    )
    columns = (counted.column(name).to_pylist() for name in ("status", "source_id", "count_all"))
    return zip(*columns, strict=True)


def _path(doc_id: str) -> tuple[str, ...]:
    collection, _, path = doc_id.partition(":")
    return (collection, *path.split("/")[:-1], _OWN)


def _chosen(tree: _Tree) -> tuple[Folder, ...]:
    """Open the folder in which there is most to see, again and again, while the result can be looked at."""
    roots = {name for name in tree.counts if "/" not in name}
    shown, rest = _bounded([tree.folder(name) for name in roots], MOST_FOLDERS)
    while openable := [each for each in shown if not tree.is_leaf(each)]:
        largest = max(openable, key=lambda each: (each.weight, each.name))
        parts = [tree.folder(name) for name in tree.below[largest.name]]
        others = [each for each in shown if each is not largest]
        kept, more = _bounded(parts, MOST_FOLDERS - len(others))
        if more and len(kept) < len(parts) / 2 and others:
            # Half of its folders would have no place: it is told as a whole.
            tree.below[largest.name] = set()
            continue
        shown, rest = [*others, *kept], [*rest, *more]
    ordered = sorted((_tidy(tree, each) for each in shown), key=lambda each: each.name)
    return (*ordered, _sum(rest)) if rest else tuple(ordered)


def _bounded(folders: Iterable[Folder], most: int) -> tuple[list[Folder], list[Folder]]:
    """Return the folders with most to see, and the others."""
    ordered = sorted(folders, key=lambda each: (-each.weight, each.name))
    return ordered[:most], ordered[most:]


def _tidy(tree: _Tree, folder: Folder) -> Folder:
    """Return the folder by the name that ids of its documents begin with."""
    collection, _, path = folder.name.partition("/")
    above = folder.name.rpartition("/")[0]
    own = "" if not path else "/"
    if folder.name.endswith("/"):
        own = "*" if len(tree.below.get(above, ())) > 1 else ""
    return replace(folder, name=f"{collection}:{path}{own}")


def _sum(folders: Iterable[Folder]) -> Folder:
    """Return one row for many folders."""
    some = list(folders)
    kinds = ("documents", "added", "changed", "removed", "links", "broken")
    sums = {kind: sum(getattr(each, kind) for each in some) for kind in kinds}
    return Folder("others", **sums, others=len(some))
