"""What a run is asked to do: read once, when it begins, and the same for all its stages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...pipeline.settings.settings import Settings
from .background import Background
from .stage import Driver, Progress


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What a run may be allowed to do.

    ``allow_empty``: publish although a collection holds nothing; ``accept_drop``: although relevance fell;
    ``accept_shrink``: although a collection lost many documents. ``start``: do this stage again, whatever a cache
    knows, and all that need it; by default whatever changed is done. ``full``: make every file of the site
    anew.
    """

    allow_empty: bool = False
    accept_drop: bool = False
    accept_shrink: bool = False
    start: str | None = None
    full: bool = False


@dataclass(frozen=True, slots=True)
class RunContext:
    """The settings of a run as they were when it began, its store's folder, its options, and the folder of its site.

    ``reads_sources`` is false where the run begins after the documents are parsed.
    """

    settings: Settings
    store: Path
    options: BuildOptions = BuildOptions()
    out: Path | None = None
    reads_sources: bool = True


@dataclass(frozen=True, slots=True)
class Resources:
    """What stages work with: who calls batches, who hears of progress, and the process beside this one."""

    driver: Driver
    progress: Progress
    background: Background
