"""Events over HTTP: off unless asked for, told as text by a page elsewhere, refused if they cannot be."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.disk import durable
from noctule.artifacts.events.event_log import read_events
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import WriteFailed
from noctule.pipeline.settings.reading import parse
from noctule.server.service import SearchService
from tests.crash.test_nth_call import FullDisk
from tests.unit.server.conftest import TOKENS, Asked, Start, bearer, hashed

PATH, PAGE = "/v1/events", "https://docs.example.org"
ONE = {"session": "0123456789abcdef", "search": 1}
SEARCH = {**ONE, "kind": "search", "query": "undo", "hits": ["notes:boats.md", "a.html"]}
CLICK = {**ONE, "kind": "click", "hit": "a.html", "rank": 2}
ZERO = {**ONE, "kind": "zero", "query": "revert", "snapshot": "0" * 20}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded") / "events"


@pytest.fixture(scope="module")
def recording(start_service: Start, folder: Path) -> Asked:
    events = {"enabled": True, "queries": True, "folder": str(folder), "max_day_bytes": 100_000}
    return start_service(events=events, origins=[PAGE], client=("198.51.100.7", 5))


def test_nothing_is_recorded_unless_asked_for(asked: Asked) -> None:
    asked.problem(PATH, 404, "events-off", method="POST", json={"events": [CLICK]})
    assert asked.service.events is None


def test_events_are_recorded_without_an_address(recording: Asked, folder: Path, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, "noctule.access"):
        answer = recording.client.post(PATH, json={"events": [SEARCH, CLICK, ZERO]})
    assert (answer.status_code, answer.json()) == (200, {"recorded": 3})
    assert answer.headers["Cache-Control"] == "no-store"
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"198.51.100.7" not in content
    assert "198.51.100.7" not in caplog.text and f'"{PATH}" 200' in caplog.text
    assert "undo" not in caplog.text
    found = read_events(folder).events[-3:]
    assert [each.kind for each in found] == ["search", "click", "zero"]
    assert found[2].snapshot == "0" * 20, "of a snapshot that there is no more"
    assert "noctule_events_total 3.0" in recording.get("/metrics").text


def test_a_page_of_a_listed_site_tells_them_as_text(recording: Asked) -> None:
    content = json.dumps({"events": [CLICK]})
    headers = {"Content-Type": "text/plain;charset=UTF-8", "Origin": PAGE}
    assert recording.client.post(PATH, content=content, headers=headers).status_code == 200
    elsewhere = headers | {"Origin": "https://evil.example"}
    recording.problem(PATH, 403, "origin-forbidden", method="POST", content=content, headers=elsewhere)
    kind = {"Content-Type": "text/html"}
    recording.problem(PATH, 415, "media-type-unknown", method="POST", content=content, headers=kind)
    recording.problem("/v1/search", 415, "media-type-unknown", method="POST", content="{}", headers=headers)


@pytest.mark.parametrize(
    ("wrong", "code", "told"),
    [
        ({**CLICK, "kind": "buy"}, "parameter-invalid", "search"),
        ({**CLICK, "kind": "\u202eclick\0"}, "parameter-invalid", "click"),
        ({**CLICK, "kind": ["click"]}, "parameter-invalid", "events.1"),
        ({**ONE, "hit": "a.html", "rank": 1}, "parameter-invalid", "kind"),
        ({**CLICK, "adress": "10.0.0.1"}, "parameter-unknown", "adress"),
        ({**CLICK, "ranks": 2}, "parameter-unknown", "rank"),
        ({**CLICK, "at": "2099-01-01T00:00:00Z"}, "parameter-unknown", "at"),
        ({**CLICK, "rank": 0}, "parameter-invalid", "rank"),
        ({**CLICK, "rank": "2"}, "parameter-invalid", "rank"),
        ({**CLICK, "rank": 10**30}, "parameter-invalid", "rank"),
        ({**CLICK, "hit": "a\0.html"}, "parameter-invalid", "control"),
        ({**CLICK, "hit": "x" * 2_000}, "parameter-invalid", "hit"),
        ({**CLICK, "session": "ada@example.org"}, "parameter-invalid", "session"),
        ({**CLICK, "session": "0123456789ABCDEF"}, "parameter-invalid", "session"),
        ({**SEARCH, "hits": []}, "parameter-invalid", "hits"),
        ({**SEARCH, "hits": ["a"] * 51}, "parameter-invalid", "hits"),
        ({**SEARCH, "query": "x" * 400}, "parameter-invalid", "query"),
        ({**ZERO, "snapshot": "../../etc"}, "parameter-invalid", "snapshot"),
        ("click", "parameter-invalid", "events.1"),
        (None, "parameter-invalid", "events.1"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    recording: Asked, folder: Path, wrong: Any, code: str, told: str
) -> None:
    before = len(read_events(folder).events)
    found = recording.problem(PATH, 400, code, method="POST", json={"events": [CLICK, wrong]})
    assert told in json.dumps(found)
    assert len(read_events(folder).events) == before, "all or none"


def test_too_many_and_too_large_are_refused(recording: Asked) -> None:
    recording.problem(PATH, 400, "parameter-invalid", method="POST", json={"events": [CLICK] * 21})
    recording.problem(PATH, 400, "parameter-invalid", method="POST", json={"events": []})
    recording.problem(PATH, 400, "parameter-missing", method="POST", json={})
    recording.problem(
        PATH, 400, "body-invalid", method="POST", content=b"\xff{[", headers={"Content-Type": "text/plain"}
    )
    large = {"events": [{**SEARCH, "hits": ["x" * 900] * 50}] * 2}
    recording.problem(PATH, 413, "body-too-large", method="POST", json=large)
    recording.problem(PATH, 405, "method-not-allowed")


def test_a_full_day_and_a_full_disk_are_told(
    recording: Asked, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(durable, "disk", FullDisk())
        found = recording.problem(PATH, 503, "unavailable", method="POST", json={"events": [CLICK]})
        assert str(folder) not in json.dumps(found)
    body = {"events": [{**SEARCH, "hits": ["x" * 400] * 50}]}
    answers = [recording.client.post(PATH, json=body) for _ in range(8)]
    assert answers[-1].json()["code"] == "events-full"
    assert answers[-1].headers["Retry-After"] == "3600"
    assert read_events(folder).unreadable == 0


def test_a_token_needs_the_scope_unless_events_are_open_to_all(
    start_service: Start, token_file: Path, tmp_path: Path
) -> None:
    told: dict[str, Any] = {"method": "POST", "json": {"events": [CLICK]}}
    events = {"enabled": True, "folder": str(tmp_path / "one")}
    guarded = start_service(tokens=str(token_file), events=events)
    guarded.problem(PATH, 401, "token-missing", **told)
    guarded.problem(PATH, 403, "scope-missing", headers=bearer("reader"), **told)
    assert guarded.client.post(PATH, json=told["json"], headers=bearer("all")).status_code == 200
    opened = start_service(
        tokens=str(token_file), events=events | {"anonymous": True}, burst=2, requests_per_second=0.001
    )
    assert opened.client.post(PATH, json=told["json"]).status_code == 200
    opened.problem("/v1/search?q=boat", 401, "token-missing")
    opened.problem(PATH, 429, "rate-exceeded", **told)
    assert hashed(TOKENS["all"]) not in next((tmp_path / "one").iterdir()).read_text()


def test_a_place_that_cannot_be_written_is_told_at_the_start(library: Store, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = parse({"serve": {"events": {"enabled": True, "folder": str(tmp_path / "file")}}}, where="test")
    with pytest.raises(WriteFailed):
        SearchService(library, settings)
