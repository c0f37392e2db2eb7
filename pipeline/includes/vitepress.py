"""The directives of VitePress and VuePress: what they include, and what is for Vue.

Files are included by ``<<< @/file.js#region``, ``<!--@include: ./part.md-->``, and, of a plugin,
``!!!include(part.md)!!!``. For Vue are ``{{ $frontmatter.x }}``, ``<Badge>``, ``[[toc]]`` and ``v-pre``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import as_markdown
from .fences import Fences, code_of, fenced, fences_of, is_quoted, language_of
from .parts import Directive, Literal, Part, between, dedented, lines, whole
from .project import Context, shown, value_at

# In a folder of VitePress also any other "{{".
MARKS = (
    "<<<", "@include", "!!!include", "$frontmatter", "$page.", "<Badge", "[[toc]]", "v-pre", "<script",
    "<style",
)  # fmt: skip

_CODE = re.compile(
    r"^(?P<indent>[ \t]*)<<<[ \t]*(?P<target>[^\s#{\[]+)(?:#(?P<region>[\w-]+))?"
    r"(?:[ \t]?\{[\d,-]*[ \t]*(?P<language>[^\s{}:]*)[^{}\n]*\})?(?:[ \t]*\[[^\]\n]*\])?[ \t]*$",
    re.MULTILINE,
)
_PART = re.compile(
    r"<!--[ \t]*@include:[ \t]*(?P<target>[^\s#{}]+?)(?:#(?P<region>[\w-]+))?"
    r"(?:\{(?P<lines>[\d,]+)\})?[ \t]*-->"
)
_PLUGIN = re.compile(r"!!![ \t]*include[ \t]*\([ \t]*(?P<target>[^()\s]{1,300})[ \t]*\)[ \t]*!!!")
_REGION_MARK = r"#[ ]?(?:end)?region\b"
_TOKEN = re.compile(
    r"\{\{(?P<value>(?:(?!\{\{|\}\})[^\n])*)\}\}"
    r"|<Badge\b(?P<badge>[^<>]{0,500})/?>(?:(?P<inside>[^<>\n]{0,200})</Badge>)?"
    r"|(?m:^[ \t]*\[\[toc\]\][ \t]*$)"
    r"|(?m:^(?P<fence>:{3,})[ \t]*(?:v-pre|raw)[ \t]*$)"
    r"|<(?P<script>script|style)\b[^<>]{0,200}>"
    r"|<(?P<element>[a-z][\w-]{0,40})(?=\s)[^<>]{0,200}\sv-pre\b[^<>]{0,200}>"
)
_FRONT_MATTER = re.compile(r"\$(?:frontmatter|page\.frontmatter)(?:\.([\w.-]+)|\[['\"]([\w-]+)['\"]\])\Z")
_TEXT = re.compile(r"\btext=[\"']([^\"'<>]*)[\"']")
_QUOTED = re.compile(r"\A(?:'([^']*)'|\"([^\"]*)\"|`([^`$]*)`)\Z")


def directives(text: str, context: Context) -> Iterator[Directive | Literal]:
    """Yield the directives of a markdown text; those in code are examples of themselves."""
    yield from _includes(text)
    yield from _for_vue(text, context)


def _includes(text: str) -> Iterator[Directive]:
    fences = fences_of(text)
    for found in _CODE.finditer(text):
        if not fences.hold(found.start()):
            yield _code(found)
    for found in _PLUGIN.finditer(text):
        if not fences.hold(found.start()) and not is_quoted(text, *found.span()):
            yield Directive(*found.span(), found["target"], is_nested=True)
    for found in _PART.finditer(text):
        if not fences.hold(found.start()) and not is_quoted(text, *found.span()):
            # "3," is from the third line on, "3,5" from the third to the fifth.
            part = lines(found["lines"].replace(",", ":")) if found["lines"] else _region(found["region"])
            yield Directive(*found.span(), found["target"], part, is_nested=True)


def _code(found: re.Match[str]) -> Directive:
    language = found["language"] or language_of(found["target"])

    def form(part: str) -> str:
        return fenced(language, dedented(part))

    return Directive(*found.span(), found["target"], _region(found["region"]), form, found["indent"])


def _region(name: str | None) -> Part:
    begins, ends = r"#[ ]?region\s+", r"#[ ]?endregion\s+"
    return between(name, begins, ends, _REGION_MARK) if name else whole


def _for_vue(text: str, context: Context) -> Iterator[Literal]:
    """Yield what a page of VitePress holds for Vue; elsewhere only values of the front matter."""
    code, at, absent = code_of(text), 0, set[str]()
    for found in _TOKEN.finditer(text):
        if found.start() < at or code.hold(found.start()):
            continue
        if found["value"] is not None:
            each = _value(found, context)
        elif context.is_of("vitepress"):
            each = _part(text, code, found, absent)
        else:
            each = None
        if each is not None:
            at = each.end
            yield each


def _value(found: re.Match[str], context: Context) -> Literal | None:
    expression = found["value"].strip()
    if named := _FRONT_MATTER.match(expression):
        value = shown(value_at(context.page, named[1] or named[2]))
        return Literal(*found.span(), value, "" if value else f"{expression:.80} has no value")
    if not context.is_of("vitepress"):
        return None
    if quoted := _QUOTED.match(expression):
        return Literal(*found.span(), as_markdown.literal(quoted[1] or quoted[2] or quoted[3] or ""))
    if result := as_markdown.sum_of(expression):
        return Literal(*found.span(), result)
    return Literal(*found.span(), "", f"{{{{ {expression:.80} }}}} is not evaluated and is removed")


def _part(text: str, code: Fences, found: re.Match[str], absent: set[str]) -> Literal | None:
    if found["badge"] is not None:
        given = _TEXT.search(found["badge"])
        return Literal(*found.span(), given[1] if given else (found["inside"] or ""))
    if found["script"]:
        end = _after(text, f"</{found['script']}>", found.end(), absent)
        return Literal(found.start(), end, "") if end >= 0 else None
    if found["element"]:
        return _as_written(text, code, found, absent)
    if not found["fence"]:
        return Literal(*found.span(), "")
    closing = f"\n{found['fence']}\n"
    end = _after(text + "\n" if text.endswith(":") else text, closing, found.end(), absent)
    if end < 0:
        return Literal(*found.span(), "")
    inside = as_markdown.literal_outside_code(text, code, found.end(), end - len(closing))
    return Literal(found.start(), min(end, len(text)), f"{inside}\n\n")


def _as_written(text: str, code: Fences, found: re.Match[str], absent: set[str]) -> Literal | None:
    """Return what an element with ``v-pre`` holds, with braces as entities: it may be HTML or markdown."""
    closing = f"</{found['element']}>"
    end = _after(text, closing, found.end(), absent)
    if end < 0:
        return None
    inside = as_markdown.literal_outside_code(text, code, found.end(), end - len(closing), "&#123;")
    return Literal(found.start(), end, f"{found[0]}{inside}{closing}")


def _after(text: str, mark: str, start: int, absent: set[str]) -> int:
    """Return where the text goes on after the next such mark, -1 if there is none, as there is none later."""
    at = -1 if mark in absent else text.find(mark, start)
    if at < 0:
        absent.add(mark)
    return at + len(mark) if at >= 0 else -1
