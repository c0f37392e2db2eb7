"""The address at which a reader opens a document or one of its headings."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath
from urllib.parse import quote

from .settings.collection import Address

INDEX_NAMES = frozenset({"index", "readme", "_index"})
# RFC 3986 pchar and "/": everything else is percent-encoded, including "%", "?" and "#".
_SAFE = "/:@!$&'()*+,;=~-._"
_HAS_SCHEME = re.compile(r"[^/]*:")
_NOT_SLUG = re.compile(r"[^\w\- ]+")
_DASHES = re.compile(r"[\s-]+")


def address(path: str, slug: str | None, rules: Address) -> str:
    """Return the document's address: ``base_url``, a slash, and the path or slug in the rules' style."""
    relative = quote(_relative(path, slug, rules), safe=_SAFE)
    if rules.base_url:
        return f"{rules.base_url.rstrip('/')}/{relative}"
    # Without a base, "notes:today" would parse as a scheme and "" as an empty address.
    return f"./{relative}" if not relative or _HAS_SCHEME.match(relative) else relative


def _relative(path: str, slug: str | None, rules: Address) -> str:
    parts = PurePosixPath(path)
    folder = "" if str(parts.parent) == "." else f"{parts.parent}/"
    is_index = parts.stem.lower() in INDEX_NAMES
    if rules.style == "path":
        return folder + ("index.html" if is_index else f"{parts.stem}.html")
    if rules.style == "directory":
        return folder + ("" if is_index else f"{parts.stem}/")
    if slug and (clean := _clean_slug(slug)):
        return clean
    return folder.rstrip("/") if is_index else folder + parts.stem


def _clean_slug(slug: str) -> str:
    # A slug comes from the document, so it must not climb out of the base.
    return "/".join(part for part in slug.strip().split("/") if part not in {"", ".", ".."})


def with_anchor(url: str, slug: str, rules: Address) -> str:
    """Return the address of the heading ``slug`` in the document at ``url``; without a slug, ``url``."""
    if not slug or rules.anchors == "none":
        return url
    written = slug.replace("-", "_") if rules.anchors == "underscore" else slug
    return f"{url}#{quote(written, safe=_SAFE)}"


def slugify(text: str) -> str:
    """Turn a heading into a fragment: lower case, letters and digits of any script, ``-`` for spaces."""
    kept = _NOT_SLUG.sub("", unicodedata.normalize("NFC", text).lower())
    return _DASHES.sub("-", kept).strip("-") or "heading"
