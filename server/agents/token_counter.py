"""Tokens, counted so that a budget holds whatever the text is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ...artifacts.disk.layout import TOKENIZER
from ...artifacts.store.query_models import file_name, verify_file
from ...artifacts.store.snapshot import Snapshot
from ...pipeline.errors import DamagedModel

_MOST_BYTES = 4  # of a character in UTF-8
_INDENTATION = re.compile(r"[^\S\n]{2,}|\n")
_WORD_END = re.compile(r"\s+")
_CUT = " …"


class TokenCounter:
    """Counts tokens as the snapshot's model does, and never fewer where that model has no token.

    A word that the tokenizer does not know, and what it drops (combining marks, control characters), counts
    a token for each byte; a line end and an indentation count one. Without a tokenizer every byte counts.
    """

    def __init__(self, tokenizer: Any = None) -> None:
        self._tokenizer = tokenizer
        unknown = None if tokenizer is None else getattr(tokenizer.model, "unk_token", None)
        self._unknown = None if unknown is None else tokenizer.token_to_id(unknown)

    def count(self, text: str) -> int:
        """Return how many tokens a text has; of lines, the sum over the lines and the line ends between."""
        return self.counts([text])[0]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has."""
        if self._tokenizer is None:
            return [len(text.encode(errors="replace")) for text in texts]
        sound = [text.encode(errors="replace").decode() for text in texts]
        encoded = self._tokenizer.encode_batch(sound, add_special_tokens=False)
        return [self._tokens(text, each) for text, each in zip(sound, encoded, strict=True)]

    def _tokens(self, text: str, encoded: Any) -> int:
        spans, covered, total = encoded.offsets, 0, 0
        for number, (start, end) in zip(encoded.ids, spans, strict=True):
            covered += end - start
            total += len(text[start:end].encode()) if number == self._unknown else 1
        dropped = len("".join(text.split())) - covered
        return total + max(0, dropped) * _MOST_BYTES + len(_INDENTATION.findall(text))

    def cut(self, text: str, most: int) -> str:
        """Return as many whole words from the start of a text as fit into so many tokens."""
        if self.count(text) <= most:
            return text
        ends = [0, *(found.start() for found in _WORD_END.finditer(text)), len(text)]
        low, high = 0, len(ends) - 1
        while low < high:
            middle = (low + high + 1) // 2
            fits = self.count(text[: ends[middle]] + _CUT) <= most
            low, high = (middle, high) if fits else (low, middle - 1)
        if not ends[low] and (prefix := self._letters(text, most)):
            return prefix + _CUT
        return text[: ends[low]].rstrip() + _CUT if self.count(_CUT) <= most else ""

    def _letters(self, text: str, most: int) -> str:
        """Return the beginning of a first word that is too long by itself."""
        room = max(0, most - self.count(_CUT))
        size = room // _MOST_BYTES
        return text[:size]

    def cut_lines(self, text: str, most: int) -> str:
        """Return whole lines from the start of a text, and part of the next, within so many tokens."""
        lines = text.split("\n")
        costs = self.counts(lines)
        sums = list(accumulate(cost + 1 for cost in costs))  # with the line end that follows
        if sums[-1] - 1 <= most:
            return text
        whole = bisect_right(sums, most)
        left = most - (sums[whole - 1] if whole else 0)
        return "\n".join([*lines[:whole], *filter(None, [self.cut(lines[whole], left)])])


def counter_of(snapshot: Snapshot) -> TokenCounter:
    """Return the counter of a snapshot: by the tokenizer beside it, by bytes if none is sound."""
    record = snapshot.manifest.query_model
    if record is None or TOKENIZER not in record.files:
        return TokenCounter()
    from tokenizers import Tokenizer

    entry = record.files[TOKENIZER]
    try:
        path = verify_file(snapshot.store / file_name(TOKENIZER, entry), entry)
    except DamagedModel:
        return TokenCounter()
    tokenizer = Tokenizer.from_buffer(path.read_bytes())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return TokenCounter(tokenizer)
