"""Processes forked from a server that has done the slow imports: a command starts at once, a kill follows a
start.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

# One server for all tests of a pytest process, so the list is in one place. Nothing in it may start a thread,
# nor read the settings of a command from the environment when it is imported, as Prefect does.
_LOADED = (
    "sentence_transformers",
    "noctule.flows.cli.main",
    "noctule.flows.job",
    "tests.crash.builder",
    "tests.crash.publisher",
)
context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(list(_LOADED))


def run_command(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], timeout_s: float
) -> tuple[int, str, str]:
    """Return the exit code of ``noctule`` with these arguments, and all that it printed to each stream."""
    with TemporaryDirectory() as said:
        out, err = Path(said, "out"), Path(said, "err")
        given = (tuple(arguments), folder, dict(environment), out, err)
        child = context.Process(target=_command, args=given)
        child.start()
        child.join(timeout_s)
        if child.exitcode is None:
            child.kill()
            child.join()
            raise subprocess.TimeoutExpired(list(arguments), timeout_s)
        return child.exitcode, out.read_text("utf-8"), err.read_text("utf-8")


def _command(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], out: Path, err: Path
) -> None:
    """Become the command; what it registers to be done at its end is done, as at the end of any process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.argv = ["noctule", *arguments]
    from noctule.flows.cli.main import main

    try:
        main()
    except SystemExit:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
