"""Filters: what may be in an answer at all, whichever list found it, with scores as if there were none."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import PathSpec

from noctule.artifacts.query.answer import Answer
from noctule.artifacts.query.retrieval.filters import Filter, documents_allowed, parse_filter, path_regex
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.errors import QueryError
from noctule.pipeline.settings.settings import Embed
from tests.library_builder import NOTES, searcher_of

ALL = sorted(NOTES)


@pytest.fixture(scope="module")
def searcher(library: Store) -> Iterator[Searcher]:
    weights = {"keyword": 1.0, "semantic": 1.0, "code": 1.0, "graph": 0.5}
    with searcher_of(library, load_encoder(Embed(workers=1)), weights=weights) as found:
        yield found


def allowed(searcher: Searcher, *filters: str) -> list[str]:
    """The documents that the filters allow."""
    mask = documents_allowed([parse_filter(each) for each in filters], searcher.corpus)
    paths = searcher.corpus.documents.column("path").to_pylist()
    return sorted(path for path, may in zip(paths, mask, strict=True) if may)


@pytest.mark.parametrize(
    ("filters", "documents"),
    [
        (["collection:notes"], ALL),
        (["collection:NOTES"], ALL),
        (["collection:other"], []),
        (["doc:notes:boats.md"], ["boats.md"]),
        (["path:fruit/"], ["fruit/apples.md", "fruit/orchard.md", "fruit/pears.md"]),
        (["path:/fruit/p*.md"], ["fruit/pears.md"]),
        (["path:**/apples.md"], ["fruit/apples.md"]),
        (["path:*.html"], []),
        (["tag:sea"], ["boats.md", "harbour.md"]),
        (["tag:#Craft"], ["boats.md"]),
        (["author:ada"], ["boats.md"]),
        (["author:ad"], []),
        (["language:en"], ALL),
        (["language:e"], []),
        (["front.status:Draft"], ["boats.md"]),
        (["front.tags:craft"], ["boats.md"]),
        (["front.STATUS:DRAFT"], ["boats.md"]),
        (["front.Tags:Craft", "front.TAGS:nothing"], ["boats.md"]),
        (["front.status:done"], []),
        (["front.nothing:x"], []),
        (["after:2026-08-11"], ["fruit/apples.md", "fruit/pears.md", "harbour.md"]),
        (["after:2026-08-28"], ["fruit/apples.md", "harbour.md"]),
        (["after:2026-08-29"], ["harbour.md"]),
        (["before:2026-08-11"], ["boats.md", "fruit/pears.md"]),
        (["after:2026-08-01", "before:2026-08-28"], ["fruit/apples.md", "fruit/pears.md"]),
        (["tag:craft", "path:fruit/"], []),
        (["path:boats.md", "path:sea.md"], ["boats.md", "sea.md"]),
        (["tag:sea", "author:grace"], ["harbour.md"]),
        (["community:999999999999999999999999"], []),
        ([], ALL),
    ],
    ids=lambda value: " ".join(value) if value and ":" in str(value[0]) else "",
)
def test_a_filter_allows_these_documents(
    searcher: Searcher, filters: list[str], documents: list[str]
) -> None:
    assert allowed(searcher, *filters) == documents


def test_documents_of_a_community_are_allowed_together(searcher: Searcher) -> None:
    (number,) = {
        int(searcher.corpus.community_of[searcher.corpus.document_row(f"notes:{name}") or 0])
        for name in ("fruit/apples.md", "fruit/pears.md")
    }
    found = allowed(searcher, f"community:{number}")
    assert {"fruit/apples.md", "fruit/pears.md"} <= set(found)
    assert "sea.md" not in found


@pytest.mark.parametrize(
    "text",
    ["", "boats", ":", "tag:", "tag: ", ":sea", "colour:red", "Tag:sea", "front.:x", "front:x",
     "after:yesterday", "after:2026-02-30", "before:2026-1-1", "after:２０２６-０１-０１",
     "community:sea", f"community:{'9' * 5000}", "community:-1", "community:1.5", "community:²",
     "path:!", "path:\\"],
)  # fmt: skip
def test_a_filter_that_cannot_be_is_refused_with_what_can(searcher: Searcher, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        searcher.search("boats", filters=[text])
    assert repr(text)[:1900] in caught.value.where
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("colour:red", "there is no filter of the kind 'colour'"),
        ("Tag:sea", "there is no filter of the kind 'Tag'"),
        ("boats", "a filter is written kind:value"),
        ("tag:", "a filter is written kind:value"),
    ],
)
def test_an_unknown_kind_is_told_from_a_filter_that_is_not_written_as_one(text: str, what: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_filter(text)
    assert caught.value.what == what
    assert "tag" in caught.value.hint


def test_a_filter_made_by_hand_is_checked_like_one_that_was_typed(searcher: Searcher) -> None:
    for bad in (Filter("colour", "red"), Filter("community", "sea"), Filter("after", "x")):
        with pytest.raises(QueryError):
            searcher.search("boats", filters=[bad])
    assert documents(searcher.search("boats", filters=[Filter("path", "boats.md")])) == {"boats.md"}


def documents(answer: Answer) -> set[str]:
    return {hit.doc_id.removeprefix("notes:") for hit in answer.hits}


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic", "code"])
def test_every_list_keeps_to_the_filter(searcher: Searcher, mode: str) -> None:
    answer = searcher.search("boat user launch sea", 50, mode, filters=["path:boats.md"])  # type: ignore[arg-type]
    assert documents(answer) == {"boats.md"}
    fruit = searcher.search("boats", 50, mode, filters=["path:fruit/"])  # type: ignore[arg-type]
    assert documents(fruit) <= {"fruit/apples.md", "fruit/pears.md", "fruit/orchard.md"}


def test_a_filter_fills_the_answer_from_further_down(searcher: Searcher) -> None:
    """The nearest passages are none of the filter's, and do not take the places of those that are."""
    answer = searcher.search("saga of the whale", 3, filters=["path:fruit/"])
    assert len(answer.hits) == 3


def test_a_filter_changes_no_score_of_a_list(searcher: Searcher) -> None:
    def scores(*filters: str) -> dict[tuple[str, str], float]:
        answer = searcher.search("cool cellar", 50, filters=filters)
        return {
            (hit.passage_id, each.list): each.score
            for hit in answer.hits
            for each in hit.why.lists
            if each.list in ("keyword", "semantic")
        }

    everything, filtered = scores(), scores("path:fruit/")
    assert filtered
    assert {key: everything[key] for key in filtered if key in everything} == {
        key: score for key, score in filtered.items() if key in everything
    }


@pytest.mark.parametrize("filters", [["tag:nothing"], ["tag:sea", "path:fruit/"]])
def test_a_filter_that_matches_nothing_gives_nothing_and_says_so(
    searcher: Searcher, filters: list[str]
) -> None:
    with pytest.warns(RuntimeWarning, match="no document matches the filter"):
        answer = searcher.search("boats", filters=filters)
    assert answer.hits == ()
    assert all(each in answer.warnings[0] for each in filters)


def test_a_filter_and_a_demand_that_nothing_meets_together_say_so(searcher: Searcher) -> None:
    with pytest.warns(RuntimeWarning, match='no passage meets all of: path:fruit/ "trade wind"'):
        answer = searcher.search('"trade wind"', filters=["path:fruit/"])
    assert answer.hits == ()


def test_the_order_and_the_number_of_equal_filters_do_not_matter(searcher: Searcher) -> None:
    before = searcher.cache_usage()["answers"].hits
    one = searcher.search("night", filters=["tag:sea", "author:grace"])
    two = searcher.search("night", filters=["author:grace", "tag:sea", "tag:sea"])
    assert one is two
    assert searcher.cache_usage()["answers"].hits == before + 1


PATHS = st.text("abA.-_ +(é/", min_size=1, max_size=12).map(lambda text: f"x{text}".replace("//", "/"))
PATTERNS = st.text("ab*?/.[]-! é+(\\\\", min_size=1, max_size=8)


@given(pattern=PATTERNS, paths=st.lists(PATHS, min_size=1, max_size=5))
def test_a_path_matches_in_sql_as_it_does_in_gitignore(pattern: str, paths: list[str]) -> None:
    try:
        parse_filter(f"path:{pattern}")
    except QueryError:
        return
    pattern = pattern.strip()
    spec = PathSpec.from_lines("gitignore", [pattern])
    given_paths = "select unnest($1::varchar[]) as path"
    found = duckdb.execute(
        f"select regexp_matches(path, $2) from ({given_paths})",  # ours
        [paths, path_regex(pattern)],
    ).fetchall()
    assert [each for (each,) in found] == [spec.match_file(path) for path in paths]
