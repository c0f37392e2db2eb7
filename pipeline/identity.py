"""Stable names: ids, content hashes, versions and canonical JSON."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import metadata
from typing import Any

from .errors import DamagedSnapshot
from .model import DocId, PassageId, SectionId


def sha256_hex(content: bytes | memoryview) -> str:
    """Return the SHA-256 of ``content`` in lower-case hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def text_hash(text: str) -> str:
    """Return the first 32 hexadecimal digits (128 bits) of the SHA-256 of ``text`` in UTF-8."""
    return sha256_hex(text.encode())[:32]


def combined_hash(parts: Iterable[str]) -> str:
    """Return one hash of several strings, each prefixed by its length so that boundaries cannot move."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys, no spaces and no NaN: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def stable_text(value: object) -> str:
    """Return what a value holds, in the same words in every process: sets have no order of their own.

    The words that Python has for a pattern end after 200 characters.
    """
    return repr(_plain(value))


def _plain(value: object) -> object:
    """Return the value in lists and tuples, without an order or words that differ between processes."""
    if isinstance(value, re.Pattern):
        return (value.pattern, value.flags)
    if is_dataclass(value) and not isinstance(value, type):
        return [(each.name, _plain(getattr(value, each.name))) for each in fields(value)]
    if isinstance(value, Mapping):
        return [(_plain(key), _plain(each)) for key, each in value.items()]
    if isinstance(value, set | frozenset):
        return ("a set", sorted(map(_plain, value), key=repr))
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


@cache
def installed_version(package: str) -> str:
    """Return the version of an installed package; raise ``PackageNotFoundError``."""
    return metadata.version(package)


def read_front_matter_json(stored: str) -> dict[str, Any]:
    """Return the front matter of a document as its table has it; raise ``DamagedSnapshot`` if it is none."""
    try:
        found = json.loads(stored)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        hint = "Verify the snapshot: noctule check --deep"
        raise DamagedSnapshot(
            f"the front matter {stored!r:.200} is not a JSON object", where="documents.parquet", hint=hint
        )
    return found


def doc_id(collection: str, path: str) -> DocId:
    """Return ``{collection}:{path}``."""
    return DocId(f"{collection}:{path}")


def section_id(document: DocId, slug: str) -> SectionId:
    """Return ``{doc_id}#{slug}``, or ``{doc_id}`` for the document's root node, which has no slug."""
    return SectionId(f"{document}#{slug}" if slug else document)


def passage_id(document: DocId, ordinal: int) -> PassageId:
    """Return ``{doc_id}@{ordinal}``."""
    return PassageId(f"{document}@{ordinal}")
