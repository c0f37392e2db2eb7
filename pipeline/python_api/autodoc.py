"""What autodoc's directives describe, as the reStructuredText that stands in place of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import griffe

from ..includes.python_blocks import AutoBlock, auto_blocks
from ..model import PythonModule
from .describe import MAX_PIECES, Options, bases_of, members_of
from .objects import Modules, NotFound
from .pages import DescribedText
from .signatures import parameters_of, unwrapped

_NUMPY_SECTION = re.compile(r"^([A-Z][A-Za-z ]{2,30})\n[-=~]{3,}[ \t]*$", re.MULTILINE)
_PARAMETER = re.compile(
    r"^:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:\n]+\s)?(\*{0,2}\w+):", re.MULTILINE
)
_TYPE = re.compile(r"^:type\s+[^:\n]+:[^\n]*\n?", re.MULTILINE)
_FIELDS = {
    "return": "Returns",
    "returns": "Returns",
    "rtype": "Return type",
    "raises": "Raises",
    "raise": "Raises",
}
_FIELD = re.compile(r"^:(returns?|rtype|raises?)\b", re.MULTILINE)
_LISTED = re.compile(r"[\s,]+")


def with_autodoc(text: str, modules: Sequence[PythonModule], limit: int) -> DescribedText:
    """Return the text with descriptions in place of autodoc's directives, ``limit`` characters at most."""
    names, notes, known = {module.name.partition(".")[0] for module in modules}, list[str](), Modules(modules)

    def holds(name: str) -> bool:
        return name.partition(".")[0] in names

    pieces, at, room = list[str](), 0, limit - len(text)
    for block in auto_blocks(text, holds):
        name = block.full_name(holds)
        try:
            described = "\n".join(islice(_Described(known, block).lines(name), MAX_PIECES))
        except NotFound as error:
            notes.append(f"{name} is not described: {error}")
            continue
        if block.is_fence:
            described = f"{block.indent}```{{eval-rst}}\n{described.replace('```', '``')}\n{block.indent}```"
        if len(described) > room:
            notes.append(f"{name} is not described: the document would become too large")
            continue
        room -= len(described)
        pieces += [text[at : block.start], described, "\n"]
        at = block.end
    return DescribedText("".join((*pieces, text[at:])), (*known.notes, *notes))


class _Described:
    """A description in progress: what the options of one directive ask for."""

    def __init__(self, known: Modules, block: AutoBlock) -> None:
        self._known, self._block, given = known, block, block.options
        named = [name for name in _LISTED.split(given.get("members", "")) if name]
        self._left_out = set(_LISTED.split(given.get("exclude-members", "")))
        self._shows_members = "members" in given
        self._options = Options(
            level=1,
            members=tuple(named) or None,
            filters=() if "private-members" in given else ("!^_",),
            shows_undocumented="undoc-members" in given or bool(named),
        )

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of the description of the object with that dotted name; raise ``NotFound``."""
        found = self._known.find(name)
        if not found.is_module:
            yield from self._object(found, name, self._block.indent, self._options)
            return
        yield from _indented(_docstring(found), self._block.indent)
        for member, each in self._members(found, self._options) if self._shows_members else ():
            yield from self._object(each, f"{name}.{member}", self._block.indent, _all_of(self._options))

    def _object(self, found: griffe.Object, name: str, indent: str, options: Options) -> Iterator[str]:
        kind = "class" if found.is_class else "function" if found.is_function else "attribute"
        inner = indent + self._block.inner
        yield f"\n{indent}.. py:{kind}:: {name}{_call(found)}\n"
        yield from _indented(_docstring(found), inner)
        if not found.is_class or not self._shows_members:
            return
        for member, each in self._members(found, options):
            yield from self._object(each, f"{name}.{member}", inner, _all_of(options))

    def _members(self, found: griffe.Object, options: Options) -> Iterator[tuple[str, griffe.Object]]:
        """Yield members, with those that a class has from others where the directive asks for them."""
        taken = set(self._left_out)
        holders = [found]
        if isinstance(found, griffe.Class) and "inherited-members" in self._block.options:
            holders += bases_of(self._known, found)
        for holder in holders:
            for name, each in members_of(holder, options):
                if name not in taken and isinstance(each, griffe.Object):
                    taken.add(name)
                    yield name, each


def _all_of(options: Options) -> Options:
    """Return the options for what is within a member: the names were those of the outermost object."""
    return Options(level=1, filters=options.filters, shows_undocumented=options.shows_undocumented)


def _call(found: griffe.Object) -> str:
    """Return the parameters and the result, or the type, on one line."""
    if isinstance(found, griffe.Class):
        start = found.members.get("__init__")
        return f"({parameters_of(start)})" if isinstance(start, griffe.Function) else ""
    if isinstance(found, griffe.Function):
        result = f" -> {unwrapped(found.returns)}" if found.returns is not None else ""
        return f"({parameters_of(found)}){result}"
    annotation = getattr(found, "annotation", None)
    return f": {unwrapped(annotation)}" if annotation is not None else ""


def _docstring(found: griffe.Object) -> str:
    """Return the docstring, its sections and fields as reStructuredText shows them."""
    text = found.docstring.value if found.docstring is not None else ""
    text = _NUMPY_SECTION.sub(r"**\1**\n", text)
    text = _PARAMETER.sub(lambda each: f":{each[1]}:".replace("*", "\\*"), _TYPE.sub("", text))
    return _FIELD.sub(lambda each: f":{_FIELDS[each[1]]}", text)


def _indented(text: str, indent: str) -> Iterator[str]:
    yield from (f"{indent}{line}" if line.strip() else "" for line in text.split("\n"))
    yield ""
