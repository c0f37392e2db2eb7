"""The site in a real browser: from a disk and over HTTP below a sub-path, with nothing on the console."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from noctule.docsite.build import build_site
from noctule.pipeline.settings.settings import Site
from tests.browser_driver import PLACES, anywhere, needs_browser, prefer, resize, served
from tests.site_builder import snapshot_of

pytestmark = needs_browser
TEXTS = {
    "index.md": "# Home\n\n[Install](guide/install.md) and [out](https://example.org/).\n\n"
        "![far](https://example.org/t.gif)\n",
    "guide/install.md": "---\ntags: [setup]\n---\n# Install\n\n"
    + "".join(f"## Step {i}\n\n" + "Words and words. " * 120 + "\n\n" for i in range(5))
    + "```python\nprint('<bats & owls>')\n```\n\n| a | b |\n|---|--:|\n" + "| " + "wide" * 60 + " | 1 |\n",
    "guide/hostile.md": "# Hostile\n\n<img src=x onerror=\"document.title='owned'\"><script>"
        "document.title='owned'</script>\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("server")
    build_site(snapshot_of({"notes": TEXTS}), root / "some" / "sub" / "path", Site(title="Bats"))
    return root


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as root:
        yield f"{root}some/sub/path/"


@pytest.fixture(params=PLACES)
def base(
    request: pytest.FixtureRequest, browser: webdriver.Chrome, site: Path, address: str
) -> Iterator[str]:
    """The site's address, with the browser fresh: wide, light, nothing stored, nothing logged."""
    place = address if request.param == "http" else (site / "some/sub/path").as_uri() + "/"
    resize(browser, 1280, 900)
    prefer(browser, "light")
    browser.get(place + "index.html")
    browser.execute_script("localStorage.clear()")
    browser.get_log("performance")
    browser.get_log("browser")
    yield place
    assert browser.get_log("browser") == []


def _background(browser: webdriver.Chrome) -> str:
    return str(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))


LIGHT, DARK = "rgb(255, 255, 255)", "rgb(21, 24, 29)"


@anywhere
def test_every_page_loads_with_its_style_and_an_empty_console(
    browser: webdriver.Chrome, base: str, site: Path
) -> None:
    root = site / "some/sub/path"
    pages = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.html"))
    assert len(pages) > 6
    for page in pages:
        browser.get(base + page)
        assert browser.title != "owned"
        if page != "404.html":
            assert browser.find_element(By.CSS_SELECTOR, "[data-theme-toggle]").is_displayed(), page
            assert browser.execute_script("return document.styleSheets.length") == (
                2 if "ranking" in page or page == "_report.html" else 1
            ), page
        assert browser.get_log("browser") == [], page


@anywhere
def test_no_request_leaves_the_site(browser: webdriver.Chrome, base: str) -> None:
    for page in ("index.html", "guide/install.html", "guide/hostile.html"):
        browser.get(base + page)
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert any(url.endswith("style.css") for url in asked)
    home = urlsplit(base)
    for url in asked:
        assert (urlsplit(url).scheme, urlsplit(url).netloc) == (home.scheme, home.netloc) or url.startswith(
            "data:"
        )


@anywhere
def test_links_work_by_clicking(browser: webdriver.Chrome, base: str) -> None:
    browser.get(base + "index.html")
    browser.find_element(By.LINK_TEXT, "Install").click()
    assert browser.current_url == base + "guide/install.html"
    browser.find_element(By.CSS_SELECTOR, ".toc a[href='#step-3']").click()
    assert browser.current_url.endswith("#step-3")
    browser.find_element(By.CSS_SELECTOR, ".site-title").click()
    assert browser.current_url == base + "index.html"


@anywhere
def test_the_chosen_theme_holds_on_the_next_page_from_the_first_paint(
    browser: webdriver.Chrome, base: str
) -> None:
    assert _background(browser) == LIGHT
    toggle = browser.find_element(By.CSS_SELECTOR, "[data-theme-toggle]")
    toggle.click()
    toggle.click()
    assert toggle.text == "Theme: dark" and _background(browser) == DARK
    browser.get(base + "guide/install.html")
    assert _background(browser) == DARK
    # The script in the head has run before the body is there: no flash.
    blocking = (
        "return document.querySelector('head > script[src$=\"theme.js\"]:not([defer]):not([async])') !== null"
    )
    assert browser.execute_script(blocking)
    browser.find_element(By.CSS_SELECTOR, "[data-theme-toggle]").click()
    assert _background(browser) == LIGHT


def test_without_a_choice_the_systems_theme_is_used(browser: webdriver.Chrome, base: str) -> None:
    prefer(browser, "dark")
    assert _background(browser) == DARK
    prefer(browser, "light")
    assert _background(browser) == LIGHT


@anywhere
def test_the_copy_button_copies_the_code(browser: webdriver.Chrome, base: str) -> None:
    browser.get(base + "guide/install.html")
    script = """
        const copied = arguments[0];
        navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); };
        document.execCommand = () => { window.copied = document.activeElement.value; return true; };
    """
    browser.execute_script(script, None)
    button = browser.find_element(By.CSS_SELECTOR, ".copy-button")
    button.send_keys(Keys.ENTER)
    WebDriverWait(browser, 5).until(lambda _: button.text == "Copied")
    assert browser.execute_script("return window.copied") == "print('<bats & owls>')\n"
    assert browser.find_element(By.CSS_SELECTOR, "[role=status]").get_attribute("textContent") == "Copied"


def test_a_phone_gets_a_menu_that_opens_and_closes_and_nothing_overflows(
    browser: webdriver.Chrome, base: str
) -> None:
    resize(browser, 390, 844)
    browser.get(base + "guide/install.html")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    nav = browser.find_element(By.ID, "SiteNav")
    assert not nav.is_displayed()
    browser.find_element(By.CSS_SELECTOR, ".menu-link").click()
    assert nav.is_displayed()
    assert browser.find_element(By.CSS_SELECTOR, "#SiteNav [aria-current=page]").is_displayed()
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    WebDriverWait(browser, 5).until(lambda _: not nav.is_displayed())
    browser.find_element(By.CSS_SELECTOR, ".menu-link").click()
    browser.find_element(By.CSS_SELECTOR, ".menu-close").click()
    assert not nav.is_displayed()


def test_the_first_tab_stop_skips_to_the_content(browser: webdriver.Chrome, base: str) -> None:
    browser.get(base + "guide/install.html")
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert focused.text == "Skip to content" and focused.is_displayed()
    focused.send_keys(Keys.ENTER)
    assert browser.execute_script("return document.activeElement.id") == "Content"


def test_without_scripts_the_page_is_whole(browser: webdriver.Chrome, base: str) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(base + "guide/install.html")
        assert browser.find_element(By.CSS_SELECTOR, "#SiteNav [aria-current=page]").is_displayed()
        assert [b for b in browser.find_elements(By.TAG_NAME, "button") if b.is_displayed()] == []
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_policy_stops_what_the_sanitiser_would_miss(browser: webdriver.Chrome, base: str) -> None:
    browser.get(base + "index.html")
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.owned = 1'; "
        "document.body.append(s);"
    )
    assert browser.execute_script("return window.owned") is None
    blocked = browser.get_log("browser")
    assert blocked and "Content Security Policy" in blocked[0]["message"]


@anywhere
def test_the_404_page_is_readable_at_any_depth(browser: webdriver.Chrome, base: str, site: Path) -> None:
    browser.get(base + "404.html")
    assert browser.find_element(By.TAG_NAME, "h1").text == "Page not found"
