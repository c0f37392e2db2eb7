"""What stands for tags of Jekyll that name a page, enclose code, include a file, or are not followed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from ..fences import fenced
from ..parts import NoSuchPart, whole
from ..project import without_front_matter

BRANCHES = frozenset(["if", "unless", "case", "for", "tablerow"])
_SILENT_NAMES = "else elsif elseif when break continue cycle increment decrement toc"
_SILENT = frozenset(_SILENT_NAMES.split())
# What they enclose stays, and no reader misses the tags themselves.
_WRAPPER_NAMES = "katex katexmm math raw tabs stepper step columns column content-ref code"
_WRAPPERS = frozenset(_WRAPPER_NAMES.split())


def remark(name: str) -> str:
    """Return what is missing on the page for want of a tag; empty for one that nobody misses."""
    if name in BRANCHES:
        return f"{{% {name} %}} is not evaluated: what it encloses is shown"
    is_known = name == "#" or name in _SILENT or name in _WRAPPERS or name.startswith("end")
    return "" if is_known else f"{{% {name} %}} is not known and is removed"


def page_address(name: str, rest: str) -> str:
    """Return the address that a page or a post is linked by."""
    path = rest.strip("\"' ").lstrip("/")
    return "/" + quote(f"_posts/{path}" if name == "post_url" else path)


def highlighted(rest: str, code: str) -> str:
    """Return what ``highlight`` encloses as a block of code."""
    language, _, options = rest.partition(" ")
    marked = re.search(r"\b(?:hl_lines|mark_lines)\s*=\s*\"?([\d ,-]{1,200})", options)
    info = f'{language} hl_lines="{marked[1].strip()}"' if marked else language
    return f"\n{fenced(info, code.strip(chr(10)).rstrip())}\n"


_PARAMETER = re.compile(r"\{\{-?\s*include\.([\w-]+)\s*(?:\|[^{}\n]*)?\}\}")
# What a loop goes over, where the page names data for it.
_GOES_OVER = re.compile(r"(?<=\sin )include\.([\w-]+)(?=[\s%-])")


# Of HTML, which kramdown reads with its blank lines; elsewhere it would be code. Code and lists are kept.
_INDENTED_TAG = re.compile(
    r"(?P<kept><(pre|textarea)\b[\s\S]*?(?:</\2>|\Z)"
    r"|^[ \t]*(`{3,}|~{3,})[\s\S]*?(?:^[ \t]*\3|\Z)"
    r"|^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t][^\n]*(?:\n(?:[ \t]*|\4[ \t]+[^\n]*)(?=\n|\Z))*)"
    r"|^[ \t]+(?=</?[A-Za-z]|<!--|\{[{%])",
    re.MULTILINE,
)


def filled(values: Mapping[str, str], text: str, *, is_html: bool) -> str:
    """Return an included text with the parameters that it was given."""
    if len(values) > 100:
        raise NoSuchPart("it is given more than 100 parameters")
    text = _GOES_OVER.sub(lambda found: values.get(found[1]) or found[0], without_front_matter(text))
    filled = whole(_PARAMETER.sub(lambda found: values.get(found[1], ""), text))
    return _INDENTED_TAG.sub(lambda found: found["kept"] or "", filled) if is_html else filled
