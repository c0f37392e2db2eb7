"""The analyzer: turns text into terms in the same way for the index and for queries.

It works in two steps, so that a batch can count tokens before they are analyzed: ``tokens`` cuts a text into
surface tokens, ``expand`` returns the terms that a token stands for. Prose is case-folded, stemmed by
language and then stripped of diacritics; ``c++``, ``c#`` and ``node.js`` stay whole; a dotted or underscored
name is kept and also split; runs of CJK characters become bigrams. Code keeps each identifier whole,
lower-cased, and adds its camelCase, snake_case and digit parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Protocol

import Stemmer

VERSION = "2"
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
# The language code that stands for all languages without a stemmer.
UNSTEMMED = "und"
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0002fa1f"
_CJK_RUN = re.compile(f"[{_CJK}]+")
# Marks that may be omitted in writing: accents, Hebrew points, Arabic vowels.
_LOOSE_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06ea-\u06ed"
)
_LOOSE_MARK = re.compile(f"[{_LOOSE_MARKS}]")
# Marks that are part of the word (vowel signs of India and South-East Asia), which \w does not match.
_FIRM_MARKS = (
    "\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd"
    "\u102b-\u103e\u17b4-\u17d3"
)
_W = rf"[\w{_LOOSE_MARKS}{_FIRM_MARKS}]"
# A letter with ++ or #; else a word, dotted and apostrophised parts included.
_TOKEN = re.compile(rf"[a-z](?:\+\+|#)(?!\w)|{_W}+(?:[.'’]{_W}+)*")
_TOKEN_AS_WRITTEN = re.compile(_TOKEN.pattern, re.IGNORECASE)
_PARTS = re.compile(rf"(?:(?!_){_W})+(?:['’](?:(?!_){_W})+)*")
_IDENTIFIER = re.compile(r"[^\W\d][\w$]*|\d+(?:\.\d+)*")
_IDENTIFIER_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_NAME = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w_\w")
_MAX_TOKEN_CHARS = 64


class Analyzer(Protocol):
    """Turns text into terms."""

    @property
    def language(self) -> str:
        """Return the language it stems, as it was named; empty for code."""

    def tokens(self, text: str) -> list[str]:
        """Return the surface tokens in order."""

    def expand(self, token: str) -> tuple[str, ...]:
        """Return the terms that a surface token stands for, the whole token first."""


def terms(analyzer: Analyzer, text: str) -> list[str]:
    """Return all terms of ``text`` in order, with repetitions."""
    return [term for token in analyzer.tokens(text) for term in analyzer.expand(token)]


def fold(text: str) -> str:
    """Case-fold ``text`` and unify compatibility forms."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.casefold())


def without_accents(word: str) -> str:
    """Return a folded word without the marks that people omit when they type."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _LOOSE_MARK.sub("", unicodedata.normalize("NFD", word)))


def has_cjk(text: str) -> bool:
    """Return whether there is a character of a script written without spaces between words."""
    return _CJK_RUN.search(text) is not None


def primary_language(tag: str) -> str:
    """Return ``en`` for ``en-US``; languages without a stemmer are returned as they are."""
    return re.split(r"[-_]", tag.strip().lower(), maxsplit=1)[0]


class ProseAnalyzer:
    """The analyzer for prose in one language (an ISO 639-1 code; unknown ones are not stemmed)."""

    def __init__(self, language: str) -> None:
        self.language = language
        name = STEMMERS.get(primary_language(language))
        self._stemmer = Stemmer.Stemmer(name) if name else None

    def tokens(self, text: str) -> list[str]:
        """Return the surface tokens, folded."""
        return _TOKEN.findall(fold(text))

    def expand(self, token: str) -> tuple[str, ...]:
        """Return ``user`` for ``users``; ``node.js``, ``node``, ``js`` for ``node.js``; bigrams for CJK."""
        if token.isalpha() and token.isascii():
            return (self._stem(token),)
        # An accent on its own is a token, which is empty once accents are removed.
        return tuple(filter(None, self._terms(token)))

    def _terms(self, token: str) -> Iterable[str]:
        if has_cjk(token):
            return self._mixed(token)
        if token[-1] in "+#":
            return (token,)
        parts = _PARTS.findall(token)
        if len(parts) <= 1:
            return [self._stem(part) for part in parts]
        whole = without_accents(token.strip("_"))[:_MAX_TOKEN_CHARS]
        return dict.fromkeys([whole, *(self._stem(part) for part in parts)])

    def _mixed(self, token: str) -> Iterable[str]:
        at = 0
        for run in _CJK_RUN.finditer(token):
            yield from (self._stem(part) for part in _PARTS.findall(token[at : run.start()]))
            yield from _bigrams(run.group())
            at = run.end()
        yield from (self._stem(part) for part in _PARTS.findall(token[at:]))

    def _stem(self, word: str) -> str:
        word = word.replace("’", "'")
        if self._stemmer is not None and not any(c.isdigit() for c in word):
            word = self._stemmer.stemWord(word)
        return without_accents(word)[:_MAX_TOKEN_CHARS]


class CodeAnalyzer:
    """The analyzer for code: identifiers whole and split, never stemmed."""

    language = ""

    def tokens(self, text: str) -> list[str]:
        """Return identifiers and numbers as written."""
        return _IDENTIFIER.findall(text)

    def expand(self, token: str) -> tuple[str, ...]:
        """Return ``getuserbyid``, ``get``, ``user``, ``by``, ``id`` for ``getUserById``."""
        whole = token.strip("_$").lower() or token.lower()
        parts = (part.lower() for part in _IDENTIFIER_PARTS.findall(token))
        return tuple(dict.fromkeys([whole[:_MAX_TOKEN_CHARS], *(part[:_MAX_TOKEN_CHARS] for part in parts)]))


def identifiers(text: str) -> list[str]:
    """Return the words of a text that are written as names in code are: ``getItem``, ``a_b``, ``x.y()``."""
    return [word for word in _IDENTIFIER.findall(text) if _NAME.search(word)]


def identifier_parts(name: str) -> list[str]:
    """Return ``Square`` and ``Tiles`` for ``SquareTiles``."""
    return _IDENTIFIER_PARTS.findall(name)


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def matches(text: str, wanted: AbstractSet[str], languages: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the character span of each token of ``text`` that stands for one of the ``wanted`` terms."""
    for found in _TOKEN_AS_WRITTEN.finditer(text):
        token = found.group()
        for language in languages:
            if not wanted.isdisjoint(_terms_of(token, language)):
                yield found.span()
                break


# The text of every hit is scanned for its highlights, and most of its words have been seen before.
@lru_cache(maxsize=65_536)
def _terms_of(token: str, language: str) -> tuple[str, ...]:
    folded = fold(token)
    return prose_analyzer(language).expand(folded) if folded else ()


@lru_cache(maxsize=64)
def prose_analyzer(language: str) -> ProseAnalyzer:
    """Return the shared analyzer of a language."""
    return ProseAnalyzer(language)


@lru_cache(maxsize=1)
def code_analyzer() -> CodeAnalyzer:
    """Return the shared analyzer of code."""
    return CodeAnalyzer()


def query_terms(text: str, languages: Iterable[str]) -> list[str]:
    """Return the distinct terms of a query, in order, for an index of documents in these languages."""
    found = (term for language in languages for term in terms(prose_analyzer(language), text))
    return list(dict.fromkeys(found))
