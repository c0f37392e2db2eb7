"""The command ``sql``: DuckDB over a snapshot, for one query or a conversation; a table, JSON or CSV."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ....pipeline.errors import ArtifactError, QueryError, reports_transient
from ....pipeline.printable import printable
from .. import output
from ..flags import Flags, SnapshotOption

if TYPE_CHECKING:
    import duckdb

    from ....artifacts.store.snapshot import Snapshot

Form = Literal["table", "json", "csv"]
# What fits a screen and is still read; --csv and --json print all.
_MAX_ROWS = 200
_MAX_CHARS = 160
_BATCH = 1024
_PROMPT, _MORE = "noctule> ", "    ...> "
_PrintCatalog = Annotated[
    bool,
    typer.Option(
        "--print-catalog",
        help="Print the path of the SQL that defines the same views and macros in any DuckDB.",
    ),
]
_WELCOME = """SQL over snapshot {snapshot}: end a query with ; and leave with .quit
Begin with:  from keyword_search('your question', 5);   or   show tables;"""


def sql(
    flags: Flags,
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="A query, or - to read it from standard input.")
    ] = None,
    snapshot: SnapshotOption = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print every row as CSV.")] = False,
    print_catalog: _PrintCatalog = False,
) -> None:
    """Query the current snapshot in SQL; without a query, start an interactive session.

    Examples: noctule sql "from keyword_search('fetch', 5)" ; noctule sql "show tables" ; noctule sql
    """
    with flags.open_snapshot(snapshot) as opened:
        if print_catalog:
            _print_catalog(opened, as_json=flags.as_json)
            return
        connection = opened.connect()
        form: Form = "json" if flags.as_json else "csv" if as_csv else "table"
        if query is None and sys.stdin.isatty():
            _converse(connection, opened, form)
            return
        text = sys.stdin.read() if query is None or query == "-" else query
        if not text.strip():
            raise QueryError("there is no query", where="sql", hint='For instance: noctule sql "show tables"')
        _answer(connection, text, form, opened.path)


def _print_catalog(opened: Snapshot, *, as_json: bool) -> None:
    from ....artifacts.disk.layout import CATALOG

    path = str(opened.file(CATALOG))
    if as_json:
        output.emit({"snapshot": opened.id, "catalog": path})
    else:
        output.say(path)


def _answer(connection: duckdb.DuckDBPyConnection, text: str, form: Form, folder: Path) -> None:
    """Print the result of the last query on standard output; raises ``QueryError`` or ``ArtifactError``."""
    import duckdb

    from ....artifacts.disk.manifest import unreadable
    from ....artifacts.sql.catalog import require_queries

    require_queries(text)
    try:
        _print_result(connection.execute(text), form)
    except duckdb.Error as error:
        if reports_transient(error):
            raise unreadable(error, folder) from error
        raise QueryError(str(error), where="sql", hint="See the tables with: show tables") from error


def _converse(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, form: Form) -> None:
    """Read queries from a terminal until its end, and answer each when its semicolon has come."""
    with suppress(ImportError):
        import readline  # noqa: F401  # input() edits lines with it
    output.complain(_WELCOME.format(snapshot=snapshot.id))
    waiting = ""
    while True:
        try:
            line = input(_MORE if waiting else _PROMPT)
        except EOFError:
            return
        except KeyboardInterrupt:
            # As in every shell: what was typed so far is forgotten.
            line, waiting = "", ""
            output.complain("")
        if not waiting and line.strip() in (".quit", ".exit"):
            return
        waiting = f"{waiting}{line}\n".lstrip()
        if waiting.rstrip().endswith(";"):
            _reply(connection, waiting, form, snapshot.path)
            waiting = ""


def _reply(connection: duckdb.DuckDBPyConnection, text: str, form: Form, folder: Path) -> None:
    try:
        _answer(connection, text, form, folder)
    except (QueryError, ArtifactError) as problem:
        output.error(problem, as_json=form == "json")


def _print_result(result: duckdb.DuckDBPyConnection, form: Form) -> None:
    """Print all rows on standard output; a table has only the first 200, with long texts cut."""
    names = _distinct([column[0] for column in result.description or ()])
    if form == "json":
        output.emit({"rows": [dict(zip(names, map(_plain, row), strict=True)) for row in _rows(result)]})
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(map(_csv_cell, row) for row in _rows(result))
    else:
        rows = result.fetchmany(_MAX_ROWS + 1)
        output.table(names, [[_cell(value) for value in row] for row in rows[:_MAX_ROWS]])
        if len(rows) > _MAX_ROWS:
            output.complain(f"The first {_MAX_ROWS} rows; all of them: --csv or --json")


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


def _csv_cell(value: object) -> object:
    """Return the value for CSV, which is data in a file and must not move a terminal."""
    if value is None:
        return ""
    return printable(value) if isinstance(value, str) and sys.stdout.isatty() else value


def _cell(value: object) -> str:
    plain = f"{value:.6g}" if isinstance(value, float) else str(value)
    text = "" if value is None else " ".join(plain.split())
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS - 1]}…"
