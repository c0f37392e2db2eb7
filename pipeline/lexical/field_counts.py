"""Counts of each term in each field of a batch of texts, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    texts = len(analyzers)
    numbering: dict[int, _Numbering] = {}
    token_parts: list[npt.NDArray[np.int64]] = []
    cells: list[int] = []
    for field, column in enumerate(columns):
        for row, (value, analyzer) in enumerate(zip(column, analyzers, strict=True)):
            if value:
                table = numbering.setdefault(id(analyzer), _Numbering())
                tokens = analyzer.tokens(value)
                token_parts.append(np.fromiter(map(table.__getitem__, tokens), np.int64, len(tokens)))
                cells.append(row * len(columns) + field)
    by_id = {id(analyzer): analyzer for analyzer in analyzers}
    return _count(numbering, by_id, token_parts, cells, texts, len(columns), [id(a) for a in analyzers])


def _count(
    numbering: Mapping[int, _Numbering],
    analyzers: Mapping[int, Analyzer],
    token_parts: Sequence[Ints],
    cells: Sequence[int],
    texts: int,
    fields: int,
    owner: Sequence[int],
) -> FieldCounts:
    terms = _Numbering()
    base: dict[int, int] = {}
    expansions: list[list[int]] = []
    surfaces: list[str] = []
    languages: list[str] = []
    for key, table in numbering.items():
        base[key] = len(surfaces)
        surfaces.extend(table)
        languages.extend([analyzers[key].language] * len(table))
        expansions.extend([[terms[t] for t in analyzers[key].expand(token)] for token in table])
    sizes = np.array([len(found) for found in expansions], dtype=np.int64)
    flat = np.array([t for found in expansions for t in found], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tokens = concatenated(
        [part + base[owner[cell // fields]] for part, cell in zip(token_parts, cells, strict=True)]
    )
    cell = np.repeat(np.array(cells, dtype=np.int64), [len(part) for part in token_parts])
    lengths = np.bincount(cell, minlength=texts * fields).reshape(texts, fields)
    term = flat[ranges(starts[tokens], sizes[tokens])]
    key, count = np.unique(np.repeat(cell, sizes[tokens]) * max(1, len(terms)) + term, return_counts=True)
    cell_of, term_of = np.divmod(key, max(1, len(terms)))
    return FieldCounts(
        terms=tuple(terms),
        term=term_of.astype(np.int32),
        text=(cell_of // fields).astype(np.int32),
        field=(cell_of % fields).astype(np.int8),
        count=count.astype(np.int32),
        lengths=lengths.astype(np.int32),
        surface=tuple(surfaces),
        surface_language=tuple(languages),
        surface_offsets=starts.astype(np.int32),
        surface_terms=flat.astype(np.int32),
        surface_count=np.bincount(tokens, minlength=len(surfaces)).astype(np.int32),
    )


def concatenated(parts: Sequence[Ints]) -> Ints:
    """Concatenate the parts; the result is empty if there are none."""
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """Return the positions ``starts[i] … starts[i] + sizes[i] - 1`` of every ``i``, range after range."""
    if not len(sizes):
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(sizes)
    positions: Ints = np.arange(ends[-1], dtype=np.int64) + np.repeat(starts - (ends - sizes), sizes)
    return positions
