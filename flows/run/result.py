"""What a run is asked to do, and what it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ...pipeline.errors import PartialFailure
from ...pipeline.model import Rejection, SnapshotId
from .steps import StageTime

if TYPE_CHECKING:
    from ..quality.gate import Verdict

Start = Literal["parse", "embed", "links"]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What a run may be allowed to do.

    ``allow_empty``: publish although a collection holds nothing; ``accept_drop``: although relevance fell;
    ``accept_shrink``: although a collection lost many documents. ``start``: do this stage and all after it anew, with
    what the last run left of those before it; by default whatever changed is done.
    """

    allow_empty: bool = False
    accept_drop: bool = False
    accept_shrink: bool = False
    start: Start | None = None


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a run did; ``encoded`` and ``reused`` count distinct passage texts, ``parsed`` files.

    ``failed`` names collections that keep their documents of the snapshot before, and why. ``inputs`` is the address of
    all that went in, empty where some of it could not be read.
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


def require_whole(result: BuildResult) -> None:
    """Returns if every collection did well; raises ``PartialFailure``."""
    if result.failed:
        raise PartialFailure(
            f"{len(result.failed)} of the collections failed, the others are published",
            where=", ".join(result.failed),
            hint=" ".join(f"{name}: {what}" for name, what in result.failed.items()),
        )
