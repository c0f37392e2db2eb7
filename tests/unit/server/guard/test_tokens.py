"""Tokens: who has none, a wrong one, too little, or another collection's; and a file that changes."""

from __future__ import annotations

import hmac
import os
from pathlib import Path
from typing import Any

import pytest

from noctule.pipeline.errors import SettingsError
from noctule.server.guard import tokens
from noctule.server.guard.tokens import TokenFile
from tests.unit.server.conftest import TOKENS, Asked, Start, bearer, hashed

SEARCH = "/v1/search?q=boat"


@pytest.fixture(scope="module")
def guarded(start_service: Start, token_file: Path) -> Asked:
    return start_service(tokens=str(token_file))


def test_who_has_no_token_or_a_wrong_one_is_told_how(guarded: Asked) -> None:
    for headers in ({}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer "}):
        guarded.problem(SEARCH, 401, "token-missing", headers=headers)
    for token in ("wrong", TOKENS["all"].upper(), "x" * 10_000, hashed(TOKENS["all"]), "ä\x00"):
        headers = {"Authorization": f"Bearer {token}".encode()}
        answer = guarded.get(SEARCH, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "token-wrong")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert "x" * 100 not in answer.text


def test_a_token_opens_what_its_scopes_say(guarded: Asked) -> None:
    assert guarded.get(SEARCH, headers=bearer("all")).status_code == 200
    assert guarded.get(SEARCH, headers=bearer("all")).headers["Cache-Control"] == "private, no-cache"
    assert guarded.get("/v1/documents/notes:boats.md", headers=bearer("reader")).status_code == 200
    guarded.problem(SEARCH, 403, "scope-missing", headers=bearer("reader"))
    guarded.problem("/metrics", 403, "scope-missing", headers=bearer("notes"))
    assert guarded.get("/metrics", headers=bearer("all")).status_code == 200
    assert guarded.get("/livez").status_code == guarded.get("/openapi.json").status_code == 200


def test_a_token_sees_its_collections_only(guarded: Asked) -> None:
    mine, other = bearer("notes"), bearer("other")
    found = guarded.get(SEARCH, headers=mine).json()["hits"]
    assert found == guarded.get(SEARCH, headers=bearer("all")).json()["hits"]
    assert guarded.get(SEARCH, headers=other).json()["hits"] == []
    for how in ("collection=notes", "filter=collection:notes", "filter=collection:NOTES"):
        guarded.problem(f"{SEARCH}&{how}", 403, "collection-forbidden", headers=other)
    guarded.problem("/v1/documents/notes:boats.md", 404, "document-unknown", headers=other)
    assert "nearest" not in guarded.get("/v1/documents/notes:boats.md", headers=other).json()
    guarded.problem("/v1/similar?doc_id=notes:boats.md", 404, "document-unknown", headers=other)
    guarded.problem("/v1/related?term=boat", 403, "collection-forbidden", headers=mine)
    assert guarded.get("/v1/documents", headers=other).json()["total"] == 0
    assert guarded.get("/v1/collections", headers=other).json()["collections"] == []
    counts = [guarded.get("/v1/snapshot", headers=who).json()["counts"] for who in (mine, other)]
    assert counts[0].keys() == counts[1].keys() == {"documents"}
    assert counts[0]["documents"] > counts[1]["documents"] == 0
    body = {"searches": [{"q": "boat"}, {"q": "boat", "collection": ["notes"]}]}
    results = guarded.client.post("/v1/multi-search", json=body, headers=other).json()["results"]
    assert [each["status"] for each in results] == [200, 403]
    assert results[0]["answer"]["hits"] == []


def test_one_clients_answer_is_not_anothers(guarded: Asked) -> None:
    tags = {guarded.get(SEARCH, headers=bearer(name)).headers.get("ETag") for name in ("all", "notes")}
    assert len(tags) == 2


def test_ten_thousand_guesses_open_nothing_and_are_slowed_down(
    start_service: Start, token_file: Path
) -> None:
    slow = start_service(tokens=str(token_file), requests_per_second=1.0, burst=5)
    codes = [slow.get(SEARCH, headers={"Authorization": f"Bearer {at}"}).json()["code"] for at in range(50)]
    assert set(codes) == {"token-wrong", "rate-exceeded"}
    assert codes.count("token-wrong") < 10
    assert slow.get(SEARCH, headers=bearer("all")).status_code == 200, (
        "whoever has one is not slowed down by them"
    )


def test_all_tokens_are_compared_whichever_is_given(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, compared = TokenFile(token_file), []
    compare = hmac.compare_digest

    def counted(one: str, other: str) -> bool:
        compared.append(other)
        return compare(one, other)

    monkeypatch.setattr(tokens.hmac, "compare_digest", counted)
    for given in [*TOKENS.values(), *(f"guess {at}" for at in range(10_000))]:
        known.client_of(given)
    assert len(compared) == len(TOKENS) * (len(TOKENS) + 10_000)


def test_a_file_that_changes_is_read_again_and_a_wrong_one_is_not(tmp_path: Path, caplog: Any) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"one {hashed('1')}\n")
    known = TokenFile(path)
    path.write_text(f"one {hashed('1')}\ntwo {hashed('2')}\n")
    assert known.client_of("2") is not None
    with caplog.at_level("ERROR", "noctule"):
        path.write_text("nonsense\n")
        assert known.client_of("1") is not None
    path.unlink()
    assert known.client_of("1") is not None
    path.write_text(f"two {hashed('2')}\n")
    assert known.client_of("1") is None


@pytest.mark.parametrize(
    "line",
    ["one", "one abc", f"one {hashed('1')} all", f"one {hashed('1')} * A!", f"one {hashed('1')} * a b",
     f"\x1b {hashed('1')}",
     f"one {hashed('1')}\none {hashed('2')}", f"one {hashed('1')} search\ntwo {hashed('1')} *", "\0" * 9,
     "# long\n" * 200_000],
)  # fmt: skip
def test_a_line_that_is_wrong_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(line)
    with pytest.raises(SettingsError) as raised:
        TokenFile(path)
    assert str(path) in raised.value.where
    assert "\x1b" not in str(raised.value)


@pytest.mark.timeout(20)
def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path, caplog: Any) -> None:
    path = tmp_path / "tokens"
    os.mkfifo(path)
    with pytest.raises(SettingsError, match="pipe or a device"):
        TokenFile(path)
    path.unlink()
    path.write_text(f"one {hashed('1')}\n")
    known = TokenFile(path)
    path.unlink()
    os.mkfifo(path)
    with caplog.at_level("ERROR", "noctule"):
        assert known.client_of("1") is not None, "who has a token is answered as before"
    assert "pipe or a device" in caplog.text


def test_a_file_that_an_editor_of_windows_wrote_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(b"\xef\xbb\xbfone " + hashed("1").encode() + b"\r\n")
    assert TokenFile(path).client_of("1") is not None


def test_a_file_that_anybody_may_write_is_warned_of(tmp_path: Path, caplog: Any) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"one {hashed('1')}\n")
    path.chmod(0o640)
    TokenFile(path)
    assert not caplog.text
    path.chmod(0o666)
    TokenFile(path)
    assert "anyone on this machine can write" in caplog.text
