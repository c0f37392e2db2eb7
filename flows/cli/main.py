"""The command ``noctule``. It starts fast: each command imports what it needs when it runs."""

from __future__ import annotations

import atexit
import logging
import os
import re
import sys
from typing import Annotated, NoReturn

import typer

from ...pipeline.errors import NoctuleError
from ..run.signals import BROKEN_PIPE, INTERRUPTED, LOST_OUTPUT, STOPPED, leave_now, stop_on_signals
from . import graph, index, init, mcp, output, publish, schedule, serve, site, store, trace
from .flags import with_flags
from .query import evaluate, feedback, search, sql, tune

_EPILOG = """
Begin with:  noctule index FOLDER   then   noctule search "your question"

Exit codes: 0 success, 1 a bug, 2 your input or configuration, 3 the store is damaged, \
4 another run holds the lock, \
5 some collections or targets failed, 130 interrupted.
"""

app = typer.Typer(
    name="noctule",
    help="Turn folders of documents into a verified snapshot, search it offline, and render it as a site.",
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            output.say(f"noctule {version('noctule')}")
        except PackageNotFoundError:
            output.say("noctule, from a checkout that is not installed")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


# In the order in which the help lists them.
for _command in (
    init.init, index.index, site.site, serve.serve, site.nightly, publish.publish,
    search.search, search.similar, search.related, mcp.mcp, trace.trace,
    evaluate.evaluate, tune.tune, feedback.feedback,
    graph.links, store.check, store.snapshots, store.rollback, store.prune, store.report,
    sql.sql, graph.graph, schedule.schedule,
):  # fmt: skip
    app.command()(with_flags(_command))


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    stop_on_signals()
    _replace_closed_streams()
    code: object = 1
    # Called after all that a command's libraries register, and instead of what was registered before:
    # logging's end, which ours does. A library in C++ that is taken down beside a living thread may
    # abort the process.
    atexit.register(lambda: _end(_number(code)))
    try:
        code = _run(sys.argv[1:])
    except SystemExit as stop:  # a signal before the command could heed it, or a pipe closed to a library
        code = BROKEN_PIPE if isinstance(stop.__context__, BrokenPipeError) else stop.code
        if isinstance(code, str):  # the last words of a library, as Python prints them
            print(code, file=sys.stderr)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError as lost:  # only from printing: commands answer their own
        code = BROKEN_PIPE if isinstance(lost, BrokenPipeError) else LOST_OUTPUT
    if code in STOPPED:
        leave_now(_number(code))
    sys.exit(_number(code))


def _replace_closed_streams() -> None:
    """Give what is printed somewhere to go where the caller closed a stream: Python has none there then."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _run(arguments: list[str]) -> object:
    """Run a command and return its exit code; wrong flags are printed like every other error."""
    try:
        return app(arguments, prog_name="noctule", standalone_mode=False)
    except OSError:
        raise
    except Exception as usage:
        return _usage(usage, as_json="--json" in arguments)


def _end(code: int) -> NoReturn:
    logging.shutdown()
    leave_now(code)


def _number(code: object) -> int:
    return code if isinstance(code, int) else int(isinstance(code, str))


def _usage(problem: Exception, as_json: bool) -> int:
    """Print wrong flags in the shape of every other error, and return the exit code."""
    message = getattr(problem, "format_message", None)
    if message is None:
        raise problem
    context = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "noctule"
    # Without arguments the message is the whole help, which is what was asked for.
    if type(problem).__name__ == "NoArgsIsHelpError":
        output.say(message())
        return 0
    error = NoctuleError(_plain(message()), where=command, hint=f"See: {command} --help")
    output.error(error, as_json, kind="UsageError")
    return 2


def _plain(message: str) -> str:
    """Return the message without the words that pydantic, by which Typer checks values, puts before it."""
    return re.sub(r"(?<=: )Value error, ", "", message, count=1)


if __name__ == "__main__":
    main()
