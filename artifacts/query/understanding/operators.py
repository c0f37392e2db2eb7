"""The syntax of queries: words, ``"a phrase"``, ``-word``, ``field:word`` and ``begin*``.

An operator is only what cannot be anything else: ``-webkit-mask``, ``--force`` and ``std::vector`` are words.
A query of nothing but exclusions is read as words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ....pipeline.settings.settings import FIELDS

MAX_QUERY_CHARS = 10_000
_MAX_OPERATORS = 32
_MAX_QUESTIONS = 4
_TOKEN = re.compile(r'(?P<minus>(?<!\S)-)?(?:(?P<field>[a-z]+):)?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))')
_EXCLUDED = re.compile(r"[^\W\d_]\w+")
_PREFIX = re.compile(r"(\w{2,})\*")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "\x00": " "})
# As a terminal of another encoding gives them: no model reads them.
_LONE_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_ASKS = r"(?:how|what|why|where|when|which|who|can|could|does|do|is|are|should)"
_NEXT_QUESTION = re.compile(rf"\?\s+|(?:[,;]|\band\b)\s+(?={_ASKS}\b)", re.IGNORECASE)
_FIRST_ASKS = re.compile(rf"\s*{_ASKS}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Operators:
    """What a query requires besides its words: phrases, exclusions, words in a field, prefixes."""

    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    fielded: tuple[tuple[str, str], ...] = ()
    prefixes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.phrases or self.excluded or self.fielded)

    def __str__(self) -> str:
        fielded = [f"{field}:{_quoted(value)}" for field, value in self.fielded]
        excluded = [f"-{_quoted(value)}" for value in self.excluded]
        return " ".join([*(f'"{phrase}"' for phrase in self.phrases), *fielded, *excluded])


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query taken apart: ``plain`` is what is left for people and models to read."""

    plain: str
    operators: Operators


def parse_query(text: str) -> ParsedQuery:
    """Parse a query into words and operators; what no person types (over 10,000 characters) is cut off."""
    text = readable(text).translate(_QUOTES).strip()
    found = _Tokens()
    for token in _TOKEN.finditer(text):
        found.take(token)
    if not found.positive:
        return ParsedQuery(text, Operators())
    operators = found.operators()
    return ParsedQuery(" ".join(found.plain) if operators or operators.prefixes else text, operators)


def readable(text: str) -> str:
    """Return what a model can read of a text: its first 10,000 characters, lone surrogates replaced."""
    return text[:MAX_QUERY_CHARS].translate(_LONE_SURROGATES)


class _Tokens:
    """The parts that were taken out of a query so far."""

    def __init__(self) -> None:
        self.plain: list[str] = []
        self.phrases: list[str] = []
        self.excluded: list[str] = []
        self.fielded: list[tuple[str, str]] = []
        self.prefixes: list[str] = []
        self.positive = False

    def take(self, token: re.Match[str]) -> None:
        """Sort one token of the query to where it belongs."""
        phrase, word, field = (token.group(name) for name in ("phrase", "word", "field"))
        value = (phrase or word or "").strip()
        if not any(character.isalnum() for character in value):
            self.plain.append(token.group())
        elif token.group("minus") and not field and (phrase or _EXCLUDED.fullmatch(value)):
            self.excluded.append(value)
        else:
            self.positive, whole = True, token.group()
            self.plain.append(
                whole if token.group("minus") and field else self._wanted(whole, phrase, field, value)
            )

    def _wanted(self, token: str, phrase: str | None, field: str | None, value: str) -> str:
        """Keep the operator in a token, if any; return the words that it adds to the plain query."""
        if field in FIELDS:
            self.fielded.append((field, value))
        elif phrase is not None:
            self.phrases.append(value)
            return f"{field} {value}" if field else value
        elif prefix := _PREFIX.fullmatch(token):
            self.prefixes.append(prefix.group(1))
            return prefix.group(1)
        else:
            return token
        return value

    def operators(self) -> Operators:
        """Return the operators, within bounds."""
        most = slice(_MAX_OPERATORS)
        phrases, excluded = tuple(self.phrases[most]), tuple(self.excluded[most])
        return Operators(phrases, excluded, tuple(self.fielded[most]), tuple(self.prefixes[most]))


def split_questions(text: str) -> tuple[str, ...]:
    """Return the questions in a text that holds several (four at most), else the text alone."""
    if not _FIRST_ASKS.match(text):
        return (text,)
    parts = [part.strip(" ,;?") for part in _NEXT_QUESTION.split(text, maxsplit=_MAX_QUESTIONS - 1)]
    whole = [part for part in parts if len(part.split()) > 1]
    return tuple(whole) if len(whole) == len([part for part in parts if part]) > 1 else (text,)
