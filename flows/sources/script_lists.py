"""Lists of files that scripts of Docusaurus, VitePress, VuePress and Sphinx leave out: their literals."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...pipeline.navigation.literals import is_certain
from ...pipeline.navigation.script_imports import (
    folder_of_imports,
    has_unknown_imports,
    read_imported,
    with_imports,
)
from ...pipeline.navigation.script_tokens import keys_in
from ...pipeline.navigation.sidebars import read_script
from .file_patterns import DOCUMENTS, LeftOut, below, is_sound, of_nearest, of_shell, of_sphinx
from .tool_settings import MAX_BYTES, NotKnown, SettingsText, texts_of, unread

_ENDINGS = ("js", "ts", "mjs", "mts", "cjs")
_DOCUSAURUS = tuple(f"docusaurus.config.{ending}" for ending in _ENDINGS)
_VITEPRESS = tuple(f".vitepress/config{each}.{ending}" for each in ("", "/index") for ending in _ENDINGS)
_VUEPRESS = tuple(f".vuepress/config.{ending}" for ending in _ENDINGS)
_SPHINX, _EXCLUDE = "conf.py", "exclude_patterns"
_KEYS = (_EXCLUDE, "include_patterns")
_COMPUTED = "a part of it is computed or not understood, and what that leaves out is published"
_NOT_READ = "it cannot be read, and what it leaves out is published"
# Patterns of VuePress that take pages in, and leave none out.
_ALL = ("**/*.md", "*.md")
_FOLDERS = {"docs": "docs", "blog": "blog"}
_OF_PLUGINS = tuple(f"-{kind}" for kind in _FOLDERS)


def docusaurus_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield ``exclude`` of the documents and the blog of Docusaurus, and of further folders of either."""
    for found, given, is_named in _scripts(folders, _DOCUSAURUS, "exclude"):
        setting = f"exclude of {found.name}"
        if _is_partly_known(given) and (is_named or has_unknown_imports(found.text)):
            yield LeftOut(setting, found.folder, left=_COMPUTED)
        for kind, options in _docusaurus_options(given if isinstance(given, dict) else {}):
            if "exclude" in options:
                path = options.get("path")
                base = below(found.folder, path if isinstance(path, str) else _FOLDERS[kind])
                current = _list(setting, base, options["exclude"])
                yield from (current, *_versions_and_translations(current, found.folder, kind, options))


def _is_partly_known(given: object) -> bool:
    """Return whether settings of documents may be in what is unknown of those of Docusaurus."""
    if not isinstance(given, dict) or not all(is_certain(given, key) for key in ("presets", "plugins")):
        return True
    presets, plugins = ([] if given.get(key) is None else given[key] for key in ("presets", "plugins"))
    if not isinstance(presets, list) or not isinstance(plugins, list):
        return True
    options = [each[1] if isinstance(each, list) and len(each) > 1 else each for each in presets]
    tables = [each for each in options if not isinstance(each, str)]
    own = [each.get(kind, {}) for each in tables if isinstance(each, dict) for kind in _FOLDERS]
    own += [each[1] for each in filter(_is_named, plugins) if each[0].endswith(_OF_PLUGINS) and each[1:]]
    whole = all(is_certain(each, kind) for each in tables for kind in _FOLDERS)
    return not whole or not all(each is False or is_certain(each, "exclude") for each in own)


def _versions_and_translations(
    given: LeftOut, folder: Path, kind: str, options: Mapping[str, Any]
) -> Iterator[LeftOut]:
    """Yield what a list leaves out of the older versions of documents, and of translations."""
    own = options.get("id")
    name = own if isinstance(own, str) and own != "default" else ""
    plugin = f"/*/docusaurus-plugin-content-{kind}" + (f"-{name}" if name else "")
    places = [("i18n", plugin + ("/*" if kind == "docs" else ""))]
    if kind == "docs":
        places.append((f"{name}_versioned_docs" if name else "versioned_docs", "/*"))
    for beside, above in places:
        patterns = [f"{above}{each}" for each in given.patterns]
        yield LeftOut(given.setting, below(folder, beside), patterns)


def _docusaurus_options(given: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key in ("presets", "plugins"):
        listed = given.get(key)
        is_listed = _is_named if key == "plugins" else _is_with_options
        for name, *options in filter(is_listed, listed if isinstance(listed, list) else ()):
            table = options[0] if options and isinstance(options[0], dict) else {}
            for kind in _FOLDERS:
                own = table.get(kind) if key == "presets" else table if name.endswith(f"-{kind}") else None
                if isinstance(own, dict):
                    yield kind, own


def _is_named(given: object) -> bool:
    return isinstance(given, list) and bool(given) and isinstance(given[0], str)


def _is_with_options(given: object) -> bool:
    return isinstance(given, list) and len(given) > 1


def vitepress_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield ``srcExclude`` of VitePress, and what ``pagePatterns`` of VuePress leave out."""
    for found, given, is_named in _scripts(folders, _VITEPRESS, "srcExclude"):
        table = given if isinstance(given, dict) else {}
        source = table.get("srcDir")
        base = below(found.folder, source if isinstance(source, str) else ".")
        listed = table.get("srcExclude", [] if not is_named else None)
        yield from _known(_list(f"srcExclude of {found.name}", base, listed), found, given, "srcExclude")
    for found, given, is_named in _scripts(folders, _VUEPRESS, "pagePatterns"):
        listed = given.get("pagePatterns") if isinstance(given, dict) else None
        texts = listed if isinstance(listed, list) else [None] if is_named else []
        others = (each for each in texts if each not in _ALL)
        left = [each[1:] if isinstance(each, str) and each[:1] == "!" else None for each in others]
        yield from _known(
            _list(f"pagePatterns of {found.name}", found.folder, left), found, given, "pagePatterns"
        )


def _known(listed: LeftOut, script: SettingsText, given: object, key: str) -> Iterator[LeftOut]:
    """Yield a list, with a remark if others may replace it, unless there is nothing in either."""
    is_open = not is_certain(given, key) and (listed.patterns or has_unknown_imports(script.text))
    found = replace(listed, left=_COMPUTED) if is_open else listed
    if found.patterns or found.left:
        yield found


def _scripts(
    folders: Sequence[Path], names: Iterable[str], key: str
) -> Iterator[tuple[SettingsText, Any, bool]]:
    """Yield scripts, what each exports, and whether a name stands in it, outside of comments and strings."""
    for name in names:
        try:
            for each in texts_of(folders, [name]):
                found = replace(each, text=with_imports(each.text, name, partial(_imported, each)))
                is_named = key in found.text and key in keys_in(found.text)
                yield found, read_script(found.text, name), is_named
        except NotKnown:
            continue


def _imported(script: SettingsText, path: str) -> str | None:
    """Return the text of a script that another imports; one that is only away for a moment is waited for."""
    try:
        return read_imported(folder_of_imports(script.folder / script.name), path, MAX_BYTES)
    except OSError as error:
        raise unread(error, path) from error


def _list(setting: str, base: Path, given: object) -> LeftOut:
    """Return a list of patterns of a shell; what is none of them is left."""
    texts = given if isinstance(given, list) else [given]
    read = [[*of_shell(each)] if isinstance(each, str) else [] for each in texts]
    sound = [each for each in read if each and all(map(is_sound, each))]
    left = "" if len(sound) == len(texts) else _COMPUTED
    return LeftOut(setting, base, [pattern for each in sound for pattern in each], left)


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
        return LeftOut(empty.setting, empty.base, sound, "" if is_whole else _COMPUTED)
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
