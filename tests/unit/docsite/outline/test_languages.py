"""Pages know their language and their counterparts, by the folders that the settings declare."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pydantic import ValidationError

from noctule.docsite.build import build_site
from noctule.docsite.interface_words import TRANSLATIONS, is_translated, load_words
from noctule.docsite.outline.languages import Languages, language_name
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.search.facets import facets
from noctule.docsite.search.format import FACETS
from noctule.pipeline.settings.site import Site
from tests.site_builder import page_of, snapshot_of

TREE = {
    "index.md": "# Home\n\nx\n",
    "guide.md": "# Guide\n\nx\n",
    "de/index.md": "# Start\n\nx\n",
    "de/guide.md": "# Anleitung\n\nx\n",
    "fr/index.md": "# Accueil\n\nx\n",
}
SETTINGS = Site(languages={"en": "", "de": "de", "fr": "/fr/"}, base_url="https://owl.example.org")


def _menu(page: BeautifulSoup) -> list[tuple[str, str]]:
    return [(str(link["hreflang"]), str(link["href"])) for link in page.select(".site-header a[hreflang]")]


def test_the_menu_leads_to_the_same_page_or_to_the_first_one() -> None:
    page = page_of(TREE, "de/guide.html", SETTINGS)
    assert _menu(page) == [("en", "../guide.html"), ("de", "guide.html"), ("fr", "../fr/index.html")]
    assert page.html is not None and page.html["lang"] == "de"
    assert [link.text for link in page.select(".site-header [aria-current=true]")] == ["Deutsch"]


def test_the_search_knows_a_pages_language_by_its_folder() -> None:
    snapshot = snapshot_of({"notes": TREE})
    plan = plan_site(snapshot, SETTINGS)
    values = dict(zip(FACETS.columns, facets(plan), strict=True))
    languages = json.loads(values["names"])["language"]
    found = {
        entry.page: languages[at] for entry, at in zip(plan.library.entries, values["language"], strict=True)
    }
    assert found == {
        "index.html": "en", "guide.html": "en", "de/index.html": "de", "de/guide.html": "de",
        "fr/index.html": "fr",
    }  # fmt: skip
    (search,) = page_of(TREE, "de/guide.html", SETTINGS).select("[data-search]")
    assert search["data-language"] == "de"
    assert not page_of(TREE, "de/guide.html", Site()).select("[data-language]")


def test_the_next_page_is_in_the_same_language() -> None:
    page = page_of(TREE, "de/guide.html", SETTINGS)
    assert [link["href"] for link in page.select(".previous-next a")] == ["index.html"]


def test_a_page_has_the_interface_of_its_language(tmp_path: Path) -> None:
    texts = {name: text + "\n[x](index.md)\n" for name, text in TREE.items()}
    build_site(snapshot_of({"notes": texts}), tmp_path / "site", SETTINGS)
    pages = {
        name: BeautifulSoup((tmp_path / "site" / name).read_text(), "html.parser")
        for name in ("guide.html", "de/guide.html", "_pages/index.html")
    }
    headers = {name: page.select_one(".site-header") for name, page in pages.items()}
    assert [header["lang"] for header in headers.values() if header] == ["en", "de", "en"]
    skips = [page.select(".skip-link")[0].text for page in pages.values()]
    assert skips == ["Skip to content", "Zum Inhalt springen", "Skip to content"]
    scripts = [str(each["src"]) for each in pages["de/guide.html"].select("script[defer]")]
    assert scripts[:2] == ["../_assets/words-de.js", "../_assets/page.js"]
    written = (tmp_path / "site/_assets/words-de.js").read_text()
    assert '"copy":"Kopieren"' in written and '"placeholder":"Suchen"' in written
    assert not pages["guide.html"].select("script[src*=words]")


@pytest.mark.parametrize("path", sorted(TRANSLATIONS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_language_has_all_words_with_their_places(path: Path) -> None:
    english, own = load_words(), tomllib.loads(path.read_text("utf-8"))
    assert {name: list(table) for name, table in own.items()} == {
        name: list(table) for name, table in english.parts.items()
    }
    for name, table in english.parts.items():
        places = {key: set(re.findall(r"\{(\w+)\}", text)) for key, text in table.items()}
        assert {key: set(re.findall(r"\{(\w+)\}", text)) for key, text in own[name].items()} == places
    assert load_words(language=path.stem).parts == own


def test_words_are_those_of_the_nearest_language() -> None:
    def skip(language: str) -> str:
        return load_words(language=language).say("skip")

    assert skip("pt-BR") == skip("pt") == "Ir para o conteúdo"
    assert skip("zh-Hans") == skip("zh-CN") == "跳到正文"
    assert skip("zh-Hant") == skip("nl") == skip("../de") == "Skip to content"
    assert is_translated("en-GB") and not is_translated("zh-TW")


def test_search_engines_are_told_of_exact_counterparts_only() -> None:
    page = page_of(TREE, "de/guide.html", SETTINGS)
    found = {str(link["hreflang"]): link["href"] for link in page.select("link[hreflang]")}
    assert found == {
        "en": "https://owl.example.org/guide.html",
        "de": "https://owl.example.org/de/guide.html",
    }
    without = page_of(TREE, "de/guide.html", SETTINGS.model_copy(update={"base_url": ""}))
    assert without.select("link[hreflang]") == []


def test_a_site_of_one_language_has_no_menu() -> None:
    assert _menu(page_of(TREE, "de/guide.html", Site())) == []
    assert Languages(Site(languages={"en": ""}), {"a.html"}).translations("a.html") == ()


def test_a_new_translation_reaches_pages_that_did_not_change(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": TREE}), tmp_path / "site", SETTINGS)
    build_site(snapshot_of({"notes": TREE | {"fr/guide.md": "# Guide\n\nx\n"}}), tmp_path / "site", SETTINGS)
    page = BeautifulSoup((tmp_path / "site" / "guide.html").read_bytes(), "html.parser")
    assert ("fr", "fr/guide.html") in _menu(page)


def test_languages_are_named_as_their_speakers_do() -> None:
    assert [language_name(code) for code in ("de", "pt-BR", "de-CH", "tlh")] == [
        "Deutsch",
        "português (Brasil)",
        "Deutsch",
        "tlh",
    ]


@pytest.mark.parametrize("languages", [{"german!": "de"}, {"en": "a", "de": "a/"}, {"": "x"}])
def test_what_is_no_language_is_refused(languages: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Site(languages=languages)
