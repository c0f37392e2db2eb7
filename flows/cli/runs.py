"""What the commands that build have in common: flags, the request that they make, and the way through Prefect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from . import output
from .flags import Flags

if TYPE_CHECKING:
    from ..run.request import IndexRequest
    from ..run.result import BuildResult

T = TypeVar("T")

NoPrefect = Annotated[
    bool,
    typer.Option("--no-prefect", help="Do the same work without Prefect: the same snapshot, no run history."),
]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Publish although a collection holds no document.")
]
AcceptDrop = Annotated[
    bool,
    typer.Option("--accept-drop", help="Publish although judged queries are answered worse than before."),
]
AcceptShrink = Annotated[
    bool,
    typer.Option("--accept-shrink", help="Publish although a collection lost many of its documents."),
]
Engine = Annotated[
    str | None,
    typer.Option("--engine", metavar="NAME",
                 help="Where batches are computed: inline, processes, dask[://HOST:PORT], ray[://HOST:PORT]."),
]  # fmt: skip


def request_of(flags: Flags, sources: tuple[str, ...], collection: str | None) -> IndexRequest:
    """What the command line asks for, with absolute paths."""
    from ..run.request import IndexRequest, found_settings

    config = flags.config or found_settings()
    return IndexRequest(
        store=flags.store.absolute(),
        config=None if config is None else config.absolute(),
        sources=tuple(str(Path(source).expanduser().absolute()) for source in sources),
        collection=collection,
    )


def ready(
    request: IndexRequest,
    flags: Flags,
    no_prefect: bool,
    work: Callable[[IndexRequest], T],
    unchanged: Callable[[BuildResult], T],
) -> T:
    """The work's result; what is plain to see is said before Prefect takes seconds to start.

    Where nothing seems to have changed, Prefect is only started once a look at the sources says otherwise; else both
    are done at once.
    """
    from ..run.preflight import require_ready, seems_changed

    require_ready(request)
    ahead = _Ahead(request)
    if not no_prefect and seems_changed(request):
        return run_work(
            flags, no_prefect, lambda: ahead.then(work, unchanged), meanwhile=ahead.look_and_import
        )
    ahead.look()
    if ahead.done is not None:
        return unchanged(ahead.done)
    return run_work(flags, no_prefect, lambda: work(request), meanwhile=ahead.imports)


class _Ahead:
    """A look at the sources before the run; ``done`` is its result where there is nothing to do."""

    def __init__(self, request: IndexRequest) -> None:
        self._request = request
        self.done: BuildResult | None = None

    def look(self) -> None:
        from ..run.steps import PlainSteps
        from ..run.work import look_ahead

        self.done = look_ahead(self._request, PlainSteps())

    def look_and_import(self) -> None:
        self.look()
        if self.done is None:
            self.imports()

    def imports(self) -> None:
        """What takes seconds and needs no Prefect, for those in which its server starts."""
        from ..run.memory import collect_seldom
        from ..run.work import read_ahead

        _imports()
        collect_seldom()
        read_ahead(self._request)

    def then(self, work: Callable[[IndexRequest], T], unchanged: Callable[[BuildResult], T]) -> T:
        return work(self._request) if self.done is None else unchanged(self.done)


def run_work(
    flags: Flags, no_prefect: bool, work: Callable[[], T], meanwhile: Callable[[], None] = lambda: None
) -> T:
    """The work's result, done in this process or as a Prefect flow, with its progress shown."""
    with output.progress(flags.quiet, flags.as_json):
        if no_prefect:
            return work()
        from ..prefect_server.private import prefect_api

        with prefect_api(flags.store, meanwhile=meanwhile):
            return work()


def _imports() -> None:
    """The slow imports of an index run, for the seconds in which Prefect's server starts."""
    from ..run.memory import uncollected

    with uncollected():
        pass


def path_text(path: Path | None) -> str | None:
    """The path as a flow's parameter."""
    return None if path is None else str(path.absolute())


def print_build(result: BuildResult) -> None:
    """What the run did, as lines."""
    from ..report.summary import lines

    for line in lines(result):
        output.say(line)
    if result.rejections:
        output.say("Which files, and why: noctule report")
