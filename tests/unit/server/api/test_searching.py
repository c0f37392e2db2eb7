"""Searches over HTTP: the answers of the command line, kept by their tags; problems that say what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from noctule.artifacts.query import Searcher
from noctule.artifacts.query import open as open_searcher
from noctule.artifacts.store.store import Store
from noctule.server.api.bodies import AnswerBody, MultiSearchBody, RelatedBody
from tests.unit.server.conftest import Asked, Start


@pytest.fixture(scope="module")
def searcher(library: Store) -> Any:
    with open_searcher(library, silent=True) as opened:
        yield opened


@pytest.mark.parametrize("explain", [False, True])
def test_an_answer_is_the_command_lines(asked: Asked, searcher: Searcher, *, explain: bool) -> None:
    found = asked.get("/v1/search", params={"q": "storing apples", "top_n": 3, "explain": explain})
    expected = json.loads(json.dumps(searcher.search("storing apples", 3).as_dict(explain=explain)))
    expected.pop("timings", None)
    assert found.status_code == 200
    assert found.json() == expected
    assert ("why" in found.json()["hits"][0]) is explain
    TypeAdapter(AnswerBody).validate_python(found.json())
    assert "semantic;dur=" in found.headers["Server-Timing"]


def test_a_body_asks_what_a_query_asks(asked: Asked) -> None:
    given = {
        "q": "boat",
        "top_n": 2,
        "mode": "keyword",
        "filter": ["tag:sea", "author:ada"],
        "excerpt_chars": 50,
    }
    by_body = asked.client.post("/v1/search", json=given)
    assert by_body.json() == asked.get("/v1/search", params=given).json()
    assert {hit["doc_id"] for hit in by_body.json()["hits"]} == {"notes:boats.md"}
    assert all(len(hit["excerpt"]) <= 54 for hit in by_body.json()["hits"])
    assert "ETag" not in by_body.headers
    assert by_body.headers["Cache-Control"] == "no-store"


def test_the_same_question_has_the_same_bytes(start_service: Start) -> None:
    uncached, path = (
        start_service(search={"caches": {"answers": 0}}),
        "/v1/search?q=canvas+sails&explain=true",
    )
    first, second = uncached.get(path), uncached.get(path)
    assert first.content == second.content
    assert first.headers["Server-Timing"] != second.headers["Server-Timing"]


def test_what_a_client_has_is_not_searched_again(asked: Asked) -> None:
    path = "/v1/search?q=oars&top_n=2"
    first = asked.get(path)
    assert first.headers["Cache-Control"] == "public, no-cache"
    with asked.service.current.borrow() as served:
        before = served.searcher.cache_usage()["answers"]
        for named in (first.headers["ETag"], f'"x", W/{first.headers["ETag"]}'):
            again = asked.get(path, headers={"If-None-Match": named})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["ETag"] == first.headers["ETag"]
        assert served.searcher.cache_usage()["answers"] == before
        assert asked.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
        assert served.searcher.cache_usage()["answers"] != before
    any_tag = {"If-None-Match": "*"}
    assert asked.get(path, headers=any_tag).status_code == 304
    asked.problem("/v1/documents/notes:none.md", 404, "document-unknown", headers=any_tag)


def test_a_tag_stands_for_all_that_an_answer_depends_on(asked: Asked, start_service: Start) -> None:
    path = "/v1/search?q=oars"
    others = [
        f"{path}&top_n=3",
        f"{path}&explain=true",
        "/v1/search?q=oar",
        "/v1/similar?doc_id=notes:boats.md",
    ]
    tags = [asked.get(each).headers["ETag"] for each in (path, *others)]
    tags.append(start_service(search={"excerpt_chars": 100}).get(path).headers["ETag"])
    assert len(set(tags)) == len(tags)
    # Written otherwise, it is the same.
    assert asked.get("/v1/search?top_n=10&mode=hybrid&q=oars").headers["ETag"] == tags[0]


def test_an_answer_with_a_warning_is_not_kept(asked: Asked) -> None:
    found = asked.get("/v1/search?q=boat&filter=tag:nowhere")
    assert found.json()["warnings"]
    assert found.headers["Cache-Control"] == "no-store"
    assert "ETag" not in found.headers


def test_several_searches_fail_one_by_one(asked: Asked) -> None:
    searches = [
        {"q": "boat"},
        {"q": " "},
        {"q": "x", "filter": ["tagg:a"]},
        {"q": "x", "filter": ["after:soon"]},
    ]
    found = asked.client.post("/v1/multi-search", json={"searches": searches})
    TypeAdapter(MultiSearchBody).validate_python(found.json())
    results = found.json()["results"]
    assert [each["status"] for each in results] == [200, 400, 400, 400]
    assert [each.get("problem", {}).get("code") for each in results] == [
        None, "query-empty", "filter-unknown", "filter-invalid",
    ]  # fmt: skip
    assert results[0]["answer"] == asked.get("/v1/search?q=boat").json()


def test_documents_like_one_and_words_near_one(asked: Asked) -> None:
    similar = asked.get("/v1/similar?doc_id=notes:boats.md&filter=path:harbour.md")
    assert [hit["doc_id"] for hit in similar.json()["hits"]] == ["notes:harbour.md"]
    for blank in ("", "%20", "%09%20"):
        asked.problem(f"/v1/related?term={blank}", 400, "query-empty")
    related = asked.get("/v1/related?term=boat&top_n=3")
    TypeAdapter(RelatedBody).validate_python(related.json())
    assert len(related.json()["related"]) == 3


def test_the_snapshot_that_must_answer_is_served_or_gone(asked: Asked) -> None:
    snapshot = asked.get("/readyz").json()["snapshot"]
    assert asked.get(f"/v1/search?q=boat&snapshot={snapshot}").status_code == 200
    gone = asked.problem(f"/v1/search?q=boat&snapshot={'0' * 20}", 410, "snapshot-gone")
    assert gone["snapshot"] == snapshot


_WRONG = {
    "q=": ("query-empty", None),
    "q=+%0A": ("query-empty", None),
    "": ("parameter-missing", "q"),
    f"q={'x' * 1001}": ("query-too-long", "q"),
    f"q={'x' * 60_000}": ("query-too-long", "q"),
    "q=a%00b": ("parameter-invalid", "q"),
    "q=%1b]0;x": ("parameter-invalid", "q"),
    "q=a&q=b": ("parameter-repeated", "q"),
    "q=a&top_n=0": ("parameter-invalid", "top_n"),
    "q=a&top_n=51": ("parameter-invalid", "top_n"),
    "q=a&top_n=ten": ("parameter-invalid", "top_n"),
    f"q=a&top_n={'9' * 5000}": ("parameter-invalid", "top_n"),
    "q=a&mode=best": ("parameter-invalid", "mode"),
    "q=a&explain=perhaps": ("parameter-invalid", "explain"),
    "q=a&snapshot=../../etc": ("parameter-invalid", "snapshot"),
    "q=a&topn=3": ("parameter-unknown", "topn"),
    "queri=a": ("parameter-unknown", "queri"),
    "q=a&\u202efilter=b": ("parameter-unknown", "\\u202efilter"),
    "q=a&filter=": ("parameter-invalid", "filter.0"),
    "q=a&filter=sea": ("filter-invalid", "filter"),
    "q=a&filter=tag:": ("filter-invalid", "filter"),
    "q=a&filter=tgas:sea": ("filter-unknown", "filter"),
    "q=a&filter=after:2026-13-01": ("filter-invalid", "filter"),
    f"q=a&filter=tag:{'x' * 600}": ("parameter-invalid", "filter.0"),
    "q=a" + "&filter=tag:a" * 21: ("parameter-invalid", "filter"),
}  # fmt: skip


@pytest.mark.parametrize("query", _WRONG, ids=lambda query: query[:30].encode("unicode_escape").decode())
def test_a_wrong_parameter_is_named(asked: Asked, query: str) -> None:
    code, name = _WRONG[query]
    found = asked.problem(f"/v1/search?{query}", 400, code)
    if name is not None:
        assert name in {each["parameter"] for each in found["errors"]}
    assert len(json.dumps(found)) < 2_000


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("/v1/search?q=a&fliter=tag:a", "filter"),
        ("/v1/search?q=a&filter=colection:notes", "collection"),
        ("/v1/similar?docid=notes:boats.md", "doc_id"),
    ],
)
def test_the_nearest_name_is_told(asked: Asked, path: str, near: str) -> None:
    assert near in asked.get(path).json()["nearest"]


@pytest.mark.parametrize("how", ["collection=note", "filter=collection:note"])
def test_a_collection_that_is_not_there_is_told(asked: Asked, how: str) -> None:
    assert asked.problem(f"/v1/search?q=a&{how}", 404, "collection-unknown")["nearest"] == ["notes"]


_BODIES = {
    b"": "body-invalid",
    b"{": "body-invalid",
    b"[]": "body-invalid",
    b'"q"': "body-invalid",
    b"\xff\xfe": "body-invalid",
    b'{"q": "\\ud800"}': "body-invalid",
    b"[" * 5_000: "body-invalid",
    b'{"q": 3}': "parameter-invalid",
    b'{"q": null}': "parameter-invalid",
    b'{"q": "a", "top_n": "3"}': "parameter-invalid",
    b'{"q": "a", "top_n": 3.5}': "parameter-invalid",
    b'{"q": "a", "top_n": 1e999}': "parameter-invalid",
    b'{"q": "a", "top_n": true}': "parameter-invalid",
    b'{"q": "a", "filter": "tag:a"}': "parameter-invalid",
    b'{"q": "a\\u0000"}': "parameter-invalid",
    b'{"q": "a", "where": "1=1"}': "parameter-unknown",
    b'{"top_n": 3}': "parameter-missing",
}


@pytest.mark.parametrize("body", _BODIES, ids=lambda body: repr(body[:20]))
def test_a_wrong_body_is_refused(asked: Asked, body: bytes) -> None:
    answer = asked.client.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["code"] == _BODIES[body]


def test_a_body_of_another_kind_or_beside_a_query_is_refused(asked: Asked) -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    asked.problem("/v1/search", 415, "media-type-unknown", method="POST", content=b"q=a", headers=kind)
    asked.problem("/v1/search?q=a", 400, "parameter-invalid", method="POST", json={"q": "a"})
    asked.problem("/v1/multi-search", 400, "parameter-invalid", method="POST", json={"searches": []})
    eleven = {"searches": [{"q": "a"}] * 11}
    asked.problem("/v1/multi-search", 400, "parameter-invalid", method="POST", json=eleven)


@pytest.mark.parametrize(
    "text", ["טקסט", "\u202eabc", "🎉", "a" * 1000, "'; drop table x --", "../../etc/passwd", "%"]
)
def test_any_words_are_searched(asked: Asked, text: str) -> None:
    found = asked.get("/v1/search", params={"q": text})
    assert found.status_code == 200
    assert found.json()["query"] == text


def test_other_methods_and_forms_are_refused(asked: Asked) -> None:
    refused = asked.client.put("/v1/search?q=a")
    assert (refused.status_code, set(refused.headers["Allow"].split(", "))) == (405, {"GET", "HEAD", "POST"})
    asked.problem("/v1/search?q=a", 406, "not-acceptable", headers={"Accept": "text/csv"})
    asked.problem("/v1/nothing", 404, "route-unknown")
    asked.problem("/nothing", 404, "route-unknown")
    head = asked.client.head("/v1/search?q=a")
    assert (head.status_code, head.content) == (200, b"")
