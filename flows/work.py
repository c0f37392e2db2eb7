"""What the commands do, free of Prefect: ``--no-prefect`` runs these, and the flows run the very same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from artifacts.store import Store
from flows.build import BuildOptions, BuildResult, build_snapshot
from flows.request import IndexRequest
from flows.steps import Progress, Steps
from pipeline.settings import Site

if TYPE_CHECKING:
    from docsite.build import SiteResult


@dataclass(frozen=True, slots=True)
class Night:
    """What a nightly run did."""

    build: BuildResult
    site: SiteResult


def build_index(request: IndexRequest, steps: Steps, progress: Progress) -> BuildResult:
    """The request's documents, published as the store's current snapshot; raises as ``build_snapshot`` does."""
    options = BuildOptions(allow_empty=request.allow_empty)
    return build_snapshot(request.settings(), Store(request.store), steps, progress, options)


def build_site(store: Path, out: Path, settings: Site, steps: Steps) -> SiteResult:
    """The store's current snapshot as a site in ``out``, which appears at once or not at all."""
    from docsite.build import build_site as render

    with Store(store).open() as snapshot:
        return steps.run("site", lambda: render(snapshot, out, settings))


def build_night(request: IndexRequest, out: Path, steps: Callable[[], Steps], progress: Progress) -> Night:
    """The index, then the site of it; a failed index leaves the site as it was."""
    built = build_index(request, steps(), progress)
    return Night(built, build_site(request.store, out, request.settings().site, steps()))
