"""The rows that a query gave: as a table for a person, as JSON, or as CSV."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from . import output

if TYPE_CHECKING:
    import duckdb

Form = Literal["table", "json", "csv"]
# What fits a screen and is still read; --csv and --json print all.
_MAX_ROWS = 200
_MAX_CHARS = 160
_BATCH = 1024


def print_result(result: duckdb.DuckDBPyConnection, form: Form) -> None:
    """Print all rows on standard output; a table has only the first 200, with long texts cut."""
    names = _distinct([column[0] for column in result.description or ()])
    if form == "json":
        output.emit({"rows": [dict(zip(names, map(_plain, row), strict=True)) for row in _rows(result)]})
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(["" if value is None else value for value in row] for row in _rows(result))
    else:
        _print_table(names, result.fetchmany(_MAX_ROWS + 1))


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names, a repeated one with its number: JSON would keep only the last."""
    counted: dict[str, int] = {}
    distinct = []
    for name in names:
        counted[name] = counted.get(name, 0) + 1
        distinct.append(name if counted[name] == 1 else f"{name}_{counted[name]}")
    return distinct


def _rows(result: duckdb.DuckDBPyConnection) -> Iterator[Sequence[object]]:
    while batch := result.fetchmany(_BATCH):
        yield from batch


def _plain(value: object) -> object:
    """Return the value as JSON has it: what JSON does not know becomes text, NaN and infinities null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value)


def _print_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    output.table(names, [[_cell(value) for value in row] for row in rows[:_MAX_ROWS]])
    if len(rows) > _MAX_ROWS:
        output.complain(f"The first {_MAX_ROWS} rows; all of them: --csv or --json")


def _cell(value: object) -> str:
    text = (
        ""
        if value is None
        else " ".join(f"{value:.6g}".split() if isinstance(value, float) else str(value).split())
    )
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS - 1]}…"
