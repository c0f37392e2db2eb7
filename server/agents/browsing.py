"""The folders of a snapshot as a tree with counts, within a budget of tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from ...pipeline.errors import QueryError
from ...pipeline.printable import bounded, counted
from .arguments import ToolArguments
from .documents import SnapshotDocuments, one_line
from .references import nearest_names
from .token_counter import TokenCounter

_MOST_SHOWN = 120


@dataclass(slots=True)
class _Folder:
    """A folder: documents by their name, folders by theirs, and how many documents it holds in all."""

    path: str
    count: int = 0
    folders: dict[str, _Folder] = field(default_factory=dict)
    documents: list[str] = field(default_factory=list)


class FolderTree:
    """All folders of one snapshot that hold listed documents."""

    def __init__(self, documents: SnapshotDocuments) -> None:
        self._documents = documents
        self._root = _Folder("")
        self._by_path: dict[str, _Folder] = {"": self._root}
        for doc_id in documents.listed:
            self._add(doc_id)

    def _add(self, doc_id: str) -> None:
        collection, _, path = doc_id.partition(":")
        folder, place = self._root, ""
        folder.count += 1
        for name in [f"{collection}:", *(f"{part}/" for part in path.split("/")[:-1])]:
            place += name
            if name not in folder.folders:
                folder.folders[name] = self._by_path[place] = _Folder(place)
            folder = folder.folders[name]
            folder.count += 1
        folder.documents.append(doc_id)

    def find(self, text: str) -> _Folder:
        """Return a folder by ``collection:path``, or by its path in any collection if that is unique.

        Raise ``QueryError`` with the nearest folders.
        """
        wanted = text.strip().strip("/").removeprefix("./")
        for name in (wanted, f"{wanted}/", f"{wanted}:"):
            if name in self._by_path:
                return self._by_path[name]
        inside = [path for path in self._by_path if path.partition(":")[2] == f"{wanted}/"]
        if len(inside) == 1:
            return self._by_path[inside[0]]
        names = [name for name in self._by_path if name]
        nearest = inside or nearest_names(wanted, names)
        hint = f"Nearest: {', '.join(bounded(name, _MOST_SHOWN) for name in nearest)}"
        raise QueryError("there is no such folder", where=bounded(text, _MOST_SHOWN), hint=hint)

    def lines(self, folder: _Folder, depth: int, indent: str = "") -> Iterator[str]:
        """Yield what a folder holds, folders first, those within ``depth`` with what they hold."""
        for inner in folder.folders.values():
            yield f"{indent}{one_line(inner.path, 300)} ({inner.count:,})"
            if depth > 1:
                yield from self.lines(inner, depth - 1, f"{indent}  ")
        titles = self._documents.titles
        for doc_id in folder.documents:
            yield f"{indent}{one_line(doc_id, 1_000)} · {one_line(titles[doc_id], 80)}"


def browse(documents: SnapshotDocuments, tree: FolderTree, given: ToolArguments) -> str:
    """Answer the tool ``browse_docs``; raise ``QueryError`` for a folder that is not there."""
    folder, counter = tree.find(given.text("path")), documents.counter
    # From the top, straight to where there is a choice.
    while not given.text("path").strip() and len(folder.folders) == 1 and not folder.documents:
        folder = next(iter(folder.folders.values()))
    head = [f"Note: {note}" for note in given.notes]
    named = one_line(folder.path, 300) or "All collections"
    head.append(
        f"{named} ({counted(folder.count, 'document')}). Below: folder (documents in it), or ref · title."
    )
    room = given.number("max_tokens") - counter.count("\n".join([*head, _FOOT])) - 2
    lines = list(tree.lines(folder, given.number("depth")))
    return "\n".join([*head, *_fitting(lines, room, counter), _FOOT])


_FOOT = "Go on: browse_docs(path), read_doc(ref)."


def _fitting(lines: list[str], room: int, counter: TokenCounter) -> list[str]:
    """Return the first lines that fit into so many tokens with their ends, and how many more there are."""
    # A line and its end have two tokens at least: of a large snapshot's lines, few can fit.
    costs = [cost + 1 for cost in counter.counts(lines[: max(room, 0) // 2 + 1])]
    if len(costs) == len(lines) and sum(costs) <= room:
        return lines
    fitting = bisect_right(list(accumulate(costs)), room - counter.count(_more(len(lines))) - 1)
    return [*lines[:fitting], _more(len(lines) - fitting)]


def _more(count: int) -> str:
    return f"… {count:,} more: name a folder as path, or raise max_tokens."
