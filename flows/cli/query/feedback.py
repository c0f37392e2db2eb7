"""The command ``feedback``: what readers search for and open, as figures, a page and judged queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ....pipeline.printable import counted
from .. import output
from ..flags import Flags
from .evaluate import Report

if TYPE_CHECKING:
    from ...quality.feedback.analysis import Feedback
    from ...quality.feedback.click_judgements import LeastCounts
    from ...quality.feedback.findings import Findings

_MOST = 10
_AddSynonym = Annotated[
    str | None,
    typer.Option("--add-synonym", metavar="TERM=SYNONYM", help="Only add this entry to the glossary."),
]


@dataclass(frozen=True, slots=True)
class EventFlags:
    """Which events are read, and how many are enough to tell or to judge."""

    days: Annotated[int | None, typer.Option("--days", min=1, metavar="N", help="Only the last N days.")] = (
        None
    )
    min_sessions: Annotated[
        int,
        typer.Option(
            "--min-sessions", min=1, metavar="N", help="Report only queries of at least N sessions."
        ),
    ] = 5
    min_clicks: Annotated[
        int,
        typer.Option(
            "--min-clicks", min=1, metavar="N", help="Judge a page if at least N sessions opened it."
        ),
    ] = 2
    events: Annotated[
        Path | None,
        typer.Option("--events", metavar="DIR", help="The folder of events.",
                     show_default="as in the settings"),
    ] = None  # fmt: skip

    def analyse(self, flags: Flags) -> Feedback:
        """Return what the events of these days tell about the current snapshot."""
        from ....artifacts.events.event_log import events_folder, now
        from ...quality.feedback.analysis import analyse_events
        from ...run.request import read_settings

        settings, today = read_settings(flags.config), now()
        folder = self.events or events_folder(settings.serve.events, flags.store)
        first = None if self.days is None else today.date() - timedelta(days=self.days - 1)
        with flags.open_snapshot(None) as snapshot:
            return analyse_events(snapshot, settings, folder, self.limits(), first, today)

    def limits(self) -> LeastCounts:
        """Return what a query and a page need to be told of."""
        from ...quality.feedback.click_judgements import LeastCounts

        return LeastCounts(self.min_sessions, self.min_clicks)


def feedback(
    flags: Flags,
    given: EventFlags,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR",
                     help="Write judged queries to this folder, for evaluate, tune and the gate."),
    ] = None,
    report: Report = None,
    add_synonym: _AddSynonym = None,
) -> None:  # fmt: skip
    """Show what readers search for, find and open, from the events that noctule serve records.

    Examples: noctule feedback --report feedback.html ; noctule feedback --out judged/clicks
    """
    if add_synonym is not None:
        _add(flags, add_synonym)
        return
    from ...quality import relevance_page
    from ...quality.feedback.click_judgements import write_judged
    from ...quality.feedback.feedback_page import feedback_page

    relevance_page.require_html(report)
    found = given.analyse(flags)
    if out is not None:
        write_judged(found.judged, out.absolute(), given.limits())
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
    total = found.totals
    output.say(
        f"Recorded on {counted(total.days, 'day')}: {counted(total.sessions, 'session')}, "
        f"searches: {total.searches:,}, clicks: {total.clicks:,}. Nothing was found: {total.without_hits:,}; "
        f"nothing was opened: {total.not_opened:,}."
    )
    if not total.with_text:
        output.say("The text of queries was not recorded (serve.events.queries), so there is no more to say.")
        return
    _print_findings(found.findings)
    how = "estimated" if found.is_estimated else "assumed to be 1 / rank"
    judgements = sum(len(each.grades) for each in found.judged)
    output.say(
        f"\n{counted(len(found.judged), 'query')} can be judged, with {counted(judgements, 'judgement')}; "
        f"how likely a rank is looked at is {how}"
    )


def _print_findings(found: Findings) -> None:
    _table(
        ("asked and not found", "sessions", "found nothing"),
        [(each.text, each.sessions, each.without_hits) for each in found.not_found],
    )
    _table(
        ("found and not opened", "sessions", "opened"),
        [(each.text, each.sessions, each.opened) for each in found.not_opened],
    )
    _table(
        ("asked again", "as", "sessions", "opened then"),
        [(each.before, each.after, each.sessions, each.opened) for each in found.reformulated],
    )
    _table(
        ("readers say", "pages say", "sessions"),
        [(each.term, each.synonym, each.sessions) for each in found.synonyms],
    )
    if found.synonyms:
        from ...quality.feedback.feedback_page import command_of

        output.say(f"Add one: {command_of(found.synonyms[0].term, found.synonyms[0].synonym)}")


def _table(headings: tuple[str, ...], rows: list[tuple[str | int, ...]]) -> None:
    if rows:
        output.say()
        shown = [
            tuple(f"{cell:,}" if isinstance(cell, int) else cell for cell in row) for row in rows[:_MOST]
        ]
        output.table(headings, shown)
        if len(rows) > _MOST:
            output.say(f"and {len(rows) - _MOST:,} more (--json, --report)")
