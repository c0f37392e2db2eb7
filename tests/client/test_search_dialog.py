"""The search dialog in a real browser, on a double of the engine's interface."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from noctule.docsite.build import build_site
from noctule.pipeline.settings.site import Site
from tests.browser_driver import PLACES, anywhere, needs_browser, prefer, resize, served
from tests.site_builder import snapshot_of

pytestmark = needs_browser
FAKE = Path(__file__).with_name("fake_engine.js")
TEXTS = {
    "index.md": "# Home\n\nBats and owls. [Install](guide/install.md) <input value=typing>\n",
    "guide/install.md": "---\ntags: [setup]\n---\n# Install\n\nBats, owls and bats.\n\n"
    + "".join(f"## Step {i}\n\n" + "Words and words. " * 120 + "\n\n" for i in range(4)),
    "guide/hostile.md": "# Hostile\n\nNothing. [home](../index.md)\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dialog")
    build_site(snapshot_of({"notes": TEXTS}), root / "sub" / "site", Site(title="Bats"))
    shutil.copyfile(FAKE, root / "sub" / "site" / "_search" / "engine.js")
    return root


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    with served(folder) as root:
        yield f"{root}sub/site/"


@pytest.fixture(params=PLACES)
def base(
    request: pytest.FixtureRequest, browser: webdriver.Chrome, folder: Path, server: str
) -> Iterator[str]:
    address = server if request.param == "http" else (folder / "sub/site").as_uri() + "/"
    yield from _fresh(browser, address)


@pytest.fixture
def http(browser: webdriver.Chrome, server: str) -> Iterator[str]:
    yield from _fresh(browser, server)


def _fresh(browser: webdriver.Chrome, address: str) -> Iterator[str]:
    resize(browser, 1280, 900)
    prefer(browser, "light")
    browser.get(address + "guide/hostile.html")
    browser.execute_script("localStorage.clear(); sessionStorage.clear()")
    browser.get(address + "guide/hostile.html")
    browser.get_log("browser")
    yield address
    assert browser.get_log("browser") == []


def _until(browser: webdriver.Chrome, done: Callable[[], Any]) -> Any:
    return WebDriverWait(browser, 5, poll_frequency=0.02).until(lambda _: done())


def _input(browser: webdriver.Chrome) -> WebElement:
    return _until(
        browser, lambda: next(iter(browser.find_elements(By.CSS_SELECTOR, "dialog[open] #SearchInput")), None)
    )


def _open(browser: webdriver.Chrome, query: str = "") -> WebElement:
    ActionChains(browser).key_down(Keys.CONTROL).send_keys("k").key_up(Keys.CONTROL).perform()
    field = _input(browser)
    if query:
        field.send_keys(query)
        _until(browser, lambda: _answered(browser, query))
    return field


def _answered(browser: webdriver.Chrome, query: str) -> bool:
    script = (
        "return [window.noctule && noctule.asked.at(-1)?.query, "
        "document.querySelector('#SearchList').ariaBusy]"
    )
    asked, busy = browser.execute_script(script)
    return asked == query and not busy


def _texts(browser: webdriver.Chrome, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.trim())"
    return list(browser.execute_script(script, selector))


def _active(browser: webdriver.Chrome) -> str:
    script = (
        "return "
        "document.getElementById(document.querySelector('#SearchInput').getAttribute('aria-activedescendant'))"
        "?.querySelector('.hit-title').textContent || ''"
    )
    return str(browser.execute_script(script))


@anywhere
def test_a_page_loads_nothing_of_the_search_before_it_is_opened(browser: webdriver.Chrome, base: str) -> None:
    script = (
        "return [...document.querySelectorAll('script[src], link[rel=stylesheet]')].map(e => (e.src "
        "|| e.href).split('/').pop())"
    )
    assert set(browser.execute_script(script)) == {"style.css", "theme.js", "page.js"}
    assert browser.execute_script("return window.noctule === undefined")
    _open(browser, "bats")
    assert {"dialog.js", "dialog.css", "engine.js"} <= set(browser.execute_script(script))


@anywhere
def test_results_are_links_grouped_by_page_with_three_sections_and_marked_words(
    browser: webdriver.Chrome, base: str
) -> None:
    _open(browser, "bats")
    groups = browser.find_elements(By.CSS_SELECTOR, "#SearchList > [role=group]")
    assert len(groups) == 4
    links = (
        groups[1].find_elements(By.TAG_NAME, "a")
        if "Home" in groups[0].text
        else groups[0].find_elements(By.TAG_NAME, "a")
    )
    assert [link.get_attribute("href") for link in links] == [
        base + "guide/install.html", base + "guide/install.html#step-1", base + "guide/install.html#step-2",
    ]  # fmt: skip
    assert all(link.get_attribute("role") == "option" for link in links)
    assert _texts(browser, "#SearchList mark") == ["bats", "bats"]
    assert "Install the <b>bats</b>" in _texts(browser, ".hit-title")
    assert browser.title.startswith("Hostile") and not browser.find_elements(
        By.CSS_SELECTOR, "#SearchList img"
    )
    assert "Changed Aug 31, 2026" in groups[0].text + groups[1].text
    outlaw = browser.find_element(By.XPATH, "//a[@role='option'][contains(., 'Outlaw')]")
    assert outlaw.get_attribute("href") is None


def test_the_keyboard_alone_is_enough(browser: webdriver.Chrome, base: str) -> None:
    field = _open(browser, "bats")
    assert _active(browser) == "" and browser.switch_to.active_element == field
    titles = _texts(browser, "#SearchList .hit-title")
    field.send_keys(Keys.ARROW_DOWN)
    assert _active(browser) == titles[0]
    field.send_keys(Keys.ARROW_UP)
    assert _active(browser) == titles[-1]
    field.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert _active(browser) == titles[1]
    field.send_keys(Keys.END)
    assert _active(browser) == titles[-1]
    field.send_keys(Keys.HOME)
    assert _active(browser) == titles[0]
    assert _texts(browser, "[role=option][aria-selected=true] .hit-title") == [titles[0]]
    field.send_keys(Keys.ENTER)
    _until(browser, lambda: "hostile" not in browser.current_url)
    assert browser.current_url.startswith(base)


def test_enter_before_the_answer_opens_the_first_result_when_it_comes(
    browser: webdriver.Chrome, base: str
) -> None:
    _open(browser).send_keys("slow bats", Keys.ENTER)
    _until(browser, lambda: "hostile" not in browser.current_url)


def test_slash_opens_but_not_while_typing_and_focus_returns(browser: webdriver.Chrome, base: str) -> None:
    body = browser.find_element(By.TAG_NAME, "body")
    link = browser.find_element(By.LINK_TEXT, "home")
    browser.execute_script("arguments[0].focus()", link)
    link.send_keys("/")
    field = _input(browser)
    field.send_keys("a/b")
    assert field.get_attribute("value") == "a/b"
    field.send_keys(Keys.ESCAPE)
    _until(browser, lambda: not browser.find_elements(By.CSS_SELECTOR, "dialog[open]"))
    assert browser.switch_to.active_element == link
    browser.execute_script("document.body.insertAdjacentHTML('beforeend', '<textarea id=t></textarea>')")
    browser.find_element(By.ID, "t").send_keys("/")
    assert not browser.find_elements(By.CSS_SELECTOR, "dialog[open]") and body.is_displayed()


def test_the_button_opens_it_and_a_click_outside_closes_it(browser: webdriver.Chrome, base: str) -> None:
    button = browser.find_element(By.CSS_SELECTOR, "[data-search]")
    button.click()
    _input(browser)
    assert browser.execute_script("return document.documentElement.classList.contains('searching')")
    chain = ActionChains(browser)
    chain.w3c_actions.pointer_action.move_to_location(5, 850).click()
    chain.perform()
    _until(browser, lambda: not browser.find_elements(By.CSS_SELECTOR, "dialog[open]"))
    assert browser.switch_to.active_element == button


@anywhere
def test_the_query_stands_in_the_address_and_opens_the_dialog_again(
    browser: webdriver.Chrome, base: str
) -> None:
    _open(browser, "bats & owls")
    assert browser.current_url == base + "guide/hostile.html?q=bats+%26+owls"
    browser.get(base + "index.html?q=owls")
    assert _input(browser).get_attribute("value") == "owls"
    _until(browser, lambda: _answered(browser, "owls"))
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    _until(browser, lambda: browser.current_url == base + "index.html")


@anywhere
def test_back_brings_the_results_again(browser: webdriver.Chrome, base: str) -> None:
    field = _open(browser, "bats")
    field.send_keys(Keys.ENTER)
    _until(browser, lambda: "hostile" not in browser.current_url)
    browser.back()
    _until(browser, lambda: _texts(browser, "#SearchList .hit-title"))
    assert _input(browser).get_attribute("value") == "bats"


def test_filters_have_counts_narrow_down_and_can_be_cleared(browser: webdriver.Chrome, base: str) -> None:
    _open(browser, "bats")
    assert _texts(browser, ".facet-name") == []
    assert browser.execute_script("return noctule.asked.at(-1).facets") is False
    browser.find_element(By.CSS_SELECTOR, ".facets-toggle").click()
    _until(browser, lambda: _texts(browser, ".facet-name"))
    assert _texts(browser, ".facet-name") == ["Section", "Tag", "Topic", "Language"]
    assert _texts(browser, "[data-facet^=language]") == ["English 8", "Arabic 1"]
    assert _texts(browser, "[data-facet^=community]") == ["bats, caves 4", "owls 1"]
    assert _texts(browser, "[data-facet^=section]") == ["guide 7", "api 2", "Top level 1"]
    assert len(_texts(browser, "[data-facet^=tag]")) == 5
    browser.find_element(By.CSS_SELECTOR, ".chip-more").click()
    assert len(_texts(browser, "[data-facet^=tag]")) == 9
    browser.find_element(By.CSS_SELECTOR, "[data-facet='tag:tag8']").click()
    _until(browser, lambda: len(_texts(browser, "#SearchList [role=group]")) == 1)
    assert browser.execute_script("return noctule.asked.at(-1).filters") == {"tag": ["tag8"]}
    assert browser.switch_to.active_element.get_attribute("data-facet") == "tag:tag8"
    assert browser.switch_to.active_element.get_attribute("aria-pressed") == "true"
    assert _texts(browser, ".facets-toggle") == ["Narrow down (1)"]
    browser.find_element(By.CSS_SELECTOR, ".chip-clear").click()
    _until(browser, lambda: len(_texts(browser, "#SearchList [role=group]")) == 4)


def test_a_page_in_one_of_several_languages_searches_its_own_until_all_are_asked_for(
    browser: webdriver.Chrome, http: str
) -> None:
    browser.execute_script("document.querySelector('[data-search]').dataset.language = 'de'")
    field = _open(browser)
    assert _texts(browser, ".state-lead") == ["Type a word or a question."]
    field.send_keys("bats")
    _until(browser, lambda: _answered(browser, "bats"))
    asked = "return noctule.asked.at(-1).filters"
    assert browser.execute_script(asked) == {"language": ["de"]}
    assert _texts(browser, ".facets-toggle") == ["Narrow down"]
    (every,) = browser.find_elements(By.CSS_SELECTOR, ".chip-clear")
    assert every.text == "All languages"
    every.click()
    _until(browser, lambda: browser.execute_script(asked) == {} and _answered(browser, "bats"))
    assert not browser.find_elements(By.CSS_SELECTOR, ".chip-clear")
    field.send_keys(Keys.ESCAPE)
    _open(browser, "owls")
    assert browser.execute_script(asked) == {}


def test_several_sites_are_searched_at_once_and_one_that_is_away_is_named(
    browser: webdriver.Chrome, http: str
) -> None:
    also = [{"label": "Caves", "url": "../caves"}, {"label": "Moths", "url": "../away/"}]
    also.append({"label": "Newts", "url": "https://newts.example.org/slow/"})
    browser.execute_script(
        "document.querySelector('[data-search]').dataset.also = JSON.stringify(arguments[0])", also
    )
    _open(browser).send_keys("bats")
    _until(browser, lambda: _texts(browser, ".hit-page"))
    start = time.monotonic()
    assert not _texts(browser, ".hit-site")  # this site's hits hold up nothing
    _until(browser, lambda: _texts(browser, ".hit-site"))
    assert 0.5 < time.monotonic() - start < 4
    assert browser.execute_script("return noctule.opened.at(-1)") == http.replace("site/", "caves/_search/")
    titles = _texts(browser, ".hit-page .hit-title")
    assert titles == ["Home", "Home", *["Install the <b>bats</b>"] * 2, *["مرحبا Hostile"] * 2]
    assert _texts(browser, ".hit-site") == ["Caves"] * 3
    assert _texts(browser, ".state-note") == ["No answer from Moths", "No answer from Newts"]
    browser.find_element(By.CSS_SELECTOR, ".search-more").click()
    _until(browser, lambda: "More 4" in _texts(browser, ".hit-title"))
    browser.find_element(By.CSS_SELECTOR, ".facets-toggle").click()
    _until(browser, lambda: _texts(browser, ".facet-name"))
    browser.find_element(By.CSS_SELECTOR, "[data-facet='section:guide']").click()
    _until(browser, lambda: _answered(browser, "bats") and not _texts(browser, ".hit-site"))
    assert browser.execute_script("return noctule.asked.at(-1).filters") == {"section": ["guide"]}


def test_a_filter_without_words_lists_its_pages(browser: webdriver.Chrome, base: str) -> None:
    _open(browser)
    browser.find_element(By.CSS_SELECTOR, ".facets-toggle").click()
    _until(browser, lambda: _texts(browser, ".facet-name"))
    browser.find_element(By.CSS_SELECTOR, "[data-facet='section:guide']").click()
    _until(browser, lambda: _texts(browser, ".hit-page .hit-title"))
    assert browser.execute_script("return noctule.browsed") == {"section": ["guide"]}
    assert browser.execute_script("return noctule.asked.length") == 0
    _until(browser, lambda: _texts(browser, "#SearchLive") == ["9 pages"])
    browser.find_element(By.CSS_SELECTOR, ".search-more").click()
    _until(browser, lambda: "More 4" in _texts(browser, ".hit-page .hit-title"))
    browser.find_element(By.CSS_SELECTOR, ".chip-clear").click()
    _until(browser, lambda: _texts(browser, ".state-lead") == ["Type a word or a question."])
    assert _texts(browser, ".hit-page") == []


def test_pages_sections_and_code_are_told_apart(browser: webdriver.Chrome, base: str) -> None:
    _open(browser, "bats")
    _until(browser, lambda: _answered(browser, "bats"))
    kinds = browser.find_elements(By.CSS_SELECTOR, ".hit-group:has(.hit-section) .hit-kind")
    assert [kind.get_attribute("aria-label") for kind in kinds] == ["Page", "Section", "Code"]
    assert all(kind.size["width"] > 8 for kind in kinds)


@anywhere
def test_pages_opened_last_are_offered_before_anything_is_asked(browser: webdriver.Chrome, base: str) -> None:
    _open(browser, "bats")
    _until(browser, lambda: _answered(browser, "bats"))
    _input(browser).send_keys(Keys.ENTER)
    _until(browser, lambda: browser.current_url.split("?")[0] == base + "index.html")
    elsewhere = {"url": "https://example.org/", "title": "Elsewhere", "breadcrumb": []}
    browser.execute_script(
        "const kept = JSON.parse(localStorage['noctule-pages']);"
        "localStorage['noctule-pages'] = JSON.stringify([arguments[0], 7, null, ...kept])", elsewhere,
    )  # fmt: skip
    browser.get(base + "guide/hostile.html")
    field = _open(browser)
    assert _texts(browser, ".hit-title") == ["Home"]
    field.send_keys(Keys.ENTER)
    assert browser.current_url == base + "guide/hostile.html"
    field.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    _until(browser, lambda: browser.current_url.split("?")[0] == base + "index.html")
    _open(browser)
    browser.find_element(By.CSS_SELECTOR, ".state-clear").click()
    _until(browser, lambda: not _texts(browser, ".hit-title"))
    assert elsewhere["url"] in browser.execute_script("return localStorage['noctule-pages']")


def test_a_browser_that_stores_nothing_has_no_last_pages(browser: webdriver.Chrome, base: str) -> None:
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused') }})"
    browser.execute_script(refuse)
    _open(browser, "bats")
    _until(browser, lambda: _answered(browser, "bats"))
    browser.execute_script("noctuleReader.remember.select('bats', {link: document.links[0], rank: 0, hit: "
                           "{url: 'index.html', title: 'Home', breadcrumb: [], why: {}}})")  # fmt: skip
    field = _input(browser)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.BACKSPACE)
    _until(browser, lambda: _texts(browser, ".state-lead") == ["Type a word or a question."])
    assert _texts(browser, ".hit-title") == []


def test_more_hits_come_without_end_and_what_was_chosen_stays(browser: webdriver.Chrome, base: str) -> None:
    field = _open(browser, "bats")
    field.send_keys(Keys.ARROW_DOWN)
    first = _active(browser)
    links = browser.execute_script("return [...document.querySelectorAll('#SearchList a')].map(a => a.href)")
    browser.find_element(By.CSS_SELECTOR, ".search-more").click()
    _until(browser, lambda: "More 9" in _texts(browser, ".hit-title"))
    after = browser.execute_script("return [...document.querySelectorAll('#SearchList a')].map(a => a.href)")
    assert after[: len(links)] == links and _active(browser) == first
    browser.execute_script("document.querySelector('.search-scroll').scrollTop = 1e6")
    _until(browser, lambda: "More 11" in _texts(browser, ".hit-title"))
    assert not browser.find_elements(By.CSS_SELECTOR, ".search-more")
    assert browser.execute_script("return noctule.grown") == 2


def test_what_came_first_is_shown_until_the_answer_is_there(browser: webdriver.Chrome, base: str) -> None:
    field = _open(browser)
    field.send_keys("slow early")
    _until(browser, lambda: _texts(browser, ".hit-title") == ["Early"])
    assert browser.find_element(By.ID, "SearchList").get_attribute("aria-busy") == "true"
    _until(browser, lambda: len(_texts(browser, "#SearchList [role=group]")) == 4)
    assert "Early" not in _texts(browser, ".hit-title")


def test_the_engine_hears_of_every_key(browser: webdriver.Chrome, base: str) -> None:
    field = _open(browser)
    _until(browser, lambda: browser.execute_script("return window.noctule && noctule.opened.length") == 1)
    field.send_keys("bats and owl")
    _until(browser, lambda: _answered(browser, "bats and owl"))
    typed = [text for text in accumulate("bats and owl") if text.strip()]
    assert browser.execute_script("return noctule.warmed") == typed


def test_why_shows_the_parts_of_each_score(browser: webdriver.Chrome, base: str) -> None:
    _open(browser, "bats")
    button = browser.find_element(By.CSS_SELECTOR, ".search-why")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    first = browser.find_elements(By.CSS_SELECTOR, ".why")[-1].text
    assert first.split("\n") == ["words 50 %", "meaning 50 %", "links +10 %", "matched: bats, owls"]
    button.click()
    assert not browser.find_elements(By.CSS_SELECTOR, ".why")


def test_a_correction_that_was_followed_is_told(browser: webdriver.Chrome, http: str) -> None:
    _open(browser, "batz")
    assert "Also searched: bats, for batz" in browser.find_element(By.CSS_SELECTOR, ".search-state").text


def test_a_correction_is_offered_and_asked_by_a_click(browser: webdriver.Chrome, http: str) -> None:
    _open(browser, "nest batz?")
    assert "Did you mean:" in browser.find_element(By.CSS_SELECTOR, ".search-state").text
    browser.find_element(By.CSS_SELECTOR, ".search-state button.chip").click()
    _until(browser, lambda: _answered(browser, "nest bats?"))


def test_nothing_found_says_so_and_gives_ways_on(browser: webdriver.Chrome, base: str) -> None:
    _open(browser, "zzz nest")
    assert "Nothing found for zzz nest" in browser.find_element(By.CSS_SELECTOR, ".search-state").text
    assert _texts(browser, ".search-state button.chip") == ["owls", "bats", "Without zzz", "Without nest"]
    browsing = [
        a.get_attribute("href") for a in browser.find_elements(By.CSS_SELECTOR, ".search-state a.chip")
    ]
    assert browsing[:2] == [base + "_search/index.html", base + "_pages/index.html"]
    browser.find_element(By.XPATH, "//button[.='owls']").click()
    _until(browser, lambda: _answered(browser, "owls"))
    assert _input(browser).get_attribute("value") == "owls"


def test_results_are_announced_politely(browser: webdriver.Chrome, base: str) -> None:
    field = _open(browser, "bats")
    live = browser.find_element(By.ID, "SearchLive")
    assert live.get_attribute("role") == "status"
    _until(browser, lambda: live.get_attribute("textContent") == "12 results for bats")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("zzz")
    _until(browser, lambda: live.get_attribute("textContent") == "No results for zzz")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("damaged", "index of this site is damaged"),
        ("rebuilt", "just rebuilt"),
        ("crash", "no memory <b>left</b>"),
    ],
)
def test_a_search_that_fails_says_why_and_the_next_one_works(
    browser: webdriver.Chrome, http: str, query: str, told: str
) -> None:
    field = _open(browser, query)
    alert = _until(browser, lambda: browser.find_element(By.CSS_SELECTOR, "[role=alert]"))
    assert told in alert.text
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("bats")
    _until(browser, lambda: _texts(browser, "#SearchList [role=option]"))
    assert not browser.find_elements(By.CSS_SELECTOR, "[role=alert]")


def test_answers_that_come_late_are_not_shown(browser: webdriver.Chrome, base: str) -> None:
    field = _open(browser)
    field.send_keys("slow zzz")
    _until(browser, lambda: browser.execute_script("return window.noctule && noctule.asked.length") == 1)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("bats")
    _until(browser, lambda: _texts(browser, "#SearchList [role=option]"))
    ActionChains(browser).pause(0.5).perform()
    assert len(_texts(browser, "#SearchList [role=group]")) == 4


@anywhere
def test_recent_searches_are_kept_here_and_can_be_cleared(browser: webdriver.Chrome, base: str) -> None:
    _open(browser)
    browser.execute_script("for (let i = 0; i < 9; i++) noctuleReader.remember.addRecent('bats' + i)")
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    _open(browser)
    assert _texts(browser, ".search-state button.chip") == [f"bats{i}" for i in range(8, 1, -1)]
    browser.find_element(By.CSS_SELECTOR, ".state-clear").click()
    assert _texts(browser, ".search-state button.chip") == []
    assert browser.execute_script("return localStorage.getItem('noctule-recent')") is None


def test_a_word_under_composition_is_left_alone(browser: webdriver.Chrome, base: str) -> None:
    field = _open(browser)
    script = """
        const f = arguments[0];
        f.dispatchEvent(new CompositionEvent('compositionstart'));
        f.value = 'ba';
        f.dispatchEvent(new InputEvent('input', {isComposing: true}));
        const how = {key: 'Enter', isComposing: true, bubbles: true, cancelable: true};
        f.dispatchEvent(new KeyboardEvent('keydown', how));
    """
    browser.execute_script(script, field)
    ActionChains(browser).pause(0.3).perform()
    assert browser.execute_script("return (window.noctule?.asked || []).length") == 0
    browser.execute_script(
        "arguments[0].value = 'bats'; arguments[0].dispatchEvent(new CompositionEvent('compositionend'))",
        field,
    )
    _until(browser, lambda: _answered(browser, "bats"))


def test_an_owner_may_listen(browser: webdriver.Chrome, base: str) -> None:
    script = (
        "window.heard = []; for (const name of ['noctule:search', 'noctule:select']) "
        "document.addEventListener(name, e => heard.push([name, e.detail]))"
    )
    browser.execute_script(script)
    field = _open(browser, "bats")
    browser.execute_script(
        "document.querySelector('#SearchList').addEventListener('click', e => e.preventDefault())"
    )
    field.send_keys(Keys.ENTER)
    (first, search), (second, select) = browser.execute_script("return heard")
    assert (first, second) == ("noctule:search", "noctule:select")
    assert (search["query"], search["count"]) == ("bats", 12) and search["ms"] >= 0
    assert (select["query"], select["rank"]) == ("bats", 1) and select["url"].startswith(base)


@anywhere
def test_words_are_marked_on_the_page_that_was_found(browser: webdriver.Chrome, base: str) -> None:
    _open(browser, "bats")
    browser.find_element(By.XPATH, "//a[@role='option'][contains(., 'Step 2')]").click()
    _until(browser, lambda: "#step-2" in browser.current_url)
    count = "return CSS.highlights.get('noctule-found')?.size || 0"
    assert browser.execute_script(count) == 3
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    assert browser.execute_script(count) == 0
    browser.refresh()
    assert browser.execute_script(count) == 0


def test_weights_are_compared_side_by_side_and_searches_without_results_exported(
    browser: webdriver.Chrome, base: str
) -> None:
    field = _open(browser, "zzz")
    field.send_keys("z")
    _until(browser, lambda: _answered(browser, "zzzz"))
    _until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".state-block"))
    browser.get(base + "_search/ranking.html")
    assert _texts(browser, ".zero li") == ["zzzz × 1"]
    browser.find_element(By.ID, "Question").send_keys("bats")
    _until(browser, lambda: len(_texts(browser, ".ranking li")) == 8)
    assert "same place" in _texts(browser, ".ranking .count")
    slider = browser.find_element(By.ID, "Weight-b-keyword")
    slider.send_keys(Keys.HOME)
    _until(browser, lambda: any("higher" in text for text in _texts(browser, ".ranking .count")))
    assert browser.execute_script("return noctule.asked.at(-1).weights.keyword") == 0
    browser.execute_script("URL.createObjectURL = blob => { window.exported = blob; return 'data:,' }")
    browser.find_element(By.XPATH, "//button[contains(., 'Export')]").click()
    assert '"query": "zzzz"' in browser.execute_script("return exported.text()")
    browser.find_element(By.XPATH, "//button[contains(., 'Clear the list')]").click()
    assert _texts(browser, ".zero li") == []


def test_without_an_engine_the_dialog_says_so_and_leads_to_the_words(
    browser: webdriver.Chrome, http: str, folder: Path
) -> None:
    engine = folder / "sub/site/_search/engine.js"
    engine.rename(engine.with_suffix(".off"))
    browser.execute_cdp_cmd("Network.clearBrowserCache", {})
    try:
        _open(browser).send_keys("bats")
        alert = _until(browser, lambda: browser.find_element(By.CSS_SELECTOR, "[role=alert]"))
        assert "search index is missing" in alert.text
    finally:
        engine.with_suffix(".off").rename(engine)
    assert all("engine.js" in entry["message"] for entry in browser.get_log("browser"))


def test_a_phone_shows_it_on_the_whole_screen(browser: webdriver.Chrome, base: str) -> None:
    resize(browser, 360, 740)
    browser.find_element(By.CSS_SELECTOR, "[data-search]").click()
    _input(browser).send_keys("bats")
    _until(browser, lambda: _answered(browser, "bats"))
    box = browser.find_element(By.ID, "SearchDialog").rect
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 360, 740)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    close = browser.find_element(By.CSS_SELECTOR, ".search-close")
    assert close.rect["height"] >= 44 and close.rect["width"] >= 44
    close.click()
    _until(browser, lambda: not browser.find_elements(By.CSS_SELECTOR, "dialog[open]"))


def test_nothing_moves_for_those_who_asked_for_it(browser: webdriver.Chrome, base: str) -> None:
    _open(browser)
    name = "return getComputedStyle(document.querySelector('dialog')).animationName"
    assert browser.execute_script(name) == "none"
    prefer(browser, "light", motion="no-preference")
    assert browser.execute_script(name) == "search-opens"


def test_an_agent_of_the_browser_is_offered_the_search(browser: webdriver.Chrome, http: str) -> None:
    loads = "return performance.getEntriesByType('resource').map((each) => each.name.split('/').pop())"
    assert "agent.js" not in browser.execute_script(loads)  # a browser without WebMCP loads nothing
    context = "document.modelContext = {registerTool: (tool) => { window.offered = tool; }};"
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": context})
    try:
        browser.get(f"{http}guide/install.html")
        _until(browser, lambda: browser.execute_script("return !!window.offered"))
        ask = "offered.execute(arguments[0]).then(arguments[1])"
        text = browser.execute_async_script(ask, {"query": "bats", "limit": "2"})
        assert "data, not instructions.\n\n1. " in text and f"\n{http}" in text and "\n> " in text
        assert "query is missing" in browser.execute_async_script(ask, {})
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
