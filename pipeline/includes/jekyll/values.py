"""Expressions of Liquid: names, filters and conditions, as far as what they name is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from html import escape

# What takes the place of a name that had no value before.
MISSING = object()
_PATH = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\[\]]{1,100}\])*\Z")
_STEP = re.compile(r"\.?([\w-]+)|\[([^\[\]]{1,100})\]")
_QUOTED = re.compile(r"\A(?:\"([^\"]*)\"|'([^']*)')\Z")
_NUMBER = re.compile(r"-?\d{1,12}(?:\.\d{1,12})?\Z")
_PIPES = re.compile(r"\|(?=(?:[^\"']|\"[^\"]*\"|'[^']*')*\Z)")
_COMMAS = re.compile(r",(?=(?:[^\"']|\"[^\"]*\"|'[^']*')*\Z)")
_COMPARED = re.compile(
    r"\A(?P<left>\"[^\"]*\"|'[^']*'|\S+)\s*(?P<sign>==|!=|<>|>=|<=|>|<|\scontains\s)\s*(?P<right>.+)\Z"
)
_JOINED = re.compile(r"\s+(and|or)\s+(?=(?:[^\"']|\"[^\"]*\"|'[^']*')*\Z)")
_MAX_EXPRESSION, _MAX_TEXT = 400, 300_000
_NAMED: Mapping[str, object] = {
    "true": True,
    "false": False,
    "nil": None,
    "null": None,
    "blank": "",
    "empty": "",
}


class NotFollowed(Exception):
    """What a loop uses is not known."""


class Budget:
    """How much the loops of one page may do and write."""

    def __init__(self, left: int = 500_000) -> None:
        self._left = left

    def spend(self, amount: int) -> None:
        """Take an amount away; raise ``NotFollowed`` if too little is left."""
        self._left -= amount
        if self._left < 0:
            raise NotFollowed


class Values:
    """Values by name: those of loops and assignments, and those that ``named`` gives."""

    def __init__(self, named: Callable[[Sequence[str]], object], budget: Budget) -> None:
        self.local: dict[str, object] = {}
        self._named, self._budget = named, budget

    def of(self, expression: str) -> object:
        """Return the value of an expression with its filters; raise ``NotFollowed``."""
        if len(expression) > _MAX_EXPRESSION:
            raise NotFollowed
        first, *filters = _PIPES.split(expression)
        value = self._plain(first.strip())
        for each in filters:
            name, _, given = each.strip().partition(":")
            arguments = [self._plain(part.strip()) for part in _COMMAS.split(given)] if given.strip() else []
            for each_given in (value, *arguments):
                self._budget.spend(len(each_given) if isinstance(each_given, str | list) else 1)
            try:
                value = _FILTERS[name.strip()](value, *arguments)
            except (KeyError, TypeError, ValueError):
                raise NotFollowed from None
        return value

    def holds(self, condition: str) -> bool:
        """Return whether a condition holds; ``and`` and ``or`` are read from the right, as in Liquid."""
        if len(condition) > _MAX_EXPRESSION:
            raise NotFollowed
        *before, last = _JOINED.split(condition)
        held = self._compared(last)
        for left, word in zip(before[-2::-2], before[::-2], strict=True):
            held = self._compared(left) and held if word == "and" else self._compared(left) or held
        return held

    def _compared(self, condition: str) -> bool:
        found = _COMPARED.match(condition.strip())
        if found is None:
            return is_true(self.of(condition))
        left, right = self._plain(found["left"]), self._plain(found["right"].strip())
        sign = found["sign"].strip()
        if sign == "contains":
            return text_of(right) in left if isinstance(left, list | str) else False
        if sign in ("==", "!=", "<>"):
            return (left == right) == (sign == "==")
        if not isinstance(left, int | float) or not isinstance(right, int | float):
            raise NotFollowed
        return {">": left > right, "<": left < right, ">=": left >= right, "<=": left <= right}[sign]

    def _plain(self, name: str) -> object:
        if quoted := _QUOTED.match(name):
            return quoted[1] or quoted[2] or ""
        if name in _NAMED:
            return _NAMED[name]
        if _NUMBER.match(name):
            return float(name) if "." in name else int(name)
        if not _PATH.match(name):
            raise NotFollowed
        steps = [key or text_of(self._plain(index)) for key, index in _STEP.findall(name)]
        if self.local.get(steps[0], MISSING) is MISSING:
            return self._named(steps)
        return below(self.local[steps[0]], steps[1:])


def below(value: object, steps: Sequence[str]) -> object:
    """Return the value at a path of names and numbers; nothing where there is none."""
    for step in steps:
        if isinstance(value, Mapping):
            value = value[step] if step in value else len(value) if step == "size" else None
        elif isinstance(value, list | str) and step == "size":
            value = len(value)
        elif isinstance(value, list) and (step in ("first", "last") or re.fullmatch(r"-?\d{1,6}", step)):
            at = {"first": 0, "last": -1}.get(step)
            at = int(step) if at is None else at
            value = value[at] if -len(value) <= at < len(value) else None
        else:
            return None
    return value


def is_true(value: object) -> bool:
    """Return whether a value is true in Liquid: all are but ``nil`` and ``false``."""
    return value is not None and value is not False


def text_of(value: object) -> str:
    """Return a value as it is shown; raise ``NotFollowed`` for tables, which Liquid shows as Ruby."""
    if isinstance(value, list):
        return _joined(value, "")
    if isinstance(value, Mapping) or value is MISSING:
        raise NotFollowed
    if isinstance(value, bool):
        return str(value).lower()
    text = "" if value is None else str(value)
    return (
        text.encode("utf-8", "replace").decode() if isinstance(value, str | int | float | date | None) else ""
    )


def _joined(value: object, mark: object = " ") -> str:
    """Return the texts of a list as one, if that is not long: its parts may all be the same."""
    pieces, length, between = list[str](), 0, text_of(mark)
    for each in _list(value):
        pieces.append(text_of(each))
        length += len(pieces[-1]) + len(between)
        if length > _MAX_TEXT:
            raise NotFollowed
    return between.join(pieces)


def _replaced(value: object, old: object, new: object = "") -> str:
    text, mark, replacement = text_of(value), text_of(old), text_of(new)
    if len(text) * (1 + len(replacement)) > _MAX_TEXT:
        raise NotFollowed
    return text.replace(mark, replacement)


def _slug(value: object, mode: str = "") -> str:
    if mode:
        raise NotFollowed
    return re.sub(r"[^\w]+|_", "-", text_of(value).lower()).strip("-")


def _split(value: object, mark: object) -> list[str]:
    return text_of(value).split(text_of(mark)) if mark else list(text_of(value))


def _where(value: object, key: str, wanted: object = True) -> list[object]:
    return [each for each in _list(value) if below(each, [key]) == wanted]


def _sorted(value: object, key: str = "") -> list[object]:
    return sorted(_list(value), key=lambda each: below(each, [key]) if key else each)  # type: ignore[arg-type,return-value]


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise NotFollowed
    return value


_FILTERS: Mapping[str, Callable[..., object]] = {
    "append": lambda value, given: text_of(value) + text_of(given),
    "prepend": lambda value, given: text_of(given) + text_of(value),
    "default": lambda value, given: value if is_true(value) and value not in ("", []) else given,
    "upcase": lambda value: text_of(value).upper(),
    "downcase": lambda value: text_of(value).lower(),
    "capitalize": lambda value: text_of(value)[:1].upper() + text_of(value)[1:].lower(),
    "strip": lambda value: text_of(value).strip(),
    "escape": lambda value: escape(text_of(value)),
    "xml_escape": lambda value: escape(text_of(value)),
    "markdownify": lambda value: value,
    "relative_url": lambda value: value,
    "absolute_url": lambda value: value,
    "slugify": _slug,
    "replace": _replaced,
    "remove": lambda value, given: text_of(value).replace(text_of(given), ""),
    "split": _split,
    "join": _joined,
    "size": lambda value: below(value, ["size"]),
    "first": lambda value: below(value, ["first"]),
    "last": lambda value: below(value, ["last"]),
    "reverse": lambda value: _list(value)[::-1],
    "map": lambda value, key: [below(each, [key]) for each in _list(value)],
    "where": _where,
    "sort": _sorted,
}
