"""Words of the concept vocabulary whose meaning is near that of the whole query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ....pipeline.lexical.analyzer import query_terms
from ....pipeline.settings.search import Concepts
from ..model import Expansion, Query, Vector

_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The concept vocabulary: ``vectors[i]`` is the unit vector of ``terms[i]``."""

    terms: Sequence[str]
    vectors: npt.NDArray[np.float32]

    def vector_of(self, text: str) -> Vector | None:
        """The vector of a term, or ``None`` if the vocabulary has no such term."""
        at = int(np.searchsorted(np.asarray(self.terms, dtype=object), text))
        return self.vectors[at] if at < len(self.terms) and self.terms[at] == text else None


@dataclass(frozen=True, slots=True)
class Concept:
    """A term of the vocabulary, and its cosine with the query."""

    term: str
    similarity: float


def near_concepts(
    vector: Vector, query: Query, vocabulary: Vocabulary, languages: Sequence[str], settings: Concepts
) -> list[Concept]:
    """The terms nearest to the query that are not in it: by ``(-similarity, term)``, not below the least.

    None for a text without a word that the encoder knows, which is near to nothing.
    """
    if not len(vocabulary.terms) or not vector.any():
        return []
    similarity = (vocabulary.vectors @ vector).astype(np.float64).round(_DECIMALS)
    order = np.lexsort((np.arange(len(similarity)), -similarity))[: settings.terms + len(query.terms) + 16]
    known = set(query.terms)
    found = [
        Concept(vocabulary.terms[at], float(similarity[at]))
        for at in order.tolist()
        if similarity[at] >= settings.min_similarity
        and known.isdisjoint(query_terms(vocabulary.terms[at], languages))
    ]
    return found[: settings.terms]


def with_concepts(
    query: Query, vector: Vector, vocabulary: Vocabulary, languages: Sequence[str], settings: Concepts
) -> Query:
    """The query with the concepts near it: as terms for the keyword list, as vectors for the semantic one."""
    near = near_concepts(vector, query, vocabulary, languages, settings)
    added = tuple(
        Expansion(
            each.term,
            tuple(query_terms(each.term, languages)),
            settings.keyword_weight,
            f"concept, cosine {each.similarity:.2f}",
        )
        for each in near
    )
    nearby = tuple((each.term, settings.vector_weight * each.similarity) for each in near)
    return replace(query, expansions=(*query.expansions, *added), nearby=(*query.nearby, *nearby))
