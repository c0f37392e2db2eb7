"""The arguments of tools: their schema, other names for them, and errors that name the right one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

from rapidfuzz import fuzz, process

from ...pipeline.errors import QueryError
from ...pipeline.printable import bounded
from ...pipeline.untrusted import as_number

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|-")
_NUMBER = re.compile(r"\s*[+-]?\d{1,15}(\.0*)?\s*")
_MOST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool: a number if it has a range, else a text; required if it has no default.

    ``aliases`` are names that programs give it by habit.
    """

    name: str
    about: str
    default: str | int | None = ""
    least: int = 0
    most: int = 0
    aliases: tuple[str, ...] = ()
    longest: int = 1_000

    @property
    def is_number(self) -> bool:
        """Return whether its values are numbers."""
        return self.most > 0

    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        if not self.is_number:
            return {"type": "string", "description": self.about}
        told = {"type": "integer", "default": self.default, "minimum": self.least, "maximum": self.most}
        return told | ({"description": self.about} if self.about else {})


@dataclass(frozen=True, slots=True)
class ToolArguments:
    """The values of a call by the arguments' names, and what to tell about those that were changed."""

    values: Mapping[str, str | int]
    notes: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """Return the value of a text."""
        return str(self.values[name])

    def number(self, name: str) -> int:
        """Return the value of a number."""
        return int(self.values[name])


def schema_of(arguments: tuple[Argument, ...]) -> dict[str, Any]:
    """Return the JSON schema of a tool's input."""
    required = [each.name for each in arguments if each.default is None]
    properties = {each.name: each.schema() for each in arguments}
    shape: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return shape | ({"required": required} if required else {})


def read_arguments(tool: str, known: tuple[Argument, ...], given: Mapping[str, Any]) -> ToolArguments:
    """Return the values of a call; a number out of its range becomes the nearest one, with a note.

    Raise ``QueryError`` that names the right argument for one that is unknown, given twice, missing, or of
    another type.
    """
    by_name = {name: each for each in known for name in (each.name, *each.aliases)}
    values: dict[str, str | int] = {}
    notes: list[str] = []
    for name, value in given.items():
        argument = by_name.get(_CAMEL.sub("_", name).lower())
        if argument is None:
            raise _unknown(tool, name, known, by_name)
        if value is None:
            continue
        read = _number(tool, argument, value, notes) if argument.is_number else _text(tool, argument, value)
        if values.setdefault(argument.name, read) != read:
            raise _wrong(tool, f"{argument.name} is given twice, with two values", name, argument)
    for argument in known:
        if argument.default is None and not str(values.get(argument.name, "")).strip():
            raise _wrong(tool, f"{argument.name} is missing or empty", argument.name, argument)
        if argument.default is not None:
            values.setdefault(argument.name, argument.default)
    return ToolArguments(values, tuple(notes))


def _text(tool: str, argument: Argument, value: object) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        raise _wrong(tool, f"{argument.name} must be one text", repr(value), argument)
    if len(value) > argument.longest:
        what = f"{argument.name} has {len(value):,} characters; at most {argument.longest:,} are read"
        raise _wrong(tool, what, value, argument)
    return value


def _number(tool: str, argument: Argument, value: object, notes: list[str]) -> int:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    number = as_number(value, nan)
    if isnan(number):
        raise _wrong(tool, f"{argument.name} must be a whole number", repr(value), argument)
    bound = int(min(max(number, argument.least), argument.most))
    if bound != number:
        notes.append(f"{argument.name} is {bound}: it may be {argument.least} to {argument.most}")
    return bound


def _unknown(
    tool: str, name: str, known: tuple[Argument, ...], by_name: Mapping[str, Argument]
) -> QueryError:
    near = process.extractOne(name[:_MOST_SHOWN].lower(), list(by_name), scorer=fuzz.WRatio, score_cutoff=60)
    meant = f"Did you mean {by_name[near[0]].name}? " if near else ""
    hint = f"{meant}{tool} takes: {', '.join(each.name for each in known)}."
    return QueryError(f"{tool} has no argument {bounded(name, _MOST_SHOWN)}", hint=hint)


def _wrong(tool: str, what: str, where: str, argument: Argument) -> QueryError:
    kind = f"a number from {argument.least} to {argument.most}" if argument.is_number else "a text"
    about = f" ({argument.about})" if argument.about else ""
    hint = f"{tool} takes {argument.name}: {kind}{about}"
    return QueryError(what, where=bounded(where, _MOST_SHOWN), hint=hint)
