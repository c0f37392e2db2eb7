"""Feedback as one HTML file without scripts: what is missing first, then how hits are opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....docsite.charts.figure import Figure, plain
from ....docsite.charts.page import lone_page
from ....docsite.charts.rows import Bar, bars_figure
from ....docsite.pages.report import ReportSheet, sheets_html
from .analysis import Feedback

MOST_ROWS = 50


def feedback_page(found: Feedback) -> str:
    """Return the page."""
    sheets = [_totals(found), *_queries(found), _words(found), _pages(found), _judged(found)]
    return lone_page("What readers search for", sheets_html([each for each in sheets if each is not None]))


def _totals(found: Feedback) -> ReportSheet:
    total = found.totals
    shown = total.searches - total.without_hits
    sentence = (
        f"Days: {total.days:,}; sessions: {total.sessions:,}; searches: {total.searches:,}. "
        f"{_share(total.without_hits, total.searches)} found nothing; of the others "
        f"{_share(total.not_opened, shown)} had no hit opened. A session is one visit of one page."
    )
    figures = tuple(each for each in (_outcomes(found), _by_rank(found)) if each is not None)
    return ReportSheet("Searches", sentence, figures=figures)


def _outcomes(found: Feedback) -> Figure | None:
    total = found.totals
    opened = total.searches - total.without_hits - total.not_opened
    bars = [
        Bar("a hit was opened", opened, kind="s1"),
        Bar("hits, none opened", total.not_opened, kind="s6"),
        Bar("nothing likely found", total.without_hits, kind="removed"),
    ]
    return bars_figure("How searches ended", f"Of {total.searches:,} searches.", bars)


def _by_rank(found: Feedback) -> Figure | None:
    how = (
        "is how likely the rank is looked at, estimated from hits that moved"
        if found.is_estimated
        else "is one over the rank, which is assumed until enough hits have moved"
    )
    first = found.ranks[0].opened / found.ranks[0].shown if found.ranks else 0.0
    bars = [
        Bar(f"rank {each.rank}", each.opened / each.shown, each.propensity * first,
            f"{each.opened:,} of {each.shown:,}")
        for each in found.ranks
    ]  # fmt: skip
    sentence = (
        f"The share of searches that opened the hit at each rank. The mark {how}, at the height of the first."
    )
    return bars_figure("Opened by rank", sentence, bars, "share") if first else None


def _queries(found: Feedback) -> list[ReportSheet]:
    findings, least = found.findings, found.limits.sessions
    if not found.totals.with_text:
        return [ReportSheet("Queries", "The text of queries was not recorded: serve.events.queries is off.")]
    rows = (
        _sheet(
            "Asked and not found", ("query", "sessions", "found nothing"),
            [(each.text, f"{each.sessions:,}", f"{each.without_hits:,}") for each in findings.not_found],
            f"Queries for which {least} sessions or more found nothing likely: a page is missing, or a word.",
        ),
        _sheet(
            "Found and not opened", ("query", "sessions", "opened a hit"),
            [(each.text, f"{each.sessions:,}", f"{each.opened:,}") for each in findings.not_opened],
            "Hits were shown, and at most one session in four opened one: wrong hits, or wrong titles.",
        ),
        _sheet(
            "Asked again in other words", ("query", "then", "sessions", "opened a hit then"),
            [(each.before, each.after, f"{each.sessions:,}", f"{each.opened:,}")
             for each in findings.reformulated],
            "Nothing was opened, and the same session asked this within two minutes.",
        ),
    )  # fmt: skip
    return list(rows)


def _words(found: Feedback) -> ReportSheet | None:
    if not found.findings.synonyms:
        return None
    rows = [
        (each.term, each.synonym, f"{each.sessions:,}", command_of(each.term, each.synonym))
        for each in found.findings.synonyms
    ]
    sentence = "Words that readers gave up for others, with which they opened a hit. The command adds them."
    return _sheet(
        "Words for the glossary", ("readers say", "pages say", "sessions", "command"), rows, sentence
    )


def command_of(term: str, synonym: str) -> str:
    """Return the command that adds a synonym; words have no characters that a shell minds."""
    return f'noctule feedback --add-synonym "{term}={synonym}"'


def _pages(found: Feedback) -> ReportSheet | None:
    rows = [(each.title, each.doc_id, f"{each.clicks:,}") for each in found.pages]
    return (
        _sheet("Opened most", ("page", "document", "clicks"), rows, "From searches alone.") if rows else None
    )


def _judged(found: Feedback) -> ReportSheet | None:
    if not found.totals.with_text:
        return None
    sentence = (
        f"Asked in at least {found.limits.sessions} sessions, with a page that {found.limits.clicks} opened. "
        "Grades are corrected for where hits stood."
    )
    rows = [(each.text, f"{each.sessions:,}", _best(each.grades)) for each in found.judged]
    return _sheet("Judged queries", ("query", "sessions", "best, by clicks"), rows, sentence)


def _best(grades: Mapping[str, int]) -> str:
    ordered = sorted(grades.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{doc_id} ({grade})" for doc_id, grade in ordered[:3] if grade)


def _sheet(
    heading: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], sentence: str
) -> ReportSheet:
    if not rows:
        return ReportSheet(heading, f"{sentence} There are none.")
    more = f" {len(rows) - MOST_ROWS:,} more: noctule feedback --json." if len(rows) > MOST_ROWS else ""
    told = tuple(tuple(plain(cell) for cell in row) for row in rows[:MOST_ROWS])
    return ReportSheet(heading, sentence + more, columns, told)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "0.0%"
