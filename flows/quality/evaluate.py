"""What ``noctule evaluate`` does: ask judged queries of a snapshot, and of another or with other settings."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.disk import durable
from ...artifacts.judged.compare import Compared, Pair, compared
from ...artifacts.judged.evaluate import Evaluation, evaluate, evaluate_run, for_evaluation
from ...artifacts.judged.locating import locate, places
from ...artifacts.judged.reading import RUN_FILE, Judged, read_judged
from ...artifacts.query import Mode, Searcher
from ...pipeline.errors import SettingsError, SourceError

if TYPE_CHECKING:
    from ...artifacts.store.store import Store
    from ...pipeline.model import SnapshotId
    from ...pipeline.settings.settings import Settings
    from ..run.stage import Progress

OUT_ENDINGS = (".json", ".parquet")


@dataclass(frozen=True, slots=True)
class EvaluatedSearch:
    """A search to evaluate: settings over a snapshot (the current one if none is named).

    ``label`` tells it from others.
    """

    label: str
    store: Store
    snapshot: SnapshotId | None
    settings: Settings


@dataclass(frozen=True, slots=True)
class Relevance:
    """The evaluations of a search by set, those of what it is compared with, and the comparisons."""

    snapshot: SnapshotId
    mode: Mode
    evaluations: tuple[Evaluation, ...]
    baselines: tuple[Pair, ...]
    comparisons: tuple[Compared, ...]
    warnings: tuple[str, ...] = ()

    def as_dict(self, *, per_query: bool = False) -> dict[str, object]:
        """Return the relevance as JSON prints it; with a single set, its figures also stand at the top."""
        sets = [each.as_dict(per_query=per_query) for each in self.evaluations]
        baselines = [{"against": p.baseline, **p.before.as_dict(per_query=per_query)} for p in self.baselines]
        top = {key: value for key, value in sets[0].items() if key != "per_query"} if len(sets) == 1 else {}
        return {
            **top,
            "snapshot": self.snapshot,
            "mode": self.mode,
            "sets": sets,
            "baselines": baselines,
            "comparisons": [each.as_dict() for each in self.comparisons],
            "warnings": list(self.warnings),
        }


def judged_sets(folders: Sequence[Path]) -> tuple[Judged, ...]:
    """Return the sets in the folders, in order; raises ``SourceError``, also for a folder named twice."""
    resolved = [folder.resolve() for folder in folders]
    if twice := next((folder for folder in resolved if resolved.count(folder) > 1), None):
        raise SourceError("the folder is named twice", where=str(twice), hint="Name each set once.")
    return tuple(read_judged(folder) for folder in folders)


def relevance(
    subject: EvaluatedSearch,
    sets: Sequence[Judged],
    mode: Mode,
    against: EvaluatedSearch | None,
    progress: Progress,
) -> Relevance:
    """Evaluate the subject on every set, compared with rankings that sets bring along and ``against``."""
    snapshot, own, pairs = evaluated(subject, sets, mode, progress)
    if against is not None:
        _, other, _ = evaluated(against, sets, mode, progress)
        pairs += tuple(Pair(against.label, before, after) for before, after in zip(other, own, strict=True))
    searched = [*own, *(pair.before for pair in pairs)]
    said = [f"{each.judged}: {warning}" for each in searched for warning in each.warnings]
    warnings = tuple(dict.fromkeys([*_notes(subject, against), *said]))
    return Relevance(snapshot, mode, own, pairs, compared(pairs), warnings)


def evaluated(
    subject: EvaluatedSearch, sets: Sequence[Judged], mode: Mode, progress: Progress, *, timed: bool = True
) -> tuple[SnapshotId, tuple[Evaluation, ...], tuple[Pair, ...]]:
    """Return the snapshot asked, an evaluation for each set, and the rankings that sets brought along."""
    evaluations, runs = [], []
    with subject.store.open(subject.snapshot) as snapshot:
        searcher = Searcher(snapshot, for_evaluation(subject.settings))
        there = places(snapshot)
        for judged in sets:
            located = locate(judged, there)
            progress.begin(f"{judged.name}, {subject.label}", len(judged.answerable), "queries")
            try:
                evaluations.append(
                    evaluate(searcher, judged, located, mode=mode, timed=timed, advance=progress.advance)
                )
            finally:
                progress.end()
            if judged.run:
                runs.append(Pair(RUN_FILE, evaluate_run(judged, located), evaluations[-1]))
        return snapshot.id, tuple(evaluations), tuple(runs)


def _notes(subject: EvaluatedSearch, against: EvaluatedSearch | None) -> list[str]:
    if against is None or _shape(against.settings) == _shape(subject.settings):
        return []
    return [f"{against.label}: only how it searches was compared; its other settings shape another snapshot"]


def _shape(settings: Settings) -> dict[str, object]:
    return {key: value for key, value in settings.shaping().items() if key != "collections"}


def require_known_ending(out: Path) -> None:
    """Raise ``SettingsError`` for a file that is neither JSON nor Parquet."""
    if out.suffix not in OUT_ENDINGS:
        raise SettingsError(
            f"the name must end in {' or '.join(OUT_ENDINGS)}", where=f"--out {out}", hint="Name such a file."
        )


def write(found: Relevance, out: Path) -> None:
    """Write the relevance with every query as a JSON file, or its queries as the rows of a Parquet file."""
    if out.suffix == ".parquet":
        content = _parquet(found)
    else:
        content = (json.dumps(found.as_dict(per_query=True), ensure_ascii=False, indent=1) + "\n").encode()
    durable.replace_file(out.absolute(), content)


def _parquet(found: Relevance) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    labelled = [("", each) for each in found.evaluations]
    labelled += [(pair.baseline, pair.before) for pair in found.baselines]
    rows = [
        {"judged": each.judged, "against": label, **score.as_dict()}
        for label, each in labelled
        for score in each.scores
    ]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer, compression="zstd")
    return buffer.getvalue()
