"""A word is cut into tokens as the model's own tokenizer cuts it."""

from __future__ import annotations

from random import Random

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece

from noctule.pipeline.lexical.word_pieces import UNKNOWN, letters, word_pieces

KNOWN = frozenset({"lap", "laptop", "un", "##do", "##s", "docker", "##file", "naive", "##te", "検"})


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("laptop", ["laptop"]),
        ("laptops", ["laptop", "##s"]),
        ("undo", ["un", "##do"]),
        ("dockerfile", ["docker", "##file"]),
        ("naïveté", ["naive", "##te"]),
        ("docker_lap.undo", ["docker", "lap", "un", "##do"]),
        ("xdo", ["##do"]),
        ("検索", ["検"]),
        ("ᚠᛇᚻ", [UNKNOWN]),
        ("🎉", [UNKNOWN]),
        ("", [UNKNOWN]),
    ],
)
def test_the_longest_token_that_fits_is_taken_each_time(word: str, pieces: list[str]) -> None:
    assert word_pieces(word, KNOWN, 6) == pieces


def test_no_token_is_longer_than_the_longest() -> None:
    assert word_pieces("laptop", KNOWN, 3) == ["lap"]


def test_random_words_are_cut_as_the_library_of_tokenizers_cuts_them() -> None:
    random = Random(3)

    def word(most: int) -> str:
        return "".join(random.choices("abc", k=random.randint(1, most)))

    for _ in range(300):
        known = {word(4) for _ in range(8)} | {f"##{word(4)}" for _ in range(8)}
        known |= {mark + letter for mark in ("", "##") for letter in "abc"}
        model = WordPiece(
            {token: at for at, token in enumerate([UNKNOWN, *sorted(known)])}, unk_token=UNKNOWN
        )
        given = word(20)
        assert word_pieces(given, known, 4) == Tokenizer(model).encode(given).tokens


def test_a_token_counts_the_letters_that_it_covers() -> None:
    assert [letters(token) for token in ("laptop", "##file", UNKNOWN)] == [6, 4, 1]
