"""A cron deployment of ``nightly`` on a real Prefect server must really schedule (with SQLAlchemy 2.1 none
would).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noctule.flows.prefect_server import client
from noctule.flows.prefect_server.private import PINNED, PREFERRED, TELEMETRY_OFF
from tests.command_line import REPOSITORY, CommandLine, wait_until
from tests.e2e.conftest import Built


@pytest.fixture(scope="module")
def server(prefect_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a client of a server that a user started by hand."""
    tmp_path = tmp_path_factory.mktemp("server")
    shutil.copytree(prefect_home, tmp_path / "home")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}/api"
    command = CommandLine(tmp_path, tmp_path / "store")
    environment = (
        command.environment
        | TELEMETRY_OFF
        | PINNED
        | PREFERRED
        | {"PREFECT_HOME": str(tmp_path / "home"), "PREFECT_API_URL": url}
    )
    arguments = [
        sys.executable,
        "-m",
        "prefect",
        "server",
        "start",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-ui",
    ]
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen(
            arguments, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        wait_until(lambda: _is_up(url, process), 120, "no server")
        yield environment
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def _is_up(url: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "the server ended"
    try:
        return client.is_healthy(url, timeout_s=2)
    except OSError:
        return False


def test_a_server_that_is_given_gets_the_runs_and_no_private_one_is_started(
    server: dict[str, str], built: Built, tmp_path: Path
) -> None:
    url = server["PREFECT_API_URL"]
    store = built.copied_to(tmp_path).store
    command = CommandLine(tmp_path, store, {"PREFECT_API_URL": url})
    done = command.run("site", "--out", "public", "--json")
    assert done.code == 0, done.err
    assert done.json["pages"] == 4
    completed = {
        "flow_runs": {"state": {"type": {"any_": ["COMPLETED"]}}},
        "flows": {"name": {"any_": ["site"]}},
    }
    assert client.ask(f"{url}/flow_runs/count", completed, 30) == 1
    assert not (store / "prefect" / "prefect.db").exists()
    assert not (store / "prefect.lock").exists()


def test_a_quiet_night_leaves_a_run_on_a_server_that_is_given(
    server: dict[str, str], built: Built, tmp_path: Path
) -> None:
    command = CommandLine(
        tmp_path, built.copied_to(tmp_path).store, {"PREFECT_API_URL": server["PREFECT_API_URL"]}
    )
    done = command.run("index", str(built.vault), "--json")
    assert (done.code, done.json["changed"]) == (0, False), done.err
    found = client.ask(
        f"{server['PREFECT_API_URL']}/flow_runs/filter", {"flows": {"name": {"any_": ["index"]}}}, 30
    )
    assert [(run["state"]["type"], run["state"]["message"]) for run in found] == [
        ("COMPLETED", "nothing changed")
    ]


def _is_taken(url: str, body: object) -> bool:
    """Whether a server took a request, which Prefect's own client sends again while its database is busy."""
    try:
        client.ask(url, body, 30)
    except OSError as error:
        assert "503" in str(error)
        return False
    return True


def _deployments(url: str, name: str) -> list[dict[str, Any]]:
    return list(client.ask(f"{url}/deployments/filter", {"deployments": {"name": {"any_": [name]}}}, 30))


def _count_scheduled(url: str, deployment: str) -> int:
    scheduled = {
        "deployments": {"name": {"any_": [deployment]}},
        "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
    }
    return int(json.dumps(client.ask(f"{url}/flow_runs/count", scheduled, 30)))


def test_schedule_serves_one_run_at_a_time_and_leaves_the_schedule_on_when_it_ends(
    server: dict[str, str], tmp_path: Path
) -> None:
    url = server["PREFECT_API_URL"]
    (tmp_path / "noctule.toml").write_text('[collections.docs]\nroot = "docs"\n')
    command = CommandLine(tmp_path, tmp_path / "store", {"PREFECT_API_URL": url})
    started = command.start(
        "schedule", "--cron", "0 2 * * *", "--name", "docs", "--timezone", "Europe/Berlin"
    )
    try:
        wait_until(
            lambda: _deployments(url, "docs") or started.process.poll() is not None, 60, "no deployment"
        )
        wait_until(lambda: _deployments(url, "docs"), 1, started.said())
        wait_until(lambda: _count_scheduled(url, "docs") >= 3, 60, "nothing was scheduled")
        started.process.terminate()
        assert started.process.wait(40) in (0, 143), started.said()
        wait_until(lambda: not started.family(), 10, "processes are left")
    finally:
        started.end()
    (deployment,) = _deployments(url, "docs")
    assert deployment["paused"] is False
    (schedule,) = deployment["schedules"]
    assert schedule["active"] is True
    assert (schedule["schedule"]["cron"], schedule["schedule"]["timezone"]) == ("0 2 * * *", "Europe/Berlin")
    assert deployment["global_concurrency_limit"]["limit"] == 1
    assert deployment["concurrency_options"]["collision_strategy"] == "CANCEL_NEW"
    assert deployment["parameters"]["store"] == str(tmp_path / "store")
    assert deployment["parameters"]["config"] == str(tmp_path / "noctule.toml")
    assert "Traceback" not in started.said()


def test_prefect_yaml_deploys_and_a_worker_runs_the_night(
    server: dict[str, str], built: Built, tmp_path: Path
) -> None:
    store = built.copied_to(tmp_path).store
    (tmp_path / "noctule.toml").write_text(f'[collections.vault]\nroot = "{built.vault}"\n')
    given = (REPOSITORY / "configs" / "prefect.yaml").read_text()
    assert "/srv/noctule/.noctule" in given
    here = given.replace("/srv/noctule/.noctule", str(store)).replace("/srv/noctule", str(tmp_path))
    (tmp_path / "prefect.yaml").write_text(here.replace("name: local", "name: own"))

    def prefect(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "--no-prompt", *arguments],
            env=server, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    prefect("work-pool", "create", "own", "--type", "process")
    prefect("deploy", "--all", "--prefect-file", "prefect.yaml")
    url = server["PREFECT_API_URL"]
    (deployment,) = _deployments(url, "nightly")
    run_now = f"{url}/deployments/{deployment['id']}/create_flow_run"
    wait_until(
        lambda: _is_taken(run_now, {"state": {"type": "SCHEDULED"}}), 60, "the server's database is busy"
    )
    prefect("worker", "start", "--pool", "own", "--run-once", "--limit", "1", "--prefetch-seconds", "5")
    ran = {
        "deployments": {"name": {"any_": ["nightly"]}},
        "flow_runs": {"state": {"type": {"any_": ["COMPLETED"]}}},
    }
    wait_until(lambda: int(json.dumps(client.ask(f"{url}/flow_runs/count", ran, 30))) == 1, 60, "no night")
    assert (tmp_path / "public" / "index.html").is_file()
