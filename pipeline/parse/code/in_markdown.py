"""Code blocks among the tokens of a page, whose comments for the tool become data about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from .listing import CodeListing, read_listing, with_notes

LISTING, NOTES = "listing", "notes"
# Material's and Typer's box around the copy of a terminal, whose colours are tags.
_TERMINAL = re.compile(r"<div[^<>]{0,80}\bclass=[\"']?termy\b[^<>]{0,80}>\s*\Z")


def read_listings(state: StateCore) -> None:
    """Give each block of code its ``CodeListing`` in ``meta`` and the text of that (a core rule).

    An ordered list after a block with annotations has the class ``annotations``, and its items have names.
    """
    for before, token in pairwise([Token("", "", 0), *state.tokens]):
        if token.type in ("fence", "code_block"):
            in_html = before.type == "html_block" and _TERMINAL.search(before.content) is not None
            _set(token, read_listing(token.info, token.content, in_html=in_html))
    numbered = 0
    for at, (token, after) in enumerate(pairwise(state.tokens)):
        if token.type == "fence" and after.type == "ordered_list_open" and ")" in token.content:
            items = _items(state.tokens, at + 1)
            listing = with_notes(token.meta[LISTING], len(items))
            if listing.notes:
                numbered += 1
                _set(token, listing)
                token.meta[NOTES] = name = f"code-note-{numbered}"
                after.attrSet("class", "annotations")
                for number, item in enumerate(items, start=1):
                    item.attrSet("id", f"{name}-{number}")


def listing_of(token: Token) -> CodeListing:
    """Return what the token of a block of code holds."""
    listing = token.meta.get(LISTING)
    return listing if isinstance(listing, CodeListing) else read_listing(token.info, token.content)


def _set(token: Token, listing: CodeListing) -> None:
    token.meta = {**token.meta, LISTING: listing}
    token.content = f"{listing.text}\n" if listing.text else ""


def _items(tokens: Sequence[Token], opening: int) -> list[Token]:
    """Return the items of the list that the token at this place opens."""
    level, found = tokens[opening].level, []
    for token in tokens[opening + 1 :]:
        if token.level == level and token.type == "ordered_list_close":
            break
        if token.type == "list_item_open" and token.level == level + 1:
            found.append(token)
    return found
