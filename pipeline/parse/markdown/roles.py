"""Roles of MyST and Sphinx in markdown (``{ref}`label```) become links, keys, code or text."""

from __future__ import annotations

import re
from urllib.parse import quote

from markdown_it.rules_inline import StateInline

from ..labels import INDICES, LABEL_PREFIX, UNTITLED, label_anchor

_ROLE = re.compile(r"\{([A-Za-z][\w:.+-]{0,40})\}(`+)(?!`)((?:[^`\n]|\n(?![ \t]*\n)){1,500})\2(?!`)")
_TITLED = re.compile(r"([^<>]+?)[ \t]*<([^<>]*)>[ \t]*\Z")
_ABBREVIATION = re.compile(r"([^()]+?)[ \t]*\(([^()]*)\)[ \t]*\Z")
_LABELS = frozenset({"ref", "numref", "keyword", "any", "doc", "download"})
_ELEMENTS = {
    "kbd": "kbd",
    "sub": "sub",
    "sup": "sup",
    "subscript": "sub",
    "superscript": "sup",
    "strong": "strong",
}
_TEXT_NAMES = "abbr ac dfn emphasis eq guilabel index menuselection term text cite cite:p cite:t"
_TEXTS = frozenset(_TEXT_NAMES.split())
_UNSEEN = re.compile(r"octicon|fa[bsrl]?|material-\w+|far|iconify")
_BADGE = re.compile(r"bdg(?:-\w+)*")


def role(state: StateInline, silent: bool) -> bool:
    """Parse a role (a part of the inline rule for braces)."""
    found = _ROLE.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        _push(state, found[1].lower(), " ".join(found[3].split()))
    state.pos = found.end()
    return True


def _push(state: StateInline, name: str, content: str) -> None:
    titled = _TITLED.match(content)
    title, target = (titled[1], titled[2]) if titled else (content, content)
    kind = name.rpartition(":")[2]
    if (name == "ref" and target in INDICES) or (name.startswith("external") and kind in _LABELS):
        state.push("text", "", 0).content = title if titled else INDICES.get(target, target)
    elif name in _LABELS:
        untitled = {} if titled or name == "download" else {"class": UNTITLED}
        state.push("link_open", "a", 1).attrs = {"href": _address(name, target), **untitled}
        state.push("text", "", 0).content = title
        state.push("link_close", "a", -1)
    elif name == "math":
        token = state.push("formula", "math", 0)
        token.content, token.meta = content, {"latex": content, "display": False}
    elif element := _ELEMENTS.get(name):
        state.push(f"{element}_open", element, 1)
        state.push("text", "", 0).content = content
        state.push(f"{element}_close", element, -1)
    elif name in ("abbr", "abbreviation") and (short := _ABBREVIATION.match(content)):
        state.push("abbr_open", "abbr", 1).attrs = {"title": short[2]}
        state.push("text", "", 0).content = short[1]
        state.push("abbr_close", "abbr", -1)
    elif name in _TEXTS or _BADGE.fullmatch(name):
        state.push("text", "", 0).content = title
    elif not _UNSEEN.fullmatch(name):  # icons by name: there is nothing to read
        shown = title.removeprefix("!")
        state.push("code_inline", "code", 0).content = shown.rpartition(".")[2] if shown[:1] == "~" else shown


def _address(name: str, target: str) -> str:
    """Return the address: a document's path, or a label, which any document may hold."""
    if name in ("doc", "download") or "/" in target or "://" in target:
        return target
    return f"#{LABEL_PREFIX + quote(target)}" if name == "any" else f"#{label_anchor(target)}"
