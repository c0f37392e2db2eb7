"""The figures of ``docs/relevance.md``, measured and written between the page's own markers.

Parts of the page that a run does not measure stay as they are, as does everything outside the markers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from bench import baselines, confidence, learned, left_out, static_encoder, static_share, variants
from bench.corpora import cache_folder
from bench.judged import judged_sets
from bench.page import with_figures
from bench.relevance import Ablation, Cell, ablation
from noctule.artifacts.judged.measures import DEPTH
from noctule.pipeline.settings.settings import Settings

# Sets whose documents are few enough to be indexed once for each size.
SMALL = ("scifact", "ray-docs")
MEASURES = {
    "ndcg@10": "nDCG@10",
    "recall@100": "R@100",
    "mrr@10": "MRR@10",
    "hit@1": "hit@1",
    "judged@10": "judged@10",
}
Measured = Mapping[str, str]
Part = Callable[[Sequence[str]], Measured]


def measure(names: Sequence[str] = (), page: Path | None = None, parts: Sequence[str] = ()) -> None:
    """Measure every part of the page (or those named) on every available set (or those named).

    It is printed, and all that has a place in the page is written there.
    """
    sets = list(names) or judged_sets()
    unknown = sorted(set(parts) - set(EVERY))
    if unknown:
        sys.exit(f"no part {', '.join(unknown)}; there are {', '.join(EVERY)}")
    found: dict[str, str] = {}
    for part in parts or PARTS:
        measured = EVERY[part](sets)
        for name, text in measured.items():
            print(f"\n== {name}\n{text}", flush=True)
            (cache_folder() / f"relevance-{name}.md").write_text(text + "\n", "utf-8")
        found |= {} if part in ASIDE else measured
    if page is not None:
        page.write_text(with_figures(page.read_text("utf-8"), found), "utf-8")
        print(f"\nwritten: {', '.join(found)} in {page}")


def _defaults(sets: Sequence[str]) -> Measured:
    cells = ablation([variants.DEFAULTS], sets, DEPTH).cells
    return {"defaults": "\n".join(_set_rows(cells))}


def _set_rows(cells: Sequence[Cell]) -> Iterator[str]:
    yield f"| set | queries | {' | '.join(MEASURES.values())} | unanswered |"
    yield "| --- |" + " ---: |" * (len(MEASURES) + 2)
    for cell in cells:
        means = cell.evaluation.means
        figures = [f"{means[key]:.4f}" for key in MEASURES]
        row = [f"{len(cell.evaluation.scores)}", *figures, f"{cell.evaluation.unanswered:.4f}"]
        yield f"| {cell.judged} | {' | '.join(row)} |"


def _compared(name: str, group: Callable[[], Sequence[variants.Variant]]) -> Part:
    """Return the part that compares the defaults with each of a group of variants, in one family of tests."""

    def part(sets: Sequence[str]) -> Measured:
        return {name: "\n".join(ablation([variants.DEFAULTS, *group()], sets, 10).overview())}

    return part


def _sizes(sets: Sequence[str]) -> Measured:
    small = [name for name in sets if name in SMALL]
    chunk = Settings().chunk
    table = ablation([variants.DEFAULTS, *variants.PASSAGE_SIZES], small, 10) if small else Ablation(())
    text = "\n".join(table.overview())
    return (
        {"sizes": text.replace("| defaults |", f"| defaults, {chunk.max_tokens} tokens |", 1)}
        if small
        else {}
    )


def _one(name: str, rows: Callable[[Sequence[str]], Iterator[str]]) -> Part:
    """Return the part that writes these rows under its own name."""
    return lambda sets: {name: "\n".join(rows(sets))}


PARTS: Mapping[str, Part] = {
    "defaults": _defaults,
    "baselines": _one("baselines", baselines.rows),
    "left-out": _one("left-out", left_out.rows),
    "static": _one("static", static_share.rows),
    "confidence": _one("confidence", confidence.rows),
    "lists": _compared("lists", lambda: variants.LISTS),
    "fusion": _compared("fusion", lambda: variants.FUSION),
    "stages": _compared("stages", variants.stage_variants),
    "options": _compared("options", variants.options),
}
# Only printed, and only where they are asked for: each builds stores or models for hours.
ASIDE: Mapping[str, Part] = {
    "sizes": _sizes,
    "learned": _one("learned", learned.rows),
    "encoder": _one("encoder", static_encoder.rows),
}
EVERY = {**PARTS, **ASIDE}
