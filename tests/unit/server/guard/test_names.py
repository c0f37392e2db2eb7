"""Host and Origin: which names are answered, and which scripts."""

from __future__ import annotations

import pytest

from noctule.server.guard.names import is_loopback
from tests.unit.server.conftest import Asked, Start

SEARCH = "/v1/search?q=boat"


@pytest.fixture(scope="module")
def named(start_service: Start) -> Asked:
    return start_service(hosts=["docs.example.org"], origins=["https://app.example.org", "null"])


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "127.0.0.1:9", "[::1]", "[::1]:8000", "192.0.2.7", "docs.example.org",
     "DOCS.example.org:443"],
)  # fmt: skip
def test_names_that_lead_here_are_answered(named: Asked, host: str) -> None:
    assert named.get(SEARCH, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "docs.example.org.evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "",
     "[", "[::1", "[evil]:1", "0x7f.1.evil", "a" * 5_000],
)  # fmt: skip
@pytest.mark.parametrize("path", [SEARCH, "/livez", "/metrics", "/"])
def test_other_names_are_refused(named: Asked, host: str, path: str) -> None:
    named.problem(path, 421, "host-unknown", headers={"Host": host})


def test_any_name_is_answered_if_that_is_asked_for(start_service: Start) -> None:
    assert start_service(hosts=["*"]).get(SEARCH, headers={"Host": "evil.example"}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://app.example.org", "null", "http://127.0.0.1", "http://localhost:8000"]
)
def test_scripts_of_this_site_and_of_listed_ones_are_answered(named: Asked, origin: str) -> None:
    host = {"Host": origin.removeprefix("http://")} if origin.startswith("http://") else {}
    found = named.get(SEARCH, headers={"Origin": origin, **host})
    assert found.status_code == 200
    allowed = found.headers.get("Access-Control-Allow-Origin")
    assert allowed == (None if host else origin)
    refused = named.get("/v1/search", headers={"Origin": origin, **host})
    assert refused.json()["code"] == "parameter-missing"
    assert refused.headers.get("Access-Control-Allow-Origin") == allowed, (
        "a script reads what went wrong, too"
    )


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://127.0.0.1:1", "https://app.example.org.evil.example", "https://[", "x",
     "", "https://app.example.org, https://evil.example"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_scripts_of_other_sites_are_refused(named: Asked, origin: str, method: str) -> None:
    named.problem(SEARCH, 403, "origin-forbidden", method=method, headers={"Origin": origin})


def test_a_script_asks_before_it_asks(named: Asked) -> None:
    headers = {
        "Origin": "https://app.example.org",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    found = named.client.options("/v1/search", headers=headers)
    assert found.status_code == 200
    assert "POST" in found.headers["Access-Control-Allow-Methods"]
    evil = named.client.options("/v1/search", headers={**headers, "Origin": "https://evil.example"})
    assert evil.status_code == 403


@pytest.mark.parametrize(
    ("host", "is_this_machine"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("LOCALHOST", True),
     ("0.0.0.0", False), ("::", False), ("192.0.2.1", False), ("docs.example.org", False)],
)  # fmt: skip
def test_an_address_of_this_machine_is_told(host: str, *, is_this_machine: bool) -> None:
    assert is_loopback(host) is is_this_machine
