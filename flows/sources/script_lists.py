"""Lists of files that scripts of Docusaurus, VitePress and VuePress leave out: their literals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from ...pipeline.navigation.literals import UNREAD, OpenTable, Unread, is_certain
from ...pipeline.navigation.script_imports import Script, folder_of_imports, read_imported
from .file_patterns import COMPUTED, LeftOut, below, is_sound, of_shell
from .tool_settings import MAX_BYTES, NotKnown, SettingsText, texts_of, unread

_ENDINGS = ("js", "ts", "mjs", "mts", "cjs")
_DOCUSAURUS = tuple(f"docusaurus.config.{ending}" for ending in _ENDINGS)
_VITEPRESS = tuple(f".vitepress/config{each}.{ending}" for each in ("", "/index") for ending in _ENDINGS)
_VUEPRESS = tuple(f".vuepress/config.{ending}" for ending in _ENDINGS)
_MOST_PLACES = 5
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
                for base in _bases(options, "path", kind):
                    current = _list(setting, below(found.folder, base), options["exclude"])
                    yield from (current, *_versions_and_translations(current, found.folder, kind, options))
                yield from _remark_on_base(setting, found, options, "path")


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
        is_of_documents = own is not None and name.endswith(_OF_PLUGINS)
        yield from [own] if is_of_documents else _excluded_by(own)
    elif name and not (isinstance(name, Unread) and "function" in name.kind):
        yield from () if is_certain(own, "exclude") and "exclude" not in own else [name]


def _excluded_by(options: object) -> Iterator[object]:
    """Yield what a plugin of another name excludes, which may be one for documents that adds to it."""
    if isinstance(options, dict) and "exclude" in options:
        yield Unread(possible=(options["exclude"],))


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
        listed = table.get("srcExclude", [_left_by(given)] if found.is_named else [])
        setting = f"srcExclude of {found.name}"
        for base in _bases(table, "srcDir", "."):
            yield from _known(_list(setting, below(found.folder, base), listed), found)
        if listed != []:
            yield from _remark_on_base(setting, found, table, "srcDir")
    for found in _scripts(folders, _VUEPRESS, "pagePatterns"):
        given = found.script.value
        listed = given.get("pagePatterns") if isinstance(given, dict) else None
        texts = listed if isinstance(listed, list) else [given] if found.is_named else []
        left = [_left_by(each) for each in texts if each not in _ALL]
        yield from _known(_list(f"pagePatterns of {found.name}", found.folder, left), found)


def _bases(options: Mapping[str, Any], key: str, default: str) -> list[str]:
    """Return the folders that a list may be of, each once; the default one where none is known."""
    texts = [each for each in _possible(options.get(key)) if isinstance(each, str)]
    return [*dict.fromkeys(texts)] or [default]


def _remark_on_base(
    setting: str, found: _ToolScript, options: Mapping[str, Any], key: str
) -> Iterator[LeftOut]:
    """Yield a remark if it is not known which folder a list is of."""
    base = options.get(key)
    if not isinstance(base, str | None):
        yield LeftOut(f"{key} of {setting}", found.folder, left=_computed(base))


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
    return f"{COMPUTED} ({'; '.join(dict.fromkeys(places[:_MOST_PLACES]))})" if places else COMPUTED
