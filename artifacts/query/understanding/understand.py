"""What a person typed becomes one query, or several, in the order of the settings' list ``understand``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ....pipeline.lexical.analyzer import code_analyzer, query_terms, terms
from ....pipeline.settings.search import Search, Understanding
from ..index.corpus import Corpus
from ..model import Query, Vector
from .classify import classify
from .concepts import with_concepts
from .operators import Typed, split_questions
from .spelling import with_spelling
from .synonyms import Glossary, with_acronyms, with_synonyms

Reformulate = Callable[[str], str]
# What is longer is no question, and would cost more than one.
_MAX_TERMS = 512


@dataclass(frozen=True, slots=True)
class Reader:
    """What understanding a query takes: the corpus's own words, a glossary, an encoder, and someone to rephrase it.

    ``reformulate`` turns a question into keywords for the keyword list; the vector stays that of the question.
    """

    corpus: Corpus
    settings: Search
    glossary: Glossary
    encode: Callable[[str], Vector]
    reformulate: Reformulate | None = None


def understand(typed: Typed, reader: Reader) -> tuple[Query, ...]:
    """The questions in what was typed, each with its terms and what the steps of the settings add."""
    texts = split_questions(typed.plain) if "split" in reader.settings.understand else (typed.plain,)
    queries = [_query(text, typed, reader) for text in texts]
    for name in reader.settings.understand:
        if name != "split":
            queries = [_STEPS[name](query, reader) for query in queries]
    if typed.operators.phrases and "classify" in reader.settings.understand:
        # Its quotes are operators by now, and no longer in the text.
        queries = [replace(query, kind="factual") for query in queries]
    return tuple(queries)


def _query(text: str, typed: Typed, reader: Reader) -> Query:
    query = Query(text, prefixes=typed.operators.prefixes)
    words = text
    if reader.reformulate is not None:
        words = reader.reformulate(text)
        query = query.noting(f"reformulated for keywords: {words}")
    return replace(
        query,
        terms=tuple(query_terms(words, reader.corpus.languages)[:_MAX_TERMS]),
        code_terms=tuple(dict.fromkeys(terms(code_analyzer(), words)))[:_MAX_TERMS],
    )


def _classify(query: Query, _: Reader) -> Query:
    return replace(query, kind=classify(query.text))


def _spelling(query: Query, reader: Reader) -> Query:
    corpus = reader.corpus
    return with_spelling(
        query,
        corpus.prose.__contains__,
        lambda: corpus.written,
        corpus.languages,
        reader.settings.spelling,
    )


def _acronyms(query: Query, reader: Reader) -> Query:
    return with_acronyms(query, reader.corpus.acronyms, reader.corpus.languages, reader.settings.acronyms)


def _synonyms(query: Query, reader: Reader) -> Query:
    return with_synonyms(query, reader.glossary, reader.corpus.languages, reader.settings.synonyms)


def _concepts(query: Query, reader: Reader) -> Query:
    corpus = reader.corpus
    return with_concepts(
        query, reader.encode(query.text), corpus.vocabulary, corpus.languages, reader.settings.concepts
    )


_STEPS: Mapping[Understanding, Callable[[Query, Reader], Query]] = {
    "classify": _classify,
    "spelling": _spelling,
    "acronyms": _acronyms,
    "synonyms": _synonyms,
    "concepts": _concepts,
}
