"""The invariants between the tables of a snapshot, checked in columns: seconds for 100,000 passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import lexical, records, vector_rows
from .columns import Problem, Tables, vector_blocks

__all__ = ["Problem", "problems", "vector_blocks"]

RULES: tuple[Callable[[Tables], Iterator[Problem]], ...] = (
    records.documents,
    records.sections,
    records.owned("passages"),
    records.owned("code_blocks"),
    records.passages,
    vector_rows.vectors,
    vector_rows.centroids,
    records.links,
    records.assets,
    lexical.lexical("terms", "postings"),
    lexical.lexical("code_terms", "code_postings"),
    lexical.surfaces,
    lexical.acronyms,
    vector_rows.vocabulary,
    vector_rows.term_vectors,
    vector_rows.token_vectors,
)


RULES_OF_SET: tuple[Callable[[Tables], Iterator[Problem]], ...] = (
    lexical.surfaces,
    vector_rows.vocabulary,
    vector_rows.term_vectors,
    vector_rows.token_vectors,
)


def problems_of_set(tables: Tables) -> Iterator[Problem]:
    """Yield every broken rule of the tables that a set of shards has for itself."""
    for rule in RULES_OF_SET:
        yield from rule(tables)


def problems(tables: Tables) -> Iterator[Problem]:
    """Yield every broken rule, with one row of each; nothing for a sound snapshot."""
    for rule in RULES:
        yield from rule(tables)
