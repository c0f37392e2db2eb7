"""Feedback as it is used: events over HTTP become judged queries, which evaluate reads, and a page."""

from __future__ import annotations

import json
import shutil
import urllib.request
from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from tests.command_line import CommandLine, Started, wait_until
from tests.e2e.test_search_service import _free_port as free_port
from tests.e2e.test_search_service import _get as get


def _tell(port: int, session: int) -> None:
    about = {"session": f"{session:016x}", "search": 1}
    events = [
        {**about, "kind": "search", "query": "canvas sails", "hits": ["other.html", "notes:boats.md"]},
        {**about, "kind": "click", "hit": "notes:boats.md", "rank": 2},
    ]
    body = json.dumps({"events": events}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/events", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert json.loads(answer.read()) == {"recorded": 2}


@pytest.fixture
def line(tmp_path: Path, library: Store) -> CommandLine:
    shutil.copytree(library.root, tmp_path / "store")
    (tmp_path / "noctule.toml").write_text("[serve.events]\nenabled = true\nqueries = true\n")
    return CommandLine(tmp_path, tmp_path / "store")


def test_clicks_become_judged_queries(line: CommandLine, tmp_path: Path) -> None:
    assert line.run("feedback", "--json").error["kind"] == "SourceError"
    port = free_port()
    started: Started = line.start("serve", "--port", str(port), "--no-site")
    try:
        wait_until(lambda: "snapshot" in get(port, "/readyz"), 60, "not ready")
        for session in range(6):
            _tell(port, session)
    finally:
        started.end()
    found = line.run("feedback", "--out", "clicks", "--report", "page.html", "--json").json
    assert (found["totals"]["searches"], len(found["judged"]), found["written"]) == (6, 1, "clicks")
    assert "canvas sails" in (tmp_path / "page.html").read_text()
    measured = line.run("evaluate", "--judged", "clicks", "--json").json
    assert measured["queries"] == 1 and measured["recall@100"] == 1.0
    added = line.run("feedback", "--add-synonym", "sloop=boats", "--json").json
    assert added["settings"] == "noctule.toml"
    hit = line.run("search", "sloop", "--json").json["hits"][0]
    assert hit["doc_id"] == "notes:boats.md"
