"""Directives that were not followed and that readers would see as text: how they look, and remarks on them.

Every tool's syntax stands here once. What looks like one in code, or with a backslash before it, is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import unquote

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from .errors import DirectivesLeft

_SYNTAXES: Mapping[str, str] = {
    "mdBook": r"\{\{\s*#[a-z_]+[ \t]",
    "Hugo": r"\{\{[<%]",
    "Liquid, Jinja": r"(?<!\{)\{%-?[ \t]*[A-Za-z_#]",
    "Liquid, Jinja, Vue, Handlebars, MDN": r"(?<!\{)\{\{(?![<%#!{])[^{}\n]{1,500}\}\}",
    "kramdown": r"\{:(?::|[ \t]*(?:[.#][\w-]|toc\b))[^{}\n]{0,500}\}",
    "MkDocs snippets": r"(?m:^[ \t]*-+8<-+)",
    "MkDocs includes": r"\{(?:\*[ \t]+[^\s*{}][^*{}\n]{0,500}\*|![^!{}\n]{1,500}!)\}",
    "VitePress": r"(?m:^[ \t]*<<<[ \t]*[@./])",
    "MyST, VitePress, Docusaurus": r"(?m:^:{3,}[ \t]*\{?[A-Za-z])",
    "MDX": r"\{props\.\w|(?m:^(?:import|export)[ \t][^\n]{1,500}\bfrom[ \t]*[\"'])",
}
_LEFT = re.compile("|".join(_SYNTAXES.values()))
# Nearly every paragraph ends its search here.
_MAY_BE = re.compile(r"\{[{%:*!p]|8<-|<<<|:::|(?m:^(?:im|ex)port )|%7B%7B|%7B%25")
_HTML_CODE = re.compile(
    r"<!--[\s\S]*?(?:-->|\Z)|<(pre|code|script|style)\b[^<>]*>[\s\S]*?(?:</\1\s*>|\Z)", re.I
)
_END = re.compile(r"(?<=\}\})|(?<=%\})|[\n\0]")
_MAX_EXCERPT = 80
_MAX_REMARKS = 50

LEFTOVERS = "leftover_directives"
NOT_INCLUDED = "is not included: "
SHOWN = "stands on the page as text"
# Whether a file is missing, or something is shown that is followed elsewhere.
_HINTS = {
    True: "Fix it, or add the file's folder to snippet_folders; then index again.",
    False: "Write what it stands for, since plugins and programs are not run; then index again. "
    "Or build the site without --strict.",
}


def find_leftovers(state: StateCore) -> None:
    """Collect the directives that would be shown, under ``LEFTOVERS`` in ``env`` (a core rule).

    It runs before escaped characters become text like any other.
    """
    if _MAY_BE.search(state.src):
        found = [each for token in state.tokens for each in _in_token(token)]
        add_leftovers(state.env, found)


def add_leftovers(env: MutableMapping[str, Any], found: Iterable[str]) -> None:
    """Add directives to those that remarks are made on."""
    env.setdefault(LEFTOVERS, []).extend(found)


def _in_token(token: Token) -> Iterator[str]:
    if token.type == "html_block":
        yield from leftovers_in(_HTML_CODE.sub("", token.content))
    elif token.type == "inline" and _MAY_BE.search(token.content):
        shown = "".join(map(_bare, token.children or ()))
        yield from leftovers_in(_HTML_CODE.sub("\0", shown) if "<" in shown else shown)
        for child in token.children or ():
            address = str(child.attrs.get("href") or child.attrs.get("src") or "")
            if address.startswith(("%7B%7B", "%7B%25")):
                yield unquote(address[:_MAX_EXCERPT]).rpartition("}")[0] + "}"


def _bare(token: Token) -> str:
    """Return what of an inline token may be a directive; anything else keeps its neighbours apart."""
    if token.type in ("text", "html_inline", "tag"):
        return token.content
    return "\n" if token.type in ("softbreak", "hardbreak") else "\0"


def leftovers_in(text: str) -> Iterator[str]:
    """Yield the beginning of each directive in a text that is no code."""
    for found in _LEFT.finditer(text):
        end = _END.search(text, found.start() + 2, found.start() + _MAX_EXCERPT)
        yield text[found.start() : end.start() if end else found.start() + _MAX_EXCERPT].strip()


def remarks(source: str, left: Sequence[str], said: str) -> tuple[str, ...]:
    """Return a remark on each of these pieces of the source in order, with its line there."""
    made, at, line = list[str](), 0, 1
    for excerpt in left[:_MAX_REMARKS]:
        found = source.find(excerpt, at)
        if found >= 0:
            line += source.count("\n", at, found)
            at = found
        made.append(f"line {line}: {excerpt!r} {said}")
    if len(left) > _MAX_REMARKS:
        made.append(f"{len(left) - _MAX_REMARKS:,} more, of which each {said}")
    return tuple(made)


def is_fault(remark: str) -> bool:
    """Return whether a remark in the report is on a directive that stands as text or names a missing file."""
    return SHOWN in remark or NOT_INCLUDED in remark


def require_followed(remarks_by_document: Iterable[tuple[str, str]]) -> None:
    """Raise ``DirectivesLeft`` for the first remark of ``(document, remark)`` that is on a directive."""
    faults = [(where, remark) for where, remark in remarks_by_document if is_fault(remark)]
    if faults:
        more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
        raise DirectivesLeft(
            f"{faults[0][1]}{more}",
            where=faults[0][0],
            hint=_HINTS[NOT_INCLUDED in faults[0][1]],
        )
