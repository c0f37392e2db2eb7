"""Documents without headings are counted, and BM25F holds less against their passages."""

from __future__ import annotations

import numpy as np
import pytest

from noctule.pipeline.lexical.field_counts import without_headings
from noctule.pipeline.settings.settings import Lexical


@pytest.mark.parametrize(
    ("headings", "sizes", "found"),
    [
        ([0, 0, 2, 0, 0], [2, 2, 1], 3),
        ([0, 1, 1], [0, 3, 0], 0),  # documents without passages have none to count
        ([0, 0], [1, 1], 2),
        ([], [], 0),
    ],
)
def test_a_heading_anywhere_in_a_document_counts_for_all_of_it(
    headings: list[int], sizes: list[int], found: int
) -> None:
    assert without_headings(np.array(headings, np.int32), np.array(sizes, np.int64)) == found


def test_saturation_and_lengths_follow_the_share_of_texts_without_headings() -> None:
    lexical = Lexical.model_validate({"fields": {"title": {"weight": 2.0, "b": 0.3}}})
    assert lexical.adapted(0.0) == lexical
    plain, mixed = lexical.adapted(1.0), lexical.adapted(0.5)
    assert (plain.k1, plain.fields["body"].b) == pytest.approx((0.75, 0.5))
    assert (plain.fields["title"].weight, plain.fields["title"].b) == pytest.approx((2.0, 0.2))
    assert (mixed.k1, mixed.fields["body"].b) == pytest.approx((0.8625, 0.6875))
