"""What recorded events say: figures, findings and judged queries for ``noctule feedback``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path

import pyarrow.compute as pc

from ....artifacts.events.event_log import read_events
from ....artifacts.store.snapshot import Snapshot
from ....pipeline.errors import SourceError
from ....pipeline.lexical.stop_words import question_words, stop_words
from ....pipeline.settings.settings import Settings
from .click_judgements import JudgedQuery, LeastCounts, judged_queries
from .click_model import count_clicks, propensities, relevances
from .findings import Findings, findings_of
from .logged_searches import LoggedSearch, Searches, by_query, searches_of
from .shown_documents import ShownDocuments, shown_documents, with_documents

_RANKS = 10


@dataclass(frozen=True, slots=True)
class RankFigures:
    """A rank: how often it was shown and opened, and how likely it is looked at, with the first as 1."""

    rank: int
    shown: int
    opened: int
    propensity: float


@dataclass(frozen=True, slots=True)
class OpenedPage:
    """A document, and how often it was opened from a search."""

    doc_id: str
    title: str
    clicks: int


@dataclass(frozen=True, slots=True)
class Totals:
    """How much was recorded: ``with_text`` are searches whose query was kept."""

    days: int
    sessions: int
    searches: int
    with_text: int
    without_hits: int
    not_opened: int
    clicks: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """What readers searched for and opened.

    ``is_estimated`` says whether propensities are estimated, or assumed for want of hits that moved.
    ``notes`` say what was left out.
    """

    snapshot: str
    totals: Totals
    ranks: tuple[RankFigures, ...]
    is_estimated: bool
    pages: tuple[OpenedPage, ...]
    findings: Findings
    judged: tuple[JudgedQuery, ...]
    limits: LeastCounts
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return it as JSON prints it."""
        return asdict(self) | {"notes": list(self.notes)}


def analyse_events(
    snapshot: Snapshot,
    settings: Settings,
    folder: Path,
    limits: LeastCounts,
    first: date | None,
    now: datetime,
) -> Feedback:
    """Read the events since a day, and say what they mean for a snapshot.

    Raises ``SourceError`` if there are none, and ``ArtifactError`` for a file that cannot be read.
    """
    recorded = read_events(folder, first)
    searches = searches_of(recorded.events, now)
    if not searches.all:
        raise SourceError(
            "no searches are recorded there",
            where=str(folder),
            hint="Enable recording where noctule serve runs: [serve.events] enabled = true.",
        )
    documents = shown_documents(snapshot, settings.site)
    with_text, unknown = with_documents(searches.with_text, documents)
    queries = by_query(with_text)
    counts = count_clicks(queries)
    found = propensities(counts)
    judged = judged_queries(queries, relevances(counts, found), documents.titles, limits)
    return Feedback(
        str(snapshot.id),
        _totals(searches, len(recorded.days)),
        _ranks(searches.all, found.by_rank.tolist()),
        found.is_estimated,
        _pages(searches.opened, documents),
        findings_of(with_text, queries, limits.sessions, _stop_words(snapshot)),
        judged,
        limits,
        tuple(_notes(searches, recorded.unreadable, unknown)),
    )


def _notes(searches: Searches, unreadable: int, unknown: Counter[str]) -> Iterator[str]:
    """Say what was left out."""
    for reason, count in sorted(searches.left_out.items()):
        yield f"left out: {reason}: {count:,}"
    if unreadable:
        yield f"left out: lines that are no events: {unreadable:,}"
    if unknown:
        yield _unknown(unknown)


def _unknown(names: Counter[str]) -> str:
    often = min(names, key=lambda name: (-names[name], name))
    return f"hits whose names are not in this snapshot: {len(names):,}, such as {often[:200]!r}"


def _totals(searches: Searches, days: int) -> Totals:
    return Totals(
        days=days,
        sessions=len({each.session for each in searches.all}),
        searches=len(searches.all),
        with_text=len(searches.with_text),
        without_hits=sum(not each.found for each in searches.all),
        not_opened=sum(each.found and not each.opened for each in searches.all),
        clicks=sum(searches.opened.values()),
    )


def _ranks(searches: Sequence[LoggedSearch], by_rank: Sequence[float]) -> tuple[RankFigures, ...]:
    figures = []
    for rank in range(1, _RANKS + 1):
        shown = sum(each.shown >= rank for each in searches)
        opened = sum(rank in each.opened for each in searches)
        figures += [RankFigures(rank, shown, opened, round(by_rank[rank - 1], 4))] if shown else []
    return tuple(figures)


def _pages(opened: Counter[str], documents: ShownDocuments) -> tuple[OpenedPage, ...]:
    clicks: Counter[str] = Counter()
    for name, count in opened.items():
        clicks[documents.find(name)] += count
    del clicks[""]
    ordered = sorted(clicks.items(), key=lambda each: (-each[1], each[0]))
    return tuple(OpenedPage(doc_id, documents.titles[doc_id], count) for doc_id, count in ordered)


def _stop_words(snapshot: Snapshot) -> frozenset[str]:
    languages = pc.unique(snapshot.table("documents", ["language"]).column("language")).to_pylist()
    lists = [
        of(language) for language in {"en", *filter(None, languages)} for of in (stop_words, question_words)
    ]
    return frozenset().union(*lists)
