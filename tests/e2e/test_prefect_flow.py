"""One run through Prefect, looked at from every side: result, records, connections, what stays behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from noctule.flows.graph import BUILD
from noctule.flows.report.drawing import needed_stages
from noctule.flows.run.executor import needed_for
from tests.command_line import PREFECT_ALONE, CommandLine, wait_until
from tests.e2e.conftest import Built
from tests.repetitions import ALL, torture_only

# Each costs fifteen seconds: all of them for `make torture`.
SIGNALS = (
    ("SIGTERM", False, 143, "discover:"),
    ("SIGINT", False, 130, "load model:"),
    ("SIGINT", True, 130, "discover:"),
    ("SIGHUP", False, 129, "discover:"),
)[: 4 if ALL else 1]
# Runs in every Python process of the command: the flow, its workers and the private server.
_WATCH = """
import os, sys
def _note(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
        line = f"{event} {address[0] if isinstance(address, tuple) else address}\\n"
        fd = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(fd, line.encode())
        os.close(fd)
sys.addaudithook(_note)
"""


@dataclass(frozen=True)
class FlowRun:
    """What one ``noctule index`` through Prefect printed, wrote down and connected to."""

    command: CommandLine
    printed: dict[str, Any]
    said: str
    connections: list[str]

    def rows(self, query: str) -> list[Any]:
        with sqlite3.connect(self.command.store / "prefect" / "prefect.db") as database:
            rows = database.execute(query).fetchall()
        database.close()
        return rows


@pytest.fixture(scope="module")
def flow_run(built: Built, prefect_home: Path, tmp_path_factory: pytest.TempPathFactory) -> FlowRun:
    folder = tmp_path_factory.mktemp("flow")
    shutil.copytree(prefect_home, folder / "store" / "prefect")
    (folder / "watch").mkdir()
    (folder / "watch" / "sitecustomize.py").write_text(_WATCH)
    log = folder / "connections"
    # A proxy in the environment must not draw the flow's own traffic out of the machine.
    extra = {
        "PYTHONPATH": str(folder / "watch"),
        "WATCH_LOG": str(log),
        "HTTP_PROXY": "http://192.0.2.1:9",
        "http_proxy": "http://192.0.2.1:9",
    }
    command = CommandLine(folder, folder / "store", extra)
    done = command.run("index", str(built.vault), "--json")
    assert done.code == 0, done.err
    return FlowRun(command, done.json, done.err, log.read_text().splitlines())


def test_prefect_and_no_prefect_make_the_same_snapshot(flow_run: FlowRun, built: Built) -> None:
    assert flow_run.printed["snapshot"] == built.printed["snapshot"]


def test_json_output_is_alone_and_nothing_is_said_beside_it(flow_run: FlowRun) -> None:
    assert flow_run.said == ""


def test_every_task_run_is_recorded_with_a_name_to_follow(flow_run: FlowRun) -> None:
    states = dict(flow_run.rows("select name, state_type from task_run"))
    assert set(states.values()) == {"COMPLETED"}
    assert {"parse", "parse 1 of 1", "embed 1 of 1", "write", "publish"} <= set(states)
    assert flow_run.rows("select state_type from flow_run") == [("COMPLETED",)]


def test_the_run_page_draws_the_table_of_stages(flow_run: FlowRun) -> None:
    rows = flow_run.rows("select id, name, task_inputs from task_run")
    names = {uuid.UUID(each).hex: name for each, name, _ in rows}
    for stage in needed_for({"published"}, BUILD):
        [inputs] = [json.loads(given) for _, name, given in rows if name == stage.name]
        drawn = {names[uuid.UUID(each["id"]).hex] for each in inputs.get("wait_for", ())}
        assert drawn == set(needed_stages(stage, BUILD)), stage.name


def test_a_run_has_a_name_tags_and_described_parameters(flow_run: FlowRun) -> None:
    [(name, tags)] = flow_run.rows("select name, tags from flow_run")
    assert re.fullmatch(rf"index \d{{4}}-\d\d-\d\d {flow_run.command.folder.name}", name)
    assert json.loads(tags) == ["collection:vault", "store:store"]
    program = (
        "import json; from noctule.flows import index, nightly, site\n"
        "flows = (index.index, nightly.nightly, site.site, site.search_only)\n"
        "print(json.dumps([flow.parameters.model_dump()['properties'] for flow in flows]))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for described in json.loads(said.stdout):
        assert described and all(each.get("description") for each in described.values()), described


def test_the_report_is_kept_as_artifacts(flow_run: FlowRun, built: Built) -> None:
    kept = {
        key: json.loads(data) if kind == "table" else data
        for key, kind, data in flow_run.rows("select key, type, data from artifact")
    }
    assert flow_run.printed["snapshot"] in kept["index-summary"]
    assert f"# Snapshot {flow_run.printed['snapshot']}" in kept["snapshot"]
    assert f"| vault | `{built.vault}` | read |" in kept["snapshot"], "what it was made of"
    assert "## Documents" in kept["night-report"] and "4 added" in kept["night-report"]
    table = kept["index-rejected"]
    rows = json.loads(table) if isinstance(table, str) else table
    assert [row["path"] for row in rows] == ["broken.md"]


def test_log_lines_reach_prefect(flow_run: FlowRun) -> None:
    messages = [row[0] for row in flow_run.rows("select message from log")]
    assert any(flow_run.printed["snapshot"] in message for message in messages)


def test_nothing_is_pickled(flow_run: FlowRun) -> None:
    assert not (flow_run.command.store / "prefect" / "storage").exists()


def test_no_connection_leaves_the_machine(flow_run: FlowRun) -> None:
    assert any("127.0.0.1" in line for line in flow_run.connections), "the watch saw nothing: it is broken"
    strangers = [
        line
        for line in flow_run.connections
        if line.split(" ")[1] not in ("127.0.0.1", "localhost", "::1", "None")
    ]
    assert strangers == []


def test_an_error_in_a_flow_has_the_same_shape_and_code_as_without(built: Built, flow_run: FlowRun) -> None:
    command = CommandLine(flow_run.command.folder, flow_run.command.store)
    (command.folder / "empty").mkdir()
    by_flow = command.run("index", "empty", "--json")
    plain = command.run("index", "empty", "--json", "--no-prefect")
    assert by_flow.code == plain.code == 2
    assert by_flow.error == plain.error
    assert by_flow.err.count("\n") == 1


def test_a_run_whose_private_server_does_not_start_says_why_and_goes_on_without_it(
    built: Built, tmp_path: Path
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "uvicorn.py").write_text("raise ImportError('broken on purpose')\n")
    store = built.copied_to(tmp_path).store
    command = CommandLine(tmp_path, store, {"PYTHONPATH": str(tmp_path / "broken")})
    history = store / "prefect" / "prefect.db"
    history.parent.mkdir(exist_ok=True)
    history.write_bytes(b"the runs of a year")
    done = command.run("site", "--out", "public", "--json", timeout_s=60)
    assert (done.code, done.json["pages"] > 0) == (0, True), done.err
    assert "broken on purpose" in done.err and "goes on without Prefect" in done.err, done.err
    assert (tmp_path / "public" / "index.html").is_file()
    assert history.read_bytes() == b"the runs of a year" and not list(store.glob("prefect.aside*"))


def test_a_touched_file_changes_nothing_and_needs_no_prefect(built: Built, tmp_path: Path) -> None:
    vault = shutil.copytree(built.vault, tmp_path / "vault")
    command = CommandLine(tmp_path, tmp_path / "store")
    first = command.run("index", str(vault), "--no-prefect", "--json")
    next(vault.rglob("*.md")).touch()
    again = command.run("index", str(vault), "--json")
    assert (again.code, again.json["snapshot"]) == (0, first.json["snapshot"])
    assert (again.json["changed"], again.json["parsed"]) == (False, 0)
    assert not (command.store / "prefect").exists()


def test_a_given_server_that_does_not_answer_is_named(built: Built, tmp_path: Path) -> None:
    command = CommandLine(tmp_path, tmp_path / "store", {"PREFECT_API_URL": "http://127.0.0.1:9/api"})
    refused = command.run("index", str(built.vault), "--json")
    assert (refused.code, refused.error["kind"]) == (2, "SettingsError")
    assert "127.0.0.1:9" in refused.error["where"]


@pytest.mark.parametrize(("signal_name", "to_group", "code", "when"), SIGNALS)
def test_a_signal_ends_the_flow_and_leaves_no_process(
    built: Built, prefect_home: Path, tmp_path: Path, signal_name: str, to_group: bool, code: int, when: str
) -> None:
    command = built.copied_to(tmp_path)
    shutil.copytree(prefect_home, command.store / "prefect")
    started = command.start("index", str(built.vault), "--from", "parse")
    try:
        started.wait_for(when)
        assert len(started.family()) >= 2, "the private server should be running"
        (os.killpg if to_group else os.kill)(started.process.pid, signal.Signals[signal_name])
        ended = started.process.wait(60)
        wait_until(lambda: not started.family(), 5, "processes are left")
    finally:
        started.end()
    assert ended == code, started.said()
    assert "Traceback" not in started.said()
    assert started.said().count("error: ") == 1
    with sqlite3.connect(command.store / "prefect" / "prefect.db") as database:
        assert database.execute("select state_type from flow_run").fetchall() == [("CRASHED",)]
    database.close()
    assert command.run("check", "--deep", "--json").json["snapshot"] == built.printed["snapshot"]


@torture_only
def test_after_kill_9_the_server_goes_and_the_next_run_marks_the_run_as_crashed(
    built: Built, prefect_home: Path, tmp_path: Path
) -> None:
    command = built.copied_to(tmp_path)
    shutil.copytree(prefect_home, command.store / "prefect")
    started = command.start("index", str(built.vault), "--from", "parse")
    try:
        started.wait_for("discover:")
        started.process.kill()
        started.process.wait(10)
        wait_until(
            lambda: not any("prefect_server/server.py" in line for line in started.family().values()),
            15,
            "the server is left",
        )
    finally:
        started.end()
    later = command.run_program(PREFECT_ALONE, str(command.store))
    assert later.code == 0, later.err
    with sqlite3.connect(command.store / "prefect" / "prefect.db") as database:
        states = dict(
            database.execute(
                "select f.name, r.state_type from flow_run r join flow f on f.id = r.flow_id"
            ).fetchall()
        )
    database.close()
    assert states == {"index": "CRASHED"}


_STEPS = """
import json, sys
from pathlib import Path
from noctule.flows.prefect_server.private import prefect_api
store = Path(sys.argv[1])
with prefect_api(store):
    from prefect import flow
    from noctule.flows.run.prefect_tasks import PrefectDriver
    from noctule.flows.run.stage import Stage
    from noctule.pipeline.errors import SourceError
    calls = {"flaky": 0, "wrong": 0}
    def flaky():
        calls["flaky"] += 1
        if calls["flaky"] == 1:
            raise OSError("the disk was away for a moment")
        return {"large": "result"}
    def wrong():
        calls["wrong"] += 1
        raise SourceError("wrong input", where="here", hint="Mend it.")
    @flow
    def tried():
        driver = PrefectDriver()
        result, state = driver.call(Stage("flaky", flaky, (), ("result",)), flaky, ())
        squares = driver.map("square", lambda n: n * n, [3, 1, 2], 2)
        try:
            driver.call(Stage("wrong", wrong, (), ("nothing",)), wrong, (state,))
        except SourceError as error:
            return [result, squares, error.hint, [time.stage for time in driver.times]]
    print(json.dumps({"returned": tried(), "calls": calls}))
"""


@torture_only
def test_only_io_errors_are_retried_and_a_damaged_history_is_replaced(tmp_path: Path) -> None:
    command = CommandLine(tmp_path, tmp_path / "store")
    (tmp_path / "store" / "prefect").mkdir(parents=True)
    (tmp_path / "store" / "prefect" / "prefect.db").write_bytes(b"not a database" * 1000)
    done = subprocess.run(
        [sys.executable, "-c", _STEPS, str(command.store)],
        env=command.environment,
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.strip().split("\n")[-1])
    assert told["calls"] == {"flaky": 2, "wrong": 1}
    assert told["returned"] == [{"large": "result"}, [9, 1, 4], "Mend it.", ["flaky", "wrong"]]
