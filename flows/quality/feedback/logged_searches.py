"""Searches, put together from recorded events: who asked what in one session, what was shown and opened."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ....artifacts.events.event_log import Event
from ....artifacts.query.index.vocabulary import folded_words

# A reader asks so often in one session at most; a program more often.
MOST_SEARCHES = 100
# Clocks of machines that record into one folder may differ.
_CLOCKS_DIFFER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """A search of a session: ``query`` is folded, ``text`` as it was typed, both empty if that is not kept.

    ``hits`` are names of documents or pages in the order shown, ``shown`` is their number, and ``opened``
    are the ranks of those that were opened, from 1. ``at`` is when the search was over. What was not
    ``sure`` has hits that are hardly what was asked for.
    """

    session: str
    number: int
    at: datetime
    query: str
    text: str
    hits: tuple[str, ...]
    shown: int
    sure: bool = True
    opened: tuple[int, ...] = ()

    @property
    def found(self) -> bool:
        """Return whether there were hits that are likely what was asked for, or one that was opened."""
        return bool(self.opened) or (self.shown > 0 and self.sure)


@dataclass(frozen=True, slots=True)
class Searches:
    """All searches in the order of their ends, and how many events were left out, by the reason."""

    all: tuple[LoggedSearch, ...]
    opened: Counter[str]
    left_out: Counter[str]

    @property
    def with_text(self) -> tuple[LoggedSearch, ...]:
        """Return the searches whose query is known."""
        return tuple(each for each in self.all if each.query)


def searches_of(events: Sequence[Event], now: datetime) -> Searches:
    """Put searches together.

    Left out are events of clocks that are wrong, of sessions that no reader has, clicks without their
    search, and clicks on something else than stood at their rank.
    """
    left_out: Counter[str] = Counter()
    told = Counter(each.session for each in events if each.kind != "click")
    found: dict[tuple[str, int], LoggedSearch] = {}
    opened: Counter[str] = Counter()
    for event in events:
        reason = _reason(event, now, told[event.session])
        if not reason and event.kind == "click":
            reason = _open(found, event)
            opened.update([event.hit] if not reason else [])
        elif not reason:
            found[event.session, event.search] = _search(event, found.get((event.session, event.search)))
        if reason:
            left_out[reason] += 1
    return Searches(tuple(found.values()), opened, left_out)


def _reason(event: Event, now: datetime, searches: int) -> str:
    if event.at > now + _CLOCKS_DIFFER:
        return "events dated in the future"
    return "events of sessions that no reader has" if searches > MOST_SEARCHES else ""


def _search(event: Event, before: LoggedSearch | None) -> LoggedSearch:
    """Return the search; one that is told again, with more hits, keeps what was opened."""
    query = " ".join(folded_words(event.query))
    return LoggedSearch(
        event.session, event.search, event.at, query, " ".join(event.query.split()), event.hits, event.shown,
        event.sure,
        before.opened if before else (),
    )  # fmt: skip


def _open(found: dict[tuple[str, int], LoggedSearch], event: Event) -> str:
    """Add a click to its search; return why that cannot be done, if so."""
    search = found.get((event.session, event.search))
    if search is None:
        return "clicks without a search"
    if search.hits and event.hit not in search.hits:
        return "clicks on what was not shown"
    rank = search.hits.index(event.hit) + 1 if search.hits else event.rank
    found[event.session, event.search] = replace(search, opened=tuple(sorted({*search.opened, rank})))
    return ""


def by_query(searches: Sequence[LoggedSearch]) -> dict[str, tuple[LoggedSearch, ...]]:
    """Return the searches of each query, one of each session: asking again says nothing new.

    What a session opened of the same hits counts together.
    """
    found: dict[str, dict[str, LoggedSearch]] = defaultdict(dict)
    for each in searches:
        before = found[each.query].get(each.session)
        same = before is not None and before.hits[: len(each.hits)] == each.hits[: len(before.hits)]
        if before is not None and not same and before.opened:
            continue
        opened = {*each.opened, *(before.opened if before and same else ())}
        found[each.query][each.session] = replace(each, opened=tuple(sorted(opened)))
    return {query: tuple(own.values()) for query, own in found.items()}


def spelling_of(searches: Sequence[LoggedSearch]) -> str:
    """Return how a query is written most often, of equals the first in the order of characters."""
    counts = Counter(each.text for each in searches)
    return min(counts, key=lambda text: (-counts[text], text))
