"""The address at which a reader opens a document or one of its headings."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import quote, unquote, urljoin, urlsplit

from .model import Heading
from .printable import without_controls
from .settings.collection import Address

# Of several in one folder, the first is its page.
INDEX_NAMES = ("index", "readme", "_index")
# RFC 3986 pchar and "/": everything else is percent-encoded, including "%", "?" and "#".
_SAFE = "/:@!$&'()*+,;=~-._"
_HAS_SCHEME = re.compile(r"[^/]*:")
_NOT_SLUG = re.compile(r"[^\w\- ]+")
_DASHES = re.compile(r"[\s-]+")
# Docusaurus and others take numbers at the head of names for an order.
_NUMBERED = re.compile(r"(\A|/)\d{1,3}[-_.]+(?=[^/\d])")


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
    if slug and (clean := slug_path(path, slug)):
        return clean
    return folder.rstrip("/") if is_index else folder + parts.stem


def index_order(path: str) -> tuple[int, str]:
    """Return by what documents of one address are sorted: the first in ``INDEX_NAMES``, then the path."""
    stem = PurePosixPath(path).stem.lower()
    return (INDEX_NAMES.index(stem) if stem in INDEX_NAMES else 0), path


def slug_path(path: str, slug: str) -> str:
    """Return the path that a document's slug means, without an ending; empty for the top.

    A slug with a slash is a path from the top, any other one takes the place of the file's name, or, for an
    index, of its folder's.
    """
    # A slug comes from the document, so it must not climb out of the base, or be no name of a file.
    parts = without_controls(slug).strip().split("/")
    clean = "/".join(part for part in parts if part not in {"", ".", ".."})
    if "/" in slug:
        return clean
    file = PurePosixPath(path)
    folder = file.parent.parent if file.stem.lower() in INDEX_NAMES else file.parent
    return clean and (folder / clean).as_posix()


def unnumbered(path: str) -> str:
    """Return the path without the numbers that only give an order: ``01-app/02-guides`` is ``app/guides``."""
    return _NUMBERED.sub(r"\1", path)


def out_of_collection(path: str, target: str) -> str:
    """Return the path of a link that leads out of its collection, beginning with ``../``; else empty."""
    if ".." not in target or target.startswith("/"):
        return ""
    path_only = unquote(target.partition("#")[0].partition("?")[0])
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), path_only))
    return joined if joined.startswith("../") else ""


def outside_address(path: str, url: str, target: str) -> str:
    """Return where a link out of the collection leads, as seen from the document's published address.

    Empty if the address tells nothing of what lies around the collection.
    """
    out, parts = out_of_collection(path, target), PurePosixPath(path)
    if not out or not _HAS_SCHEME.match(url):
        return ""
    is_folder = url.endswith("/") and parts.stem.lower() not in INDEX_NAMES
    base = urljoin(url, "../" * (path.count("/") + is_folder) or ".")
    if urlsplit(base).path.strip("/").count("/") + 1 < out.count("../") or urlsplit(base).path in ("", "/"):
        return ""
    ending = target[len(re.split(r"[?#]", target, maxsplit=1)[0]) :]
    slash = "/" if target.removesuffix(ending).endswith("/") else ""
    return urljoin(base, quote(out, safe=_SAFE)) + slash + quote(ending, safe=f"{_SAFE}?#%[]")


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


def heading_slugs(headings: Sequence[Heading]) -> list[str]:
    """Return one slug per heading, unique within the document: ``intro``, ``intro-1``, ``intro-2`` …

    A heading keeps the name that its source gives it.
    """
    used: set[str] = set()
    tried: Counter[str] = Counter()
    slugs = []
    for heading in headings:
        base = slug = heading.anchor or slugify(heading.text)
        while slug in used:
            tried[base] += 1
            slug = f"{base}-{tried[base]}"
        used.add(slug)
        slugs.append(slug)
    return slugs
