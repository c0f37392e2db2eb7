"""Query understanding: what a person typed becomes queries, by the steps that ``understand`` names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ....pipeline.lexical.analyzer import UNSTEMMED, code_analyzer, prose_analyzer, query_terms, terms
from ....pipeline.lexical.stop_words import without_stop_words
from ....pipeline.settings.search import Understanding
from ..context import SearchResources
from ..index.corpus import CorpusReader
from ..model import Query
from .classify import classify
from .expansion import with_compounds, with_concepts, with_identifiers, with_spelling
from .operators import ParsedQuery, split_questions
from .synonyms import with_acronyms, with_synonyms

# What is longer is no question, and would cost more than one.
_MAX_TERMS = 512


def understand(parsed: ParsedQuery, resources: SearchResources) -> tuple[Query, ...]:
    """Return the questions in what was typed, each with its terms and what the steps of the settings add."""
    texts = split_questions(parsed.plain) if "split" in resources.settings.understand else (parsed.plain,)
    queries = [_query(text, parsed, resources) for text in texts]
    for name in resources.settings.understand:
        if name != "split":
            queries = [_STEPS[name](query, resources) for query in queries]
    if parsed.operators.phrases and "classify" in resources.settings.understand:
        # Its quotes are operators by now, and no longer in the text.
        queries = [replace(query, kind="factual") for query in queries]
    return tuple(queries)


def _query(text: str, parsed: ParsedQuery, resources: SearchResources) -> Query:
    query = Query(text, prefixes=parsed.operators.prefixes)
    words = text
    if resources.reformulate is not None:
        words = resources.reformulate(text)
        query = query.with_note(f"reformulated for keywords: {words}")
    languages = resources.corpus.languages
    content = without_stop_words(words, languages)
    return replace(
        query,
        terms=tuple(query_terms(content, languages)[:_MAX_TERMS]),
        unknown=tuple(_unknown(content, resources.corpus))[:_MAX_TERMS],
        code_terms=tuple(dict.fromkeys(terms(code_analyzer(), words)))[:_MAX_TERMS],
    )


def _unknown(text: str, corpus: CorpusReader) -> Iterator[str]:
    """Yield each word of a text that stands for terms of which no passage holds any."""
    analyzers = [prose_analyzer(language) for language in corpus.languages]
    for word in dict.fromkeys(prose_analyzer(UNSTEMMED).tokens(text)):
        found = [term for analyzer in analyzers for term in analyzer.expand(word)]
        if found and not any(term in corpus.prose for term in found):
            yield word


def _classify(query: Query, _: SearchResources) -> Query:
    return replace(query, kind=classify(query.text))


def _identifiers(query: Query, resources: SearchResources) -> Query:
    corpus = resources.corpus
    return with_identifiers(query, corpus.prose.__contains__, corpus.languages)


def _compounds(query: Query, resources: SearchResources) -> Query:
    return with_compounds(query, resources.corpus.prose.count, resources.corpus.languages)


def _spelling(query: Query, resources: SearchResources) -> Query:
    corpus, settings = resources.corpus, resources.settings.spelling
    known, languages = corpus.prose.__contains__, corpus.languages
    is_word = lambda word: word in corpus.model_words  # noqa: E731  read for an unknown word alone
    return with_spelling(query, known, lambda: corpus.written, languages, settings, is_word)


def _acronyms(query: Query, resources: SearchResources) -> Query:
    corpus = resources.corpus
    return with_acronyms(query, corpus.acronyms, corpus.languages, resources.settings.acronyms)


def _synonyms(query: Query, resources: SearchResources) -> Query:
    return with_synonyms(query, resources.glossary, resources.corpus.languages, resources.settings.synonyms)


def _concepts(query: Query, resources: SearchResources) -> Query:
    corpus, vector = resources.corpus, resources.encode(query.text)
    return with_concepts(query, vector, corpus.vocabulary, corpus.languages, resources.settings.concepts)


_STEPS: Mapping[Understanding, Callable[[Query, SearchResources], Query]] = {
    "classify": _classify,
    "identifiers": _identifiers,
    "compounds": _compounds,
    "spelling": _spelling,
    "acronyms": _acronyms,
    "synonyms": _synonyms,
    "concepts": _concepts,
}
