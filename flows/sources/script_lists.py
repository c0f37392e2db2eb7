"""Lists of files that scripts of Docusaurus, VitePress, VuePress and Sphinx leave out: their literals."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...pipeline.navigation.literals import names_in
from ...pipeline.navigation.sidebars import read_script
from .file_patterns import LeftOut, below, is_sound, of_shell, of_sphinx
from .tool_settings import NotKnown, SettingsText, texts_of

_ENDINGS = ("js", "ts", "mjs", "mts", "cjs")
_DOCUSAURUS = tuple(f"docusaurus.config.{ending}" for ending in _ENDINGS)
_VITEPRESS = tuple(f".vitepress/config{each}.{ending}" for each in ("", "/index") for ending in _ENDINGS)
_VUEPRESS = tuple(f".vuepress/config.{ending}" for ending in _ENDINGS)
_SPHINX, _KEY = "conf.py", "exclude_patterns"
_COMPUTED = "a part of it is computed or not understood, and what that leaves out is published"
_NOT_READ = "it cannot be read, and what it leaves out is published"
# Patterns of VuePress that take pages in, and leave none out.
_ALL = ("**/*.md", "*.md")
_FOLDERS = {"docs": "docs", "blog": "blog"}


def docusaurus_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield ``exclude`` of the documents and the blog of Docusaurus, and of further folders of either."""
    for found in _scripts(folders, _DOCUSAURUS, "exclude"):
        given = read_script(found.text, found.name)
        for kind, options in _docusaurus_options(given if isinstance(given, dict) else {}):
            if "exclude" in options:
                path = options.get("path")
                base = below(found.folder, path if isinstance(path, str) else _FOLDERS[kind])
                yield _list(f"exclude of {found.name}", base, options["exclude"])


def _docusaurus_options(given: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key in ("presets", "plugins"):
        listed = given.get(key)
        for name, *options in filter(_is_named, listed if isinstance(listed, list) else ()):
            table = options[0] if options and isinstance(options[0], dict) else {}
            for kind in _FOLDERS:
                own = table.get(kind) if key == "presets" else table if name.endswith(f"-{kind}") else None
                if isinstance(own, dict):
                    yield kind, own


def _is_named(given: object) -> bool:
    return isinstance(given, list) and bool(given) and isinstance(given[0], str)


def vitepress_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield ``srcExclude`` of VitePress, and what ``pagePatterns`` of VuePress leave out."""
    for found in _scripts(folders, _VITEPRESS, "srcExclude"):
        given = read_script(found.text, found.name)
        table = given if isinstance(given, dict) else {}
        source = table.get("srcDir")
        base = below(found.folder, source if isinstance(source, str) else ".")
        yield _list(f"srcExclude of {found.name}", base, table.get("srcExclude"))
    for found in _scripts(folders, _VUEPRESS, "pagePatterns"):
        given = read_script(found.text, found.name)
        listed = given.get("pagePatterns") if isinstance(given, dict) else None
        texts = listed if isinstance(listed, list) else [None]
        others = (each for each in texts if each not in _ALL)
        left = [each[1:] if isinstance(each, str) and each[:1] == "!" else None for each in others]
        yield _list(f"pagePatterns of {found.name}", found.folder, left)


def _scripts(folders: Sequence[Path], names: Iterable[str], key: str) -> Iterator[SettingsText]:
    """Yield the scripts in which a name stands, outside of comments and strings."""
    for name in names:
        try:
            for found in texts_of(folders, [name]):
                if key in found.text and key in names_in(found.text):
                    yield found
        except NotKnown:
            continue


def _list(setting: str, base: Path, given: object) -> LeftOut:
    """Return a list of patterns of a shell; what is none of them is left."""
    texts = given if isinstance(given, list) else [given]
    read = [[*of_shell(each)] if isinstance(each, str) else [] for each in texts]
    sound = [each for each in read if each and all(map(is_sound, each))]
    left = "" if len(sound) == len(texts) else _COMPUTED
    return LeftOut(setting, base, [pattern for each in sound for pattern in each], left)


def sphinx_list(folders: Sequence[Path]) -> LeftOut | None:
    """Return ``exclude_patterns`` of the nearest ``conf.py``: every text that may be added to it."""
    setting = f"{_KEY} of {_SPHINX}"
    for folder in folders:
        try:
            found = next(texts_of([folder], (_SPHINX,)), None)
            if found is None:
                continue
            if _KEY not in found.text:
                return None
            return _of_sphinx(LeftOut(setting, folder), ast.parse(found.text))
        except (NotKnown, SyntaxError, ValueError, MemoryError, RecursionError):
            return LeftOut(setting, folder, left=_NOT_READ)
    return None


def _of_sphinx(empty: LeftOut, script: ast.Module) -> LeftOut:
    constants = {
        node.targets[0].id: node.value
        for node in script.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    known = [text for node in ast.walk(script) for value in _given(node) for text in _texts(value, constants)]
    patterns = [of_sphinx(each) for each in known if each]
    sound = [each for each in patterns if is_sound(each)]
    left = "" if len(sound) == len(known) else _COMPUTED
    return LeftOut(empty.setting, empty.base, list(dict.fromkeys(sound)), left)


def _given(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a statement assigns to the setting, or adds to it."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(map(_is_setting, targets)):
            yield node.value
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _is_setting(node.func.value)
        and node.func.attr in ("append", "extend", "insert")
    ):
        yield from node.args[-1:]


def _is_setting(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == _KEY


def _texts(node: ast.expr, constants: dict[str, ast.expr]) -> Iterator[str]:
    """Yield the texts of an expression of literals; an empty one for each part that is something else.

    A constant is read once, and empty from then on: ten that each name the next ten times would never end.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for each in node.elts:
            yield from _texts(each, constants)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _texts(node.left, constants)
        yield from _texts(node.right, constants)
    elif isinstance(node, ast.Starred):
        yield from _texts(node.value, constants)
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body, constants)
        yield from _texts(node.orelse, constants)
    elif isinstance(node, ast.Name) and node.id in constants:
        if node.id != _KEY:  # what it was is among its texts
            value, constants[node.id] = constants[node.id], ast.List([])
            yield from _texts(value, constants)
    else:
        yield ""
