"""Modules as Griffe reads them, without importing anything, and the objects in them by dotted name."""

from __future__ import annotations

import ast
import io
import logging
import re
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent

import griffe

from ..model import PythonModule

MAX_STEPS = 50
# Sphinx reads such comments as docstrings of attributes and constants.
_COMMENT = "#:"
_ASSIGNED = re.compile(r"^([A-Za-z_]\w*)[ \t]*=[ \t]*[A-Za-z_]", re.MULTILINE)
_DEFINED = re.compile(r"^(?:class|def|async[ \t]+def)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_log = logging.getLogger("griffe")


class NotFound(Exception):
    """A dotted name leads to no object; the message says why."""


class Modules:
    """The modules of one document; each is read when something in it is asked for.

    Where one ``reads_comments``, those that begin with ``#:`` document attributes, as for autodoc.
    """

    def __init__(self, modules: Sequence[PythonModule], reads_comments: bool = False) -> None:
        self._reads_comments = reads_comments
        self._sources = {module.name: module for module in modules}
        self._read: dict[str, griffe.Module | None] = {}
        self._starred: dict[str, list[str]] = {}
        self.notes: list[str] = []

    def find(self, name: str) -> griffe.Object:
        """Return the object, through every import that leads to it; raise ``NotFound``."""
        pending, seen, wanted = [name], set[str](), name
        while pending and len(seen) < MAX_STEPS:
            if (wanted := pending.pop()) in seen:
                continue
            seen.add(wanted)
            found = self._step(wanted)
            if isinstance(found, griffe.Object):
                return found
            pending += reversed(found)
        raise NotFound(f"{wanted} is not in the packages of the collection")

    def other_names(self, found: griffe.Object) -> list[str]:
        """Return the names under which the packages around an object's module import it."""
        module = found.module.path
        around = [module[: each.start()] for each in re.finditer(r"\.", module)]
        packages = [read for name in (*around, module) if (read := self._if_read(name)) is not None]
        return [
            f"{package.path}.{name}"
            for package in packages
            for name, each in package.members.items()
            if isinstance(each, griffe.Alias) and not each.wildcard and each.target_path == found.path
        ]

    def _if_read(self, name: str) -> griffe.Module | None:
        return self._module(name) if name in self._sources else None

    def _step(self, name: str) -> griffe.Object | list[str]:
        """Return the object, or the names under which it may be elsewhere."""
        parts = name.split(".")
        end = next((n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in self._sources), 0)
        at: griffe.Object | griffe.Alias | None = self._module(".".join(parts[:end])) if end else None
        for number, part in enumerate(parts[end:], start=end):
            if at is None:
                return []
            holder, at = at, at.members.get(part)
            if at is None:
                return [".".join((each, *parts[number:])) for each in self._stars(holder)]
            if isinstance(at, griffe.Alias):
                return [".".join((at.target_path, *parts[number + 1 :]))]
        return at if isinstance(at, griffe.Object) else []

    def _stars(self, holder: griffe.Object | griffe.Alias) -> list[str]:
        """Return the modules of which a module imports all names."""
        if holder.path not in self._starred:
            self._starred[holder.path] = [
                each.target_path
                for each in holder.members.values()
                if isinstance(each, griffe.Alias) and each.wildcard
            ]
        return self._starred[holder.path]

    def _module(self, name: str) -> griffe.Module | None:
        if name not in self._read:
            self._read[name] = self._visited(self._sources[name])
        return self._read[name]

    def _visited(self, module: PythonModule) -> griffe.Module | None:
        try:
            return _visited(module, self._reads_comments)
        except SyntaxError as error:
            self.notes.append(f"{module.name} is not Python: line {error.lineno}: {error.msg}")
        except (ValueError, RecursionError) as error:
            self.notes.append(f"{module.name} cannot be read as Python: {error}")
        except MemoryError:
            # The compiler's own limit of nesting; a lack of memory would have ended the process.
            self.notes.append(f"{module.name} is nested too deeply")
        except (AttributeError, KeyError, TypeError, IndexError, griffe.GriffeError) as error:
            self.notes.append(f"{module.name} is not understood: {type(error).__name__}: {error}")
        return None


def _visited(module: PythonModule, reads_comments: bool) -> griffe.Module:
    """Return a module without its neighbours; imports lead to names and are not followed."""
    _log.disabled = True  # its remarks are on how docstrings are written
    *above, name = module.name.split(".")
    parent: griffe.Module | None = None
    for each in above:
        package = griffe.Module(each, filepath=Path(each, "__init__.py"))
        if parent is not None:
            parent.set_member(each, package)
        parent = package
    file = Path(*above, name, "__init__.py") if module.is_package else Path(*above, f"{name}.py")
    source = module.content.decode("utf-8-sig")
    found = griffe.visit(name, file, _without_decorating(source), parent=parent)
    if reads_comments:
        _document_by_comments(found, source)
    return found


def _without_decorating(source: str) -> str:
    """Return a module without such as ``Owl = sealed(Owl)``, for which Griffe would forget the class."""
    if {*_ASSIGNED.findall(source)}.isdisjoint(_DEFINED.findall(source)):
        return source
    lines, defined = source.split("\n"), set[str]()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            defined.add(node.name)
        elif isinstance(node, ast.Assign) and not defined.isdisjoint(_decorated(node)):
            lines[node.lineno - 1] = "pass"
            lines[node.lineno : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno)
    return "\n".join(lines)


def _decorated(node: ast.Assign) -> set[str]:
    """Return the name that an assignment gives to the result of a call with what had the name before."""
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Name) or not isinstance(node.value, ast.Call):
        return set()
    return {target.id} & {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}


def _document_by_comments(module: griffe.Module, source: str) -> None:
    """Give attributes that have no docstring the comment behind them, else the one above them."""
    if _COMMENT not in source:
        return
    above, behind = _comments(source)
    for each in _attributes(module):
        if each.docstring is None and each.lineno is not None:
            text = behind.get(each.endlineno or each.lineno) or "\n".join(_lines_above(above, each.lineno))
            each.docstring = griffe.Docstring(dedent(text), parent=each) if text.strip() else None


def _comments(source: str) -> tuple[dict[int, str], dict[int, str]]:
    """Return the texts of the comments by line: those on lines of their own, and those behind code."""
    above, behind = dict[int, str](), dict[int, str]()
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and token.string.startswith(_COMMENT):
                is_alone = not token.line[: token.start[1]].strip()
                (above if is_alone else behind)[token.start[0]] = token.string.removeprefix(_COMMENT)
    except (tokenize.TokenError, SyntaxError):
        pass  # Griffe has read it; what tokenize found until then is right
    return above, behind


def _lines_above(comments: dict[int, str], line: int) -> list[str]:
    first = line
    while first - 1 in comments:
        first -= 1
    return [comments[number] for number in range(first, line)]


def _attributes(holder: griffe.Module | griffe.Class) -> Iterator[griffe.Attribute]:
    for each in holder.members.values():
        if isinstance(each, griffe.Attribute):
            yield each
        elif isinstance(each, griffe.Class):
            yield from _attributes(each)
