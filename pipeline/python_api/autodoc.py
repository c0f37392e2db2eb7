"""What autodoc's directives describe, as the reStructuredText that stands in place of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import griffe

from ..includes.parts import indented
from ..includes.python_blocks import AutoBlock, auto_blocks
from ..includes.sphinx.autodoc_options import CLASS_DOC, AutodocOptions
from ..model import PythonModule
from ..parse.python_objects import NOT_INDEXED
from .describe import MAX_PIECES, Options, bases_of, members_of
from .objects import Modules, NotFound
from .pages import DescribedText
from .signatures import parameters_of, unwrapped

# Its colons end no name.
_ROLE, _COLON = re.compile(r":[\w:.+-]{1,80}:(?=`)"), "\x01"
_NUMPY_SECTION = re.compile(r"^([A-Z][A-Za-z ]{2,30})\n[-=~]{3,}[ \t]*$", re.MULTILINE)
_NUMPY_NAMES = """
    attributes example examples methods note notes parameters raises receives references returns todo
    warning warnings warns yields
"""
_NUMPY_TITLES = frozenset([*_NUMPY_NAMES.split(), "other parameters", "see also"])
# The fields that sections of Google's and NumPy's docstrings are written as.
_FIELDS = {
    "parameters": "param",
    "other parameters": "param",
    "attributes": "var",
    "raises": "raises",
    "warns": "raises",
    "returns": "returns",
    "yields": "yields",
}
_TYPES = {"param": "type", "var": "vartype", "returns": "rtype", "yields": "ytype"}
_INNER = "   "
_NAMED = re.compile(r"[A-Za-z_][\w.]{0,200}")
_LISTED = re.compile(r"[\s,]+")


def with_autodoc(
    text: str, modules: Sequence[PythonModule], limit: int, options: AutodocOptions = ()
) -> DescribedText:
    """Return the text with descriptions in place of autodoc's directives, ``limit`` characters at most.

    ``options`` are those that directives have besides their own.
    """
    names, notes = {module.name.partition(".")[0] for module in modules}, list[str]()
    known = Modules(modules, reads_comments=True)

    def holds(name: str) -> bool:
        return name.partition(".")[0] in names

    pieces, at, room = list[str](), 0, limit - len(text)
    for block in auto_blocks(text, holds, options):
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
        named = _names(given.get("members", ""))
        self._left_out = set(_LISTED.split(given.get("exclude-members", "")))
        self._shows_members = "members" in given
        self._options = Options(
            level=1,
            members=(*named, *_names(given.get("special-members", ""))) if named else None,
            filters=_filters(given),
            shows_undocumented="undoc-members" in given or bool(named),
        )

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of the description of the object with that dotted name; raise ``NotFound``."""
        found = self._find(name)
        if not found.is_module:
            yield from self._object(found, name, self._block.indent, self._options, self._block.call)
            return
        yield f"\n{self._block.indent}.. py:module:: {name}"
        yield from self._not_indexed(self._block.indent + _INNER)
        yield ""
        yield from _indented(_docstring(found), self._block.indent)
        for member, each in self._members(found, self._options) if self._shows_members else ():
            yield from self._object(each, f"{name}.{member}", self._block.indent, _all_of(self._options))

    def _find(self, name: str) -> griffe.Object:
        """Return the object with that dotted name, which a class may have from another."""
        try:
            return self._known.find(name)
        except NotFound:
            holder, _, member = name.rpartition(".")
            owner = self._known.find(holder) if self._block.is_member else None
            bases = bases_of(self._known, owner) if isinstance(owner, griffe.Class) else []
            inherited = (base.members.get(member) for base in bases)
            found = next((each for each in inherited if isinstance(each, griffe.Object)), None)
            if found is None:
                raise
            return found

    def _object(
        self, found: griffe.Object, name: str, indent: str, options: Options, call: str = ""
    ) -> Iterator[str]:
        """Yield the lines for an object, with its parameters as they are written or as they are."""
        kind = "class" if found.is_class else "function" if found.is_function else "attribute"
        inner = indent + self._block.inner
        yield f"\n{indent}.. py:{kind}:: {name}{call or _call(found)}"
        yield f"{inner}:module: {_module_of(found, name)}"
        yield from self._not_indexed(inner)
        yield ""
        if isinstance(found, griffe.Class) and "show-inheritance" in self._block.options:
            yield f"{inner}{_bases(found)}\n"
        for docstring in self._docstrings(found):
            yield from _indented(docstring, inner)
        if not found.is_class or not self._shows_members:
            return
        for member, each in self._members(found, options):
            yield from self._object(each, f"{name}.{member}", inner, _all_of(options))

    def _docstrings(self, found: griffe.Object) -> list[str]:
        """Return the docstring, for a class also that of ``__init__`` or only this where an option asks."""
        wanted = self._block.options.get(CLASS_DOC, "") if isinstance(found, griffe.Class) else ""
        start = found.members.get("__init__") if wanted in ("both", "init") else None
        of_start = _docstring(start) if isinstance(start, griffe.Function) else ""
        return [of_start] if of_start and wanted == "init" else [_docstring(found), *filter(None, [of_start])]

    def _not_indexed(self, indent: str) -> Iterator[str]:
        if NOT_INDEXED & self._block.options.keys():
            yield f"{indent}:no-index:"

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


def _names(listed: str) -> list[str]:
    return [name for name in _LISTED.split(listed) if name]


def _filters(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return what names to show: private ones, and those such as ``__call__``, where an option asks."""
    if "private-members" in given:
        return ()
    if "special-members" not in given:
        return ("!^_",)
    named = [re.escape(name) for name in _names(given["special-members"])]
    return ("!^_", *(f"^{name}$" for name in named or ["__.*__"]))


def _module_of(found: griffe.Object, name: str) -> str:
    """Return the module in which a docstring's names are looked for: the object's own if it has its name."""
    own = found.module.path
    return own if name.startswith(f"{own}.") else name.rpartition(".")[0]


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


def _bases(found: griffe.Class) -> str:
    """Return the line on what a class is derived from."""
    named = (f":py:class:`.{base}`" if _NAMED.fullmatch(str(base)) else f"``{base}``" for base in found.bases)
    return f"Bases: {', '.join(named) or ':py:class:`object`'}"


def _docstring(found: griffe.Object) -> str:
    """Return the docstring as reStructuredText, with the sections of Google's and NumPy's style as fields."""
    docstring = found.docstring
    if docstring is None:
        return ""
    style = griffe.infer_docstring_style(docstring)[0]
    if style not in (griffe.Parser.google, griffe.Parser.numpy):
        return _with_titles(docstring.value, found.is_module)
    try:
        # As napoleon reads it: there is one result, and what stands before its colon is its type.
        of_google: dict[str, Any] = {"returns_named_value": False, "returns_multiple_items": False}
        options = of_google if style is griffe.Parser.google else {}
        text = _ROLE.sub(lambda found: found[0].replace(":", _COLON), docstring.value)
        whole = griffe.Docstring(text, parent=docstring.parent)
        sections = whole.parse(style, warnings=False, **options)
    except (ValueError, KeyError, AttributeError, TypeError, IndexError, RecursionError):
        return _with_titles(docstring.value, found.is_module)
    return "\n\n".join(filter(None, map(_section, sections))).replace(_COLON, ":")


def _with_titles(text: str, is_module: bool) -> str:
    """Return a docstring with its titles in bold, except for those of a module, which are headings.

    That is what the sections of NumPy's style remain, of whatever they are.
    """

    def shown(found: re.Match[str]) -> str:
        is_heading = is_module and found[1].lower() not in _NUMPY_TITLES
        return found[0] if is_heading else f"**{found[1]}**\n"

    return _NUMPY_SECTION.sub(shown, text)


def _section(section: griffe.DocstringSection) -> str:
    kind, value = section.kind.value, section.value
    if kind == "text":
        return str(value)
    if kind == "examples":
        return "\n\n".join((".. rubric:: Examples", *(text for _, text in value)))
    if kind == "admonition":
        title = section.title or value.kind
        return f".. admonition:: {title}\n   :class: {value.kind}\n\n{indented(value.contents, _INNER)}"
    if kind == "deprecated":
        return f".. deprecated:: {value.version}\n\n{indented(value.description, _INNER)}"
    return _listed(_FIELDS.get(kind), section)


def _listed(name: str | None, section: griffe.DocstringSection) -> str:
    value = section.value
    if name in ("returns", "yields") and len(value) > 1:
        said = "\n".join(f"* {_kind(each)}{_said(each)}" for each in value)
        return f":{name}:\n{indented(said, _INNER)}"
    if name is None:
        return "\n".join([f"**{section.title or section.kind.value.capitalize()}**", *map(_defined, value)])
    return "\n".join(line for each in value for line in _fields(name, each))


def _fields(name: str, each: Any) -> Iterator[str]:
    """Yield the field for a parameter or the like, and the one for its type."""
    annotation = getattr(each, "annotation", None)
    kind = unwrapped(annotation) if annotation is not None else ""
    if name == "raises":
        yield f":raises {kind}: {_said(each)}"
        return
    named = getattr(each, "name", "") or ""
    shown = f" {named}".replace("*", "\\*") if name in ("param", "var") else ""
    yield f":{name}{shown}: {_said(each)}"
    if kind:
        yield f":{_TYPES[name]}{shown}: {kind}"


def _kind(each: Any) -> str:
    named = getattr(each, "name", "") or ""
    kind = unwrapped(each.annotation) if each.annotation is not None else ""
    return "".join(f"``{part}`` " for part in (named, kind) if part)


def _said(each: Any) -> str:
    return indented(str(each.description or ""), _INNER).lstrip()


def _defined(each: Any) -> str:
    return f"\n``{getattr(each, 'name', '') or 'value'}``\n{indented(str(each.description or '—'), _INNER)}"


def _indented(text: str, indent: str) -> Iterator[str]:
    yield from (f"{indent}{line}" if line.strip() else "" for line in text.split("\n"))
    yield ""
