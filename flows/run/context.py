"""What a run is asked to do: read once at the start, and the same for all its stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...pipeline.settings.settings import Settings
from .background import Background
from .stage import Driver, Progress


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The options of a build.

    ``allow_empty``: publish even if a collection is empty; ``accept_drop``: even if relevance fell;
    ``accept_shrink``: even if a collection lost many documents. ``start``: run this stage
    and all that need it again; "parse", "embed" and "query model" then ignore their caches. ``full``: write
    every file of the site again.
    """

    allow_empty: bool = False
    accept_drop: bool = False
    accept_shrink: bool = False
    start: str | None = None
    full: bool = False


@dataclass(frozen=True, slots=True)
class RunContext:
    """The settings of a run as of its start, its store's folder, its options, and the folder of its site.

    ``shard`` names the part of a corpus that is built, empty for a whole one. ``reads_sources`` is false
    where the run begins after the documents are parsed. ``known`` holds products that a check before the run
    has made already.
    """

    settings: Settings
    store: Path
    options: BuildOptions = BuildOptions()
    out: Path | None = None
    reads_sources: bool = True
    known: Mapping[str, object] = field(default_factory=dict)
    shard: str = ""


@dataclass(frozen=True, slots=True)
class Resources:
    """What stages share: the caller of batches, the progress display, and the background process."""

    driver: Driver
    progress: Progress
    background: Background
