"""Counts of each term in each field of a batch of texts, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from .analyzer import Analyzer

Ints = npt.NDArray[np.int64]
Narrow = npt.NDArray[np.int32]  # columns that are kept for a whole corpus


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """How often each term occurs in each field of a batch of texts.

    ``term``, ``text``, ``field``, ``count`` are parallel columns sorted by (text, field, term): positions in
    ``terms``, rows of the batch, columns of ``lengths``, and occurrences. ``lengths`` has shape ``(texts,
    fields)``. Surface tokens are columns too: ``surface[i]`` occurs ``surface_count[i]`` times in texts of
    ``surface_language[i]`` and stands for ``surface_terms[surface_offsets[i]:surface_offsets[i + 1]]``.
    """

    terms: tuple[str, ...]
    term: Narrow
    text: Narrow
    field: npt.NDArray[np.int8]
    count: Narrow
    lengths: Narrow
    surface: tuple[str, ...]
    surface_language: tuple[str, ...]
    surface_offsets: Narrow
    surface_terms: Narrow
    surface_count: Narrow


class _Numbering(dict[str, int]):
    """Numbers strings in the order in which they first appear."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


def count_fields(columns: Sequence[Sequence[str]], analyzers: Sequence[Analyzer]) -> FieldCounts:
    """Count a batch: ``columns[f][p]`` is field ``f`` of text ``p``, read by ``analyzers[p]``.

    Token numbers are shared by texts with the same analyzer object, so one language costs one table.
    """
    tables: dict[Analyzer, _Numbering] = {}
    parts: list[Ints] = []
    cells: list[int] = []
    for field, column in enumerate(columns):
        for row, (value, analyzer) in enumerate(zip(column, analyzers, strict=True)):
            if value:
                number, tokens = tables.setdefault(analyzer, _Numbering()), analyzer.tokens(value)
                parts.append(np.fromiter(map(number.__getitem__, tokens), np.int64, len(tokens)))
                cells.append(row * len(columns) + field)
    surface = _surface(tables)
    firsts = [surface.first[analyzers[cell // len(columns)]] for cell in cells]
    numbered = (part + first for part, first in zip(parts, firsts, strict=True))
    token = np.concatenate([np.zeros(0, np.int64), *numbered])
    cell = np.repeat(np.array(cells, dtype=np.int64), [len(part) for part in parts])
    return _counted(surface, token, cell, len(analyzers), len(columns))


@dataclass(frozen=True, slots=True)
class _Surface:
    """The surface tokens of a batch, one analyzer's after another's, and the terms that they stand for."""

    terms: tuple[str, ...]
    tokens: tuple[str, ...]
    languages: tuple[str, ...]
    first: Mapping[Analyzer, int]
    offsets: Ints
    expansion: Ints


def _surface(tables: Mapping[Analyzer, Mapping[str, int]]) -> _Surface:
    number = _Numbering()
    read = [(analyzer, token) for analyzer, table in tables.items() for token in table]
    expanded = [[number[term] for term in analyzer.expand(token)] for analyzer, token in read]
    return _Surface(
        terms=tuple(number),
        tokens=tuple(token for _, token in read),
        languages=tuple(analyzer.language for analyzer, _ in read),
        first=dict(zip(tables, accumulate(map(len, tables.values()), initial=0), strict=False)),
        offsets=np.cumsum([0, *map(len, expanded)], dtype=np.int64),
        expansion=np.array([term for terms in expanded for term in terms], dtype=np.int64),
    )


def _counted(surface: _Surface, token: Ints, cell: Ints, texts: int, fields: int) -> FieldCounts:
    """Count the terms of each cell, which is a field of a text, given each occurrence of a token."""
    sizes, most = np.diff(surface.offsets)[token], max(1, len(surface.terms))
    term = surface.expansion[ranges(surface.offsets[token], sizes)]
    key, count = np.unique(np.repeat(cell, sizes) * most + term, return_counts=True)
    cell_of, term_of = np.divmod(key, most)
    lengths = np.bincount(cell, minlength=texts * fields).reshape(texts, fields)
    return FieldCounts(
        terms=surface.terms,
        term=term_of.astype(np.int32),
        text=(cell_of // fields).astype(np.int32),
        field=(cell_of % fields).astype(np.int8),
        count=count.astype(np.int32),
        lengths=lengths.astype(np.int32),
        surface=surface.tokens,
        surface_language=surface.languages,
        surface_offsets=surface.offsets.astype(np.int32),
        surface_terms=surface.expansion.astype(np.int32),
        surface_count=np.bincount(token, minlength=len(surface.tokens)).astype(np.int32),
    )


def without_headings(headings: Narrow, sizes: Ints) -> int:
    """Return the number of passages in documents without headings.

    ``headings`` has the length of that field in each passage, ``sizes`` the number of passages of each
    document, in the same order.
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    words = np.bincount(owner, headings, minlength=len(sizes))
    return int(sizes[words == 0].sum())


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """Return the positions ``starts[i] … starts[i] + sizes[i] - 1`` of every ``i``, range after range."""
    if not len(sizes):
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(sizes)
    positions: Ints = np.arange(ends[-1], dtype=np.int64) + np.repeat(starts - (ends - sizes), sizes)
    return positions
