"""Links by reference as Python-Markdown has them, where CommonMark leaves brackets and addresses as text.

There a definition may stand right below a paragraph, a space or a line's end between the text and the name
of a link (``[the guide] [guide]``), and a note right behind a link (``[the guide][^1]``).
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline, link

# An address, not the word that follows a name in a conversation or a list ("[Jane]: yes").
_ADDRESS_FOLLOWS = re.compile(
    r"(?P<label>\[[^\[\]\n]{1,999}\]):[ \t]+<?(?=[^\s<>]{0,2000}[/.#:])[^\s<>]{2,2000}>?"
)
_NOTE_FOLLOWS = re.compile(r"\[\^")
_NAME_FOLLOWS = re.compile(r"(?: |\n[ \t]*)\[(?P<name>[^\[\]^][^\[\]]{0,998})\](?![\[(:])")
# Words, and not what stands before a link in lists of changes, messages and synopses: "[x]", "[10.2] [#7]",
# "list[int] [docs]", "[OPTIONS] [FILE]".
_WORDS = re.compile(r"(?=.*[a-z].)[^\d#]*\Z", re.DOTALL)
_NO_TEXT_BEFORE = re.compile(r"[\w!$\]\\]")

_USED = "used_labels"


def find_references(md: MarkdownIt) -> None:
    """Add the rules to a parser."""
    md.block.ruler.at("reference", _reference, {"alt": ["paragraph"]})
    md.inline.ruler.at("link", _link)


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a definition; ``silent`` asks whether one ends the paragraph above."""
    first = state.bMarks[start] + state.tShift[start]
    if silent:
        found = _ADDRESS_FOLLOWS.match(state.src, first, state.eMarks[start])
        if found is None or not _is_used(found["label"], state):
            return False
    return reference(state, start, end, silent)


def _is_used(label: str, state: StateBlock) -> bool:
    """Return whether the document names a label: a line of a log, or of a talk, would vanish otherwise."""
    if _USED not in state.env:
        named = re.findall(r"(\[[^\[\]]{1,999}\])(?!:)", state.src)
        state.env[_USED] = frozenset(map(normalizeReference, named))
    return normalizeReference(label) in state.env[_USED]


def _link(state: StateInline, silent: bool) -> bool:
    if link(state, silent):
        return True
    if state.src[state.pos] != "[" or state.src.startswith("[^", state.pos):
        return False
    end = state.md.helpers.parseLinkLabel(state, state.pos, True)
    if end < 0:
        return False
    if _NOTE_FOLLOWS.match(state.src, end + 1, state.posMax):
        return _link_until(state, end + 1, silent)
    name = _name_behind(state, end)
    return name is not None and _named_link(state, end, name, silent)


def _name_behind(state: StateInline, end: int) -> re.Match[str] | None:
    """Return the name that follows the text that ends at ``end``, if both read as words of prose."""
    name = _NAME_FOLLOWS.match(state.src, end + 1, state.posMax)
    if name is None or _NO_TEXT_BEFORE.match(state.src[state.pos - 1 : state.pos]):
        return None
    text = state.src[state.pos + 1 : end]
    return name if _WORDS.match(text) and _WORDS.match(name["name"]) else None


def _link_until(state: StateInline, end: int, silent: bool) -> bool:
    """Read a link by its own text, as if the paragraph ended at ``end``."""
    whole, state.posMax = state.posMax, end
    found = link(state, silent)
    state.posMax = whole
    return found


def _named_link(state: StateInline, end: int, name: re.Match[str], silent: bool) -> bool:
    """Read a link whose text ends at ``end`` and whose name follows."""
    known = state.env.get("references", {}).get(normalizeReference(name["name"]))
    if known is None:
        return False
    if not silent:
        whole = state.posMax
        state.pos, state.posMax = state.pos + 1, end
        opening = state.push("link_open", "a", 1)
        opening.attrs = {"href": known["href"]} | ({"title": known["title"]} if known["title"] else {})
        state.linkLevel += 1
        state.md.inline.tokenize(state)
        state.linkLevel -= 1
        state.push("link_close", "a", -1)
        state.posMax = whole
    state.pos = name.end()
    return True
