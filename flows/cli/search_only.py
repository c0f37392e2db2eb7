"""``noctule site --search-only``: the search of pages that something else built, and the line they need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..run.progress import size
from . import output
from .flags import Flags

if TYPE_CHECKING:
    from ...docsite.search_only import SearchOnlyResult
    from ...pipeline.settings.settings import Settings


def search_only(flags: Flags, out: Path, settings: Settings, *, no_prefect: bool, insert: bool) -> None:
    """Build the search and say which line to add; raise ``SourceError`` where the pages are not there."""
    from .runs import run_work

    def plain() -> SearchOnlyResult:
        from ..job import run_search_only
        from ..run.context import RunContext
        from ..run.plain import PlainDriver

        run = RunContext(settings, flags.store.absolute(), out=out.absolute())
        return run_search_only(run, PlainDriver(), insert=insert)

    def flow() -> SearchOnlyResult:
        from ..site import search_only as run

        config = None if flags.config is None else str(flags.config.absolute())
        return run(config=config, store=str(flags.store.absolute()), out=str(out.absolute()), insert=insert)

    built = run_work(flags, plain, flow, no_prefect=no_prefect)
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
    output.say(f"search: {built.pages:,} pages, {files}, {size(built.bytes)} in {built.folder}")
    if built.missing:
        output.say(f"{built.missing:,} of these pages are not in the folder: index it again.")
    if insert:
        output.say(f"{built.inserted:,} pages got the script line; the others have it or are no HTML.")
        return
    output.say(
        "Add this line to every page (../ before _noctule for each folder a page lies in), "
        "or run it with --insert:"
    )
    output.say(f"  {built.line}")
