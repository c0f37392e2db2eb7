"""WordPiece: a word cut into tokens of an embedding model, each time the longest that fits.

M. Schuster, K. Nakajima, "Japanese and Korean voice search", ICASSP 2012. A token that continues a word is
written with ``##`` in front.
"""

from __future__ import annotations

import re
from collections.abc import Container

from .analyzer import without_accents

CONTINUATION, UNKNOWN = "##", "[UNK]"
# What a word of no document counts, of a term that would be as rare: decision 39 has the figures.
UNSEEN_SHARE = 0.85
_PART = re.compile(r"[^\W_]+")


def word_pieces(word: str, tokens: Container[str], longest: int) -> list[str]:
    """Return the tokens of a folded word, or the unknown token if there are none for any part of it.

    A letter that no token begins with is left out. No token has more than ``longest`` letters.
    """
    found: list[str] = []
    for part in _PART.findall(without_accents(word)):
        at = 0
        while at < len(part):
            piece = _longest(part[at : at + longest], CONTINUATION if at else "", tokens)
            found += [piece] if piece else []
            at += letters(piece) if piece else 1
    return found or [UNKNOWN]


def _longest(text: str, mark: str, tokens: Container[str]) -> str:
    """Return the longest token that the text begins with, empty if there is none."""
    begun = (mark + text[:end] for end in range(len(text), 0, -1))
    return next((token for token in begun if token in tokens), "")


def letters(token: str) -> int:
    """Return how many letters of a word a token covers: what it counts among the word's tokens."""
    return 1 if token == UNKNOWN else len(token.removeprefix(CONTINUATION))
