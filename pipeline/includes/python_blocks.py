"""The blocks that describe Python objects: ``:::`` of mkdocstrings, and the directives of Sphinx's autodoc.

References to objects in markdown are found here too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ..address import slugify
from .fences import IndentedCode, code_of, fences_of, is_quoted, literal_blocks
from .sphinx.autodoc_options import AutodocOptions, with_defaults

MARKDOWN = (".md", ".markdown")
# Its options are indented below it, and a blank line may stand between two.
_OPTION = r"(?P=indent)[ \t]{2,}\S"
_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?P<marks>#{1,6})[ \t]+)?:::[ \t]+(?P<name>[A-Za-z_]\w*(?:\.\w+)*)[ \t]*$"
    rf"(?P<options>(?:\n(?:{_OPTION}[^\n]*|[ \t]*(?=\n{_OPTION})))*)",
    re.MULTILINE,
)
_IS_OPTION = re.compile(r"\s{0,100}(?:options|handler|selection|rendering):")
# [text][package.Class], or [package.Class][]; also [text][heading]. What follows a word is an index in prose.
_REFERENCE = re.compile(
    r"(?<![\w\])!\\])\[(?!\^)((?:[^\[\]\n]|\n(?![ \t]*\n)){1,200})\]\[([^\[\]\s<>]{1,200})?\]"
)
_DEFINED = re.compile(r"^[ ]{0,3}\[([^\[\]\n]{1,200})\]:", re.MULTILINE)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+){1,20}")
OBJECT_PREFIX = "py:"
# Options of a description that no link is to lead to.
NOT_INDEXED = frozenset({"noindex", "no-index"})
# Begins the address of a reference to a heading of any page.
HEADING_ADDRESS = "#heading:"
# What a reference may name in another project, whose inventory is not at hand.
MAY_BE_AN_OBJECT = re.compile(r"[A-Za-z_]\w*(?:\.\w+){0,20}")
# Behind the language of a signature on an API page, and below descriptions that prose follows.
SIGNATURE, DESCRIPTIONS_END = "signature", "<!-- end of descriptions -->"
_KINDS = "module|class|exception|function|method|attribute|property|data|decorator"
_AUTO = re.compile(
    rf"^(?P<indent>[ \t]*)\.\.[ \t]+(?:py:)?auto(?P<kind>{_KINDS})::[ \t]+(?P<name>[A-Za-z_][\w.]*)"
    r"(?P<call>[^\n]*)(?:\n|\Z)"
    r"(?P<options>(?:(?P=indent)[ \t]+:[\w-]+:[^\n]*(?:\n|\Z))*)",
    re.MULTILINE,
)
_AUTO_FENCED = re.compile(
    rf"^(?P<indent>[ \t]*)(?P<fence>`{{3,}}|:{{3,}})\{{(?:py:)?auto(?P<kind>{_KINDS})\}}[ \t]+"
    r"(?P<name>[A-Za-z_][\w.]*)(?P<call>[^\n]*)\n"
    r"(?P<options>(?:[ \t]*:[\w-]+:[^\n]*\n)*)[ \t]*(?P=fence)[ \t]*$",
    re.MULTILINE,
)
_MODULE = re.compile(
    r"^[ \t]*(?:\.\.[ \t]+|`{3,}\{|:{3,}\{)(?:py:)?(?:module|currentmodule|automodule)(?:::|\})"
    r"[ \t]+([\w.]+)",
    re.MULTILINE,
)
# What describes a class of Python, by hand or from its docstring.
_CLASS = re.compile(r"\.\.[ \t]+(?:py:)?(?:auto)?(?:class|exception)::[ \t]+([A-Za-z_][\w.]*)")
_HOLDING = ("module", "class", "exception")
_OF_CLASSES = ("method", "attribute", "property")
_AUTO_OPTION = re.compile(r"^[ \t]*:([\w-]+):[ \t]*([^\n]*?)[ \t]*$", re.MULTILINE)
_SIGN = re.compile(rf"auto(?:{_KINDS})(?:::|\}})")
# Descriptions in docstrings of one document; what stands in the docstrings of these is not described.
MAX_IN_DOCSTRINGS = 100
RST = (".rst", ".rest")
_INNER = "   "


@dataclass(frozen=True, slots=True)
class ApiBlock:
    """A block at ``[start, end)``: its indentation, the object's dotted name and its options as YAML.

    ``level`` is that of its heading where it is written as one, ``## ::: name``, else 0.
    """

    start: int
    end: int
    indent: str
    name: str
    options: str
    level: int

    @property
    def name_alone(self) -> str:
        """Return what stands for an object that is not described: its name as code."""
        return f"{self.indent}{'#' * self.level}{' ' if self.level else ''}`{self.name}`"


def page_of(module: str) -> str:
    """Return the text of a module's own page, which nobody can edit under its path."""
    options = "        heading_level: 1\n        show_root_heading: true\n"
    return f"---\ncustom_edit_url: null\n---\n\n::: {module}\n    options:\n{options}"


def blocks(text: str, holds: Callable[[str], bool]) -> list[ApiBlock]:
    """Return the blocks of a text outside code, in order: those with a dotted name, or that of a package.

    Other tools write ``::: tip``, but as no heading and without options; ``holds`` tells whether a name is
    of a package.
    """
    if ":::" not in text:
        return []
    fences = fences_of(text)
    return [
        ApiBlock(*found.span(), found["indent"], found["name"], found["options"], len(found["marks"] or ""))
        for found in _BLOCK.finditer(text)
        if not fences.hold(found.start())
        and (
            "." in found["name"]
            or found["marks"]
            or _IS_OPTION.match(found["options"])
            or holds(found["name"])
        )
    ]


def with_references(text: str, packages: Sequence[str], *, are_headings_named: bool = False) -> str:
    """Return the text with ``[text][package.Class]`` as links, which are resolved with all others.

    ``packages`` are the paths of those that the collection declares. Of a name in another project, which
    mkdocstrings looks up in its inventory, the text stays. Other names are those of headings, if
    ``are_headings_named``.
    """
    if "][" not in text:
        return text
    return "".join(_referring(text, frozenset(PurePath(each).stem for each in packages), are_headings_named))


def _referring(text: str, packages: frozenset[str], are_headings_named: bool) -> Iterator[str]:
    at, defined = 0, {_compared(name) for name in _DEFINED.findall(text)}
    code, indented = code_of(text), IndentedCode(text, 0)
    for found in _REFERENCE.finditer(text):
        name = found[2] or found[1].strip("`")
        is_code = code.hold(found.start()) or indented.hold(found.start())
        if is_code or is_quoted(text, *found.span()):
            continue
        is_described = name.partition(".")[0] in packages and MAY_BE_AN_OBJECT.fullmatch(name) is not None
        if not is_described and _compared(found[2] or found[1]) in defined:
            continue
        if is_described:
            yield f"{text[at : found.start()]}[{found[1]}](#{OBJECT_PREFIX}{name})"
        elif are_headings_named and (target := name if name.split() == [name] else slugify(name)):
            yield f"{text[at : found.start()]}[{found[1]}](<{HEADING_ADDRESS}{target}>)"
        elif packages and _DOTTED.fullmatch(name):
            yield text[at : found.start()] + found[1]
        else:
            continue
        at = found.end()
    yield text[at:]


def _compared(label: str) -> str:
    """Return the label of a link as definitions of links are compared: in lower case, on one line."""
    return " ".join(label.lower().split())


@dataclass(frozen=True, slots=True)
class AutoBlock:
    """A directive at ``[start, end)``; what stands below it is indented by ``inner``.

    ``name`` is as written, and so is ``call``, the parameters behind it, if there are any; ``module`` is the
    current module, and ``holder`` the class, as it is written, in the description of which the directive
    stands. ``is_fence`` tells that it is MyST's.
    """

    start: int
    end: int
    kind: str
    name: str
    call: str
    module: str
    holder: str
    options: Mapping[str, str]
    indent: str
    inner: str
    is_fence: bool

    @property
    def is_member(self) -> bool:
        """Return whether it describes a member of a class."""
        return self.kind in _OF_CLASSES

    def full_name(self, holds: Callable[[str], bool]) -> str:
        """Return the dotted name as autodoc completes it: by the class for a member, then by the module."""
        is_within = self.is_member and self.holder and "." not in self.name
        name = f"{self.holder}.{self.name}" if is_within else self.name
        return name if holds(name) or not self.module else f"{self.module}.{name}"


def auto_blocks(text: str, holds: Callable[[str], bool], defaults: AutodocOptions = ()) -> list[AutoBlock]:
    """Return the directives for objects of packages that ``holds`` knows, in order.

    ``defaults`` are the options of those for modules and classes that do not have or refuse them.
    """
    if not _SIGN.search(text):
        return []
    found, code = sorted(_blocks(text, defaults), key=lambda block: block.start), literal_blocks(text)
    return [
        block
        for block in found
        if holds(block.full_name(holds)) and (block.is_fence or not code.hold(block.start))
    ]


def _blocks(text: str, defaults: AutodocOptions) -> Iterator[AutoBlock]:
    modules = [(found.start(), found[1]) for found in _MODULE.finditer(text)]
    starts, holders = [start for start, _ in modules], _holders(text)
    for pattern in (_AUTO, _AUTO_FENCED):
        for found in pattern.finditer(text):
            nth = bisect_left(starts, found.start())
            before = modules[max(0, nth - 1) : nth]
            first, given = found["options"], dict(_AUTO_OPTION.findall(found["options"]))
            below = first[: len(first) - len(first.lstrip(" \t"))].removeprefix(found["indent"])
            yield AutoBlock(
                *found.span(),
                kind=found["kind"],
                name=found["name"],
                call=call if (call := found["call"].strip()).startswith("(") else "",
                module="".join(name for _, name in before if name != "None"),
                holder=holders.get(found.start(), ""),
                options=with_defaults(given, defaults) if found["kind"] in _HOLDING else given,
                indent=found["indent"],
                inner=below or _INNER,
                is_fence=pattern is _AUTO_FENCED,
            )


def _holders(text: str) -> dict[int, str]:
    """Return the class in whose description a directive stands, by the start of the directive's line."""
    holders, outer, at = dict[int, str](), list[tuple[int, str]](), 0
    for line in text.split("\n") if any(f"auto{kind}::" in text for kind in _OF_CLASSES) else ():
        written = line.strip()
        if written:
            indent = len(line) - len(line.lstrip())
            while outer and outer[-1][0] >= indent:
                outer.pop()
            if outer and written.startswith(".."):
                holders[at] = outer[-1][1]
            if found := _CLASS.match(written):
                outer.append((indent, found[1]))
        at += len(line) + 1
    return holders
