"""The server answers with the site's files, to no other name and with nothing beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from noctule.docsite.build import build_site
from noctule.flows.preview.app import preview_app
from noctule.flows.preview.watch import Preview
from noctule.flows.run.request import IndexRequest
from noctule.pipeline.settings.site import Site
from noctule.server.app import site_app
from tests.site_builder import snapshot_of

SCRIPT = "/_live/script.js"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret")
    build_site(
        snapshot_of({"notes": {"index.md": "# Home\n", "owl.md": "# Owl\n"}}), tmp_path / "site", Site()
    )
    return tmp_path / "site"


def _client(site: Path, *, watched: bool = True, host: str = "127.0.0.1") -> TestClient:
    preview = Preview(IndexRequest(site.parent / "store"), site)
    app = preview_app(site, preview, host) if watched else site_app(site, (host,))
    return TestClient(app, base_url="http://localhost:8000")


@pytest.mark.parametrize("name", ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "192.0.2.7:80"])
def test_names_of_this_machine_and_addresses_are_answered(site: Path, name: str) -> None:
    assert _client(site).get("/", headers={"Host": name}).status_code == 200


@pytest.mark.parametrize(
    "name", ["evil.example", "localhost.evil.example:8000", "127.0.0.1.evil.example", "", "["]
)
def test_other_names_are_refused(site: Path, name: str) -> None:
    found = _client(site).get("/", headers={"Host": name})
    assert found.status_code == 421
    assert "Home" not in found.text


def test_the_name_that_is_listened_on_is_answered(site: Path) -> None:
    assert _client(site, host="docs.lan").get("/", headers={"Host": "docs.lan:8000"}).status_code == 200


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/.noctule-record", "//etc/passwd", "/%00"],
)
def test_nothing_beside_the_site_is_sent(site: Path, path: str, *, watched: bool) -> None:
    found = _client(site, watched=watched).get(path)
    assert found.status_code >= 400
    assert "secret" not in found.text.replace("secret.txt", "")


def test_a_link_out_of_the_site_is_not_followed(site: Path) -> None:
    (site / "link.txt").symlink_to(site.parent / "secret.txt")
    assert _client(site).get("/link.txt").status_code == 404


def test_the_script_is_in_what_is_sent_and_in_no_file(site: Path) -> None:
    before = (site / "owl.html").read_bytes()
    watched = _client(site).get("/owl.html")
    assert f'src="{SCRIPT}"' in watched.text
    assert watched.headers["Cache-Control"] == "no-store"
    assert (
        watched.text.replace(
            watched.text[watched.text.index(f'<script src="{SCRIPT}"') :].split("</script>")[0] + "</script>",
            "",
        )
        == before.decode()
    )
    assert _client(site, watched=False).get("/owl.html").content == before == (site / "owl.html").read_bytes()


def test_the_digest_of_a_page_changes_with_it(site: Path) -> None:
    client = _client(site)
    first = client.head("/owl.html").headers["X-Page-Digest"]
    assert f'data-digest="{first}"' in client.get("/owl.html").text
    (site / "owl.html").write_text("<!doctype html><title>Other</title>")
    assert client.head("/owl.html").headers["X-Page-Digest"] != first


@pytest.mark.parametrize("watched", [True, False])
def test_files_have_their_types_and_are_not_sent_twice(site: Path, *, watched: bool) -> None:
    client = _client(site, watched=watched)
    found = client.get("/_assets/style.css")
    assert found.headers["Content-Type"].startswith("text/css")
    assert client.get("/_assets/page.js").headers["Content-Type"].startswith("text/javascript")
    again = client.get("/_assets/style.css", headers={"If-None-Match": found.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_page_asked_for_again_is_sent_with_its_script(site: Path) -> None:
    since = {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT", "If-None-Match": "*"}
    found = _client(site).get("/owl.html", headers=since)
    assert found.status_code == 200
    assert SCRIPT in found.text


def test_no_worker_answers_instead_of_the_preview(site: Path) -> None:
    (site / "service-worker.js").write_text("// a cache")
    assert _client(site).get("/service-worker.js").status_code == 404
    assert _client(site, watched=False).get("/service-worker.js").status_code == 200


def test_a_site_that_is_not_there_yet_says_so_and_looks_again(tmp_path: Path) -> None:
    found = _client(tmp_path / "site").get("/")
    assert found.status_code == 503
    assert "being built" in found.text
    assert SCRIPT in found.text


def test_a_page_that_is_not_there_looks_again_too(site: Path) -> None:
    found = _client(site).get("/<b>none</b>.html")
    assert found.status_code == 404
    assert SCRIPT in found.text
    assert "<b>" not in found.text


def test_without_a_preview_there_is_nothing_live(site: Path) -> None:
    assert _client(site, watched=False).get(SCRIPT).status_code == 404
