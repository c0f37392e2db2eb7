"""The result of an index run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ...pipeline.errors import PartialFailure
from ...pipeline.model import Rejection, SnapshotId
from ..run.stage import StageTime

if TYPE_CHECKING:
    from ..quality.gate import Verdict

TOTALS = ("documents", "passages", "skipped", "quarantined")


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result of a run; ``encoded`` and ``reused`` count distinct passage texts, ``parsed`` files.

    ``counts`` has the rows of each table. ``failed`` maps collections that keep their documents of the previous
    snapshot to the reason. ``inputs`` is a hash of all inputs, empty where some of them could not be read.
    """

    snapshot: SnapshotId
    generation: int
    changed: bool
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

    @property
    def documents(self) -> int:
        """Return the number of documents."""
        return self.counts["documents"]

    @property
    def passages(self) -> int:
        """Return the number of passages."""
        return self.counts["passages"]

    @property
    def skipped(self) -> int:
        """Return the number of files passed over."""
        return sum(each.kind == "skipped" for each in self.rejections)

    @property
    def quarantined(self) -> int:
        """Return the number of files that could not be used."""
        return sum(each.kind == "quarantined" for each in self.rejections)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a run's record keeps it."""
        return asdict(self) | {name: getattr(self, name) for name in TOTALS}


def require_whole(result: BuildResult) -> None:
    """Raise ``PartialFailure`` if any collection failed."""
    if result.failed:
        raise PartialFailure(
            f"{len(result.failed)} of the collections failed, the others are published",
            where=", ".join(result.failed),
            hint=" ".join(f"{name}: {what}" for name, what in result.failed.items()),
        )
