"""The guide's questions in SQL: each query runs on a real snapshot, and finds what was put there to be
found.
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from noctule.artifacts.disk.layout import CATALOG
from tests.guide_snapshot import Guide, guide

__all__ = ["guide"]
DOCS = Path(__file__).resolve().parents[2] / "docs"
Rows = list[dict[str, object]]


def _queries(page: str) -> dict[str, str]:
    """The SQL below each heading; a second query below one has a star."""
    found: dict[str, str] = {}
    heading = ""
    text = (DOCS / page).read_text("utf-8")
    for title, sql in re.findall(r"(?ms)^#{2,3} (.+?)$|^```sql\n(.+?)^```", text):
        heading = title or heading
        if sql:
            found[f"{heading} *" if heading in found else heading] = sql
    return found


QUESTIONS = _queries("guide/questions-in-sql.md")


@pytest.fixture(scope="module")
def analyst(guide: Guide) -> duckdb.DuckDBPyConnection:
    """A DuckDB that knows no noctule, with the two snapshots named."""
    connection = duckdb.connect()
    connection.execute("set variable snapshot = ?", [str(guide.current)])
    connection.execute((guide.current / CATALOG).read_text("ascii"))
    connection.execute("set variable before = ?", [str(guide.before)])
    return connection


def _ask(connection: duckdb.DuckDBPyConnection, number: int, star: str = "") -> Rows:
    (sql,) = [
        s for q, s in QUESTIONS.items() if q.startswith(f"{number}. ") and q.endswith("*") == bool(star)
    ]
    result = connection.execute(sql)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def test_there_are_twenty_questions() -> None:
    numbers = [int(question.partition(".")[0]) for question in QUESTIONS if not question.endswith("*")]
    assert numbers == list(range(1, 21))


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_query_runs_and_finds_something(question: str, analyst: duckdb.DuckDBPyConnection) -> None:
    rows = analyst.execute(QUESTIONS[question]).fetchall()
    assert rows
    assert rows == analyst.execute(QUESTIONS[question]).fetchall()


def test_noctule_answers_the_same_but_for_what_needs_another_snapshot(
    guide: Guide, analyst: duckdb.DuckDBPyConnection
) -> None:
    with guide.store.open() as snapshot:
        connection = snapshot.connect()
        for question, sql in QUESTIONS.items():
            if "getvariable('before')" in sql:
                with pytest.raises(duckdb.Error):
                    connection.execute(sql)
            else:
                assert connection.execute(sql).fetchall() == analyst.execute(sql).fetchall(), question


def test_the_answers_are_those_that_were_put_there(analyst: duckdb.DuckDBPyConnection) -> None:
    orphans = {row["doc_id"] for row in _ask(analyst, 1)}
    assert "guide:notes/alone.md" in orphans
    assert "guide:notes/owls.md" not in orphans
    broken = next(row for row in _ask(analyst, 2) if row["target"] == "nowhere.md")
    assert (broken["links"], broken["first_page"]) == (2, "guide:notes/alone.md")
    assert {row["direction"] for row in _ask(analyst, 3)} == {"in", "out"}
    clicks = {row["doc_id"]: row["clicks"] for row in _ask(analyst, 4)}
    assert min(map(int, map(str, clicks.values()))) == 0
    assert "guide:notes/alone.md" not in clicks
    alike = [(row["doc_id"], row["other"]) for row in _ask(analyst, 5)]
    assert ("guide:notes/owls-again.md", "guide:notes/owls.md") in alike
    assert [row["doc_id"] for row in _ask(analyst, 7)] == ["guide:notes/hub.md"]
    same = _ask(analyst, 8)
    assert [(row["doc_id"], row["other"]) for row in same] == [
        ("guide:notes/owls-again.md", "guide:notes/owls.md")
    ]
    (collection,) = _ask(analyst, 9)
    assert "notes/hub.md" in collection["which"]  # type: ignore[operator]
    assert "notes/log.md" not in collection["which"]  # type: ignore[operator]


def test_the_answers_about_change_and_content_are_those_that_were_put_there(
    analyst: duckdb.DuckDBPyConnection,
) -> None:
    assert _ask(analyst, 12) == [{"doc_id": "guide:notes/log-again.md", "what": "new"}]
    risen = {row["term"]: (row["before"], row["now"]) for row in _ask(analyst, 13)}
    assert risen["checkpoint"] == (0, 1)
    assert sum(row["size"] for row in _ask(analyst, 14)) > 5  # type: ignore[misc]
    together = {(row["tag"], row["other"]): row["pages"] for row in _ask(analyst, 15)}
    assert together["birds", "night"] == 2
    assert {"sql", "python"} <= {row["language"] for row in _ask(analyst, 16)}
    acronyms = {row["acronym"]: (row["expansions"], row["documents"]) for row in _ask(analyst, 17)}
    assert acronyms["WAL"][1] == 2
    assert _ask(analyst, 18)[0]["doc_id"] == "guide:store/crash-safety.md"
    assert {(row["term"], row["in_title"]) for row in _ask(analyst, 19)} == {
        ("snapshot", True),
        ("snapshot", False),
    }
    assert [row["rank"] for row in _ask(analyst, 20)] == [1, 2, 3, 4, 5]
    assert len(_ask(analyst, 20, "*")) == 15


def test_the_reference_shows_queries_that_run(analyst: duckdb.DuckDBPyConnection) -> None:
    for page in ("reference/sql.md", "reference/snapshot-tables.md"):
        for sql in _queries(page).values():
            analyst.execute(sql).fetchall()
