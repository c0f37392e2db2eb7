"""SQL conditions on documents: what they choose, and that nothing but one condition gets through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import QueryError
from tests.library_builder import NOTES, searcher_of


@pytest.fixture(scope="module")
def searcher(library: Store) -> Iterator[Searcher]:
    with searcher_of(library) as found:
        yield found


def chosen(searcher: Searcher, where: str) -> list[str]:
    mask = searcher.corpus.database.documents_where_given(where)
    paths = searcher.corpus.documents.column("path").to_pylist()
    return sorted(path for path, may in zip(paths, mask, strict=True) if may)


@pytest.mark.parametrize(
    ("where", "documents"),
    [
        ("true", sorted(NOTES)),
        ("null", []),
        ("modified > date '2026-08-20'", ["fruit/apples.md", "harbour.md"]),
        ("modified > '2026-08-20' and author = ''", ["fruit/apples.md"]),
        ("list_contains(tags, 'sea') and author = 'Ada'", ["boats.md"]),
        ("path like 'fruit/a%' or documents.title = 'Boats'", ["boats.md", "fruit/apples.md"]),
        ("text like '%oars%' -- and a comment", ["boats.md"]),
        ("year(modified) = 2025", ["boats.md"]),
        ("front_matter->>'$.status' = 'draft'", ["boats.md"]),
        ("doc_id in (select target_id from links where source_id = 'notes:boats.md')", ["harbour.md"]),
        ("exists (select 1 from unnest(tags) as t(tag) where tag = 'craft')", ["boats.md"]),
    ],
)  # fmt: skip
def test_a_condition_chooses_these_documents(searcher: Searcher, where: str, documents: list[str]) -> None:
    assert chosen(searcher, where) == documents


def secret(tmp_path: Path) -> str:
    file = tmp_path / "secret.csv"
    file.write_text("word\nharbour\n", "utf-8")
    return str(file)


@pytest.mark.parametrize(
    "where",
    [
        "", "   -- nothing", "1 2", "title =", "true; select 1", "true) ; drop view links; select (true",
        "true) union select document from document_rows where (true", "true, false", "true) limit (1",
        "true) group by (document", "?", "title = $1", "*", "count(*) > 1", "row_number() over () < 3",
        "title", "nowhere = 1",
        "(delete from links)", "(insert into neighbours values (1, 1, 1, 1) returning true)",
        "exists (copy links to 'x')",
        "exists (from read_csv('{file}'))", "exists (from '{file}')", "exists (from read_text('{file}'))",
        "exists (from glob('*'))",
        "exists (from parquet_schema('{file}'))", "exists (from query('select 1'))",
        "exists (from duckdb_settings())",
        "exists (with f as (from read_blob('{file}')) from f)",
        *(["(" * 3000 + "true" + ")" * 3000] if duckdb.__version__ >= "2" else []),  # older ones read it
        "true" + " and true" * 2000,
        "not " * 2400 + "true", "\x00", "title = '\ud800'",
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_what_is_not_one_condition_on_documents_is_refused(
    searcher: Searcher, where: str, tmp_path: Path
) -> None:
    where = where.replace("{file}", secret(tmp_path))
    before = searcher.sql("from duckdb_tables()").fetchall()
    with pytest.raises(QueryError) as caught:
        searcher.corpus.database.documents_where_given(where)
    assert caught.value.where and caught.value.hint
    assert searcher.sql("from duckdb_tables()").fetchall() == before


def test_a_search_keeps_to_the_condition_and_to_the_filters(searcher: Searcher) -> None:
    answer = searcher.search("boats harbour sea", 50, where="list_contains(tags, 'sea')")
    assert {hit.path for hit in answer.hits} == {"boats.md", "harbour.md"}
    both = searcher.search(
        "boats harbour sea", 50, where="list_contains(tags, 'sea')", filters=["author:ada"]
    )
    assert {hit.path for hit in both.hits} == {"boats.md"}


def test_a_condition_changes_no_score_of_a_list(searcher: Searcher) -> None:
    filtered = searcher.search("cool cellar", where="path like 'fruit/%'", mode="keyword")
    by_filter = searcher.search("cool cellar", filters=["path:/fruit/"], mode="keyword")
    assert filtered.hits == by_filter.hits != ()


def test_a_condition_that_nothing_meets_says_so(searcher: Searcher) -> None:
    with pytest.warns(RuntimeWarning, match="no document matches the filter author:ada links_in > 1000"):
        answer = searcher.search("boats", where="links_in > 1000", filters=["author:ada"])
    assert answer.hits == ()


def test_an_unknown_column_is_named_with_those_that_there_are(searcher: Searcher) -> None:
    with pytest.raises(QueryError, match="colour") as caught:
        searcher.search("boats", where="colour = 'red'")
    assert "LINE 1" not in str(caught.value)
    assert caught.value.where == "where \"colour = 'red'\""
    assert "modified" in caught.value.hint


def test_answers_with_other_conditions_are_other_answers(searcher: Searcher) -> None:
    one = searcher.search("night", where="author = 'Grace'")
    assert searcher.search("night", where=" author = 'Grace' ") is one
    assert searcher.search("night", where="author = 'Ada'") is not one
