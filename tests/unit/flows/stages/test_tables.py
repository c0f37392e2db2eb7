"""Surfaces and the fields of postings: columns that say how words were written and where they stand."""

from __future__ import annotations

import pyarrow as pa

from noctule.flows.stages.lexical import posting_rows, surface_rows
from noctule.pipeline.lexical.analyzer import prose_analyzer
from noctule.pipeline.lexical.bm25f import build_index
from noctule.pipeline.lexical.field_counts import FieldCounts, count_fields
from noctule.pipeline.settings.settings import LexicalField

FIELDS = (LexicalField(weight=2.0), LexicalField(weight=1.0), LexicalField(weight=0.0))


def _counts(*texts: tuple[str, str, str, str]) -> FieldCounts:
    """Texts of three fields, each with its language."""
    columns = [[text[field] for text in texts] for field in range(3)]
    return count_fields(columns, [prose_analyzer(text[3]) for text in texts])


def test_a_posting_says_in_which_fields_that_count_the_term_stands() -> None:
    counts = _counts(("owl", "owls hunt", "dusk", "en"), ("", "owl", "owl", "en"))
    rows = posting_rows(build_index([counts], FIELDS, 1.2)).to_pylist()
    assert {row["term"]: (row["passage"], row["fields"]) for row in rows} == {
        "owl": ([0, 1], [0b11, 0b10]),
        "hunt": ([0], [0b10]),
    }


def test_a_word_is_counted_over_all_batches_with_the_terms_it_stands_for() -> None:
    first = _counts(("owl", "owls node.js", "", "en"))
    second = _counts(("owls", "__", "", "en"))
    rows = {row["surface"]: row for row in surface_rows([first, second]).to_pylist()}
    assert list(rows) == sorted(rows)
    assert (rows["owls"]["terms"], rows["owls"]["count"]) == (["owl"], 2)
    assert rows["node.js"]["terms"] == ["node.js", "node", "js"]
    assert rows["__"]["terms"] == []
    assert {row["language"] for row in rows.values()} == {"en"}


def test_words_of_other_languages_are_there_with_no_count_as_a_query_is_read_in_each() -> None:
    counts = _counts(("Eulen jagen", "", "", "de"), ("owls", "", "", "en"), ("xyzzys", "", "", "und"))
    rows = {(row["surface"], row["language"]): row for row in surface_rows([counts]).to_pylist()}
    assert list(rows) == [
        ("eulen", "de"), ("jagen", "de"), ("owls", "de"), ("owls", "en"), ("xyzzys", "de"), ("xyzzys", "und"),
    ]  # fmt: skip
    assert (rows["owls", "de"]["terms"], rows["owls", "de"]["count"]) == (["owl"], 0)
    assert (rows["eulen", "de"]["terms"], rows["eulen", "de"]["count"]) == (["eul"], 1)


def test_how_texts_were_batched_changes_nothing() -> None:
    texts = [(f"word{n % 7} owls", "Eulen", "", "de" if n % 3 else "en") for n in range(40)]
    whole = surface_rows([_counts(*texts)])
    parts = surface_rows([_counts(*texts[at : at + 6]) for at in range(0, 40, 6)])
    assert parts.equals(whole)
    assert parts["surface"].num_chunks == 1
    assert isinstance(parts, pa.Table)


def test_no_text_gives_no_word() -> None:
    assert surface_rows([]).num_rows == 0
    assert surface_rows([_counts()]).num_rows == 0
