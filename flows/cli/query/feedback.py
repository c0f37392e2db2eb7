"""The command ``feedback``: what readers search for and open, as figures, a page and judged queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import output
from ..flags import Flags
from .evaluate import Report

if TYPE_CHECKING:
    from ...quality.feedback.gather import Feedback

_MOST = 10
_Events = Annotated[
    Path | None,
    typer.Option("--events", metavar="DIR", help="The folder of events.", show_default="as in the settings"),
]
_Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write judged queries there, for evaluate, tune and the gate."),
]
_Days = Annotated[int | None, typer.Option("--days", min=1, metavar="N", help="Only the last N days.")]
_MinSessions = Annotated[
    int,
    typer.Option("--min-sessions", min=1, metavar="N", help="Only queries of so many sessions are told."),
]
_MinClicks = Annotated[
    int,
    typer.Option("--min-clicks", min=1, metavar="N", help="So many must open a page for it to be judged."),
]
_AddSynonym = Annotated[
    str | None,
    typer.Option("--add-synonym", metavar="TERM=SYNONYM", help="Only add this to the glossary."),
]


def feedback(  # noqa: PLR0913, PLR0917  # each is a flag
    flags: Flags,
    out: _Out = None,
    report: Report = None,
    days: _Days = None,
    min_sessions: _MinSessions = 5,
    min_clicks: _MinClicks = 2,
    events: _Events = None,
    add_synonym: _AddSynonym = None,
) -> None:
    """Say what readers search for, find and open, from the events that noctule serve records.

    Examples: noctule feedback --report feedback.html ; noctule feedback --out judged/clicks
    """
    if add_synonym is not None:
        _add(flags, add_synonym)
        return
    from datetime import timedelta

    from ....artifacts.events.event_log import events_folder, now
    from ...quality import relevance_page
    from ...quality.feedback.click_judgements import LeastCounts, write_judged
    from ...quality.feedback.feedback_page import feedback_page
    from ...quality.feedback.gather import gather
    from ...run.request import read_settings

    relevance_page.require_html(report)
    settings, limits, today = read_settings(flags.config), LeastCounts(min_sessions, min_clicks), now()
    folder = events or events_folder(settings.serve.events, flags.store)
    first = None if days is None else today.date() - timedelta(days=days - 1)
    with flags.open_snapshot(None) as snapshot:
        found = gather(snapshot, settings, folder, limits, first, today)
    if out is not None:
        write_judged(found.judged, out.absolute(), limits)
    if report is not None:
        relevance_page.write(feedback_page(found), report)
    if flags.as_json:
        output.emit(found.as_dict() | {"written": str(out) if out else None})
        return
    _print(found)
    if out is not None:
        output.say(f"\nWrote {out}. Next: noctule evaluate --judged {out} ; noctule tune --judged {out}")
    if report is not None:
        output.say(f"\nWrote {report}.")


def _add(flags: Flags, given: str) -> None:
    from ...quality.feedback.glossary_file import add_synonym
    from ...run.request import SETTINGS_FILE

    added = add_synonym(given, flags.config or Path(SETTINGS_FILE))
    if flags.as_json:
        changed = str(added.settings) if added.settings else None
        output.emit(
            {
                "term": added.term,
                "synonym": added.synonym,
                "glossary": str(added.glossary),
                "settings": changed,
            }
        )
        return
    output.say(f"{added.glossary}: a search for {added.term!r} is also one for {added.synonym!r}.")
    if added.settings:
        output.say(f"{added.settings}: names the glossary, and the step that uses it.")
    output.say("A running noctule serve reads it when it is started again, a site when it is built.")


def _print(found: Feedback) -> None:
    for note in found.notes:
        output.complain(f"warning: {note}")
    total, findings = found.totals, found.findings
    output.say(
        f"Recorded on {total.days:,} day(s): {total.searches:,} search(es) in {total.sessions:,} session(s), "
        f"{total.clicks:,} click(s). Nothing was found: {total.without_hits:,}; "
        f"nothing was opened: {total.not_opened:,}."
    )
    if not total.with_text:
        output.say("The text of queries was not recorded (serve.events.queries), so there is no more to say.")
        return
    _table(
        ("asked and not found", "sessions", "found nothing"),
        [(each.text, each.sessions, each.without_hits) for each in findings.not_found],
    )
    _table(
        ("found and not opened", "sessions", "opened"),
        [(each.text, each.sessions, each.opened) for each in findings.not_opened],
    )
    _table(
        ("asked again", "as", "sessions", "opened then"),
        [(each.before, each.after, each.sessions, each.opened) for each in findings.reformulated],
    )
    _table(
        ("readers say", "pages say", "sessions"),
        [(each.term, each.synonym, each.sessions) for each in findings.synonyms],
    )
    if findings.synonyms:
        from ...quality.feedback.feedback_page import command_of

        output.say(f"Add one: {command_of(findings.synonyms[0].term, findings.synonyms[0].synonym)}")
    how = "estimated" if found.is_estimated else "assumed to be 1 / rank"
    judgements = sum(len(each.grades) for each in found.judged)
    output.say(
        f"\n{len(found.judged):,} queries can be judged, with {judgements:,} judgements; "
        f"how likely a rank is looked at is {how}"
    )


def _table(headings: tuple[str, ...], rows: list[tuple[str | int, ...]]) -> None:
    if rows:
        output.say()
        shown = [
            tuple(f"{cell:,}" if isinstance(cell, int) else cell for cell in row) for row in rows[:_MOST]
        ]
        output.table(headings, shown)
        if len(rows) > _MOST:
            output.say(f"and {len(rows) - _MOST:,} more (--json, --report)")
