"""What the names in ``documents`` may be: a site makes files of paths, and links of addresses."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

NAMES = ("doc_id", "collection", "path", "url")
# Absolute, or leads out of its folder.
_STRAYING = r"(?:^|/)\.\.(?:/|$)|^/|\x00|^$"
# A scheme other than that of web pages; browsers skip control characters and spaces within it.
_SCHEME = r"^[\x00-\x20]*[A-Za-z][A-Za-z0-9+.\x00-\x20-]*:"
_WEB = r"^https?://"


def wrong_name(documents: pa.Table, collections: Collection[str] | None) -> str:
    """Return what is wrong with the first name that cannot be, among the columns that are there; else empty.

    ``collections`` are those that the manifest records, ``None`` if it records none.
    """
    has = set(documents.column_names)
    for name in has.intersection(NAMES):
        if documents[name].null_count:
            return f"a document has no {name}"
    if "path" in has and (found := _first(documents["path"], _STRAYING)):
        return f"the path {found} leads out of its collection"
    if "url" in has:
        web = pc.match_substring_regex(documents["url"], _WEB)
        if found := _first(documents["url"].filter(pc.invert(web)), _SCHEME):
            return f"the address {found} leads to no page"
    if "collection" in has and collections is not None:
        strange = sorted(set(pc.unique(documents["collection"]).to_pylist()) - set(collections))
        if strange:
            return f"the collection {strange[0]!r:.200} is not in the manifest"
    return ""


def _first(texts: pa.ChunkedArray, pattern: str) -> str | None:
    found = texts.filter(pc.match_substring_regex(texts, pattern))
    return repr(found[0].as_py())[:200] if len(found) else None
