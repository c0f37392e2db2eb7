"""A linear scan of HTML that refuses bombs before any parser or sanitizer sees them."""

from __future__ import annotations

import re

from ..errors import RejectedDocument

MAX_DEPTH = 2_000
MAX_TAGS = 200_000
# Per tag: parsers compare each attribute with those before it. A long page may have many in all.
MAX_ATTRIBUTES = 1_000

# No quantifier runs past the next "<", so each character is scanned once.
_TAG = re.compile(r"<(/?)([A-Za-z][^\s<>/]*)([^<>]*)")
# These never nest by themselves: void tags, and those whose end tag HTML allows authors to omit.
_FLAT_NAMES = """
    area base br col embed hr img input link meta param source track wbr
    p li dt dd option optgroup tr td th thead tbody tfoot colgroup html head body
"""
_FLAT = frozenset(_FLAT_NAMES.split())


def require_tame(html: str, where: str) -> None:
    """Raise ``RejectedDocument`` for HTML nested, repeated or attributed beyond any real page."""
    if "<" not in html:
        return
    depth = 0
    for tags, found in enumerate(_TAG.finditer(html), start=1):
        closing, name, rest = found.groups()
        if len(rest) > MAX_ATTRIBUTES and len(rest.split()) > MAX_ATTRIBUTES:
            raise _bomb(f"more than {MAX_ATTRIBUTES} attributes in one tag", where)
        if name.lower() not in _FLAT and not rest.endswith("/"):
            depth = max(0, depth - 1) if closing else depth + 1
        if depth > MAX_DEPTH:
            raise _bomb(f"more than {MAX_DEPTH} tags open at once", where)
        if tags > MAX_TAGS:
            raise _bomb(f"more than {MAX_TAGS} tags", where)


def _bomb(what: str, where: str) -> RejectedDocument:
    return RejectedDocument(
        f"the HTML has {what}", where=where, hint="Split the page, or exclude it in the settings."
    )
