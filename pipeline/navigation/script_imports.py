"""What settings in JavaScript or TypeScript import from scripts beside them, written into one script.

Only literals are known of the others too; nothing is run.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .literals import UNREAD, read_exports

MAX_SCRIPTS, MAX_DEPTH = 40, 5
MAX_CHARS = 1_000_000
_IMPORT = re.compile(
    r"""^[ \t]*import[ \t]+(?!type\b)(?P<names>(?:(?!\nimport\b)[^'";]){1,2000}?)\s*\bfrom[ \t]*"""
    r"""(['"])(?P<path>\.{1,2}/[^'"\n]{1,300})\2"""
    r"""|^[ \t]*(?:const|let|var)[ \t]+(?P<required>[\w$]{1,100})[ \t]*=[ \t]*"""
    r"""require\([ \t]*(['"])(?P<path2>\.{1,2}/[^'"\n]{1,300})\5[ \t]*\)""",
    re.MULTILINE,
)
_NAME = re.compile(r"(?P<name>[\w$]+)(?:\s+as\s+(?P<alias>[\w$]+))?")
_ENDINGS = ("", ".ts", ".mts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js", "/index.mts")
_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class _Import:
    """A name of a script, under which another exports a value by its own name."""

    local: str
    exported: str
    path: str


def with_imports(text: str, name: str, read: Callable[[str], str | None]) -> str:
    """Return a script followed by constants of what it imports from others, as far as these are literals.

    ``read`` returns the text of the script at a path from the folder of this one, whose own path there is
    ``name``; nothing if it may not be read.
    """
    return text if name.endswith(".json") else _Scripts(read).joined(text, name, 0)


@dataclass(slots=True)
class _Scripts:
    read: Callable[[str], str | None]
    left: int = MAX_SCRIPTS
    room: int = MAX_CHARS
    known: dict[str, str | None] = field(default_factory=dict)

    def joined(self, text: str, name: str, depth: int) -> str:
        """Return the script at the path ``name`` with constants of what it imports."""
        imports = [*_imports(text)] if depth < MAX_DEPTH else []
        return "".join([text, *self._constants(imports, posixpath.dirname(name), depth)])

    def _constants(self, imports: list[_Import], folder: str, depth: int) -> Iterator[str]:
        for path in dict.fromkeys(each.path for each in imports):
            wanted = [each for each in imports if each.path == path]
            found = self._script(posixpath.normpath(posixpath.join(folder, path)), depth)
            exports = read_exports(found, {each.exported for each in wanted}) if found else {}
            for each in wanted:
                export = exports.get(each.exported)
                written = _written(export.value) if export else ""
                self.room -= len(written)
                if export and written and self.room >= 0:
                    called = f"() => ({written})" if export.is_result else written
                    yield f";\nconst {each.local} = {called};\n"

    def _script(self, path: str, depth: int) -> str:
        """Return the script that a path without its ending may name, with what it imports itself."""
        stem = path.removesuffix(".js") if path.endswith(".js") else path  # TypeScript names it so
        for place in dict.fromkeys([path, *(stem + ending for ending in _ENDINGS)]):
            if place not in self.known and self.left > 0:
                self.left -= 1
                self.known[place] = self.read(place)
                self.left += self.known[place] is None
            if (text := self.known.get(place)) is not None:
                is_json = place.endswith(".json")
                return f"export default {text}" if is_json else self.joined(text, place, depth + 1)
        return ""


def _imports(text: str) -> Iterator[_Import]:
    for found in _IMPORT.finditer(text):
        if found["required"]:
            yield _Import(found["required"], _DEFAULT, found["path2"])
            continue
        before, _, braces = found["names"].partition("{")
        if (default := _NAME.match(before.strip())) and "*" not in before:
            yield _Import(default["name"], _DEFAULT, found["path"])
        for each in braces.partition("}")[0].split(","):
            named = _NAME.fullmatch(each.strip())
            if named:
                yield _Import(named["alias"] or named["name"], named["name"], found["path"])


def _written(value: Any) -> str:
    """Return a value as a literal, in which a call stands for what is none; nothing if it is too long."""
    pieces, size = list[str](), 0
    for piece in _pieces(value):
        size += len(piece)
        if size > MAX_CHARS:
            return ""
        pieces.append(piece)
    return "".join(pieces)


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for key, each in value.items():
            yield f"{json.dumps(key, ensure_ascii=False)}: "
            yield from _pieces(each)
            yield ", "
        yield "}"
    elif isinstance(value, list):
        yield "["
        for each in value:
            yield from _pieces(each)
            yield ", "
        yield "]"
    else:
        yield "unread()" if value is UNREAD else json.dumps(value, ensure_ascii=False)
