"""Expressions of Hugo's templates: operands, functions with their arguments, and pipelines of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .functions import UnknownValue

# No whole number of Go has more digits than 19.
_MAX_DEPTH, _MAX_DIGITS = 30, 19
_TOKEN = re.compile(
    r"\s+|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`)|(?P<number>-?\d+(?:\.\d+)?)"
    r"|(?P<name>\$\w*(?:\.\w+)*|\.?[A-Za-z_]\w*(?:\.\w+)*|\.)|(?P<sign>[()|])|(?P<other>\S)"
)
_CONSTANTS: Mapping[str, object] = {"true": True, "false": False, "nil": None}
_METHODS = (".Get", ".RenderString", ".Set")


def value_of(said: str, named: Callable[[str], object], called: Callable[[str, list[Any]], object]) -> object:
    """Return the value of an expression; ``named`` gives that of ``.x`` and ``$x``, ``called`` a function's.

    Raise ``UnknownValue`` for what is no expression.
    """
    return _Reader([each for each in _TOKEN.finditer(said) if each.lastgroup], named, called).whole()


class _Reader:
    """A pipeline while it is read: functions with their arguments, each given what the one before it gave."""

    def __init__(
        self,
        tokens: list[re.Match[str]],
        named: Callable[[str], object],
        called: Callable[[str, list[Any]], object],
    ) -> None:
        self.tokens, self.named, self.called = tokens[::-1], named, called

    def whole(self) -> object:
        value = self.pipeline(0)
        if self.tokens:
            raise UnknownValue
        return value

    def pipeline(self, depth: int) -> object:
        value = self.command([], depth)
        while self.tokens and self.tokens[-1][0] == "|":
            self.tokens.pop()
            value = self.command([value], depth)
        return value

    def command(self, last: list[object], depth: int) -> object:
        """Return the value of a function that is given these too, or of an operand by itself."""
        if not self.tokens or depth > _MAX_DEPTH:
            raise UnknownValue
        name = self.tokens[-1]["name"] or ""
        is_function = name[:1].isalpha() and name not in _CONSTANTS
        if is_function or name.endswith(_METHODS):
            self.tokens.pop()
            return self.called(name, [*self.operands(depth), *last])
        found = list(self.operands(depth))
        if len(found) != 1 or last:
            raise UnknownValue
        return found[0]

    def operands(self, depth: int) -> Iterator[object]:
        while self.tokens and self.tokens[-1][0] not in ("|", ")"):
            yield self.operand(self.tokens.pop(), depth)

    def operand(self, token: re.Match[str], depth: int) -> object:
        if token["text"]:
            text = token["text"][1:-1]
            return text if token["text"][0] == "`" else re.sub(r"\\(.)", r"\1", text)
        if token["number"]:
            if len(token[0].lstrip("-")) > _MAX_DIGITS:
                raise UnknownValue
            return float(token[0]) if "." in token[0] else int(token[0])
        if token["name"] in _CONSTANTS:
            return _CONSTANTS[token["name"]]
        if token["name"]:
            is_function = token["name"][0].isalpha()
            return self.called(token["name"], []) if is_function else self.named(token["name"])
        if token[0] != "(":
            raise UnknownValue
        value = self.pipeline(depth + 1)
        if not self.tokens or self.tokens.pop()[0] != ")":
            raise UnknownValue
        return value
