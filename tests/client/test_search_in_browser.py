"""The search engine in a real browser: from a disk and over HTTP below a sub-path, whole and damaged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from selenium import webdriver

import noctule.artifacts.query
from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.query.index.postings import TokenVectorRows
from noctule.docsite.incremental.search_changes import Base, Changes
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.search.files import compressed, script
from noctule.docsite.search.index import PrebuiltParts, search_files
from noctule.docsite.search.manifest import ranking_of
from noctule.docsite.search.spelling import read_surfaces
from noctule.docsite.urls import SEARCH as FOLDER
from noctule.pipeline.lexical.analyzer import fold, prose_analyzer
from noctule.pipeline.lexical.stop_words import question_words, stop_words
from noctule.pipeline.lexical.word_pieces import word_pieces
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.site import Site
from tests.browser_driver import needs_browser, served
from tests.repetitions import ALL
from tests.search_site_builder import SearchSite, analyzer_script, search_site
from tests.stop_word_queries import STOP_WORD_QUERIES

__all__ = ["search_site"]

pytestmark = needs_browser
QUERIES = (
    "reciprocal rank fusion", "what survives a power cut", "how do I undo a bad night", "wikilinks",
    "snapshot manifest",
    "bm25f weights of fields", "crash safety", "install", "embedding model offline", "calibrated confidence",
    "phrase search with quotes", "communities of the link graph", "publish the site", "duckdb sql views",
    "front matter keys", "settings file", "exit codes", "damaged snapshot", "prefect server",
    "obsidian vault",
    "chunk size in tokens", "anchor text", "approximate vector index", "how are passages made",
    "rollback and prune",
    "determinism of a build", "python API", "filters and operators", "html sources", "notebook cells",
    "nightly run with systemd", "measure relevance", "json output", "dependencies and licences", "stemming",
)  # fmt: skip
# With these every rule of the English stemmer is met by real beginnings; and words become names, numbers and
# mixtures.
ENDINGS = (
    "s", "es", "ies", "ed", "eedly", "ing", "ings", "ingly", "ly", "ational", "tional", "enci", "izer",
    "ization", "alism",
    "fulness", "iveness", "biliti", "ousli", "ement", "ative", "ion", "y", "ll", "'s", "_id", "ById", "é",
    "2", "東京都",
)  # fmt: skip
SEARCH = """const [query, options, done] = [arguments[0], arguments[1], arguments[2]];
(window.engine = window.engine || noctule.open({base: "../_search/"}))
  .then((engine) => engine.search(query, options || {}))
  .then((answer) => done({answer}), (error) => {
    window.engine = null;
    done({code: error.code, message: error.message});
  });"""

# How many pages are looked into at a time for a phrase among sixty ranked ones, until enough hold it.
PHRASED = """const [phrase, limit, done] = arguments;
noctule.open({base: "../_search/"}).then(async (engine) => {
  const ranked = Array.from({length: 60}, (_, i) => ({
    document: i % engine.manifest.documents, passages: [{ordinal: 0}],
  }));
  const looked = [];
  const all = Promise.all.bind(Promise);
  const shown = engine.store.shown.bind(engine.store);
  let round = 0;
  engine.store.shown = (...given) => { round++; return shown(...given); };
  Promise.all = (given) => {
    const many = [...given];
    if (round) looked.push(round);
    round = 0;
    return all(many);
  };
  await engine.withPhrases(ranked, [phrase], limit);
  Promise.all = all;
  done(looked);
});"""
TOKENS = """const [words, done] = arguments;
noctule.open({base: "../_search/"})
  .then((engine) => Promise.all(words.map((word) => engine.tokens().of(word))))
  .then((found) => done(found.map((tokens) => tokens.map(({token}) => token))));"""

UNSEEN = """const [query, done] = arguments;
noctule.open({base: "../_search/"}).then(async (engine) => {
  const { reads } = await engine.reader.understood({
    plain: query.replace(/"|\\w+\\*/g, ""), prefixes: query.match(/\\w+(?=\\*)/g) || [], partial: "",
  }, engine.tokens());
  done((await engine.gatherer.unseenWords(reads, engine.tokens())).length);
});"""

NUMBERS = """const done = arguments[0];
noctule.open({base: "../_search/"}).then(({manifest}) => done([...manifest.segments[0].numbers]));"""

WARMED = """const [typed, done] = arguments;
noctule.open({base: "../_search/"}).then(async (engine) => {
  const counts = [];
  for (const words of typed) {
    engine.warm(words);
    await new Promise((resolve) => setTimeout(resolve, 300));
    counts.push([...engine.store.read.keys()].filter((key) => key.startsWith("term_shards")).length);
  }
  done(counts);
});"""

READ = """const [queries, done] = arguments;
noctule.open({base: "../_search/"}).then(async (engine) => {
  for (const query of queries) await engine.search(query);
  done([...engine.store.read.keys()].map((key) => key.split(" ")[0]));
});"""

RANKING = """const [changed, done] = arguments;
(window.engine = window.engine || noctule.open({base: "../_search/"})).then((engine) => {
  Object.assign(engine.manifest.ranking, changed);
  done();
});"""


BROWSED = """const [filters, done] = arguments;
noctule.open({base: "../_search/"}).then(async (engine) => {
  const answer = await engine.browse({ filters, limit: 2 });
  const first = answer.hits.map(({url}) => url);
  const more = (await engine.more(answer, 500)).map(({url}) => url);
  const all = await engine.facets(null);
  done({ first, more, total: answer.total, own: await engine.facets(answer), all: all.tag });
});"""


@pytest.fixture
def driver(browser: webdriver.Chrome) -> webdriver.Chrome:
    browser.set_script_timeout(60)
    return browser


@pytest.fixture(scope="module")
def address(search_site: SearchSite) -> Iterator[str]:
    with served(search_site.root) as server:
        yield server + "some/path/"


@pytest.fixture(params=["file", "http"])
def base(
    request: pytest.FixtureRequest,
    driver: webdriver.Chrome,
    search_site: SearchSite,
    address: str,
) -> Iterator[str]:
    """The site's address, with the bare page loaded and nothing logged; at the end the console is empty."""
    found = address if request.param == "http" else search_site.site.as_uri() + "/"
    _load(driver, found)
    yield found
    assert driver.get_log("browser") == []


@pytest.fixture
def page(driver: webdriver.Chrome, address: str) -> webdriver.Chrome:
    """The bare page over HTTP."""
    _load(driver, address)
    return driver


def _load(driver: webdriver.Chrome, base: str) -> None:
    driver.get(base + "try/index.html")
    driver.get_log("performance")
    driver.get_log("browser")


def _asked(driver: webdriver.Chrome, query: str, **options: object) -> Any:
    return driver.execute_async_script(SEARCH, query, options)


def _answer(driver: webdriver.Chrome, query: str, **options: object) -> Any:
    found = _asked(driver, query, **options)
    assert "answer" in found, found
    return found["answer"]


def _titles(driver: webdriver.Chrome, query: str, **options: object) -> list[str]:
    return [hit["title"] for hit in _answer(driver, query, **options)["hits"]]


def test_answers_come_from_a_disk_and_below_a_sub_path(driver: webdriver.Chrome, base: str) -> None:
    hits = _answer(driver, "kestrel")["hits"]
    assert [hit["title"] for hit in hits][:1] == ["Kestrel"]
    assert hits[0]["url"].startswith(base + "notes/") and hits[0]["url"].endswith(".html")
    section = hits[0]["sections"][0]
    marked = [section["excerpt"][start:end] for start, end in section["marks"]]
    assert "kestrel" in marked
    assert hits[0]["why"]["terms"] == ["kestrel"] and hits[0]["why"]["keyword"] > 0


def test_every_hit_leads_to_a_page_and_a_heading_that_are_there(
    driver: webdriver.Chrome,
    base: str,
    search_site: SearchSite,
) -> None:
    for query in QUERIES[:8]:
        for hit in _answer(driver, query)["hits"]:
            for section in hit["sections"]:
                path, _, anchor = unquote(section["url"][len(base) :]).partition("#")
                html = (search_site.site / path).read_text("utf-8")
                assert not anchor or f'id="{anchor}"' in html, section["url"]


def test_the_browser_agrees_with_python(page: webdriver.Chrome, search_site: SearchSite) -> None:
    same = []
    with noctule.artifacts.query.open(search_site.store, search_site.settings) as searcher:
        for query in QUERIES:
            paths = dict.fromkeys(hit.path for hit in searcher.search(query, 40).hits)
            wanted = [path.rsplit(".", 1)[0] for path in list(paths)[:10]]
            found = [_path_of(hit["url"]) for hit in _answer(page, query)["hits"]]
            same.append(len({*found} & {*wanted}) / len(wanted))
    assert sum(same) / len(same) >= 0.85


_STAGES = ("support", "in_degree", "duplicate_hash", "calibrate", "per_document")


@pytest.mark.parametrize(
    "changed",
    [
        {"fusion": "rrf"},
        {"fusion": "rrf", "rrf_k": 5, "weights": {"keyword": 1.0, "semantic": 1.0, "document": 0.0}},
        {"stages": ("support", "community", *_STAGES[1:]), "community": {"seeds": 2, "factor": 1.6}},
        {
            "stages": (*_STAGES[:2], "recency", *_STAGES[2:]),
            "recency": {"days": [100_000], "factors": [4.0]},
            "recency_bias": 0.5,
        },
    ],
    ids=["rrf", "rrf of two", "community", "recency"],
)
def test_the_browser_ranks_as_the_settings_say(
    page: webdriver.Chrome, search_site: SearchSite, changed: dict[str, Any]
) -> None:
    search = parse({"search": {"encoder": "static", **changed}}, where="test").search
    settings = search_site.settings.model_copy(update={"search": search})
    ranking = json.loads(json.dumps(asdict(ranking_of(search))))
    page.execute_async_script(RANKING, ranking)
    same, first = [], []
    with noctule.artifacts.query.open(search_site.store, settings) as searcher:
        for query in (*QUERIES[: None if ALL else 15], "birds owls coffee"):
            paths = dict.fromkeys(hit.path for hit in searcher.search(query, 40).hits)
            wanted = [path.rsplit(".", 1)[0] for path in list(paths)[:10]]
            found = [_path_of(hit["url"]) for hit in _answer(page, query)["hits"]]
            same.append(len({*found} & {*wanted}) / len(wanted))
            first.append(found[0] in wanted[:3])
    assert sum(same) / len(same) >= 0.8
    assert sum(first) / len(first) >= 0.8


def test_synonyms_of_the_glossary_find_what_they_find_in_python(
    driver: webdriver.Chrome, copy: Path, search_site: SearchSite, tmp_path: Path
) -> None:
    glossary = tmp_path / "glossary.toml"
    glossary.write_text('"small raptor" = ["windhover"]\nelectricity = ["power cut"]\nundo = ["rollback"]\n')
    given = {"understand": ["identifiers", "spelling", "synonyms"], "synonyms": {"file": str(glossary)}}
    search = parse({"search": {"encoder": "static", **given}}, where="test").search
    settings = search_site.settings.model_copy(update={"search": search})
    queries = ("a small raptor", "electricity survives", "undo a bad night")
    before = [_titles(driver, query) for query in queries]
    with search_site.store.open() as snapshot:
        plan, few = plan_site(snapshot, Site()), PrebuiltParts(room=lambda: 30)
        for each in search_files(plan, snapshot, search, prebuilt=few):
            (copy / each.path).write_bytes(each.content)
    base = driver.current_url.removesuffix("try/index.html")
    # A browser takes a file that was written minutes ago for fresh for some seconds more.
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    _load(driver, base)
    same = []
    with noctule.artifacts.query.open(search_site.store, settings) as searcher:
        for query in queries:
            paths = dict.fromkeys(hit.path for hit in searcher.search(query, 40).hits)
            # Of Python's five best, how many are among ten: in ranks below, scores are near each other.
            wanted = [path.rsplit(".", 1)[0] for path in list(paths)[:5]]
            urls = [hit["url"] for hit in _answer(driver, query)["hits"]]
            found = [_path_of(url.replace(base, "/some/path/")) for url in urls]
            same.append(len({*found} & {*wanted}) / len(wanted))
    after = [_titles(driver, query) for query in queries]
    # Neighbours share files of excerpts here, and each hit still shows its own.
    sharing = "window.engine.then((engine) => arguments[0](engine.manifest.excerptSharing))"
    assert driver.execute_async_script(sharing) > 1
    assert before[0][0] != "Kestrel" == after[0][0]
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert sum(same) / len(same) >= 0.9, same


def test_an_index_that_keeps_an_earlier_ones_shards_answers_as_one_without(
    driver: webdriver.Chrome, copy: Path, search_site: SearchSite
) -> None:
    queries = ("kestrel", "rollback and prune", *QUERIES[:12])
    before = [_answer(driver, query) for query in queries]
    base = driver.current_url.removesuffix("try/index.html")
    # As if every tenth document had changed to what it is; then, as if one had gone and one were new.
    rows = np.arange(0, 60, 10)
    gone = Changes(np.array([3]), np.array([40]), np.array([-1]))
    for changes in (Changes(rows, rows, rows), gone):
        with search_site.store.open() as snapshot:
            plan, kept = plan_site(snapshot, Site(title="Guide")), Base(snapshot, changes)
            for each in search_files(plan, snapshot, search_site.settings.search, base=kept):
                (copy / each.path).write_bytes(each.content)
        _load(driver, base)
        if changes.stale is rows:
            for query, old in zip(queries, before, strict=True):
                found = _answer(driver, query)
                assert found["hits"][0]["url"] == old["hits"][0]["url"], query
                same = {hit["url"] for hit in found["hits"]} & {hit["url"] for hit in old["hits"]}
                assert len(same) >= 0.8 * len(old["hits"]), query
                scores = {hit["url"]: hit["score"] for hit in old["hits"]}
                for hit in found["hits"]:
                    assert hit["score"] == pytest.approx(scores.get(hit["url"], hit["score"]), abs=0.05)
    numbers = driver.execute_async_script(NUMBERS)
    assert numbers == [0, 1, 2, -1, *range(3, 40), *range(41, len(numbers))]


def test_a_word_that_is_being_typed_loads_its_shard_once_no_other_can_have_it(page: webdriver.Chrome) -> None:
    assert page.execute_async_script(WARMED, ["s", "se", "kestre", "kestrel", "kestrel s"]) == [0, 0, 1, 1, 1]


def test_hits_that_are_folders_are_addressed_as_such(page: webdriver.Chrome, address: str) -> None:
    def found() -> str:
        (url,) = [
            hit["url"]
            for hit in _answer(page, "the guide", limit=40)["hits"]
            if "guide/index" in hit["url"] or hit["url"].endswith("guide/")
        ]
        return url.removeprefix(address)

    assert found() == "guide/index.html"
    page.execute_script("document.documentElement.dataset.folders = ''")
    assert found() == "guide/"


def test_boosts_change_the_order(page: webdriver.Chrome) -> None:
    before = _titles(page, "coffee kestrel")
    assert before[0] == "Kestrel" or "Kestrel" in before[:2]
    recent = {"kind": "recency", "seeds": 0, "factor": 1.0, "tiers": [[100_000, 9.0]]}
    page.execute_async_script(RANKING, {"boosts": [recent]})
    best = _answer(page, "coffee kestrel")["hits"][0]
    assert (best["title"], best["why"]["boost"]) == ("Café culture", 9)  # the other has no date
    page.execute_async_script(RANKING, {"boosts": [recent | {"tiers": []}]})
    assert _titles(page, "coffee kestrel") == before


def _path_of(url: str) -> str:
    return unquote(url).split("/some/path/")[1].removesuffix(".html")


def test_the_engine_cuts_and_stems_as_the_index_did(page: webdriver.Chrome, search_site: SearchSite) -> None:
    with search_site.store.open() as snapshot:
        own = {*read_surfaces(snapshot).words, "gently", "skies", "c++", "node.js", "ſtraße", "ΟΔΟΣ", "हिन्दी"}
    words = sorted({*own, *(word + ending for word in own for ending in ENDINGS)})
    assert len(words) > 40_000
    wanted = [list(prose_analyzer("en").expand(word)) for word in words]
    texts = ["C++ and C# aren't node.js’s", "東京都の天気 and Größe", "naïve_café.txt ½ ﬁne", "l’été d'été"]
    page.execute_script(
        f"{analyzer_script()}\nwindow.test = {{expanded, stem: stemEnglish, tokens: tokensOf, folded, "
        "withoutStopWords, partsOfNames};"
    )
    stems = page.execute_script("return arguments[0].map((word) => test.expanded(word, test.stem))", words)
    assert [each for each in zip(words, wanted, stems, strict=True) if each[1] != each[2]] == []
    cut = page.execute_script("return arguments[0].map(test.tokens)", texts)
    assert cut == [prose_analyzer("en").tokens(each) for each in texts]
    letters = [chr(code) for code in range(0x20, 0x250)]
    assert page.execute_script("return arguments[0].map(test.folded)", letters) == [fold(c) for c in letters]
    ignored = (
        "const [stop, question] = [new Set(arguments[1]), new Set(arguments[2])];"
        "return arguments[0].map((text) => test.withoutStopWords(text, stop, question))"
    )
    asked, left = zip(*STOP_WORD_QUERIES, strict=True)
    listed = (sorted(stop_words("en")), sorted(question_words("en")))
    assert page.execute_script(ignored, asked, *listed) == [*left]
    parts = (
        "return test.partsOfNames('SquareTiles in XMLHttpRequest, plain', ['squaretiles', 'xmlhttprequest'])"
    )
    assert page.execute_script(parts) == ["Square", "Tiles", "XML", "Http", "Request"]


def test_words_of_other_languages_find_their_pages(page: webdriver.Chrome) -> None:
    assert _titles(page, "Haus")[0] == "Eulen"
    assert _titles(page, "grosse")[0] == "Eulen"
    assert _titles(page, "天気")[0] == "東京"
    assert _titles(page, "naive resume")[0] == "Café culture"
    assert _titles(page, "append_event")[0] == "Café culture"


def test_a_mistyped_word_is_read_as_the_nearest(page: webdriver.Chrome) -> None:
    answer = _answer(page, "snapshto")
    assert answer["spelling"] == [{"from": "snapshto", "to": "snapshot", "offered": False}]
    assert answer["hits"]


def test_a_correction_is_only_offered_where_another_word_is_held(page: webdriver.Chrome) -> None:
    answer = _answer(page, "snapshto owls")
    assert answer["spelling"] == [{"from": "snapshto", "to": "snapshot", "offered": True}]
    # The word as it is typed still has a meaning to the model, which may order what comes after.
    assert answer["hits"][0]["url"] == _answer(page, "owls")["hits"][0]["url"]
    assert {term for hit in answer["hits"] for term in hit["why"]["terms"]} == {"owls"}


def test_words_that_nobody_holds_take_their_share_of_the_keywords(page: webdriver.Chrome) -> None:
    alone, beside = (_answer(page, text)["hits"][0]["why"] for text in ("owls", "owls xqzv"))
    assert 0 < beside["keyword"] < 0.7 * alone["keyword"]


def test_a_word_that_is_being_typed_is_completed(page: webdriver.Chrome) -> None:
    assert "Kestrel" in _titles(page, "kestr")
    assert "Kestrel" in _titles(page, "kes* meadow")
    words = page.execute_async_script("window.engine.then((e) => e.suggest('snapsh')).then(arguments[0])")
    assert words[0] == "snapshot"


EARLY = """const [query, done] = arguments;
noctule.open({base: "../_search/"}).then(async (engine) => {
  const early = [];
  const options = { limit: 2, facets: false, early: (hits) => early.push(...hits.map(({title}) => title)) };
  const answer = await engine.search(query, options);
  const loaded = [...engine.store.read.keys()].map((key) => key.split(" ")[0]);
  const first = answer.hits.map(({title}) => title);
  const more = (await engine.more(answer, 100)).map(({title}) => title);
  const facets = await engine.facets(answer);
  done({ early, first, more, loaded, tags: facets.tag, facets: answer.facets });
});"""


def test_more_hits_and_counts_of_filters_are_loaded_when_they_are_asked_for(page: webdriver.Chrome) -> None:
    found = page.execute_async_script(EARLY, "snapshot")
    assert found["loaded"].count("excerpts") <= 6  # two hits, and four that came first
    assert "facets" not in found["loaded"] and found["facets"] == {} and found["tags"]
    whole = _answer(page, "snapshot", limit=100)["hits"]
    assert found["first"] + found["more"] == [hit["title"] for hit in whole]
    assert len(found["early"]) in (0, 4)


AHEAD = """const [typed, query, done] = arguments;
noctule.open({base: "../_search/"}).then(async (engine) => {
  let read = 0;
  const understood = engine.reader.understood.bind(engine.reader);
  engine.reader.understood = (...given) => (read++, understood(...given));
  engine.warm(typed);
  const begun = await engine.typing.begun;
  const loaded = [...engine.store.read.keys()].map((key) => key.split(" ")[0]);
  const before = read;
  const { hits } = await engine.search(query, { limit: 4, early: () => undefined });
  done({ isBegun: !!begun, loaded, again: read - before, titles: hits.map(({title}) => title) });
});"""


def test_what_is_typed_is_ranked_by_first_tiers_before_it_is_asked_for(page: webdriver.Chrome) -> None:
    found = page.execute_async_script(AHEAD, "the kestr", "the kestr")
    assert found["isBegun"] and found["again"] == 0
    assert {*found["loaded"]} <= {"term_shards", "recent_shards", "synonyms"}
    assert found["titles"] == _titles(page, "the kestr")[:4]
    other = page.execute_async_script(AHEAD, "the kestr", "the kestrel")
    assert other["again"] == 1 and other["titles"] == _titles(page, "the kestrel")[:4]


def test_nothing_is_loaded_for_parts_of_a_name_that_is_being_typed(page: webdriver.Chrome) -> None:
    found = page.execute_async_script(AHEAD, "kestrelVol", "kestrel")
    assert not found["isBegun"]


def test_a_beginning_is_answered_from_first_tiers_before_the_rest(page: webdriver.Chrome) -> None:
    assert "Kestrel" in page.execute_async_script(EARLY, "kestr")["early"]


def test_excerpts_have_no_marks_of_lists_and_tables(page: webdriver.Chrome) -> None:
    hits = _answer(page, "kestrel owls snapshot table list", limit=40)["hits"]
    lines = [line for hit in hits for each in hit["sections"] for line in each["excerpt"].split("\n")]
    assert any(" · " in line for line in lines)
    assert not [line for line in lines if line.startswith("- ")]


def test_phrases_exclusions_and_repeats(page: webdriver.Chrome) -> None:
    assert _titles(page, '"hovers over the meadow"') == ["Kestrel"]
    assert _titles(page, "kestrel vole")[0] == "Kestrel"
    assert "Kestrel" not in _titles(page, "kestrel vole -kestrel")
    assert _titles(page, '"over hovers"') != []  # a phrase that stands nowhere demands nothing


def test_a_phrase_is_found_beyond_the_first_pages_that_were_looked_into(page: webdriver.Chrome) -> None:
    looked = page.execute_async_script(PHRASED, "never said like this", 10)
    assert looked == [12, 12, 12, 12]  # none holds it: so many, and no more
    assert page.execute_async_script(PHRASED, "the", 1) == [12]


def test_filters_leave_what_they_name_and_facets_count_it(page: webdriver.Chrome) -> None:
    whole = _answer(page, "birds owls coffee kestrel")
    tags = {each["value"]: each["count"] for each in whole["facets"]["tag"]}
    assert set(whole["facets"]) == {"tag", "community", "language", "section", "collection", "date"}
    assert _titles(page, "kestrel coffee eulen", filters={"tag": ["food"]}) == ["Café culture"]
    assert {*_titles(page, "kestrel coffee eulen", filters={"tag": ["birds"]})} <= {"Café culture", "Eulen"}
    assert _titles(page, "kestrel coffee eulen", filters={"tag": ["nosuch"]}) == []
    assert _titles(page, "eulen", filters={"language": ["de"], "section": ["notes"]}) == ["Eulen"]
    assert all(count > 0 for count in tags.values())
    years = [(each["value"], each["count"]) for each in _answer(page, "coffee eulen")["facets"]["date"]]
    assert years[:2] == [(2024, 1), (2021, 1)]
    assert _titles(page, "coffee eulen", filters={"date": [2024]}) == ["Eulen"]
    assert _titles(page, "coffee eulen", filters={"date": [1871]}) == []


def test_a_filter_without_words_lists_its_pages_in_reading_order(
    page: webdriver.Chrome, search_site: SearchSite, address: str
) -> None:
    with search_site.store.open() as snapshot:
        order = [address + path for path in plan_site(snapshot, Site()).tree.order]
    whole = page.execute_async_script(BROWSED, {})
    assert whole["total"] == len(order) and [*whole["first"], *whole["more"]] == _but(order, "kestrel.html")
    some = page.execute_async_script(BROWSED, {"tag": ["birds"]})
    found = [*some["first"], *some["more"]]
    assert [_path_of(url) for url in found] == ["notes/cafe", "notes/eulen"]
    assert {each["value"]: each["count"] for each in some["own"]["tag"]} == {"birds": 2, "food": 1}
    assert whole["all"] == some["all"] and len(whole["all"]) > 2


def _but(order: list[str], repeated: str) -> list[str]:
    """A page that says what an earlier one does is not shown again."""
    return [url for url in order if not url.endswith(repeated)]


def test_nothing_found_is_an_answer(page: webdriver.Chrome) -> None:
    for query in ("", "   ", "zzzzqqqqxxxx", "-", '"', "\0", "🎉", "a" * 5_000, "<script>alert(1)</script>"):
        assert isinstance(_answer(page, query)["hits"], list), query


def test_bytes_and_requests_are_counted_as_they_are(page: webdriver.Chrome, search_site: SearchSite) -> None:
    took = _answer(page, "crash safety")["took"]
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    files = [Path(unquote(url)).name for url in asked if f"/{FOLDER}/" in url]
    size = sum((search_site.site / FOLDER / name).stat().st_size for name in files if name != "manifest.js")
    assert took["requests"] == len(files) - 1 == len(asked) - 1  # the manifest came with the opening
    assert abs(took["bytes"] - size) <= 64 * len(files)
    again = _answer(page, "crash safety")["took"]
    assert again["requests"] == again["bytes"] == 0


def test_the_same_question_may_be_given_up(page: webdriver.Chrome) -> None:
    code = """const done = arguments[0], given = new AbortController();
      noctule.open({base: "../_search/"}).then((engine) => {
        const search = engine.search("install", {signal: given.signal}); given.abort(); return search;
      }).then(() => done("answered"), (error) => done(error.name));"""
    assert page.execute_async_script(code) == "AbortError"


@pytest.fixture
def copy(search_site: SearchSite, driver: webdriver.Chrome, tmp_path: Path) -> Iterator[Path]:
    """A copy of the site to damage, its bare page loaded over HTTP."""
    for name in (FOLDER, "try"):
        # Files of now: a browser keeps what has been as it is for long, and does not ask for it again.
        shutil.copytree(search_site.site / name, tmp_path / name, copy_function=shutil.copyfile)
    with served(tmp_path) as server:
        _load(driver, server)
        yield tmp_path


def _shard_of(driver: webdriver.Chrome, copy: Path, term: str) -> Path:
    code = """const [term, done] = arguments; (window.engine = noctule.open({base: "../_search/"}))
      .then(({manifest}) => {
        const first = manifest.segments[0].firstTerms;
        const number = first.filter((each) => each <= term).length - 1;
        done(manifest.names.term_shards[Math.max(0, number)]);
      });"""
    return copy / FOLDER / f"{driver.execute_async_script(code, term)}.js"


def _fails_with(driver: webdriver.Chrome, code: str) -> None:
    found = _asked(driver, "kestrel")
    assert found.get("code") == code and len(found["message"]) > 20
    assert driver.find_element("tag name", "p").text == "Readable."


def test_a_missing_shard_is_said_and_found_again_once_it_is_there(
    driver: webdriver.Chrome, copy: Path
) -> None:
    shard = _shard_of(driver, copy, "kestrel")
    content = shard.read_bytes()
    shard.unlink()
    found = driver.execute_async_script(SEARCH.replace("window.engine = null; ", ""), "kestrel", {})
    assert found["code"] == "missing"
    shard.write_bytes(content)
    assert _titles(driver, "kestrel")[0] == "Kestrel"


@pytest.mark.parametrize("keep", [0, 1, 200, -3])
def test_a_truncated_shard_is_damaged(driver: webdriver.Chrome, copy: Path, keep: int) -> None:
    shard = _shard_of(driver, copy, "kestrel")
    shard.write_bytes(shard.read_bytes()[:keep])
    _fails_with(driver, "damaged")


def test_a_changed_byte_is_damaged(driver: webdriver.Chrome, copy: Path) -> None:
    shard = _shard_of(driver, copy, "kestrel")
    content = bytearray(shard.read_bytes())
    content[len(content) // 2 * 2 // 2 | 1] ^= 0x10
    shard.write_bytes(bytes(content))
    _fails_with(driver, "damaged")


def test_a_file_from_elsewhere_is_of_another_build(driver: webdriver.Chrome, copy: Path) -> None:
    shard = _shard_of(driver, copy, "kestrel")
    shard.write_bytes(script("00000000", compressed([b"[]"])))
    _fails_with(driver, "other-build")


def test_a_site_that_was_rebuilt_meanwhile_says_so(driver: webdriver.Chrome, copy: Path) -> None:
    shard = _shard_of(driver, copy, "kestrel")
    shard.unlink()
    newer = {"format": 5, "build": "another"}
    (copy / FOLDER / "manifest.js").write_bytes(script("manifest", compressed([json.dumps(newer).encode()])))
    _fails_with(driver, "other-build")


def test_without_a_manifest_there_is_an_error_and_a_page(driver: webdriver.Chrome, copy: Path) -> None:
    (copy / FOLDER / "manifest.js").unlink()
    _fails_with(driver, "missing")
    (copy / FOLDER / "manifest.js").write_bytes(script("manifest", compressed([b'{"format": 99}'])))
    _fails_with(driver, "other-build")


def test_a_rare_word_brings_pages_near_in_meaning_as_it_does_in_python(
    page: webdriver.Chrome, search_site: SearchSite
) -> None:
    with search_site.store.open() as snapshot:
        terms = snapshot.table("terms", ["term", "passages"]).to_pylist()
    rare = ["eulen", *sorted(each["term"] for each in terms if each["passages"] == 1)[::40]]
    more = 0
    with noctule.artifacts.query.open(search_site.store, search_site.settings) as searcher:
        for word in rare:
            # Below this one list alone has them, and by rounded vectors the browser may leave them out.
            wanted = {hit.doc_id for hit in searcher.search(word, 40).hits if hit.score > 0.08}
            more += len(wanted) > 1
            assert min(len(wanted), 3) <= len(_answer(page, word)["hits"]), word
    assert more > 3


def test_a_word_that_nothing_holds_is_cut_into_tokens_as_in_python(
    page: webdriver.Chrome, search_site: SearchSite
) -> None:
    words = ["laptop", "laptops", "dockerfile", "naïveté", "node.js_folder", "ᚠᛇᚻ", "検索", "", "🎉", "zzxq"]
    with search_site.store.open() as snapshot:
        known = TokenVectorRows(snapshot)
        usual = [token for token in known.terms.to_pylist() if token.isascii() and token.isalpha()]
        words += [one + other for one, other in zip(usual[::900], usual[400::900], strict=False)]
        wanted = [word_pieces(word, known, known.longest) for word in words]
    assert len(words) > 30
    assert page.execute_async_script(TOKENS, words) == wanted


def test_no_search_for_known_words_loads_tokens(page: webdriver.Chrome) -> None:
    known = [query for query in QUERIES if query != "how do I undo a bad night"]
    assert not {"token_directories", "token_shards"} & {*page.execute_async_script(READ, known)}
    loaded = page.execute_async_script(READ, ["trombone"])
    assert (loaded.count("token_directories"), loaded.count("token_shards")) == (1, 1)


def test_a_word_that_the_model_knows_is_never_spelt_into_another(
    page: webdriver.Chrome, search_site: SearchSite
) -> None:
    with search_site.store.open() as snapshot:
        corpus, tokens = CorpusReader(snapshot), TokenVectorRows(snapshot)
        beginnings = {term[:6] for term in corpus.prose.terms.to_pylist()}
        near = [
            token
            for token in tokens.terms.to_pylist()[::7]
            if token.isascii() and token.isalpha() and 6 <= len(token) <= 9 and token[:6] not in beginnings
            if not corpus.prose.count(_stem(token)) and corpus.written.words.near(token, 1, limit=None)
        ]
    assert len(near) > 10
    for word in near[:12]:
        answer = _answer(page, word)
        assert answer["spelling"] == [] and answer["hits"], word
    assert _answer(page, "snapshhot ")["spelling"] == [
        {"from": "snapshhot", "to": "snapshot", "offered": False}
    ]


@pytest.mark.parametrize("query", ["trombone", "veterinary giraffe", "smartphone snapshot", "gallbladder"])
def test_a_word_that_nothing_holds_finds_what_it_means_to_the_model(
    page: webdriver.Chrome, search_site: SearchSite, query: str
) -> None:
    with noctule.artifacts.query.open(search_site.store, search_site.settings) as searcher:
        wanted = list(dict.fromkeys(hit.path for hit in searcher.search(query, 40).hits))[:10]
    found = [_path_of(hit["url"]) for hit in _answer(page, query)["hits"]]
    assert wanted and {path.rsplit(".", 1)[0] for path in wanted[:5]} & {*found[:5]}, (wanted, found)


@pytest.mark.parametrize("query", ["🎉", "=>", "ᚠᛇᚻ ꦧꦱ", "检索", "q", "the", "zzxq " * 200, "word" * 200])
def test_every_query_that_can_be_printed_finds_something(page: webdriver.Chrome, query: str) -> None:
    answer = _answer(page, query)
    assert answer["hits"] and answer["took"]["requests"] < 80


def _stem(word: str) -> str:
    return next(iter(prose_analyzer("en").expand(word)), "") if word else ""


def test_only_a_word_without_a_vector_is_made_of_tokens(page: webdriver.Chrome) -> None:
    for query, wanted in (
        ("windhover windhovers", 0),  # the second is the first again
        ('"windhover" windhov*', 0),
        ("trombone windhover", 1),
        ("trombones trombone", 3),
    ):
        assert page.execute_async_script(UNSEEN, query) == wanted, query


def test_pages_that_are_found_by_meaning_alone_are_counted_by_facets(page: webdriver.Chrome) -> None:
    found = _answer(page, "snapshotfolder")
    assert found["hits"] and found["total"] >= len(found["hits"])
    assert sum(each["count"] for each in found["facets"]["section"]) >= len(found["hits"])
