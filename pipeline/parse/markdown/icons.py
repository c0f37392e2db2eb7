"""Emoji and icons by their shortcodes: ``:tada:`` and, of Material for MkDocs, ``:material-check:``.

An icon that stands alone says what it shows; beside text it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_KIND = "icon"
_SHORTCODE = re.compile(r":([a-z0-9_+-]{1,60}):(?!\w)")
# Icons that a theme draws, and their names without that of their set and their size.
_ICON = re.compile(
    r"(?:material|fontawesome-(?:brands|regular|solid)|fontawesome|octicons|simple)-([a-z0-9-]+?)(?:-(?:12|16|24))?"
)
_SIGNS = {
    **dict.fromkeys(("check", "check-bold", "check-all", "check-circle", "circle-check"), "✓"),
    **dict.fromkeys(("close", "close-thick", "close-circle", "circle-xmark", "xmark", "x", "x-circle"), "✗"),
}


def shortcode(state: StateInline, silent: bool) -> bool:
    """Parse the shortcode of an emoji or an icon (an inline rule)."""
    found = _SHORTCODE.match(state.src, state.pos, state.posMax)
    if not found or state.src[state.pos - 1 : state.pos].isalnum():
        return False
    icon = _ICON.fullmatch(found[1])
    shown = _SIGNS.get(icon[1], icon[1].replace("-", " ")) if icon else _emoji(found[0])
    if shown is None:
        return False
    if not silent:
        state.push(_KIND if icon else "text", "", 0).content = shown
    state.pos = found.end()
    return True


def _emoji(name: str) -> str | None:
    """Return the emoji of a shortcode, ``None`` if there is none."""
    import emoji  # its tables take a moment to load

    found = emoji.emojize(name, language="alias")
    return None if found == name else found


def name_icons(state: StateCore) -> None:
    """Say what icons show where nothing else is said, and drop the others (a core rule, after ``inline``)."""
    for run in inline_runs(state):
        if any(child.type == _KIND for child in run):
            run[:] = list(_named(run))


def inline_runs(state: StateCore) -> Iterator[list[Token]]:
    """Yield the inline tokens of each text, also of notes that stand within a line (``^[note]``)."""
    yield from (token.children for token in state.tokens if token.children)
    notes = state.env.get("footnotes", {}).get("list", {})
    yield from (note["tokens"] for note in notes.values() if note.get("tokens"))


def _named(children: Sequence[Token]) -> Iterator[Token]:
    says = _says(children)
    for at, child in enumerate(children):
        if child.type == "link_open":
            end = next((n for n in range(at, len(children)) if children[n].type == "link_close"), at)
            says = _says(children[at:end])
        elif child.type == "link_close":
            says = _says(children)
        if child.type != _KIND or not says:
            if child.type == "text" and at and children[at - 1].type == _KIND and says:
                child.content = child.content.lstrip(" ")
            child.type = "text" if child.type == _KIND else child.type
            yield child


def _says(children: Sequence[Token]) -> bool:
    """Return whether there is more to read than icons."""
    return any(
        child.content.strip() or child.type == "image"
        for child in children
        if child.type not in (_KIND, "html_inline")
    )
