"""Which setting is worth what: variants of the settings side by side on judged queries, as a table in markdown.

from bench.relevance import Variant, ablation
print(ablation([Variant("defaults"), Variant("rrf_k 20", {"search": {"rrf_k": 20}})], ["scifact"]).markdown())
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from artifacts.compared import Pair, compared
from artifacts.evaluate import Evaluation, evaluate, for_evaluation
from artifacts.judged import Judged
from artifacts.located import Located, locate, places
from artifacts.measures import DEPTH, HEADLINE
from artifacts.query import Mode, Searcher
from artifacts.significance import Comparison, holm
from artifacts.snapshot import Snapshot
from artifacts.store import Store
from bench.corpora import cache_folder
from bench.judged import judged_set, judged_sets, settings_for, store_for
from bench.query_vectors import RememberedEncoder
from pipeline.errors import NoctuleError
from pipeline.search_settings import StageName, Understanding
from pipeline.settings import Settings, parse

SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings that differ from a set's own in what ``settings`` names, as a settings file would."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    mode: Mode = "hybrid"


# The first is what the others are compared with.
LISTS: tuple[Variant, ...] = (
    Variant("defaults"),
    Variant("keyword list alone", mode="keyword"),
    Variant("semantic list alone", mode="semantic"),
    Variant("code list added", {"search": {"weights": {"code": 0.5}}}),
    Variant("graph list added", {"search": {"weights": {"graph": 0.5}}}),
    Variant("keyword 2 : semantic 1", {"search": {"weights": {"keyword": 2.0}}}),
    Variant("keyword 1 : semantic 2", {"search": {"weights": {"semantic": 2.0}}}),
    Variant("convex fusion", {"search": {"fusion": "convex"}}),
    Variant("rrf_k 20", {"search": {"rrf_k": 20}}),
    Variant("rrf_k 5", {"search": {"rrf_k": 5}}),
    Variant("candidates 300", {"search": {"candidates": 300}}),
)


def _seed_order() -> dict[str, Any]:
    """The settings file, without the stage that needs a model: a variant with a warning is left out."""
    given: dict[str, Any] = tomllib.loads(Path("configs/seed-order.toml").read_text("utf-8"))
    stages = [name for name in given["search"]["stages"] if name != "rerank"]
    return given | {"search": given["search"] | {"stages": stages}}


OPTIONS: tuple[Variant, ...] = (
    Variant("with balance", {"search": {"balance": {"on": True}}}),
    Variant('with fuzziness = "auto"', {"search": {"fuzziness": "auto"}}),
    Variant("with min_confidence = 0.3", {"search": {"calibrate": {"min_confidence": 0.3}}}),
    Variant("configs/seed-order.toml without rerank", _seed_order()),
)
# Each has a store of its own: minutes for a small set, hours for a large one.
PASSAGE_SIZES: tuple[Variant, ...] = (
    Variant("defaults"),
    *(
        Variant(f"passages of {size} tokens", {"chunk": {"max_tokens": size, "overlap_tokens": size // 8}})
        for size in (128, 192, 384, 512)
    ),
)


def stage_variants() -> tuple[Variant, ...]:
    """Each step of understanding and each stage: taken out where it is on by default, put in where it is off."""
    search = Settings().search
    return (
        *_switched("understand", get_args(Understanding), search.understand),
        *_switched("stages", get_args(StageName), search.stages),
    )


def _switched(key: str, known: Sequence[str], on: Sequence[str]) -> Iterator[Variant]:
    for name in known:
        if name in on:
            yield Variant(f"without {name}", {"search": {key: [each for each in on if each != name]}})
        else:
            yield Variant(f"with {name}", {"search": {key: [each for each in known if each in (*on, name)]}})


@dataclass(frozen=True, slots=True)
class Cell:
    """A variant on a set: its evaluation and, but for the first variant, what it changes; ``p`` is Holm's."""

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
        """One table over all sets, then one for each set."""
        names = list(dict.fromkeys(cell.judged for cell in self.cells))
        return "\n".join([*self._overview(names), *(line for name in names for line in self._details(name))])

    def _of(self, judged: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.judged == judged]

    def _overview(self, names: Sequence[str]) -> Iterator[str]:
        found = {(cell.variant, cell.judged): _short(cell) for cell in self.cells}
        yield f"nDCG@10 and its difference to the first row; * where p < {SIGNIFICANT:g} after Holm's correction.\n"
        yield f"| variant | {' | '.join(names)} |"
        yield "| --- |" + " ---: |" * len(names)
        for variant in dict.fromkeys(cell.variant for cell in self.cells):
            yield f"| {variant} | {' | '.join(found.get((variant, name), '') for name in names)} |"

    def _details(self, name: str) -> Iterator[str]:
        cells = self._of(name)
        yield f"\n## {name}: {len(cells[0].evaluation.scores)} queries\n"
        yield "| variant | nDCG@10 | difference | 95 % interval | p | p (Holm) | won / same / lost | R@100 | hit@1 |"
        yield "| --- |" + " ---: |" * 8
        yield from (_long(cell) for cell in cells)


def _short(cell: Cell) -> str:
    mean = f"{cell.evaluation.means[HEADLINE]:.4f}"
    if cell.comparison is None:
        return mean
    return f"{mean} {cell.comparison.difference:+.4f}{'*' if cell.p < SIGNIFICANT else ''}"


def _long(cell: Cell) -> str:
    means, c = cell.evaluation.means, cell.comparison
    change = (
        ["", "", "", "", ""]
        if c is None
        else [
            f"{c.difference:+.4f}",
            f"{c.low:+.4f} to {c.high:+.4f}",
            _p(c.p),
            _p(cell.p),
            f"{c.wins} / {c.ties} / {c.losses}",
        ]
    )
    figures = [f"{means[HEADLINE]:.4f}", *change, _recall(cell), f"{means['hit@1']:.4f}"]
    return f"| {cell.variant} | {' | '.join(figures)} |"


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"


def _recall(cell: Cell) -> str:
    """R@100, where so many documents were asked for."""
    return f"{cell.evaluation.means['recall@100']:.4f}" if cell.depth >= DEPTH else ""


def measure() -> None:
    """The lists and stages on every set that is there; the table is also kept as ``relevance.md`` in the cache."""
    table = ablation([*LISTS, *stage_variants(), *OPTIONS], judged_sets(), depth=10).markdown()
    (cache_folder() / "relevance.md").write_text(table + "\n", "utf-8")
    print(table)


def ablation(variants: Sequence[Variant], names: Sequence[str], depth: int = DEPTH) -> Ablation:
    """Every variant on every set; the first variant is the baseline. R@100 needs the whole ``depth``, nDCG@10 ten.

    A set whose documents cannot be indexed or found, and a variant that cannot be searched with, is left out,
    saying so. A variant that shapes the index otherwise has a store built for it.
    """
    encoder = RememberedEncoder(Settings().embed)
    cells: list[Cell] = []
    for name in names:
        cells += _cells(name, variants, encoder, depth)
        encoder.save()
    corrected = iter(holm([cell.comparison.p for cell in cells if cell.comparison]))
    return Ablation(tuple(replace(cell, p=next(corrected)) if cell.comparison else cell for cell in cells))


def _cells(name: str, variants: Sequence[Variant], encoder: RememberedEncoder, depth: int) -> list[Cell]:
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
    """A set and the snapshots it is searched in, each opened once."""

    def __init__(
        self, judged: Judged, settings: Settings, encoder: RememberedEncoder, stack: ExitStack
    ) -> None:
        self._judged, self._settings, self._encoder, self._stack = judged, settings, encoder, stack
        self._opened: dict[Path, _Opened] = {}

    def evaluated(self, variant: Variant, depth: int) -> Evaluation:
        settings = overridden(self._settings, variant)
        opened = self._open(store_for(self._judged.name, settings))
        searcher = Searcher(opened.snapshot, for_evaluation(settings), self._encoder)
        return evaluate(searcher, self._judged, opened.located, mode=variant.mode, depth=depth)

    def _open(self, store: Store) -> _Opened:
        if store.root not in self._opened:
            snapshot = self._stack.enter_context(store.open())
            self._opened[store.root] = _Opened(snapshot, locate(self._judged, places(snapshot)))
        return self._opened[store.root]


@dataclass(frozen=True, slots=True)
class _Opened:
    snapshot: Snapshot
    located: Located


def overridden(settings: Settings, variant: Variant) -> Settings:
    """The settings with those of the variant in their place; tables are merged, everything else replaced."""
    return parse(_merged(settings.model_dump(mode="json"), variant.settings), where=variant.name)


def _merged(given: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(given)
    for key, value in changes.items():
        inner = merged.get(key)
        merged[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged
