"""A code block as its author wants it shown: its text, without the comments that are meant for the tool.

Taken out are comments that mark lines (``// [!code ++]`` of VitePress, ``// highlight-next-line`` of
Docusaurus), numbers of annotations (``# (1)!`` of Material), options of MyST and Sphinx above the code,
options of doctest, and the escapes or tags that colour the output of a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .info import CODE_DIRECTIVES, CodeInfo, described, read_info
from .terminal import ESCAPE, Run, ansi_runs, html_runs, text_of

_OPENS, _CLOSES = r"(?://|#|--|;|%|/\*|<!--|\{/\*)", r"(?:\*/\}?|-->)?"
_COMMENT = re.compile(
    rf"(?:(?<!\s)[ \t]{{1,40}})?{_OPENS}[ \t]*\[!code[ \t]+([\w+-]{{1,20}})(?::([^\]\n]{{1,80}}))?\]"
    rf"[ \t]*{_CLOSES}"
)
_KINDS = {
    "highlight": "marked", "hl": "marked", "focus": "focused", "++": "added", "--": "removed",
    "error": "error", "warning": "warning",
}  # fmt: skip
_MAGIC = re.compile(rf"[ \t]*{_OPENS}[ \t]*highlight-(next-line|start|end)[ \t]*{_CLOSES}[ \t]*")
_NOTE = re.compile(r"[ \t]{0,40}\((\d{1,2})\)!?[ \t]*(?:\*/|-->)?[ \t]*\Z")
_COMMENT_OPENS = re.compile(rf"{_OPENS}")
_EMPTY_COMMENT = re.compile(rf"(?:(?<!\s)[ \t]{{1,40}})?{_OPENS}[ \t]*\Z")
# As doctest reads them: a quotation mark behind the sign tells that it stands in a string.
_FOR_DOCTEST = re.compile(
    r"(?<![ \t])[ \t]*#[ \t]*doctest:[ \t]*[+-][^\n'\"]*$|^[ \t]*<BLANKLINE>[ \t]*$", re.MULTILINE
)
_OF_SESSIONS = frozenset(
    ["", "default", "doctest", "ipython", "py", "py3", "pycon", "pycon3", "python", "python3"]
)
_OPTION = re.compile(r"[ \t]*:([\w-]{1,40}):[ \t]*([^\n]*)\Z")
_WITH_OPTIONS = (*CODE_DIRECTIVES, "math", "mermaid")
_ANSI_MARK = "\u241b"


@dataclass(frozen=True, slots=True)
class CodeListing:
    """The code, what its info string and its comments say of its lines, and the annotations by line.

    ``runs`` are those of a terminal's output; else there are none.
    """

    info: CodeInfo
    text: str
    notes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()


def read_listing(info: str, code: str, *, in_html: bool = False) -> CodeListing:
    """Return the block of code with this info string; ``in_html``, its colours are written in HTML."""
    said, text = read_info(info), code.rstrip("\n")
    if info.lstrip().startswith("{") and text.lstrip().startswith((":", "---")):
        said, text = _without_options(said, info, text)
    in_html = in_html or (said.language == "console" and "<font color=" in text)
    runs = html_runs(text) if in_html else _escaped(said.language, text)
    if runs:
        return CodeListing(said, text_of(runs), runs=runs)
    text = without_doctest_flags(text, said.language)
    if "highlight-" in text:
        said, text = _without_magic(said, text)
    if "[!code" in text:
        said, text = _without_comments(said, text)
    return CodeListing(said, text)


def without_doctest_flags(code: str, language: str) -> str:
    """Return a session of Python without what is meant for doctest: its options, and marks of empty lines."""
    is_meant = language.lower() in _OF_SESSIONS and ("doctest:" in code or "<BLANKLINE>" in code)
    return _FOR_DOCTEST.sub("", code) if is_meant and code.lstrip().startswith(">>>") else code


def plain_code(source: str, text: str) -> str:
    """Return a few lines of a block's source as the text of the whole block has them."""
    if ESCAPE in source:
        source = text_of(ansi_runs(source))
    if "[!code" in source:
        source = _COMMENT.sub("", source)
    if ("doctest:" in source or "<BLANKLINE>" in source) and source not in text:
        source = _FOR_DOCTEST.sub("", source)
    return text_of(html_runs(source)) if "</" in source and "</" not in text else source


def with_notes(listing: CodeListing, most: int) -> CodeListing:
    """Return the listing with the numbers up to ``most`` taken out of the ends of lines as annotations."""
    lines, notes = listing.text.split("\n"), dict[int, tuple[int, ...]]()
    for number, line in enumerate(lines, start=1):
        if line.rstrip().endswith((")", ")!", "*/", "-->")):
            lines[number - 1], found = _without_notes(line, most)
            if found:
                notes[number] = found
    return replace(listing, text="\n".join(lines), notes=notes) if notes else listing


def _without_notes(line: str, most: int) -> tuple[str, tuple[int, ...]]:
    """Return the line without the annotations in the comment at its end, and these in order."""
    rest, found = line, list[int]()
    while (note := _NOTE.search(rest, max(0, len(rest) - 60))) and 0 < int(note[1]) <= most:
        if not _COMMENT_OPENS.search(rest, 0, note.start() + 1):
            break
        rest = rest[: note.start()]
        found.insert(0, int(note[1]))
    return (_EMPTY_COMMENT.sub("", rest).rstrip() if found else line), tuple(found)


def _escaped(language: str, text: str) -> tuple[Run, ...]:
    if language == "ansi":
        text = text.replace(_ANSI_MARK, ESCAPE)
    return ansi_runs(text) if ESCAPE in text else ()


def _without_options(said: CodeInfo, info: str, text: str) -> tuple[CodeInfo, str]:
    """Take the options of a MyST directive off the code: lines ``:key: value``, or YAML between dashes."""
    if not any(info.lstrip().startswith(f"{{{name}}}") for name in _WITH_OPTIONS):
        return said, text
    lines = text.lstrip("\n").split("\n")
    options: list[str] = []
    if lines[0].strip() == "---" and "---" in (line.strip() for line in lines[1:40]):
        end = next(at for at, line in enumerate(lines[1:40], start=1) if line.strip() == "---")
        options, lines = [f":{line.strip()}" for line in lines[1:end]], lines[end + 1 :]
        options = [line.replace(":", ": ", 2).replace(": ", ":", 1) for line in options]
    while lines and _OPTION.match(lines[0]):
        options.append(lines.pop(0))
    return merged(said, options_info(options)), "\n".join(lines).strip("\n")


def options_info(options: list[str]) -> CodeInfo:
    """Return what lines such as ``:emphasize-lines: 1,3-4`` say."""
    found = filter(None, map(_OPTION.match, options))
    written = (f'{option[1]}="{option[2].strip().replace(chr(34), "")}"' for option in found)
    return described(
        "", " ".join(line.replace('=""', "=1") for line in written if not line.startswith("name"))
    )


def merged(said: CodeInfo, more: CodeInfo) -> CodeInfo:
    """Return both: what an info string and the options below it say."""
    lines = {kind: said.lines.get(kind, frozenset()) | more.lines.get(kind, frozenset())
             for kind in {**said.lines, **more.lines}}  # fmt: skip
    first = more.first_number if more.first_number is not None else said.first_number
    return replace(said, title=said.title or more.title, first_number=first, lines=lines)


def _without_magic(said: CodeInfo, text: str) -> tuple[CodeInfo, str]:
    """Take Docusaurus' comments out, each of which stands on a line of its own."""
    kept: list[str] = []
    marked: set[int] = set()
    inside = is_next = False
    for line in text.split("\n"):
        found = _MAGIC.fullmatch(line)
        if found:
            inside = found[1] == "start" or (inside and found[1] != "end")
            is_next = found[1] == "next-line"
            continue
        kept.append(line)
        if inside or is_next:
            marked.add(len(kept))
        is_next = False
    return merged(said, CodeInfo(lines={"marked": frozenset(marked)})) if marked else said, "\n".join(kept)


def _without_comments(said: CodeInfo, text: str) -> tuple[CodeInfo, str]:
    """Take VitePress' comments out; one that stands alone marks the lines that follow."""
    kept: list[str] = []
    lines: dict[str, set[int]] = {}
    words = list(said.words)
    for line in text.split("\n"):
        shown = _COMMENT.sub("", line)
        alone = shown != line and not shown.strip()
        if not alone:
            kept.append(shown if shown == line else shown.rstrip())
        for found in _COMMENT.finditer(line):
            count = int(found[2]) if (found[2] or "").isdecimal() else 1
            first = len(kept) + alone
            if found[1] == "word" and found[2]:
                words.append(found[2])
            elif kind := _KINDS.get(found[1]):
                lines.setdefault(kind, set()).update(range(first, first + min(count, 1000)))
    more = CodeInfo(lines={kind: frozenset(numbers) for kind, numbers in lines.items()})
    return replace(merged(said, more), words=tuple(words)), "\n".join(kept)
