"""The command ``tune``: settings that answer judged queries better, if there are any."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import output
from ..flags import Flags, store_folder
from .evaluate import Judged, Report, shown_p
from .search import Mode

if TYPE_CHECKING:
    from ...quality.tuning.held_out import HeldOutSet, TuningResult
    from ...quality.tuning.run import Tuned, TuningRequest

_MAX_VOTES = 12

_PrintSpace = Annotated[bool, typer.Option("--print-space", help="Only print noctule's own search space.")]
_Write = Annotated[
    Path | None,
    typer.Option("--write", metavar="FILE", help="Write the settings to this file, if they are better."),
]
_EvenIfNoise = Annotated[
    bool, typer.Option("--even-if-noise", help="Write them even if chance may explain the gain.")
]


@dataclass(frozen=True, slots=True)
class TuningFlags:
    """What is tuned, on which queries, and with how much effort."""

    judged: Annotated[list[Path] | None, Judged] = None
    store: Annotated[
        list[Path] | None,
        typer.Option(
            "--store",
            metavar="DIR",
            parser=store_folder,
            help="The store; repeat it for other sets, or for passages of another size. By default that of "
            "NOCTULE_STORE.",
        ),
    ] = None
    mode: Mode = "hybrid"
    space: Annotated[
        Path | None,
        typer.Option("--space", metavar="FILE", help="The search space. By default noctule's own."),
    ] = None
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds, each held out once.")] = 5
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="Maximum number of settings tried in each search.")
    ] = 150
    seed: Annotated[int, typer.Option("--seed", help="Seed for the folds and the random starts.")] = 0

    def request(self, config: Path | None) -> TuningRequest:
        """Return the request for settings that begin with those of this file."""
        from ...quality.tuning.descent import Effort
        from ...quality.tuning.run import TuningRequest

        # Of an option that may be repeated, the value of a variable would be cut at colons and blanks.
        stores = tuple(self.store or [store_folder(os.environ.get("NOCTULE_STORE") or ".noctule")])
        judged = tuple(self.judged or ())
        effort = Effort(self.trials, min(15, self.trials // 10), self.seed)
        return TuningRequest(stores, config, judged, self.mode, self.space, self.folds, effort)


def tune(
    flags: Flags,
    given: TuningFlags,
    print_space: _PrintSpace = False,
    write: _Write = None,
    even_if_noise: _EvenIfNoise = False,
    report: Report = None,
) -> None:
    """Search for settings that answer judged queries better, and test whether the gain is significant.

    Examples: noctule tune --judged judged/faq --write tuned.toml ; noctule tune --print-space > space.toml
    """
    from ...quality import relevance_page
    from ...quality.tuning import run
    from ...quality.tuning.space import as_toml

    if print_space:
        output.say(as_toml().rstrip("\n"))
        return
    relevance_page.require_html(report)
    with output.progress(flags.quiet, flags.as_json) as progress:
        tuned = run.run(given.request(flags.config), progress)
    written = run.write(tuned, write, even_if_noise=even_if_noise) if write else False
    if report is not None:
        relevance_page.write(relevance_page.tuning_page(tuned.found, verdict(tuned.found)), report)
    if flags.as_json:
        output.emit(tuned.found.as_dict() | {"written": str(write) if written else None})
        return
    _print(tuned)
    if write and written:
        output.say(f"Wrote {write}. {_next(tuned.found)}")
    elif write:
        way = " --even-if-noise writes it all the same." if tuned.found.point.changes else ""
        output.say(f"Nothing was written.{way}")


def _print(tuned: Tuned) -> None:
    found = tuned.found
    for note in (*tuned.notes, *found.warnings):
        output.complain(f"warning: {note}")
    output.say(f"{found.tried:,} different settings tried, {found.folds} folds")
    output.table(
        ("nDCG@10", "queries", "today", "held out", "on the same queries", "p"), list(map(_set, found.sets))
    )
    _print_changes(found)
    output.say()
    output.say(verdict(found))


def _set(each: HeldOutSet) -> tuple[str, ...]:
    figures = (each.held_out.baseline, each.held_out.mean, each.chosen)
    queries = f"{each.held_out.queries:,}"
    return (each.judged, queries, *(f"{value:.4f}" for value in figures), shown_p(each.p))


def _print_changes(found: TuningResult) -> None:
    chosen = set(found.point.changes)
    rows = [
        ("yes" if change in chosen else "", f"{count} of {found.folds}", str(change))
        for change, count in found.votes[:_MAX_VOTES]
    ]
    rows += [
        ("yes", f"0 of {found.folds}", str(c)) for c in found.point.changes if c not in dict(found.votes)
    ]
    if rows:
        output.say()
        output.table(("chosen", "folds", "change"), rows)


def verdict(found: TuningResult) -> str:
    """Return one sentence: is it better, worse, the same, or within noise?"""
    result = found.overall
    interval = f"95 % interval {result.low:+.4f} to {result.high:+.4f}, p {shown_p(result.p)}"
    figures = f"on held-out queries {result.difference:+.4f} ({interval})"
    if not found.point.changes:
        return f"Nothing better than today's settings was found; {figures}."
    if found.better:
        return f"Better: {figures}."
    if result.difference < 0:
        return f"Within noise: what was chosen on some queries was worse on others; {figures}."
    return f"Within noise: {figures}. Chance alone explains so much."


def _next(found: TuningResult) -> str:
    if any(change.key.startswith(("lexical.", "chunk")) for change in found.point.changes):
        return (
            "It also changes how documents are indexed: noctule index, with it, before it is searched with."
        )
    return "Try it: noctule search --config FILE"
