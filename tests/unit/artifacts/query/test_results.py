"""Answers as tables, counts by column, and SQL of a searcher."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.flows.cli.query.text import print_answer
from noctule.pipeline.errors import QueryError
from tests.library_builder import searcher_of


@pytest.fixture(scope="module")
def searcher(library: Store) -> Iterator[Searcher]:
    with searcher_of(library) as found:
        yield found


def test_hits_are_rows_of_an_arrow_table(searcher: Searcher) -> None:
    answer = searcher.search("cool cellar", 3)
    table = answer.arrow()
    assert table.column("passage_id").to_pylist() == [hit.passage_id for hit in answer.hits]
    assert table.column("rank").to_pylist() == [1, 2, 3]
    assert table.column("score").to_pylist() == [hit.score for hit in answer.hits]


def test_an_answer_without_hits_has_the_same_columns(searcher: Searcher) -> None:
    full = searcher.search("cool cellar")
    with pytest.warns(RuntimeWarning):
        empty = searcher.search("cool cellar", where="false")
    assert empty.arrow().num_rows == 0
    assert empty.arrow().schema == full.arrow().schema


def test_hits_are_a_relation_that_sql_goes_on_with(searcher: Searcher) -> None:
    relation = searcher.search("cool cellar", 4).relation()
    counted = relation.aggregate("path, count(*) as hits", "path").order("hits desc, path").fetchall()
    assert sum(hits for _, hits in counted) == 4
    with duckdb.connect(":memory:") as own:
        assert searcher.search("cool cellar", 4).relation(own).count("*").fetchall() == [(4,)]


def test_a_frame_takes_pandas_and_says_so(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(QueryError, match="pandas is not installed") as caught:
        searcher.search("boats").df()
    assert "arrow" in caught.value.hint


def test_a_frame_has_the_rows_of_the_table(searcher: Searcher) -> None:
    pytest.importorskip("pandas")
    answer = searcher.search("boats")
    assert answer.df()["doc_id"].tolist() == [hit.doc_id for hit in answer.hits]


def test_documents_are_counted_by_the_values_of_a_column(searcher: Searcher) -> None:
    assert searcher.facets("tags") == {"sea": 2, "craft": 1}
    assert searcher.facets("author") == {"Ada": 1, "Grace": 1}
    assert searcher.facets("tags", limit=1) == {"sea": 2}
    assert searcher.facets("tags", where="author = 'Grace'") == {"sea": 1}
    assert searcher.facets("tags", filters=["author:ada"]) == {"craft": 1, "sea": 1}
    assert searcher.facets("tags", where="false") == {}


def test_with_a_text_only_what_it_finds_is_counted(searcher: Searcher) -> None:
    all_paths = searcher.facets("path")
    found = searcher.facets("path", "salty")
    assert "sea.md" in found
    assert set(found.values()) == {1}
    assert len(found) <= len(all_paths)
    assert searcher.facets("author", "launchBoat", where="author = 'Grace'").get("Ada") is None


@pytest.mark.parametrize(
    "column", ["", "colour", "text", "front_matter", "tags; drop view links", "path, title"]
)
def test_a_column_that_cannot_be_counted_by_is_refused(searcher: Searcher, column: str) -> None:
    with pytest.raises(QueryError, match="no such column") as caught:
        searcher.facets(column)
    assert "language" in caught.value.hint
    with pytest.raises(QueryError, match="at least 1"):
        searcher.facets("tags", limit=0)


def test_a_query_is_a_relation_with_the_views_and_macros_of_the_catalog(searcher: Searcher) -> None:
    assert searcher.sql("select count(*) from documents").fetchall() == [(13,)]
    found = searcher.sql("select breadcrumb from keyword_search('cool cellar', 2)")
    assert found.count("*").fetchall() == [(2,)]
    assert isinstance(found, duckdb.DuckDBPyRelation)


@pytest.mark.parametrize(
    "query",
    ["drop view links", "copy documents to 'x.csv'", "set threads = 1", "select nothing", "select",
     "attach 'x.db'", "select * from read_csv('/etc/hostname')", "select 1; delete from neighbours"],
)  # fmt: skip
def test_what_is_no_query_over_the_snapshot_is_refused(searcher: Searcher, query: str) -> None:
    with pytest.raises(QueryError):
        searcher.sql(query)


def test_relations_do_not_disturb_each_other_or_searches(searcher: Searcher) -> None:
    first = searcher.sql("select path from documents order by path")
    second = searcher.sql("select count(*) from passages")
    assert len(searcher.search("boats", 50, where="links_in >= 0").hits) > 0
    assert second.fetchall()[0][0] > 60
    assert len(first.fetchall()) == 13


def test_a_closed_searcher_says_that_it_is_closed(library: Store) -> None:
    searcher = searcher_of(library)
    searcher.facets("tags")
    searcher.close()
    with pytest.raises(QueryError, match="closed"):
        searcher.sql("select 1")
    searcher.close()


def test_a_search_without_a_filter_does_not_open_the_database(library: Store) -> None:
    with searcher_of(library) as searcher:
        searcher.search("boats")
        assert not searcher.corpus.database.is_open
        searcher.search("boats", where="true")
        assert searcher.corpus.database.is_open


def test_threads_get_the_filtered_answers_that_one_gets(library: Store) -> None:
    texts = [
        ("boats", ""),
        ("cool cellar", "links_in > 0"),
        ("night", "author = 'Grace'"),
        ("saga", "true"),
        ("tide", ""),
    ]
    asked = [(text, f"{where} and {at} = {at}" if where else "") for at in range(20) for text, where in texts]

    def answers(found: Searcher, workers: int) -> list[list[str]]:
        def ask(each: tuple[str, str]) -> list[str]:
            hits = found.search(each[0], where=each[1], filters=["collection:notes"]).hits
            return [hit.passage_id for hit in hits] + list(found.facets("tags", where=each[1]))

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(ask, asked))

    graph = {"weights": {"keyword": 1.0, "graph": 0.5}, "caches": {"answers": 0, "vectors": 0}}
    with searcher_of(library, **graph) as first, searcher_of(library, **graph) as second:
        assert answers(first, 8) == answers(second, 1)


def test_an_answer_says_whether_anything_fits(library: Store, capsys: pytest.CaptureFixture[str]) -> None:
    convex = {"fusion": "convex", "weights": {"keyword": 1.0, "semantic": 0.0, "document": 0.0}}
    with searcher_of(library, **convex) as found:
        known = found.search("apples cellar", 3)
        strange = found.search("apples submarine periscope torpedo", 3)
    assert (known.is_sure, known.as_dict()["sure"]) == (True, True)
    assert (strange.is_sure, strange.as_dict()["sure"]) == (False, False)
    assert strange.hits
    print_answer(strange, explain=False)
    assert "Nothing here answers this well" in capsys.readouterr().out
    print_answer(known, explain=False)
    assert "Nothing here" not in capsys.readouterr().out


def test_without_a_confidence_nothing_speaks_against_an_answer(library: Store) -> None:
    with searcher_of(library, stages=["per_document"]) as found:
        assert found.search("apples submarine").is_sure
