"""The directives of VitePress and VuePress: what they include, and what is for Vue.

Files are included by ``<<< @/file.js#region``, ``<!--@include: ./part.md-->``, and, of a plugin,
``!!!include(part.md)!!!``. For Vue are ``{{ $frontmatter.x }}``, ``<Badge>``, ``[[toc]]``, ``v-pre``,
attributes such as ``@click`` and ``:src``, and the constants of ``<script setup>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from ..address import slugify
from . import as_markdown
from .fences import Fences, code_of, fenced, fences_of, is_quoted, language_of
from .parts import Directive, Literal, NoSuchPart, Part, between, dedented, lines, whole
from .project import Context, shown, value_named

# In a folder of VitePress also any other "{{".
MARKS = (
    "<<<", "@include", "!!!include", "$frontmatter", "$page.", "<Badge", "[[toc]]", "v-pre", "<script",
    "<style", "<template", " @click", " :src=", " :href=",
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
    r"<!--[ \t]*@include:[ \t]*(?P<target>[^\s#{}]{1,500}?)(?:#(?P<region>[\w-]+))?"
    r"(?:\{(?P<lines>[\d,]+)\})?[ \t]*-->"
)
_PLUGIN = re.compile(r"!!![ \t]*include[ \t]*\([ \t]*(?P<target>[^()\s]{1,300})[ \t]*\)[ \t]*!!!")
_REGION_BEGINS, _REGION_ENDS = (
    rf"(?:#|//|<!--|::)[ ]?#?(?:pragma[ ])?{word}[ ]+" for word in ("region", "endregion")
)
_REGION_MARK = r"(?:#|//|<!--|::)[ ]?#?(?:pragma[ ])?(?:end)?region\b"
_ATX = re.compile(
    r"[ ]{0,3}(#{1,6})[ \t]+(?P<title>[^\n]*?)[ \t]*(?:\{[ \t]*#(?P<id>[\w:.-]+)[^{}\n]*\})?[ \t]*"
)
# The attributes of a tag, in which ">" may stand between quotation marks.
_GIVEN = r"(?:[^<>\"'/]|/(?!>)|\"[^\"]{0,500}\"|'[^']{0,500}'){0,500}"
_TOKEN = re.compile(
    r"\{\{(?P<value>(?:(?!\{\{|\}\})[^\n])*)\}\}"
    rf"|<Badge\b(?P<badge>{_GIVEN})/?>(?:(?P<inside>[^<>\n]{{0,200}})</Badge>)?"
    r"|(?m:^[ \t]*\[\[toc\]\][ \t]*$)"
    r"|(?m:^(?P<fence>:{3,})[ \t]*(?:v-pre|raw)[ \t]*$)"
    r"|<(?P<script>script|style)\b[^<>]{0,200}>"
    r"|<(?P<element>[a-z][\w-]{0,40})(?=\s)[^<>]{0,200}\sv-pre\b[^<>]{0,200}>"
    rf"|<(?P<slash>/?)template\b{_GIVEN}>"
    rf"|<(?P<bound>[A-Za-z][\w.-]{{0,40}})(?=\s)(?P<given>{_GIVEN})(?=/?>)"
)
_MAX_HEADING = 200
_HEADING = re.compile(r"\n {0,3}#{1,6}[ \t]+([^\n<>{}\[\]]+)\Z")
_FRONT_MATTER = re.compile(
    r"\$?(?:page\.)?frontmatter((?:\.[A-Za-z_$][\w$-]*|\[\d{1,6}\]|\[(?:'[^'\]\n]*'|\"[^\"\]\n]*\")\])+)\Z"
)
_TEXT = re.compile(r"(:?)\btext=(?:\"([^\"]*)\"|'([^']*)')")
# What Vue computes or listens to; of those that hold a literal, a few say something to a reader.
_BOUND = re.compile(
    r"\s+(?P<name>[@:#][\w.:\[\]-]{1,60}|v-[\w.:-]{1,60})(?:=(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'))?(?=[\s/]|\Z)"
)
_READ_BOUND = frozenset({"src", "href", "alt", "title", "id", "width", "height"})
_FOR_LOOKS = frozenset({":class", ":style", ":key", ":is", ":ref"})
_WITH_BASE = re.compile(r"(?:\$?withBase)\((.*)\)\Z")
_CONSTANT = re.compile(
    r"^[ \t]*const[ \t]+(\w+)[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*(?:(?:shallowR|r)ef(?:<\w+>)?\([ \t]*)?"
    r"(?:'([^'\n]*)'|\"([^\"\n]*)\"|`([^`$\n]*)`|(\d{1,15}(?:\.\d{1,15})?))[ \t]*\)?;?[ \t]*$",
    re.MULTILINE,
)
_SCRIPT = re.compile(r"<script\b[^<>]{0,200}>")
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
    region = _region_or_section(found["region"])
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
    return between(name, _REGION_BEGINS, _REGION_ENDS, _REGION_MARK) if name else whole


def _region_or_section(name: str | None) -> Part:
    """Return what takes a region of a page, or else what stands below the heading of this name."""
    region = _region(name)

    def part(text: str) -> str:
        try:
            return region(text)
        except NoSuchPart:
            section = _section(text, name or "")
            if section is None:
                raise
            return section

    return part


def _section(text: str, name: str) -> str | None:
    """Return the text below the heading with this anchor, up to the next of its level, if there is one."""
    fences, level, at, found = fences_of(text), 0, 0, list[str]()
    for line in text.splitlines(keepends=True):
        heading = None if fences.hold(at) else _ATX.fullmatch(line.rstrip("\n"))
        at += len(line)
        if heading and level and len(heading[1]) <= level:
            break
        if level:
            found.append(line)
        elif heading and name in (heading["id"], slugify(heading["title"])):
            level = len(heading[1])
    return "".join(found).strip("\n") if level else None


def _for_vue(text: str, context: Context) -> Iterator[Literal]:
    """Yield what a page of VitePress holds for Vue; elsewhere only values of the front matter."""
    code, at, absent = code_of(text), 0, set[str]()
    constants = _constants(text) if context.is_of("vitepress") else {}
    for found in _TOKEN.finditer(text):
        if found.start() < at or code.hold(found.start()):
            continue
        if found["value"] is not None:
            each = _value(found, context, constants)
        elif context.is_of("vitepress"):
            each = _part(text, code, found, absent)
        else:
            each = None
        if each is not None:
            at = each.end
            yield each


def _constants(text: str) -> Mapping[str, str]:
    """Return the texts and numbers that the scripts of a page give names to."""
    constants, end = dict[str, str](), 0
    while (script := _SCRIPT.search(text, end)) and (end := text.find("</script>", script.end())) >= 0:
        for found in _CONSTANT.finditer(text, script.end(), end):
            constants[found[1]] = found[2] or found[3] or found[4] or found[5] or ""
    return constants


def _value(found: re.Match[str], context: Context, constants: Mapping[str, str]) -> Literal | None:
    expression = found["value"].strip()
    named = _FRONT_MATTER.match(expression)
    if named and (expression[0] == "$" or context.is_of("vitepress")):
        value = shown(value_named(named[1], context.page))
        return Literal(*found.span(), value, "" if value else f"{expression:.80} has no value")
    if not context.is_of("vitepress"):
        return None
    if (text := _text_of(expression)) is not None:
        return Literal(*found.span(), as_markdown.literal(text))
    if expression in constants:
        return Literal(*found.span(), as_markdown.literal(constants[expression]))
    if result := as_markdown.sum_of(expression):
        return Literal(*found.span(), result)
    return Literal(*found.span(), "", f"{{{{ {expression:.80} }}}} is not evaluated and is removed")


def _text_of(expression: str) -> str | None:
    """Return the text that a literal of a script stands for; ``None`` for any other expression."""
    quoted = _QUOTED.match(expression)
    return next((each for each in quoted.groups() if each), "") if quoted else None


def _part(text: str, code: Fences, found: re.Match[str], absent: set[str]) -> Literal | None:
    if found["script"]:
        end = _after(text, f"</{found['script']}>", found.end(), absent)
        return Literal(found.start(), end, "") if end >= 0 else None
    if found["element"]:
        return _as_written(text, code, found, absent)
    if not found["fence"]:
        return _tag(text, found)
    return _fenced(text, code, found, absent)


def _tag(text: str, found: re.Match[str]) -> Literal | None:
    """Return what stands for one tag of Vue, or for the list of the page's own contents."""
    if found["badge"] is not None:
        return Literal(*found.span(), _badge(found["badge"], found["inside"] or "") + _anchor(text, found))
    if found["bound"]:
        return _without_bound(found)
    # What a slot of a component holds is shown.
    return Literal(*found.span(), "" if found["slash"] is None else f"<{found['slash']}div>")


def _fenced(text: str, code: Fences, found: re.Match[str], absent: set[str]) -> Literal:
    """Return what a container with ``v-pre`` holds, with braces that stand for themselves."""
    closing = f"\n{found['fence']}\n"
    end = _after(text + "\n" if text.endswith(":") else text, closing, found.end(), absent)
    if end < 0:
        return Literal(*found.span(), "")
    inside = as_markdown.literal_outside_code(text, code, found.end(), end - len(closing))
    return Literal(found.start(), min(end, len(text)), f"{inside}\n\n")


def _badge(given: str, inside: str) -> str:
    said = _TEXT.search(given)
    if said is None:
        return inside
    text = (said[2] or said[3] or "").replace("<", "&lt;")
    return (_text_of(text.strip()) or "") if said[1] else text


def _without_bound(found: re.Match[str]) -> Literal | None:
    """Return the tag without what is for Vue, with which it is no HTML; nothing for one without any."""
    if not _BOUND.search(found["given"]):
        return None
    lost = [each["name"] for each in _BOUND.finditer(found["given"]) if _is_lost(each)]
    is_component = found["bound"][0].isupper() and lost
    note = f"{lost[0]:.40} of <{found['bound']}> is not evaluated and is removed" if is_component else ""
    return Literal(*found.span(), f"<{found['bound']}{_BOUND.sub(_read_bound, found['given'])}", note)


def _is_lost(found: re.Match[str]) -> bool:
    """Return whether an attribute may hold what a component shows, and is not read."""
    is_bound = found["name"].startswith((":", "v-bind")) and found["name"] not in _FOR_LOOKS
    return is_bound and not _read_bound(found)


def _read_bound(found: re.Match[str]) -> str:
    name = found["name"].removeprefix("v-bind").removeprefix(":")
    value = (found["double"] or found["single"] or "").strip()
    based = _WITH_BASE.match(value)
    text = _text_of(based[1].strip() if based else value)
    return f' {name}="{text}"' if text and name in _READ_BOUND and '"' not in text else ""


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
