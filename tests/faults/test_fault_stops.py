"""A stop stops: whatever hangs, and whichever signal it is, the process and its children are gone in time."""

from __future__ import annotations

import os
import shutil
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from tests.command_line import CommandLine, Started, wait_until
from tests.ray_cluster import NOT_NICE
from tests.repetitions import ALL, sample, torture_only
from tests.sentence_model_builder import small_model_table

LIMIT_S = 10
# More than one batch: for a single one no cluster is started.
_BATCHES = 70


# In every process of a run: the rule says that it begins with a document on which it hangs.
_TELLS = """
import re
from pathlib import Path

plain = re.sub

def sub(pattern, replacement, text):
    if text.startswith("aaa"):
        Path({mark!r}).touch()
    return plain(pattern, replacement, text)

re.sub = sub
"""


def _wait_for_the_hang(started: Started, folder: Path) -> None:
    mark = folder / "hangs"
    wait_until(lambda: mark.exists() or started.process.poll() is not None, 180, "no parser hangs")


def _hanging_run(folder: Path, *flags: str, files: int = 6) -> tuple[CommandLine, Started]:
    """A run whose two last files hang a rule of their collection in a worker, for minutes."""
    vault = folder / "vault"
    vault.mkdir()
    for number in range(files):
        (vault / f"note{number}.md").write_text(f"# Note {number}\n\nText.\n")
    for name in ("x.md", "y.md"):
        (vault / name).write_text("a" * 60 + "!")
    (folder / "noctule.toml").write_text(
        '[collections.vault]\nroot = "vault"\n\n'
        '[[collections.vault.rules]]\npattern = "(a+)+$"\nreplacement = ""\n\n' + small_model_table()
    )
    (folder / "path").mkdir()
    (folder / "path" / "sitecustomize.py").write_text(_TELLS.format(mark=str(folder / "hangs")))
    command = CommandLine(folder, folder / "store", {**NOT_NICE, "PYTHONPATH": str(folder / "path")})
    started = command.start("index", "--config", "noctule.toml", *flags)
    return command, started


# Prefect has handlers of its own for two of them: `test_prefect_flow.py` sends the first through it, and the
# test of a server that hangs the second. `make torture` sends all with Prefect and without.
_SIGNALS = sample(["SIGTERM", "SIGHUP", "SIGINT"], 2)
_RUNS = [(name, flags) for flags in (("--no-prefect",), *([()] if ALL else [])) for name in _SIGNALS]


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("name", "flags"), _RUNS)
def test_a_signal_stops_a_run_whose_parser_hangs(
    name: str, flags: tuple[str, ...], prefect_home: Path, tmp_path: Path
) -> None:
    number = signal.Signals[name]
    shutil.copytree(prefect_home, tmp_path / "store" / "prefect")
    command, started = _hanging_run(tmp_path, *flags)
    try:
        _wait_for_the_hang(started, tmp_path)
        _stopped_in_time(command, started, number)
    finally:
        started.end()
    assert started.said().count("error: ") == 1


def _stopped_in_time(command: CommandLine, started: Started, number: signal.Signals) -> None:
    """Send a signal; the process, all that it started and its locks are gone within the limit."""
    told = time.monotonic()
    started.process.send_signal(number)
    assert started.process.wait(60) == 128 + number, started.said()
    wait_until(lambda: not started.family(), LIMIT_S, f"processes are left: {started.family()}")
    seconds = time.monotonic() - told
    print(f"gone after {seconds:.1f} s")
    assert seconds < LIMIT_S
    with Store(command.store).lock("the next run"):
        assert not list(command.store.glob(".staging-*"))


@pytest.mark.timeout(240)
@torture_only
@pytest.mark.parametrize("engine", ["dask", "ray"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_stops_a_run_on_a_cluster_whose_parser_hangs(name: str, engine: str, tmp_path: Path) -> None:
    if find_spec({"dask": "distributed"}.get(engine, engine)) is None:
        pytest.skip(f'{engine} is not installed; with it: pip install -e ".[{engine}]"')
    command, started = _hanging_run(tmp_path, "--no-prefect", "--engine", engine, files=_BATCHES)
    try:
        _wait_for_the_hang(started, tmp_path)
        _stopped_in_time(command, started, signal.Signals[name])
    finally:
        started.end()


@pytest.mark.timeout(240)
@torture_only
def test_a_signal_stops_a_run_whose_prefect_server_hangs(prefect_home: Path, tmp_path: Path) -> None:
    shutil.copytree(prefect_home, tmp_path / "store" / "prefect")
    command, started = _hanging_run(tmp_path)
    try:
        _wait_for_the_hang(started, tmp_path)
        [server] = [number for number, line in started.family().items() if "prefect_server/server.py" in line]
        os.kill(server, signal.SIGSTOP)
        _stopped_in_time(command, started, signal.SIGINT)
    finally:
        started.end()


# A page that takes for ever, inside a library: no handler of Python's runs there.
_HANGING_SITE = """
import re
from pathlib import Path
from noctule.docsite.content.render import Renderer
from noctule.flows.cli.main import main

def render(*_):
    Path("hangs").touch()
    re.match("(a+)+$", "a" * 60 + "!")

Renderer.render = render
if __name__ == "__main__":
    main()
"""


@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"] if ALL else ["SIGINT"])
def test_a_signal_stops_a_site_whose_page_hangs(name: str, tmp_path: Path) -> None:
    command = CommandLine(tmp_path, tmp_path / "store")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "note.md").write_text("# Note\n\nText.\n")
    (tmp_path / "noctule.toml").write_text(small_model_table())
    assert command.run("index", "vault", "--no-prefect").code == 0
    started = command.start("site", "--out", "public", "--no-prefect", program=_HANGING_SITE)
    try:
        hangs = (tmp_path / "hangs").exists
        wait_until(lambda: hangs() or started.process.poll() is not None, 120, "no page hangs")
        assert hangs(), started.said()
        _stopped_in_time(command, started, signal.Signals[name])
    finally:
        started.end()
    assert not (tmp_path / "public").exists()
    assert command.run("site", "--out", "public", "--no-prefect").code == 0


@pytest.mark.timeout(240)
def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    _, started = _hanging_run(tmp_path, "--no-prefect")
    try:
        _wait_for_the_hang(started, tmp_path)
        for _ in range(2):
            started.process.send_signal(signal.SIGINT)
        told = time.monotonic()
        assert started.process.wait(60) in (128 + signal.SIGINT, -signal.SIGINT)
        wait_until(lambda: not started.family(), 2, "processes are left")
        assert time.monotonic() - told < 2
    finally:
        started.end()
