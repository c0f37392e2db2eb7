"""``noctule site --search-only``: the search of pages that something else built, and the line they need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from . import output
from .flags import Flags

if TYPE_CHECKING:
    from ...docsite.search_only import SearchOnlyResult
    from ...pipeline.settings.settings import Settings


def search_only(flags: Flags, out: Path, settings: Settings, *, no_prefect: bool, insert: bool) -> None:
    """Builds the search and says which line to add; raises ``SourceError`` where the pages are not there."""
    from .runs import run_work

    def work() -> SearchOnlyResult:
        if no_prefect:
            from ..run.steps import PlainSteps
            from ..run.work import build_search

            return build_search(flags.store, out, settings.site, PlainSteps(), settings.search, insert=insert)
        from ..site import search_only as flow

        config = None if flags.config is None else str(flags.config.absolute())
        return flow(config=config, store=str(flags.store.absolute()), out=str(out.absolute()), insert=insert)

    built = run_work(flags, no_prefect, work)
    if flags.as_json:
        output.emit(_json(built))
        return
    _print(built, insert)


def _json(built: SearchOnlyResult) -> dict[str, object]:
    return {
        "pages": built.pages,
        "missing": built.missing,
        "files": built.files,
        "written": built.written,
        "bytes": built.bytes,
        "folder": str(built.folder),
        "line": built.line,
        "inserted": built.inserted,
    }


def _print(built: SearchOnlyResult, insert: bool) -> None:
    files = f"{built.files:,} files ({built.written:,} new)"
    output.say(f"search: {built.pages:,} pages, {files}, {output.size(built.bytes)} in {built.folder}")
    if built.missing:
        output.say(f"{built.missing:,} of these pages are not in the folder: index it again.")
    if insert:
        output.say(f"{built.inserted:,} pages got the script line; the others have it or are no HTML.")
        return
    output.say(
        "Add this line to every page (../ before _noctule for each folder a page lies in), or run it with --insert:"
    )
    output.say(f"  {built.line}")
