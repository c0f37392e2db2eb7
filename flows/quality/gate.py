"""The gate before publication: a snapshot that answers judged queries worse than the current one is refused.

Both are asked the same queries with the same search settings. Only judgements of documents that both hold
count: that a document was deleted tonight is no fault of the search, and is reported instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ...artifacts.judged.compare import Compared, Pair, QueryChange, compared
from ...artifacts.judged.evaluate import Evaluation, evaluate, for_evaluation
from ...artifacts.judged.explain import Explained, explained
from ...artifacts.judged.locating import Located, locate, places
from ...artifacts.judged.measures import DEPTH
from ...artifacts.judged.reading import Judged, read_judged
from ...artifacts.query import Searcher
from ...artifacts.query.understanding.query_vectors import KeptVectors, shared_encoder
from ...artifacts.store.snapshot import Snapshot
from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError, SourceError
from ...pipeline.model import DocId, SnapshotId
from ...pipeline.settings.settings import RelevanceSettings, Settings
from ..run.context import RunContext
from ..stages.write import StagedSnapshot

_NOTHING_BEFORE = "there is no current snapshot that can be read: nothing to compare with"
_NEW = "{}: the current snapshot has no document that answers its queries: nothing to compare with"
# The names of measures among the values of a query.
_KEYS = {"nDCG@10": "ndcg@10", "R@100": "recall@100", "MRR@10": "mrr@10", "hit@1": "hit@1"}
_THE_SAME = "the content is that of the current snapshot: nothing was asked"


@dataclass(frozen=True, slots=True)
class FallenQuery:
    """A query that is answered worse, and where the document that answers it stood before and stands now."""

    change: QueryChange
    before: Explained
    after: Explained


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """A judged set on the new snapshot and, where there is one, on the current.

    ``deleted`` are judged documents that only the current one holds, ``missing`` those that neither does;
    ``unanswered`` is the share of queries for which nothing at all is found;
    ``reason`` is empty unless the set refuses the snapshot. ``p`` is corrected for the number of sets.
    """

    judged: str
    queries: int
    after: float
    before: float | None = None
    low: float = 0.0
    high: float = 0.0
    p: float = 1.0
    deleted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unknown_queries: tuple[str, ...] = ()
    fell: tuple[FallenQuery, ...] = ()
    reason: str = ""
    unanswered: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate found; ``current`` is empty where there was nothing to compare with."""

    measure: str
    current: str
    sets: tuple[SetVerdict, ...]
    notes: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why the snapshot is not to be published; nothing if it may be."""
        return tuple(each.reason for each in self.sets if each.reason)


def read_judged_sets(run: RunContext) -> tuple[Judged, ...]:
    """Read the judged queries that the settings name; raise ``SourceError`` or ``SettingsError``."""
    return tuple(read_judged(Path(folder)) for folder in run.settings.relevance.judged)


def judge_staged(
    run: RunContext, store: Store, staged: StagedSnapshot, judged: Sequence[Judged]
) -> Verdict | None:
    """Judge the unpublished snapshot against the current one; ``None`` without judged queries."""
    if not judged:
        return None
    # Opened here: a second try must not find it closed.
    new = store.read_staged(staged.staging, staged.manifest)
    return judge(new, current_of(store), judged, run.settings)


def current_of(store: Store) -> Snapshot | None:
    """Return the current snapshot; ``None`` before the first, and where ``noctule check`` refuses it."""
    try:
        return store.open() if store.current() is not None else None
    except ArtifactError:
        return None


def judge(new: Snapshot, current: Snapshot | None, sets: Sequence[Judged], settings: Settings) -> Verdict:
    """Judge whether the new snapshot answers as well as the current one, and close both.

    Raises ``SourceError`` where neither has a document of a set. A fall is no error here: who asks decides.
    """
    relevance, encoders = settings.relevance, dict[str, KeptVectors]()
    with ExitStack() as stack:
        for opened in filter(None, (new, current)):
            stack.callback(opened.close)  # what cannot be searched is closed too
        after = stack.enter_context(_Side(new, settings, encoders))
        if current is None:
            alone = tuple(_alone(after, judged, relevance) for judged in sets)
            return Verdict(relevance.measure, "", alone, (_NOTHING_BEFORE, *after.warnings))
        before = stack.enter_context(_Side(current, settings, encoders))
        if current.id == new.id:
            return Verdict(relevance.measure, str(current.id), (), (_THE_SAME,))
        compared_sets = [_Compared(before, after, judged) for judged in sets]
        found = _decided(compared_sets, relevance)
        unmatched = [_NEW.format(each.judged.name) for each in compared_sets if each.is_new(relevance)]
        notes = tuple(dict.fromkeys([*unmatched, *before.warnings, *after.warnings]))
        return Verdict(relevance.measure, str(current.id), found, notes)


class _Side:
    """A snapshot to ask, with the encoder that it shares with snapshots of the same model."""

    def __init__(self, snapshot: Snapshot, settings: Settings, encoders: dict[str, KeptVectors]) -> None:
        encoder = shared_encoder(snapshot, settings, encoders)
        self.searcher = Searcher(snapshot, for_evaluation(settings), encoder)
        self.places = places(snapshot)
        self.id: SnapshotId = snapshot.id
        self.warnings: dict[str, None] = {}

    def __enter__(self) -> _Side:
        return self

    def __exit__(self, *_: object) -> None:
        self.searcher.close()

    def evaluated(self, judged: Judged, located: Located) -> Evaluation:
        found = evaluate(self.searcher, judged, located)
        self.warnings |= dict.fromkeys(found.warnings)
        return found

    def explained(self, text: str, doc_id: DocId) -> Explained:
        return explained(self.searcher, text, doc_id, "hybrid", DEPTH)

    def located(self, judged: Judged) -> Located:
        """Return the judged documents that are there; to find none is no error here."""
        try:
            return locate(judged, self.places)
        except SourceError:
            return Located({}, judged.documents)


def _alone(side: _Side, judged: Judged, relevance: RelevanceSettings) -> SetVerdict:
    located = locate(judged, side.places)
    found = side.evaluated(judged, located)
    return SetVerdict(
        judged=judged.name,
        queries=len(found.scores),
        after=found.means[_KEYS[relevance.measure]],
        missing=located.missing,
        unknown_queries=judged.unknown_queries,
        unanswered=found.unanswered,
    )


class _Compared:
    """A set asked of both snapshots, by the judgements of documents that are in both."""

    def __init__(self, before: _Side, after: _Side, judged: Judged) -> None:
        self.before, self.after, self.judged = before, after, judged
        was, now = before.located(judged), after.located(judged)
        if not was.doc_ids and not now.doc_ids:
            locate(judged, after.places)  # raises, saying what to do
        judged_documents = set(judged.documents)
        there = judged_documents & set(was.doc_ids)
        self.deleted = tuple(sorted(there - set(now.doc_ids)))
        self.missing = tuple(sorted(judged_documents - there - set(now.doc_ids)))
        self.share_deleted = len(self.deleted) / len(there) if there else 0.0
        self.located = Located({each: now.doc_ids[each] for each in there if each in now.doc_ids}, ())
        self.was = Located({each: was.doc_ids[each] for each in self.located.doc_ids}, ())
        self.common = _only(judged, frozenset(self.located.doc_ids))
        self.pair = self._pair() if self.common.answerable else None

    def is_new(self, relevance: RelevanceSettings) -> bool:
        """Return whether nothing can be compared although nothing was deleted: the documents came tonight."""
        return self.pair is None and not self.is_emptied(relevance)

    def is_emptied(self, relevance: RelevanceSettings) -> bool:
        """Return whether too many of the set's documents were deleted, or all that answer a query."""
        gains = (gains.get(each, 0) for gains in self.judged.qrels.values() for each in self.deleted)
        return self.share_deleted > relevance.max_deleted or (self.pair is None and any(gains))

    def _pair(self) -> Pair:
        return Pair(
            str(self.before.id),
            self.before.evaluated(self.common, self.was),
            self.after.evaluated(self.common, self.located),
        )

    def fallen(self, change: QueryChange) -> FallenQuery:
        """Return the query with the document that answers it best, before and after."""
        gains = self.common.qrels[change.query_id]
        right = [document for document in sorted(gains) if gains[document] > 0]
        stood = [self.before.explained(change.text, self.was.doc_ids[each]) for each in right]
        # The one that stood highest; of several that did not stand at all, the best judged.
        at = min(range(len(right)), key=lambda at: (stood[at].rank or DEPTH + 1, -gains[right[at]], at))
        return FallenQuery(
            change, stood[at], self.after.explained(change.text, self.located.doc_ids[right[at]])
        )


def _only(judged: Judged, documents: frozenset[str]) -> Judged:
    """Return the set with the judgements of these documents only."""
    qrels = judged.qrels.items()
    kept = {query: {name: gains[name] for name in gains if name in documents} for query, gains in qrels}
    return replace(judged, qrels=kept)


def _decided(sides: Sequence[_Compared], relevance: RelevanceSettings) -> tuple[SetVerdict, ...]:
    emptied = [side.is_emptied(relevance) for side in sides]
    pairs = [side.pair for side, gone in zip(sides, emptied, strict=True) if side.pair and not gone]
    results = iter(compared(pairs, _KEYS[relevance.measure], relevance.shown))
    found = []
    for side, gone in zip(sides, emptied, strict=True):
        if gone:
            found.append(_emptied(side))
        elif side.pair is None:
            found.append(_alone(side.after, side.judged, relevance))
        else:
            found.append(_judged(side, next(results), relevance))
    return tuple(found)


def _judged(side: _Compared, comparison: Compared, relevance: RelevanceSettings) -> SetVerdict:
    found = SetVerdict(
        judged=side.judged.name,
        queries=comparison.result.queries,
        after=comparison.result.mean,
        before=comparison.result.baseline,
        low=comparison.result.low,
        high=comparison.result.high,
        p=comparison.p,
        deleted=side.deleted,
        missing=side.missing,
        unknown_queries=side.judged.unknown_queries,
        fell=tuple(side.fallen(change) for change in comparison.fell),
        unanswered=side.pair.after.unanswered if side.pair else None,
    )
    return replace(found, reason=_reason(found, relevance))


def _emptied(side: _Compared) -> SetVerdict:
    """Return the verdict on a set that has lost too many documents for the others to say anything."""
    count, of = len(side.deleted), len(side.deleted) + len(side.located.doc_ids)
    return SetVerdict(
        judged=side.judged.name,
        queries=len(side.common.answerable),
        after=0.0,
        deleted=side.deleted,
        missing=side.missing,
        unknown_queries=side.judged.unknown_queries,
        reason=f"{count:,} of {of:,} judged documents of {side.judged.name} are no longer there",
    )


def _reason(found: SetVerdict, relevance: RelevanceSettings) -> str:
    drop = (found.before or 0.0) - found.after
    if drop <= relevance.max_drop or found.p >= relevance.significance:
        return ""
    return (
        f"{relevance.measure} on {found.judged} fell from {found.before or 0.0:.4f} to {found.after:.4f}, "
        f"by more than {relevance.max_drop:g} (p {found.p:.4f})"
    )
