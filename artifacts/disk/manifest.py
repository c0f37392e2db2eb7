"""The manifest of a snapshot: sizes and SHA-256 of its files, what shaped it, and so its identity.

Pure functions from bytes to validated records. Fields that this version does not know are kept, so that
reading and rewriting a manifest changes no byte; it contains no time, host or path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from ...pipeline.errors import ArtifactError, DamagedSnapshot, UnsupportedFormat
from ...pipeline.identity import canonical_json, sha256_hex
from ...pipeline.lexical.analyzer import STEMMERS, UNSTEMMED
from ...pipeline.model import SnapshotId
from .json_fields import Fields, WrongField, json_object
from .layout import FILES, FORMAT_VERSION, SET_FILES
from .manifest_records import (
    SHARD_NAME,
    FileEntry,
    IndexRecord,
    ModelRecord,
    QueryModel,
    ShardRecord,
    read_entry,
    read_index_record,
    read_model,
    read_query_model,
    read_shards,
)

MAX_MANIFEST_BYTES = 1_000_000
_MAX_FILES = 100
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SEVERAL_DOCUMENTS = 100
_WITHOUT = "passages_without_headings"
# Values that are left out of a record.
_MISSING = {"rows": None, "query_model": None, "shards": (), "shard": "", _WITHOUT: 0}
_LANGUAGES = frozenset({*STEMMERS, UNSTEMMED})


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything a reader must know before it opens a file of the snapshot.

    ``query_model`` is missing from snapshots of an older noctule. A snapshot with ``shards`` is a set of
    others, which hold its documents; ``shard`` is the name of one that is part of a set, and else empty.
    ``passages_without_headings`` counts those of documents without any heading, 0 by an older noctule.
    """

    format_version: int
    files: Mapping[str, FileEntry]
    counts: Mapping[str, int]
    settings_sha256: str
    settings: Mapping[str, object]
    model: ModelRecord
    index: IndexRecord
    analyzer: Mapping[str, str]
    tools: Mapping[str, str]
    query_model: QueryModel | None = None
    shards: tuple[ShardRecord, ...] = ()
    shard: str = ""
    passages_without_headings: int = 0
    unknown: Mapping[str, object] = field(default_factory=dict)

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the documents, in each of which a query's words are analysed."""
        return tuple(self.analyzer["languages"].split(","))

    @property
    def mostly_without_headings(self) -> bool:
        """Return whether most passages are of documents without headings, as abstracts and short notes are.

        Not of a small collection, of which the best documents are too large a part to tell anything.
        """
        most = 2 * self.passages_without_headings > self.counts.get("passages", 0)
        return most and self.counts.get("documents", 0) >= _SEVERAL_DOCUMENTS

    def to_bytes(self) -> bytes:
        """Return canonical JSON and a newline."""
        value = _plain(self) | {
            "files": {name: _plain(entry) for name, entry in self.files.items()},
            "model": _plain(self.model),
            "index": _plain(self.index),
        }
        if self.query_model is not None:
            files = {name: _plain(entry) for name, entry in self.query_model.files.items()}
            value["query_model"] = _plain(self.query_model) | {"files": files}
        if self.shards:
            value["shards"] = [_plain(each) for each in self.shards]
        return canonical_json(value).encode() + b"\n"

    def snapshot_id(self) -> SnapshotId:
        """Return the name of the snapshot with this manifest."""
        return snapshot_id(self.to_bytes())

    @staticmethod
    def from_bytes(content: bytes, where: str) -> Manifest:
        """Parse a manifest; raises ``UnsupportedFormat`` or ``DamagedSnapshot``, both naming ``where``."""
        try:
            value = Fields(json_object(content, MAX_MANIFEST_BYTES))
            _check_version(value, where)
            manifest = _manifest(value)
            _cross_check(manifest, content)
        except WrongField as wrong:
            raise damaged(f"not a sound manifest: {wrong}", where) from None
        return manifest


def damaged(what: str, where: Path | str) -> DamagedSnapshot:
    """Return the error for a file of a snapshot that is not what it should be."""
    return DamagedSnapshot(what, where=str(where), hint="Go back: noctule rollback")


def unreadable(error: Exception, where: Path | str) -> ArtifactError:
    """Return the error for a file that the machine cannot read now, which says nothing about its bytes."""
    what = f"this machine cannot read it now: {getattr(error, 'strerror', None) or error}"
    return ArtifactError(
        what, where=str(where), hint="Look at memory, open files and the disk; then try again."
    )


def snapshot_id(content: bytes) -> SnapshotId:
    """Return the name of the snapshot whose manifest has these bytes."""
    return SnapshotId(sha256_hex(content)[:20])


def _plain(
    noun: FileEntry | ModelRecord | QueryModel | IndexRecord | ShardRecord | Manifest,
) -> dict[str, object]:
    known = {f.name: getattr(noun, f.name) for f in fields(noun) if f.name != "unknown"}
    for optional, missing in _MISSING.items():
        if known.get(optional, 1) == missing:
            del known[optional]
    return {**noun.unknown, **known}


def _check_version(value: Fields, where: str) -> None:
    version = value.rest.get("format_version")
    if type(version) is not int or version < 1 or version == FORMAT_VERSION:
        return
    if version > FORMAT_VERSION:
        what = f"the snapshot has format {version}; this noctule reads {FORMAT_VERSION}"
        hint = "Update noctule, or build a snapshot with this one: noctule index"
    else:
        what = f"the snapshot has format {version}, of an older noctule; this one reads {FORMAT_VERSION}"
        hint = "Build it again, vectors are reused: noctule index"
    raise UnsupportedFormat(what, where=where, hint=hint)


def _manifest(value: Fields) -> Manifest:
    return Manifest(
        format_version=value.number("format_version", 1, FORMAT_VERSION),
        files={name: read_entry(name, item) for name, item in sorted(value.inner("files").rest.items())},
        counts=value.numbers("counts"),
        settings_sha256=value.text("settings_sha256", _SHA256),
        settings=_settings(value.inner("settings").rest),
        model=read_model(value.inner("model")),
        index=read_index_record(value.inner("index")),
        analyzer=_analyzer(value.texts("analyzer")),
        tools=value.texts("tools"),
        query_model=read_query_model(value.inner("query_model")) if "query_model" in value.rest else None,
        shards=read_shards(value),
        shard=value.text("shard", SHARD_NAME) if "shard" in value.rest else "",
        passages_without_headings=value.number(_WITHOUT, 1) if _WITHOUT in value.rest else 0,
        unknown=value.rest,
    )


def _analyzer(value: dict[str, str]) -> dict[str, str]:
    """Return the record of the analyzer, whose languages become part of SQL."""
    if "languages" not in value:
        raise WrongField("analyzer.languages is missing")
    given = value["languages"].split(",")
    unknown = sorted(set(given) - _LANGUAGES)
    if unknown:
        raise WrongField(
            f"analyzer.languages names {unknown[0]!r:.80}, which is not a language of the analyzer"
        )
    if len(set(given)) < len(given):
        raise WrongField("analyzer.languages names a language twice")
    return value


def _settings(value: dict[str, object]) -> dict[str, object]:
    """Return the settings, whose collections give every hit its address."""
    if not isinstance(value.get("embed", {}), dict):
        raise WrongField("settings.embed is not an object")
    if "collections" not in value:
        return value
    from ...pipeline.settings.settings import COLLECTION_NAME, recorded_addresses

    names = value["collections"]
    if not isinstance(names, dict) or not all(COLLECTION_NAME.fullmatch(name) for name in names):
        raise WrongField("settings.collections names what is not a collection's name")
    try:
        recorded_addresses(value)
    except (ValueError, KeyError, TypeError) as error:
        raise WrongField(
            f"settings.collections has an address that cannot be: {' '.join(str(error).split())[:200]}"
        ) from None
    return value


def _cross_check(manifest: Manifest, content: bytes) -> None:
    missing = sorted(set(SET_FILES if manifest.shards else FILES) - manifest.files.keys())
    if missing:
        raise WrongField(f"it lists no {', '.join(missing)}")
    if len(manifest.files) > _MAX_FILES:
        raise WrongField(f"it lists over {_MAX_FILES} files")
    without_rows = sorted(n for n, e in manifest.files.items() if n.endswith(".parquet") and e.rows is None)
    if without_rows:
        raise WrongField(f"no row count for {', '.join(without_rows)}")
    if sha256_hex(canonical_json(manifest.settings).encode()) != manifest.settings_sha256:
        raise WrongField("settings_sha256 is not that of its settings")
    if manifest.to_bytes() != content:
        raise WrongField("it is not in canonical form")
