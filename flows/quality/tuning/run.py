"""What ``noctule tune`` does: from folders and stores to a verdict, and to settings if there is a gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ....artifacts.disk import durable
from ....artifacts.judged.reading import Judged
from ....artifacts.query import Mode
from ....pipeline.errors import SettingsError, SourceError
from ....pipeline.settings.settings import Settings
from ...run.request import read_settings
from ..evaluate import judged_sets
from .descent import AxisOfToday, Effort
from .held_out import TuningResult, tune
from .judged_stores import TuningData, tuning_data
from .settings_file import as_file
from .space import DEFAULT_SPACE, Axis, applied, axes, checked, read_space, today
from .trials import Trials

if TYPE_CHECKING:
    from ...run.stage import Progress


@dataclass(frozen=True, slots=True)
class TuningRequest:
    """What to tune, on what, and how hard to try."""

    stores: tuple[Path, ...]
    config: Path | None
    judged: tuple[Path, ...]
    mode: Mode
    space: Path | None
    folds: int
    effort: Effort


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was found, and the settings with it."""

    found: TuningResult
    settings: Settings
    notes: tuple[str, ...]


def run(request: TuningRequest, progress: Progress) -> Tuned:
    """Find the best settings; raise ``SettingsError``, ``SourceError``, or as ``Store.open`` does."""
    if not request.judged:
        what = "there is nothing to tune on"
        raise SettingsError(what, where="--judged", hint="Name a folder: --judged DIR")
    settings, sets = read_settings(request.config), judged_sets(request.judged)
    _require_queries(sets, request.folds)
    default = {key: list(values) for key, values in DEFAULT_SPACE.items()}
    space = read_space(request.space) if request.space else axes(default, "the default space")
    checked(space, settings)
    with tuning_data(request.stores, sets, settings) as data:
        found = _found(request, space, data, progress)
        return Tuned(found, applied(data.today, found.point), (*_notes(data, settings), *_left_out(data)))


def _found(
    request: TuningRequest, space: Sequence[Axis], data: TuningData, progress: Progress
) -> TuningResult:
    wanted = [*space, *([data.sizes] if data.sizes else [])]
    of_today = [AxisOfToday(axis, today(data.today, axis)) for axis in wanted]
    progress.begin("tune", request.effort.points * (request.folds + 1), "settings")
    try:
        trials = Trials(data.tuning_sets, data.today, request.mode, progress.advance)
        return tune(trials, of_today, request.folds, request.effort)
    finally:
        progress.end()


def write(tuned: Tuned, path: Path, *, even_if_noise: bool) -> bool:
    """Write the settings if they are better, or chance does not matter; return whether that was done."""
    if not (tuned.found.better or (even_if_noise and tuned.found.point.changes)):
        return False
    durable.replace_file(path.absolute(), as_file(tuned.settings, tuned.found))
    return True


def _require_queries(sets: Sequence[Judged], folds: int) -> None:
    for judged in sets:
        if len(judged.answerable) < 2 * folds:
            raise SourceError(
                f"{len(judged.answerable)} queries that a document answers are too few for {folds} folds",
                where=judged.name,
                hint=f"Judge {2 * folds} or more, or ask for fewer --folds.",
            )


def _notes(data: TuningData, settings: Settings) -> tuple[str, ...]:
    own = data.today.lexical == settings.lexical and data.today.chunk == settings.chunk
    other = (
        "the snapshot was built with other [lexical] or [chunk] settings than the file has; "
        "the snapshot's count"
    )
    return (*data.notes, *([] if own else [other]))


def _left_out(data: TuningData) -> list[str]:
    """Return what the judgements name that is not there: it counts against all settings alike."""
    said = []
    for each in data.tuning_sets:
        judged, missing = each.judged, len(next(iter(each.built.values())).located.missing)
        excluded = len(judged.queries) - len(judged.answerable)
        counts = {
            "judged documents that are not in the snapshot": missing,
            "queries that only the judgements name": len(judged.unknown_queries),
            "queries that no document answers": excluded,
        }
        said += [
            f"{judged.name}: {what}: {count:,} (noctule evaluate lists them)"
            for what, count in counts.items()
            if count
        ]
    return said
