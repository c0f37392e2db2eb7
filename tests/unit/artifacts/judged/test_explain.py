"""Why a document has its rank: the shares and factors of its hit, and its words, even where it is no hit."""

from __future__ import annotations

import pytest

from noctule.artifacts.judged.explain import explained
from noctule.artifacts.store.store import Store
from noctule.pipeline.model import DocId
from tests.library_builder import searcher_of


def test_shares_and_factors_make_the_score_of_the_hit(library: Store) -> None:
    with searcher_of(library, stages=["support"]) as searcher:
        hit = searcher.search("keep apples in a cool cellar", top_n=1).hits[0]
        found = explained(searcher, "keep apples in a cool cellar", hit.doc_id, "hybrid", 10)
    assert (found.rank, found.score, found.passage_id) == (1, hit.score, hit.passage_id)
    score = sum(each.share for each in found.lists)
    for factor in found.factors.values():
        score *= factor
    assert score == pytest.approx(hit.score)


def test_the_words_add_up_to_the_score_of_the_keyword_list(library: Store) -> None:
    with searcher_of(library) as searcher:
        hit = searcher.search("sails and canvas", mode="keyword", top_n=1).hits[0]
        found = explained(searcher, "sails and canvas", hit.doc_id, "keyword", 10)
    assert sum(term.score for term in found.terms) == pytest.approx(hit.why.lists[0].score)
    assert {term.term: term.fields for term in found.terms}["sail"] == ("headings", "body")
    assert [term.score for term in found.terms] == sorted((t.score for t in found.terms), reverse=True)


def test_a_document_that_is_not_found_has_its_words_and_no_rank(library: Store) -> None:
    with searcher_of(library, candidates=1) as searcher:
        question = "bake apples in the oven after harvest"
        found = explained(searcher, question, DocId("notes:fruit/pears.md"), "keyword", 1)
        other = explained(searcher, "zebra", DocId("notes:boats.md"), "keyword", 1)
    assert (found.rank, found.lists, other.terms) == (0, (), ())
    assert "harvest" in {term.term for term in found.terms}


def test_a_document_that_is_not_there_has_nothing(library: Store) -> None:
    with searcher_of(library) as searcher:
        found = explained(searcher, "apples", DocId("notes:gone.md"), "keyword", 10)
    assert (found.rank, found.lists, found.terms, found.passage_id) == (0, (), (), None)
