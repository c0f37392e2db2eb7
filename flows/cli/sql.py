"""The command ``sql``: DuckDB over a snapshot, for one query or a conversation."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import QueryError
from . import output
from .flags import Flags, with_flags

if TYPE_CHECKING:
    import duckdb

    from ...artifacts.store.snapshot import Snapshot
    from .sql_results import Form

_PROMPT, _MORE = "noctule> ", "    ...> "
_WELCOME = """SQL over snapshot {snapshot}: end a query with ; and leave with .quit
Begin with:  from keyword_search('your question', 5);   or   show tables;"""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(with_flags(sql))


def sql(
    flags: Flags,
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUERY]", help="A query, or - to read it from standard input.", show_default=False
        ),
    ] = None,
    snapshot: Annotated[
        str | None,
        typer.Option(
            "--snapshot",
            metavar="ID",
            help="A snapshot's id; the current one if not given.",
            show_default=False,
        ),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print every row as CSV.")] = False,
    print_catalog: Annotated[
        bool, typer.Option("--print-catalog",
                           help="Print where the SQL lies that makes the same views and macros "
                                "in any DuckDB.")
    ] = False,
) -> None:  # fmt: skip
    """Ask the current snapshot in SQL; without a query, a conversation.

    Examples: noctule sql "from keyword_search('fetch', 5)" ; noctule sql "show tables" ; noctule sql
    """
    with _opened(flags, snapshot) as opened:
        if print_catalog:
            _print_catalog(opened, as_json=flags.as_json)
            return
        connection = opened.connect()
        form: Form = "json" if flags.as_json else "csv" if csv else "table"
        if query is None and sys.stdin.isatty():
            _converse(connection, opened.id, form)
            return
        text = sys.stdin.read() if query is None or query == "-" else query
        if not text.strip():
            raise QueryError("there is no query", where="sql", hint='For instance: noctule sql "show tables"')
        _answer(connection, text, form)


def _opened(flags: Flags, named: str | None) -> Snapshot:
    from ...artifacts.store.store import Store
    from ...pipeline.model import SnapshotId

    return Store(flags.store).open(None if named is None else SnapshotId(named))


def _print_catalog(opened: Snapshot, *, as_json: bool) -> None:
    from ...artifacts.disk.layout import CATALOG

    path = str(opened.file(CATALOG))
    if as_json:
        output.emit({"snapshot": opened.id, "catalog": path})
    else:
        output.say(path)


def _answer(connection: duckdb.DuckDBPyConnection, text: str, form: Form) -> None:
    """Print the result of the text's last query on standard output; raises ``QueryError``."""
    import duckdb

    from ...artifacts.sql.catalog import require_queries
    from .sql_results import print_result

    require_queries(text)
    try:
        print_result(connection.execute(text), form)
    except duckdb.Error as error:
        raise QueryError(str(error), where="sql", hint="See the tables with: show tables") from error


def _converse(connection: duckdb.DuckDBPyConnection, snapshot: str, form: Form) -> None:
    """Read queries from a terminal until its end, and answer each when its semicolon has come."""
    with suppress(ImportError):
        import readline  # noqa: F401  # input() edits lines with it
    output.complain(_WELCOME.format(snapshot=snapshot))
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
            _reply(connection, waiting, form)
            waiting = ""


def _reply(connection: duckdb.DuckDBPyConnection, text: str, form: Form) -> None:
    try:
        _answer(connection, text, form)
    except QueryError as problem:
        output.error(problem, as_json=form == "json")
