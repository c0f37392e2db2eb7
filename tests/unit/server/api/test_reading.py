"""Documents over HTTP: whole, by section, in ranges that fit together, as JSON and as markdown."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from pydantic import TypeAdapter

from noctule.artifacts.query.index.documents import listed_documents
from noctule.server.api.bodies import CollectionsBody, DocumentBody, DocumentListBody, SnapshotBody
from tests.library_builder import NOTES
from tests.site_builder import snapshot_of
from tests.unit.server.conftest import Asked

BOATS = "/v1/documents/notes:boats.md"
MARKDOWN = {"Accept": "text/markdown"}


def test_a_document_is_read_as_it_was_written(asked: Asked) -> None:
    found = asked.get(BOATS)
    body = TypeAdapter(DocumentBody).validate_python(found.json())
    assert body["text"] == NOTES["boats.md"].strip() + "\n"
    assert [each["section"] for each in body["sections"]] == ["boats", "sails", "rowing"]
    assert (body["next"], body["total_chars"], body["tags"]) == (None, len(body["text"]), ["sea", "craft"])
    plain = asked.get(BOATS, headers=MARKDOWN)
    assert plain.text == body["text"]
    assert plain.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert plain.headers["ETag"] != found.headers["ETag"]
    assert "Accept" in plain.headers["Vary"]


def test_a_slash_in_a_name_may_be_written_either_way(asked: Asked) -> None:
    plain = asked.get("/v1/documents/notes:fruit/apples.md").json()
    assert plain == asked.get("/v1/documents/notes%3Afruit%2Fapples.md").json()
    assert plain["title"] == "Apples"


def test_a_section_is_read_with_its_heading(asked: Asked) -> None:
    found = asked.get(f"{BOATS}?section=rowing").json()
    assert found["text"] == "## Rowing\n\nRowing is done with oars. See [[Harbour]].\n"
    near = asked.problem(f"{BOATS}?section=rwing", 404, "section-unknown")
    assert near["nearest"][0] == "rowing"


@pytest.mark.parametrize("name", ["hebrew.md", "saga.md"])
def test_ranges_make_the_whole(asked: Asked, name: str) -> None:
    whole, parts, start = asked.get(f"/v1/documents/notes:{name}").json()["text"], [], 0
    while start is not None:
        answer = asked.get(f"/v1/documents/notes:{name}", params={"start": start, "max_chars": 37})
        parts.append(answer.json()["text"])
        start = answer.json()["next"]
    assert "".join(parts) == whole
    asked.problem(f"/v1/documents/notes:{name}?start={len(whole)}", 400, "parameter-invalid")


def test_markdown_names_where_the_rest_is(asked: Asked) -> None:
    first = asked.get("/v1/documents/notes:saga.md?section=saga&max_chars=100", headers=MARKDOWN)
    query = first.headers["Link"].partition("<?")[2].partition(">")[0]
    assert parse_qs(query) == {"section": ["saga"], "start": ["100"], "max_chars": ["100"]}
    assert asked.get(f"/v1/documents/notes:saga.md?{query}", headers=MARKDOWN).status_code == 200


def test_what_belongs_to_a_snapshot_may_be_kept_for_ever(asked: Asked) -> None:
    snapshot = asked.get("/readyz").json()["snapshot"]
    assert "immutable" in asked.get(f"{BOATS}?snapshot={snapshot}").headers["Cache-Control"]
    assert asked.get(BOATS).headers["Cache-Control"] == "public, no-cache"


@pytest.mark.parametrize(
    "name",
    [
        "notes:boat.md",
        "boats.md",
        "notes:../store",
        "notes:%00",
        "%E2%80%AE",
        "",
        "/",
        "..%2f..%2fetc%2fpasswd",
        "%ff",
    ],
)
def test_a_document_that_is_not_there_is_told_with_its_like(asked: Asked, name: str) -> None:
    found = asked.problem(f"/v1/documents/{name}", 404, "document-unknown")
    if "boat" in name:
        assert found["nearest"][0] == "notes:boats.md"


def test_documents_are_listed_by_name(asked: Asked) -> None:
    first = TypeAdapter(DocumentListBody).validate_python(asked.get("/v1/documents?limit=5").json())
    assert (len(first["documents"]), first["total"]) == (5, len(NOTES))
    names, after = [], ""
    while after is not None:
        page = asked.get("/v1/documents", params={"limit": 5, "after": after}).json()
        names += [each["doc_id"] for each in page["documents"]]
        after = page["next"]
    assert names == sorted(f"notes:{name}" for name in NOTES)
    fruit = asked.get("/v1/documents?prefix=notes:fruit/").json()
    assert [each["title"] for each in fruit["documents"]] == ["Apples", "Orchard", "Pears"]
    assert asked.get("/v1/documents?prefix=none:").json()["documents"] == []
    asked.problem("/v1/documents?limit=1001", 400, "parameter-invalid")


def test_what_is_served_is_described(asked: Asked) -> None:
    collections = asked.get("/v1/collections").json()
    TypeAdapter(CollectionsBody).validate_python(collections)
    assert collections["collections"] == [{"collection": "notes", "documents": len(NOTES)}]
    snapshot = asked.get("/v1/snapshot").json()
    TypeAdapter(SnapshotBody).validate_python(snapshot)
    assert snapshot["snapshot"] == asked.get("/readyz").json()["snapshot"]
    assert snapshot["counts"]["documents"] == len(NOTES)
    asked.problem("/v1/snapshot?verbose=1", 400, "parameter-unknown")


def test_unlisted_documents_are_in_no_list_and_can_be_read_by_who_knows_them(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = "notes:boats.md"
    listed = tuple(each["doc_id"] for each in asked.get("/v1/documents?limit=100").json()["documents"])
    assert hidden in listed
    without = tuple(each for each in listed if each != hidden)
    with monkeypatch.context() as patched, asked.service.current.borrow() as served:
        patched.setitem(served.__dict__, "listed", without)
        found = asked.get("/v1/documents?limit=100").json()
        assert [each["doc_id"] for each in found["documents"]] == list(without)
        assert found["total"] == len(without)
        problem = asked.problem("/v1/documents/notes:boat.md", 404, "document-unknown")
        assert hidden not in problem["nearest"]
        assert asked.get(f"/v1/documents/{hidden}").status_code == 200


def test_what_front_matter_calls_unlisted_is_no_listed_document() -> None:
    texts = {"a.md": "# A\n", "b.md": "---\nunlisted: true\n---\n# B\n"}
    assert listed_documents(snapshot_of({"notes": texts})) == ("notes:a.md",)
