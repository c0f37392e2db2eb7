"""Lists of files that ``conf.py`` of Sphinx leaves out: the texts in its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from .file_patterns import COMPUTED, DOCUMENTS, LeftOut, is_sound, of_nearest, of_sphinx
from .tool_settings import NotKnown, texts_of

_SPHINX, _EXCLUDE = "conf.py", "exclude_patterns"
_KEYS = (_EXCLUDE, "include_patterns")
_NOT_READ = "it cannot be read, and what it leaves out is published"


def sphinx_lists(near: Sequence[Path], root: Path) -> Iterator[LeftOut]:
    """Return what ``conf.py`` leaves out by ``exclude_patterns`` and ``include_patterns``.

    That is every text that may be added to them. Of the folders around the collection, the nearest counts.
    """
    found = ((folder, [*_lists_of_sphinx(folder)]) for folder in near)
    return of_nearest(((folder, lists) for folder, lists in found if lists), root)


def _lists_of_sphinx(folder: Path) -> Iterator[LeftOut]:
    try:
        found = next(texts_of([folder], (_SPHINX,)), None)
        script = ast.parse(found.text) if found and any(key in found.text for key in _KEYS) else None
        given = {key: [*_given(script, key)] for key in _KEYS} if script else {}
        lists = [
            _of_sphinx(LeftOut(f"{key} of {_SPHINX}", folder), values, script, key)
            for key, values in given.items()
            if script and values
        ]
    except (NotKnown, SyntaxError, ValueError, MemoryError, RecursionError):
        lists = [LeftOut(f"{_EXCLUDE} of {_SPHINX}", folder, left=_NOT_READ)]
    yield from lists


def _of_sphinx(empty: LeftOut, given: Sequence[ast.expr], script: ast.Module, key: str) -> LeftOut:
    constants = {
        node.targets[0].id: node.value
        for node in script.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id != key
    }
    known = [text for value in given for text in _texts(value, constants, key)]
    patterns = [of_sphinx(each) for each in known if each]
    sound = list(dict.fromkeys(each for each in patterns if is_sound(each)))
    is_whole = len(known) == len([each for each in patterns if is_sound(each)])
    if key == _EXCLUDE:
        return LeftOut(empty.setting, empty.base, sound, "" if is_whole else COMPUTED)
    if not is_whole:  # it would leave out what the rest takes in
        return LeftOut(empty.setting, empty.base, left=_NOT_READ)
    return LeftOut(empty.setting, empty.base, [*DOCUMENTS, *(f"!{each}" for each in sound)] if sound else [])


def _given(script: ast.AST, key: str, is_local: bool = False) -> Iterator[ast.expr]:
    """Yield what statements assign to the setting, or add to it; a function has names of its own."""
    for node in ast.iter_child_nodes(script):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            declared = (each for each in ast.walk(node) if isinstance(each, ast.Global))
            yield from _given(node, key, is_local=not any(key in each.names for each in declared))
            continue
        yield from _given_by(node, key, is_local)
        yield from _given(node, key, is_local)


def _given_by(node: ast.AST, key: str, is_local: bool) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(_is_setting(each, key, is_local) for each in targets):
            yield node.value
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _is_setting(node.func.value, key, is_local)
        and node.func.attr in ("append", "extend", "insert")
    ):
        yield from node.args[-1:]


def _is_setting(node: ast.expr, key: str, is_local: bool) -> bool:
    """Return whether it is the name of the setting, or the same of ``config`` or ``app.config``."""
    if isinstance(node, ast.Attribute):
        holder = node.value
        name = holder.id if isinstance(holder, ast.Name) else getattr(holder, "attr", "")
        return node.attr == key and name == "config"
    return isinstance(node, ast.Name) and node.id == key and not is_local


def _texts(node: ast.expr, constants: dict[str, ast.expr], key: str) -> Iterator[str]:
    """Yield the texts of an expression of literals; an empty one for each part that is something else.

    A constant is read once, and empty from then on: ten that each name the next ten times would never end.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for each in node.elts:
            yield from _texts(each, constants, key)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _texts(node.left, constants, key)
        yield from _texts(node.right, constants, key)
    elif isinstance(node, ast.Starred):
        yield from _texts(node.value, constants, key)
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body, constants, key)
        yield from _texts(node.orelse, constants, key)
    elif isinstance(node, ast.Name) and node.id in constants:
        value, constants[node.id] = constants[node.id], ast.List([])
        yield from _texts(value, constants, key)
    elif not (isinstance(node, ast.Name) and node.id == key):  # what it was is among its texts
        yield ""
