"""Locating judged documents in a snapshot: by their path, or by their id where no path is given."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath

from ...pipeline.errors import SourceError
from ...pipeline.model import DocId
from ..store.snapshot import Snapshot
from ..tables.parquet import tuples
from .reading import Judged


@dataclass(frozen=True, slots=True)
class DocumentOrigin:
    """The origin of a document of the snapshot."""

    doc_id: DocId
    collection: str
    path: str


@dataclass(frozen=True, slots=True)
class Located:
    """The snapshot's document of each judged one; ``missing`` lists those without one (sorted)."""

    doc_ids: Mapping[str, DocId]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Alignment:
    """``judged_prefix`` + p is a judged path where ``own_prefix`` + p is a path of the collection."""

    collection: str
    judged_prefix: str
    own_prefix: str

    @property
    def same_name(self) -> bool:
        """Return whether the folder that the judged paths are in has the collection's name."""
        return self.judged_prefix.rstrip("/").rsplit("/", 1)[-1] == self.collection


def places(snapshot: Snapshot) -> tuple[DocumentOrigin, ...]:
    """Return the origins of the snapshot's documents, in its order."""
    return tuple(
        DocumentOrigin(*row) for row in tuples(snapshot.table("documents", ["doc_id", "collection", "path"]))
    )


def locate(judged: Judged, documents: Sequence[DocumentOrigin]) -> Located:
    """Locate the judged documents among those of a snapshot.

    With paths, a judged path and a document's path must agree from some folder on. Which folder that is, is
    decided once per collection by the majority of its documents, so that one ``index.md`` is not taken for
    another. Without paths, the judged id is the document's id, its path with or without extension, or its
    file name. Raises ``SourceError`` if none is found.
    """
    found = _by_path(judged.paths, documents) if judged.paths else _by_id(judged, documents)
    missing = tuple(document for document in judged.documents if document not in found)
    if len(missing) == len(judged.documents):
        raise SourceError(
            f"none of the {len(missing)} judged documents is in the snapshot, for example {missing[0]!r}",
            where=judged.name,
            hint="Index the documents that the set was made for; docs.tsv maps a judged id to a path.",
        )
    return Located(found, missing)


def _by_path(paths: Mapping[str, str], documents: Sequence[DocumentOrigin]) -> dict[str, DocId]:
    by_collection: dict[str, dict[str, DocId]] = defaultdict(dict)
    for place in documents:
        by_collection[place.collection][place.path] = place.doc_id
    alignments = _alignments(paths.values(), documents)
    found: dict[str, DocId] = {}
    for document, path in paths.items():
        own = {each: _own_path(each, path) for each in alignments}
        there = [each for each in alignments if own[each] in by_collection[each.collection]]
        if (best := _best(there, path)) is not None:
            found[document] = by_collection[best.collection][own[best]]
    return found


def _own_path(alignment: _Alignment, path: str) -> str:
    """Return the path of a judged file within the collection, empty if it is outside."""
    inside = path.startswith(alignment.judged_prefix)
    return alignment.own_prefix + path.removeprefix(alignment.judged_prefix) if inside else ""


def _best(there: Sequence[_Alignment], path: str) -> _Alignment | None:
    """Return the alignment that shares most of the path, then one of the same name; none if it is a tie."""
    if not there:
        return None
    ranks = [(len(path) - len(each.judged_prefix), each.same_name) for each in there]
    best = max(ranks)
    return there[ranks.index(best)] if ranks.count(best) == 1 else None


def _alignments(paths: Iterable[str], documents: Sequence[DocumentOrigin]) -> tuple[_Alignment, ...]:
    """Return, per collection, the alignment that most judged paths support."""
    ending: dict[str, list[DocumentOrigin]] = defaultdict(list)
    whole: dict[str, list[DocumentOrigin]] = defaultdict(list)
    for place in documents:
        whole[place.path].append(place)
        for suffix in _suffixes(place.path):
            ending[suffix].append(place)
    votes: Counter[_Alignment] = Counter()
    for path in paths:
        for place in ending.get(path, ()):
            votes[_Alignment(place.collection, "", place.path.removesuffix(path))] += 1
        for suffix in _suffixes(path):
            for place in whole.get(suffix, ()) if suffix != path else ():
                votes[_Alignment(place.collection, path.removesuffix(suffix), "")] += 1
    best: dict[str, _Alignment] = {}
    for alignment in sorted(votes, key=lambda each: _preference(each, votes[each])):
        best.setdefault(alignment.collection, alignment)
    return tuple(best[name] for name in sorted(best))


def _preference(alignment: _Alignment, votes: int) -> tuple[int, bool, int, str]:
    prefix = alignment.judged_prefix + alignment.own_prefix
    return (-votes, not alignment.same_name, len(prefix), prefix)


def _suffixes(path: str) -> Iterator[str]:
    """Yield the path, then what is left of it as folders are removed from the front."""
    yield path
    while "/" in path:
        path = path.partition("/")[2]
        yield path


def _by_id(judged: Judged, documents: Sequence[DocumentOrigin]) -> dict[str, DocId]:
    """Return the documents by the first way of naming them in which each id names exactly one."""
    ways: list[dict[str, list[DocId]]] = [defaultdict(list) for _ in range(4)]
    for place in documents:
        path = PurePosixPath(place.path)
        names = (place.doc_id, place.path, str(path.with_suffix("")), path.stem)
        for way, name in zip(ways, names, strict=True):
            way[name].append(place.doc_id)
    wanted = {*judged.documents, *chain.from_iterable(judged.run.values())}
    found: dict[str, DocId] = {}
    for document in sorted(wanted):
        matches = (way.get(document, []) for way in ways)
        if (only := next((match for match in matches if match), [])) and len(only) == 1:
            found[document] = only[0]
    return found
