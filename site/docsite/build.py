"""A snapshot becomes a folder of pages that appears at once, or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from artifacts import durable
from docsite import urls
from docsite.assets import asset_files
from docsite.changes import feed_file
from docsite.library import SnapshotTables
from docsite.listings import list_pages
from docsite.pages import render_pages
from docsite.plan import SitePage, SitePlan, plan_site
from docsite.previews import preview_files
from docsite.search.index import search_files
from docsite.twins import llms_file, twin_files
from pipeline.errors import SourceError, WriteFailed
from pipeline.search_settings import Search
from pipeline.site_settings import Site

MARKER = ".noctule-site"


@dataclass(frozen=True, slots=True)
class SiteResult:
    """What was built: pages of documents, files and bytes in all, and where to begin reading."""

    pages: int
    files: int
    bytes: int
    index: Path


def build_site(
    snapshot: SnapshotTables, out: Path, settings: Site, ranking: Search | None = None
) -> SiteResult:
    """The site that shows this snapshot, in ``out``; the same snapshot and settings give the same bytes.

    ``ranking`` has the numbers with which the site's search ranks; without them it gets no index.

    On any error, and after a crash, the site that was there before is untouched. Raises ``SourceError`` where
    ``out`` holds something else than a site, ``WriteFailed`` where the disk refuses.
    """
    target = out.resolve()
    _refuse_other_content(target)
    staged = _staging(target)
    try:
        result = _write(snapshot, staged, target, settings, ranking)
        durable.swap_directory(staged, target)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    return result


def _refuse_other_content(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise SourceError(
            "this is a file, not a folder", where=str(target), hint="Choose another folder for the site."
        )
    if not (target / MARKER).is_file() and any(target.iterdir()):
        raise SourceError(
            "this folder holds something else than a site, which building would replace",
            where=str(target),
            hint=f"Choose an empty or new folder. (A site that noctule built has a file {MARKER}.)",
        )


def _staging(target: Path) -> Path:
    """A new folder beside the target, named by this process; those of processes that died are swept."""
    durable.make_directory(target.parent)
    prefix = f".{target.name}-staging-"
    for left in sorted(target.parent.glob(f"{_literal(prefix)}*")):
        owner = left.name.removeprefix(prefix)
        if owner.isdecimal() and (int(owner) == os.getpid() or not _is_alive(int(owner))):
            durable.remove_tree(left)
    staged = target.parent / f"{prefix}{os.getpid()}"
    durable.make_directory(staged)
    return staged


def _literal(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _write(
    snapshot: SnapshotTables, staged: Path, target: Path, settings: Site, ranking: Search | None
) -> SiteResult:
    plan = plan_site(snapshot, settings)
    files = size = 0
    made: set[Path] = set()
    ordered = [plan.by_page[page] for page in plan.tree.order]
    summaries: dict[str, str] = {}
    found = search_files(plan, snapshot, ranking) if settings.search and ranking else iter(())
    for page in _all(render_pages(plan, ordered), list_pages(plan), _beside(plan, summaries), found):
        summaries[page.path] = page.summary
        path = staged / page.path
        try:
            if path.parent not in made:
                path.parent.mkdir(parents=True, exist_ok=True)
                made.add(path.parent)
            with path.open("xb") as file:  # two pages of one name would be a fault of ours
                file.write(page.content)
        except OSError as error:
            raise WriteFailed(
                f"cannot write a page of the site: {error.strerror or error}",
                where=str(path),
                hint="Make room or choose another folder, then build it again; the old site still stands.",
            ) from error
        files, size = files + 1, size + len(page.content)
    return SiteResult(len(ordered), files, size, target / urls.HOME)


def _all(*parts: Iterator[SitePage]) -> Iterator[SitePage]:
    for part in parts:
        yield from part


def _beside(plan: SitePlan, summaries: Mapping[str, str]) -> Iterator[SitePage]:
    """What goes with the pages; ``summaries`` are complete once the pages are made."""
    yield from preview_files(plan, summaries)
    yield from twin_files(plan)
    yield from llms_file(plan, summaries)
    yield from feed_file(plan, summaries)
    yield from asset_files(plan)
    marker = json.dumps({"snapshot": plan.library.snapshot_id}, sort_keys=True) + "\n"
    yield SitePage(MARKER, marker.encode())
