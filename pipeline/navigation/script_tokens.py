"""The tokens of a JavaScript or TypeScript file, and the names among them."""

from __future__ import annotations

import re
from itertools import pairwise

_TOKEN = re.compile(
    # One that is not closed ends with its line or the file, so that nothing is looked at twice.
    r"""\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?"""
    r"""|(?P<string>"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|`(?:[^`\\]|\\[\s\S])*`?)"""
    # A space follows a division, and ">" the slash of an element.
    r"""|(?P<regex>(?<=[=(,:\[!&|?{};\s])/(?![/*\s>])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*)"""
    r"""|(?P<number>-?\d[\d_]*(?:\.\d+)?)|(?P<name>[^\W\d][\w$]*|[$][\w$]*)|(?P<sign>\.\.\.|=>|[^\s])"""
)


def tokens(source: str) -> list[tuple[str, str]]:
    """Return the kind (string, regex, number, name or sign) and the text of each token; no comments."""
    return [(found.lastgroup, found[0]) for found in _TOKEN.finditer(source) if found.lastgroup is not None]


def names_in(source: str) -> frozenset[str]:
    """Return the names that stand in a script, outside of comments and strings."""
    return frozenset(text for kind, text in tokens(source) if kind == "name")


def keys_in(source: str) -> frozenset[str]:
    """Return the names that stand in a script, and the quoted keys of its objects; not those in comments."""
    found = tokens(source)
    quoted = (text[1:-1] for (kind, text), (_, after) in pairwise(found) if kind == "string" and after == ":")
    return frozenset((*(text for kind, text in found if kind == "name"), *quoted))
