"""What readers ask for and do not find, do not open, or ask again in other words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from rapidfuzz import fuzz

from .logged_searches import LoggedSearch, spelling_of

# J. Huang and E. N. Efthimiadis, Analyzing and Evaluating Query Reformulation Strategies in Web Search Logs,
# CIKM 2009, compare neighbours in a session by their words and their spelling.
WITHIN = timedelta(seconds=120)
_SPELT_ALIKE = 75.0
# Of the sessions that were shown hits, so few opened one.
_SELDOM = 0.25
_MOST_WORDS = 3


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query: in how many sessions it was asked, found nothing, and had a hit opened."""

    text: str
    sessions: int
    without_hits: int
    opened: int


@dataclass(frozen=True, slots=True)
class Reformulation:
    """A query given up for another one: in how many sessions, and in how many a hit was opened then."""

    before: str
    after: str
    sessions: int
    opened: int


@dataclass(frozen=True, slots=True)
class SynonymCandidate:
    """Words that readers used in vain, those that they used next, and in how many sessions."""

    term: str
    synonym: str
    sessions: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What the searches of enough sessions say, what concerns most of them first."""

    not_found: tuple[AskedQuery, ...]
    not_opened: tuple[AskedQuery, ...]
    reformulated: tuple[Reformulation, ...]
    synonyms: tuple[SynonymCandidate, ...]


def findings_of(
    searches: Sequence[LoggedSearch],
    queries: Mapping[str, Sequence[LoggedSearch]],
    least: int,
    stop_words: frozenset[str],
) -> Findings:
    """Return what at least so many sessions have in common; what fewer asked may say who asked.

    ``stop_words`` say nothing about what is asked.
    """
    asked = [_asked(own) for own in queries.values() if len(own) >= least]
    not_found = [each for each in asked if each.without_hits >= least]
    shown = [each for each in asked if each.sessions - each.without_hits >= least]
    seldom = [each for each in shown if each.opened <= _SELDOM * (each.sessions - each.without_hits)]
    changes = tuple(_changes(searches, stop_words))
    spelt = {query: spelling_of(own) for query, own in queries.items()}
    return Findings(
        tuple(sorted(not_found, key=lambda each: (-each.without_hits, each.text))),
        tuple(sorted(seldom, key=lambda each: (-(each.sessions - each.opened), each.text))),
        _reformulations(changes, spelt, least),
        _synonyms(changes, least),
    )


def _asked(searches: Sequence[LoggedSearch]) -> AskedQuery:
    empty = sum(not each.found for each in searches)
    opened = sum(bool(each.opened) for each in searches)
    return AskedQuery(spelling_of(searches), len(searches), empty, opened)


@dataclass(frozen=True, slots=True)
class _Change:
    before: str
    after: str
    session: str
    opened: bool
    left: str
    came: str


def _changes(searches: Sequence[LoggedSearch], stop_words: frozenset[str]) -> Iterator[_Change]:
    """Yield each search that was given up for the next one of its session."""
    sessions: dict[str, list[LoggedSearch]] = defaultdict(list)
    for each in searches:
        sessions[each.session].append(each)
    for session, own in sessions.items():
        for first, second in pairwise(own):
            words = [
                [word for word in each.query.split() if word not in stop_words] for each in (first, second)
            ]
            if _is_reformulated(first, second, bool(set(words[0]) & set(words[1]))):
                yield _Change(
                    first.query, second.query, session, bool(second.opened),
                    _exchanged(words[0], words[1]), _exchanged(words[1], words[0]),
                )  # fmt: skip


def _is_reformulated(first: LoggedSearch, second: LoggedSearch, shares_words: bool) -> bool:
    """Return whether nothing was opened before, and the next search soon after asks for the same.

    After one that found nothing, whatever comes next is for the same; otherwise it shares a word, or almost
    the spelling.
    """
    if first.opened or first.query == second.query or second.at - first.at > WITHIN:
        return False
    return shares_words or not first.found or fuzz.ratio(first.query, second.query) >= _SPELT_ALIKE


def _reformulations(
    changes: Sequence[_Change], spelt: Mapping[str, str], least: int
) -> tuple[Reformulation, ...]:
    sessions: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for each in changes:
        own = sessions[each.before, each.after]
        own[each.session] = own.get(each.session, False) or each.opened
    found = [
        Reformulation(spelt[before], spelt[after], len(own), sum(own.values()))
        for (before, after), own in sessions.items()
        if len(own) >= least
    ]
    return tuple(sorted(found, key=lambda each: (-each.sessions, each.before, each.after)))


def _synonyms(changes: Sequence[_Change], least: int) -> tuple[SynonymCandidate, ...]:
    """Return the words that were exchanged for others with which a hit was opened, in queries of any kind."""
    sessions: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in changes:
        if each.opened and each.left and each.came and fuzz.ratio(each.left, each.came) < _SPELT_ALIKE:
            sessions[each.left, each.came].add(each.session)
    counts = Counter({pair: len(own) for pair, own in sessions.items() if len(own) >= least})
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(SynonymCandidate(left, came, count) for (left, came), count in ordered)


def _exchanged(words: Sequence[str], others: Sequence[str]) -> str:
    """Return the words that are not among others, unless they are many."""
    own = [word for word in words if word not in others]
    return " ".join(own) if len(own) <= _MOST_WORDS else ""
