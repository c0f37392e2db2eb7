"""What pages tell of searches: to a server on another host, once a search is over, and only who allows it."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from noctule.docsite.build import build_site
from noctule.pipeline.settings.site import Site
from noctule.server.api.events import EventParameters
from noctule.server.api.parameters import of_body
from tests.browser_driver import needs_browser, served
from tests.site_builder import snapshot_of

pytestmark = needs_browser
FAKE = Path(__file__).with_name("fake_engine.js")
TEXTS = {"index.md": "# Home\n", "guide/install.md": "# Install\n\n[home](../index.md)\n"}
HITS = ["index.html", "guide/install.html", "guide/hostile.html", "-"]


class _Collector(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Collected)
        self.bodies: list[tuple[dict[str, str], bytes]] = []


class _Collected(BaseHTTPRequestHandler):
    server: _Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append((dict(self.headers), body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture(scope="module")
def collector() -> Iterator[_Collector]:
    with _Collector() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def sites(collector: _Collector, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sites that tell: one what was asked, one only what was opened."""
    root = tmp_path_factory.mktemp("telling")
    url = f"http://127.0.0.1:{collector.server_port}/v1/events"
    for name, queries in (("asked", True), ("opened", False)):
        build_site(snapshot_of({"notes": TEXTS}), root / name, Site(events=url, event_queries=queries))
        shutil.copyfile(FAKE, root / name / "_search" / "engine.js")
    return root


@pytest.fixture(scope="module")
def server(sites: Path) -> Iterator[str]:
    with served(sites) as root:
        yield root


class Reader:
    """A reader with an open dialog; ``told`` are the events that came, after so many are awaited."""

    def __init__(self, browser: webdriver.Chrome, collector: _Collector, page: str, before: str = "") -> None:
        self.browser, self._collector = browser, collector
        collector.bodies.clear()
        given = {"source": before}
        script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", given)["identifier"]
        browser.get(page)
        browser.execute_script("localStorage.clear(); sessionStorage.clear()")
        browser.get_log("browser")
        browser.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "k")
        wait = WebDriverWait(browser, 10, poll_frequency=0.02)
        wait.until(lambda found: found.find_elements(By.CSS_SELECTOR, "dialog[open] #SearchInput"))
        self.field = browser.find_element(By.ID, "SearchInput")
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})

    def ask(self, *keys: str) -> None:
        self.field.send_keys(*keys)
        query = self.field.get_attribute("value")
        script = "return (window.noctule?.asked || []).some(({ query }) => query === arguments[0])"
        wait = WebDriverWait(self.browser, 10, poll_frequency=0.02)
        wait.until(lambda found: found.execute_script(script, (query or "").strip()))
        shown = "return document.querySelector('#SearchList').getAttribute('aria-busy') === null"
        wait.until(lambda found: found.execute_script(shown))

    def told(self, count: int) -> list[dict[str, Any]]:
        """The events, which a real service takes as they are."""
        WebDriverWait(self.browser, 10, poll_frequency=0.02).until(lambda _: len(self._events()) >= count)
        found = self._events()
        assert len(found) == count
        for headers, body in self._collector.bodies:
            assert "Cookie" not in headers and headers["Content-Type"].startswith("text/plain")
            of_body(EventParameters, body)
        assert self.browser.get_log("browser") == []
        return found

    def _events(self) -> list[dict[str, Any]]:
        return [each for _, body in self._collector.bodies for each in json.loads(body)["events"]]


def test_a_search_is_told_when_it_is_over(
    browser: webdriver.Chrome, collector: _Collector, server: str
) -> None:
    reader = Reader(browser, collector, f"{server}asked/index.html")
    reader.ask("bat")
    reader.ask("s")
    assert collector.bodies == [], "what is being typed on is told later"
    reader.ask(*[Keys.BACKSPACE] * 4, "zzz")
    reader.ask(*[Keys.BACKSPACE] * 3, "owls")
    reader.browser.find_elements(By.CSS_SELECTOR, "#SearchList .hit-page")[1].click()
    found = reader.told(4)
    assert [(each["kind"], each.get("query")) for each in found] == [
        ("search", "bats"), ("zero", "zzz"), ("search", "owls"), ("click", None),
    ]  # fmt: skip
    assert found[0]["hits"] == HITS and found[0]["sure"] is True
    assert (found[3]["hit"], found[3]["rank"]) == ("guide/install.html", 2)
    assert len({each["session"] for each in found}) == 1
    assert found[2]["search"] == found[3]["search"] and len({each["search"] for each in found}) == 3
    kept = browser.execute_script("return JSON.stringify([localStorage, sessionStorage])")
    assert found[0]["session"] not in kept
    again = Reader(browser, collector, f"{server}asked/index.html")
    again.ask("owls")
    again.field.send_keys(Keys.ESCAPE)
    assert again.told(1)[0]["session"] != found[0]["session"], "a session ends with its page"


def test_without_leave_no_query_is_told(
    browser: webdriver.Chrome, collector: _Collector, server: str
) -> None:
    reader = Reader(browser, collector, f"{server}opened/index.html")
    wait = WebDriverWait(browser, 10, poll_frequency=0.02)
    wait.until(lambda found: "counts, anonymously" in found.find_element(By.CLASS_NAME, "search-state").text)
    reader.ask("bats")
    reader.field.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    found = reader.told(2)
    assert [each["kind"] for each in found] == ["search", "click"]
    assert "bats" not in json.dumps(found)


def test_what_is_narrowed_by_a_filter_is_not_told(
    browser: webdriver.Chrome, collector: _Collector, server: str
) -> None:
    reader = Reader(browser, collector, f"{server}asked/index.html")
    reader.ask("bats")
    browser.execute_script("document.querySelector('[data-facet=toggle]')?.click()")
    chips = ".search-facets button:not([data-facet=toggle])"
    wait = WebDriverWait(browser, 10, poll_frequency=0.02)
    wait.until(lambda found: found.find_elements(By.CSS_SELECTOR, chips))[0].click()
    wait.until(lambda found: found.execute_script("return noctule.asked.at(-1).filters.section?.length"))
    browser.find_element(By.CSS_SELECTOR, "#SearchList a").click()
    assert [each["kind"] for each in reader.told(1)] == ["search"]


@pytest.mark.parametrize(
    "wish",
    [
        "Object.defineProperty(navigator, 'doNotTrack', { value: '1' })",
        "Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })",
        "file",
    ],
)
def test_who_asks_not_to_be_followed_is_not(
    browser: webdriver.Chrome, collector: _Collector, server: str, sites: Path, wish: str
) -> None:
    page = (sites / "asked" / "index.html").as_uri() if wish == "file" else f"{server}asked/index.html"
    before = "" if wish == "file" else wish
    reader = Reader(browser, collector, page, f"{before}; navigator.sendBeacon = () => (window.tells = true)")
    assert "without names" not in reader.browser.find_element(By.CLASS_NAME, "search-state").text
    reader.ask("bats")
    reader.ask(*[Keys.BACKSPACE] * 4, "owls")
    reader.field.send_keys(Keys.ESCAPE)
    assert browser.execute_script("return window.tells ?? null") is None
    assert collector.bodies == []
