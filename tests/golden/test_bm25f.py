"""BM25F against the reference values of Robertson's definition, worked out by hand with natural
logarithms.
"""

from __future__ import annotations

import math

import pytest

from noctule.pipeline.lexical.analyzer import code_analyzer
from noctule.pipeline.lexical.bm25f import LexicalIndex, build_index, credibility
from noctule.pipeline.lexical.field_counts import count_fields
from noctule.pipeline.settings.settings import LexicalField


def index_of(texts: list[dict[str, str]], weights: dict[str, float], b: dict[str, float]) -> LexicalIndex:
    columns = [[text.get(field, "") for text in texts] for field in weights]
    counts = count_fields(columns, [code_analyzer()] * len(texts))
    return build_index([counts], [LexicalField(weight=weights[f], b=b[f]) for f in weights], k1=1.2)


def scores(index: LexicalIndex, query: str) -> dict[int, float]:
    found: dict[int, float] = {}
    for term in query.split():
        i = index.terms.index(term)
        for at in range(index.offsets[i], index.offsets[i + 1]):
            passage = int(index.passage[at])
            found[passage] = found.get(passage, 0.0) + float(index.score[at])
    return found


def test_a_title_match_beats_a_match_in_both_fields_and_a_match_in_the_body() -> None:
    texts = [
        {"title": "alpha alpha", "body": "noise noise noise noise"},
        {"title": "noise noise", "body": "alpha alpha"},
        {"title": "alpha", "body": "alpha"},
        {},
    ]
    index = index_of(texts, {"title": 4, "body": 1}, {"title": 0.2, "body": 0.9})
    assert scores(index, "alpha") == pytest.approx({0: 0.671819244, 2: 0.650063111, 1: 0.467870029}, abs=1e-6)


def test_moving_an_occurrence_between_equal_fields_changes_nothing() -> None:
    texts = [{"f1": "x x", "f2": "n n"}, {"f1": "x n", "f2": "n x"}]
    index = index_of(texts, {"f1": 1, "f2": 1}, {"f1": 0, "f2": 0})
    assert scores(index, "x") == pytest.approx({0: 0.250692141, 1: 0.250692141}, abs=1e-6)


def test_covering_two_terms_beats_one_term_in_every_field() -> None:
    texts = [{"t": "x", "h": "x", "c": "x"}, {"c": "x y"}, {"c": "z"}, {"c": "z"}]
    index = index_of(texts, {"t": 3, "h": 2.5, "c": 1}, {"t": 0, "h": 0, "c": 0})
    assert scores(index, "x y") == pytest.approx({1: 1.897120, 0: 1.287273}, abs=1e-5)


def test_an_integer_weight_is_repetition() -> None:
    b = {"t": 0.0, "c": 0.0}
    weighted = index_of([{"t": "x", "c": "y y"}, {"c": "z"}], {"t": 3, "c": 1}, b)
    repeated = index_of([{"t": "x x x", "c": "y y"}, {"c": "z"}], {"t": 1, "c": 1}, b)
    assert scores(weighted, "x y") == pytest.approx(scores(repeated, "x y"))
    assert scores(weighted, "x") == pytest.approx({0: 1.089231}, abs=1e-6)


def test_a_term_is_saturated_over_all_fields_and_has_one_frequency() -> None:
    """Three times x in the title and once elsewhere: 3 + 1 occurrences in 2 of 4 texts, saturated once."""
    index = index_of([{"t": "x", "c": "x"}, {"c": "x"}, {}, {}], {"t": 3, "c": 1}, {"t": 0, "c": 0})
    idf = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    assert scores(index, "x") == pytest.approx({0: idf * 2.2 * 4 / 5.2, 1: idf * 2.2 / 2.2}, abs=1e-6)
    assert index.idf.tolist() == pytest.approx([idf])


def test_a_field_of_weight_zero_is_as_good_as_none_and_an_unknown_term_is_in_no_text() -> None:
    texts = [{"t": "x y", "c": "x"}, {"t": "x", "c": "z"}]
    without = index_of([{"c": text["c"]} for text in texts], {"c": 1}, {"c": 0.75})
    ignored = index_of(texts, {"t": 0, "c": 1}, {"t": 0.75, "c": 0.75})
    assert ignored.terms == without.terms == ("x", "z")
    assert ignored.score.tolist() == pytest.approx(without.score.tolist())


def test_texts_without_a_word_have_an_index_without_a_term() -> None:
    assert index_of([{}, {"c": ""}], {"t": 3, "c": 1}, {"t": 1.0, "c": 1.0}).terms == ()


@pytest.mark.parametrize(
    ("documents", "counts"), [(0, 0.5), (1, 0.5), (100, 0.5), (300, 0.75), (900, 0.9), (99_900, 0.999)]
)
def test_a_keyword_match_counts_half_in_a_small_collection_and_nearly_all_in_a_large_one(
    documents: int, counts: float
) -> None:
    assert credibility(documents) == pytest.approx(counts)
