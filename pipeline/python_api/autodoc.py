"""What autodoc's directives describe, as the reStructuredText that stands in place of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

import griffe

from ..includes.python_blocks import MAX_IN_DOCSTRINGS, NOT_INDEXED, AutoBlock, auto_blocks
from ..includes.sphinx.autodoc_options import CLASS_DOC, AutodocOptions
from ..model import PythonModule
from .describe import MAX_PIECES, Options, bases_of, members_of
from .objects import Modules, NotFound
from .pages import DescribedText
from .rst_docstrings import rst_docstring
from .signatures import parameters_of, unwrapped

_INNER = "   "
_LONGEST_VALUE = 200
_HELD_BY_ALL = frozenset({"class-attribute", "module-attribute"})
_NAMED = re.compile(r"[A-Za-z_][\w.]{0,200}")
_LISTED = re.compile(r"[\s,]+")
_META = re.compile(r"^[ \t]*:meta[ \t]+([\w-]+)", re.MULTILINE)
# The option that replaces the type and value of an attribute.
_ANNOTATION = "annotation"
# Names that one option lists; each is compared with each member.
_MAX_NAMES = 500


def with_autodoc(
    text: str, modules: Sequence[PythonModule], limit: int, options: AutodocOptions = ()
) -> DescribedText:
    """Return the text with descriptions in place of autodoc's directives, ``limit`` characters at most.

    ``options`` are those that directives have besides their own.
    """
    known, names = Modules(modules, reads_comments=True), {each.name.partition(".")[0] for each in modules}
    describing = _Describing(known, frozenset(names), options)
    described = describing.text(text, limit)
    return DescribedText(described, (*known.notes, *describing.notes))


@dataclass(slots=True)
class _Describing:
    """The descriptions of one document; docstrings may hold directives too, up to a bound."""

    known: Modules
    names: frozenset[str]
    options: AutodocOptions
    notes: list[str] = field(default_factory=list)
    nested: int = 0

    def holds(self, name: str) -> bool:
        """Return whether a name is one of the packages."""
        return name.partition(".")[0] in self.names

    def text(self, text: str, limit: int, in_docstring: bool = False) -> str:
        """Return the text with descriptions in place of directives."""
        pieces, at, room = list[str](), 0, limit - len(text)
        for block in auto_blocks(text, self.holds, self.options):
            self.nested += in_docstring
            if in_docstring and self.nested > MAX_IN_DOCSTRINGS:
                break
            name = block.full_name(self.holds)
            try:
                described = "\n".join(islice(_Described(self.known, block).lines(name), MAX_PIECES))
            except NotFound as error:
                self.notes.append(f"{name} is not described: {error}")
                continue
            if _is_below_empty_comment(text, block.start):
                described = described.removeprefix("\n")
            described = described if in_docstring else self.text(described, room, in_docstring=True)
            if block.is_fence:
                described = (
                    f"{block.indent}```{{eval-rst}}\n{described.replace('```', '``')}\n{block.indent}```"
                )
            if len(described) > room:
                self.notes.append(f"{name} is not described: the document would become too large")
                continue
            room -= len(described)
            pieces += [text[at : block.start], described, "\n"]
            at = block.end
        return "".join((*pieces, text[at:]))


def _is_below_empty_comment(text: str, start: int) -> bool:
    """Return whether a directive is commented out, by two dots on the line above: a blank line ends such."""
    return text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : start].strip() == ".."


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
        yield from _indented(rst_docstring(found), self._block.indent)
        for member, each in self._members(found, self._options) if self._shows_members else ():
            yield from self._object(each, f"{name}.{member}", self._block.indent, _all_of(self._options))

    def _find(self, name: str) -> griffe.Object:
        """Return the object with that dotted name, which a class may have from another."""
        try:
            return self._function_of(self._known.find(name))
        except NotFound:
            holder, _, member = name.rpartition(".")
            owner = self._known.find(holder) if self._block.is_member else None
            bases = bases_of(self._known, owner) if isinstance(owner, griffe.Class) else []
            inherited = (base.members.get(member) for base in bases)
            found = next((each for each in inherited if isinstance(each, griffe.Object)), None)
            if found is None:
                raise
            return found

    def _function_of(self, found: griffe.Object) -> griffe.Object:
        """Return the function that a name is another name of, as in ``hoot = call``; else what was found."""
        value = str(found.value) if isinstance(found, griffe.Attribute) else ""
        if self._block.kind in ("function", "method", "decorator") and _NAMED.fullmatch(value):
            with suppress(NotFound):
                meant = self._known.find(f"{found.module.path}.{value}")
                return meant if meant.is_function else found
        return found

    def _object(
        self, found: griffe.Object, name: str, indent: str, options: Options, call: str = ""
    ) -> Iterator[str]:
        """Yield the lines for an object, with its parameters as they are written or as they are."""
        kind = "class" if found.is_class else "function" if found.is_function else "attribute"
        inner = indent + self._block.inner
        yield f"\n{indent}.. py:{kind}:: {name}{call or self._call(found)}"
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

    def _call(self, found: griffe.Object) -> str:
        """Return what follows the name; a class may have its ``__init__`` from another."""
        if _ANNOTATION in self._block.options:
            return f" {self._block.options[_ANNOTATION]}".rstrip()
        if not isinstance(found, griffe.Class):
            return _call(found, shows_value="no-value" not in self._block.options)
        holders = [found] if "__init__" in found.members else [found, *bases_of(self._known, found)]
        starts = (holder.members.get("__init__") for holder in holders)
        start = next((each for each in starts if isinstance(each, griffe.Function)), None)
        return f"({parameters_of(start)})" if start is not None else ""

    def _docstrings(self, found: griffe.Object) -> list[str]:
        """Return the docstring, for a class also that of ``__init__`` or only this where an option asks."""
        wanted = self._block.options.get(CLASS_DOC, "") if isinstance(found, griffe.Class) else ""
        start = found.members.get("__init__") if wanted in ("both", "init") else None
        of_start = rst_docstring(start) if isinstance(start, griffe.Function) else ""
        return (
            [of_start] if of_start and wanted == "init" else [rst_docstring(found), *filter(None, [of_start])]
        )

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
                if name not in taken and isinstance(each, griffe.Object) and not self._keeps(name, each):
                    taken.add(name)
                    yield name, each

    def _keeps(self, name: str, member: griffe.Object) -> bool:
        """Return whether a docstring says that its object is private, and nothing asks for it."""
        if self._options.members is not None or "private" not in _metadata(member):
            return False
        asked = self._block.options.get("private-members")
        return asked is None or (bool(asked) and name not in _names(asked))


def _names(listed: str) -> list[str]:
    return [name for name in _LISTED.split(listed) if name][:_MAX_NAMES]


def _filters(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return what names to show: private ones, and those such as ``__call__``, where an option asks."""
    filters = ["!^_"]
    if "private-members" in given:
        filters += _named(given["private-members"]) or ["^_", "!^__.*__$"]
    if "special-members" in given:
        filters += _named(given["special-members"]) or ["^__.*__$"]
    return tuple(filters)


def _named(listed: str) -> list[str]:
    return [f"^{re.escape(name)}$" for name in _names(listed)]


def _module_of(found: griffe.Object, name: str) -> str:
    """Return the module in which a docstring's names are looked for: the object's own if it has its name."""
    own = found.module.path
    return own if name.startswith(f"{own}.") else name.rpartition(".")[0]


def _all_of(options: Options) -> Options:
    """Return the options for what is within a member: the names were those of the outermost object."""
    return Options(level=1, filters=options.filters, shows_undocumented=options.shows_undocumented)


def _call(found: griffe.Object, shows_value: bool) -> str:
    """Return the parameters and the result, or the type, on one line."""
    if isinstance(found, griffe.Function):
        result = f" -> {unwrapped(found.returns)}" if found.returns is not None else ""
        return f"({parameters_of(found)}){result}"
    annotation = getattr(found, "annotation", None)
    kind = f": {unwrapped(annotation)}" if annotation is not None else ""
    return kind + (_value(found) if shows_value and isinstance(found, griffe.Attribute) else "")


def _metadata(found: griffe.Object) -> list[str]:
    """Return what the fields of a docstring tell autodoc, ``:meta private:`` and the like."""
    return _META.findall(found.docstring.value) if found.docstring is not None else []


def _value(found: griffe.Attribute) -> str:
    """Return the value, as it is written, of an attribute of a class or module that is a short literal."""
    written = "" if "hide-value" in _metadata(found) else str(found.value or "")
    if not (
        written and len(written) <= _LONGEST_VALUE and "\n" not in written and found.labels & _HELD_BY_ALL
    ):
        return ""
    try:
        ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return ""
    return f" = {written}"


def _bases(found: griffe.Class) -> str:
    """Return the line on what a class is derived from."""
    named = (f":py:class:`.{base}`" if _NAMED.fullmatch(str(base)) else f"``{base}``" for base in found.bases)
    return f"Bases: {', '.join(named) or ':py:class:`object`'}"


def _indented(text: str, indent: str) -> Iterator[str]:
    yield from (f"{indent}{line}" if line.strip() else "" for line in text.split("\n"))
    yield ""
