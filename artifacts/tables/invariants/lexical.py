"""The invariants of terms, postings, surface forms and acronyms."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .columns import Mask, Problem, Tables, ints, mask, not_rising, where


def lexical(terms_table: str, postings_table: str) -> Callable[[Tables], Iterator[Problem]]:
    """Check that terms and postings name the same terms in the same order, and that the lists are sound."""

    def rule(tables: Tables) -> Iterator[Problem]:
        terms, postings = tables[terms_table], tables[postings_table]
        yield from where(terms_table, not_rising(terms["term"]), "term is not unique and sorted")
        if not terms["term"].combine_chunks().equals(postings["term"].combine_chunks()):
            yield Problem(postings_table, f"its terms are not those of {terms_table}, in order")
            return
        passage, score, fields = (postings[n].combine_chunks() for n in ("passage", "score", "fields"))
        if passage.null_count or score.null_count or fields.null_count:
            yield Problem(postings_table, "a list is null")
            return
        counts = np.asarray(pc.list_value_length(passage).to_numpy(), dtype=np.int64)
        wrong = counts != pc.list_value_length(score).to_numpy()
        wrong |= counts != pc.list_value_length(fields).to_numpy()
        yield from where(postings_table, wrong, "passage, score and fields differ in length")
        if pc.min(fields.flatten()).as_py() == 0:
            yield Problem(postings_table, "a posting is in no field")
        yield from where(terms_table, ints(terms, "passages") != counts, "passages is not the list's length")
        yield from _postings(postings_table, passage, score, counts, tables["passages"].num_rows)
        if not wrong.any():
            yield from where(terms_table, _not_highest(terms, score, counts), "max_score is not the highest")

    return rule


def _postings(
    table: str, passage: pa.ListArray, score: pa.ListArray, counts: npt.NDArray[np.int64], passages: int
) -> Iterator[Problem]:
    rows, scores = passage.flatten(), score.flatten().to_numpy(zero_copy_only=False)
    if rows.null_count or not np.isfinite(scores).all():
        yield Problem(table, "a passage is null, or a score is not a finite number")
        return
    numbers = rows.to_numpy()
    starts = np.zeros(len(numbers), dtype=np.bool_)
    begins = (np.cumsum(counts) - counts)[counts > 0]
    starts[begins] = True
    wrong = (numbers < 0) | (numbers >= passages)
    wrong[1:] |= (np.diff(numbers) <= 0) & ~starts[1:]
    if wrong.any():
        row = int(np.searchsorted(np.cumsum(counts), int(np.argmax(wrong)), side="right"))
        yield Problem(table, f"row {row}: passages are not rising within 0..{passages - 1}")


def _not_highest(terms: pa.Table, score: pa.ListArray, counts: npt.NDArray[np.int64]) -> Mask:
    filled = counts > 0
    highest = np.zeros(len(counts), dtype=np.float32)
    if filled.any():
        begins = (np.cumsum(counts) - counts)[filled]
        highest[filled] = np.maximum.reduceat(score.flatten().to_numpy(zero_copy_only=False), begins)
    return np.asarray(terms["max_score"].to_numpy() != highest, dtype=np.bool_)


def surfaces(tables: Tables) -> Iterator[Problem]:
    """Check that surface forms are unique and sorted, each with its terms."""
    surfaces = tables["surfaces"]
    # NUL sorts before every other character, so joined keys are in the order of the pairs.
    keys = pc.binary_join_element_wise(surfaces["surface"], surfaces["language"], "\0")
    yield from where("surfaces", not_rising(keys), "not unique and sorted by surface and language")
    yield from where("surfaces", mask(pc.is_null(surfaces["terms"])), "no list of terms")
    yield from where("surfaces", ints(surfaces, "count") < 0, "count is not a number from 0")


def acronyms(tables: Tables) -> Iterator[Problem]:
    """Check that acronyms are sorted, named and counted."""
    acronyms, documents = tables["acronyms"], ints(tables["acronyms"], "documents")
    named = pc.and_(pc.is_valid(acronyms["acronym"]), pc.is_valid(acronyms["expansion"]))
    yield from where("acronyms", ~mask(named), "no acronym or no expansion")
    wrong = (documents < 1) | (documents > tables["documents"].num_rows)
    yield from where("acronyms", wrong, "documents is not from 1 to their number")
    order = [("acronym", "ascending"), ("documents", "descending"), ("expansion", "ascending")]
    if not acronyms.sort_by(order).equals(acronyms.combine_chunks()):
        yield Problem("acronyms", "not sorted by acronym, documents and expansion")
