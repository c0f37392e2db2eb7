"""The literals of a JavaScript or TypeScript file, read and never run.

Objects, arrays, strings, numbers and names of constants of the same file are values, and so is what ``...``
puts into one; a call of ``defineConfig`` or the like is its argument, and a function, or a call of one of the
same file, what its only ``return`` gives. Everything else is ``UNREAD``, a name whose value the script may
change among it, and passed over up to the next comma.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from .script_cursor import Cursor
from .script_names import DECLARING, Scope, changed_names, exported_names
from .script_tokens import CLOSING, OPENING, unescaped

MAX_NESTING = 60
# Values that "..." puts into others, in all: each may hold the one before it twice.
MAX_SPREAD = 100_000
# What makes no value: function calls, conditions, templates with parts.
UNREAD: Final = object()

_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
# A call of a function of such a name is its argument.
_WRAPPER = re.compile(r"(?:define|with)|(?:starlight|\w*[tT]heme)\Z")
_FILTER = [".", "filter", "(", "Boolean", ")"]
_NAMING = (*DECLARING, "function")
# A function with one of these returns what depends on something.
_BRANCHING = frozenset(
    ["if", "else", "for", "while", "do", "switch", "try", "catch", "finally", "throw", "with", "yield"]
)


class OpenTable(dict[str, Any]):
    """An object into which ``...`` puts something unknown: only the keys after it are ``certain``."""

    def __init__(self, given: dict[str, Any], certain: Set[str]) -> None:
        super().__init__(given)
        self.certain = certain


def is_certain(table: object, key: str) -> bool:
    """Return whether it is an object of which it is known what stands under a key, or that nothing does."""
    return isinstance(table, dict) and (not isinstance(table, OpenTable) or key in table.certain)


def read_module(source: str) -> Any:
    """Return the value that a module exports by default (``export default`` or ``module.exports =``)."""
    return _Reader(source).exported()


@dataclass(frozen=True, slots=True)
class Export:
    """A value that a script exports, or the one that a function returns which it exports."""

    value: Any
    is_result: bool = False


class Exports:
    """What a script exports under each name, ``default`` among them, as far as it is a literal."""

    def __init__(self, source: str) -> None:
        self._reader = _Reader(source)
        self._default = Export(self._reader.exported())

    def named(self, name: str) -> Export:
        """Return the value that is exported under a name."""
        return self._default if name == "default" else self._reader.export(name)


def is_wrapper(name: str) -> bool:
    """Return whether a call of a function of this name is its argument."""
    return _WRAPPER.match(name) is not None


def read_value(source: str) -> Any:
    """Return the value that a text begins with, such as an attribute of a component."""
    return _Reader(source)._value()


class _Reader(Cursor):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._scope = Scope()
        self._exported: dict[str, str] = {}
        self._values: dict[tuple[int, bool], Any] = {}
        self._depth, self._room = 0, MAX_SPREAD

    @cached_property
    def _changed(self) -> frozenset[str]:
        return changed_names(self._tokens)

    def exported(self) -> Any:
        texts = self._texts
        start, level = None, 0
        for at, text in enumerate(texts):
            level += (text in OPENING) - (text in CLOSING)
            if level:
                if level == 1 and text == "{" and at and texts[at - 1] == "export":
                    self._exported |= exported_names(texts, at + 1)
            elif text in _NAMING:
                self._scope.declare(texts, at)
            elif texts[at : at + 2] == ["export", "default"]:
                start = at + 2
            elif texts[at : at + 4] == ["module", ".", "exports", "="]:
                start = at + 4
        if start is None and "default" in self._exported:
            return self.export("default").value
        return UNREAD if start is None else self._from(start, self._result)

    def export(self, name: str) -> Export:
        """Return a constant, or the result of a function, once the script's names are known."""
        own = self._exported.get(name, name)
        value = self._constant(own)
        return Export(value) if value is not UNREAD else Export(self._constant(own, self._result), True)

    def _from(self, place: int, read: Callable[[], Any] | None = None) -> Any:
        before, self._at = self._at, place
        try:
            return (read or self._value)()
        finally:
            self._at = before

    def _result(self) -> Any:
        """Return the value that begins here, or the one that a function returns."""
        before, outer = self._at, self._scope
        is_function = self._go_to_parameters()
        if is_function is not None:
            self._scope = Scope(dict.fromkeys(self._parameters()), outer)
            try:
                if self._peek() == "=>":
                    self._at += 1
                    is_function = self._peek() == "{"
                    if not is_function:
                        return self._value()
                if is_function and self._peek() == "{":
                    return self._returned()
            finally:
                self._scope = outer
        self._at = before
        return self._value()

    def _returned(self) -> Any:
        """Return what the only ``return`` of a function's body gives, if nothing decides on it."""
        texts, start, at = self._texts, list[int](), self._at
        level, is_plain = 0, True
        for at in range(self._at + 1, len(texts)):
            text = texts[at]
            if not level:
                if text in _NAMING:
                    self._scope.declare(texts, at)
                elif text == "return":
                    start.append(at + 1)
                is_block = text == "{" and texts[at - 1] in (";", ":", "{", "}")
                is_plain = is_plain and text not in _BRANCHING and not is_block
            level += (text in OPENING) - (text in CLOSING)
            if level < 0:
                break
        value = self._from(start[0]) if is_plain and len(start) == 1 else UNREAD
        self._at = at + 1
        return value

    def _value(self) -> Any:
        """Return the value that begins here; the position is then at what ends it."""
        self._depth += 1
        try:
            value = UNREAD if self._depth > MAX_NESTING else self._filtered(self._plain_value())
        finally:
            self._depth -= 1
        # ``as const`` and ``satisfies Type`` belong to a value; an operator makes another of it.
        if self._peek() not in {",", "}", "]", ")", ";", "", "as", "satisfies", "export", "module", "const"}:
            value = value if self._is_new_statement() else UNREAD
        return value

    def _filtered(self, value: Any) -> Any:
        """Return a list without what ``.filter(Boolean)`` takes out of it."""
        if isinstance(value, list) and [text for _, text in self._tokens[self._at : self._at + 5]] == _FILTER:
            self._at += len(_FILTER)
            return [each for each in value if each not in (False, None, "", 0)]
        return value

    def _is_new_statement(self) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at][0] == "name"

    def _plain_value(self) -> Any:
        if self._at >= len(self._tokens):
            return UNREAD
        kind, text = self._tokens[self._at]
        if text in "{[(" and kind == "sign":
            return {"{": self._object, "[": self._array, "(": self._bracketed}[text]()
        self._at += 1
        if kind == "string":
            return UNREAD if text[0] == "`" and "${" in text else unescaped(text)
        if kind == "number":
            return float(text.replace("_", ""))
        if kind == "name":
            return self._named(text)
        return UNREAD

    def _named(self, name: str) -> Any:
        if name in _WORDS:
            return _WORDS[name]
        if self._peek() in ("(", "<") and is_wrapper(name):
            self._pass_over_type()
            return self._bracketed(self._result)
        if self._texts[self._at : self._at + 2] == ["(", ")"]:
            self._at += 2
            return self._constant(name, self._result)
        if self._peek() in (",", "}", "]", ")", ";", "") or self._is_new_statement():
            return self._constant(name)
        return UNREAD

    def _constant(self, name: str, read: Callable[[], Any] | None = None) -> Any:
        """Return a constant's value, or what a function returns, read once; what names itself has none."""
        scope = self._scope.of(name)
        place = scope.names[name] if scope else None
        if scope is None or place is None or name in self._changed:
            return UNREAD
        key = place, read is not None
        if key not in self._values:
            self._values[key] = UNREAD
            before, self._scope = self._scope, scope
            try:
                self._values[key] = self._from(place, read)
            finally:
                self._scope = before
        return self._values[key]

    def _bracketed(self, read: Callable[[], Any] | None = None) -> Any:
        """Return the first value in round brackets, and pass over the rest up to the closing one."""
        self._at += 1
        value = UNREAD if self._peek() == ")" else (read or self._value)()
        self._pass_over(")")
        self._at += 1
        return value

    def _array(self) -> list[Any]:
        self._at += 1
        found: list[Any] = []
        while self._peek() not in ("]", ""):
            is_spread = self._peek() == "..."
            self._at += is_spread
            value = self._value()
            if not is_spread:
                found.append(value)
            elif isinstance(value, list) and self._admits(value):
                found += value
            else:
                found.append(UNREAD)
            self._pass_over(",]")
            self._at += self._peek() == ","
        self._at += 1
        return found

    def _object(self) -> dict[str, Any]:
        self._at += 1
        found: dict[str, Any] = {}
        certain: set[str] | None = None  # of an open one
        while self._peek() not in ("}", ""):
            put = self._put_in()
            if not isinstance(put, dict) or isinstance(put, OpenTable):
                certain = set(put.certain if isinstance(put, OpenTable) else ())
            elif certain is not None:
                certain |= put.keys()
            found |= put if isinstance(put, dict) else {}
            self._pass_over(",}")
            self._at += self._peek() == ","
        self._at += 1
        return found if certain is None else OpenTable(found, certain)

    def _put_in(self) -> Any:
        """Return what the next part of an object puts into it: a key with its value, or others."""
        kind, text = self._kind(), self._peek()
        self._at += 1
        key = unescaped(text) if kind == "string" else text
        if text == "...":
            value = self._value()
            return value if isinstance(value, dict) and self._admits(value) else UNREAD
        if text == "[" and kind == "sign":  # a key that is computed
            self._pass_over("]")
            self._at += 1
            return UNREAD
        if self._peek() == ":":
            self._at += 1
            return {key: self._value()}
        if self._peek() in (",", "}") and kind == "name":  # the short form of ``name: name``
            self._at -= 1
            return {key: self._value()}
        return {}

    def _admits(self, values: Sized) -> bool:
        """Return whether there is room for what is put into another value, and take it."""
        self._room -= len(values)
        return self._room >= 0
