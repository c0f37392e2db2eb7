"""A DuckDB connection over one snapshot: its tables as views, and no other file in reach."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING

from ...pipeline.errors import QueryError
from ...pipeline.settings.settings import FIELDS
from ..store.durable import write_file
from ..store.layout import CATALOG, TABLES, table_file

if TYPE_CHECKING:
    import duckdb

_PARTS = ("tables", "english", "folding", "terms", "search", "pages")
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
_LOCKS = ("enable_external_access = false", "lock_configuration = true")


def connect(folder: Path, dimension: int, languages: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """A connection that reads the tables of a verified snapshot folder, and opens nothing else.

    An allowed file is allowed for ``COPY … TO`` as well: files of a snapshot are read-only, which stops everyone
    but root, and ``require_queries`` stops what a stranger wrote.
    """
    import duckdb

    connection = duckdb.connect(":memory:")
    # Files, not the folder: COPY could make new ones in an allowed folder.
    allowed = _listed([str(folder / table_file(table)) for table in TABLES])
    # Locked before the catalog runs: part of its text is what the snapshot says.
    for setting in (*_BEFORE, f"allowed_paths = [{allowed}]", *_LOCKS):
        connection.execute(f"set {setting}")
    connection.execute("set variable snapshot = ?", [str(folder)])
    connection.execute(catalog(dimension, languages))
    return connection


def write_catalog(folder: Path, dimension: int, languages: Sequence[str]) -> None:
    """The catalog as a new file of a snapshot: reading it makes views and macros in any DuckDB."""
    write_file(folder / CATALOG, catalog(dimension, languages).encode())


def catalog(dimension: int, languages: Sequence[str]) -> str:
    """The SQL of the views and macros over a snapshot with vectors of this dimension and terms of these languages."""
    filled = {
        "dimension": str(dimension),
        "languages": _listed(languages),
        "fields": _listed(FIELDS),
    }
    folder = package_files(__package__)
    sql = "\n".join((folder / f"{part}.sql").read_text(encoding="utf-8") for part in _PARTS)
    for name, value in filled.items():
        sql = sql.replace(f"{{{name}}}", value)
    return sql


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_literal, names))


def _literal(text: str) -> str:
    """Return the text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def require_queries(sql: str) -> None:
    """Returns if the text holds queries only (``SELECT``, ``SHOW``, ``EXPLAIN`` of one); else raises ``QueryError``."""
    import duckdb

    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryError(f"not SQL: {error}", hint="See the tables with: show tables") from None
    for statement in statements:
        if statement.type == duckdb.StatementType.EXPLAIN:
            # EXPLAIN ANALYZE runs what it explains.
            require_queries(
                _EXPLAIN.sub("", statement.query, count=1) if _EXPLAIN.match(statement.query) else "-"
            )
        elif statement.type != duckdb.StatementType.SELECT:
            raise QueryError(
                f"{statement.type.name} is not a query", hint="A snapshot is read-only: use SELECT."
            )
