"""The concept vocabulary holds words as people write them, and knows which are near each other."""

from __future__ import annotations

import numpy as np

from noctule.pipeline.lexical.analyzer import prose_analyzer
from noctule.pipeline.lexical.bm25f import build_index
from noctule.pipeline.lexical.field_counts import count_fields
from noctule.pipeline.settings.settings import LexicalField, VocabularySettings
from noctule.pipeline.vocabulary.concepts import near_terms, select_terms, surface_forms

TEXTS = ["Searching indexes", "searching an index", "search the vocabulary", "index of terms"] + [
    "filler text"
] * 12


def test_terms_are_the_most_frequent_spelling_of_words_that_are_neither_rare_nor_everywhere() -> None:
    counts = count_fields([TEXTS], [prose_analyzer("en")] * len(TEXTS))
    index = build_index([counts], [LexicalField(weight=1.0)], 1.2)
    found = select_terms(index, surface_forms([counts]), len(TEXTS), VocabularySettings(min_passages=2))
    assert [(t.term, t.index_term, t.passages) for t in found] == [
        ("index", "index", 3),
        ("searching", "search", 3),
    ]
    assert (
        len(
            select_terms(
                index, surface_forms([counts]), len(TEXTS), VocabularySettings(min_passages=1, max_terms=2)
            )
        )
        == 2
    )


def test_near_terms_are_the_nearest_by_cosine_without_the_term_itself() -> None:
    angles = np.radians([0, 10, 25, 90])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    near = near_terms(vectors, 2)
    assert near.position.tolist() == [[1, 2], [0, 2], [1, 0], [2, 1]]
    assert near.similarity[0].tolist() == np.float32([0.9848, 0.9063]).tolist()


def test_duplicate_vectors_are_ordered_by_position_and_one_term_has_none() -> None:
    assert near_terms(np.ones((3, 1), np.float32), 5).position.tolist() == [[1, 2], [0, 2], [0, 1]]
    assert near_terms(np.ones((1, 1), np.float32), 5).position.shape == (1, 0)
