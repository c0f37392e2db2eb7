"""The literals of a JavaScript or TypeScript file, read and never run.

Objects, arrays, strings, numbers and names of constants of the same file are values; a call of
``defineConfig`` or the like is its argument, and a function in the place of either what it returns last.
Everything else is ``UNREAD``, and passed over up to the next comma.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

MAX_NESTING = 60
# What makes no value: function calls, conditions, templates with parts.
UNREAD: Final = object()

_TOKEN = re.compile(
    # One that is not closed ends with its line or the file, so that nothing is looked at twice.
    r"""\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?"""
    r"""|(?P<string>"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|`(?:[^`\\]|\\[\s\S])*`?)"""
    r"""|(?P<number>-?\d[\d_]*(?:\.\d+)?)|(?P<name>[^\W\d][\w$]*|[$][\w$]*)|(?P<sign>\.\.\.|=>|[^\s])"""
)
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


def read_value(source: str) -> Any:
    """Return the value that a text begins with, such as an attribute of a component."""
    return _Reader(source)._value()


def names_in(source: str) -> frozenset[str]:
    """Return the names that stand in a script, outside of comments and strings."""
    return frozenset(found["name"] for found in _TOKEN.finditer(source) if found["name"])


def keys_in(source: str) -> frozenset[str]:
    """Return the names that stand in a script, and the quoted keys of its objects; not those in comments."""
    tokens = [(found.lastgroup, found[0]) for found in _TOKEN.finditer(source) if found.lastgroup]
    quoted = (
        text[1:-1] for (kind, text), (_, after) in pairwise(tokens) if kind == "string" and after == ":"
    )
    return frozenset((*(text for kind, text in tokens if kind == "name"), *quoted))


class _Reader:
    def __init__(self, source: str) -> None:
        self._tokens = [
            (found.lastgroup, found[0]) for found in _TOKEN.finditer(source) if found.lastgroup is not None
        ]
        self._texts = [text for _, text in self._tokens]
        self._at = 0
        self._constants: dict[str, int] = {}
        self._values: dict[str, Any] = {}
        self._depth = 0

    def exported(self) -> Any:
        texts = self._texts
        start, level = None, 0
        for at, text in enumerate(texts):
            level += (text in _OPENING) - (text in _CLOSING)
            if level:
                continue
            if text in ("const", "let", "var") and at + 1 < len(texts):
                self._note_constant(texts, at + 1)
            elif texts[at : at + 2] == ["export", "default"]:
                start = at + 2
            elif texts[at : at + 4] == ["module", ".", "exports", "="]:
                start = at + 4
        return UNREAD if start is None else self._from(start, self._result)

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
                self._go_to("=>", "{")
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
        if self._peek() in (",", "}", "]", ")", ";", "") or self._is_new_statement():
            return self._constant(name)
        return UNREAD

    def _constant(self, name: str) -> Any:
        """Return a constant's value, read once; one that names itself has none."""
        if name not in self._values and name in self._constants:
            self._values[name] = UNREAD
            self._values[name] = self._from(self._constants[name])
        return self._values.get(name, UNREAD)

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
            found.append(self._value())
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
            if self._peek() == ":":
                self._at += 1
                found[key] = self._value()
            elif self._peek() in (",", "}") and kind == "name":  # the short form of ``name: name``
                self._at -= 1
                found[key] = self._value()
            self._pass_over(",}")
            self._at += self._peek() == ","
        self._at += 1
        return found

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
