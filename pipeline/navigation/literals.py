"""The literals of a JavaScript or TypeScript file, read and never run.

Objects, arrays, strings, numbers and names of constants of the same file are values, and so is what ``...``
puts into one; a call of ``defineConfig`` or the like is its argument, and a function, or a call of one of the
same file, what it returns last. Everything else is ``UNREAD``, and passed over up to the next comma.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set, Sized
from dataclasses import dataclass
from typing import Any, Final

from .script_tokens import tokens

MAX_NESTING = 60
# Values that "..." puts into others, in all: each may hold the one before it twice.
MAX_SPREAD = 100_000
# What makes no value: function calls, conditions, templates with parts.
UNREAD: Final = object()

_ESCAPE = re.compile(r"\\(?:u\{?([0-9A-Fa-f]{1,6})\}?|x([0-9A-Fa-f]{2})|(\r\n|[\s\S]))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "\n": "", "\r\n": ""}
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
# A call of a function of such a name is its argument.
_WRAPPER = re.compile(r"(?:define|with)|(?:starlight|\w*[tT]heme)\Z")
_FILTER = [".", "filter", "(", "Boolean", ")"]
_OPENING, _CLOSING = "([{", ")]}"


def read_module(source: str) -> Any:
    """Return the value that a module exports by default (``export default`` or ``module.exports =``)."""
    return _Reader(source).exported()


@dataclass(frozen=True, slots=True)
class Export:
    """A value that a script exports, or the one that a function returns which it exports."""

    value: Any
    is_result: bool = False


def read_exports(source: str, names: Set[str]) -> dict[str, Export]:
    """Return what a script exports under these names, ``default`` among them, as far as it is a literal."""
    reader = _Reader(source)
    given = {"default": Export(reader.exported())} | {
        name: reader.export(name) for name in names - {"default"}
    }
    return {name: each for name, each in given.items() if name in names and each.value is not UNREAD}


def read_value(source: str) -> Any:
    """Return the value that a text begins with, such as an attribute of a component."""
    return _Reader(source)._value()


class _Reader:
    def __init__(self, source: str) -> None:
        self._tokens = tokens(source)
        self._texts = [text for _, text in self._tokens]
        self._at = 0
        self._constants: dict[str, int] = {}
        self._values: dict[str, Any] = {}
        self._depth, self._room = 0, MAX_SPREAD

    def exported(self) -> Any:
        texts = self._texts
        start, level = None, 0
        for at, text in enumerate(texts):
            level += (text in _OPENING) - (text in _CLOSING)
            if level:
                continue
            if text in ("const", "let", "var") and at + 1 < len(texts):
                self._note_constant(texts, at + 1)
            elif text == "function" and at + 1 < len(texts):
                self._constants[texts[at + 1]] = at
            elif texts[at : at + 2] == ["export", "default"]:
                start = at + 2
            elif texts[at : at + 4] == ["module", ".", "exports", "="]:
                start = at + 4
        return UNREAD if start is None else self._from(start, self._result)

    def export(self, name: str) -> Export:
        """Return a constant, or the result of a function, once the script's names are known."""
        value = self._constant(name)
        return Export(value) if value is not UNREAD else Export(self._constant(name, self._result), True)

    def _note_constant(self, texts: list[str], at: int) -> None:
        """Remember where a constant's value begins, behind the ``=`` after its name and type."""
        for place in range(at + 1, min(at + 40, len(texts))):
            if texts[place] == "=":
                self._constants[texts[at]] = place + 1
                return
            if texts[place] == ";":
                return

    def _from(self, place: int, read: Callable[[], Any] | None = None) -> Any:
        before, self._at = self._at, place
        try:
            return (read or self._value)()
        finally:
            self._at = before

    def _result(self) -> Any:
        """Return the value that begins here, or the one that a function returns."""
        before = self._at
        is_function = "function" in [text for _, text in self._tokens[before : before + 2]]
        self._go_to("(", "=>")
        if self._peek() == "(":
            self._at += 1
            self._pass_over(")")
            self._at += 1
            if self._peek() == ":":  # the type of what it returns
                while self._peek() not in ("=>", "{", ";", ""):
                    self._at += 1
        if self._peek() == "=>":
            self._at += 1
            is_function = self._peek() == "{"
            if not is_function:
                return self._value()
        if is_function and self._peek() == "{":
            return self._returned()
        self._at = before
        return self._value()

    def _go_to(self, *texts: str) -> None:
        while self._peek() not in (*texts, "{", "[", ";", ",", ")", "}", ""):
            self._at += 1

    def _returned(self) -> Any:
        """Return the last value that the body of a function returns outside of further brackets."""
        texts = self._texts
        level, start, at = 0, None, self._at
        for at in range(self._at + 1, len(texts)):
            if not level and texts[at] in ("const", "let", "var"):
                self._note_constant(texts, at + 1)
            elif not level and texts[at] == "return":
                start = at + 1
            level += (texts[at] in _OPENING) - (texts[at] in _CLOSING)
            if level < 0:
                break
        value = UNREAD if start is None else self._from(start)
        self._at = at + 1
        return value

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

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
            return UNREAD if text[0] == "`" and "${" in text else _unescaped(text)
        if kind == "number":
            return float(text.replace("_", ""))
        if kind == "name":
            return self._named(text)
        return UNREAD

    def _named(self, name: str) -> Any:
        if name in _WORDS:
            return _WORDS[name]
        if self._peek() in ("(", "<") and _WRAPPER.match(name):
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
        key = name if read is None else f"{name}()"
        if key not in self._values and name in self._constants:
            self._values[key] = UNREAD
            self._values[key] = self._from(self._constants[name], read)
        return self._values.get(key, UNREAD)

    def _pass_over_type(self) -> None:
        """Pass over ``<Type<Other>>`` before the arguments of a call."""
        level = 0
        while (text := self._peek()) and (level or text == "<"):
            level += (text == "<") - (text == ">")
            self._at += 1

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
        while self._peek() not in ("}", ""):
            kind, text = self._tokens[self._at]
            self._at += 1
            key = _unescaped(text) if kind == "string" else text
            if text == "...":
                value = self._value()
                found |= value if isinstance(value, dict) and self._admits(value) else {}
            elif self._peek() == ":":
                self._at += 1
                found[key] = self._value()
            elif self._peek() in (",", "}") and kind == "name":  # the short form of ``name: name``
                self._at -= 1
                found[key] = self._value()
            self._pass_over(",}")
            self._at += self._peek() == ","
        self._at += 1
        return found

    def _admits(self, values: Sized) -> bool:
        """Return whether there is room for what is put into another value, and take it."""
        self._room -= len(values)
        return self._room >= 0

    def _pass_over(self, ends: str) -> None:
        """Go to the next of these signs that is in no brackets, or to one that closes brackets around."""
        level = 0
        while self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            if kind == "sign":
                if not level and (text in ends or text in _CLOSING):
                    return
                level += (text in _OPENING) - (text in _CLOSING)
            self._at += 1


def _unescaped(text: str) -> str:
    """Return what is between the quotation marks."""
    text = text[1:-1]
    return _ESCAPE.sub(_letter, text) if "\\" in text else text


def _letter(found: re.Match[str]) -> str:
    if number := found[1] or found[2]:
        code = int(number, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    return _LETTERS.get(found[3], found[3])
