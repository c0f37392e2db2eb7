"""The command ``tune``: settings that answer judged queries better, if there are any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import output
from .evaluate import Mode, shown_p
from .flags import Flags

if TYPE_CHECKING:
    from ..quality.tuning.descent import Effort
    from ..quality.tuning.held_out import Found
    from ..quality.tuning.run import Tuned

_MAX_VOTES = 12


def tune(  # noqa: PLR0913, PLR0917  # each is a flag
    flags: Flags,
    judged: Annotated[
        list[Path] | None,
        typer.Option("--judged", metavar="DIR", help="A folder of judged queries; may be given again."),
    ] = None,
    store: Annotated[
        list[Path] | None,
        typer.Option(
            "--store",
            metavar="DIR",
            envvar="NOCTULE_STORE",
            help="The store; given again, others: of other sets, or of the same in passages of another size.",
        ),
    ] = None,
    mode: Annotated[Mode, typer.Option("--mode", help="Which lists are asked.")] = "hybrid",
    space: Annotated[
        Path | None,
        typer.Option("--space", metavar="FILE", help="What may change; a space of its own if none."),
    ] = None,
    print_space: Annotated[
        bool, typer.Option("--print-space", help="Print noctule's own space, and do nothing else.")
    ] = False,
    folds: Annotated[
        int, typer.Option("--folds", min=2, help="Parts of the queries, each held out once.")
    ] = 5,
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="Settings looked at in each search, at most.")
    ] = 150,
    seed: Annotated[int, typer.Option("--seed", help="Draws the folds and the random starts.")] = 0,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FILE", help="Write the settings here, if they are better."),
    ] = None,
    even_if_noise: Annotated[
        bool, typer.Option("--even-if-noise", help="Write them although chance may explain the gain.")
    ] = False,
) -> None:
    """Search for settings that answer judged queries better, and say whether the gain is more than luck.

    Examples: noctule tune --judged judged/faq --write tuned.toml ; noctule tune --print-space > space.toml
    """
    from ..quality.tuning import run
    from ..quality.tuning.space import as_toml

    if print_space:
        output.say(as_toml().rstrip("\n"))
        return
    request = run.TuningRequest(
        stores=tuple(store or [Path(".noctule")]),
        config=flags.config,
        judged=tuple(judged or ()),
        mode=mode,
        space=space,
        folds=folds,
        effort=_effort(trials, seed),
    )
    with output.progress(flags.quiet, flags.as_json) as progress:
        tuned = run.run(request, progress)
    written = run.write(tuned, write, even_if_noise=even_if_noise) if write else False
    if flags.as_json:
        output.emit(tuned.found.as_dict() | {"written": str(write) if written else None})
        return
    _print(tuned)
    if write and written:
        output.say(f"Wrote {write}. {_next(tuned.found)}")
    elif write:
        output.say("Nothing was written. --even-if-noise writes it all the same.")


def _effort(trials: int, seed: int) -> Effort:
    from ..quality.tuning.descent import Effort

    return Effort(points=trials, random=min(15, trials // 10), seed=seed)


def _print(tuned: Tuned) -> None:
    found = tuned.found
    for note in (*tuned.notes, *found.warnings):
        output.complain(f"warning: {output.plain(note)}")
    output.say(f"{found.tried:,} different settings tried, {found.folds} folds")
    rows = [
        (each.judged, *_figures(each.held_out.baseline, each.held_out.mean, each.chosen), shown_p(each.p))
        for each in found.sets
    ]
    output.table(
        ("nDCG@10", "queries", "today", "held out", "on the same queries", "p"), _counted(found, rows)
    )
    _print_changes(found)
    output.say()
    output.say(verdict(found))


def _counted(found: Found, rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [
        (row[0], f"{each.held_out.queries:,}", *row[1:]) for row, each in zip(rows, found.sets, strict=True)
    ]


def _figures(*values: float) -> tuple[str, ...]:
    return tuple(f"{value:.4f}" for value in values)


def _print_changes(found: Found) -> None:
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


def verdict(found: Found) -> str:
    """Return one sentence: is it better, worse, the same, or within noise?"""
    result = found.overall
    figures = (
        f"on held-out queries {result.difference:+.4f} "
        f"(95 % interval {result.low:+.4f} to {result.high:+.4f}, "
        f"p {shown_p(result.p)})"
    )
    if not found.point.changes:
        return f"Nothing better than today's settings was found; {figures}."
    if found.better:
        return f"Better: {figures}."
    if result.difference < 0:
        return f"Within noise: what was chosen on some queries was worse on others; {figures}."
    return f"Within noise: {figures}. Chance alone explains so much."


def _next(found: Found) -> str:
    if any(change.key.startswith(("lexical.", "chunk")) for change in found.point.changes):
        return (
            "It also changes how documents are indexed: noctule index, with it, before it is searched with."
        )
    return "Try it: noctule search --config FILE"
