"""Cron expressions: checked, and said in the words of systemd's calendar, or refused where that cannot be.

Five fields (minute, hour, day of month, month, day of week) of numbers, names, lists, ranges and steps, or
a macro such as ``@daily``. What implementations of cron read differently is refused rather than guessed.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass

from ...pipeline.errors import SettingsError

_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_MONTHS = tuple(name.lower() for name in calendar.month_abbr[1:])
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?:(\*)|([0-9]+|[a-z]{3})(?:-([0-9]+|[a-z]{3}))?)(?:/([0-9]+))?")
_HINT = 'Five fields: minute hour day-of-month month day-of-week, as in "0 2 * * *" for 02:00 every night.'


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Kind("minute", 0, 59),
    _Kind("hour", 0, 23),
    _Kind("day of month", 1, 31),
    _Kind("month", 1, 12, _MONTHS),
    _Kind("day of week", 0, 7, _DAYS),
)


@dataclass(frozen=True, slots=True)
class Field:
    """The values that match, rising; ``free`` for ``*``, where every one does."""

    values: tuple[int, ...]
    free: bool


@dataclass(frozen=True, slots=True)
class Cron:
    """A checked expression; ``text`` is it in five fields."""

    text: str
    minute: Field
    hour: Field
    day: Field
    month: Field
    weekday: Field

    def on_calendar(self, zone: str = "") -> tuple[str, ...]:
        """Return the same times as ``OnCalendar=`` values; several mean any of them.

        ``zone`` is a time zone's name. Where both days are given, cron runs on either, and systemd on both at
        once: it takes a line each.
        """
        month, clock = _listed(self.month), f"{_listed(self.hour)}:{_listed(self.minute)}:00"
        weekdays = ",".join(_DAYS[value].title() for value in self.weekday.values)
        by_day = f"*-{month}-{_listed(self.day)} {clock}"
        by_weekday = f"{weekdays} *-{month}-* {clock}"
        lines = [by_day] if self.weekday.free else [by_weekday] if self.day.free else [by_weekday, by_day]
        return tuple(f"{line} {zone}".strip() for line in lines)


def parse_cron(expression: str) -> Cron:
    """Return the expression, checked; raises ``SettingsError`` saying which field is wrong and why."""
    text = " ".join(_MACROS.get(expression.strip().lower(), expression).lower().split())
    if text.startswith("@"):
        macro = text.split(" ", maxsplit=1)[0]
        raise _wrong(expression, f"{macro} is not a time of day", f"There are {', '.join(_MACROS)}.")
    parts = text.split(" ") if text else []
    if len(parts) != len(_FIELDS):
        raise _wrong(expression, f"a cron expression has 5 fields, and this has {len(parts)}")
    found = Cron(text, *(_field(part, kind, expression) for part, kind in zip(parts, _FIELDS, strict=True)))
    _require_a_day(found, expression, parts)
    return found


def _wrong(expression: str, what: str, hint: str = _HINT) -> SettingsError:
    return SettingsError(what, where=f"--cron {expression!r}", hint=hint)


def _field(given: str, kind: _Kind, expression: str) -> Field:
    values = set[int]().union(*(_values(part, kind, expression) for part in given.split(",")))
    if kind.name == "day of week":
        values = {value % 7 for value in values}
    return Field(tuple(sorted(values)), given == "*")


def _values(part: str, kind: _Kind, expression: str) -> set[int]:
    match = _PART.fullmatch(part)
    if match is None:
        raise _wrong(expression, f"the {kind.name} {part!r} is not a number, a range, a list or a step")
    star, first, last, step = match.groups()
    if step is not None and first is not None and last is None:
        what = f"the {kind.name} {part!r} has a step and no range, which crons read differently"
        raise _wrong(expression, what, f"Write {first}-{kind.most}/{step}, or */{step}.")
    low = kind.least if star else _number(first, kind, expression)
    high = (6 if kind.most == 7 else kind.most) if star else _number(last or first, kind, expression)
    if high < low:
        ranges = f"Write two ranges: {first}-{kind.most},{kind.least}-{last}."
        raise _wrong(expression, f"the {kind.name} {part!r} runs backwards", ranges)
    if step is not None and int(step) == 0:
        raise _wrong(expression, f"the {kind.name} {part!r} has a step of 0")
    return set(range(low, high + 1, int(step or 1)))


def _number(given: str, kind: _Kind, expression: str) -> int:
    if given in kind.names:
        return kind.names.index(given) + (1 if kind.name == "month" else 0)
    if not given.isdigit() or not kind.least <= int(given) <= kind.most:
        raise _wrong(expression, f"the {kind.name} is {given}, and it is from {kind.least} to {kind.most}")
    return int(given)


def _require_a_day(cron: Cron, expression: str, parts: list[str]) -> None:
    """Raise ``SettingsError`` for days that never come, and for what implementations of cron disagree on."""
    starred = [part for part in (parts[2], parts[4]) if part.startswith("*") and part != "*"]
    if starred and not (cron.day.free or cron.weekday.free):
        what = f"{starred[0]!r} beside another day: some crons run on either, some on both"
        raise _wrong(expression, what, "Leave one of the two days as *, or list the days.")
    longest = max(29 if month == 2 else calendar.monthrange(2024, month)[1] for month in cron.month.values)
    if cron.weekday.free and min(cron.day.values) > longest:
        day = min(cron.day.values)
        raise _wrong(expression, f"there is no day {day} in such a month: it would never run")


def _listed(field: Field) -> str:
    return "*" if field.free else ",".join(f"{value:02d}" for value in field.values)
