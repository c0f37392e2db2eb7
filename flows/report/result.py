"""The result of an index run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...pipeline.errors import PartialFailure
from ...pipeline.model import Rejection, SnapshotId
from ..run.stage import StageTime

if TYPE_CHECKING:
    from ...artifacts.store.store import Published
    from ..incremental.unchanged import UnchangedSnapshot
    from ..quality.gate import Verdict
    from ..stages.corpus import CorpusRecord


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result of a run; ``encoded`` and ``reused`` count distinct passage texts, ``parsed`` files.

    ``failed`` maps collections that keep their documents of the previous snapshot to the reason. ``inputs``
    is a hash of all inputs, empty where some of them could not be read.
    """

    snapshot: SnapshotId
    generation: int
    changed: bool
    documents: int
    passages: int
    skipped: int
    quarantined: int
    encoded: int
    reused: int
    rejections: tuple[Rejection, ...]
    times: tuple[StageTime, ...]
    seconds: float
    counts: Mapping[str, int]
    relevance: Verdict | None = None
    parsed: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    inputs: str = ""


def built_result(  # noqa: PLR0913  # what it is told of
    published: Published,
    counts: Mapping[str, int],
    record: CorpusRecord,
    verdict: Verdict | None,
    *,
    encoded: int,
    reused: int,
    inputs: str,
    times: tuple[StageTime, ...],
    seconds: float,
) -> BuildResult:
    """Return the result of a run that published."""
    kinds = [rejection.kind for rejection in record.rejections]
    return BuildResult(
        snapshot=published.snapshot_id,
        generation=published.generation,
        changed=published.changed,
        documents=counts["documents"],
        passages=counts["passages"],
        skipped=kinds.count("skipped"),
        quarantined=kinds.count("quarantined"),
        encoded=encoded,
        reused=reused,
        rejections=record.rejections,
        times=times,
        seconds=seconds,
        counts=dict(counts),
        relevance=verdict,
        parsed=record.parsed,
        failed=record.failed,
        inputs=inputs,
    )


def unchanged_result(same: UnchangedSnapshot, times: tuple[StageTime, ...], seconds: float) -> BuildResult:
    """Return the result of a run that found nothing to do."""
    kinds = [rejection.kind for rejection in same.rejections]
    return BuildResult(
        snapshot=same.snapshot,
        generation=same.generation,
        changed=False,
        documents=same.counts["documents"],
        passages=same.counts["passages"],
        skipped=kinds.count("skipped"),
        quarantined=kinds.count("quarantined"),
        encoded=0,
        reused=same.counts["vectors"],
        rejections=same.rejections,
        times=times,
        seconds=seconds,
        counts=same.counts,
        inputs=same.inputs,
    )


def require_whole(result: BuildResult) -> None:
    """Raise ``PartialFailure`` if any collection failed."""
    if result.failed:
        raise PartialFailure(
            f"{len(result.failed)} of the collections failed, the others are published",
            where=", ".join(result.failed),
            hint=" ".join(f"{name}: {what}" for name, what in result.failed.items()),
        )
