"""Anchor text: the words with which other documents link to one, each a judgement of what it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..lexical.analyzer import fold
from ..model import DocId, ResolvedLink

# Per document: distinct anchor texts, repetitions of each, and characters of each, at most.
_MAX_TEXTS = 200
_MAX_REPEATS = 3
_MAX_CHARS = 200


def anchor_texts(links: Iterable[ResolvedLink]) -> dict[DocId, str]:
    """Return each document's anchor texts from other documents, one per line, commonest first.

    A text counts as often as it is written, but three times at most, so that a menu on every page does not
    drown out what people wrote.
    """
    found: dict[DocId, Counter[str]] = {}
    for link in links:
        text = " ".join(fold(link.text).split())[:_MAX_CHARS]
        if link.target_id is not None and link.target_id != link.source_id and text:
            found.setdefault(link.target_id, Counter())[text] += 1
    return {document: _lines(counts) for document, counts in found.items()}


def _lines(counts: Counter[str]) -> str:
    commonest = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_MAX_TEXTS]
    return "\n".join(text for text, count in commonest for _ in range(min(count, _MAX_REPEATS)))
