"""What the names in ``documents`` and ``assets`` may be: a site makes files of paths, links of addresses."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.assets.media import MEDIA_TYPES

NAMES = ("doc_id", "collection", "path", "url")
# Absolute, or leads out of its folder.
_STRAYING = r"(?:^|/)\.\.(?:/|$)|^/|\x00|^$"
# A scheme other than that of web pages; browsers skip control characters and spaces within it.
_SCHEME = r"^[\x00-\x20]*[A-Za-z][A-Za-z0-9+.\x00-\x20-]*:"
_WEB = r"^https?://"
_SHA256 = r"^[0-9a-f]{64}$"


def wrong_name(documents: pa.Table, collections: Collection[str] | None) -> str:
    """Return what is wrong with the first name that cannot be, among the columns that are there; else empty.

    ``collections`` are those that the manifest records, ``None`` if it records none.
    """
    has = set(documents.column_names)
    if fault := _straying(documents):
        return fault
    if "url" in has:
        web = pc.match_substring_regex(documents["url"], _WEB)
        if found := _first(documents["url"].filter(pc.invert(web)), _SCHEME):
            return f"the address {found} leads to no page"
    return _wrong_collection(documents, collections) if "collection" in has else ""


def wrong_asset(assets: pa.Table, collections: Collection[str] | None) -> str:
    """Return what is wrong with the first asset that cannot be a file, among the columns that are there."""
    has = set(assets.column_names)
    if fault := _straying(assets):
        return fault
    if "asset_id" in has:
        hashes = pc.match_substring_regex(assets["asset_id"], _SHA256)
        if strange := assets["asset_id"].filter(pc.invert(hashes)).to_pylist():
            return f"the asset_id {strange[0]!r:.200} is no SHA-256"
    if "media_type" in has and (others := _others(assets["media_type"], MEDIA_TYPES)):
        return f"the media type {others[0]!r:.200} is none that a site carries"
    return _wrong_collection(assets, collections) if "collection" in has else ""


RULES = {"documents": wrong_name, "assets": wrong_asset}


def _straying(table: pa.Table) -> str:
    found = _first(table["path"], _STRAYING) if "path" in table.column_names else ""
    return f"the path {found} leads out of its collection" if found else ""


def _wrong_collection(table: pa.Table, collections: Collection[str] | None) -> str:
    strange = [] if collections is None else _others(table["collection"], collections)
    return f"the collection {strange[0]!r:.200} is not in the manifest" if strange else ""


def _others(texts: pa.ChunkedArray, known: Collection[str]) -> list[str]:
    return sorted(set(pc.unique(texts).to_pylist()) - set(known))


def _first(texts: pa.ChunkedArray, pattern: str) -> str | None:
    found = texts.filter(pc.match_substring_regex(texts, pattern))
    return repr(found[0].as_py())[:200] if len(found) else None
