"""The words from A to Z: each with its best pages, in order, on pages of bounded length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from bs4 import BeautifulSoup

from noctule.artifacts.tables import schemas as tables
from noctule.docsite.build import build_site
from noctule.docsite.library import Library
from noctule.docsite.outline.word_pages import OTHER, PAGES_PER_WORD, WORDS_PER_PAGE, letters, read_words
from noctule.pipeline.settings.site import Site
from tests.site_builder import TablesInMemory, snapshot_of


def _snapshot(
    texts: Mapping[str, str], postings: Mapping[str, Sequence[tuple[str, float]]]
) -> TablesInMemory:
    """A snapshot whose words have these pages with these scores, one passage a page; terms are words in
    capitals.
    """
    plain = snapshot_of({"notes": texts})
    names = sorted(plain.tables["documents"].column("doc_id").to_pylist())
    row = {name.removeprefix("notes:").removesuffix(".md"): number for number, name in enumerate(names)}
    schemas = tables.schemas(4)
    passages = schemas["passages"].empty_table().to_pylist() + [{"doc_id": name} for name in names]
    words = [
        {"term": word, "index_term": word.upper(), "passages": len(pages)} for word, pages in postings.items()
    ]
    lists = [
        {
            "term": word.upper(),
            "passage": [row[page] for page, _ in pages],
            "score": [score for _, score in pages],
        }
        for word, pages in postings.items()
    ]
    made = {
        "passages": pa.Table.from_pylist(passages, schemas["passages"]),
        "vocabulary": pa.Table.from_pylist(words, schemas["vocabulary"]),
        "postings": pa.Table.from_pylist(lists, schemas["postings"]),
    }
    return TablesInMemory(plain.id, {**plain.tables, **made})


NOTES = {f"{name}.md": f"# {name.capitalize()}\n" for name in "abcdefgh"}


def test_a_word_has_its_best_pages_best_first() -> None:
    snapshot = _snapshot(NOTES, {"owl": [("a", 0.5), ("b", 2.0), ("c", 2.0), *((n, 0.1) for n in "defgh")]})
    (word,) = read_words(snapshot, Library(snapshot))
    assert (word.text, word.passages) == ("owl", 8)
    assert [entry.title for entry in word.entries] == ["B", "C", "A", "D", "E"] and len(
        word.entries
    ) == PAGES_PER_WORD


def test_words_stand_under_their_letter_without_accents_and_case() -> None:
    words = ["\u00e9cole", "Eule", "earl", "9p", "_x", "\u65e5\u672c", "zoo"]
    snapshot = _snapshot(NOTES, {word: [("a", 1.0)] for word in words})
    pages = list(letters(read_words(snapshot, Library(snapshot))))
    assert [(page.label, [w.text for w in page.words]) for page in pages] == [
        (OTHER, ["9p", "_x"]), ("E", ["earl", "\u00e9cole", "Eule"]), ("Z", ["zoo"]),
        ("\u65e5", ["\u65e5\u672c"]),
    ]  # fmt: skip
    assert len({page.page for page in pages}) == 4


def test_a_letter_with_many_words_has_several_pages() -> None:
    many = {f"w{number:04}": [("a", 1.0)] for number in range(WORDS_PER_PAGE * 2 + 1)}
    snapshot = _snapshot(NOTES, many)
    pages = list(letters(read_words(snapshot, Library(snapshot))))
    assert sum(len(page.words) for page in pages) == len(many)
    assert len(pages) > 1 and max(len(page.words) for page in pages) <= 2 * WORDS_PER_PAGE
    assert pages[0].label == f"w0000 – {pages[0].words[-1].text}"


def test_the_pages_of_words_lead_to_pages(tmp_path: Path) -> None:
    snapshot = _snapshot(NOTES, {"owl": [("a", 1.0)], "bat <b>": [("b", 1.0), ("c", 0.5)]})
    build_site(snapshot, tmp_path / "site", Site())
    page = BeautifulSoup((tmp_path / "site/_search/words-B.html").read_bytes(), "html.parser")
    assert [dt.contents[0].strip() for dt in page.select(".words dt")] == ["bat <b>"]
    assert [a["href"] for a in page.select(".words dd a")] == ["../b.html", "../c.html"]
    index = BeautifulSoup((tmp_path / "site/_search/index.html").read_bytes(), "html.parser")
    assert [a["href"] for a in index.select(".letters a")] == ["words-B.html", "words-O.html"]


def test_a_snapshot_without_words_says_so(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", Site())
    assert "There is no list of words" in (tmp_path / "site/_search/index.html").read_text()


def test_one_more_word_changes_one_page_of_its_letter() -> None:
    many = {f"w{number:04}": [("a", 1.0)] for number in range(0, 2_000, 2)}
    parts = []
    for words in (many, many | {"w0777": [("a", 1.0)]}):
        snapshot = _snapshot(NOTES, words)
        pages = letters(read_words(snapshot, Library(snapshot)))
        parts.append([tuple(word.text for word in page.words) for page in pages])
    before, after = parts
    assert len(before) > 4
    assert len([part for part in after if part not in before]) == 1
