"""Adds search alone to a folder of HTML built by another tool.

It consists of ``_noctule/`` beside the pages, and one script line in each of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..pipeline.errors import SettingsError, SourceError
from ..pipeline.settings.search import Search
from ..pipeline.settings.site import Site
from . import urls
from .assets import component_files, plain_script
from .background import BackgroundProcess
from .build import refuse_other_content
from .incremental.previous import SiteRecord, previous_site, record_files
from .incremental.staging import StagingFolder, exchanged
from .incremental.staging_folders import replacing
from .library import SnapshotTables
from .outline.plan import SitePage, SitePlan, plan_site
from .search.background_index import begin_shown
from .search.index import PrebuiltParts, search_files
from .verify import count_healed, verified

FOLDER = urls.SEARCH_ONLY
SCRIPT = f"{FOLDER}/noctule-search.js"
_END = re.compile(rb"</body\s*>", re.IGNORECASE)
# In these encodings, a line of ASCII cannot be inserted as bytes.
_WIDE = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class SearchOnlyResult:
    """The outcome of a build: how many pages can be found, files and bytes, and the line to add.

    Of the pages, ``missing`` are not in the folder, and ``inserted`` got the line in this run.
    """

    pages: int
    missing: int
    files: int
    bytes: int
    written: int
    folder: Path
    line: str
    inserted: int


def build_search(
    snapshot: SnapshotTables,
    site: Path,
    settings: Site,
    ranking: Search,
    *,
    insert: bool = False,
    background: BackgroundProcess | None = None,
) -> SearchOnlyResult:
    """Build search for the pages in the folder ``site``, in its subfolder ``_noctule``.

    With ``insert``, the line is added to each page. The folder ``_noctule`` is replaced as a whole. For a
    large site, a ``background`` process makes half of the index. Raises ``SourceError`` if the snapshot is of
    another folder, ``SettingsError`` if it has several collections, ``WriteFailed`` if the disk refuses a
    write.
    """
    site = site.resolve()
    target = site / FOLDER
    # The words that need no script would be pages of their own.
    plan = plan_site(
        snapshot, settings.model_copy(update={"search": False, "markdown": False}), originals=True
    )
    missing = _missing(plan, site)
    refuse_other_content(target)
    with previous_site(target) as found:
        # Nothing but an index, which is read whole in a moment.
        previous = verified(found, min(settings.verify_days, 1))
        fill = partial(_filled, plan, snapshot, ranking, background)
        stage = exchanged(target, previous, fill, served=site)
        count_healed(stage, target)
    inserted = _insert_all(site, [entry.page for entry in plan.library.entries]) if insert else 0
    size = sum(each.size for each in stage.files)
    pages = len(plan.library.entries)
    return SearchOnlyResult(
        pages, missing, len(stage.files), size, stage.written, target, line_for(urls.HOME), inserted
    )


def line_for(page: str) -> str:
    """Return the line a page of the site needs; its address is relative, so it works below any path and from
    disk.
    """
    return f'<script src="{urls.relative_href(page, SCRIPT)}" defer></script>'


def _missing(plan: SitePlan, site: Path) -> int:
    """Return how many of the snapshot's documents are not in the folder; raise if it is not theirs."""
    if len(plan.library.collections) > 1:
        raise SettingsError(
            "a folder's search needs a snapshot of that folder alone; this one has several collections",
            where=", ".join(plan.library.collections),
            hint="Index the folder into a store of its own: noctule index DIR --store STORE",
        )
    missing = sum(not (site / entry.path).is_file() for entry in plan.library.entries)
    if missing == len(plan.library.entries):
        raise SourceError(
            "none of the snapshot's documents is in this folder, so no result would lead anywhere",
            where=str(site),
            hint="Index this folder itself, and give it as --out.",
        )
    return missing


def _filled(
    plan: SitePlan,
    snapshot: SnapshotTables,
    ranking: Search,
    background: BackgroundProcess | None,
    stage: StagingFolder,
) -> StagingFolder:
    for page in _files(plan, snapshot, ranking, background, stage):
        stage.add(page)
    return stage


def _files(
    plan: SitePlan,
    snapshot: SnapshotTables,
    ranking: Search,
    background: BackgroundProcess | None,
    stage: StagingFolder,
) -> Iterator[SitePage]:
    """Yield all files in one folder; the engine expects pages one level above its own folder."""
    search = PrebuiltParts(shown=begin_shown(plan, snapshot, background, stage, ""))
    for page in search_files(plan, snapshot, ranking, stage.previous, "", search):
        # The engine is text; the index's parts say their encoding themselves.
        is_text = not page.kept and not page.content.startswith(_WIDE)
        yield replace(page, content=plain_script(page.content)) if is_text else page
    yield from component_files(plan)
    yield from record_files(
        SiteRecord("", len(plan.library.entries), tuple(stage.files), plan.library.snapshot_id)
    )


def _insert_all(site: Path, pages: Sequence[str]) -> int:
    with replacing(site) as put:
        return sum(_insert(site, page, put) for page in pages)


def _insert(site: Path, page: str, put: Callable[[Path, bytes], None]) -> bool:
    """Return whether the page got the line: not if it has it, is not a plain HTML file, or is not there."""
    path = site / page
    if path.suffix.lower() not in (".html", ".htm") or path.is_symlink() or not path.is_file():
        return False
    content = path.read_bytes()
    if SCRIPT.encode() in content or content.startswith(_WIDE):
        return False
    ends = [found.start() for found in _END.finditer(content)]
    place = ends[-1] if ends else len(content)
    put(path, content[:place] + line_for(page).encode() + b"\n" + content[place:])
    return True
