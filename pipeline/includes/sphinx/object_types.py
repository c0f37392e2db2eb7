"""Types of objects that a project of Sphinx declares for itself, with the directives and roles for them.

``add_object_type``, ``add_crossref_type`` and ``add_directive(…, Cmdoption)`` are read in ``conf.py`` and in
the extensions beside it, where their names are literal; nothing is run. A directive on its first line tells
a document those that it uses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

DECLARED = "declared-objects"
# What a directive shows and names: nothing but a place, its whole text, or the first word of it. After one of
# a "program", the options that follow are that program's.
Form = Literal["place", "text", "word", "program", "option"]
_FORMS: dict[str, Form] = {"place": "place", "text": "text", "word": "word", "program": "program"}
_NAME = re.compile(r"[A-Za-z][\w+-]{0,40}")
_MODULE = re.compile(r"[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){0,4}")
# Where extensions lie whose folder the script computes.
_FOLDERS = ("", "_ext", "_exts", "_extensions", "ext", "exts", "extensions")
_MAX_TYPES, _MAX_FOLDERS, _MAX_NAMES = 200, 16, 100


@dataclass(frozen=True, slots=True)
class ObjectType:
    """The role and the directive of a type of objects, and what the directive shows."""

    role: str
    directive: str
    form: Form


def declaration(types: Iterable[ObjectType], text: str) -> str:
    """Return the directive that tells a document the types, if it may use some; else nothing."""
    may_include = "include::" in text
    used = [each for each in types if may_include or _is_used(each, text)]
    said = ", ".join(f"{each.role} {each.directive} {each.form}" for each in used)
    return f".. {DECLARED}:: {said}\n\n" if said else ""


def _is_used(kind: ObjectType, text: str) -> bool:
    return f":{kind.role}:`" in text or f":{kind.directive}:`" in text or f" {kind.directive}::" in text


def declared(argument: str) -> Iterator[ObjectType]:
    """Yield the types that the argument of such a directive names."""
    for each in argument.split(","):
        words = each.split()
        if len(words) == len(ObjectType.__slots__):
            form: Form = "option" if words[2] == "option" else _FORMS.get(words[2], "text")
            yield ObjectType(words[0], words[1], form)


def object_types(content: bytes) -> tuple[ObjectType, ...]:
    """Return the types that a script declares, nothing if it is no Python."""
    if b"add_" not in content or (tree := _parsed(content)) is None:
        return ()
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    programs = {node.name for node in functions if _sets_program(node)}
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    found = (_declared_by(call, programs) for call in calls if isinstance(call.func, ast.Attribute))
    return tuple(each for each in found if each)[:_MAX_TYPES]


@lru_cache(maxsize=32)
def extension_places(conf: bytes) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return where the extensions may be that ``conf.py`` names: folders below its own, and paths in each."""
    if (tree := _parsed(conf)) is None:
        return ()
    lists = (node for node in ast.walk(tree) if isinstance(node, ast.List | ast.Tuple))
    names = [text for node in lists for text in _texts(node.elts) if _MODULE.fullmatch(text)]
    own = [name for name in dict.fromkeys(names) if not name.startswith("sphinx.")][:_MAX_NAMES]
    bases = (name.replace(".", "/") for name in own)
    files = tuple(f"{base}{ending}" for base in bases for ending in (".py", "/__init__.py"))
    folders = tuple(dict.fromkeys((*_FOLDERS, *_import_folders(tree))))[:_MAX_FOLDERS]
    return tuple((folder, files) for folder in folders) if files else ()


def _import_folders(tree: ast.Module) -> Iterator[str]:
    """Yield the folders that the script adds to those that Python imports from, as far as literal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _dotted(node.func).startswith("sys.path."):
            inner = (each for part in node.args for each in ast.walk(part) if isinstance(each, ast.expr))
            own = (each for each in _texts(inner) if not each.startswith("/") and ".." not in each.split("/"))
            yield from (each.strip("./") for each in own)


def _parsed(content: bytes) -> ast.Module | None:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _texts(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _dotted(node: ast.expr) -> str:
    """Return a name with its dots; nothing for what is none, however deep it is nested."""
    ends = list[str]()
    while isinstance(node, ast.Attribute):
        ends.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(ends))) if isinstance(node, ast.Name) else ""


def _sets_program(function: ast.FunctionDef) -> bool:
    """Return whether a function makes an object the program of the options after it."""
    return any(isinstance(each, ast.Constant) and each.value == "std:program" for each in ast.walk(function))


def _declared_by(call: ast.Call, programs: set[str]) -> ObjectType | None:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    given |= dict(zip(("directivename", "rolename", "indextemplate", "parse_node"), call.args, strict=False))
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    directive, role = _name(given.get("directivename")), _name(given.get("rolename"))
    if method == "add_crossref_type" and directive and role:
        return ObjectType(role, directive, "place")
    if method == "add_object_type" and directive and role:
        parser = given.get("parse_node")
        is_program = isinstance(parser, ast.Name) and parser.id in programs
        return ObjectType(role, directive, "program" if is_program else "word" if parser else "text")
    return _option_directive(call) if method == "add_directive" else None


def _option_directive(call: ast.Call) -> ObjectType | None:
    name = _name(call.args[0]) if len(call.args) > 1 else ""
    is_option = bool(name) and _dotted(call.args[1]).rpartition(".")[2] == "Cmdoption"
    return ObjectType("option", name, "option") if is_option else None


def _name(node: ast.expr | None) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and _NAME.fullmatch(value) else ""
