"""Scripts that hold the settings of a tool, each read once, with what they import from others beside them."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import is_transient
from ..untrusted import NotRead, read_regular
from .literals import MAX_NESTING, UNREAD, Bounds, OpenTable, Reader, Unread
from .script_changes import changed_names
from .script_names import ALL, DEFAULT, ExportedNames, Import, Scope, has_name, is_wrapper, required
from .script_syntax import field as part
from .script_syntax import nodes_below, parsed, parts, text_of

# Scripts that are read, places that these are looked for at, and characters that they have in all.
MAX_SCRIPTS, MAX_PLACES = 40, 400
MAX_CHARS = 1_000_000
_ENDINGS = ("", ".ts", ".mts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js", "/index.mts")
_OF_FOLDER = frozenset({".vitepress", ".vuepress"})


def folder_of_imports(script: Path) -> Path:
    """Return the folder that what a script imports may not lie outside of: that of the documents."""
    inner = next((each for each in script.parents[:2] if each.name in _OF_FOLDER), None)
    return inner.parent if inner else script.parent


def read_imported(folder: Path, name: str, max_bytes: int) -> str | None:
    """Return the text of a script in a folder that another imports; nothing if it may not be read.

    Raise the ``OSError`` of one that is only away for a moment.
    """
    try:
        return read_regular(folder / name, max_bytes, folder).decode("utf-8-sig", "replace")
    except (OSError, ValueError, NotRead) as error:
        if is_transient(error):
            raise
        return None


def _no_other(_: str) -> str | None:
    return None


class Script:
    """Settings in a script, or in JSON, and in all scripts that it imports; nothing is run.

    ``imported`` returns the text of the script at a path from a folder, below which the path of this one is
    ``name``; nothing if it may not be read.
    """

    def __init__(self, text: str, name: str, imported: Callable[[str], str | None] = _no_other) -> None:
        self._scripts = _Scripts(imported)
        self._text, self._is_json = text, name.endswith(".json")
        self._main = None if self._is_json else _Module(text, name, "", self._scripts)

    @cached_property
    def value(self) -> Any:
        """Return what it exports by default; ``UNREAD`` where that is not known."""
        if self._main is not None:
            return self._main.exported(DEFAULT, is_called=True)
        try:
            return json.loads(self._text)
        except (ValueError, RecursionError):
            return UNREAD

    @cached_property
    def has_unknown_imports(self) -> bool:
        """Return whether values are imported that are not known; ``defineConfig`` is none."""
        return any(each.has_unknown_imports() for each in self._modules)

    def names(self, word: str) -> bool:
        """Return whether a name stands in one of the scripts, outside of comments and texts."""
        return any(each.names(word) for each in self._modules)

    @cached_property
    def _modules(self) -> list[_Module]:
        """The script and all that it imports, each once."""
        found = [self._main] if self._main is not None else []
        for each in found:  # which grows
            others = filter(None, map(each.other, [*each.imports, *each.whole]))
            found += [other for other in dict.fromkeys(others) if other not in found]
        return found

    @property
    def content(self) -> bytes:
        """Return its text and those that its value was made from."""
        value = self.value
        others = (text for _, text in sorted(self._scripts.texts.items()) if text and value is not None)
        return "\n".join([self._text, *others]).encode("utf-8", "replace")


class _Module:
    """A script of several that import each other."""

    def __init__(self, text: str, path: str, where: str, scripts: _Scripts) -> None:
        self._text, self._root, self._scripts = text, parsed(text, path), scripts
        self._folder = posixpath.dirname(path)
        self._top, self._exports = Scope(), ExportedNames()
        self.whole = self._exports.whole
        for statement in parts(self._root) if self._root is not None else ():
            self._top.declare(statement)
            self._exports.note(statement)
        self._changed = changed_names(self._root) if self._root is not None else frozenset[str]()
        self._reader = Reader(self._top, self._changed, self._imported, where, scripts.bounds)
        # What is not finished is unknown: a script may import itself.
        self._found: dict[tuple[str, bool], Any] = {}

    def names(self, word: str) -> bool:
        """Return whether a name stands in it; in one that is not understood, whether the word does."""
        if word not in self._text or self._root is None or self._root.has_error:
            return word in self._text
        return has_name(self._root, word)

    def exported(self, name: str, *, is_called: bool) -> Any:
        """Return what the script exports under a name, or what that function returns."""
        key, bounds = (name, is_called), self._scripts.bounds
        if key not in self._found:
            if bounds.depth >= MAX_NESTING:
                return UNREAD
            self._found[key] = UNREAD
            bounds.depth += 1
            try:
                self._found[key] = self._export(name, is_called)
            finally:
                bounds.depth -= 1
        return self._found[key]

    def _export(self, name: str, is_called: bool) -> Any:
        exports = self._exports
        if (value := exports.values.get(name)) is not None:
            return self._opened(self._reader.at_top(value, is_called=is_called), self._reader.place(value))
        if (other := exports.others.get(name)) is not None:
            return self._imported(other, is_called)
        if (own := exports.own.get(name, "" if name == DEFAULT else name)) in self._top.names:
            return self._opened(self._reader.constant(own, is_called=is_called, start=self._top))
        whole = islice(exports.whole if name != DEFAULT else (), MAX_SCRIPTS)
        found = (self._imported(Import(each.path, name), is_called) for each in whole)
        return next((each for each in found if not isinstance(each, Unread)), UNREAD)

    def _opened(self, value: Any, place: str = "") -> Any:
        """Return a table of which nothing is certain where it is changed afterwards, or the script broken."""
        is_changed = not self._changed.isdisjoint(("module", "exports"))
        if isinstance(value, dict):
            is_open = is_changed or (self._root is not None and self._root.has_error)
            return OpenTable(value, frozenset(), place) if is_open else value
        return Unread(place, possible=(value,)) if is_changed and not isinstance(value, Unread) else value

    def _imported(self, given: Import, is_called: bool) -> Any:
        other = self.other(given)
        return other.exported(given.name, is_called=is_called) if other and given.name != ALL else UNREAD

    def other(self, given: Import) -> _Module | None:
        """Return the script that something is imported from; None if it is not read."""
        path = posixpath.normpath(posixpath.join(self._folder, given.path))
        return self._scripts.module(path) if given.is_beside else None

    def has_unknown_imports(self) -> bool:
        """Return whether it imports a value that is not known, unless by the name of a wrapper."""
        wrappers = {each for name, each in self._top.names.items() if is_wrapper(name)}
        values = (each for each in self.imports if each not in wrappers)
        is_gone = any(self.other(each) is None for each in self._exports.whole)
        return self._root is None or is_gone or any(map(self._is_unknown, values))

    def _is_unknown(self, given: Import) -> bool:
        values = (self._imported(given, is_called) for is_called in (False, True))
        return all(isinstance(each, Unread) for each in values)

    @cached_property
    def imports(self) -> list[Import]:
        """Return what it imports or exports again, also within expressions."""
        declared = [each for each in self._top.names.values() if isinstance(each, Import)]
        paths = {each.path for each in declared}
        within = (each for each in self._within() if each.path not in paths)
        return [*declared, *self._exports.others.values(), *within]

    def _within(self) -> Iterator[Import]:
        if self._root is not None and ("import" in self._text or "require" in self._text):
            for node in nodes_below(self._root):
                called = text_of(part(node, "function")) if node.type == "call_expression" else ""
                if called in ("import", "require"):
                    yield Import(required(node))


@dataclass(slots=True)
class _Scripts:
    read: Callable[[str], str | None]
    places: int = MAX_PLACES
    scripts: int = MAX_SCRIPTS
    room: int = MAX_CHARS
    bounds: Bounds = field(default_factory=Bounds)
    texts: dict[str, str | None] = field(default_factory=dict)
    modules: dict[str, _Module | None] = field(default_factory=dict)

    def module(self, path: str) -> _Module | None:
        """Return the script that a path without its ending may name; nothing if it is not read."""
        place = self._place(path)
        if place and place not in self.modules:
            text = self.texts[place] or ""
            source = f"export default {text}" if place.endswith(".json") else text
            self.modules[place] = _Module(source, place, place, self)
        return self.modules.get(place)

    def _place(self, path: str) -> str:
        stem = path.removesuffix(".js") if path.endswith(".js") else path  # TypeScript names it so
        for place in dict.fromkeys([path, *(stem + ending for ending in _ENDINGS)]):
            if place not in self.texts and self.places > 0 and self.scripts > 0:
                self.places -= 1
                text = self.read(place)
                self.scripts -= text is not None
                self.room -= len(text or "")
                self.texts[place] = text if self.room >= 0 else ""
            if self.texts.get(place) is not None:
                return place
        return ""
