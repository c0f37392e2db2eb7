"""BM25F against a slow reading of its formula, and against another implementation."""

from __future__ import annotations

import math
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.pipeline.lexical.analyzer import code_analyzer
from noctule.pipeline.lexical.bm25f import LexicalIndex, build_index
from noctule.pipeline.lexical.field_counts import count_fields
from noctule.pipeline.settings.settings import LexicalField
from tests.repetitions import examples

WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), max_size=6).map(" ".join)
TEXTS = st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=8)
FIELDS = st.lists(
    st.builds(LexicalField, weight=st.sampled_from([0.0, 0.5, 1.0, 3.0]), b=st.sampled_from([0.0, 0.4, 1.0])),
    min_size=3,
    max_size=3,
)
K1 = 1.2


def index_of(texts: list[tuple[str, ...]], fields: list[LexicalField], batch: int = 100) -> LexicalIndex:
    parts = [texts[at : at + batch] for at in range(0, len(texts), batch)]
    counts = [count_fields(list(zip(*part, strict=True)), [code_analyzer()] * len(part)) for part in parts]
    return build_index(counts, fields, K1)


def postings(index: LexicalIndex) -> dict[tuple[str, int], float]:
    return {
        (term, int(index.passage[at])): float(index.score[at])
        for i, term in enumerate(index.terms)
        for at in range(index.offsets[i], index.offsets[i + 1])
    }


def slowly(texts: list[tuple[str, ...]], fields: list[LexicalField]) -> dict[tuple[str, int], float]:
    split = [[value.split() for value in text] for text in texts]
    average = [sum(len(text[f]) for text in split) / len(split) for f in range(len(fields))]
    found: dict[tuple[str, int], float] = {}
    for term in {word for text in split for value in text for word in value}:
        pseudo = {}
        for row, text in enumerate(split):
            total = 0.0
            for f, field in enumerate(fields):
                norm = 1 - field.b + field.b * (len(text[f]) / average[f] if average[f] else 0)
                total += field.weight * Counter(text[f])[term] / norm if norm else 0.0
            if total > 0:
                pseudo[row] = total
        idf = math.log(1 + (len(split) - len(pseudo) + 0.5) / (len(pseudo) + 0.5))
        found |= {(term, row): idf * (K1 + 1) * tf / (K1 + tf) for row, tf in pseudo.items()}
    return found


@settings(max_examples=examples(150))
@given(TEXTS, FIELDS)
def test_the_columns_compute_what_the_formula_says(
    texts: list[tuple[str, ...]], fields: list[LexicalField]
) -> None:
    assert postings(index_of(texts, fields)) == pytest.approx(slowly(texts, fields), rel=1e-5)


@settings(max_examples=examples(60))
@given(TEXTS, FIELDS, st.integers(1, 4))
def test_how_texts_were_batched_changes_no_bit(
    texts: list[tuple[str, ...]], fields: list[LexicalField], batch: int
) -> None:
    one, many = index_of(texts, fields), index_of(texts, fields, batch)
    assert one.terms == many.terms
    assert np.array_equal(one.score, many.score) and np.array_equal(one.passage, many.passage)


@settings(max_examples=examples(60))
@given(TEXTS, FIELDS, st.permutations([0, 1, 2]))
def test_the_order_of_fields_does_not_matter(
    texts: list[tuple[str, ...]], fields: list[LexicalField], order: list[int]
) -> None:
    shuffled = [tuple(text[i] for i in order) for text in texts]
    assert postings(index_of(shuffled, [fields[i] for i in order])) == pytest.approx(
        postings(index_of(texts, fields))
    )


@settings(max_examples=examples(60))
@given(TEXTS, FIELDS)
def test_no_posting_scores_more_than_its_idf_allows(
    texts: list[tuple[str, ...]], fields: list[LexicalField]
) -> None:
    index = index_of(texts, fields)
    bound = np.repeat(index.idf, np.diff(index.offsets)) * (K1 + 1)
    assert (index.score > 0).all() and (index.score <= bound + 1e-6).all()


def test_one_field_is_bm25_as_another_library_computes_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import bm25s
    rng = np.random.default_rng(7)
    texts = [
        " ".join(f"w{i}" for i in rng.zipf(1.5, size=rng.integers(3, 40)) if i < 50) or "w1"
        for _ in range(60)
    ]
    index = index_of([(text,) for text in texts], [LexicalField(weight=1.0, b=0.75)])
    other = bm25s.BM25(method="lucene", k1=K1, b=0.75)
    other.index([text.split() for text in texts], show_progress=False)
    for query in ("w1 w2", "w3 w7 w9", "w4"):
        ours = np.zeros(len(texts))
        for term in query.split():
            i = index.terms.index(term)
            span = slice(index.offsets[i], index.offsets[i + 1])
            ours[index.passage[span]] += index.score[span]
        theirs = other.get_scores(query.split())
        # Lucene leaves out the constant factor k1 + 1.
        assert ours == pytest.approx(theirs * (K1 + 1), rel=1e-4)
