"""Code in markdown and reStructuredText: where it stands, and how a file becomes fenced code."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

_LANGUAGES = {
    "cjs": "javascript", "h": "c", "htm": "html", "js": "javascript", "kt": "kotlin", "md": "markdown",
    "mjs": "javascript", "pl": "perl", "py": "python", "rb": "ruby", "rs": "rust", "sh": "bash",
    "ts": "typescript", "txt": "text", "yml": "yaml",
}  # fmt: skip
# The marks of quotes and lists that the first line of code may stand behind, but no other.
CONTAINERS = r"[ \t]*+(?:>[ \t]*+|(?:[-*+]|\d{1,9}[.)])[ \t]++)*+"
_FENCE = re.compile(rf"^({CONTAINERS})(`{{3,}}|~{{3,}})([^\n`]*)$", re.MULTILINE)
_CLOSING = re.compile(r"^[ \t]*+(?:>[ \t]*+)*+(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_QUOTES = re.compile(r"(?:[ ]*>)*")
_ITEM = re.compile(r"[ ]*(?:[-*+]|\d{1,9}[.)])[ ]+")
# What is further in than these belongs to them, too: boxes and tabs, and notes at the foot of a page.
_BOX, _BOX_INDENT = re.compile(r"(?P<indent>[ ]*)(?:(?:!!!|\?{3}\+?|={3}[!+]?)[ ]|\[\^[^\[\]]+\]:)"), 4
# Further in than anybody writes.
_WIDEST = 400


def fenced(language: str, code: str) -> str:
    """Return a code block of this language."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def language_of(path: str) -> str:
    """Return the language of a file by its ending, empty if it has none."""
    ending = PurePosixPath(path).suffix.removeprefix(".").lower()
    return _LANGUAGES.get(ending, ending)


_CODE_SPAN = re.compile(r"(?<![`\\])(`+)(?!`)[^\n]{1,2000}?(?<!`)\1(?!`)")


class Fences:
    """The code between fences: where it begins and ends, and the info string."""

    def __init__(self, spans: list[tuple[int, int, str]]) -> None:
        self.spans = spans
        self._starts = [start for start, _, _ in spans]

    def hold(self, position: int) -> bool:
        """Return whether there is code at this position."""
        return self.around(position) is not None

    def around(self, position: int) -> str | None:
        """Return the info string of the code at this position, none if there is none."""
        at = bisect_right(self._starts, position) - 1
        return self.spans[at][2] if at >= 0 and position < self.spans[at][1] else None

    def opens_at(self, text: str, position: int) -> bool:
        """Return whether the position is on the line that opens a block of code, as in its title."""
        after = text.find("\n", position) + 1
        return after > 0 and self.around(after) not in (None, "`") and not self.hold(position)

    def within(self, start: int, end: int) -> list[tuple[int, int, str]]:
        """Return the code that begins in this range, cut at its end."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return [(begin, min(stop, end), info) for begin, stop, info in self.spans[first:last]]


def code_of(text: str) -> Fences:
    """Return the fenced code of a text and its code spans, whose info string is a backtick."""
    spans, at = list[tuple[int, int, str]](), 0
    for start, end, info in [*fences_of(text).spans, (len(text), len(text), "")]:
        if start >= at:
            spans += [(*found.span(), "`") for found in _CODE_SPAN.finditer(text, at, start)]
            spans.append((start, end, info))
            at = end
    return Fences(spans)


def fences_of(text: str) -> Fences:
    """Return the fenced code of a text; its fence ends it, or the end of the quote or item that it is in."""
    spans, opened = list[tuple[int, int, str]](), _FENCE.search(text)
    while opened is not None:
        end, after = fence_end(text, opened.start())
        spans.append((min(opened.end() + 1, end), end, opened[3].strip()))
        opened = _FENCE.search(text, after)
    return Fences(spans)


def fence_end(text: str, start: int) -> tuple[int, int]:
    """Return where the code ends that the fence on the line at ``start`` opens, and where the text goes on.

    Code whose fence is not closed ends with the quote or the item of a list that it is in, else with the
    text.
    """
    opened = _FENCE.match(text, start)
    if opened is None:
        return start, start
    levels, at = _levels(text, opened), opened.end() + 1
    find = _CLOSING.match if levels else _CLOSING.search
    while 0 < at < len(text):
        if not _is_within(text, at, levels):
            return at, at
        found = find(text, at)
        if found and found[1].startswith(opened[2]) and found[0].count(">") == opened[1].count(">"):
            return found.start(), found.end()
        at = text.find("\n", found.end() if found else at) + 1 if found or levels else 0
    return len(text), len(text)


def _levels(text: str, opened: re.Match[str]) -> list[int]:
    """Return how far in the lines of code must be: before each mark of a quote, and behind the last.

    The list is empty where they may begin anywhere.
    """
    *before, last = opened[1].expandtabs(4).split(">")
    levels = [len(part) if part.strip() else 0 for part in (*before, last)]
    if last and not last.strip():
        levels[-1] = _columns(text).get(opened.start(), 0)
    return levels if before or levels[-1] else []


@lru_cache(maxsize=4)  # the same text is asked about by each reader of directives
def _columns(text: str) -> Mapping[int, int]:
    """Return where the text of the item of a list begins that each indented fence is in, by its line."""
    found, items, at, is_new = dict[int, int](), [list[int]()], 0, True
    for line in text.split("\n"):
        body = line[:_WIDEST].expandtabs(4)
        quotes = _QUOTES.match(body) if ">" in body else None
        inside = quotes[0].count(">") if quotes else 0
        if inside != len(items) - 1:
            items = [*items[: inside + 1], *([] for _ in range(inside + 1 - len(items)))]
        body = body[quotes.end() :] if quotes else body
        written = body.lstrip()
        has_mark, columns = written.startswith(("```", "~~~")), _item_columns(body)
        if written and (is_new or has_mark or columns):  # any other line may go on with a paragraph
            _leave(items[-1], len(body) - len(written))
        if has_mark:
            found[at] = items[-1][-1] if items[-1] else 0
        items[-1] += columns
        at, is_new = at + len(line) + 1, not written
    return found


def _leave(items: list[int], indent: int) -> None:
    while items and items[-1] > indent:
        items.pop()


def _item_columns(line: str) -> list[int]:
    """Return where the text of each item begins that a line opens."""
    box = _BOX.match(line)
    columns, at = [box.end("indent") + _BOX_INDENT] if box else list[int](), 0
    while found := _ITEM.match(line, at):
        at = found.end()
        columns.append(at)
    return columns


def _is_within(text: str, start: int, levels: list[int]) -> bool:
    """Return whether a line is still in the quotes and items of lists that code is in."""
    if not levels:
        return True
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)][:_WIDEST].expandtabs(4)
    for at, column in enumerate(levels):
        if at:
            mark = len(line) - len(line.lstrip())
            if line[mark : mark + 1] != ">":
                return False
            line = line[mark + 1 :]
        if line.strip() and len(line) - len(line.lstrip()) < column:
            return False
    return True


# Behind the marks of lists, where the text of a line begins, further in than which its literal block is.
_MARGIN = re.compile(r"[ \t]*(?:(?:[-*+]|(?:\d{1,3}|[A-Za-z#])[.)]|:[^:\n]{1,80}:)[ \t]+)*")
_CODE_DIRECTIVE = re.compile(
    r"\.\.[ \t]+(?:code(?:-block|-cell)?|sourcecode|prompt|productionlist|ipython|doctest"
    r"|testcode|testoutput|highlight)::"
)


def literal_blocks(text: str) -> Fences:
    """Return the code of a text in reStructuredText: literal blocks, and what directives show as code."""
    spans, at, begin, margin = list[tuple[int, int, str]](), 0, -1, 0
    for line in text.split("\n"):
        if written := line.strip():
            indent = len(line) - len(line.lstrip())
            if begin >= 0 and margin < 0:  # of a field only what follows tells how far in its text is
                margin = max(0, indent - 1)
            if begin >= 0 and indent <= margin:
                spans.append((begin, at, ""))
                begin = -1
            marks = _MARGIN.match(line)
            text_at = marks.end() if marks else 0
            is_quoting = written.endswith("::") and not line.startswith("..", text_at)
            if begin < 0 and (is_quoting or _CODE_DIRECTIVE.match(line, text_at)):
                begin, margin = at + len(line) + 1, -1 if written.startswith(":") else text_at
        at += len(line) + 1
    return Fences([*spans, (begin, len(text), "")] if begin >= 0 else spans)


_INDENTED = re.compile(r"(?:[ \t]*>[ \t]?)*(?: {4}| {0,3}\t)")


class IndentedCode:
    """The code of a text from ``start`` on that its indentation alone makes code.

    Lists and boxes are indented too, so that only the parser can tell; it is asked once there is a need.
    """

    def __init__(self, text: str, start: int) -> None:
        self._text, self._start = text, start

    def hold(self, position: int) -> bool:
        """Return whether there is such code at this position."""
        line = self._text.rfind("\n", 0, position) + 1
        return _INDENTED.match(self._text, line) is not None and self._code.hold(position)

    @cached_property
    def _code(self) -> Fences:
        body = self._text[self._start :]
        ends = [self._start, *(self._start + found.end() for found in re.finditer("\n", body))]
        ends.append(len(self._text))
        lines = (each.map for each in block_tokens(body) if each.type == "code_block" and each.map)
        return Fences([(ends[first], ends[min(last, len(ends) - 1)], "") for first, last in lines])


def block_tokens(text: str, *rules: str) -> list[Token]:
    """Return the blocks of a text as a parser of markdown sees them that knows these rules, too."""
    tokens, md = list[Token](), _block_parser(rules)
    md.block.parse(text, md, {}, tokens)
    return tokens


@cache
def _block_parser(rules: Sequence[str]) -> MarkdownIt:
    md = MarkdownIt("commonmark", {"maxNesting": 100}).enable(list(rules))
    return md.use(footnote_plugin).use(deflist_plugin).use(admon_plugin)


def is_quoted(text: str, start: int, end: int) -> bool:
    """Return whether the directive is inline code, and so an example of itself."""
    return text[start - 1 : start] == "`" and text[end : end + 1] == "`"


def indent_before(text: str, start: int) -> str:
    """Return the white space before a directive that begins its line."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return before if not before.strip() else ""
