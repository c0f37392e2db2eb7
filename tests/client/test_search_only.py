"""The search in a folder of HTML that something else built: its element, its dialog, and results that lead to
its pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from noctule.artifacts.store.store import Store
from noctule.docsite.search_only import SearchOnlyResult, build_search
from noctule.flows.api import build_snapshot
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.errors import SourceError
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.site import Site
from tests.browser_driver import needs_browser, served

PAGES = {
    "index.html": "<h1>Orchard</h1><p>A garden of fruit trees, kept for many years by the family.</p>",
    "fruit/apples.html": "<h1>Apples</h1><p>Apples ripen in autumn.</p><h2 id='cellar'>Storing in a "
    "cellar</h2>"
    "<p>Keep apples in a cool cellar until the spring comes.</p>",
    "fruit/pears & more.html": "<h1>Pears</h1><p>Pears ripen after the harvest and are soft within days.</p>",
}
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; connect-src 'none'; img-src 'self'"
)


@dataclass(frozen=True)
class Built:
    site: Path
    store: Store
    result: SearchOnlyResult


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("foreign")
    site = folder / "html"
    for name, body in PAGES.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>{name}</title>'
        (site / name).write_text(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>\n")
    given = {
        "collections": {"html": {"root": str(site)}},
        "engine": {"name": "inline"},
        "vocabulary": {"min_passages": 1},
    }
    store = Store(folder / "store")
    build_snapshot(parse(given, where="test"), store, PlainDriver(), Silent())
    with store.open() as snapshot:
        return Built(site, store, build_search(snapshot, site, Site(), Search(), insert=True))


@pytest.fixture(params=["file", "http"])
def base(request: pytest.FixtureRequest, built: Built) -> Iterator[str]:
    if request.param == "file":
        yield f"{built.site.as_uri()}/"
        return
    with served(built.site.parent) as root:
        yield f"{root}html/"


def _within(browser: webdriver.Chrome, selector: str) -> WebElement:
    """The first shown element in the search's shadow."""
    script = f"return document.querySelector('noctule-search')?.shadowRoot?.querySelector({selector!r})"
    found: WebElement = WebDriverWait(browser, 15).until(
        lambda driver: (each := driver.execute_script(script)) and each.is_displayed() and each
    )
    return found


def test_every_page_has_the_line_once_and_nothing_else_changed(built: Built) -> None:
    with built.store.open() as snapshot:
        again = build_search(snapshot, built.site, Site(), Search(), insert=True)
    assert (built.result.inserted, again.inserted, again.missing) == (3, 0, 0)
    assert again.written == 2  # the marker and the record; all other files are those of before
    text = (built.site / "fruit/apples.html").read_text()
    line = '<script src="../_noctule/noctule-search.js" defer></script>\n'
    assert text.count(line) == 1 and PAGES["fruit/apples.html"] in text.replace(line, "")
    assert built.result.line == '<script src="_noctule/noctule-search.js" defer></script>'


def test_a_folder_that_the_snapshot_is_not_of_is_refused(built: Built, tmp_path: Path) -> None:
    with built.store.open() as snapshot, pytest.raises(SourceError, match="none of the snapshot's documents"):
        build_search(snapshot, tmp_path, Site(), Search())
    assert not list(tmp_path.iterdir())


@needs_browser
@pytest.mark.parametrize("page", ["index.html", "fruit/apples.html"])
def test_a_hit_leads_to_the_page_that_was_indexed(browser: webdriver.Chrome, base: str, page: str) -> None:
    browser.get(f"{base}{page}")
    browser.get_log("browser")
    _within(browser, "button.open-search")
    browser.find_element(By.TAG_NAME, "body").send_keys("/")
    _within(browser, "#SearchInput").send_keys("soft pears harvest")
    _within(browser, ".search-count:not(:empty)")  # the whole answer is there
    hit = _within(browser, "a[role=option]")
    assert _within(browser, ".search-keys kbd").text == "↑ ↓"  # though the page says no encoding
    assert hit.get_attribute("href") == f"{base}fruit/pears%20%26%20more.html"
    _within(browser, "#SearchInput").send_keys(Keys.ENTER)
    WebDriverWait(browser, 10).until(lambda driver: "pears" in driver.current_url)
    assert browser.find_element(By.TAG_NAME, "h1").text == "Pears"
    # The picture for the tab is the business of the site.
    assert [each for each in browser.get_log("browser") if "favicon" not in each["message"]] == []


@needs_browser
def test_a_section_is_reached_by_the_name_that_the_page_gave_it(browser: webdriver.Chrome, base: str) -> None:
    browser.get(f"{base}index.html?noctule=cool%20cellar%20spring")
    _within(browser, ".search-count:not(:empty)")  # the whole answer is there
    hit = _within(browser, "a.hit-section")
    assert hit.get_attribute("href") == f"{base}fruit/apples.html#cellar"


@needs_browser
def test_the_dialog_is_the_pages_no_more_than_the_page_is_the_dialogs(
    browser: webdriver.Chrome, base: str
) -> None:
    browser.get(f"{base}index.html")
    _within(browser, "button.open-search").click()
    _within(browser, "#SearchInput").send_keys(Keys.ESCAPE)
    assert browser.find_elements(By.CSS_SELECTOR, "dialog") == []
    inside = "return document.querySelector('noctule-search').shadowRoot"
    WebDriverWait(browser, 5).until(
        lambda driver: not driver.execute_script(f"{inside}.querySelector('dialog').open")
    )
    assert browser.execute_script(f"{inside}.activeElement.className") == "open-search"
    style = "document.querySelector('noctule-search').style.setProperty('--noctule-line', 'rgb(1, 2, 3)')"
    button = "document.querySelector('noctule-search').shadowRoot.querySelector('button')"
    shown = f"getComputedStyle({button}).borderTopColor"
    assert browser.execute_script(f"{style}; return {shown}") == "rgb(1, 2, 3)"
