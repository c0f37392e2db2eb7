"""Verification of a snapshot: its structure quickly, or every byte and every reference in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.errors import NoctuleError, machine_refusals, reports_transient
from ...pipeline.identity import read_front_matter_json, sha256_hex
from ...pipeline.model import SnapshotId
from ..disk.layout import (
    CATALOG,
    FAISS_INDEX,
    MANIFEST,
    SET_TABLES,
    SNAPSHOTS,
    TABLES,
    is_held_open,
    table_file,
)
from ..disk.manifest import Manifest, damaged
from ..disk.manifest import unreadable as unreadable_now
from ..tables import invariants
from ..tables.names import NAMES
from ..tables.parquet import group_rows, open_file, read_group, read_outside_memory, read_table, tuples
from ..tables.schemas import schemas
from ..tables.vectors import first_strange_row, read_index
from .shard_set import require_of_set, shard_store
from .signature import SIGNATURE
from .snapshot import Snapshot, read_manifest, require_names, unreadable, verify_files, verify_sizes

# Of text only the length is checked, and the two columns of vectors are compared separately.
_UNREAD = {
    "documents": {"html", "front_matter", "description", "title", "url", "keywords", "tags", "aliases"},
    "sections": {"body", "title", "breadcrumb", "slug"},
    "passages": {"text", "code", "breadcrumb", "headings"},
    "code_blocks": {"text", "language"},
    "links": {"text", "target", "fragment"},
    "assets": {"content"},
    "report": {"reason"},
}


def check_structure(path: Path, expected_id: SnapshotId | None = None) -> Manifest:
    """Return the manifest if every file it lists is there with its size; raises ``DamagedSnapshot``."""
    manifest = read_manifest(path, expected_id)
    verify_sizes(path, manifest.files)
    return manifest


def check_deep(
    path: Path, expected_id: SnapshotId | None = None, *, spill: Path | None = None, shards: bool = True
) -> None:
    """Verify that every byte is as published and every reference holds.

    Of a set all ``shards`` are verified too, unless that was done just before. Tables are read into memory,
    or where ``spill`` is given into files without a name in that folder. Raises ``DamagedSnapshot`` naming
    the file, what was expected and what was found; ``UnsupportedFormat`` for a newer snapshot, ``NoSnapshot``
    if there is none, ``WriteFailed`` if there is no room for the files.
    """
    try:
        _check(path, expected_id, spill, shards=shards)
    except OSError as error:
        raise unreadable(path, error) from error


def _check(path: Path, expected_id: SnapshotId | None, spill: Path | None, *, shards: bool) -> None:
    manifest = read_manifest(path, expected_id)
    verify_files(path, manifest.files)
    _no_extra_files(path, manifest)
    for table in SET_TABLES if manifest.shards else TABLES:
        _schema_and_rows(path / table_file(table), table, manifest)
    if manifest.shards:
        _check_set(path, manifest, spill, shards=shards)
        return
    _catalog_reads_nothing_else(path / CATALOG, manifest)
    tables = {table: _read(path, table, spill) for table in TABLES}
    documents = path / table_file("documents")
    with _contradictions(path):
        require_names("documents", read_table(documents, NAMES), manifest, documents)
        _front_matter_is_read(documents)
        require_names("assets", tables["assets"], manifest, path / table_file("assets"))
        for problem in invariants.problems(_alone(tables) if manifest.shard else tables):
            raise damaged(problem.what, path / table_file(problem.table))
        for postings, terms in (("postings", "terms"), ("code_postings", "code_terms")):
            _row_groups(path / table_file(postings), tables[terms], path / table_file(terms))
    _assets_are_their_hashes(path / table_file("assets"))
    _index_equals_table(path, tables["vectors"], manifest)


def _front_matter_is_read(documents: Path) -> None:
    """Raise ``DamagedSnapshot`` for a document's front matter that is not a JSON object."""
    column = read_table(documents, ["front_matter"])["front_matter"]
    for stored in pc.unique(pc.drop_null(column)).to_pylist():
        read_front_matter_json(stored)


def _check_set(path: Path, manifest: Manifest, spill: Path | None, *, shards: bool) -> None:
    """Check the tables of a set, and each of its shards with what only the set can know of it."""
    tables = {table: _read(path, table, spill) for table in SET_TABLES}
    with _contradictions(path):
        for problem in invariants.problems_of_set(tables):
            raise damaged(problem.what, path / table_file(problem.table))
    stores = path.parent.parent
    for record in manifest.shards:
        folder = shard_store(stores, record.name) / SNAPSHOTS / record.snapshot
        if shards:
            check_deep(folder, record.snapshot, spill=spill)
        found = read_manifest(folder, record.snapshot)
        require_of_set(folder, found, record, manifest)
    folders = [shard_store(stores, each.name) / SNAPSHOTS / each.snapshot for each in manifest.shards]
    _links_lead_to_documents(path, folders)
    for table in ("terms", "code_terms"):
        _statistics_are_of_shards(path / table_file(table), tables[table], folders)


def _links_lead_to_documents(path: Path, folders: Sequence[Path]) -> None:
    """Raise ``DamagedSnapshot`` for a link of a shard whose target is in none of the set."""
    names = [read_table(folder / table_file("documents"), ["doc_id"])["doc_id"] for folder in folders]
    every = pa.chunked_array([chunk for name in names for chunk in name.chunks], pa.string())
    if len(pc.unique(every)) < len(every):
        raise damaged("two of its shards hold the same document", path)
    for folder in folders:
        targets = pc.drop_null(read_table(folder / table_file("links"), ["target_id"])["target_id"])
        known = pc.is_in(targets, value_set=every.combine_chunks())
        if not pc.all(known, min_count=0).as_py():
            lost = targets.filter(pc.invert(known))[0].as_py()
            raise damaged(
                f"a link leads to {lost!r:.200}, which no shard holds", folder / table_file("links")
            )


def _statistics_are_of_shards(path: Path, terms: pa.Table, folders: Sequence[Path]) -> None:
    """Raise ``DamagedSnapshot`` unless a set's terms, and their best scores, are those of its shards."""
    shards = pa.concat_tables([read_table(each / path.name, ["term", "max_score"]) for each in folders])
    best = shards.group_by("term").aggregate([("max_score", "max")]).sort_by("term")
    own = terms.select(["term", "max_score"]).sort_by("term")
    for column, name in (("term", "term"), ("max_score_max", "max_score")):
        if not best[column].combine_chunks().equals(own[name].combine_chunks()):
            raise damaged("these statistics do not belong to the set: its shards have others", path)


def _alone(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return the tables of a shard without targets in other shards, of which only its set knows."""
    links = tables["links"]
    here = pc.is_in(links["target_id"], value_set=tables["documents"]["doc_id"].combine_chunks())
    elsewhere = pc.and_(pc.is_valid(links["target_id"]), pc.invert(here))
    return {**tables, "links": links.filter(pc.invert(elsewhere))}


@contextmanager
def _contradictions(path: Path) -> Iterator[None]:
    """Raise ``DamagedSnapshot`` where a rule cannot even be computed, as with a null in a list of numbers."""
    try:
        yield
    except (ValueError, LookupError, TypeError, ArithmeticError, pa.ArrowException) as error:
        what = f"its tables do not fit together: {type(error).__name__}: {str(error)[:200]}"
        raise damaged(what, path) from error


@contextmanager
def blaming(snapshot: Snapshot) -> Iterator[None]:
    """Raise ``DamagedSnapshot`` in place of an unexpected error in the block, if the snapshot is the cause.

    Where the machine refuses a thread or a file, ``OutOfResources`` is raised, and nothing is blamed.
    Reading checks hashes, schemas and ranges, but not every reference, which would take seconds.
    """
    try:
        with machine_refusals(str(snapshot.path)):
            yield
    except NoctuleError:
        raise
    except Exception as error:
        if reports_transient(error):
            raise unreadable_now(error, snapshot.path) from error
        check_deep(snapshot.path, snapshot.id)
        raise


def _no_extra_files(path: Path, manifest: Manifest) -> None:
    known = {*manifest.files, MANIFEST, SIGNATURE}
    names = [found.name for found in path.iterdir() if not is_held_open(found.name)]
    extra = sorted(set(names) - known)
    if extra:
        raise damaged(f"the manifest does not list it; {len(extra)} such files", path / extra[0])


def _catalog_reads_nothing_else(path: Path, manifest: Manifest) -> None:
    """Check the text that people run in a DuckDB of their own; an older noctule wrote it differently."""
    from ..sql.catalog import catalog, reason_to_refuse

    text = path.read_bytes().decode("utf-8", "replace")
    if text != catalog(manifest.model.dimension, manifest.languages):
        why = reason_to_refuse(path.parent, text)
        if why:
            raise damaged(why, path)


def _schema_and_rows(path: Path, table: str, manifest: Manifest) -> None:
    open_file(path, schemas(manifest.model.dimension)[table], manifest.files[path.name].rows).close()


def _read(path: Path, table: str, spill: Path | None) -> pa.Table:
    unread = _UNREAD.get(table, set())
    with open_file(path / table_file(table)) as file:
        wanted = [name for name in file.schema_arrow.names if name not in unread]
    if spill is not None:
        return read_outside_memory(path / table_file(table), wanted, spill)
    return read_table(path / table_file(table), wanted)


def _row_groups(path: Path, terms: pa.Table, terms_path: Path) -> None:
    sizes = group_rows(path)
    expected = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    found = terms["row_group"].to_numpy()
    wrong = np.flatnonzero(expected != found)
    if len(wrong):
        row = int(wrong[0])
        what = f"row {row}: expected row_group {expected[row]} of {path.name}, found {found[row]}"
        raise damaged(what, terms_path)


def _assets_are_their_hashes(path: Path) -> None:
    """Read every image and attachment, a row group at a time."""
    with open_file(path) as file:
        for group in range(file.num_row_groups):
            rows = read_group(file, group, path, ["path", "asset_id", "bytes", "content"])
            for name, expected, size, content in tuples(rows):
                if len(content) != size or sha256_hex(content) != expected:
                    raise damaged(f"{name!r:.200}: its content is not what its hash and size say", path)


def _index_equals_table(path: Path, vectors: pa.Table, manifest: Manifest) -> None:
    index = read_index(path / FAISS_INDEX, vectors.num_rows, manifest.model.dimension, manifest.index)
    for start, rows in invariants.vector_blocks(vectors["vector"], manifest.model.dimension):
        row = first_strange_row(index, rows, start)
        if row is not None:
            raise damaged(f"row {row} is not that of {table_file('vectors')}", path / FAISS_INDEX)
