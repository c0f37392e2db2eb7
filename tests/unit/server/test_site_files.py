"""The files of a site over HTTP: nothing of its folder that is not of the site, no script of it elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from noctule.flows.preview.app import preview_app
from noctule.flows.preview.watch import Preview
from noctule.flows.run.request import IndexRequest
from noctule.server.app import site_app
from tests.pictures import png


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a page, and with what a site never has."""
    (tmp_path / "secret.txt").write_text("SECRET")
    site = tmp_path / "site"
    for name in (".git/config", ".env", "sub/.noctule-record", ".well-known/security.txt"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text("SECRET" if "well-known" not in name else "shown")
    for name in ("index.html", "owl.html"):
        (site / name).write_text(f"<html><head></head><body>{name}</body></html>")
    (site / "words.js").write_text("words = ['owl'];\n" * 1_000)
    (site / "owl.png").write_bytes(png(4, 3))
    (site / "owl.md").symlink_to(tmp_path / "secret.txt")
    (site / "folder").symlink_to(tmp_path)
    (site / "loop.html").symlink_to(site / "loop.html")
    os.mkfifo(site / "pipe.html")
    return site


@pytest.fixture(params=["serve", "serve --watch"])
def client(site: Path, request: pytest.FixtureRequest) -> TestClient:
    watched = preview_app(site, Preview(IndexRequest(site.parent / "store"), site), "127.0.0.1")
    app = site_app(site, ("127.0.0.1",)) if request.param == "serve" else watched
    return TestClient(app, base_url="http://localhost:8000", follow_redirects=False)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "path",
    ["/.git/config", "/%2egit/config", "/.env", "/sub/.noctule-record", "/sub%2f.noctule-record",
     "/loop.html", "/pipe.html", "/folder/secret.txt", "/folder%2fsecret.txt", "/x/%2e%2e/%2e%2e/secret.txt",
     "/a%00b", "/..%5csecret.txt", "/%ff", "/" + "a/" * 3_000, "/" + "a" * 5_000, "/owl.html/x",
     "/folder", "/folder/"],
)  # fmt: skip
def test_what_is_not_of_the_site_is_not_there(client: TestClient, path: str) -> None:
    found = client.get(path)
    assert found.status_code in (404, 503)
    assert "SECRET" not in found.text


@pytest.mark.parametrize("path", ["/owl.html", "/owl.html/"])
def test_a_page_whose_markdown_is_a_link_out_of_the_site_is_sent_as_html(
    client: TestClient, path: str
) -> None:
    found = client.get(path, headers={"Accept": "text/markdown"})
    assert (found.status_code, found.headers["Content-Type"].partition(";")[0]) == (200, "text/html")
    assert "SECRET" not in found.text


def test_a_known_address_for_programs_is_answered(client: TestClient) -> None:
    assert client.get("/.well-known/security.txt").text == "shown"


def test_no_page_elsewhere_loads_a_script_whose_data_it_could_read(client: TestClient, site: Path) -> None:
    policy = "Cross-Origin-Resource-Policy"
    found = client.get("/words.js")
    again = client.get("/words.js", headers={"If-None-Match": found.headers["ETag"]})
    assert found.headers[policy] == again.headers[policy] == "same-origin"
    image = client.get("/owl.png")
    assert policy not in image.headers
    assert policy not in client.get("/owl.png", headers={"If-None-Match": image.headers["ETag"]}).headers
    shared = TestClient(site_app(site, (), is_shared=True), base_url="http://localhost:8000")
    assert policy not in shared.get("/words.js").headers


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("ranges", "status"),
    [("0-", 206), ("-1", 206), ("0-" + "9" * 30, 206), ("5-1", 400), ("x", 400), ("-", 400), ("0-0,-1", 206),
     ("0-," * 15_000, 200), (",".join(f"{at}-{at}" for at in range(0, 20_000, 2)), 200)],
)  # fmt: skip
def test_whatever_range_is_asked_for_costs_no_more_than_the_file(
    client: TestClient, ranges: str, status: int
) -> None:
    found = client.get("/words.js", headers={"Range": f"bytes={ranges}"})
    assert found.status_code == status
    assert len(found.content) <= 17_000


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "TRACE", "OPTIONS", "MKCOL"])
def test_a_site_is_only_read(client: TestClient, method: str) -> None:
    assert client.request(method, "/owl.html").status_code == 405
