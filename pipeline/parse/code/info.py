"""Info strings of code blocks, as all tools write them: language, title, line numbers, marked lines.

Read are those of Material for MkDocs (``title="x" linenums="1" hl_lines="2-3 5"``), Docusaurus (``{1,3-4}
showLineNumbers``), VitePress (``:line-numbers=2 [file]``), mdBook (``rust,ignore``), Hugo
(``{linenos=table,hl_lines=[1,"3-4"]}``), Pandoc (``{.python .numberLines startFrom="5"}``), Quartz
(``/word/``), Starlight (``ins={2} del={3}``) and Mintlify (``index.ts icon="x" highlight={1}``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

MAX_INFO_CHARS = 1_000
# Lines beyond it are neither marked nor, in an info string of a hostile page, counted.
MAX_LINE = 2_000
# Of MyST and knitr: the word after the braces is the language.
CODE_DIRECTIVES = frozenset({"code", "code-block", "code-cell", "sourcecode", "prompt", "parsed-code"})
_FIXED = {
    "doctest": "pycon",
    "testcode": "python",
    "ipython": "ipython",
    "jupyter-execute": "python",
    "myst": "markdown",
}
# Not a language: how MDN marks code that its linter skips.
_SUFFIXES = ("-nolint",)

# Only those of MyST have options in the braces: the first word of Pandoc's and knitr's is the language.
_DIRECTIVE = re.compile(
    r"\{((?:code|code-block|code-cell)(?=[ \t])|[\w-]+(?=\}))(?P<options>[^{}\n]*)\}[ \t]*([\w+#.-]*)"
)
# What is beside their names is a file, a format or a condition, or not for readers.
_NO_TITLE = frozenset(
    {
        "comment",
        "embed",
        "graphviz",
        "ifconfig",
        "iframe",
        "include",
        "literalinclude",
        "only",
        "plantuml",
        "plot",
        "raw",
    }
)
# What is beside the name of an unknown directive, or of an interpreter, is text without one of these.
_OPTION_SIGN = re.compile(r"[={}\"]")
# Pandoc's, before the classes of which the first is the language.
_IDENTIFIER = re.compile(r"\A#[^\s{}]+[ \t]+(?=\.)")
_NAME = re.compile(r"\.?(?:language-)?([A-Za-z0-9_][\w+#.-]*)(?![\w+#.-]*\s*=)")
_PART = re.compile(
    r"""(?P<key>[\w-]+)\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|\{(?P<braced>[\d\s,-]*)\}"""
    r"""|\[(?P<listed>[^\[\]]*)\]|(?P<bare>[^\s,{}\[\]"']+))"""
    r"""|\{(?P<lines>[\d\s,-]+)\}"""
    r"""|\[(?P<file>[^\[\]]+)\]"""
    r"""|(?<=\s)/(?P<word>[^/\s][^/]{0,80})/"""
    r"""|\.?(?P<flag>[\w-]+)(?:\{(?P<first>\d{1,6})\})?"""
)
# What is not one of a title's words, and titles that stand there by themselves: a file's name, or "Output".
_NO_WORD = re.compile(
    r"(?<![\w-])[\w-]++\s*+=\s*+(?:\"[^\"]*\"|'[^']*'|\{[^{}]*\}|\[[^\[\]]*\]|[^\s,]++)|[{\[][^{}\[\]]*+[}\]]"
    r"|(?<!\S)/[^/\s][^/]{0,80}/(?!\S)"
)
_FILE_TITLE = re.compile(r"\s+([\w@-][\w@./-]*\.[A-Za-z]\w{0,9})(?=\s|\Z)")
_WORDS_TITLE = re.compile(r"\s+([A-Z][\w .-]*)\Z")
_FLAGS = frozenset({"wrap", "lines", "expandable"})
_RANGE = re.compile(r"(\d{1,6})(?:\s*[-:]\s*(\d{1,6}))?")

_MARKED, _NUMBERED_CLASS = re.compile(r"\bmarked-([\d_]+)"), re.compile(r"\bnumbered-(\d{1,6})")

_TITLES = frozenset({"title", "caption", "filename", "file", "name"})
_KINDS = {
    "hl_lines": "marked", "hl-lines": "marked", "emphasize-lines": "marked", "mark": "marked",
    "highlight": "marked", "focus": "focused", "ins": "added", "add": "added", "del": "removed",
    "rem": "removed",
}  # fmt: skip
_NUMBERED = frozenset(
    {"linenums", "linenos", "showlinenumbers", "line-numbers", "numberlines", "number-lines", "lineno"}
)
_FIRST_NUMBERS = frozenset(
    {"startfrom", "start-from", "linenostart", "lineno-start", "startlinenumber", "startline"}
)


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What an info string says; ``lines`` are numbers from 1 by kind, such as ``marked`` and ``added``.

    ``first_number`` is that of the first line, ``None`` for code without numbers.
    """

    language: str = ""
    title: str = ""
    first_number: int | None = None
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    wraps: bool = False


@lru_cache(maxsize=2048)
def read_info(info: str) -> CodeInfo:
    """Return what the info string says; what no tool defines is ignored."""
    info = info.strip()[:MAX_INFO_CHARS]
    directive = _DIRECTIVE.match(info)
    if directive:
        name, word = directive[1].lower(), directive[3].lower()
        language = word if name in CODE_DIRECTIVES else _FIXED.get(name, "" if name.isdigit() else name)
        # In braces stands a line to mark, or what a directive or an interpreter of R is called.
        rest = info if name.isdigit() else directive["options"] + info[directive.end() :]
        found = described(language, rest)
        beside = info.partition("}")[2].strip()
        is_unknown = language == name and name not in _NO_TITLE
        is_title = is_unknown and not found.title and not _OPTION_SIGN.search(beside)
        return replace(found, title=beside) if is_title else found
    head = _IDENTIFIER.sub("", info.lstrip("{ \t"))
    named = _NAME.match(head)
    if not named or (info[:1] == "{" and named[1][:1].isdigit()):
        return described("", info)
    return described(language_name(named[1]), f" {head[named.end() :]}")


def language_name(name: str) -> str:
    """Return a language's name in lower case, without what a linter adds to it."""
    name = name.lower().rstrip(".")
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def described(language: str, options: str) -> CodeInfo:
    """Return the block that a language and options, written as in any tool, describe."""
    title, first, words, flags = "", None, [], set[str]()
    lines: dict[str, frozenset[int]] = {}
    for found in _PART.finditer(options):
        values = (found[name] for name in ("double", "single", "braced", "listed", "bare"))
        key, value = (found["key"] or "").lower(), next((each for each in values if each is not None), "")
        if key in _TITLES:
            title = title or value.strip()
        elif kind := "marked" if found["lines"] else _KINDS.get(key):
            lines[kind] = lines.get(kind, frozenset()) | line_numbers(found["lines"] or value)
        elif key in _NUMBERED and value.lower() not in ("false", "0"):
            first = int(value) if value.isdecimal() and value != "1" else first or 1
        elif key in _FIRST_NUMBERS and value.isdecimal():
            first = int(value)
        elif found["file"]:
            title = title or found["file"].strip()
        elif found["word"]:
            words.append(found["word"])
        elif flag := (found["flag"] or "").lower():
            flags.add(flag)
            first = int(found["first"] or first or 1) if flag in _NUMBERED else first
    title = title or _bare_title(options)
    return CodeInfo(language, title, first, lines, tuple(words), "wrap" in flags)


def _bare_title(options: str) -> str:
    """Return a title that stands among the options without a name, as in Mintlify; only there is an icon."""
    if re.search(r"\sicon\s*=", options):
        words = _NO_WORD.sub(" ", options).split()
        return " ".join(each for each in words if each.lower() not in _FLAGS | _NUMBERED)
    found = _FILE_TITLE.match(options) or _WORDS_TITLE.match(options)
    return found[1].strip() if found else ""


def code_classes(info: CodeInfo) -> str:
    """Return the classes by which ``<pre>`` keeps what the block's page needs, as in ``numbered-5``."""
    marked = "_".join(map(str, sorted(info.lines.get("marked", ()))[:60]))
    numbered = "" if info.first_number is None else f"numbered-{info.first_number}"
    return " ".join(filter(None, (numbered, f"marked-{marked}" if marked else "")))


def code_info(language: str, attributes: str, title: str = "") -> CodeInfo:
    """Return what the attributes of ``<pre>`` say, as ``code_classes`` writes it."""
    marked, numbered = _MARKED.search(attributes), _NUMBERED_CLASS.search(attributes)
    lines = {"marked": line_numbers(marked[1].replace("_", ","))} if marked else {}
    return CodeInfo(language, title, int(numbered[1]) if numbered else None, lines)


def line_numbers(spec: str) -> frozenset[int]:
    """Return the lines of ``1,3-4``, ``1 3-4`` or ``1:3``, from 1 on."""
    return frozenset(_numbers(_RANGE.finditer(spec)))


def _numbers(ranges: Iterable[re.Match[str]]) -> Iterable[int]:
    for found in ranges:
        first = int(found[1])
        yield from range(max(first, 1), min(int(found[2] or first), MAX_LINE) + 1)
