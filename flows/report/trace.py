"""Where a passage comes from and where it is: source file, commit, parser, vector row, page, snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.compute as pc

from ...artifacts.query.index.corpus import CorpusReader
from ...artifacts.store.snapshot import Snapshot, read_manifest
from ...artifacts.store.store import Store
from ...artifacts.tables.parquet import read_table
from ...docsite.incremental.previous import previous_site
from ...docsite.library import Library
from ...pipeline.discover import list_files
from ...pipeline.errors import ArtifactError, QueryError, RejectedDocument, SourceError
from ...pipeline.filesystems.object_files import objects_at
from ...pipeline.filesystems.opening import is_address
from ...pipeline.identity import sha256_hex
from ...pipeline.includes.source import read_source
from ...pipeline.model import SnapshotId
from ...pipeline.settings.collection import Collection
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile
from ...server.agents.documents import SnapshotDocuments
from ...server.agents.references import DocumentReference, References
from ..sources.git_history import commit_of

_PARSERS = {"markdown": "markdown-it-py"}


@dataclass(frozen=True, slots=True)
class TracedPassage:
    """A passage: its section, its bytes in the document's text, and the row of its vector."""

    passage_id: str
    section_id: str
    byte_start: int
    byte_end: int
    content_hash: str
    vector_row: int


@dataclass(frozen=True, slots=True)
class TracedFile:
    """A file and its SHA-256 now; ``is_same`` says whether that is what the snapshot was made from."""

    path: str
    sha256: str
    is_same: bool
    commit: str = ""


@dataclass(frozen=True, slots=True)
class HoldingSnapshot:
    """A snapshot with the document; ``is_same`` says whether its source was the same."""

    snapshot: str
    is_current: bool
    is_same: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """The lineage of a document, or of a passage of it; what is not known is empty."""

    snapshot: str
    doc_id: str
    path: str
    title: str
    url: str
    source_sha256: str
    syntax: str
    tools: Mapping[str, str]
    passages: tuple[TracedPassage, ...]
    source: TracedFile | None
    site_file: TracedFile | None
    snapshots: tuple[HoldingSnapshot, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the lineage as JSON prints it."""
        return asdict(self)


def trace(
    store: Store, name: str, settings: Settings, site: Path | None = None, snapshot: str | None = None
) -> Trace:
    """Trace a passage, a section, a document, an address or a path; raise ``QueryError`` with near names.

    ``settings`` say where collections lie; ``site`` is the folder of the site.
    """
    with store.open(None if snapshot is None else SnapshotId(snapshot)) as opened:
        row, passages, page = _located(opened, name, settings)
        tools = opened.manifest.tools
    parser = _PARSERS.get(row["syntax"], "")
    return Trace(
        snapshot=str(opened.id),
        doc_id=row["doc_id"],
        path=row["path"],
        title=row["title"],
        url=row["url"],
        source_sha256=row["sha256"],
        syntax=row["syntax"],
        tools={each: tools[each] for each in ("noctule", parser) if each in tools},
        passages=passages,
        source=traced_source(settings, row),
        site_file=_site_file(site, page),
        snapshots=_holding(store, row),
    )


def _located(
    snapshot: Snapshot, name: str, settings: Settings
) -> tuple[dict[str, str], tuple[TracedPassage, ...], str]:
    """Return the row of the document that a name means, the passages meant, and the document's page."""
    corpus = CorpusReader(snapshot)
    try:
        library = Library(snapshot, settings=settings.site)
        pages = {entry.page: entry.row for entry in library.entries}
        references = References(SnapshotDocuments(corpus))
        found = _found(references, name, pages, settings.site.base_url)
        columns = ["doc_id", "collection", "path", "title", "url", "sha256", "syntax"]
        row = snapshot.table("documents", columns).slice(found.row, 1).to_pylist()[0]
        return row, _passages(snapshot, row["doc_id"], found), library.by_id[row["doc_id"]].page
    finally:
        corpus.database.close()


def _found(references: References, name: str, pages: Mapping[str, int], base_url: str) -> DocumentReference:
    """Return what a name means: a page's file or address on this site first, else as ``References`` do."""
    address, _, slug = name.partition("#")
    page = unquote(address.removeprefix(base_url.rstrip("/"))).lstrip("/")
    for known in (page, f"{page.rstrip('/')}/index.html".lstrip("/")):
        if address and known in pages:
            return DocumentReference(pages[known], slug)
    return references.find(name)


def _passages(snapshot: Snapshot, doc_id: str, found: DocumentReference) -> tuple[TracedPassage, ...]:
    table = snapshot.table("passages", [*TracedPassage.__slots__, "doc_id", "ordinal"])
    table = table.filter(pc.equal(table.column("doc_id"), doc_id)).sort_by("ordinal")
    rows = [
        (each["ordinal"], TracedPassage(**{name: each[name] for name in TracedPassage.__slots__}))
        for each in table.to_pylist()
    ]
    if found.ordinal is not None:
        chosen = tuple(passage for ordinal, passage in rows if ordinal == found.ordinal)
    else:
        wanted = f"{doc_id}#{found.slug}" if found.slug else ""
        chosen = tuple(passage for _, passage in rows if not wanted or passage.section_id == wanted)
    if not chosen and (found.slug or found.ordinal is not None):
        names = ", ".join(dict.fromkeys(passage.section_id for _, passage in rows[:5]))
        raise QueryError("the document has no such passage", where=doc_id, hint=f"It has: {names}")
    return chosen


def traced_source(settings: Settings, row: Mapping[str, str]) -> TracedFile | None:
    """Return what a document is made of as it is now, if the settings say where its collection lies."""
    collection = settings.collections.get(row["collection"])
    if collection is None:
        return None
    if is_address(collection.root):
        return _at_address(collection, row)
    file = FoundFile(row["collection"], row["path"], str(Path(collection.root) / row["path"]), 0)
    digest = _digest(file, collection)
    if not digest and (generated := _generated(file, collection)) is not None:
        file, digest = generated, _digest(generated, collection)
    commit = ""
    with suppress(SourceError):
        commit = commit_of(Path(file.location), row["collection"]) if digest else ""
    return TracedFile(file.location, digest, digest == row["sha256"], commit)


def _digest(file: FoundFile, collection: Collection) -> str:
    """Return the hash of what a document is made of now, as the index has it; empty if it cannot be read."""
    with suppress(RejectedDocument, SourceError):
        return read_source(file, collection).sha256
    return ""


def _generated(file: FoundFile, collection: Collection) -> FoundFile | None:
    """Return the file that a generated page is made of: a module, or what describes a category."""
    with suppress(SourceError):
        listed = list_files(file.collection, collection).files
        return next((each for each in listed if each.path == file.path), None)
    return None


def _at_address(collection: Collection, row: Mapping[str, str]) -> TracedFile:
    """Return the file at the collection's address as it is now; none is found while that is away."""
    digest, where = "", f"{collection.root.rstrip('/')}/{row['path']}"
    with suppress(SourceError):
        if (state := objects_at(collection.root).state(row["path"])) is not None:
            file = FoundFile(row["collection"], row["path"], state.key, state.size, version=state.version)
            digest = _digest(file, collection)
    return TracedFile(where, digest, digest == row["sha256"])


def _site_file(site: Path | None, page: str) -> TracedFile | None:
    """Return the page in the site's folder, and whether it is as the build wrote it."""
    if site is None or not site.is_dir():
        return None
    with previous_site(site.resolve()) as previous:
        known = previous.by_path.get(page)
        if known is None:
            return None
        content = previous.read(known)
        return TracedFile(
            str(site / page),
            sha256_hex(content or b""),
            previous.proves(known),
        )


def _holding(store: Store, row: Mapping[str, str]) -> tuple[HoldingSnapshot, ...]:
    """Return the snapshots whose documents have this name; those that are damaged are left out."""
    holding = []
    for info in store.snapshots():
        folder = store.path_of(info.snapshot_id)
        with suppress(ArtifactError):
            read_manifest(folder, info.snapshot_id)
            table = read_table(folder / "documents.parquet", ["doc_id", "sha256"])
            at = pc.index(table.column("doc_id"), row["doc_id"]).as_py()
            if at >= 0:
                same = table.column("sha256")[at].as_py() == row["sha256"]
                holding.append(HoldingSnapshot(str(info.snapshot_id), info.current, same))
    return tuple(holding)
