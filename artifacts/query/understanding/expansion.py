"""Expansion of a query by the collection's own words: near in spelling, or near in meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ....pipeline.lexical.analyzer import fold, has_cjk, identifier_parts, identifiers, query_terms
from ....pipeline.lexical.stop_words import stop_words, without_stop_words
from ....pipeline.settings.search import Concepts, Spelling
from ..index.vocabulary import ConceptVocabulary, SurfaceForms, auto_edits
from ..model import Expansion, Query, Vector

_DECIMALS = 4
_PUNCTUATION = ".,;:!?()[]{}'\"’`*"
_CODE = re.compile(r"`|_|\w\(")
# Each costs some milliseconds; what is longer was not typed by a person.
_MAX_WORDS = 64
# Of a name that is not known: its longest known beginning is nearly the name, its parts are common words.
_LEAST_BEGINNING, _BEGINNING_WEIGHT, _PART_WEIGHT = 5, 0.8, 0.5
# Shorter halves are chance, and so are words that hardly any passage holds.
_LEAST_HALF, _MOST_HALF, _LEAST_PASSAGES, _JOINED_WEIGHT = 3, 40, 3, 0.8


def with_spelling(
    query: Query,
    known: Callable[[str], bool],
    written: Callable[[], SurfaceForms],
    languages: Sequence[str],
    settings: Spelling,
    is_word: Callable[[str], bool] = lambda _: False,
) -> Query:
    """Suggest a query in which every unknown word is the one of the collection that is written almost so.

    The suggestion is only followed where no other word is known: then the corrected text is what is encoded,
    and the query is expanded by the corrected words. ``known`` tells whether the index holds a term;
    ``written`` is called only if one is unknown; what ``is_word`` says is right. Code, numbers and short
    words are never corrected. Of the nearest words the commonest is taken, then the first by name.
    """
    prose = (each for each in query.text.split()[:_MAX_WORDS] if not _CODE.search(each))
    words = list(dict.fromkeys(fold(each).strip(_PUNCTUATION) for each in prose))
    held = {word for word in words if any(map(known, query_terms(word, languages)))}
    unknown = [word for word in words if word not in held and not is_word(word)]
    right = _corrections(unknown, written, settings)
    if not right:
        return query
    text = _respelt(query.text, right)
    # What is misspelt is not unknown, and takes no weight from the other words.
    left = tuple(word for word in query.unknown if word not in right)
    if query.expansions or held - frozenset[str]().union(*map(stop_words, languages)):
        return replace(query, suggestion=text, unknown=left)
    found = (_expansion(word, best, languages, settings.weight) for word, best in right.items())
    return replace(query, text=text, unknown=left, expansions=tuple(found))


def _expansion(word: str, best: str, languages: Sequence[str], weight: float) -> Expansion:
    return Expansion(best, tuple(query_terms(best, languages)), weight, f"spelling of {word!r}")


def _corrections(
    words: Sequence[str], written: Callable[[], SurfaceForms], settings: Spelling
) -> dict[str, str]:
    """Return the word of the collection for each that is written almost so; of the nearest the commonest."""
    right = {}
    for word in words:
        if len(word) < settings.min_chars:
            continue
        near = written().words.near(word, min(settings.max_edits, auto_edits(word)), limit=None)
        if near:
            counts = written().counts
            right[word] = min(near, key=lambda each: (each.edits, -counts[each.word], each.word)).word
    return right


def _respelt(text: str, right: Mapping[str, str]) -> str:
    words = (right.get(fold(each).strip(_PUNCTUATION), each) for each in text.split())
    return " ".join(words)


def with_identifiers(query: Query, known: Callable[[str], bool], languages: Sequence[str]) -> Query:
    """Expand the query for every name in code that the index does not hold.

    ``MutationObserverInit`` is also looked for by the longest known beginning, ``mutationobserver``, and by
    its parts, as prose writes them: ``mutation observer init``.
    """
    found = []
    for name in dict.fromkeys(identifiers(query.text)[:_MAX_WORDS]):
        whole = fold(name)
        if known(whole) or any(map(known, query_terms(name, languages)[:1])):
            continue
        least = max(_LEAST_BEGINNING, len(whole) // 2)
        beginning = next(
            (whole[:end] for end in range(len(whole) - 1, least - 1, -1) if known(whole[:end])), ""
        )
        if beginning:
            found.append(Expansion(beginning, (beginning,), _BEGINNING_WEIGHT, f"beginning of {name!r}"))
        parts = " ".join(identifier_parts(name))
        terms = tuple(term for term in query_terms(parts, languages) if term not in query.terms)
        if any(map(known, terms)):
            found.append(Expansion(parts, terms, _PART_WEIGHT, f"parts of {name!r}"))
        if beginning or any(map(known, terms)):
            query = replace(query, unknown=tuple(word for word in query.unknown if word != whole))
    return replace(query, expansions=(*query.expansions, *found))


def with_compounds(query: Query, count: Callable[[str], int], languages: Sequence[str]) -> Query:
    """Expand the query by what the collection writes otherwise: as one word, or as two.

    ``data set`` is also looked for as ``dataset`` if a passage holds that, and ``checkbox``, which none does,
    as ``check box``. ``count`` tells how many passages hold a term.
    """
    content = without_stop_words(query.text, languages).split()[:_MAX_WORDS]
    words = [fold(each).strip(_PUNCTUATION) for each in content]
    found = [
        Expansion(first + second, terms, _JOINED_WEIGHT, f"{first!r} and {second!r} as one word")
        for first, second in dict.fromkeys(pairwise(words))
        if _is_half(first) and _is_half(second)
        if any(map(count, terms := _new_terms(first + second, query, languages)))
    ]
    halved = [(word, halves) for word in query.unknown if (halves := _halves(word, count, languages))]
    found += [
        Expansion(halves, _new_terms(halves, query, languages), _PART_WEIGHT, f"halves of {word!r}")
        for word, halves in halved
    ]
    left = tuple(word for word in query.unknown if word not in dict(halved))
    return replace(query, unknown=left, expansions=(*query.expansions, *found))


def _is_half(word: str) -> bool:
    return _LEAST_HALF <= len(word) <= _MOST_HALF and word.isalpha() and not has_cjk(word)


def _new_terms(text: str, query: Query, languages: Sequence[str]) -> tuple[str, ...]:
    return tuple(term for term in query_terms(text, languages) if term not in query.terms)


def _halves(word: str, count: Callable[[str], int], languages: Sequence[str]) -> str:
    """Return the two words that an unknown one is made of, of which the rarer is commonest; or nothing."""

    def passages(half: str) -> int:
        return max(map(count, query_terms(half, languages)), default=0) if _is_half(half) else 0

    if len(word) > 2 * _MOST_HALF:  # each place to cut it at costs as much as the word is long
        return ""
    splits = [(word[:end], word[end:]) for end in range(_LEAST_HALF, len(word) - _LEAST_HALF + 1)]
    ranked = [(min(map(passages, halves)), -at) for at, halves in enumerate(splits)]
    fewest, place = max(ranked, default=(0, 0))
    return " ".join(splits[-place]) if fewest >= _LEAST_PASSAGES else ""


@dataclass(frozen=True, slots=True)
class Concept:
    """A term of the vocabulary, and its cosine with the query."""

    term: str
    similarity: float


def near_concepts(
    vector: Vector, query: Query, vocabulary: ConceptVocabulary, languages: Sequence[str], settings: Concepts
) -> list[Concept]:
    """Find the nearest terms of at least the least similarity, not in the query: by ``(-similarity, term)``.

    A text without a word that the encoder knows is near to nothing.
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
    query: Query, vector: Vector, vocabulary: ConceptVocabulary, languages: Sequence[str], settings: Concepts
) -> Query:
    """Expand the query by the concepts near it: terms for the keyword list, vectors for the semantic one."""
    expansions, nearby = [*query.expansions], [*query.nearby]
    for each in near_concepts(vector, query, vocabulary, languages, settings):
        terms, because = tuple(query_terms(each.term, languages)), f"concept, cosine {each.similarity:.2f}"
        expansions.append(Expansion(each.term, terms, settings.keyword_weight, because))
        nearby.append((each.term, settings.vector_weight * each.similarity))
    return replace(query, expansions=tuple(expansions), nearby=tuple(nearby))
