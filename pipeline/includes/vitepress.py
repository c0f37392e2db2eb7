"""The directives of VitePress and VuePress: what they include, and what is for Vue.

Files are included by ``<<< @/file.js#region``, ``<!--@include: ./part.md-->``, and, of a plugin,
``!!!include(part.md)!!!``. For Vue are ``{{ $frontmatter.x }}``, ``<Badge>``, ``[[toc]]`` and ``v-pre``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from ..address import slugify
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
    r"(?:[ \t]?\{(?P<lines>[\d,-]*)[ \t]*(?P<language>[^\s{}:]*)(?P<numbers>:[\w=-]+)?[^{}\n]*\})?"
    r"(?:[ \t]*\[(?P<title>[^\]\n]*)\])?[ \t]*$",
    re.MULTILINE,
)
# Its blocks of code are tabs, which take their names from files.
_GROUP = re.compile(r"^[ \t]*(:{3,})[ \t]*code-group\b[^\n]*\n(?:(?![ \t]*\1[ \t]*$)[^\n]*\n)*", re.MULTILINE)
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
_MAX_HEADING = 200
_HEADING = re.compile(r"\n {0,3}#{1,6}[ \t]+([^\n<>{}\[\]]+)\Z")
_FRONT_MATTER = re.compile(r"\$(?:frontmatter|page\.frontmatter)(?:\.([\w.-]+)|\[['\"]([\w-]+)['\"]\])\Z")
_TEXT = re.compile(r"\btext=[\"']([^\"'<>]*)[\"']")
_QUOTED = re.compile(r"\A(?:'([^']*)'|\"([^\"]*)\"|`([^`$]*)`)\Z")


def directives(text: str, context: Context) -> Iterator[Directive | Literal]:
    """Yield the directives of a markdown text; those in code are examples of themselves."""
    yield from _includes(text)
    yield from _for_vue(text, context)


def _includes(text: str) -> Iterator[Directive]:
    fences = fences_of(text)
    groups = Fences([(*found.span(), "") for found in _GROUP.finditer(text)] if "<<<" in text else [])
    for found in _CODE.finditer(text):
        if not fences.hold(found.start()):
            yield _code(found, is_tab=groups.hold(found.start()))
    for found in _PLUGIN.finditer(text):
        if not fences.hold(found.start()) and not is_quoted(text, *found.span()):
            yield Directive(*found.span(), found["target"], is_nested=True)
    for found in _PART.finditer(text):
        if not fences.hold(found.start()) and not is_quoted(text, *found.span()):
            yield Directive(*found.span(), found["target"], _part_of(found), is_nested=True)


def _part_of(found: re.Match[str]) -> Part:
    """Return what takes a region of a page, or lines of that: "3," from the third on, "3,5" to the fifth."""
    region = _region(found["region"])
    if not found["lines"]:
        return region
    chosen = lines(found["lines"].replace(",", ":"))
    return lambda text: chosen(region(text))


def _code(found: re.Match[str], *, is_tab: bool) -> Directive:
    language = found["language"] or language_of(found["target"])
    title = found["title"] or (PurePosixPath(found["target"]).name if is_tab else "")
    marked = f"{{{found['lines']}}}" if found["lines"] else ""
    said = f"{language}{marked}{found['numbers'] or ''}" + (f" [{title}]" if title else "")

    def form(part: str) -> str:
        return fenced(said.replace("`", ""), dedented(part))

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
        return Literal(*found.span(), (given[1] if given else found["inside"] or "") + _anchor(text, found))
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


def _anchor(text: str, found: re.Match[str]) -> str:
    """Return the name of a heading that ends with a badge, which is no part of it."""
    at = max(0, found.start() - _MAX_HEADING)
    heading = _HEADING.search(text[at : found.start()] if at else f"\n{text[: found.start()]}")
    heading = heading if text[found.end() : found.end() + 1] in ("", "\n") else None
    slug = slugify(heading[1]) if heading else ""
    return f" {{#{slug}}}" if slug else ""


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
