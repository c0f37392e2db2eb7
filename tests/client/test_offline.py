"""A site with ``offline = true``: what was visited is read, and what was searched is found again, without the server."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from docsite.build import build_site
from pipeline.search_settings import Search
from pipeline.site_settings import Site
from tests.browser_driver import chromium, needs_browser, served
from tests.guide_snapshot import Guide, guide

__all__ = ["guide"]
pytestmark = needs_browser
OFFLINE = Site(title="Guide", offline=True)
QUERY = "crash of a snapshot"
_KEPT = """
const [path, done] = [arguments[0], arguments[arguments.length - 1]];
(async () => {
  const copy = await caches.match(new URL(path, noctuleReader.root).href);
  done(copy ? await copy.text() : null);
})();
"""

_LEFT = """
const done = arguments[0];
Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()]).then(([a, b]) => done(a.length + b.length));
"""


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    """A browser of its own: a service worker outlives the page, and the port may be another test's next."""
    with chromium(tmp_path / "profile") as driver:
        driver.set_script_timeout(20)
        yield driver


@pytest.fixture(scope="module")
def built(guide: Guide, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("offline") / "site"
    with guide.store.open() as snapshot:
        build_site(snapshot, target, OFFLINE, Search())
    return target


class Host:
    """A server that comes and goes at one address, with the site below a sub-path."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._port = folder, 0
        self.site = folder / "docs" / "guide"

    def on(self) -> Iterator[str]:
        with served(self.folder, self._port) as root:
            self._port = urlsplit(root).port or 0
            yield f"{root}docs/guide/"


@pytest.fixture
def host(built: Path, tmp_path: Path) -> Host:
    host = Host(tmp_path / "host")
    shutil.copytree(built, host.site)
    return host


def until(browser: webdriver.Chrome, true: Callable[[], object]) -> None:
    WebDriverWait(browser, 15).until(lambda _: true())


def kept(browser: webdriver.Chrome, path: str) -> str | None:
    found: str | None = browser.execute_async_script(_KEPT, path)
    return found


def visit(browser: webdriver.Chrome, address: str) -> None:
    """Opens a page, and waits until its copy is there."""
    browser.get(address)
    until(browser, lambda: browser.execute_script("return !!navigator.serviceWorker.controller"))
    until(browser, lambda: kept(browser, address) and kept(browser, "_assets/page.js"))


def search(browser: webdriver.Chrome, query: str) -> list[str]:
    """The addresses that the dialog shows, or what it says instead."""
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "k")
    until(browser, lambda: browser.find_element(By.ID, "SearchInput").is_displayed())
    field = browser.find_element(By.ID, "SearchInput")
    field.clear()
    field.send_keys(query)
    shown = "#SearchList a, .state-error"
    until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, shown))
    found = browser.find_elements(By.CSS_SELECTOR, shown)
    return [each.get_attribute("href") or each.text for each in found]


def heading(browser: webdriver.Chrome) -> str:
    return browser.find_element(By.CSS_SELECTOR, "h1").text


def test_what_was_visited_and_searched_answers_without_the_server(
    browser: webdriver.Chrome, host: Host
) -> None:
    for base in host.on():
        visit(browser, f"{base}index.html")
        visit(browser, f"{base}store/crash-safety.html")
        title = heading(browser)
        before = search(browser, QUERY)
        assert f"{base}store/crash-safety.html" in before[0]
        assert browser.get_log("browser") == []
    browser.get(f"{base}store/crash-safety.html")
    assert heading(browser) == title
    assert search(browser, QUERY) == before
    for address in (f"{base}index.html", base, f"{base}index.html?q=owls"):
        browser.get(address)
        assert (
            browser.find_element(By.CSS_SELECTOR, ".site-header").value_of_css_property("display") == "flex"
        )
    browser.get(f"{base}index.html")
    assert search(browser, "zygomorphic owls")  # an answer, or a sentence
    assert heading(browser)


def test_a_page_that_was_not_visited_says_so_without_the_server(
    browser: webdriver.Chrome, host: Host
) -> None:
    for base in host.on():
        visit(browser, f"{base}index.html")
    browser.get(f"{base}concepts/bm25f.html")
    assert browser.current_url == f"{base}_offline.html"
    assert heading(browser) == "No network"
    browser.find_element(By.CSS_SELECTOR, "a.site-title").click()
    assert browser.current_url == f"{base}index.html"


def test_a_new_build_replaces_the_copies_and_files_named_by_content_stay(
    browser: webdriver.Chrome, host: Host, guide: Guide
) -> None:
    with guide.store.open(guide.before.name) as snapshot:  # type: ignore[arg-type]
        build_site(snapshot, host.site, OFFLINE, Search())
    for base in host.on():
        visit(browser, f"{base}notes/hub.html")
        visit(browser, f"{base}notes/log.html")
        search(browser, "owls")
    assert "log-again" not in (kept(browser, "notes/log.html") or "")
    old = {
        path.name for path in (host.site / "_search").iterdir() if re.fullmatch(r"[0-9a-f]{8}\.js", path.name)
    }
    with guide.store.open() as snapshot:
        build_site(snapshot, host.site, OFFLINE, Search())
    same = [
        name for name in old if (host.site / "_search" / name).exists() and kept(browser, f"_search/{name}")
    ]
    for base in host.on():
        visit(browser, f"{base}notes/hub.html")
        # Not visited again, but asked for again.
        until(browser, lambda: "log-again" in (kept(browser, "notes/log.html") or ""))
    browser.get(f"{base}notes/log.html")
    assert "log-again" in browser.page_source
    assert same and all(kept(browser, f"_search/{name}") for name in same)


def test_a_page_that_is_gone_has_no_copy(browser: webdriver.Chrome, host: Host) -> None:
    for base in host.on():
        visit(browser, f"{base}notes/log.html")
        visit(browser, f"{base}index.html")
        (host.site / "notes" / "log.html").unlink()
        browser.get(f"{base}notes/log.html")
        browser.get(f"{base}index.html")
        until(browser, lambda: not kept(browser, "notes/log.html"))


def test_a_damaged_file_of_the_index_is_not_kept(browser: webdriver.Chrome, host: Host) -> None:
    parts = [
        path for path in (host.site / "_search").iterdir() if re.fullmatch(r"[0-9a-f]{8}\.js", path.name)
    ]
    sound = {path: path.read_bytes() for path in parts}
    for path, content in sound.items():
        path.write_bytes(content[: len(content) // 4 * 2])
    for base in host.on():
        visit(browser, f"{base}index.html")
        assert not search(browser, QUERY)[0].startswith("http")
        for path, content in sound.items():
            path.write_bytes(content)
        until(browser, lambda: not any(kept(browser, f"_search/{path.name}") for path in parts))
        browser.get(f"{base}store/index.html")
        assert search(browser, QUERY)[0].startswith(base)


def test_nothing_outside_the_site_is_touched(browser: webdriver.Chrome, host: Host) -> None:
    (host.folder / "other.html").write_text("<!doctype html><title>Other</title><h1>Other</h1>")
    for base in host.on():
        visit(browser, f"{base}index.html")
        browser.get(f"{base}../../other.html")
        assert browser.execute_script("return navigator.serviceWorker.controller") is None
        names = browser.execute_async_script(
            "const done = arguments[0]; (async () => { const urls = [];"
            "for (const name of await caches.keys()) for (const each of await (await caches.open(name)).keys()) urls.push(each.url);"
            "done(urls); })();"
        )
        assert names and all(name.startswith(base) for name in names)


def test_a_site_that_no_longer_wants_it_takes_worker_and_copies_away(
    browser: webdriver.Chrome, host: Host, guide: Guide
) -> None:
    for base in host.on():
        visit(browser, f"{base}index.html")
        with guide.store.open() as snapshot:
            build_site(snapshot, host.site, Site(title="Guide"), Search())
        browser.get(f"{base}index.html")
        until(browser, lambda: browser.execute_async_script(_LEFT) == 0)


def test_from_a_disk_there_is_no_worker_no_manifest_and_no_complaint(
    browser: webdriver.Chrome, built: Path
) -> None:
    browser.get(f"{built.as_uri()}/index.html")
    assert search(browser, QUERY)[0].startswith("file:")
    assert not browser.find_elements(By.CSS_SELECTOR, "link[rel=manifest]")
    assert browser.get_log("browser") == []


def test_the_web_manifest_leads_into_the_site(browser: webdriver.Chrome, host: Host) -> None:
    for base in host.on():
        visit(browser, f"{base}store/index.html")
        found = browser.execute_cdp_cmd("Page.getAppManifest", {})
        assert found["errors"] == []
        assert json.loads(found["data"])["name"] == "Guide"
        assert found["manifest"]["startUrl"] == f"{base}index.html"
        assert found["manifest"]["id"] == f"{base}index.html"  # another site at this host is another app
        assert found["manifest"]["scope"] == base
