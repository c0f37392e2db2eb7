"""The stages of a site: the lookup of its search, and the site itself. The renderer is imported on first
use.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.store.replaced_sites import replaced_site
from ...artifacts.store.store import Published, Store
from ...pipeline.settings.search import Search
from ...pipeline.settings.settings import Settings
from ..run.context import Resources, RunContext

if TYPE_CHECKING:
    from ...docsite.build import SiteResult
    from ...docsite.search.lookup_files import LookupFiles
    from ...docsite.search_only import SearchOnlyResult
    from .write import StagedSnapshot


def make_search_lookup(run: RunContext, staged: StagedSnapshot) -> LookupFiles | None:
    """Return the lookup table of the site's search; ``None`` where the site has no search."""
    from ...docsite.search.lookup_files import LookupJob, make_lookup_files

    if not run.settings.site.search or run.out is None:
        return None
    before = None if run.options.full else run.out.resolve()
    # It is published meanwhile, which moves it.
    folders = (staged.staging.path, Store(run.store).path_of(staged.manifest.snapshot_id()))
    return make_lookup_files(LookupJob(folders, staged.manifest, run.settings.search, before))


def is_large_site(run: RunContext, staged: StagedSnapshot) -> bool:
    """Return whether making the lookup takes longer than starting a process."""
    from ...docsite.search.lookup_files import LEAST_DOCUMENTS

    return run.settings.site.search and staged.manifest.counts["documents"] >= LEAST_DOCUMENTS


def build_site(
    run: RunContext, resources: Resources, _published: Published, lookup: LookupFiles | None
) -> SiteResult:
    """Build the site of the current snapshot in the run's folder; it replaces the old one in one step or
    not at all.
    """
    from ...docsite.build import build_site as render

    assert run.out is not None
    with Store(run.store).open() as snapshot:
        return render(
            snapshot,
            run.out,
            run.settings.site,
            run.settings.search,
            full=run.options.full,
            background=resources.background,
            aside=replaced_site(run.store, run.out),
            lookup=lookup,
        )


def build_search(
    store: Path, out: Path, settings: Settings, resources: Resources, *, insert: bool = False
) -> SearchOnlyResult:
    """Build the search of the store's current snapshot for pages in ``out`` that another tool built."""
    from ...docsite.search_only import build_search as render

    ranking: Search = settings.search
    with Store(store).open() as snapshot:
        return render(snapshot, out, settings.site, ranking, insert=insert, background=resources.background)
