"""The command ``evaluate``: how relevant the answers are, on judged queries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ....pipeline.printable import counted
from .. import output
from ..flags import Flags
from .search import Mode

if TYPE_CHECKING:
    from ....artifacts.judged.compare import Compared, QueryChange
    from ....artifacts.judged.evaluate import Evaluation
    from ....pipeline.settings.settings import Settings
    from ...quality.evaluate import EvaluatedSearch, Relevance

Judged = typer.Option("--judged", metavar="DIR", help="A folder of judged queries; may be repeated.")
Report = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write charts to one HTML file.")
]
_MEASURES = ("nDCG@10", "R@100", "MRR@10", "hit@1", "judged@10")
_FIGURES = ("queries", *_MEASURES, "unanswered", "p50 ms", "p95 ms")
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class BaselineFlags:
    """What the search is compared with."""

    against: Annotated[
        Path | None, typer.Option("--against", metavar="FILE", help="Another settings file to compare with.")
    ] = None
    against_snapshot: Annotated[
        str | None, typer.Option("--against-snapshot", metavar="ID", help="Another snapshot to compare with.")
    ] = None

    def search(self, flags: Flags, settings: Settings) -> EvaluatedSearch | None:
        """Return the search that is compared with, if one is named."""
        from ....pipeline.model import SnapshotId
        from ....pipeline.settings.reading import load
        from ...quality.evaluate import EvaluatedSearch

        if self == BaselineFlags():
            return None
        return EvaluatedSearch(
            label=" on ".join(str(each) for each in (self.against, self.against_snapshot) if each),
            store=flags.open_store(),
            snapshot=SnapshotId(self.against_snapshot) if self.against_snapshot else None,
            settings=load(self.against) if self.against else settings,
        )


@dataclass(frozen=True, slots=True)
class FigureFlags:
    """Where the figures go, and which."""

    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Also write the figures, including every query's: .json or .parquet.",
        ),
    ] = None
    per_query: Annotated[bool, typer.Option("--per-query", help="Show every query.")] = False
    report: Report = None


def evaluate(
    flags: Flags,
    judged: Annotated[list[Path], Judged],
    baseline: BaselineFlags,
    figures: FigureFlags,
    mode: Mode = "hybrid",
) -> None:
    """Measure how relevant the current snapshot's answers are, on judged queries.

    Examples: noctule evaluate --judged judged/faq ; noctule evaluate --judged judged/faq --against other.toml
    """
    from ...quality import evaluate as measuring
    from ...quality import relevance_page
    from ...run.request import read_settings

    out, report = figures.out, figures.report
    if out is not None:
        measuring.require_known_ending(out)
    relevance_page.require_html(report)
    settings = read_settings(flags.config)
    sets = measuring.judged_sets(judged)
    other = baseline.search(flags, settings)
    with output.progress(flags.quiet, flags.as_json) as progress:
        subject = measuring.EvaluatedSearch("this search", flags.open_store(), None, settings)
        found = measuring.relevance(subject, sets, mode, other, progress)
        page = relevance_page.page(subject, sets, found, progress) if report else ""
    if report is not None:
        relevance_page.write(page, report)
    if out is not None:
        measuring.write(found, out)
    if flags.as_json:
        output.emit(found.as_dict(per_query=figures.per_query))
    else:
        _print(found, figures.per_query)


def _print(found: Relevance, per_query: bool) -> None:
    for warning in found.warnings:
        output.complain(f"warning: {warning}")
    output.say(f"snapshot {found.snapshot}, mode {found.mode}")
    shown = [(each.judged, _figures(each)) for each in found.evaluations]
    shown += [(f"{pair.before.judged}, {pair.baseline}", _figures(pair.before)) for pair in found.baselines]
    rows = zip(_FIGURES, *(figures for _, figures in shown), strict=True)
    output.table(("", *(name for name, _ in shown)), list(rows))
    for each in found.evaluations:
        _print_left_out(each)
    for comparison in found.comparisons:
        _print_comparison(comparison)
    for each in found.evaluations if per_query else ():
        _print_queries(each)


def _figures(each: Evaluation) -> tuple[str, ...]:
    means = [f"{value:.4f}" for value in each.means.values()]
    times = [f"{each.latency.p50_ms:.1f}", f"{each.latency.p95_ms:.1f}"] if each.latency else ["", ""]
    return (f"{len(each.scores):,}", *means, f"{each.unanswered:.4f}", *times)


def _print_left_out(each: Evaluation) -> None:
    named = {
        "queries that are not scored, as no document answers them": each.excluded,
        "judged documents that are not in the snapshot, and count as not found": each.missing,
        "documents that only the judgements name": each.unknown_documents,
        "queries that only the judgements name": each.unknown_queries,
        "queries that only run.txt names": each.unknown_ranked,
    }
    for what, names in named.items():
        if names:
            more = f" and {len(names) - _MAX_NAMED:,} more (--json)" if len(names) > _MAX_NAMED else ""
            output.say(f"{each.judged}: {what} ({len(names):,}): {', '.join(names[:_MAX_NAMED])}{more}")


def _print_comparison(each: Compared) -> None:
    result = each.result
    output.say()
    output.say(f"{each.judged} against {each.baseline}: nDCG@10 {result.baseline:.4f} to {result.mean:.4f}")
    output.say(
        f"  difference {result.difference:+.4f}, 95 % interval {result.low:+.4f} to {result.high:+.4f}, "
        f"p {shown_p(result.p)}, with Holm's correction {shown_p(each.p)}"
    )
    output.say(
        f"  {counted(result.wins, 'query')} improved, {result.ties:,} unchanged, {result.losses:,} worse"
    )
    for heading, changes in (("fell most", each.fell), ("rose most", each.rose)):
        if changes:
            output.say()
            output.table((heading, "nDCG@10", "rank", "query"), list(map(_change, changes)))


def shown_p(value: float) -> str:
    """Return a p value as text for a table."""
    return f"{value:.4f}" if value >= 0.0001 else "below 0.0001"


def _change(change: QueryChange) -> tuple[str, ...]:
    ranks = f"{change.rank_before or '-'} to {change.rank_after or '-'}"
    return (change.query_id, f"{change.before:.3f} to {change.after:.3f}", ranks, change.text)


def _print_queries(each: Evaluation) -> None:
    output.say()
    rows = [
        (
            score.query_id,
            *(f"{each:.3f}" for each in score.values.values()),
            str(score.rank or "-"),
            score.text,
        )
        for score in each.scores
    ]
    output.table((each.judged, *_MEASURES, "rank", "query"), rows)
