"""Whole processes, timed from outside: wall seconds, processor seconds and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
_SAMPLE_S = 2.0  # reading the memory of a large process takes tens of milliseconds


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a process and its children; ``peak_mb`` is their largest sum at one instant.

    ``anonymous_mb`` is that of memory which the kernel cannot take back: all but the pages of mapped files.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    anonymous_mb: float
    output: str


def noctule(
    *arguments: str | Path, environment: Mapping[str, str] | None = None, sample_s: float = _SAMPLE_S
) -> Cost:
    """Run the command line once; the benchmark ends if it fails."""
    program = [sys.executable, "-m", "noctule.flows.cli.main", *map(str, arguments)]
    return run(program, environment or {}, sample_s)


def run(command: Sequence[str], environment: Mapping[str, str], sample_s: float = _SAMPLE_S) -> Cost:
    """Return the cost of a command in a process group of its own.

    Memory is sampled every ``sample_s`` seconds.
    """
    paths = f"{REPOSITORY}:{REPOSITORY / 'site'}"
    start, before = time.perf_counter(), os.times()
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    peak = _Peak(process.pid, sample_s)
    output, _ = process.communicate()
    wall, after = time.perf_counter() - start, os.times()
    peak.stop()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return Cost(wall, cpu, peak.mb, peak.anonymous_mb, output)


class _Peak:
    """Samples the proportional memory of a session's processes."""

    def __init__(self, session: int, sample_s: float) -> None:
        self._session, self._sample_s, self._done, self.mb = session, sample_s, threading.Event(), 0.0
        self.anonymous_mb = 0.0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(self._sample_s):
            held = held_kb_of_session(self._session)
            self.mb = max(self.mb, sum(each.get("Pss", 0) for each in held) / 1024)
            anonymous = sum(each.get("Pss_Anon", 0) for each in held) / 1024
            self.anonymous_mb = max(self.anonymous_mb, anonymous)


def held_kb_of_session(session: int, without: int = 0) -> list[dict[str, int]]:
    """Return the proportional memory of each process of a session, but for one."""
    members = (p for p in Path("/proc").iterdir() if p.name.isdigit() and p.name != str(without))
    return [_held_kb(process) for process in members if _session(process) == session]


def _session(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[3])
    except (OSError, ValueError, IndexError):
        return -1


def _held_kb(process: Path) -> dict[str, int]:
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return {}
    return {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith("Pss")}
