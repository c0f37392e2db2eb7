"""The supported markdown: CommonMark, tables, footnotes, task lists, callouts, wikilinks and tags.

The same parser serves the index and the site, so that a page shows what the index holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from types import MethodType
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.subscript import sub_plugin
from mdit_py_plugins.superscript import superscript_plugin

from ...assets.media import media_type_of
from ...directives import LEFTOVERS, find_leftovers
from ..code.in_markdown import read_listings
from ..labels import BLOCK_ID
from .block_tokens import admonition, skip_comment, table
from .boxes import box, tab
from .callouts import mark_callouts
from .formulas import formula, formula_block
from .heading_attributes import read_heading
from .icons import name_icons
from .link_rules.brackets import bound_brackets
from .link_rules.references import find_references
from .link_rules.spans import find_spans
from .marks import (
    KEYS,
    TASK,
    bare_code,
    check_tasks,
    find_abbreviations,
    inserted,
    mark,
    mark_abbreviations,
    mark_tasks,
    render_keys,
    render_task,
)
from .myst.roles import label
from .myst.scopes import resolve_in_scopes

MAX_NESTING = 100
_MAX_ADDRESS = 2_048
# The scheme before "://", which does not stand in emphasis.
_SCHEME = re.compile(r"(?<![a-z0-9.+*_~-])https?\Z", re.IGNORECASE)
DOCUMENT_ORDER = "document_order"

# [[target]], [[target#heading]], [[target|text]]; a leading ! transcludes.
_WIKILINK = re.compile(r"!?\[\[([^\[\]\n|#]*)(?:#([^\[\]\n|]*))?(?:\|([^\[\]\n]*))?\]\]")
# What makes ``[[text]](address)`` a link of markdown, whose text is in brackets; not ``[[note]](s)``.
_ADDRESS = re.compile(
    r"\((?=[^\s()<>]{0,300}[./#])[^\s()<>]{1,2000}+(?:\([^\s()<>]{0,300}+\)[^\s()<>]{0,300}+)?"
    r"(?:[ ]+\"[^\"\n]{0,300}+\")?\)"
)
# Begins the name of a vault, before that of a note.
_VAULT = "dendron://"
# Dendron's have dots.
_TAG = re.compile(r"#([^\W\d_](?:[\w/.-]*\w)?)")
_PERSON = re.compile(r"@([^\W\d_](?:[\w.-]{0,100}\w)?)(?![\w/@])")
# Of an attribute list, what a page keeps.
_ATTRIBUTES = ("id", "class", "width", "height", "title", "align")


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """Return the process's markdown parser; raw HTML is kept, so what it renders must be sanitized.

    Besides markdown-it's own tokens, it produces inline tokens ``wikilink``, ``transclusion``, ``tag`` and
    ``person`` (``@name``), whose ``meta`` holds ``target``, ``fragment`` and ``text``, ``formula`` with
    ``latex`` and ``display``, ``keys`` with ``names``, and ``task`` with ``state``. Blocks of code hold a
    ``CodeListing``.
    """
    md = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_NESTING, "linkify": True})
    md.enable(["table", "strikethrough", "linkify"])
    _find_addresses(md)
    md.use(footnote_plugin).use(deflist_plugin).use(admon_plugin)
    md.core.ruler.after("inline", "checked_tasks", check_tasks)
    md.block.ruler.at("table", table, {"alt": ["paragraph", "reference"]})
    md.block.ruler.at("admonition", admonition, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.use(sub_plugin).use(superscript_plugin)
    after = ("image", "link_close", "code_inline", "span_close")
    md.use(attrs_plugin, after=after, allowed=_ATTRIBUTES)
    bound_brackets(md)
    find_references(md)
    find_spans(md)
    rules = {"box": box, "tab": tab, "formula_block": formula_block, "label": label, "comment": skip_comment}
    for name, rule in rules.items():
        md.block.ruler.before("fence", name, rule, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.inline.ruler.before("escape", "formula", formula)
    md.inline.ruler.push("mark", mark)
    md.inline.ruler.before("sup", "inserted", inserted)
    md.inline.ruler.before("link", "wikilink", _wikilink)
    md.inline.ruler.before("link", "tag", _tag)
    _rewrite_tokens(md)
    for name in ("wikilink", "transclusion", "tag", "person"):
        md.add_render_rule(name, _render_reference)
    md.add_render_rule("formula", _render_formula)
    md.add_render_rule("footnote_caption", _render_note_number)
    md.add_render_rule(KEYS, render_keys)
    md.add_render_rule(TASK, render_task)
    return md


def _find_addresses(md: MarkdownIt) -> None:
    """Make links of addresses with their scheme only: "build.rs" and "next.js" are names of files."""
    md.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})  # type: ignore[union-attr]
    md.linkify.add("//", None).add("ftp:", None).add("mailto:", None)  # type: ignore[union-attr]
    md.linkify.add("http:", {"validate": MethodType(_address_length, md.linkify)})  # type: ignore[union-attr]
    md.inline.ruler.at("linkify", _linkify)


def _rewrite_tokens(md: MarkdownIt) -> None:
    """Add the rules that change tokens once blocks, or their inline content, are parsed."""
    md.core.ruler.after("block", "callouts", mark_callouts)
    md.core.ruler.after("block", "listings", read_listings)
    md.core.ruler.after("block", "heading_attributes", _cut_heading_attributes)
    md.core.ruler.before("inline", "abbreviations", find_abbreviations)
    md.core.ruler.before("inline", "tasks", mark_tasks)
    md.core.ruler.after("inline", "abbreviated", mark_abbreviations)
    md.core.ruler.after("inline", "icons", name_icons)
    md.core.ruler.after("inline", "bare_code", bare_code)
    md.core.ruler.after("inline", "scopes", resolve_in_scopes)
    md.core.ruler.after("inline", LEFTOVERS, find_leftovers)
    md.core.ruler.before("footnote_tail", DOCUMENT_ORDER, _keep_document_order)


def _linkify(state: StateInline, silent: bool) -> bool:
    """Make an address in running text a link, with a look at no more of what follows than one may be long.

    One in emphasis is left to the rule for text alone: this one would take in the end of its emphasis.
    """
    if state.linkLevel > 0 or not state.src.startswith("://", state.pos):
        return False
    scheme = _SCHEME.search(state.src[max(0, state.pos - len("_https")) : state.pos])
    if scheme is None or not state.pending.endswith(scheme[0]):
        return False
    start = state.pos - len(scheme[0])
    found = state.md.linkify.match_at_start(state.src[start : start + _MAX_ADDRESS])  # type: ignore[union-attr]
    url = found.url.rstrip("*") if found else ""
    address = state.md.normalizeLink(url)
    if not url or not state.md.validateLink(address):
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme[0])]
        _push_address(state, url, address)
    state.pos = start + len(url)
    return True


def _push_address(state: StateInline, url: str, address: str) -> None:
    opening = state.push("link_open", "a", 1)
    opening.attrs = {"href": address}
    state.push("text", "", 0).content = state.md.normalizeLinkText(url)
    for token in (opening, state.push("link_close", "a", -1)):
        token.markup, token.info = "linkify", "auto"


def _address_length(linkify: Any, text: str, start: int) -> int:
    """Return the length of the address whose scheme ends at ``start``: no copy of all that follows it."""
    return int(linkify._validate_http(text[start : start + _MAX_ADDRESS], 0))


def _wikilink(state: StateInline, silent: bool) -> bool:
    src, pos = state.src, state.pos
    if not src.startswith(("[[", "![["), pos):
        return False
    found = _WIKILINK.match(src, pos, state.posMax)
    if not found or not (found[1].strip() or found[2]) or _ADDRESS.match(src, found.end(), state.posMax):
        return False
    if not silent:
        token = state.push("transclusion" if src[pos] == "!" else "wikilink", "", 0)
        target, fragment = found[1].strip(), (found[2] or "").strip()
        named = "" if BLOCK_ID.fullmatch(fragment) else fragment  # the words of a block stand for its name
        shown = (found[3] or "").strip() or target or named
        if shown.startswith(_VAULT) and shown != target:  # Dendron writes the label first
            shown, (target, _, fragment) = target, shown.partition("#")
        elif shown.startswith(_VAULT) and media_type_of(shown) is None:
            shown = shown.removeprefix(_VAULT).partition("/")[2]
        token.meta = {"target": target, "fragment": fragment, "text": shown}
        token.content = found[0]
    state.pos = found.end()
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    src, pos = state.src, state.pos
    if src[pos] not in "#@" or state.linkLevel > 0 or (pos > 0 and not src[pos - 1].isspace()):
        return False
    kind, pattern = ("tag", _TAG) if src[pos] == "#" else ("person", _PERSON)
    found = pattern.match(src, pos, state.posMax)
    if not found:
        return False
    if not silent:
        token = state.push(kind, "", 0)
        token.meta = {"target": found[1], "fragment": "", "text": found[0]}
        token.content = found[0]
    state.pos = found.end()
    return True


def _cut_heading_attributes(state: StateCore) -> None:
    """Take ``{#id .class}`` from the end of headings: it is no part of the title."""
    for before, token in zip(state.tokens, state.tokens[1:], strict=False):
        if before.type == "heading_open" and (found := read_heading(token.content)):
            token.content = found.title
            before.meta = {**before.meta, "id": found.id, "unsearched": found.unsearched}


def _keep_document_order(state: StateCore) -> None:
    # The footnote plugin moves notes to the end and drops those without a reference; the index keeps them in
    # place.
    state.env[DOCUMENT_ORDER] = list(state.tokens)


def _render_formula(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    return f"<code>{escapeHtml(tokens[index].content)}</code>"


def _render_note_number(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Return a note's number, the same for all references to it."""
    return f"[{tokens[index].meta['id'] + 1}]"


def _render_reference(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    token = tokens[index]
    meta, text = token.meta, escapeHtml(str(token.meta["text"]))
    if token.type == "person":
        return text
    if token.type == "tag":
        return f'<a class="tag">{text}</a>'
    href = meta["target"] + (f"#{meta['fragment']}" if meta["fragment"] else "")
    md = markdown_parser()
    if not md.validateLink(href):
        return text
    return f'<a class="{token.type}" href="{escapeHtml(md.normalizeLink(href))}">{text}</a>'
