"""Turns a snapshot into a folder of pages, which appears all at once or not at all."""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..artifacts.disk import durable
from ..pipeline.errors import SettingsError, SourceError
from ..pipeline.settings.search import Search
from ..pipeline.settings.site import Site
from . import urls
from .assets import asset_files, card_files, media_files
from .background import BackgroundProcess
from .fingerprints.pages import PageFingerprint, page_fingerprints
from .fingerprints.shared import shared_digest, site_fingerprint
from .incremental.previous import FileRecord, PreviousSite, Reuse, SiteRecord, previous_site, record_files
from .incremental.search_changes import kept_base
from .incremental.staging import StagingFolder, exchanged
from .library import SnapshotTables
from .outline.plan import SitePage, SitePlan, plan_site
from .pages.blog import blog_feeds
from .pages.feed import feed_file
from .pages.listings import list_pages
from .pages.llms import llms_files
from .pages.offline import offline_files
from .pages.previews import preview_files
from .pages.rendering import Wanted, add_pages
from .search.background_index import LookupFiles, begin_shown
from .search.excerpts import TooManyFiles
from .search.index import PrebuiltParts, search_files
from .search.manifest import Shown
from .verify import count_healed, verified

MARKER = urls.MARKER
_RECORD_FILES = 2  # the marker and the record, which come last
_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class SiteResult:
    """The outcome of a build: document pages, total files and bytes, and the page to start reading at.

    ``written`` counts the new files; the rest were kept from the previous site. ``healed`` counts those of
    the new ones in whose place the previous site had something else than what was once written there.
    """

    pages: int
    files: int
    bytes: int
    index: Path
    written: int
    healed: int = 0


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The site to be built, and the fingerprint of everything it is made from."""

    snapshot: SnapshotTables
    target: Path
    settings: Site
    ranking: Search | None
    whole: str
    background: BackgroundProcess | None
    lookup: LookupFiles | None
    store: Path | None
    began_ns: int


def build_site(  # noqa: PLR0913  # what a site is made of, and how
    snapshot: SnapshotTables,
    out: Path,
    settings: Site,
    ranking: Search | None = None,
    *,
    full: bool = False,
    background: BackgroundProcess | None = None,
    aside: Path | None = None,
    lookup: LookupFiles | None = None,
    store: Path | None = None,
) -> SiteResult:
    """Build the site for this snapshot in ``out``; the same snapshot and settings give the same bytes.

    That holds for the snapshot before it too where ``store`` still has it and little has changed: the search
    then keeps its term shards.

    Files of the existing site are kept if their inputs are unchanged; with ``full``, none are. Each is read
    once in ``verify_days`` days, and written again if it is damaged. ``ranking``
    holds the weights used by the site's search; without them, no search index is built. ``lookup`` holds
    index files that were made earlier. A ``background`` process shares the work on a large site. The previous
    site is moved to ``aside``, on the same file system, as a folder for the next build to start from.

    On any error, and after a crash, the previous site is untouched. Raises ``SourceError`` if ``out`` holds
    something other than a site, ``WriteFailed`` if the disk refuses a write, ``SettingsError`` if the site
    has more files than it may.
    """
    target = out.resolve()
    refuse_other_content(target)
    whole = site_fingerprint(snapshot.id, settings, ranking)
    wanted = _Wanted(snapshot, target, settings, ranking, whole, background, lookup, store, time.time_ns())
    with previous_site(target) as found:
        previous = PreviousSite() if full else verified(found, settings.verify_days, wanted.began_ns)
        if previous.record.whole == whole and _is_whole(previous):
            _stamp(target, wanted.began_ns)
            durable.sync_directory(target.parent)  # whoever put it there may have died before this
            return _as_it_stands(previous, target)
        return exchanged(target, previous, partial(_write, wanted), aside)


def is_built_from(snapshot_id: str, out: Path, settings: Site, ranking: Search | None) -> bool:
    """Return whether the site in ``out`` says that it was built from the same; its files are not checked."""
    with previous_site(out.resolve()) as found:
        return found.record.whole == site_fingerprint(snapshot_id, settings, ranking)


def refuse_other_content(target: Path) -> None:
    """Raise ``SourceError`` unless the folder is empty, absent or a site, so that no other files are
    replaced; ``WriteFailed`` if the disk cannot say what it is.
    """
    with durable.refusals(target, "look at"):
        _refuse_other_content(target)


def _refuse_other_content(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise SourceError(
            "this is a file, not a folder", where=str(target), hint="Choose another folder for the site."
        )
    is_ours = any((target / name).is_file() for name in (MARKER, urls.RECORD))  # one of them may be lost
    if not is_ours and any(target.iterdir()):
        raise SourceError(
            "this folder holds something other than a site, which building would replace",
            where=str(target),
            hint=f"Choose an empty or new folder. (A site that noctule built has a file {MARKER}.)",
        )


def _is_whole(previous: PreviousSite) -> bool:
    """Return whether every file is as it was written and there are no others."""
    names = previous.standing.files.keys() if previous.standing else set[str]()
    expected = {urls.MARKER, urls.RECORD, *previous.by_path}
    return names == expected and not previous.damaged


def _stamp(folder: Path, began_ns: int) -> None:
    """Give the marker the time at which files were read, so that the next build knows whose turn it is."""
    with suppress(OSError):  # somebody else's folder: the same files have their turn again
        os.utime(folder / MARKER, ns=(began_ns, began_ns))


def _as_it_stands(previous: PreviousSite, target: Path) -> SiteResult:
    record = previous.record
    with durable.refusals(target, "look at"):
        around = sum((target / name).stat().st_size for name in (urls.MARKER, urls.RECORD))
    size = sum(each.size for each in record.files) + around
    return SiteResult(record.pages, len(record.files) + 2, size, target / urls.HOME, 0)


def _write(wanted: _Wanted, stage: StagingFolder) -> SiteResult:
    snapshot, ranking = wanted.snapshot, wanted.ranking if wanted.settings.search else None
    stage.look()
    plan = plan_site(snapshot, wanted.settings)
    for remark in plan.remarks:
        _log.warning("%s", remark)
    # Who counts files makes what hits are shown from last, from what room the others leave.
    counted = wanted.settings.max_files > 0
    shown = begin_shown(plan, snapshot, wanted.background, stage) if ranking and not counted else None
    reuse = Reuse(stage.previous, shared_digest(plan))
    fingerprints = page_fingerprints(plan, reuse.shared)
    add_pages(plan, _add_kept(plan, reuse, fingerprints, stage), snapshot, stage, wanted.background)
    summaries = {each.path: each.summary for each in stage.files}
    contents = {page: fingerprints[plan.by_page[page].row].content for page in plan.tree.pages}
    around = _all(_around(plan, summaries, reuse, contents), offline_files(plan, reuse.shared))
    files = _all(media_files(plan.library, snapshot, reuse), card_files(plan, reuse))
    base = _add_all(
        _all(list_pages(plan, reuse), around, files), _search(plan, wanted, shown, stage), wanted, stage
    )
    pages = len(plan.tree.pages)
    for page in record_files(SiteRecord(wanted.whole, pages, tuple(stage.files), snapshot.id, base)):
        stage.add(page)
    _stamp(stage.folder, wanted.began_ns)
    size = sum(each.size for each in stage.files)
    healed = count_healed(stage, wanted.target)
    return SiteResult(pages, len(stage.files), size, wanted.target / urls.HOME, stage.written, healed)


def _add_all(
    pages: Iterable[SitePage],
    index: AbstractContextManager[_SearchFiles],
    wanted: _Wanted,
    stage: StagingFolder,
) -> str:
    """Add the pages, then the search index; return the snapshot whose term shards that has.

    Raises ``SettingsError`` if the site has more files than it may.
    """
    most = wanted.settings.max_files
    try:
        with index as search:
            for page in _all(pages, search.files):
                stage.add(page)
    except TooManyFiles as error:
        raise _too_many_files(stage.files, most, error.args[0]) from None
    if most and (more := len(stage.files) + _RECORD_FILES - most) > 0:
        raise _too_many_files(stage.files, most, more)
    return search.base


@dataclass(frozen=True, slots=True)
class _SearchFiles:
    """The files of the search index, and the snapshot whose term shards they are, if there is an index."""

    files: Iterable[SitePage] = ()
    base: str = ""


@contextmanager
def _search(
    plan: SitePlan, wanted: _Wanted, shown: Callable[[], Shown] | None, stage: StagingFolder
) -> Iterator[_SearchFiles]:
    """Yield the files of the search index; lookup files made for this site are already in place."""
    snapshot, ranking, given = wanted.snapshot, wanted.ranking, wanted.lookup
    if ranking is None or not wanted.settings.search:
        yield _SearchFiles()
        return
    most = wanted.settings.max_files
    room = lambda: most - _RECORD_FILES - len(stage.files) if most else None  # noqa: E731  # asked for late
    files = partial(search_files, plan, snapshot, ranking, stage.previous)
    if given is not None and given.is_for(snapshot, ranking, stage.previous):
        prebuilt = PrebuiltParts(given.ready, shown, room)
        yield _SearchFiles(_all(given.pages, files(prebuilt=prebuilt)), given.lookup.base.snapshot)
        return
    with kept_base(wanted.store, stage.previous, snapshot) as base:
        found = files(prebuilt=PrebuiltParts(None, shown, room), base=base)
        yield _SearchFiles(found, base.snapshot.id if base else snapshot.id)


def _too_many_files(files: Sequence[FileRecord], most: int, more: int) -> SettingsError:
    kinds = Counter(
        "search" if each.path.startswith(f"{urls.SEARCH}/") else each.path.rpartition(".")[2]
        for each in files
    )
    said = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common(3))
    copies = f"markdown = false leaves out {kinds['md']:,} copies, " if kinds["md"] else ""
    return SettingsError(
        f"the site has at least {more:,} files more than max_files = {most:,} allows, with as few files of "
        "excerpts as can be",
        where="[site]",
        hint=f"So far it has {said}. Choose another host, or leave something out: {copies}"
        "search = false leaves out the search.",
    )


def _all(*parts: Iterable[SitePage]) -> Iterator[SitePage]:
    for part in parts:
        yield from part


def _add_kept(
    plan: SitePlan, reuse: Reuse, fingerprints: Sequence[PageFingerprint], stage: StagingFolder
) -> list[Wanted]:
    """Keep unchanged document pages and their markdown in the folder; return what is left to make."""
    left: list[Wanted] = []
    for page in plan.tree.pages:
        fingerprint, twin = fingerprints[plan.by_page[page].row], plan.twins.get(page)
        kept = [reuse.kept(page, fingerprint.page)]
        if twin is not None:
            kept.append(reuse.kept(twin, fingerprint.content))
        if None in kept:
            left.append(Wanted(page, fingerprint))
            continue
        for each in filter(None, kept):
            stage.add(each)
    return left


def _around(
    plan: SitePlan, summaries: Mapping[str, str], reuse: Reuse, contents: Mapping[str, str]
) -> Iterator[SitePage]:
    """Yield what goes with the pages whose ``summaries`` are given."""
    yield from preview_files(plan, summaries)
    yield from llms_files(plan, summaries, reuse, contents)
    yield from feed_file(plan, summaries)
    yield from blog_feeds(plan, summaries)
    yield from asset_files(plan)
