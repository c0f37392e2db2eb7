"""The stores and judged sets of a tuning: which set can be asked of which store.

Stores that hold a set's documents in passages of different sizes make the size an axis of the space: nothing
that a snapshot can be searched with changes it, so each value is a store of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ....artifacts.judged.evaluate import for_evaluation
from ....artifacts.judged.locating import locate, places
from ....artifacts.judged.reading import Judged
from ....artifacts.query import Searcher
from ....artifacts.query.understanding.query_vectors import KeptVectors, shared_encoder
from ....artifacts.store.snapshot import Snapshot
from ....artifacts.store.store import Store
from ....pipeline.errors import SourceError
from ....pipeline.settings.settings import Chunk, Lexical, Settings
from .space import CHUNK, Axis, Value
from .trials import Built, KeptLists, TuningSet, chunk_label, most_kept


@dataclass(frozen=True, slots=True)
class TuningData:
    """What tuning works on: the sets with their snapshots, today's settings, an axis for passage sizes.

    Today's settings have the scoring and the passages of the first store's snapshot, whatever the file says.
    """

    tuning_sets: tuple[TuningSet, ...]
    today: Settings
    sizes: Axis | None
    notes: tuple[str, ...]


@contextmanager
def tuning_data(stores: Sequence[Path], sets: Sequence[Judged], settings: Settings) -> Iterator[TuningData]:
    """Yield the sets with open snapshots; raise as ``Store.open``, ``SourceError`` if one fits no store."""
    with ExitStack() as stack:
        encoders: dict[str, KeptVectors] = {}
        opened = []
        for root in stores:
            snapshot = stack.enter_context(Store(root).open())
            encoder = shared_encoder(snapshot, settings, encoders)
            opened.append(_Opened(root, snapshot, Searcher(snapshot, for_evaluation(settings), encoder)))
            stack.enter_context(opened[-1].searcher)
        first = opened[0]
        today = settings.model_copy(update={"lexical": first.lexical, "chunk": first.chunk})
        tuning_sets = tuple(_tuning_set(judged, opened) for judged in sets)
        sizes, notes = _sizes(tuning_sets, today)
        yield TuningData(_narrowed(tuning_sets, sizes, today), today, sizes, notes)


@dataclass(frozen=True, slots=True)
class _Opened:
    root: Path
    snapshot: Snapshot
    searcher: Searcher

    @property
    def lexical(self) -> Lexical:
        return Lexical.model_validate(self.snapshot.manifest.settings["lexical"])

    @property
    def chunk(self) -> Chunk:
        return Chunk.model_validate(self.snapshot.manifest.settings["chunk"])


def _tuning_set(judged: Judged, opened: Sequence[_Opened]) -> TuningSet:
    """Return the set with every snapshot that holds some of its documents.

    Raises ``SourceError``: the last refusal where there is no such snapshot, and where two have passages of
    the same size.
    """
    built: dict[str, Built] = {}
    refusal: SourceError | None = None
    for each in opened:
        try:
            located = locate(judged, places(each.snapshot))
        except SourceError as error:
            refusal = error
            continue
        label = chunk_label(Settings(chunk=each.chunk))
        if label in built:
            raise SourceError(
                f"{judged.name} is in two stores with passages of the same size ({label})",
                where=str(each.root),
                hint="Name one of them, or index it again with another chunk.max_tokens.",
            )
        kept = KeptLists(most_kept(each.searcher.corpus.passages, len(judged.answerable)))
        built[label] = Built(each.searcher, located, each.lexical, kept=kept)
    if not built:
        assert refusal is not None
        raise refusal
    return TuningSet(judged, built)


def _sizes(tuning_sets: Sequence[TuningSet], today: Settings) -> tuple[Axis | None, tuple[str, ...]]:
    """Return the sizes that every set with several stores has; what only some have is left out, and said."""
    several = [list(each.built) for each in tuning_sets if len(each.built) > 1]
    if not several:
        return None, ()
    common = [label for label in several[0] if all(label in others for others in several)]
    left = sorted({label for labels in several for label in labels} - set(common))
    notes = [f"passages of {label} tokens are not tried: a set has no such store" for label in left]
    if chunk_label(today) not in common:
        raise SourceError(
            f"the first store has passages of {chunk_label(today)} tokens, and a set has no store with these",
            where=", ".join(each.judged.name for each in tuning_sets),
            hint="Name first the store that is in use, and build the same sizes for every set.",
        )
    return Axis(CHUNK, tuple(common)) if len(common) > 1 else None, tuple(notes)


def _narrowed(tuning_sets: Sequence[TuningSet], sizes: Axis | None, today: Settings) -> tuple[TuningSet, ...]:
    """Return the sets with the snapshots that are tried, and no others."""
    kept: tuple[Value, ...] = sizes.values if sizes else (chunk_label(today),)
    narrowed = []
    for each in tuning_sets:
        tried = {label: built for label, built in each.built.items() if label in kept}
        narrowed.append(TuningSet(each.judged, tried) if len(each.built) > 1 else each)
    return tuple(narrowed)
