"""The stages of a site: the lookup of its search, and the site itself; imports what renders when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...artifacts.store.replaced_sites import replaced_site
from ...artifacts.store.store import Published, Store
from ..run.context import Resources, RunContext

if TYPE_CHECKING:
    from ...docsite.build import SiteResult
    from ...docsite.search.background_index import LookupFiles
    from ...docsite.search_only import SearchOnlyResult
    from .write import StagedSnapshot


def is_current_site(run: RunContext, staged: StagedSnapshot) -> bool:
    """Return whether the site that stands there was built from the same: then it needs no lookup."""
    from ...docsite.build import is_built_from

    if run.out is None or run.options.full:
        return False
    return is_built_from(staged.manifest.snapshot_id(), run.out, run.settings.site, run.settings.search)


def make_search_lookup(run: RunContext, staged: StagedSnapshot, is_current: bool) -> LookupFiles | None:
    """Return what the site's search looks words up in; ``None`` without one, and if the site is current."""
    from ...docsite.search.background_index import LookupJob, make_lookup_files

    if is_current or not run.settings.site.search or run.out is None:
        return None
    before = None if run.options.full else run.out.resolve()
    # It is published meanwhile, which moves it.
    folders = (staged.staging.path, Store(run.store).path_of(staged.manifest.snapshot_id()))
    return make_lookup_files(LookupJob(folders, staged.manifest, run.settings.search, before, run.store))


def is_large_site(run: RunContext, staged: StagedSnapshot, is_current: bool) -> bool:
    """Return whether making the lookup takes longer than starting a process."""
    from ...docsite.search.background_index import LEAST_DOCUMENTS

    return (
        not is_current and run.settings.site.search and staged.manifest.counts["documents"] >= LEAST_DOCUMENTS
    )


def build_site(
    run: RunContext, resources: Resources, _published: Published, lookup: LookupFiles | None
) -> SiteResult:
    """Build the site of the current snapshot in the run's folder; it appears at once or not at all."""
    from ...docsite.build import build_site as render

    assert run.out is not None
    with Store(run.store).open() as snapshot:
        return render(
            snapshot.outside_memory(run.store),
            run.out,
            run.settings.site,
            run.settings.search,
            full=run.options.full,
            background=resources.background,
            aside=replaced_site(run.store, run.out),
            lookup=lookup,
            store=run.store,
        )


def build_search(run: RunContext, resources: Resources, *, insert: bool = False) -> SearchOnlyResult:
    """Build the search of the current snapshot for the run's folder of pages that something else built."""
    from ...docsite.search_only import build_search as render

    assert run.out is not None
    settings = run.settings
    with Store(run.store).open() as snapshot:
        return render(
            snapshot.outside_memory(run.store),
            run.out,
            settings.site,
            settings.search,
            insert=insert,
            background=resources.background,
        )
