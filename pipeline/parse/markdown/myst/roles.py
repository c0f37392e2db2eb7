"""Roles of MyST and Sphinx in markdown (``{ref}`label```) become links, keys, code or text.

What directives and formulas are named (``:name: plot``, ``$$ (sum)``) becomes a label above them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from urllib.parse import quote

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from ....includes.fences import IndentedCode, code_of, fences_of
from ...code.info import CODE_DIRECTIVES
from ...labels import INDICES, LABEL_PREFIX, UNTITLED, label_anchor, term_label
from ...python_objects import object_address, shown_name
from ...standard_objects import standard_address, term_id
from ...standards import STANDARDS, standard

_ROLE = re.compile(
    r"\{([A-Za-z][\w:.+-]{0,40})(?:[ \t]+(?:[.#][A-Za-z]|[A-Za-z][\w-]{0,40}=)[^{}`\n]{0,200})?\}"
    r"(`+)(?!`)((?:[^`\n]|\n(?![ \t]*\n)){1,500})\2(?!`)"
)
_TITLED = re.compile(r"([^<>]+?)[ \t]*<([^<>]*)>[ \t]*\Z")
_ABBREVIATION = re.compile(r"([^()]+?)[ \t]*\(([^()]*)\)[ \t]*\Z")
_LABELS = frozenset({"ref", "numref", "eq", "term", "keyword", "any", "doc", "download"})
# Those whose text is what they name.
_AS_WRITTEN = frozenset({"download", "eq", "term"})
_STANDARD = frozenset({"confval", "envvar", "option"})
_ELEMENTS = {
    "kbd": "kbd",
    "sub": "sub",
    "sup": "sup",
    "subscript": "sub",
    "superscript": "sup",
    "strong": "strong",
    "del": "del",
    "strike": "del",
}
_TEXT_NAMES = "abbr ac dfn emphasis guilabel index menuselection text cite cite:p cite:t sc smallcaps span u"
_TEXTS = frozenset(_TEXT_NAMES.split())
_UNSEEN = re.compile(r"octicon|fa[bsrl]?|material-\w+|far|iconify")
_BADGE = re.compile(r"bdg(?:-\w+)*")
_LABEL = re.compile(r"\([^()\n]{1,200}\)=[ \t]*\Z")
_NAMED_BOX = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,}|:{3,})\{(?P<kind>[\w:-]{1,40})\}[^\n]*\n"
    r"(?P<options>(?:[ \t]*:[\w-]{1,40}:[^\n]*\n){1,40})",
    re.MULTILINE,
)
_NAME = re.compile(r"^[ \t]*:(?:name|label):[ \t]+(?P<label>[^()\n]{1,200}?)[ \t]*$", re.MULTILINE)
_NAMED_FORMULA = re.compile(
    r"^(?P<indent>[ \t]*)(?P<formula>\$\$(?:[^$\\]|\\.){1,5000}?\$\$)"
    r"[ \t]*\((?P<label>[\w:.-]{1,100})\)[ \t]*$",
    re.MULTILINE,
)
_GLOSSARY = re.compile(
    r"^(?P<head>[ \t]*(?P<fence>`{3,}|~{3,}|:{3,})\{glossary\}[^\n]*\n(?:[ \t]*:[\w-]{1,40}:[^\n]*\n){0,40})"
    r"(?P<body>(?:(?![ \t]*(?P=fence))[^\n]*\n)*)",
    re.MULTILINE,
)
# Terms, and what they mean: Sphinx only indents it.
_ENTRY = re.compile(
    r"^(?P<terms>(?:[^\s:][^\n]*\n){1,20})(?:(?P<colon>:)|(?P<indent>[ \t]+)(?P<first>\S[^\n]*\n)"
    r"(?P<rest>(?:[ \t]+[^\n]*\n|\n)*))",
    re.MULTILINE,
)
# The key of the index behind a term of Sphinx.
_INDEXED_AS = re.compile(r"[ \t]+:[ \t].*")
_EMPHASIS = re.compile(r"[`*]|(?<!\w)_|_(?!\w)")
_NUMBER = re.compile(r"\d[\d.]*[a-z]?")
# Between the tabs of a set and the cells of a grid there is no place for a label.
CELLS = frozenset({"tab", "tab-item", "grid-item", "grid-item-card", "card", "toctree"})


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
        untitled = {} if titled or name in _AS_WRITTEN else {"class": UNTITLED}
        shown = f"({title})" if name == "eq" and not titled else title
        _push_link(state, shown, {"href": _address(name, target), **untitled})
    elif name in STANDARDS and (known := standard(name, target)):
        _push_link(state, title if titled else known[0], {"href": known[1]})
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
        _push_object(state, name, title if titled else shown_name(name, target), target)


def _push_link(state: StateInline, title: str, attributes: dict[str, str | int | float]) -> None:
    state.push("link_open", "a", 1).attrs = attributes
    state.push("text", "", 0).content = title
    state.push("link_close", "a", -1)


def _push_object(state: StateInline, name: str, shown: str, target: str) -> None:
    """Push the name of an object as code, which leads to it unless the author wrote an exclamation mark."""
    kind = name.removeprefix("std:")
    find = standard_address if kind in _STANDARD else object_address
    is_link = not shown.startswith("!") and not target.startswith("!") and state.linkLevel == 0
    address = find(kind if kind in _STANDARD else name, target) if is_link else ""
    if address:
        state.push("link_open", "a", 1).attrs = {"href": address}
    state.push("code_inline", "code", 0).content = shown
    if address:
        state.push("link_close", "a", -1)


def _address(name: str, target: str) -> str:
    """Return the address: a document's path, or a label, which any document may hold."""
    if name == "term":
        return f"#{label_anchor(term_label(target))}"
    if name in ("doc", "download") or "/" in target or "://" in target:
        return target
    return f"#{LABEL_PREFIX + quote(target)}" if name == "any" else f"#{label_anchor(target)}"


def label(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Parse MyST's label, ``(name)=`` on a line, as a paragraph of its own (a block rule)."""
    first = state.bMarks[start] + state.tShift[start]
    if state.src[first : first + 1] != "(" or state.is_code_block(start):
        return False
    if not _LABEL.match(state.src[first : state.eMarks[start]]):
        return False
    if not silent:
        state.push("paragraph_open", "p", 1).map = [start, start + 1]
        inline = state.push("inline", "", 0)
        inline.content, inline.map, inline.children = (
            state.src[first : state.eMarks[start]],
            [start, start + 1],
            [],
        )
        state.push("paragraph_close", "p", -1)
        state.line = start + 1
    return True


def with_labels(text: str) -> str:
    """Return the markdown with a label above each directive and formula that has a name."""
    if ":name:" in text or ":label:" in text:
        text = _outside_examples(_NAMED_BOX, text, _named_box)
    if "{glossary}" in text:
        text = _outside_examples(
            _GLOSSARY, text, lambda found: found["head"] + _ENTRY.sub(_entry, found["body"])
        )
    if "$$" in text and ")" in text:
        code = code_of(text)
        text = _NAMED_FORMULA.sub(
            lambda found: found[0] if code.hold(found.start()) else _named_formula(found), text
        )
    return text


def _named_formula(found: re.Match[str]) -> str:
    """Return the formula below its label; a number, by which the text may call it, stays beside it."""
    shown = found[0] if _NUMBER.fullmatch(found["label"]) else f"{found['indent']}{found['formula']}"
    return f"{found['indent']}({found['label']})=\n\n{shown}"


def _outside_examples(pattern: re.Pattern[str], text: str, replace: Callable[[re.Match[str]], str]) -> str:
    """Return the text with the directives replaced that stand in no code, but may stand in others."""
    fences, indented = fences_of(text), IndentedCode(text, 0)

    def replaced(found: re.Match[str]) -> str:
        around = fences.around(found.start("fence"))
        is_shown = around is not None and (
            around[:1] != "{" or around[1:].partition("}")[0] in CODE_DIRECTIVES
        )
        return found[0] if is_shown or indented.hold(found.start("fence")) else replace(found)

    return pattern.sub(replaced, text)


def _named_box(found: re.Match[str]) -> str:
    name = _NAME.search(found["options"])
    if name is None or found["kind"] in CELLS:
        return found[0]
    return f"{found['indent']}({name['label']})=\n\n{found[0]}"


def _entry(found: re.Match[str]) -> str:
    """Return an entry of a glossary as one of a definition list, with an anchor for each of its terms."""
    terms = ", ".join(map(_term, found["terms"].splitlines()))
    if found["colon"]:
        return f"{terms}\n:"
    inner = len(found["indent"])
    rest = (f"  {line[inner:]}" if line.strip() else line for line in found["rest"].splitlines(True))
    return f"{terms}\n: {found['first']}{''.join(rest)}"


def _term(line: str) -> str:
    shown = _INDEXED_AS.sub("", line).strip()
    term = _EMPHASIS.sub("", shown)
    anchors = filter(None, [label_anchor(term_label(term)), term_id(term)])
    return shown + "".join(f'<a id="{escape(anchor)}"></a>' for anchor in anchors)
