"""Lists of files that scripts of Docusaurus, VitePress, VuePress and Sphinx leave out: their literals."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from ...pipeline.navigation.literals import UNREAD, OpenTable, Unread, is_certain
from ...pipeline.navigation.script_imports import Script, folder_of_imports, read_imported
from .file_patterns import DOCUMENTS, LeftOut, below, is_sound, of_nearest, of_shell, of_sphinx
from .tool_settings import MAX_BYTES, NotKnown, SettingsText, texts_of, unread

_ENDINGS = ("js", "ts", "mjs", "mts", "cjs")
_DOCUSAURUS = tuple(f"docusaurus.config.{ending}" for ending in _ENDINGS)
_VITEPRESS = tuple(f".vitepress/config{each}.{ending}" for each in ("", "/index") for ending in _ENDINGS)
_VUEPRESS = tuple(f".vuepress/config.{ending}" for ending in _ENDINGS)
_SPHINX, _EXCLUDE = "conf.py", "exclude_patterns"
_KEYS = (_EXCLUDE, "include_patterns")
_COMPUTED, _MOST_PLACES = (
    "a part of it is computed or not understood, and what that leaves out is published",
    5,
)
_NOT_READ = "it cannot be read, and what it leaves out is published"
# Patterns of VuePress that take pages in, and leave none out.
_ALL = ("**/*.md", "*.md")
_FOLDERS = ("docs", "blog")
_OF_PLUGINS = tuple(f"-{kind}" for kind in _FOLDERS)


def docusaurus_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield ``exclude`` of the documents and the blog of Docusaurus, and of further folders of either."""
    for found in _scripts(folders, _DOCUSAURUS, "exclude"):
        setting, given = f"exclude of {found.name}", found.script.value
        unknown = [*_unknown_parts(given)]
        if unknown and (found.is_named or found.script.has_unknown_imports):
            yield LeftOut(setting, found.folder, left=_computed(*unknown))
        for kind, options in _docusaurus_options(given if isinstance(given, dict) else {}):
            if "exclude" in options:
                path = options.get("path")
                base = below(found.folder, path if isinstance(path, str) else kind)
                current = _list(setting, base, options["exclude"])
                yield from (current, *_versions_and_translations(current, found.folder, kind, options))


def _unknown_parts(given: object) -> Iterator[object]:
    """Yield what is unknown of the settings of Docusaurus and may be settings of documents."""
    if not isinstance(given, dict) or not (is_certain(given, "presets") and is_certain(given, "plugins")):
        return (yield given)
    for key, unknown_of in (("presets", _unknown_of_preset), ("plugins", _unknown_of_plugin)):
        listed = given.get(key) or []
        for each in listed if isinstance(listed, list) else [listed]:
            for own in unknown_of(each) if each else ():
                if own is not False and not is_certain(own, "exclude"):
                    yield own


def _unknown_of_preset(given: object) -> Iterator[object]:
    options = given[1] if isinstance(given, list) and len(given) > 1 else given
    if isinstance(options, dict) and all(is_certain(options, kind) for kind in _FOLDERS):
        yield from (options.get(kind, {}) for kind in _FOLDERS)
    elif not isinstance(options, str | list):
        yield UNREAD if isinstance(options, dict) else options


def _unknown_of_plugin(given: Any) -> Iterator[object]:
    """Yield the options of a plugin for documents, or of one of an unknown name; a function is none."""
    name, own, *_ = [*given, None, None] if isinstance(given, list) and given else [given, None]
    if isinstance(name, str):
        yield from [own] if own is not None and name.endswith(_OF_PLUGINS) else ()
    elif name and not (isinstance(name, Unread) and "function" in name.kind):
        yield from () if is_certain(own, "exclude") and "exclude" not in own else [name]


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
        pairs = (each for each in (listed if isinstance(listed, list) else ()) if isinstance(each, list))
        for name, table, *_ in (each for each in pairs if len(each) > 1 and isinstance(each[1], dict)):
            for kind in _FOLDERS:
                is_of_kind = isinstance(name, str) and name.endswith(f"-{kind}")
                own = table.get(kind) if key == "presets" else table if is_of_kind else None
                if isinstance(own, dict):
                    yield kind, own


def vitepress_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield ``srcExclude`` of VitePress, and what ``pagePatterns`` of VuePress leave out."""
    for found in _scripts(folders, _VITEPRESS, "srcExclude"):
        given = found.script.value
        table = given if isinstance(given, dict) else {}
        source = table.get("srcDir")
        base = below(found.folder, source if isinstance(source, str) else ".")
        listed = table.get("srcExclude", [_left_by(given)] if found.is_named else [])
        yield from _known(_list(f"srcExclude of {found.name}", base, listed), found)
    for found in _scripts(folders, _VUEPRESS, "pagePatterns"):
        given = found.script.value
        listed = given.get("pagePatterns") if isinstance(given, dict) else None
        texts = listed if isinstance(listed, list) else [given] if found.is_named else []
        left = [_left_by(each) for each in texts if each not in _ALL]
        yield from _known(_list(f"pagePatterns of {found.name}", found.folder, left), found)


def _left_by(given: object) -> object:
    """Return what a pattern with ``!`` leaves out, or something unknown, which may take in just as well."""
    if isinstance(given, str):
        return given[1:] if given[:1] == "!" else None
    return Unread(given.where) if isinstance(given, Unread | OpenTable) else None


def _known(listed: LeftOut, found: _ToolScript) -> Iterator[LeftOut]:
    """Yield a list, with a remark if others may replace it, unless there is nothing in either."""
    script = found.script
    if not is_certain(script.value, found.key) and (listed.patterns or script.has_unknown_imports):
        listed = replace(listed, left=listed.left or _computed(script.value))
    if listed.patterns or listed.left:
        yield listed


@dataclass(frozen=True, slots=True)
class _ToolScript:
    """A script of a tool, and a setting that is looked for in it."""

    folder: Path
    name: str
    script: Script
    key: str

    @property
    def is_named(self) -> bool:
        """Return whether the setting's name stands there."""
        return self.script.names(self.key)


def _scripts(folders: Sequence[Path], names: Iterable[str], key: str) -> Iterator[_ToolScript]:
    for name in names:
        try:
            for each in texts_of(folders, [name]):
                yield _ToolScript(each.folder, name, Script(each.text, name, partial(_imported, each)), key)
        except NotKnown:
            continue


def _imported(script: SettingsText, path: str) -> str | None:
    """Return the text of a script that another imports; one that is only away for a moment is waited for."""
    try:
        return read_imported(folder_of_imports(script.folder / script.name), path, MAX_BYTES)
    except OSError as error:
        raise unread(error, path) from error


def _list(setting: str, base: Path, given: object) -> LeftOut:
    """Return a list of patterns of a shell, on whatever condition; what is none of them is left."""
    texts = [*_possible(given)]
    read = ([*of_shell(each)] if isinstance(each, str) else [] for each in texts)
    sound = [each if all(map(is_sound, each)) else [] for each in read]
    left = [text for text, patterns in zip(texts, sound, strict=True) if not patterns]
    return LeftOut(setting, base, [*chain(*sound)], _computed(*left) if left else "")


def _possible(given: object) -> Iterator[object]:
    """Yield what a list holds, and what each of its values that are not known may be, each once."""
    pending, seen = [given], set[int]()
    while pending:
        each = pending.pop()
        if isinstance(each, list | Unread) and id(each) not in seen:
            seen.add(id(each))
            pending += reversed(each.possible if isinstance(each, Unread) else each)
        if not isinstance(each, list):
            yield each


def _computed(*unknown: object) -> str:
    """Return a remark on what is unknown, with the places of the first."""
    places = [each.where for each in unknown if isinstance(each, Unread | OpenTable) and each.where]
    return f"{_COMPUTED} ({'; '.join(dict.fromkeys(places[:_MOST_PLACES]))})" if places else _COMPUTED


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
