"""What Prefect is told before it is imported, and what happens when it cannot be had."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from noctule.flows.prefect_server import client as api_client
from noctule.flows.prefect_server import private as runtime
from tests.command_line import REPOSITORY


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(os, "environ", {"PATH": os.environ["PATH"], "NO_PROXY": "example.org"})
    return monkeypatch


def test_no_telemetry_no_pickles_no_temporary_server_whatever_the_shell_says(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] = "true"
    os.environ["PREFECT_RESULTS_PERSIST_BY_DEFAULT"] = "true"
    runtime.configure(tmp_path)
    told = os.environ
    assert told["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert told["DO_NOT_TRACK"] == "1"
    assert told["PREFECT_RESULTS_PERSIST_BY_DEFAULT"] == "false"
    assert told["PREFECT_TASKS_DEFAULT_NO_CACHE"] == "true"
    assert told["PREFECT_SERVER_EPHEMERAL_ENABLED"] == "false"
    assert told["PREFECT_HOME"] == str(tmp_path)


def test_loopback_is_asked_without_a_proxy(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runtime.configure(tmp_path)
    runtime.configure(tmp_path)
    assert os.environ["NO_PROXY"] == "example.org,127.0.0.1,localhost"


def test_what_a_user_set_for_prefect_stays_where_it_is_harmless(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    os.environ["PREFECT_SERVER_LOGGING_LEVEL"] = "DEBUG"
    runtime.configure(tmp_path)
    assert os.environ["PREFECT_SERVER_LOGGING_LEVEL"] == "DEBUG"


def test_prefect_knows_every_setting_and_reads_it_as_meant() -> None:
    program = (
        "import tempfile, pathlib\n"
        "from noctule.flows.prefect_server import private as runtime\n"
        "runtime.configure(pathlib.Path(tempfile.mkdtemp()))\n"
        "from prefect.settings import get_current_settings\n"
        "known = get_current_settings().to_environment_variables(exclude_unset=True)\n"
        "wanted = runtime.TELEMETRY_OFF | runtime.PINNED | runtime.PREFERRED\n"
        "foreign = {'DO_NOT_TRACK', 'TOKENIZERS_PARALLELISM', 'PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL'}\n"
        "print(sorted(name for name, value in wanted.items() if name not in foreign\n"
        "             and known.get(name, '').lower() != value.lower()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=REPOSITORY,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("given", "meant"), [({}, "None"), ({"PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "60"}, "60")]
)
def test_no_flow_waits_for_its_heartbeat_unless_a_user_wants_one(given: dict[str, str], meant: str) -> None:
    program = (
        "from noctule.flows.prefect_server import client as api_client\n"
        "from prefect.settings import get_current_settings\n"
        "with api_client.without_heartbeats():\n"
        "    print(get_current_settings().flows.heartbeat_frequency)"
    )
    environment = {**os.environ, **given}
    said = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    )
    assert said.stdout.strip() == meant


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        code = 200 if self.path == "/api/health" else 503
        self.send_response(code)
        self.end_headers()
        self.wfile.write(b"true")

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def test_a_healthy_api_is_known_from_one_that_is_not() -> None:
    server = HTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        assert api_client.is_healthy(f"{url}/api", timeout_s=5)
        with pytest.raises(OSError, match="503"):
            api_client.is_healthy(f"{url}/other", timeout_s=5)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_prefects_recorder_is_not_told_to_flush_without_pause() -> None:
    """It cuts its interval to whole seconds, and 0 is a loop that takes a core."""
    settings = runtime.PREFERRED | runtime.PINNED
    intervals = [value for name, value in settings.items() if name.endswith("FLUSH_INTERVAL")]
    assert intervals and all(int(float(value)) >= 1 for value in intervals)


_UNSHARE = ["unshare", "--map-root-user", "--net"]
_CAN_UNSHARE = shutil.which("unshare") and not subprocess.run([*_UNSHARE, "true"], check=False).returncode


@pytest.mark.skipif(not _CAN_UNSHARE, reason="no network namespace of one's own can be had here")
def test_without_loopback_a_run_ends_at_once_and_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# One\n")
    command = [*_UNSHARE, sys.executable, "-m", "noctule.flows.cli.main", "index", "docs"]
    start = time.monotonic()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2, done.stderr
    assert time.monotonic() - start < 40
    assert "cannot reach its own address: Network is unreachable" in done.stderr
    assert "ip link set lo up" in done.stderr and "--no-prefect" in done.stderr


_STOPPED = """
import sys
from pathlib import Path
from noctule.flows.prefect_server import private

started, start = [], private._start

def noted(*given):
    started.append(start(*given))
    return started[-1]

def stop():
    print(started[0].process.poll())
    raise KeyboardInterrupt

private._start = noted
try:
    with private.prefect_api(Path(sys.argv[1]), import_flow=stop):
        print("it goes on")
except KeyboardInterrupt:
    print(started[0].process.poll() is not None)
"""


def test_a_stop_while_the_flow_is_imported_ends_the_server_that_is_starting(tmp_path: Path) -> None:
    program = [sys.executable, "-c", _STOPPED, str(tmp_path / "store")]
    done = subprocess.run(program, check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["None", "True"], done.stdout


def test_a_file_where_its_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "prefect").write_text("a file in its place")
    program = (
        "import sys; from pathlib import Path; from noctule.flows.prefect_server.private import prefect_api\n"
        "from noctule.pipeline.errors import PrefectUnavailable\n"
        "try:\n    with prefect_api(Path(sys.argv[1])): pass\n"
        "except PrefectUnavailable as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], check=True, capture_output=True, text=True, timeout=60
    )
    assert "cannot use its folder" in done.stdout and str(tmp_path / "prefect") in done.stdout, done.stdout
    assert (tmp_path / "prefect").read_text() == "a file in its place"
