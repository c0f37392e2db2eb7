"""The records of a manifest: files, models, index and shards, read from JSON and validated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...pipeline.model import SnapshotId
from .json_fields import Fields, WrongField
from .layout import QUERY_MODEL_FILES

_MAX_DIMENSION = 65_536
_MAX_LISTS = 1 << 20
_MAX_TOKENS = 1 << 20
_MAX_SHARDS = 4096
_INDEX_KIND = re.compile(r"flat|ivf")
_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
SHARD_NAME = re.compile(r"[0-9]{4}")
_SNAPSHOT_ID = re.compile(r"[0-9a-f]{20}")
# A model is looked for by this name: it must not be a path.
_MODEL_NAME = re.compile(r"[^/.~][^/]*(?:/[^/.~][^/]*)?")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file: its size, its SHA-256 and, for a table, its rows."""

    bytes: int
    sha256: str
    rows: int | None = None
    unknown: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The embedding model that made the vectors; ``sha256`` is of its weights."""

    name: str
    sha256: str
    dimension: int
    precision: str
    unknown: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueryModel:
    """The embedding model as readers encode queries with it: exported to ONNX, with its tokenizer.

    ``files`` are kept once a store, by their SHA-256, beside the snapshots; there are none of a model that
    could not be exported, and no vectors of tokens by an older noctule. ``exporter`` names the libraries that
    made them.
    """

    exporter: str
    max_tokens: int
    query_prompt: str
    files: Mapping[str, FileEntry]
    unknown: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """How the FAISS index keeps the vectors: ``flat`` is exact, ``ivf`` keeps lists by nearest centroid.

    ``code_bytes`` is the size of one vector; a query reads ``nprobe`` of ``nlist`` lists, and found
    ``recall_per_mille`` of the 1,000 nearest when that was measured. An exact index has one list.
    """

    kind: str
    code_bytes: int
    nlist: int = 1
    nprobe: int = 1
    recall_per_mille: int = 1000
    unknown: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """A shard of a set: its name, which is that of its store's folder, its snapshot there, and its size."""

    name: str
    snapshot: SnapshotId
    documents: int
    passages: int
    vectors: int
    unknown: Mapping[str, object] = field(default_factory=dict)


def read_entry(name: str, item: object) -> FileEntry:
    """Return the record of a file; raises ``WrongField``."""
    if not _FILE_NAME.fullmatch(name):
        raise WrongField(f"{name!r:.80} is not a file name")
    value = Fields(item, f"files.{name}.")
    size, sha256 = value.number("bytes"), value.text("sha256", _SHA256)
    rows = value.number("rows") if "rows" in value.rest else None
    return FileEntry(bytes=size, sha256=sha256, rows=rows, unknown=value.rest)


def read_model(value: Fields) -> ModelRecord:
    """Return the record of the embedding model; raises ``WrongField``."""
    return ModelRecord(
        name=value.text("name", _MODEL_NAME),
        sha256=value.text("sha256"),
        dimension=value.number("dimension", 1, _MAX_DIMENSION),
        precision=value.text("precision"),
        unknown=value.rest,
    )


def read_query_model(value: Fields) -> QueryModel:
    """Return the record of the model that encodes queries; raises ``WrongField``."""
    files = {name: read_entry(name, item) for name, item in sorted(value.inner("files").rest.items())}
    if files and sorted(files) != sorted(QUERY_MODEL_FILES):
        raise WrongField(f"query_model.files are not {', '.join(QUERY_MODEL_FILES)}")
    return QueryModel(
        exporter=value.text("exporter"),
        max_tokens=value.number("max_tokens", 1, _MAX_TOKENS),
        query_prompt=value.prompt("query_prompt"),
        files=files,
        unknown=value.rest,
    )


def read_shards(value: Fields) -> tuple[ShardRecord, ...]:
    """Return the shards of a set, none for a whole snapshot; raises ``WrongField``."""
    if "shards" not in value.rest:
        return ()
    given = value.rest.pop("shards")
    if not isinstance(given, list) or not 0 < len(given) <= _MAX_SHARDS:
        raise WrongField(f"shards is not a list of 1 to {_MAX_SHARDS}")
    found = tuple(_shard(Fields(item, f"shards.{at}.")) for at, item in enumerate(given))
    names = [each.name for each in found]
    if names != sorted(set(names)):
        raise WrongField("shards are not unique and sorted by name")
    return found


def _shard(value: Fields) -> ShardRecord:
    return ShardRecord(
        name=value.text("name", SHARD_NAME),
        snapshot=SnapshotId(value.text("snapshot", _SNAPSHOT_ID)),
        documents=value.number("documents"),
        passages=value.number("passages"),
        vectors=value.number("vectors"),
        unknown=value.rest,
    )


def read_index_record(value: Fields) -> IndexRecord:
    """Return the record of the FAISS index; raises ``WrongField``."""
    nlist = value.number("nlist", 1, _MAX_LISTS)
    return IndexRecord(
        kind=value.text("kind", _INDEX_KIND),
        code_bytes=value.number("code_bytes", 1, 4 * _MAX_DIMENSION),
        nlist=nlist,
        nprobe=value.number("nprobe", 1, nlist),
        recall_per_mille=value.number("recall_per_mille", 0, 1000),
        unknown=value.rest,
    )
