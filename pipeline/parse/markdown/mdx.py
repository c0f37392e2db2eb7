"""Converting MDX to markdown: imports, exports, component tags and comments are removed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from markdown_it.common.html_blocks import block_names

from ...includes.as_markdown import closed, opened, sum_of
from ...includes.fences import fences_of
from ...includes.parts import TAG, indented, without_tags
from . import components

# A longer tag is taken for text; all tags together may cost a few looks at each character.
MAX_TAG_CHARS = 250_000
MAX_LOOKS = 8

_FENCE = re.compile(r"[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*\Z)|~{3,})")
# Of Docusaurus: MDX that other readers of markdown take for code.
_MDX_FENCE = re.compile(
    r"^[ ]{0,3}(`{3,})mdx-code-block[ \t]*\n"
    r"((?:(?![ ]{0,3}`{3,}mdx-code-block)[^\n]*\n)*?)[ ]{0,3}\1[ \t]*$\n?",
    re.MULTILINE,
)
_LIST_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_IMPORT = r"import[ \t]*(?:[\"'{*]|type[ \t]*\{|[\w$]+[ \t]*,[ \t]*\{|[^\n]*\bfrom[ \t]*[\"'])"
_EXPORT = r"export[ \t]*(?:[{*]|(?:default|const|let|var|function|async|class|type|interface|enum)\b)"
_MODULE = re.compile(f"(?:{_IMPORT}|{_EXPORT})")
# An escape, a code span, a tag, a comment or a string in braces.
_NEXT = re.compile(
    r"\\.|(`+)(?!`)[^\n]{0,2000}?(?<!`)\1(?!`)|`+|\$\$[^$]{1,2000}\$\$|\$[^\s$][^$\n]{0,200}\$|<(?=[A-Za-z/>])|\{",
    re.DOTALL,
)
_NAME = re.compile(r"<(/?)((?:[A-Za-z][\w.-]*(?::[\w-]+)?)?)(?=[\s/>])")
_STRING = re.compile(r"\{\s*(?:\"([^\"\n]{0,500})\"|'([^'\n]{0,500})'|`([^`$]{0,5000})`)\s*\}")
_GIVEN = re.compile(r"\{\s*front[mM]atter\.(\w+)\s*\}")
_SUM = re.compile(r"\{([\d\s.()+*/-]{1,80})\}")
_BRACE = re.compile(r"[{}]")
_COMPONENT = re.compile(
    rf"(?m:^(?:import[ \t]+[\w$*{{][^\n]{{0,300}}[ \t}}]from[ \t]*[\"']|{components.OWN}))"
)
_IMAGE_IMPORT = re.compile(
    r"(?im:^import[ \t]+([\w$]+)[ \t]+from[ \t]*[\"']([^\"'\n]+\.(?:png|jpe?g|gif|svg|webp|avif))[\"'])"
)
# The text of a link: of one paragraph, and without tags.
_LINKED = re.compile(r"(?=[^<>\[\]{}]*\w)(?:[^<>\[\]{}\n]|\n(?![ \t]*\n)){1,300}</(?P<name>[\w.]+)>")
# What an element holds on one line; in MDX it is markdown.
_MARKED_UP = re.compile(
    r"(?=[^\n<]*[`*_\[])[^\n]{1,1000}?</(?P<name>summary|td|th|li|p|div|dt|dd|figcaption)>"
)
# Where markdown goes on in the next line, which would be HTML for other readers.
_ELEMENT_LINE = re.compile(rf"^(<({'|'.join(block_names)})\b[^\n]*</\2>[ \t]*\n)(?=[^\s<])", re.MULTILINE)
# What ends with a quotation mark; in braces, where a program stands, not with one behind a backslash.
_ENDS = {(mark, False): re.compile(rf"[^{mark}]*+{mark}") for mark in "\"'`"}
_ENDS |= {(mark, True): re.compile(rf"(?:[^{mark}\\]|\\[\s\S])*+{mark}") for mark in "\"'`"}
_IN_TAG = re.compile(r"[\"'`{}<>]")
# An expression of a program; of a name in braces at a heading's end, "#" tells.
_PROGRAM = re.compile(
    r"\{\s*+(?:(?:(?:await|new)\s++|!\s*+)?[A-Za-z_$(\[][\w$]*+\s*+[^\s\w$]|[A-Za-z_$][\w$]*\s*\})"
)
_ATTRIBUTE = re.compile(r"\s(label|value|title|type)=(?:\{\s*)?(?:\"([^\"\n]*)\"|'([^'\n]*)')")
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


@dataclass(frozen=True, slots=True)
class FromMdx:
    """Markdown made of MDX, and the expressions of programs that were removed from it."""

    text: str
    removed: tuple[str, ...]


def is_mdx(text: str) -> bool:
    """Return whether markdown imports components, as Docusaurus lets it, or uses those of Docusaurus."""
    if _MDX_FENCE.search(text):
        return True
    code = fences_of(text) if any(each in text for each in ("import ", "<TabItem", "<DocCardList")) else None
    return code is not None and any(not code.hold(found.start()) for found in _COMPONENT.finditer(text))


def markdown_of_mdx(text: str, front_matter: Mapping[str, object] | None = None) -> FromMdx:
    """Remove program code from the text; what components say, such as titles and labels, stays.

    ``{frontMatter.x}`` is what the front matter says.
    """
    text = _MDX_FENCE.sub(r"\2", text)
    boxes = components.boxes(text)
    imported = dict(_IMAGE_IMPORT.findall(text))
    tags = _Tags(MAX_LOOKS * len(text), boxes, imported, front_matter or {})
    pieces = (
        lines if is_code else _ELEMENT_LINE.sub(r"\1\n", tags.without(lines))
        for is_code, lines in _regions(text)
    )
    return FromMdx(without_tags("\n".join(pieces)), tuple(tags.removed))


def _regions(text: str) -> Iterator[tuple[bool, str]]:
    """Yield runs of lines: fenced code separately from prose, which loses its imports and exports."""
    lines: list[str] = []
    fence, cut = "", 0
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if not fence and found:
            cut = _depth_outside_lists(line, lines)
            yield False, _without_modules(lines)
            lines, fence = [line], found[1]
        elif fence and line.strip(" \t>").startswith(fence) and not line.strip(" \t>").strip(fence[0]):
            yield True, "\n".join(each[min(cut, _indent(each)) :] for each in (*lines, line))
            lines, fence = [], ""
        else:
            lines.append(line)
    yield bool(fence), "\n".join(lines) if fence else _without_modules(lines)


def _depth_outside_lists(fence: str, before: list[str]) -> int:
    """Return how deep a fence is indented that is in no list: code without a fence is none in MDX."""
    last = next((line for line in reversed(before) if line.strip()), "")
    return 0 if not last or last[0].isspace() or _LIST_ITEM.match(last) else _indent(fence)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _without_modules(lines: list[str]) -> str:
    """Remove import and export statements: those that begin a paragraph and end with it."""
    kept: list[str] = []
    position, looks = 0, MAX_LOOKS * len(lines)
    while position < len(lines):
        begins = not kept or not kept[-1].strip()
        if begins and _MODULE.match(lines[position]):
            position, looked_at = _statement_end(lines, position, looks)
            looks -= looked_at
        else:
            kept.append(lines[position])
            position += 1
    return "\n".join(kept)


def _statement_end(lines: list[str], start: int, looks: int) -> tuple[int, int]:
    """Return the line after a statement, and how many lines were read to find it.

    It is the first blank line at which all brackets are closed; where they never close, the first blank line.
    """
    depth, first_blank, last = 0, 0, min(len(lines), start + max(looks, 1))
    for index in range(start, last):
        if not lines[index].strip():
            first_blank = first_blank or index
            if depth <= 0:
                return index, index - start
        depth += sum(_BRACKETS.get(character, 0) for character in lines[index])
    return (depth > 0 and first_blank) or last, last - start


@dataclass(slots=True)
class _Tags:
    """Removes tags from prose; ``looks`` is the number of characters that may still be scanned for tags."""

    looks: int
    # Components that become boxes: as many are closed as opened.
    boxes: set[str]
    # Addresses of images by the names under which the page imports them.
    imported: Mapping[str, str] = field(default_factory=dict)
    front_matter: Mapping[str, object] = field(default_factory=dict)
    depth: int = 0
    # The titles of tabs to come, the next one last.
    tabs: list[str] = field(default_factory=list)
    labels: Mapping[str, str] = field(default_factory=dict)
    # What ends the link that the component is whose text is being read.
    link_end: str = ""
    removed: list[str] = field(default_factory=list)

    def without(self, text: str) -> str:
        """Return the prose with a mark where each tag was."""
        pieces, position = [], 0
        while found := _NEXT.search(text, position):
            pieces.append(text[position : found.start()])
            position = found.end()
            if found[0] == "<":
                position = self._tag(text, found.start(), pieces)
            elif found[0] == "{":
                position = self._braces(text, found.start(), pieces)
            else:
                pieces.append(found[0])
        return "".join([*pieces, text[position:]])

    def _tag(self, text: str, start: int, pieces: list[str]) -> int:
        """Return where to continue after ``<``, keeping what follows unless it is the tag of a component."""
        named = _NAME.match(text, start)
        end = self._end_of_tag(text, named.end()) if named else -1
        if named is None or end < 0:
            pieces.append("<")
            return start + 1
        tag, name = text[start:end], named[2]
        if name == "Tabs" and not named[1]:
            self.tabs, self.labels = components.tab_titles(tag)[::-1], components.tab_labels(tag)
        if name[:1].islower() and "." not in name and not ("{" in tag and tag.endswith("/>")):
            tag = f"<{named[1]}{name}>" if "{" in tag else tag
            inside = _MARKED_UP.match(text, end) if not named[1] else None
            is_markdown = inside is not None and inside["name"] == name
            pieces.append(f'{tag[:-1]} markdown="span">' if is_markdown else tag)
            return end
        if name in self.boxes and not tag.endswith("/>"):
            indent = text[text.rfind("\n", 0, start) + 1 : start]
            pieces.append(self._box(name, tag, indent if not indent.strip() else ""))
            return end
        if name == "Details":
            pieces.append(components.details(tag))
        elif entry := components.file_entry(name, tag):
            pieces.append(entry.strip())
        elif named[1]:
            pieces.append(self.link_end or TAG)
            self.link_end = ""
        else:
            shown = components.image(name, tag, self.imported, pieces)
            pieces.append(f"{shown}{TAG}" if shown else self._component(text, start, end, name, pieces))
        return end

    def _component(self, text: str, start: int, end: int, name: str, before: list[str]) -> str:
        """Return what an opening tag or a whole component shows of its attributes."""
        given = components.attributes(text[start:end])
        inside = _LINKED.match(text, end)
        if inside and inside["name"] == name and (target := components.target(given)):
            begin, self.link_end = components.link(target, before)
            return begin
        if (indent := text[text.rfind("\n", 0, start) + 1 : start]).strip():
            return components.inline(name, given) or TAG
        is_whole = text.endswith("/>", start, end) or text.startswith(f"</{name}>", end)
        found = components.said(name, given, is_whole=is_whole)
        return f"\n{indented(found, indent)}\n{indent}{TAG}" if found else TAG

    def _box(self, name: str, tag: str, indent: str) -> str:
        """Return the lines that open or close a box in place of a component's tag."""
        if tag.startswith("</"):
            self.depth = max(0, self.depth - 1)
            return f"{closed(self.depth, indent)}{TAG}"
        given, kind = {key: a or b for key, a, b in _ATTRIBUTE.findall(tag)}, components.BOXES[name]
        if kind == "tab":
            value = given.get("value", "")
            title = given.get("label") or given.get("title") or self.labels.get(value, value)
            title = title or (self.tabs.pop() if self.tabs else "")
        else:
            kind, title = given.get("type", kind), given.get("title", "")
        self.depth += 1
        return f"{opened(kind, title, self.depth - 1, indent)}{TAG}"

    def _end_of_tag(self, text: str, position: int) -> int:
        """Return the offset after the ``>`` that ends the tag, or -1, skipping strings and braces."""
        depth, start = 0, position
        limit = min(len(text), start + max(0, min(MAX_TAG_CHARS, self.looks)))
        while found := _IN_TAG.search(text, position, limit):
            position = found.end()
            character = found[0]
            if character in "\"'`":
                if (ends := _ENDS[character, depth > 0].match(text, position, limit)) is None:
                    break
                position = ends.end()
            elif character in "{}":
                depth += 1 if character == "{" else -1
            elif depth == 0:
                self.looks -= position - start
                return position if character == ">" else -1
        self.looks -= limit - start
        return -1

    def _braces(self, text: str, start: int, pieces: list[str]) -> int:
        """Return where to continue after an opening brace: comments are removed, everything else is kept."""
        if text.startswith(("{/*", "{ /*"), start):
            limit = start + max(0, min(MAX_TAG_CHARS, self.looks))
            end = text.find("*/", start, limit)
            self.looks -= (end if end > 0 else limit) - start
            closing = text.find("}", end, end + 100) if end > 0 else -1
            if closing > 0 and not text[end + 2 : closing].strip():
                pieces.append(TAG)
                return closing + 1
        given, found = _GIVEN.match(text, start), _SUM.match(text, start)
        value = self.front_matter.get(given[1]) if given else found and (sum_of(found[1].strip()) or None)
        if (named := given or found) and isinstance(value, str | int | float):
            pieces.append(str(value))
            return named.end()
        string = _STRING.match(text, start)
        end = self._end_of_expression(text, start) if not string and _PROGRAM.match(text, start) else 0
        if end > 0:
            self.removed.append(text[start : min(end, start + 80)])
            return end
        pieces.append((string[1] or string[2] or string[3] or "") if string else "{")
        return string.end() if string else start + 1

    def _end_of_expression(self, text: str, start: int) -> int:
        """Return the offset after the brace that closes the one at ``start``, or -1."""
        depth, limit = 0, start + max(0, min(MAX_TAG_CHARS, self.looks))
        for found in _BRACE.finditer(text, start, limit):
            depth += 1 if found[0] == "{" else -1
            if depth == 0:
                self.looks -= found.end() - start
                return found.end()
        self.looks -= limit - start
        return -1
