"""A stop stops: whatever hangs, and whichever signal it is, the process and its children are gone in time."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from tests.command_line import CommandLine, Started, wait_until

LIMIT_S = 10
# What a worker needs to start, at most; what has used more is in a parser that hangs.
_START_CPU_S = 6.0


def _seconds_of(process: int) -> float:
    """Processor time of a process; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _hangs(started: Started) -> bool:
    workers = [number for number, command in started.family().items() if "spawn_main" in command]
    return any(_seconds_of(number) > _START_CPU_S for number in workers)


def _hanging_run(folder: Path, *flags: str) -> tuple[CommandLine, Started]:
    """A run whose two last files hang a rule of their collection in a worker, for minutes."""
    vault = folder / "vault"
    vault.mkdir()
    for number in range(6):
        (vault / f"note{number}.md").write_text(f"# Note {number}\n\nText.\n")
    for name in ("x.md", "y.md"):
        (vault / name).write_text("a" * 60 + "!")
    (folder / "noctule.toml").write_text(
        '[collections.vault]\nroot = "vault"\n\n'
        '[[collections.vault.rules]]\npattern = "(a+)+$"\nreplacement = ""\n'
    )
    command = CommandLine(folder, folder / "store")
    started = command.start("index", "--config", "noctule.toml", *flags)
    return command, started


@pytest.mark.timeout(240)
@pytest.mark.parametrize("flags", [("--no-prefect",), ()], ids=["plain", "prefect"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_stops_a_run_whose_parser_hangs(name: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    number = signal.Signals[name]
    command, started = _hanging_run(tmp_path, *flags)
    try:
        wait_until(lambda: _hangs(started) or started.process.poll() is not None, 180, "no parser hangs")
        told = time.monotonic()
        started.process.send_signal(number)
        assert started.process.wait(60) == 128 + number, started.said()
        wait_until(lambda: not started.family(), LIMIT_S, "processes are left")
        assert time.monotonic() - told < LIMIT_S
    finally:
        started.end()
    assert started.said().count("error: ") == 1
    with Store(command.store).lock("the next run"):
        assert not list(command.store.glob(".staging-*"))


@pytest.mark.timeout(240)
def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    _, started = _hanging_run(tmp_path, "--no-prefect")
    try:
        wait_until(lambda: _hangs(started) or started.process.poll() is not None, 180, "no parser hangs")
        for _ in range(2):
            started.process.send_signal(signal.SIGINT)
        told = time.monotonic()
        assert started.process.wait(60) in (128 + signal.SIGINT, -signal.SIGINT)
        wait_until(lambda: not started.family(), 2, "processes are left")
        assert time.monotonic() - told < 2
    finally:
        started.end()
