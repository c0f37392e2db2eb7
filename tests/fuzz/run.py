"""``make fuzz``: every target for so many seconds with Hypothesis, and again with atheris where it is
installed.

    python -m tests.fuzz.run --seconds 60 --targets markdown html

Prints a line a target with the executions; an input that breaks one is kept in the folder ``--found`` and
ends with code 1.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.grammar import dictionary, inputs
from tests.fuzz.targets import TARGETS

_SLOW_S = 20


def with_hypothesis(name: str, seconds: float, found: Path) -> int | None:
    """Executions in so many seconds, each round with another seed; None once an input breaks the target."""
    TARGETS[name](bytes(8))  # what it has to build first is not on its time
    executions, end, round_number = 0, time.monotonic() + seconds, 0
    last = found / f"{name}-hypothesis"
    while time.monotonic() < end:
        round_number += 1

        @seed(round_number)
        @given(inputs(name))
        @settings(
            max_examples=500,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        def run(content: bytes) -> None:
            nonlocal executions
            if time.monotonic() > end:  # a round of sites would take an hour
                return
            executions += 1
            last.write_bytes(content)
            TARGETS[name](content)

        try:
            run()
        except Exception as error:
            each = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
            said = "; ".join(f"{type(one).__name__}: {one}" for one in each)
            print(f"{name}: {said}\n  input: {last}", file=sys.stderr)
            return None
        last.unlink(missing_ok=True)
    return executions


def with_atheris(name: str, seconds: int, found: Path) -> int | None:
    """Executions in so many seconds, in a process of its own; None once an input breaks the target or takes
    too long.
    """
    words, corpus = found / f"{name}.dict", found / f"{name}.corpus"
    words.write_text(dictionary(name))
    corpus.mkdir(exist_ok=True)
    limits = [f"-max_total_time={seconds}", f"-timeout={_SLOW_S}", "-max_len=2048", "-rss_limit_mb=4096"]
    files = [f"-dict={words}", f"-artifact_prefix={found}/{name}-", str(corpus)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.guided", name, *limits, *files],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=os.environ | {"PYTHONHASHSEED": "0"},
    )
    counted = re.search(r"Done (\d+) (?:runs )?in", done.stdout + done.stderr)
    if done.returncode == 0 and counted:
        return int(counted[1])
    print(
        f"{name}: atheris ended with {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}",
        file=sys.stderr,
    )
    return None


def main() -> int:
    """Run, print, and say by the exit code whether every target held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each target and each kind of fuzzing")
    parser.add_argument("--targets", nargs="*", default=sorted(TARGETS), choices=sorted(TARGETS))
    parser.add_argument("--found", type=Path, default=Path(".fuzz"))
    given_ = parser.parse_args()
    given_.found.mkdir(exist_ok=True)
    guided = importlib.util.find_spec("atheris") is not None
    if not guided:
        print("atheris is not installed (pip install -e '.[fuzz]'): only Hypothesis runs")
    broken = 0
    for name in given_.targets:
        # In a process of its own: atheris counts the most memory that its parent ever had as its own.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            running = pool.submit(with_hypothesis, name, given_.seconds, given_.found)
            counts = [None if isinstance(running.exception(), BrokenProcessPool) else running.result()]
        counts += [with_atheris(name, given_.seconds, given_.found)] if guided else []
        if counts[0] is None:
            print(f"{name}: an input is kept in {given_.found}/{name}-hypothesis", file=sys.stderr)
        said = ["broken" if count is None else f"{count:,}" for count in counts]
        print(f"{name}: Hypothesis {said[0]}" + (f", atheris {said[1]}" if guided else ""), flush=True)
        broken += sum(count is None for count in counts)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
