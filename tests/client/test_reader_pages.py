"""Pages as readers meet them: tabs, previews, accessibility in both themes, hostile documents, no scripts."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from noctule.docsite.build import build_site
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.site import Site
from tests.axe import axe, violations
from tests.browser_driver import PLACES, anywhere, needs_browser, prefer, resize, served
from tests.hostile_texts import VECTORS
from tests.repetitions import ALL, sample
from tests.site_builder import snapshot_of

pytestmark = needs_browser
# Each colour scheme and each width once; ``make torture`` takes all four.
SCREENS = [("light", 1440), ("dark", 360), *([("light", 360), ("dark", 1440)] if ALL else [])]
VERSIONS = [
    {"label": "2.0", "url": "index.html", "current": True},
    {"label": "1.0", "url": "https://old.example/"},
]
SETTINGS = parse(
    {
        "site": {
            "title": "Bats",
            "base_url": "https://example.org",
            "edit_url": "https://git.example",
            "versions": VERSIONS,
        }
    },
    "x",
).site
TABS = '=== "pip"\n\n    With pip.\n\n=== "uv"\n\n    With uv. {}\n\n'
TEXTS = {
    "index.md": "---\nupdated: 2026-02-01\n---\n# Home\n\n"
        "See [install](guide/install.md) and [wings](guide/wings.md).[^1]\n\n"
    "> [!NOTE]\n> Mind the cave.\n\n[^1]: A footnote with `code`.\n",
    "guide/install.md": "---\ntags: [setup]\ndescription: How bats are installed.\n---\n# Install\n\n"
    + TABS.format("") + "Between.\n\n" + TABS.format("<span id='deep'>Deep</span>")
    + "Area $\\pi r^2$.\n\n$$\n\\int_0^1 x\n$$\n\n```mermaid\nflowchart LR\n  A --> B\n```\n\n## Next\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\n[Home](../index.md) [wings](wings.md)\n",
    "guide/wings.md": "# Wings\n\nTwo of them. [Install](install.md) [Home](../index.md)\n\n## Left\n\n"
        "```python\nprint(1)\n```\n\n## Right\n\nSo.\n",
    "ar.md": "---\nlang: ar\n---\n# \u0645\u0631\u062d\u0628\u0627\n\n"
        "\u0646\u0635 \u0642\u0635\u064a\u0631. [Home](index.md)\n",
    "solo/x.md": "# X\n\n[y](y.md)\n",
    "solo/y.md": "# Y\n\n[x](x.md)\n",
}  # fmt: skip
PAGES = (
    "index.html",
    "guide/install.html",
    "ar.html",
    "_pages/index.html",
    "_tags/index.html",
    "_communities/index.html",
    "_communities/map.html",
    f"_communities/{zlib.crc32(b'notes:solo/x.md') % 100_000}.html",
    "_search/index.html",
    "_search/ranking.html",
    "404.html",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("reader")
    hostile = {f"hostile/m{i:02}.md": f"# {i}\n\n{text}\n" for i, text in enumerate(VECTORS)}
    hostile |= {
        f"hostile/h{i:02}.html": f"<html><title>{i}</title><body>{text}</body></html>"
        for i, text in enumerate(VECTORS)
    }
    build_site(snapshot_of({"notes": TEXTS | hostile}), root / "site", SETTINGS)
    shutil.copyfile(Path(__file__).with_name("fake_engine.js"), root / "site/_search/engine.js")
    return root / "site"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    with served(folder) as root:
        yield root


@pytest.fixture(params=PLACES)
def base(
    request: pytest.FixtureRequest, browser: webdriver.Chrome, folder: Path, server: str
) -> Iterator[str]:
    yield from _fresh(browser, server if request.param == "http" else folder.as_uri() + "/")


@pytest.fixture
def http(browser: webdriver.Chrome, server: str) -> Iterator[str]:
    yield from _fresh(browser, server)


def _fresh(browser: webdriver.Chrome, address: str) -> Iterator[str]:
    resize(browser, 1280, 900)
    prefer(browser, "light")
    browser.get(address + "index.html")
    browser.execute_script("localStorage.clear(); sessionStorage.clear()")
    browser.get_log("browser")
    yield address
    assert browser.get_log("browser") == []


def _until(browser: webdriver.Chrome, done: Callable[[], Any]) -> Any:
    return WebDriverWait(browser, 5, poll_frequency=0.02).until(lambda _: done())


def _open_tabs(browser: webdriver.Chrome) -> list[str]:
    return [tab.text for tab in browser.find_elements(By.CSS_SELECTOR, "[role=tab][aria-selected=true]")]


@anywhere
def test_tabs_of_one_name_open_together_and_on_the_next_page(browser: webdriver.Chrome, base: str) -> None:
    browser.get(base + "guide/install.html")
    assert _open_tabs(browser) == ["pip", "pip"]
    first = browser.find_element(By.CSS_SELECTOR, "[role=tab]")
    first.send_keys(Keys.ARROW_RIGHT)
    assert _open_tabs(browser) == ["uv", "pip"] and browser.switch_to.active_element.text == "uv"
    browser.switch_to.active_element.click()
    assert _open_tabs(browser) == ["uv", "uv"]
    assert [p.is_displayed() for p in browser.find_elements(By.CSS_SELECTOR, "[role=tabpanel]")] == [
        False,
        True,
        False,
        True,
    ]
    browser.refresh()
    assert _open_tabs(browser) == ["uv", "uv"]


def test_a_link_into_a_closed_tab_opens_it(browser: webdriver.Chrome, base: str) -> None:
    browser.get(base + "guide/install.html")
    name = browser.execute_script("return [...document.querySelectorAll('[role=tabpanel] [id]')].at(-1).id")
    browser.execute_script("location.hash = arguments[0]", name)
    _until(browser, lambda: _open_tabs(browser) == ["pip", "uv"])


@anywhere
def test_a_link_shows_what_it_leads_to_before_it_is_followed(browser: webdriver.Chrome, base: str) -> None:
    link = browser.find_element(By.CSS_SELECTOR, "article a[href='guide/install.html']")
    ActionChains(browser).move_to_element(link).perform()
    box = _until(browser, lambda: next(iter(browser.find_elements(By.CSS_SELECTOR, ".preview")), None))
    assert box.text == "Install\nHow bats are installed."
    assert link.get_attribute("aria-describedby") == box.get_attribute("id")
    rect = box.rect
    assert rect["x"] >= 0 and rect["x"] + rect["width"] <= 1280
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    assert not browser.find_elements(By.CSS_SELECTOR, ".preview")
    browser.execute_script("document.querySelector(\"article a[href='guide/wings.html']\").focus()")
    _until(
        browser,
        lambda: "Two of them" in "".join(b.text for b in browser.find_elements(By.CSS_SELECTOR, ".preview")),
    )


def test_a_footnote_is_shown_beside_its_number(browser: webdriver.Chrome, base: str) -> None:
    ActionChains(browser).move_to_element(browser.find_element(By.CSS_SELECTOR, "sup a")).perform()
    box = _until(browser, lambda: next(iter(browser.find_elements(By.CSS_SELECTOR, ".preview")), None))
    assert "A footnote with code" in box.text


def test_the_section_in_view_is_marked(browser: webdriver.Chrome, base: str) -> None:
    resize(browser, 1280, 320)
    browser.get(base + "guide/wings.html")
    browser.execute_script("document.getElementById('right').scrollIntoView()")
    marked = "return [...document.querySelectorAll('.toc [aria-current]')].map(a => a.textContent).join()"
    _until(browser, lambda: browser.execute_script(marked) in ("Right", "Left"))


@pytest.mark.parametrize("kind", ["m", "h"])
def test_nothing_hostile_runs_or_loads_or_is_even_tried(
    browser: webdriver.Chrome, http: str, kind: str
) -> None:
    browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": "window.alert = () => { window.owned = 1 }"}
    )
    # One as Markdown, the next as HTML; ``make torture`` takes each as both.
    for place in range(0 if ALL or kind == "m" else 1, len(VECTORS), 1 if ALL else 2):
        browser.get(f"{http}hostile/{kind}{place:02}.html")
        script = """
            for (const e of document.querySelectorAll('article a, article summary')) {
                e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
            }
            const outside = performance.getEntriesByType('resource').map(e => e.name)
                .filter(u => !u.startsWith(location.origin));
            return [window.owned || null, outside, typeof noctuleReader.say,
                document.getElementById('Content').tagName];
        """
        assert browser.execute_script(script) == [None, [], "function", "MAIN"], VECTORS[place]
        # A policy that had to step in would have said so.
        assert browser.get_log("browser") == [], VECTORS[place]


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_no_page_breaks_a_rule_of_accessibility_or_overflows(
    browser: webdriver.Chrome, http: str, scheme: str, width: int
) -> None:
    axe()
    resize(browser, width, 900)
    prefer(browser, scheme)
    for page in PAGES:
        browser.get(http + page)
        browser.execute_script("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width, page
        assert violations(browser, scheme) == [], page


@pytest.mark.parametrize("width", sample([360, 1440], 2))
def test_nothing_moves_while_a_page_loads(browser: webdriver.Chrome, http: str, width: int) -> None:
    resize(browser, width, 900)
    watch = """window.moved = 0; new PerformanceObserver((list) => list.getEntries().forEach((each) => {
        window.moved += each.value; })).observe({type: 'layout-shift', buffered: true});"""
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": watch})
    try:
        for page in PAGES:
            assert min(_moved(browser, http + page)) == 0, page
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def _moved(browser: webdriver.Chrome, page: str) -> Iterator[float]:
    """Yield how far things moved in each of up to five loads: a busy machine may paint half a page."""
    for _ in range(5):
        browser.get(page)
        browser.execute_async_script("setTimeout(arguments[0], 200)")
        moved = float(browser.execute_script("return window.moved"))
        yield moved
        if moved == 0:
            return


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_the_search_dialog_breaks_no_rule_of_accessibility(
    browser: webdriver.Chrome, http: str, scheme: str, width: int
) -> None:
    axe()
    resize(browser, width, 900)
    prefer(browser, scheme)
    for query, shown in (
        ("bats", "[role=option]"),
        ("zzz nest", ".state-block"),
        ("damaged", "[role=alert]"),
    ):
        browser.get(f"{http}index.html?q={query}")
        _until(browser, lambda shown=shown: browser.find_elements(By.CSS_SELECTOR, f"dialog[open] {shown}"))
        why = browser.find_element(By.CSS_SELECTOR, ".search-why")
        assert why.is_displayed() == (query == "bats")
        if why.is_displayed():
            why.click()
        browser.find_element(By.ID, "SearchInput").send_keys(Keys.ARROW_DOWN)
        assert violations(browser, scheme) == [], query


def test_without_scripts_the_words_lead_to_pages_and_tabs_are_read_in_turn(
    browser: webdriver.Chrome, http: str
) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(http + "guide/install.html")
        panels = browser.find_elements(By.CSS_SELECTOR, ".callout-tab")
        assert len(panels) == 4 and all(panel.is_displayed() for panel in panels)
        browser.find_element(By.CSS_SELECTOR, ".search-link").click()
        assert browser.current_url == http + "_search/index.html"
        assert browser.find_element(By.LINK_TEXT, "All pages").is_displayed()
        browser.get(http + "_search/ranking.html")
        assert "This page needs scripts." in browser.find_element(By.TAG_NAME, "main").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_on_a_narrow_screen_versions_and_theme_are_in_the_menu(browser: webdriver.Chrome, base: str) -> None:
    toggle = browser.find_element(By.CSS_SELECTOR, ".theme-toggle")
    assert toggle.is_displayed()
    resize(browser, 360, 740)
    _until(browser, lambda: not toggle.is_displayed())
    browser.find_element(By.CSS_SELECTOR, ".menu-link").click()
    assert (
        toggle.is_displayed() and browser.find_element(By.CSS_SELECTOR, "#SiteNav .versions").is_displayed()
    )
    resize(browser, 1280, 900)
    _until(
        browser, lambda: browser.find_element(By.CSS_SELECTOR, ".site-header .theme-toggle").is_displayed()
    )


def test_paper_shows_every_tab_and_no_controls(browser: webdriver.Chrome, http: str) -> None:
    browser.get(http + "guide/install.html")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert all(panel.is_displayed() for panel in browser.find_elements(By.CSS_SELECTOR, ".callout-tab"))
        for hidden in (".site-header", ".site-nav", "[role=tablist]", ".around"):
            assert not browser.find_element(By.CSS_SELECTOR, hidden).is_displayed(), hidden
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_pages_that_are_folders_open_from_a_disk_and_from_a_server(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    texts = {
        "index.md": "# Home\n\n[Wings](guide/wings.md#left)\n",
        "guide/wings.md": TEXTS["guide/wings.md"],
    }
    build_site(snapshot_of({"notes": texts}), tmp_path / "site", Site(clean_urls=True))
    browser.get((tmp_path / "site/index.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, "article a[href*=wings]").click()
    assert browser.current_url.endswith("/guide/wings/index.html#left")
    with served(tmp_path / "site") as address:
        browser.get(f"{address}guide/wings/index.html#left")
        assert browser.current_url.endswith("/guide/wings/#left")
        browser.find_element(By.CSS_SELECTOR, ".site-title").click()
        assert browser.current_url.rstrip("/") == address.rstrip("/")


def test_boxes_take_the_room_of_tabs_until_the_script_makes_them_tabs(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    texts = {"index.md": f"# Tabs\n\n{TABS.format('')}After.\n"}
    build_site(snapshot_of({"notes": texts}), tmp_path / "site", SETTINGS)
    place = "return [...document.querySelectorAll('.prose > p')].pop().getBoundingClientRect().top"
    browser.get((tmp_path / "site/index.html").as_uri())
    arranged = browser.execute_script(place)
    (tmp_path / "site/_assets/page.js").write_text("")
    browser.get((tmp_path / "site/index.html").as_uri())
    shown = browser.execute_script(place)
    browser.execute_script("document.documentElement.setAttribute('data-arranging', '')")
    assert browser.execute_script(place) == pytest.approx(arranged, abs=1)
    assert shown > arranged + 40  # without the script both boxes show
