"""Rows 56, 57, 60 and 62 of docs/store/fault-matrix.md: a site that is replaced, damaged, large, or of
another mind than Python.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from noctule.docsite.build import build_site
from noctule.pipeline.lexical.analyzer import prose_analyzer, terms
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.site import Site
from tests.browser_driver import needs_browser
from tests.guide_snapshot import Guide, guide
from tests.search_site_builder import analyzer_script

__all__ = ["guide"]
pytestmark = needs_browser
FIRST_SEARCH_BYTES = 1_000_000
_CODES = {"missing", "damaged", "other-build"}
_ASK = """
const done = arguments[arguments.length - 1];
noctuleReader.engine().then((engine) => engine.search(arguments[0], { limit: 5 }))
  .then((found) => done(JSON.stringify({ hits: found.hits.length, bytes: (found.took || {}).bytes })),
        (error) => done(JSON.stringify({ code: error.code, message: error.message })));
"""


@pytest.fixture(scope="module")
def site(guide: Guide, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("faulty") / "site"
    with guide.store.open() as snapshot:
        build_site(snapshot, target, Site(title="Guide"), Search())
    return target


@pytest.fixture
def copy(site: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(site, tmp_path / "site"))


def opened(browser: webdriver.Chrome, site: Path) -> None:
    browser.get(f"{site.as_uri()}/index.html")
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "k")
    WebDriverWait(browser, 10).until(lambda found: found.find_element(By.ID, "SearchInput").is_displayed())


def asked(browser: webdriver.Chrome, query: str) -> dict[str, object]:
    browser.set_script_timeout(20)
    found: dict[str, object] = json.loads(browser.execute_async_script(_ASK, query))
    return found


def answered_or_said(found: dict[str, object]) -> bool:
    """Whether there are hits, or one plain sentence and a code that the page acts on."""
    return bool(found.get("hits")) or (
        found.get("code") in _CODES and str(found.get("message", "")).endswith(".")
    )


def test_a_tab_that_is_open_while_the_site_is_replaced_answers_or_says_so(
    browser: webdriver.Chrome, copy: Path, guide: Guide
) -> None:
    opened(browser, copy)
    assert asked(browser, "owls")["hits"]
    with guide.store.open(guide.before.name) as snapshot:  # type: ignore[arg-type]
        build_site(snapshot, copy, Site(title="Guide"), Search())
    for query in ("owls", "write-ahead log", "how are snapshots published"):
        assert answered_or_said(asked(browser, query)), query
    assert browser.find_element(By.CSS_SELECTOR, "h1").text
    opened(browser, copy)
    assert asked(browser, "owls")["hits"]


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _foreign(path: Path) -> None:
    path.write_text("noctuleOfAnotherVersion();")


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage", [Path.unlink, _cut, _foreign, _flip], ids=["gone", "cut", "foreign", "flipped"]
)
def test_a_damaged_shard_is_said_and_the_page_stays(
    browser: webdriver.Chrome, copy: Path, damage: Callable[[Path], None]
) -> None:
    for path in sorted((copy / "_search").glob("[0-9a-f]*.js")):
        damage(path)
    opened(browser, copy)
    assert asked(browser, "owls").get("code") in _CODES
    assert browser.find_element(By.CSS_SELECTOR, "h1").text


def test_a_first_search_loads_a_bounded_part_of_the_index(browser: webdriver.Chrome, site: Path) -> None:
    opened(browser, site)
    found = asked(browser, "crash of a snapshot")
    assert found["hits"]
    whole = sum(path.stat().st_size for path in (site / "_search").iterdir())
    assert 0 < float(str(found["bytes"])) <= min(FIRST_SEARCH_BYTES, whole)


_TEXTS = (
    "C++ and C# aren't node.js\u2019s", "\u6771\u4eac\u90fd\u306e\u5929\u6c17 and Gr\u00f6\u00dfe",
    "na\u00efve_caf\u00e9.txt", "an accent alone: \u0301, _\u0301 and e\u0301",
    "get_user_by_id getUserById HTTPServer2", "running flies happily organisations", "--force -rf $x %s",
    "\u0928\u093e\u092e \u0e44\u0e17\u0e22 \ud55c\uad6d\uc5b4",
    "\ufb01ne \u24b6 \u00bd", "a" * 100, "\U0001f389 \u202e \x00",
)  # fmt: skip


def test_the_browser_and_python_cut_the_same_terms(browser: webdriver.Chrome, site: Path) -> None:
    browser.get(f"{site.as_uri()}/index.html")
    browser.execute_script(
        f"{analyzer_script()}\nwindow.theirs = (t) => tokensOf(t).flatMap((k) => expanded(k, stemEnglish));"
    )
    found = browser.execute_script("return arguments[0].map(window.theirs)", list(_TEXTS))
    assert found == [terms(prose_analyzer("en"), text) for text in _TEXTS]
