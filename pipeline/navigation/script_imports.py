"""What settings in JavaScript or TypeScript import from scripts beside them, written into one script.

Only literals are known of the others too; nothing is run.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import is_transient
from ..untrusted import NotRead, read_regular
from .literals import UNREAD, Exports, OpenTable, is_wrapper
from .script_names import DECLARING, Scope
from .script_tokens import CLOSING, OPENING, tokens

# Scripts that are read, places that these are looked for at, and characters that are read and written.
MAX_SCRIPTS, MAX_PLACES = 40, 400
MAX_CHARS = 1_000_000
_ENDINGS = ("", ".ts", ".mts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js", "/index.mts")
_DEFAULT = "default"
# A quotient stands for what is no literal.
_NO_LITERAL = "(0 / 0)"
_OF_FOLDER = frozenset({".vitepress", ".vuepress"})


@dataclass(frozen=True, slots=True)
class _Import:
    """A name of a script, under which another exports a value by its own name; ``""`` for all of it."""

    local: str
    exported: str
    path: str


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


def with_imports(text: str, name: str, read: Callable[[str], str | None]) -> str:
    """Return a script followed by constants of what it imports from others, as far as these are literals.

    ``read`` returns the text of the script at a path from a folder, below which the path of this one is
    ``name``; nothing if it may not be read.
    """
    return text if name.endswith(".json") else _Scripts(read).joined(text, name)


def has_unknown_imports(text: str) -> bool:
    """Return whether a script imports values that are not among its constants; ``defineConfig`` is none."""
    found = tokens(text)
    declared = _declared(found)
    return any(
        each.local not in declared and not is_wrapper(each.local) for each in _imports(found, is_all=True)
    )


_UNKNOWN = _Import("", "", "")


@dataclass(slots=True)
class _Scripts:
    read: Callable[[str], str | None]
    places: int = MAX_PLACES
    scripts: int = MAX_SCRIPTS
    room: int = MAX_CHARS
    texts: dict[str, str | None] = field(default_factory=dict)
    # None while a script is read: it may import itself.
    exports: dict[str, Exports | None] = field(default_factory=dict)
    literals: dict[tuple[str, str], str] = field(default_factory=dict)

    def joined(self, text: str, name: str) -> str:
        """Return the script at the path ``name`` with constants of what it imports."""
        if "import" not in text and "require" not in text:
            return text
        found = tokens(text)
        declared = _declared(found)
        imports = [each for each in _imports(found) if each.local not in declared]
        return "".join([text, *self._constants(imports, posixpath.dirname(name))])

    def _constants(self, imports: list[_Import], folder: str) -> Iterator[str]:
        by_path: dict[str, list[_Import]] = {}
        for each in imports:
            by_path.setdefault(each.path, []).append(each)
        for path, wanted in by_path.items():
            place = self._place(posixpath.normpath(posixpath.join(folder, path)))
            for each in wanted:
                written = self._literal(place, each.exported) if place else ""
                self.room -= len(written)
                if written and self.room >= 0:
                    yield f";\nconst {each.local} = {written};\n"

    def _place(self, path: str) -> str:
        """Return where the script is that a path without its ending may name; nothing if it is not read."""
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

    def _literal(self, place: str, name: str) -> str:
        """Return what a script exports under a name, as a literal or a function that returns one."""
        if (place, name) not in self.literals and (exports := self._exports(place)):
            given = exports.named(name)
            written = _written(given.value, self.room) if given.value is not UNREAD else ""
            self.room = self.room if written or given.value is UNREAD else 0
            self.literals[place, name] = f"() => ({written})" if given.is_result and written else written
        return self.literals.get((place, name), "")

    def _exports(self, place: str) -> Exports | None:
        if place not in self.exports:
            self.exports[place] = None
            text = self.texts[place] or ""
            is_json = place.endswith(".json")
            self.exports[place] = Exports(f"export default {text}" if is_json else self.joined(text, place))
        return self.exports[place]


def _imports(found: list[tuple[str, str]], is_all: bool = False) -> Iterator[_Import]:
    """Yield the names that a script imports from others beside it.

    ``is_all`` adds what comes from packages, and one of no name for what is imported in another way.
    """
    level, at = 0, 0
    while at < len(found):
        kind, text = found[at]
        end = at + 1
        if kind == "sign":
            level += (text in OPENING) - (text in CLOSING)
        elif kind == "name" and not (at and found[at - 1][1] == "."):
            given: list[_Import] = []
            if text == "import" and not level:
                end, given = _clause(found, at + 1)
            elif text in DECLARING and not level and (required := _required(found, at + 1)):
                end, given = at + 7, [required]
            elif is_all and (text in ("import", "require") or _is_from(found, at)):
                given = [_UNKNOWN] if found[at + 1 : at + 2] != [("sign", ".")] else []
            yield from (each for each in given if is_all or each.path.startswith(("./", "../")))
        at = end


def _is_from(found: list[tuple[str, str]], at: int) -> bool:
    return found[at] == ("name", "from") and at + 1 < len(found) and found[at + 1][0] == "string"


def _clause(found: list[tuple[str, str]], start: int) -> tuple[int, list[_Import]]:
    """Return where an import ends, and its names; none for those of types."""
    at = start
    while at < len(found) and (found[at][0] == "name" or found[at][1] in ("{", "}", ",", "*")):
        if _is_from(found, at):
            break
        at += 1
    if at >= len(found) or not _is_from(found, at):
        is_dynamic = at == start and at < len(found) and found[at][1] == "("
        return max(at, start), [_UNKNOWN] if is_dynamic else []
    texts, path = [text for _, text in found[start:at]], found[at + 1][1][1:-1]
    if texts[:1] == ["type"] and texts[1:2] not in ([], [","]):
        return at + 2, []
    return at + 2, [*_names(texts, path)]


def _names(texts: list[str], path: str) -> Iterator[_Import]:
    in_braces, group = False, list[str]()
    for text in [*texts, ","]:
        if text not in ("{", "}", ","):
            group.append(text)
            continue
        if group and not (in_braces and group[0] == "type" and group[1:2] not in ([], ["as"])):
            yield _Import(group[-1], group[0] if in_braces or group[0] == "*" else _DEFAULT, path)
        group, in_braces = [], (in_braces or text == "{") and text != "}"


def _required(found: list[tuple[str, str]], at: int) -> _Import | None:
    """Return what ``name = require("./other")`` imports, if it is all of the other script."""
    texts = [text for _, text in found[at : at + 7]]
    if len(texts) < 6 or texts[1:4] != ["=", "require", "("] or texts[5] != ")":
        return None
    is_whole = texts[6:] not in (["."], ["("], ["["]) and found[at + 4][0] == "string"
    return _Import(texts[0], _DEFAULT if is_whole else "*", texts[4][1:-1])


def _declared(found: list[tuple[str, str]]) -> Set[str]:
    """Return the names that a script declares itself, at its top; what it requires is imported."""
    texts, scope, level = [text for _, text in found], Scope(), 0
    for at, text in enumerate(texts):
        level += (text in OPENING) - (text in CLOSING)
        if not level and texts[at + 2 : at + 5] != ["=", "require", "("]:
            scope.declare(texts, at)
    return scope.names.keys()


def _written(value: Any, most: int) -> str:
    """Return a value as a literal, in which a quotient stands for what is none; nothing if it is too long."""
    pieces, size = list[str](), 0
    for piece in _pieces(value):
        size += len(piece)
        if size > most:
            return ""
        pieces.append(piece)
    return "".join(pieces)


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        certain = value.certain if isinstance(value, OpenTable) else frozenset[str]()
        yield from _entries({key: each for key, each in value.items() if key not in certain})
        if isinstance(value, OpenTable):
            yield f"...{_NO_LITERAL}, "
            yield from _entries({key: each for key, each in value.items() if key in certain})
        yield "}"
    elif isinstance(value, list):
        yield "["
        for each in value:
            yield from _pieces(each)
            yield ", "
        yield "]"
    else:
        yield _NO_LITERAL if value is UNREAD else json.dumps(value, ensure_ascii=False)


def _entries(table: dict[str, Any]) -> Iterator[str]:
    for key, each in table.items():
        yield f"{json.dumps(key, ensure_ascii=False)}: "
        yield from _pieces(each)
        yield ", "
