"""An answer over several processes: their lists are merged, ranked as one corpus, and shown with texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from ....pipeline.errors import ArtifactError, SettingsError
from ....pipeline.model import SnapshotId
from ....pipeline.settings.collection import Address
from ....pipeline.settings.search import Search
from ..answer import Answer
from ..context import SearchRequest
from ..model import Step
from ..pipeline import Lists, Ranked, answer_of, run_until_filled
from ..ranking.calibrate import Curve
from ..ranking.rerank import PairScorer
from .candidates import CandidateCorpus
from .merging import SOURCE, MergedLists, Replies, merge

# They read what only the process that holds a document has: its links, and the text around a passage.
_NOT_OVER_PROCESSES = frozenset({"aggregate", "parents"})


class SourceLost(Exception):  # an event, which the merge goes on after
    """A process that found passages could not show them."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source, self.reason = source, reason


class Sources(Protocol):
    """The processes that are asked; each holds some shards of the same edition of a set."""

    def find(self, request: SearchRequest, limit: int) -> Replies:
        """Return what each process found, by its name; those that do not answer are left out."""

    def show(self, wanted: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return what hits show of passages, by the processes that sent them; raise ``SourceLost``."""


@dataclass(frozen=True, slots=True)
class SetEdition:
    """What all shards of a set have in common, and ranking asks for."""

    snapshot: SnapshotId
    languages: tuple[str, ...]
    addresses: Mapping[str, Address]


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """How candidates are ranked; ``scorer`` is ``None`` without a cross-encoder."""

    search: Search
    curve: Curve
    scorer: PairScorer | None = None


@dataclass(frozen=True, slots=True)
class MergedAnswer:
    """An answer, the processes that it is of, and why others that answered are not among them."""

    answer: Answer
    used: frozenset[str]
    lost: Mapping[str, str]


def require_mergeable(search: Search) -> None:
    """Raise ``SettingsError`` for settings by which no ranking over several processes is that of one."""
    wrong = [f"stage {name}" for name in search.stages if name in _NOT_OVER_PROCESSES]
    wrong += ["weight of the graph list"] if search.weights.get("graph", 0) > 0 else []
    if wrong:
        raise SettingsError(
            "not over several processes", where=f"search: {', '.join(wrong)}", hint="Leave it out."
        )


def merged_answer(
    request: SearchRequest, edition: SetEdition, settings: RankingSettings, sources: Sources
) -> MergedAnswer:
    """Answer a request from all processes that answer; raise ``ArtifactError`` if none does."""
    lost: dict[str, str] = {}
    find = cache(lambda limit: sources.find(request, limit))  # whoever is lost later is not asked again
    while True:
        try:
            return _answered(request, edition, settings, _Asked(sources, find, lost))
        except SourceLost as error:
            lost[error.source] = error.reason


@dataclass(frozen=True, slots=True)
class _Asked:
    """The processes of one request, without those that were lost on the way."""

    sources: Sources
    find: Callable[[int], Replies]
    lost: dict[str, str]

    def merged(self, limit: int) -> MergedLists:
        """Return the lists of all that answer."""
        replies = {name: each for name, each in self.find(limit).items() if name not in self.lost}
        if not replies:
            why = "; ".join(f"{name}: {reason}" for name, reason in self.lost.items())
            raise ArtifactError(
                "no shard answers", where=why, hint="Are the processes that hold the shards running?"
            )
        found = merge(replies, limit)
        self.lost.update(found.lost)
        return found

    def rows_of(self, merged: MergedLists, rows: Sequence[int]) -> dict[int, Mapping[str, Any]]:
        """Return what hits show of merged passages, asked of the processes that sent them."""
        wanted = merged.passages.select([SOURCE, "row"]).take(list(rows)).to_pylist()
        own: dict[str, dict[int, int]] = {}
        for at, each in zip(rows, wanted, strict=True):
            own.setdefault(merged.sources[each[SOURCE]], {})[at] = each["row"]
        shown = self.sources.show({source: list(places.values()) for source, places in own.items()})
        return {
            at: row for source, places in own.items() for at, row in zip(places, shown[source], strict=True)
        }


def _answered(
    request: SearchRequest, edition: SetEdition, settings: RankingSettings, asked: _Asked
) -> MergedAnswer:
    last: list[MergedLists] = []

    def lists(limit: int) -> Lists:
        merged = asked.merged(limit)
        last[:] = [merged]
        corpus = CandidateCorpus(
            merged.passages,
            lambda rows: asked.rows_of(merged, rows),
            edition.languages,
            edition.addresses,
        )
        return Lists(merged.found, merged.record.queries, merged.record.weights, corpus)

    filled = run_until_filled(request, lists, settings.search, settings.curve, settings.scorer)
    (merged,), run, corpus = last, filled.run, filled.lists.corpus
    assert isinstance(corpus, CandidateCorpus)
    corpus.rows.bring([each.row for each in run.candidates[: request.top_n]])
    steps: tuple[Step, ...] = (*merged.found.steps, *run.steps)
    ranked = Ranked(run, merged.record.queries, merged.record.weights, steps, merged.warnings)
    answer = answer_of(request, ranked, settings.search, corpus, edition.snapshot)
    return MergedAnswer(answer, merged.used, dict(asked.lost))
