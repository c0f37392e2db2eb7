"""A signal to stop is heeded at the next stage even where Python or a library dropped what it raised."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from tests.command_line import heed_signals, wait_until

REPOSITORY = Path(__file__).resolve().parents[4]
_SPENT = """
import os, signal, sys
from noctule.flows.run.signals import Stopped, stop_on_signals
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Stage

class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.Signals[sys.argv[1]])
        sum(range(1000))  # the handler runs here: what it raises is printed as ignored, and gone

stop_on_signals()
steps = PlainDriver()
def lose():
    Dying()
    return "lost"
try:
    assert lose() == "lost"
    print("dropped", flush=True)
    {use}
except (KeyboardInterrupt, Stopped) as stop:
    print("heeded", type(stop).__name__)
"""
_USES = {
    "the next stage": "steps.call(Stage('next', None, (), ('x',)), lambda: print('went on'), ())",
    "the next batch": "steps.map('next', lambda n: print('went on'), [1, 2, 3], 2)",
}


def _python(program: str, *arguments: str) -> list[str]:
    path = f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'site'}"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        preexec_fn=heed_signals,  # no threads here
    )
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGINT", "SIGHUP"])
@pytest.mark.parametrize("use", _USES)
def test_a_signal_that_python_dropped_ends_the_run_at(use: str, signal_name: str) -> None:
    kind = "KeyboardInterrupt" if signal_name == "SIGINT" else "Stopped"
    assert _python(_SPENT.replace("{use}", _USES[use]), signal_name) == ["dropped", f"heeded {kind}"]


_HANG_UP = """
import os, signal
from noctule.flows.run.signals import received, stop_on_signals
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
stop_on_signals()
os.kill(os.getpid(), signal.SIGHUP)
print("goes on", received())
"""


def test_under_nohup_a_hang_up_stops_nothing() -> None:
    assert _python(_HANG_UP) == ["goes on None"]


def test_a_signal_in_the_middle_of_a_batch_that_drops_it_spares_the_batches_after_it() -> None:
    use = "steps.map('one by one', lambda n: (print('batch', n), n == 1 and lose()), [1, 2, 3], 1)"
    program = _SPENT.replace('    assert lose() == "lost"\n    print("dropped", flush=True)\n', "")
    assert _python(program.replace("{use}", use), "SIGTERM") == ["batch 1", "heeded Stopped"]


@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGINT"])
def test_a_signal_that_a_library_turned_into_an_error_of_its_own_is_a_signal_again(signal_name: str) -> None:
    use = "steps.call(Stage('load', None, (), ('x',)), lambda: (lose(), open('/nowhere')), ())"
    program = _SPENT.replace('    assert lose() == "lost"\n    print("dropped", flush=True)\n', "")
    kind = "KeyboardInterrupt" if signal_name == "SIGINT" else "Stopped"
    assert _python(program.replace("{use}", use), signal_name) == [f"heeded {kind}"]


def test_ctrl_c_is_ours_and_not_asyncios() -> None:
    program = """
import asyncio, os, signal
from noctule.flows.run.signals import stop_on_signals
stop_on_signals()
async def forgives():
    asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        pass
try:
    asyncio.run(forgives())
    print("lost")
except KeyboardInterrupt:
    print("heard")
"""
    assert _python(program) == ["heard"]


_TAKEN = """
import ctypes, os, signal, sys, threading
from noctule.flows.run.signals import Stopped, restoring_handlers, stop_on_signals
stop_on_signals()
def take():
    with restoring_handlers():
        if sys.argv[1] == "main":
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(15))
        ctypes.CDLL(None).signal(int(signal.SIGTERM), None)  # as a library in C++ does: the default action
if sys.argv[1] == "main":
    take()
else:
    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
try:
    os.kill(os.getpid(), signal.SIGTERM)
    sum(range(1000))
except Stopped:
    print("heeded")
"""


@pytest.mark.parametrize("where", ["main", "thread"])
def test_a_library_that_takes_a_signal_for_itself_gives_it_back(where: str) -> None:
    assert _python(_TAKEN, where) == ["heeded"]


_STUCK = """
import hashlib, os, sys, threading, time
from noctule.flows.run import signals
signals.STOP_LIMIT_S = float(sys.argv[1])
class Owner:
    def kill(self):
        os.write(1, b"killed\\n")
owner = Owner()
signals.kill_at_stop(owner)
signals.stop_on_signals()
print("stuck", flush=True)
hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes in C, in which no handler of Python's runs
"""


@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGINT", "SIGHUP"])
@pytest.mark.parametrize(("limit_s", "signals"), [(1.0, 1), (60.0, 2)])
def test_a_main_thread_that_is_stuck_in_a_library_is_ended_in_time(
    limit_s: float, signals: int, signal_name: str
) -> None:
    number = signal.Signals[signal_name]
    process = subprocess.Popen(
        [sys.executable, "-c", _STUCK, str(limit_s)],
        env=os.environ | {"PYTHONPATH": f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'site'}"},
        stdout=subprocess.PIPE,
        preexec_fn=heed_signals,  # noqa: PLW1509  # no threads here
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == b"stuck\n"
        time.sleep(0.5)  # it says so just before
        process.send_signal(number)
        assert process.stdout.readline() == b"killed\n"
        if signals > 1:
            process.send_signal(number)
        told = time.monotonic()
        assert process.wait(30) == 128 + number
        assert time.monotonic() - told < 4
    finally:
        process.kill()
        process.communicate()


_PARENT = """
import sys, time
from noctule.flows.run.workers import Workers
from tests.unit.flows.run.test_signals import busy
with Workers(1) as workers:
    print("ready", flush=True)
    workers.call(busy, sys.argv[1], 600)
"""


def busy(pid_file: str) -> None:
    """Holds the interpreter for a minute or more: no thread of this process can do anything."""
    Path(pid_file).write_text(str(os.getpid()))
    sum(range(10**11))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's watch over parents is Linux's")
def test_a_worker_in_the_middle_of_a_parse_dies_with_its_parent(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    path = f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'site'}"
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(pid_file)],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: pid_file.is_file() and pid_file.read_text(), 60, "no worker")
        worker = Path("/proc", pid_file.read_text())
        assert worker.exists()
    finally:
        parent.kill()
        parent.wait(10)
    wait_until(lambda: not worker.exists() or "Z" in (worker / "stat").read_text(), 5, "the worker is left")


@pytest.mark.parametrize(
    ("raised", "code"),
    [("Stopped(15)", 143), ("KeyboardInterrupt", 130), ("SystemExit(3)", 3), ("SystemExit('no')", 1)],
)
def test_what_ends_the_command_line_from_outside_a_command_is_its_exit_code(raised: str, code: int) -> None:
    program = f"""
from noctule.flows.cli import main as cli
from noctule.flows.run.signals import Stopped
def stopped(*_, **__):
    raise {raised}
cli.app = stopped
cli.main()
"""
    assert _ended(program).returncode == code


def test_output_that_nobody_takes_is_not_success() -> None:
    program = (
        "import sys; from noctule.flows.cli.main import main; sys.argv = ['noctule', '--version']; main()"
    )
    with Path("/dev/full").open("w") as full:
        assert _ended(program, full).returncode != 0
    closed = (
        "import os, sys; os.close(1); sys.stdout = None; from noctule.flows.cli.main import main; "
        "sys.argv = ['noctule', 'search', '--help']; main()"
    )
    assert "Exception ignored" not in _ended(closed).stderr


def _ended(program: str, out: IO[str] | None = None) -> subprocess.CompletedProcess[str]:
    path = f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'site'}"
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        stdout=out or subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
