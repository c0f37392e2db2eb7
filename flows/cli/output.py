"""What the command line prints: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from ...pipeline.errors import NoctuleError
from ...pipeline.printable import PrintableFormatter, json_printable, printable

if TYPE_CHECKING:
    from rich.console import Console

    from ..run.stage import Progress

_UNFOLDED = 1_000_000


@cache
def console() -> Console:
    """Return the console where people read results."""
    from rich.console import Console

    class ResultConsole(Console):
        def on_broken_pipe(self) -> NoReturn:
            """Raise ``BrokenPipeError``; Rich would end the process with code 1, which means a bug."""
            raise BrokenPipeError

    is_terminal = sys.stdout.isatty()
    # A program reads lines: a row of a table is one of them, however long, unless COLUMNS says otherwise.
    width = None if is_terminal or os.environ.get("COLUMNS") else _UNFOLDED
    return ResultConsole(highlight=False, markup=False, soft_wrap=not is_terminal, width=width)


@cache
def side() -> Console:
    """Return the console where people see progress."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False)


def emit(value: Mapping[str, object]) -> None:
    """Print one JSON object on standard output."""
    sys.stdout.write(json_printable(json.dumps(value, ensure_ascii=False, allow_nan=False)) + "\n")


def say(line: str = "") -> None:
    """Print a line on standard output."""
    sys.stdout.write(printable(line) + "\n")


def say_some(lines: Sequence[str], most: int, more: str = "and {} more") -> None:
    """Print the first lines on standard output, and how many more there are."""
    for line in lines[:most]:
        say(line)
    if len(lines) > most:
        say(more.format(f"{len(lines) - most:,}"))


def complain(text: str) -> None:
    """Print text on standard error."""
    sys.stderr.write(printable(text.rstrip("\n")) + "\n")


def error(problem: NoctuleError, as_json: bool, kind: str = "") -> None:
    """Print an error in the one shape that all have: what happened, where, and what to do next."""
    if as_json:
        value = problem.as_dict() | ({"kind": kind} if kind else {})
        complain(json_printable(json.dumps({"error": value}, ensure_ascii=False)))
        return
    complain(f"error: {problem.what}")
    if problem.where:
        complain(f"  where: {problem.where}")
    if problem.hint:
        complain(f"  next:  {problem.hint}")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under headings on standard output, with columns of numbers aligned to the right."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for at, heading in enumerate(headings):
        numeric = all(re.match(r"[\d.,-]+( [kMG]?B| s)?$", row[at]) for row in rows)
        drawn.add_column(heading, justify="right" if rows and numeric else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(printable(cell)) for cell in row))
    console().print(drawn)


def has_bars(quiet: bool, as_json: bool) -> bool:
    """Return whether progress is drawn: on a terminal, unless told otherwise."""
    return sys.stderr.isatty() and not quiet and not as_json


@contextmanager
def progress(quiet: bool, as_json: bool) -> Iterator[Progress]:
    """Yield the display of long work, shown for as long as the block runs."""
    from ..run.progress import shown

    bars = has_bars(quiet, as_json)
    with shown(side() if bars else None) as display:
        yield display


def configure_logging(quiet: bool, as_json: bool, debug: bool) -> None:
    """Send log lines to standard error; beside bars, with --quiet and with --json send only warnings."""
    handler = logging.StreamHandler()
    handler.setFormatter(PrintableFormatter("%(asctime)s %(message)s", "%H:%M:%S"))
    silent = quiet or as_json or has_bars(quiet, as_json)
    handler.setLevel(logging.WARNING if silent and not debug else logging.INFO)
    logger = logging.getLogger("noctule")
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    if not debug and not sys.warnoptions:
        # Other people's deprecations are nothing a user can act on.
        warnings.simplefilter("ignore")
