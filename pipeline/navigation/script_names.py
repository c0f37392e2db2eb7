"""The names of a script: in which places each holds, and which of them stand for values that change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

DECLARING = ("const", "let", "var")
# Tokens of a declaration that takes a value apart, or before the value of another.
_MOST_PARTS = 40
_CHANGING = frozenset({"push", "unshift", "splice", "pop", "shift", "fill"})
_KEYWORDS = frozenset(
    [
        "as",
        "async",
        "await",
        "case",
        "class",
        "default",
        "else",
        "export",
        "extends",
        "for",
        "from",
        "function",
        "if",
        "import",
        "in",
        "new",
        "of",
        "return",
        "satisfies",
        "switch",
        "throw",
        "typeof",
        "void",
        "while",
        "yield",
        "console",
    ]
)
# Operators that make an assignment of the ``=`` after them.
_OPERATORS = frozenset("+-*/%&|^?")


@dataclass(slots=True)
class Scope:
    """Names of a script, or of the body of a function in it, with the places of their values, if known."""

    names: dict[str, int | None] = field(default_factory=dict)
    outer: Scope | None = None

    def of(self, name: str) -> Scope | None:
        """Return the innermost scope that declares a name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        return scope

    def declare(self, texts: Sequence[str], at: int) -> None:
        """Note what a declaration at this place names: where its value begins, if it has one."""
        name = texts[at + 1] if at + 1 < len(texts) else ""
        if texts[at] == "function":
            self.names[name] = at
        elif texts[at] in DECLARING and name in ("{", "["):
            parts = texts[at + 2 : at + _MOST_PARTS]
            self.names |= dict.fromkeys(parts[: parts.index("=")] if "=" in parts else parts)
        elif texts[at] in DECLARING:
            self.names[name] = _start_of_value(texts, at + 2)


def _start_of_value(texts: Sequence[str], at: int) -> int | None:
    """Return the place behind the ``=`` after a name and its type."""
    if at < len(texts) and texts[at] not in ("=", ":"):
        return None
    for place in range(at, min(at + _MOST_PARTS, len(texts))):
        if texts[place] == "=":
            return place + 1
        if texts[place] in (";", "function", "export", *DECLARING):
            return None
    return None


def exported_names(texts: Sequence[str], at: int) -> dict[str, str]:
    """Return the own names in ``export { name, other as name }``; ``""`` for those of another script."""
    end = next((end for end in range(at, len(texts)) if texts[end] == "}"), at)
    is_own = texts[end + 1 : end + 2] != ["from"]
    names = [each for each in texts[at:end] if each != "type"]
    found: dict[str, str] = {}
    for place, name in enumerate(names):
        if name != "," and names[place + 1 : place + 2] in ([], [","]):
            is_renamed = place > 1 and names[place - 1] == "as"
            found[name] = (names[place - 2] if is_renamed else name) if is_own else ""
    return found


def changed_names(tokens: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Return the names whose values a script may change: by an assignment, a method or a call.

    Where is not looked at: such a name has no known value anywhere, and neither has one that it stands for.
    """
    finder, meant = _Changes(), dict[str, set[str]]()
    for kind, text in tokens:
        finder.see(kind, text)
    for at, (_, text) in enumerate(tokens):
        if text == "=" and at > 1 and tokens[at - 2][1] in DECLARING and tokens[at + 1 : at + 2]:
            meant.setdefault(tokens[at - 1][1], set()).add(tokens[at + 1][1])
    found, new = set[str](), finder.found - {""}
    while new:
        found |= new
        new = {other for name in new for other in meant.get(name, ())} - found
    return frozenset(found)


class _Changes:
    """Walks along ``name.other[0].push(``, whose beginning is its root."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self._root, self._begins, self._assigned = "", False, ""
        self._kind, self._text = "sign", ";"
        # The root before each open bracket, and whether what is in it may be changed by a call.
        self._open: list[tuple[str, bool]] = []

    def see(self, kind: str, text: str) -> None:
        if self._assigned and text != "=":
            self.found.add(self._assigned)
        self._assigned = ""
        if kind == "name":
            self._name(text)
        elif kind == "sign":
            self._sign(text)
        else:
            self._root = ""
        self._kind, self._text = kind, text

    def _name(self, text: str) -> None:
        if self._text == ".":
            return
        is_value = self._kind in ("number", "string") or (
            self._kind == "name" and self._text not in _KEYWORDS.union(DECLARING)
        )
        self._begins = is_value or self._text in (";", "{", "}", ")", "]")
        self._root = "" if self._text in DECLARING else text
        if self._open and self._open[-1][1] and self._text in ("(", ",", "..."):
            self.found.add(text)

    def _sign(self, text: str) -> None:
        if text in "([{":
            self._open.append((self._root, text == "(" and self._is_changing()))
            self._root = ""
        elif text in ")]}":
            self._root = self._open.pop()[0] if self._open else ""
        elif text == "=":
            self._assigned = self._root if self._text != "!" else ""
            self._root = ""
        elif text not in _OPERATORS and text not in ".!":
            self._root = ""

    def _is_changing(self) -> bool:
        """Return whether a call here may change its arguments: a statement of its own, or ``assign``."""
        if self._kind == "name" and self._text in _CHANGING:
            self.found.add(self._root)
        is_statement = self._begins and self._root not in _KEYWORDS and self._kind == "name"
        return self._text == "assign" or (is_statement and bool(self._root))
