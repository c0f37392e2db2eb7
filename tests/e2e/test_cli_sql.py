"""``noctule sql`` as a user runs it: tables, JSON and CSV, a conversation, and nothing but queries."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from noctule.artifacts.disk.layout import SNAPSHOTS
from tests.command_line import CommandLine
from tests.e2e.conftest import Built


@pytest.fixture
def command(built: Built, tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, built.store)


def test_rows_come_as_a_table_as_json_or_as_csv(command: CommandLine) -> None:
    query = "select path, passages, null as nothing from documents order by path"
    table = command.run("sql", query)
    assert (table.code, table.err) == (0, "")
    assert table.out.split("\n")[0].split() == ["path", "passages", "nothing"]
    assert table.out.split("\n")[1].split() == ["guide/cancel.md", "1"]
    rows = command.run("sql", query, "--json").json["rows"]
    assert rows[0] == {"path": "guide/cancel.md", "passages": 1, "nothing": None}
    assert len(rows) == 4
    read = list(csv.reader(io.StringIO(command.run("sql", query, "--csv").out)))
    assert read[:2] == [["path", "passages", "nothing"], ["guide/cancel.md", "1", ""]]
    assert len(read) == 5


def test_values_that_json_has_not_got_are_text_or_null(command: CommandLine) -> None:
    query = (
        "select date '2026-01-31' as day, 'nan'::double as none, [1.5::decimal(3, 1)] as list, {'a': "
        "1} as a, 2 as a"
    )
    (row,) = command.run("sql", query, "--json").json["rows"]
    assert row == {"day": "2026-01-31", "none": None, "list": ["1.5"], "a": {"a": 1}, "a_2": 2}


def test_a_search_needs_no_model(command: CommandLine) -> None:
    query = "select doc_id from keyword_search('little owls', 1)"
    assert command.run("sql", query, "--json").json == {"rows": [{"doc_id": "vault:guide/owls.md"}]}


def test_long_results_are_cut_in_a_table_and_it_says_so(command: CommandLine) -> None:
    cut = command.run("sql", "select repeat('x', 1000) as x from range(300)")
    assert len(cut.out.splitlines()) == 201
    assert "…" in cut.out
    assert "200 rows" in cut.err and "--csv" in cut.err
    assert len(command.run("sql", "select * from range(300)", "--csv").out.splitlines()) == 301


def test_a_query_may_come_from_standard_input(command: CommandLine) -> None:
    for arguments in (("-",), ()):
        done = subprocess.run(
            [sys.executable, "-m", "noctule.flows.cli.main", "sql", *arguments, "--json"],
            input="select count(*) as n from documents;",
            cwd=command.folder, env=command.environment, capture_output=True, text=True, check=True,
            timeout=60,
        )  # fmt: skip
        assert json.loads(done.stdout) == {"rows": [{"n": 4}]}


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("selec 1", "syntax error"),
        ("select nothing from documents", "nothing"),
        ("from nowhere", "nowhere"),
        ("copy documents to 'x.csv'", "COPY is not a query"),
        ("select 1; drop view documents", "DROP is not a query"),
        ("set variable snapshot = '/etc'", "SET is not a query"),
        ("from read_text('/etc/hostname')", "hostname"),
        ("select 1/0 + 'x'::int", "x"),
        (" ", "there is no query"),
    ],
)
def test_what_cannot_be_answered_is_one_error_in_the_shape_of_all(
    query: str, says: str, command: CommandLine
) -> None:
    refused = command.run("sql", query, "--json")
    assert (refused.code, refused.out, refused.error["kind"]) == (2, "", "QueryError")
    assert says in refused.error["what"]
    assert refused.error["hint"]
    assert list(command.folder.glob("*.csv")) == []


def test_the_catalog_is_named_and_works_without_noctule(command: CommandLine, built: Built) -> None:
    path = command.run("sql", "--print-catalog").out.strip()
    assert path == str(built.store / SNAPSHOTS / built.printed["snapshot"] / "catalog.sql")
    assert command.run("sql", "--print-catalog", "--json").json["catalog"] == path
    connection = duckdb.connect()
    connection.execute("set variable snapshot = ?", [str(Path(path).parent)])
    connection.execute(Path(path).read_text("ascii"))
    found = connection.execute("select doc_id from keyword_search('owl', 1)").fetchall()
    assert found == [("vault:guide/owls.md",)]


def test_another_snapshot_can_be_named(command: CommandLine, built: Built) -> None:
    named = command.run("sql", "select 1 as one", "--snapshot", built.printed["snapshot"], "--json")
    assert named.json == {"rows": [{"one": 1}]}
    assert command.run("sql", "select 1", "--snapshot", "0" * 20, "--json").error["kind"] == "NoSnapshot"


def test_a_conversation_answers_each_query_and_survives_a_wrong_one(command: CommandLine) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "noctule.flows.cli.main", "sql"],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=command.folder,
        env=command.environment | {"TERM": "dumb"}, close_fds=True,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, b"select 20 + 1\n as answer;\nfrom nowhere;\n\nselect 40 + 2 as answer;\n.quit\n")
    said = b""
    while chunk := _read(ours):
        said += chunk
    assert process.wait(30) == 0
    text = said.decode()
    assert "SQL over snapshot" in text
    # As rows: the digits alone may be in the snapshot's name.
    assert text.index("    21\r") < text.index("nowhere does not exist") < text.index("    42\r")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # Linux: nobody is at the other end any more
        return b""
