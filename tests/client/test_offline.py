"""A site with ``offline = true``: what was visited is read, and what was searched is found again, without the
server.
"""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from noctule.docsite.build import build_site
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.site import Site
from tests.browser_driver import needs_browser, served
from tests.guide_snapshot import Guide, guide
from tests.plain_browser import plain_browser
from tests.repetitions import torture_only
from tests.site_builder import snapshot_of

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
Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()])
  .then(([a, b]) => done(a.length + b.length));
"""


@pytest.fixture
def browser(browser: webdriver.Chrome) -> webdriver.Chrome:
    """The browser of all tests, with nothing said yet."""
    browser.get_log("browser")
    return browser


@pytest.fixture(scope="module")
def built(guide: Guide, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("offline") / "site"
    with guide.store.open() as snapshot:
        build_site(snapshot, target, OFFLINE, Search())
    return target


class Host:
    """A server that comes and goes at one address, with the site below a sub-path."""

    def __init__(self, folder: Path, root: str, gone: threading.Event) -> None:
        self.folder, self._gone = folder, gone
        self.site, self._base = folder / "docs" / "guide", f"{root}docs/guide/"

    def on(self) -> Iterator[str]:
        self._gone.clear()
        yield self._base
        self._gone.set()


@pytest.fixture
def host(built: Path, tmp_path: Path) -> Iterator[Host]:
    gone = threading.Event()
    # A service worker outlives its page, and the port may be another test's next.
    name = f"{uuid4().hex}.localhost"
    with served(tmp_path / "host", gone) as root:
        host = Host(tmp_path / "host", root.replace("127.0.0.1", name), gone)
        shutil.copytree(built, host.site)
        yield host


def until(browser: webdriver.Chrome, true: Callable[[], object]) -> None:
    WebDriverWait(browser, 40).until(lambda _: true())


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


def _holds(path: str, text: str) -> str:
    address = f"noctuleReader.address('{path}')"
    return (
        f"caches.match({address}).then((copy) => copy ? copy.text() : '').then((text) => "
        f"text.includes('{text}'))"
    )


def test_a_new_build_replaces_the_copies_and_files_named_by_content_stay(
    host: Host, guide: Guide, tmp_path: Path
) -> None:
    with guide.store.open(guide.before.name) as snapshot:  # type: ignore[arg-type]
        build_site(snapshot, host.site, OFFLINE, Search())
    with plain_browser(tmp_path / "plain") as browser:
        for base in host.on():
            browser.visit(f"{base}notes/hub.html")
            browser.until("!!navigator.serviceWorker.controller")
            browser.visit(f"{base}notes/log.html")
            browser.ask(
                "noctuleReader.load('_assets/dialog.js').then(() => noctuleReader.engine()).then((engine) "
                "=> engine.search('owls', { limit: 5 })).then(() => 1)"
            )
            browser.until(_holds("notes/log.html", "<h1"))
        assert not browser.ask(_holds("notes/log.html", "log-again"))
        kept = browser.ask(
            f"caches.open('noctule parts {base}').then((cache) => cache.keys()).then((keys) => "
            f"keys.map((key) => key.url))"
        )
        with guide.store.open() as snapshot:
            build_site(snapshot, host.site, OFFLINE, Search())
        for base in host.on():
            browser.visit(f"{base}notes/hub.html")
            # Not visited again, but asked for again.
            browser.until(_holds("notes/log.html", "log-again"))
        browser.visit(f"{base}notes/log.html")
        assert "log-again" in browser.ask("document.body.innerHTML")
        assert kept and all(re.search(r"_search/[0-9a-f]{8,}[.]js$", name) for name in kept)
        for name in kept:
            assert browser.ask(_holds(name.removeprefix(base), "")), name


@torture_only
def test_copies_of_many_builds_are_replaced_while_the_server_comes_and_goes(
    host: Host, tmp_path: Path
) -> None:
    texts = {"hub.md": "# Hub", **{f"page-{at}.md": f"# Page {at}" for at in range(40)}}
    pages = ", ".join(f"noctuleReader.address('page-{at}.html')" for at in range(40))
    shutil.rmtree(host.site)
    build_site(snapshot_of({"notes": texts}), host.site, OFFLINE)
    with plain_browser(tmp_path / "plain") as browser:
        for base in host.on():
            browser.visit(f"{base}hub.html")
            browser.until("!!navigator.serviceWorker.controller")
            browser.ask(f"navigator.serviceWorker.controller.postMessage({{ keep: [{pages}] }})")
            browser.until(_holds("page-39.html", "Page 39"))
        for night in range(4):
            time.sleep(1.1)  # the server tells times in whole seconds
            texts["page-0.md"] = f"# Page 0\n\nOf night {night}."
            build_site(snapshot_of({"notes": texts}), host.site, OFFLINE)
            for base in host.on():
                browser.visit(f"{base}hub.html")
                browser.until(_holds("page-0.html", f"night {night}"))
            browser.visit(f"{base}page-0.html")
            assert f"night {night}" in browser.ask("document.body.innerText")


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
        path for path in (host.site / "_search").iterdir() if re.fullmatch(r"[0-9a-f]{8,}\.js", path.name)
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
            "for (const name of await caches.keys()) for (const each of await (await "
            "caches.open(name)).keys()) urls.push(each.url);"
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
