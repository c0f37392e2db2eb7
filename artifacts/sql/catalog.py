"""A DuckDB connection over one snapshot: its tables as views, and no other file in reach."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...pipeline.errors import NoctuleError, QueryError, reports_transient
from ...pipeline.lexical.bm25f import HALF_CREDIBLE
from ...pipeline.lexical.stop_words import question_words, stop_words
from ...pipeline.lexical.word_pieces import UNSEEN_SHARE
from ...pipeline.settings.settings import FIELDS
from ..disk.durable import write_file
from ..disk.layout import CATALOG, TABLES, table_file
from ..disk.manifest import unreadable

if TYPE_CHECKING:
    import duckdb

PARTS = ("tables", "english", "folding", "terms", "search", "pages")
# A progress bar would go to standard output, amid JSON; a spill file would go to the working directory.
_BEFORE = (
    "enable_progress_bar = false",
    "temp_directory = ''",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "allow_community_extensions = false",
    "python_enable_replacements = false",
)
_EXPLAIN = re.compile(r"\s*explain\s+(analyze\s+)?", re.IGNORECASE)
_DEFINITION = re.compile(
    r"(?:\s|--[^\n]*\n)*(?:create\s+or\s+replace|comment\s+on)\s+(?:view|macro)\b", re.IGNORECASE
)
_MAX_PREDICATE = 10_000
_HARMLESS_TABLE_FUNCTIONS = ("unnest", "range", "generate_series")
_LOCKS = ("enable_external_access = false", "lock_configuration = true")


def locked_connection(folder: Path, tables: Iterable[Path]) -> duckdb.DuckDBPyConnection:
    """Connect to a database in memory that may read the tables of a snapshot, and opens nothing else.

    An allowed file is allowed for ``COPY … TO`` as well: files of a snapshot are read-only, which stops
    everyone but root, and ``require_queries`` stops what a stranger wrote.
    """
    import duckdb

    connection = duckdb.connect(":memory:")
    # Files, not the folder: COPY could make new ones in an allowed folder.
    allowed = _listed([str(path) for path in tables])
    for setting in (*_BEFORE, f"allowed_paths = [{allowed}]", *_LOCKS):
        connection.execute(f"set {setting}")
    connection.execute("set variable snapshot = ?", [str(folder)])
    return connection


def write_catalog(folder: Path, dimension: int, languages: Sequence[str]) -> None:
    """Write the catalog as a new file of a snapshot: reading it makes views and macros in any DuckDB."""
    write_file(folder / CATALOG, catalog(dimension, languages).encode())


def catalog(dimension: int, languages: Sequence[str], parts: Sequence[str] = PARTS) -> str:
    """Return the SQL of the views and macros over a snapshot, for its dimension and languages."""
    ignored, asking = (
        sorted(frozenset[str]().union(*map(words, languages))) for words in (stop_words, question_words)
    )
    filled = {
        "dimension": str(dimension),
        "languages": _listed(languages),
        "stop_words": _listed(ignored),
        "question_words": _listed(asking),
        "fields": _listed(FIELDS),
        "unseen_share": str(UNSEEN_SHARE),
        "half_credible": str(HALF_CREDIBLE),
    }
    folder = package_files(__package__)
    sql = "\n".join((folder / f"{part}.sql").read_text(encoding="utf-8") for part in parts)
    for name, value in filled.items():
        sql = sql.replace(f"{{{name}}}", value)
    return sql


def _listed(names: Sequence[str]) -> str:
    """Return names as strings of SQL."""
    return ", ".join(map(quoted, names))


def quoted(text: str) -> str:
    """Return a text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def require_queries(sql: str) -> None:
    """Raise ``QueryError`` unless the text holds queries only (``SELECT``, ``SHOW``, ``EXPLAIN`` of one)."""
    import duckdb

    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryError(f"not SQL: {error}", hint="See the tables with: show tables") from None
    for statement in statements:
        text, explain = statement.query, _EXPLAIN.match(statement.query)
        if statement.type == duckdb.StatementType.EXPLAIN:
            # EXPLAIN ANALYZE runs what it explains.
            require_queries(text[explain.end() :] if explain else "-")
        elif statement.type != duckdb.StatementType.SELECT:
            hint = "A snapshot is read-only: use SELECT."
            raise QueryError(f"{statement.type.name} is not a query", hint=hint)


def refused(error: Exception, folder: Path, where: str, hint: str) -> NoctuleError:
    """Return the error for SQL that DuckDB refuses: the query's fault, unless a file cannot be read now."""
    if reports_transient(error):
        return unreadable(error, folder)
    return QueryError(reason(error), where=where, hint=hint)


def reason_to_refuse(folder: Path, sql: str) -> str:
    """Return why a catalog is none that reads this snapshot and nothing else, empty if it is one."""
    import duckdb

    try:
        for statement in duckdb.extract_statements(sql):
            if not _DEFINITION.match(statement.query):
                return f"it does more than define views and macros: {statement.query.strip()[:80]!r}"
        with locked_connection(folder, [folder / table_file(table) for table in TABLES]) as connection:
            connection.execute(sql)
    except duckdb.Error as error:
        return f"its SQL cannot run on the snapshot alone: {reason(error)[:200]}"
    return ""


def require_predicate(connection: duckdb.DuckDBPyConnection, predicate: str) -> None:
    """Raise ``QueryError`` unless the text is exactly one expression over the snapshot's tables.

    DuckDB's own parser judges: the text stands in brackets, and all around it must be as around a constant.
    """
    import duckdb

    if len(predicate) > _MAX_PREDICATE:
        raise _refused_predicate(f"it is longer than {_MAX_PREDICATE:,} characters", predicate)
    try:
        found, plain = _parsed(connection, predicate), _parsed(connection, "true")
    except (ValueError, RuntimeError, duckdb.Error) as error:
        raise _refused_predicate(reason(error), predicate) from None
    if [around for _, around in found] != [around for _, around in plain]:
        raise _refused_predicate("it is not one expression", predicate)
    for node in _nodes([expression for expression, _ in found]):
        if node.get("type") == "VALUE_PARAMETER":
            raise _refused_predicate("it has a parameter", predicate)
        function = node.get("function")
        if node.get("type") == "TABLE_FUNCTION" and isinstance(function, dict):
            name = str(function.get("function_name"))
            if name.lower() not in _HARMLESS_TABLE_FUNCTIONS:
                raise _refused_predicate(f"it calls the table function {name}", predicate)


def _parsed(connection: duckdb.DuckDBPyConnection, expression: str) -> list[tuple[Any, Any]]:
    """Parse an expression; return each one that the text turned out to hold, and the query around it."""
    sql = "select json_serialize_sql(?)"
    row = connection.execute(sql, [f"select (\n{expression}\n)"]).fetchone()
    tree: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    if tree["error"]:
        raise ValueError(tree.get("error_message", "it is not SQL"))
    nodes = [statement.pop("node") for statement in tree["statements"]]
    return [(each, node) for node in nodes for each in node.pop("select_list", [None])]


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Walk over all objects of a parsed expression, however deep."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield node
            pending += node.values()
        elif isinstance(node, list):
            pending += node


def reason(error: Exception) -> str:
    """Return what DuckDB has to say, without the lines of the query that it quotes."""
    return " ".join(str(error).split("\n\nLINE")[0].split())


def _refused_predicate(why: str, predicate: str) -> QueryError:
    return QueryError(
        f"not a condition on documents: {why}",
        where=f"where {predicate[:200]!r}",
        hint="One SQL expression, such as: modified > date '2026-01-01' and list_contains(tags, 'api')",
    )
