"""One HTML file with what ``evaluate`` and ``tune`` measured: won, lost, confidence, what each part adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.disk import durable
from ...artifacts.judged.compare import Pair
from ...artifacts.judged.evaluate import Evaluation
from ...artifacts.judged.measures import HEADLINE
from ...docsite.charts.answers import (
    Difference,
    Predicted,
    differences_figure,
    queries_named,
    reliability_figure,
)
from ...docsite.charts.figure import Figure
from ...docsite.charts.page import lone_page
from ...docsite.charts.rows import Bar, bars_figure
from ...docsite.pages.report import ReportSheet, sheets_html
from ...pipeline.errors import SettingsError
from .evaluate import EvaluatedSearch, Relevance, evaluated

if TYPE_CHECKING:
    from ...artifacts.judged.reading import Judged
    from ..run.stage import Progress
    from .tuning.held_out import HeldOutSet, TuningResult

_MEASURE = "nDCG@10"
_CONFIDENCE = (
    "Found means that the best hit is judged right. Where one page of several that answer is judged, "
    "every confidence looks too high."
)


def require_html(report: Path | None) -> None:
    """Raise ``SettingsError`` for a report that is not an HTML file."""
    if report is not None and report.suffix not in {".html", ".htm"}:
        hint = "Name such a file."
        raise SettingsError("the name must end in .html", where=f"--report {report}", hint=hint)


def write(page: str, report: Path) -> None:
    """Write the page; raises ``WriteFailed``."""
    durable.replace_file(report.absolute(), page.encode())


def page(subject: EvaluatedSearch, sets: Sequence[Judged], found: Relevance, progress: Progress) -> str:
    """Return the evaluation as a page; asks all queries again without each list, and of words alone.

    Queries won and lost are those against what the search was compared with, otherwise against words alone.
    """
    parts = dict(_ablation(subject, sets, found, progress)) if found.mode == "hybrid" else {}
    alone = parts.get(_ALONE, ())
    pairs = found.baselines or tuple(map(Pair, [_ALONE] * len(alone), alone, found.evaluations))
    sheets = [_figures(found)]
    for at, each in enumerate(found.evaluations):
        figures: list[Figure | None] = [
            *(_differences(pair) for pair in pairs if pair.after is each),
            _reliability(each),
            _worth(each, {name: of[at] for name, of in parts.items()}),
        ]
        sheets.append(_sheet(each.judged, figures))
        sheets += [_changed(pair) for pair in pairs if pair.after is each]
    return lone_page(f"Relevance of {found.snapshot}", sheets_html(sheets))


_ALONE = "words alone"


def _ablation(
    subject: EvaluatedSearch, sets: Sequence[Judged], found: Relevance, progress: Progress
) -> Iterator[tuple[str, tuple[Evaluation, ...]]]:
    """Yield what the search is without each of its lists, and what words alone find."""
    at = replace(subject, snapshot=found.snapshot)
    yield _ALONE, evaluated(replace(at, label=_ALONE), sets, "keyword", progress, timed=False)[1]
    weights = subject.settings.search.weights
    for name in sorted(name for name, weight in weights.items() if weight):
        search = subject.settings.search.model_copy(update={"weights": weights | {name: 0.0}})
        settings = subject.settings.model_copy(update={"search": search})
        without = replace(at, label=f"without {name}", settings=settings)
        yield without.label, evaluated(without, sets, found.mode, progress, timed=False)[1]


def _sheet(heading: str, figures: Iterable[Figure | None], sentence: str = "") -> ReportSheet:
    return ReportSheet(heading, sentence, figures=tuple(each for each in figures if each is not None))


def _figures(found: Relevance) -> ReportSheet:
    measures = ("queries", "ndcg@10", "recall@100", "mrr@10", "hit@1", "unanswered")
    shown = [(each.judged, each) for each in found.evaluations]
    shown += [(f"{pair.before.judged}, {pair.baseline}", pair.before) for pair in found.baselines]
    rows = []
    for name, each in shown:
        values = [f"{each.means[measure]:.4f}" for measure in measures[1:-1]]
        rows.append((name, f"{len(each.scores):,}", *values, f"{each.unanswered:.1%}"))
    return ReportSheet("Figures", f"Mode {found.mode}.", ("set", *measures), tuple(rows))


def _pairs(pair: Pair) -> tuple[Difference, ...]:
    both = zip(pair.before.scores, pair.after.scores, strict=True)
    return tuple(Difference(now.text, now.values[HEADLINE] - was.values[HEADLINE]) for was, now in both)


def _differences(pair: Pair) -> Figure | None:
    return differences_figure(f"Won and lost against {pair.baseline}", _pairs(pair), _MEASURE)


def _changed(pair: Pair) -> ReportSheet:
    rows = tuple(queries_named(_pairs(pair)))
    heading = f"{pair.after.judged}: queries that changed most against {pair.baseline}"
    return ReportSheet(heading, "" if rows else "None changed.", (_MEASURE, "query") if rows else (), rows)


def _reliability(each: Evaluation) -> Figure | None:
    known = [
        Predicted(score.confidence, score.values["hit@1"] > 0)
        for score in each.scores
        if score.confidence is not None
    ]
    figure = reliability_figure("Is its confidence worth what it says?", known)
    return figure and replace(figure, sentence=f"{figure.sentence} {_CONFIDENCE}")


def _worth(each: Evaluation, parts: dict[str, Evaluation]) -> Figure | None:
    """Return what the search reaches with all of its lists, without each, and by words alone."""
    if not parts:
        return None
    whole = each.means[HEADLINE]
    scores = {name: of.means[HEADLINE] for name, of in parts.items()}
    bars = [Bar("all lists", whole, note=f"{whole:.4f}", kind="s1")]
    bars += [
        Bar(name, score, whole, f"{score:.4f} ({score - whole:+.4f})", "s6")
        for name, score in sorted(scores.items(), key=lambda item: (item[1], item[0]))
    ]
    return bars_figure(
        "What each list adds", f"{_MEASURE} without it; the mark is that of all lists.", bars, "score"
    )


def tuning_page(found: TuningResult, verdict: str) -> str:
    """Return the tuning as a page: queries won and lost when held out, and what each change is worth."""
    sheets = [ReportSheet("Verdict", verdict), _sheet("Changes", [_votes(found), _changes(found)])]
    for each in found.sets:
        sheets.append(_sheet(each.judged, [_held_out(each)], _compared(each)))
        rows = tuple(queries_named(each.differences))
        if rows:
            heading = f"{each.judged}: queries that changed most"
            sheets.append(ReportSheet(heading, "", (_MEASURE, "query"), rows))
    return lone_page("Tuning", sheets_html(sheets))


def _held_out(each: HeldOutSet) -> Figure | None:
    return differences_figure("Held-out queries won and lost against today", each.differences, _MEASURE)


def _compared(each: HeldOutSet) -> str:
    result = each.held_out
    return (
        f"{_MEASURE} {result.baseline:.4f} today, {result.mean:.4f} held out, difference "
        f"{result.difference:+.4f}, 95 % interval {result.low:+.4f} to {result.high:+.4f}, p {each.p:.4f}."
    )


def _votes(found: TuningResult) -> Figure | None:
    bars = [
        Bar(
            str(change),
            count,
            note=f"{count} of {found.folds}",
            kind="s1" if change in found.point.changes else "s6",
        )
        for change, count in found.votes
    ]
    figure = bars_figure("How many folds chose it", "A change that one fold chose is luck.", bars)
    legend = (("s1", "chosen from all queries"), ("s6", "not chosen"))
    return figure and replace(figure, legend=legend)


def _changes(found: TuningResult) -> Figure | None:
    ordered = sorted(found.worth, key=lambda each: (-each[1], each[0].key))
    bars = [
        Bar(str(change), worth, note=f"{worth:+.4f}", kind="up" if worth > 0 else "down")
        for change, worth in ordered
    ]
    return bars_figure(
        "What each change adds", f"{_MEASURE} that is lost where it alone is taken back.", bars, "score"
    )
