"""The site's search as its readers have it: the real index and engine in a real browser, beside the search in
Python.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from noctule.artifacts.query.searcher import Searcher
from noctule.docsite.build import build_site
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.settings.site import OtherSite, Site
from tests.browser_driver import needs_browser, served
from tests.guide_snapshot import Guide, guide

__all__ = ["guide"]
pytestmark = needs_browser
QUERIES = (
    "crash of a snapshot",
    "owls",
    "how are snapshots published",
    "bm25f fields",
    "power cut",
    "rollback",
)
# The browser's vectors are rounded: of two pages whose scores differ by less, either may stand first.
EQUAL = 0.995
ASK = """
const [queries, done] = [arguments[0], arguments[arguments.length - 1]];
const answers = (engine) => Promise.all(queries.map((query) => engine.search(query, { limit: 10 })));
noctuleReader.engine().then(answers).then((found) => done(JSON.stringify(found)),
  (error) => done(JSON.stringify({ code: error.code || String(error.stack) })));
"""


@pytest.fixture(scope="module")
def site(guide: Guide, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("searched") / "site"
    with guide.store.open() as snapshot:
        build_site(snapshot, target, Site(title="Guide"), Search())
    return target


@pytest.fixture(params=["file", "http"])
def base(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    if request.param == "file":
        yield f"{site.as_uri()}/"
        return
    with served(site.parent) as root:
        yield f"{root}site/"


def opened(browser: webdriver.Chrome, base: str, word: str = "") -> None:
    browser.get(f"{base}index.html")
    browser.get_log("browser")
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "k")
    field = WebDriverWait(browser, 10).until(lambda found: found.find_element(By.ID, "SearchInput"))
    WebDriverWait(browser, 10).until(lambda _: field.is_displayed())
    if word:
        field.send_keys(word)


def asked(browser: webdriver.Chrome, queries: tuple[str, ...]) -> list[dict[str, object]]:
    browser.set_script_timeout(20)
    found: list[dict[str, object]] = json.loads(browser.execute_async_script(ASK, list(queries)))
    return found


def pages(answer: dict[str, object], base: str) -> list[str]:
    hits: list[dict[str, str]] = answer["hits"]  # type: ignore[assignment]
    return [hit["url"].split("#")[0].removeprefix(base).removesuffix(".html") for hit in hits]


def test_the_dialog_finds_pages_and_the_console_is_empty(browser: webdriver.Chrome, base: str) -> None:
    opened(browser, base, "crash of a snapshot")
    WebDriverWait(browser, 10).until(lambda found: found.find_elements(By.CSS_SELECTOR, "#SearchList a"))
    first = browser.find_element(By.CSS_SELECTOR, "#SearchList a").get_attribute("href") or ""
    assert "crash-safety.html" in first
    assert browser.get_log("browser") == []


def test_the_browser_ranks_as_python_does(browser: webdriver.Chrome, base: str, guide: Guide) -> None:
    opened(browser, base)
    answers = asked(browser, QUERIES)
    shares = []
    settings = Settings.model_validate({"search": {"encoder": "static"}})
    with Searcher(guide.store.open(), settings) as searcher:
        for query, answer in zip(QUERIES, answers, strict=True):
            hits = searcher.search(query, 30).hits
            expected = list(dict.fromkeys(hit.path.removesuffix(".md") for hit in hits))[:10]
            found = pages(answer, base)
            best = {hit.path.removesuffix(".md") for hit in hits if hit.score >= hits[0].score * EQUAL}
            assert found[0] in best, query
            shares.append(len(set(found) & set(expected)) / len(expected))
    assert sum(shares) / len(shares) >= 0.9, shares


def test_weights_change_the_order(browser: webdriver.Chrome, site: Path) -> None:
    opened(browser, f"{site.as_uri()}/")
    script = ASK.replace("{ limit: 10 }", "{ limit: 10, weights: arguments[1] }")
    scores = []
    for weights in ({}, {"semantic": 0}, {"keyword": 0}, {"links": 0, "support": 0}):
        found = json.loads(browser.execute_async_script(script, ["how are snapshots published"], weights))
        scores.append([hit["score"] for hit in found[0]["hits"]])
        assert scores[-1] and all(isinstance(score, float) and score > 0 for score in scores[-1])
    assert len({json.dumps(each) for each in scores}) == 4


def test_a_file_of_the_index_that_is_gone_is_an_error_with_a_name(
    browser: webdriver.Chrome, site: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    for path in (broken / "_search").glob("[0-9a-f]*.js"):
        path.unlink()
    opened(browser, f"{broken.as_uri()}/")
    assert asked(browser, ("owls",)) == {"code": "missing"}
    assert browser.find_element(By.CSS_SELECTOR, "h1")


def test_a_site_may_have_no_search(guide: Guide, tmp_path: Path) -> None:
    with guide.store.open() as snapshot:
        build_site(snapshot, tmp_path / "site", Site(search=False), Search())
    assert not (tmp_path / "site" / "_search" / "engine.js").exists()


def test_the_same_snapshot_gives_the_same_index(guide: Guide, site: Path, tmp_path: Path) -> None:
    with guide.store.open() as snapshot:
        build_site(snapshot, tmp_path / "again", Site(title="Guide"), Search())
    for path in sorted((site / "_search").iterdir()):
        assert path.read_bytes() == (tmp_path / "again" / "_search" / path.name).read_bytes()


def test_two_sites_at_other_addresses_answer_in_one_dialog(
    browser: webdriver.Chrome, guide: Guide, site: Path, tmp_path: Path
) -> None:
    with served(site.parent) as there:
        also = (OtherSite(label="Twin", url=f"{there}site"), OtherSite(label="Gone", url="../gone/"))
        with guide.store.open() as snapshot:
            build_site(snapshot, tmp_path / "own", Site(also=also, graph=False, markdown=False), Search())
        with served(tmp_path) as here:
            opened(browser, f"{here}own/", "power cut")
            links = "#SearchList a.hit-page"
            WebDriverWait(browser, 10).until(lambda found: found.find_elements(By.CSS_SELECTOR, ".hit-site"))
            urls = [
                each.get_attribute("href") or "" for each in browser.find_elements(By.CSS_SELECTOR, links)
            ]
            assert len(urls) == 6
            # Equal sites have equal scores: of each page this site's hit comes first.
            assert [url.replace(f"{there}site/", f"{here}own/") for url in urls[1::2]] == urls[::2]
            assert [each.text for each in browser.find_elements(By.CSS_SELECTOR, ".hit-site")] == ["Twin"] * 3
            notes = [each.text for each in browser.find_elements(By.CSS_SELECTOR, ".state-note")]
            assert notes == ["No answer from Gone"]
            failed = [each["message"] for each in browser.get_log("browser")]
            assert failed and all("/gone/_search/manifest.js" in each and "404" in each for each in failed)
