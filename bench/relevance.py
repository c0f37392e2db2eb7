"""Ablation: variants of the settings compared on judged queries, as a markdown table.

from bench.relevance import ablation
from bench.variants import Variant
variants = [Variant("defaults"), Variant("rrf_k 20", {"search": {"rrf_k": 20}})]
print(ablation(variants, ["scifact"]).markdown())
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.judged import judged_set, settings_for, store_for
from bench.query_vectors import CachedEncoder
from bench.variants import Variant
from noctule.artifacts.judged.compare import Pair, compared
from noctule.artifacts.judged.evaluate import Evaluation, evaluate, for_evaluation
from noctule.artifacts.judged.locating import Located, locate, places
from noctule.artifacts.judged.measures import DEPTH, HEADLINE
from noctule.artifacts.judged.reading import Judged
from noctule.artifacts.judged.significance import Comparison, holm
from noctule.artifacts.query import Searcher
from noctule.artifacts.store.store import Store
from noctule.flows.quality.tuning.trials import KeptLists
from noctule.pipeline.errors import NoctuleError
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings

SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Cell:
    """A variant on a set: its evaluation and, except for the first, its difference; ``p`` is Holm's."""

    variant: str
    judged: str
    evaluation: Evaluation
    depth: int
    comparison: Comparison | None = None
    p: float = 1.0


@dataclass(frozen=True, slots=True)
class Ablation:
    """Every variant on every set, by set and then variant, in the order given."""

    cells: tuple[Cell, ...]

    def markdown(self) -> str:
        """Return one table over all sets, then one for each set."""
        names = list(dict.fromkeys(cell.judged for cell in self.cells))
        return "\n".join([*self.overview(), *(line for name in names for line in self._details(name))])

    def overview(self) -> Iterator[str]:
        """Yield the table over all sets: nDCG@10, the difference, and a star if it is significant."""
        names = list(dict.fromkeys(cell.judged for cell in self.cells))
        found = {(cell.variant, cell.judged): _short(cell) for cell in self.cells}
        yield f"| variant | {' | '.join(names)} |"
        yield "| --- |" + " ---: |" * len(names)
        for variant in dict.fromkeys(cell.variant for cell in self.cells):
            yield f"| {variant} | {' | '.join(found.get((variant, name), '') for name in names)} |"

    def _details(self, name: str) -> Iterator[str]:
        cells = [cell for cell in self.cells if cell.judged == name]
        yield f"\n## {name}: {len(cells[0].evaluation.scores)} queries\n"
        yield (
            "| variant | nDCG@10 | difference | 95 % interval | p | p (Holm) "
            "| won / same / lost | R@100 | hit@1 |"
        )
        yield "| --- |" + " ---: |" * 8
        yield from (_long(cell) for cell in cells)


def _short(cell: Cell) -> str:
    mean = f"{cell.evaluation.means[HEADLINE]:.4f}"
    if cell.comparison is None:
        return mean
    star = "\\*" if cell.p < SIGNIFICANT else ""
    return f"{mean} {cell.comparison.difference:+.4f}{star}"


def _long(cell: Cell) -> str:
    means, c = cell.evaluation.means, cell.comparison
    change = (
        ["", "", "", "", ""]
        if c is None
        else [
            f"{c.difference:+.4f}",
            f"{c.low:+.4f} to {c.high:+.4f}",
            shown_p(c.p),
            shown_p(cell.p),
            f"{c.wins} / {c.ties} / {c.losses}",
        ]
    )
    figures = [f"{means[HEADLINE]:.4f}", *change, _recall(cell), f"{means['hit@1']:.4f}"]
    return f"| {cell.variant} | {' | '.join(figures)} |"


def shown_p(value: float) -> str:
    """Format a p value for a table."""
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"


def _recall(cell: Cell) -> str:
    """Format R@100, if that many documents were requested."""
    return f"{cell.evaluation.means['recall@100']:.4f}" if cell.depth >= DEPTH else ""


def ablation(variants: Sequence[Variant], names: Sequence[str], depth: int = DEPTH) -> Ablation:
    """Evaluate every variant on every set; the first variant is the baseline.

    R@100 needs the whole ``depth``, nDCG@10 only ten. A set whose documents cannot be indexed or found, and a
    variant that cannot be searched with, is left out with a message. A variant that shapes the index
    differently has a store built for it.
    """
    encoder = CachedEncoder(Settings().embed)
    cells: list[Cell] = []
    for name in names:
        cells += _cells(name, variants, encoder, depth)
        encoder.save()
    corrected = iter(holm([cell.comparison.p for cell in cells if cell.comparison]))
    return Ablation(tuple(replace(cell, p=next(corrected)) if cell.comparison else cell for cell in cells))


def _cells(name: str, variants: Sequence[Variant], encoder: CachedEncoder, depth: int) -> list[Cell]:
    cells: list[Cell] = []
    with ExitStack() as stack:
        bench = _Bench(judged_set(name), settings_for(name), encoder, stack)
        for variant in variants:
            start = time.perf_counter()
            try:
                evaluation = bench.evaluated(variant, depth)
            except NoctuleError as error:
                print(f"{name}: {variant.name} is left out: {error}")
                if not cells:
                    return []
                continue
            failed = set(evaluation.warnings) - set(cells[0].evaluation.warnings if cells else ())
            spent = f"{evaluation.means[HEADLINE]:.4f} in {time.perf_counter() - start:.1f} s"
            print(f"{name}: {variant.name}: {spent}", *sorted(failed), flush=True)
            if failed and cells:
                # A stage that could not run changes nothing, and must not look harmless.
                continue
            changed = compared([Pair("", cells[0].evaluation, evaluation)])[0].result if cells else None
            cells.append(Cell(variant.name, name, evaluation, depth, changed))
    return cells


class _Bench:
    """A set and the snapshots it is searched in, each opened once; variants share what was read."""

    def __init__(self, judged: Judged, settings: Settings, encoder: CachedEncoder, stack: ExitStack) -> None:
        self._judged, self._settings, self._encoder, self._stack = judged, settings, encoder, stack
        self._opened: dict[tuple[Path, str], _Opened] = {}

    def evaluated(self, variant: Variant, depth: int) -> Evaluation:
        settings = overridden(self._settings, variant)
        opened = self._open(store_for(self._judged.name, settings), settings)
        search = for_evaluation(settings).search
        searcher = opened.searcher.with_settings(search, remember=opened.kept.for_settings(search))
        return evaluate(searcher, self._judged, opened.located, mode=variant.mode, depth=depth)

    def _open(self, store: Store, settings: Settings) -> _Opened:
        key = (store.root, settings.search.encoder)
        if key not in self._opened:
            snapshot = self._stack.enter_context(store.open())
            encoder = self._encoder if settings.search.encoder == "full" else None
            searcher = Searcher(snapshot, for_evaluation(settings), encoder)
            self._stack.callback(searcher.close)
            self._opened[key] = _Opened(searcher, locate(self._judged, places(snapshot)), KeptLists())
        return self._opened[key]


@dataclass(frozen=True, slots=True)
class _Opened:
    searcher: Searcher
    located: Located
    kept: KeptLists


def overridden(settings: Settings, variant: Variant) -> Settings:
    """Return the settings overridden by those of the variant; tables are merged, everything else replaced."""
    return parse(_merged(settings.model_dump(mode="json"), variant.settings), where=variant.name)


def _merged(given: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(given)
    for key, value in changes.items():
        inner = merged.get(key)
        merged[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged
