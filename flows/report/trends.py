"""The figures of the last nights, from the records of their runs, as trends to draw."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...docsite.charts.figure import Figure
from ...docsite.charts.trends import Stack, Trend, stack_figure, trend_figure
from .history import recorded_seconds

NIGHTS = 60
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)T\d{12,}Z")
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Nights:
    """The last runs on record, the oldest first, and the dates they ended on."""

    records: tuple[Record, ...]
    dates: tuple[str, ...]

    def trend(self, figure: Callable[[Record], object]) -> tuple[float | None, ...]:
        """Return a figure of each night, ``None`` where a record has none or not a number."""
        return tuple(_number(figure, record) for record in self.records)


def last_nights(records: Iterable[Record]) -> Nights:
    """Return the latest of the records, which come latest first; those without a time are left out."""
    dated = [(record, _date(record)) for record in records]
    found = [(record, date) for record, date in dated if date][:NIGHTS][::-1]
    return Nights(tuple(record for record, _ in found), tuple(date for _, date in found))


def _date(record: Record) -> str:
    found = _STAMP.fullmatch(str(record.get("finished", "")))
    return "-".join(found.groups()) if found else ""


def _number(figure: Callable[[Record], object], record: Record) -> float | None:
    try:
        value = figure(record)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def trend_figures(nights: Nights) -> tuple[Figure, ...]:
    """Return a chart of each figure that some night has; a refused run has no documents, only its gate's."""
    measure = _measure(nights.records)
    trends = [
        Trend("Documents", nights.trend(lambda record: record["documents"])),
        Trend("Passages", nights.trend(lambda record: record["passages"])),
        Trend("Broken links", nights.trend(lambda record: record["broken_links"])),
        Trend("Left out", nights.trend(lambda record: record["quarantined"])),
        Trend("Size", nights.trend(lambda record: record["bytes"]), "bytes"),
        *(
            Trend(f"{measure}, {name}", nights.trend(_of_set(name, "after")), "score")
            for name in _sets(nights.records)
        ),
        *(
            Trend(f"No answer, {name}", nights.trend(_of_set(name, "unanswered")), "share")
            for name in _sets(nights.records)
        ),
    ]
    found = [trend_figure(each, nights.dates) for each in trends]
    found.append(stack_figure(Stack("Seconds by stage", _stages(nights.records)), nights.dates))
    return tuple(each for each in found if each is not None)


def _of_set(name: str, figure: str) -> Callable[[Record], object]:
    def value(record: Record) -> object:
        return next(each[figure] for each in record["relevance"]["sets"] if each["judged"] == name)

    return lambda record: value(record) if name in _sets([record]) else None


def _sets(records: Iterable[Record]) -> list[str]:
    """Return the judged sets that any gate asked, by name."""
    found = set()
    for record in records:
        relevance = record.get("relevance")
        sets = relevance.get("sets") if isinstance(relevance, Mapping) else None
        found |= {str(each.get("judged", "")) for each in sets or () if isinstance(each, Mapping)}
    return sorted(found - {""})


def _measure(records: Sequence[Record]) -> str:
    """Return the measure of the latest gate; nights with another have the same name, and say so nowhere."""
    named = [record["relevance"] for record in records if isinstance(record.get("relevance"), Mapping)]
    return str(named[-1].get("measure", "relevance")) if named else "relevance"


def _stages(records: Iterable[Record]) -> tuple[Mapping[str, float], ...]:
    return tuple(map(_seconds, records))


def _seconds(record: Record) -> Mapping[str, float]:
    try:
        found = recorded_seconds(record)
    except (KeyError, TypeError, ValueError):
        return {}
    return {name: value for name, value in found.items() if math.isfinite(value) and value >= 0}
