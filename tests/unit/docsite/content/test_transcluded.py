"""A transclusion shows the section, the block or the range that it names, and links go to named blocks."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from tests.site_builder import content_of, page_of

NOTE = """# Note

Intro.

## First

One. ^first-block

- apple ^an-apple
- pear

## Second

Two.

### Inner

Three.

| a | b |
| - | - |
| c | d |
^the-table

## Third

Four.
"""


def shown(reference: str) -> str:
    page = page_of({"note.md": NOTE, "page.md": f"# Page\n\n![[note#{reference}]]\n"}, "page.html")
    found = page.select_one(".transclusion")
    assert found is not None
    source = found.select_one(".transclusion-source")
    assert source is not None
    source.decompose()
    return " ".join(found.get_text(" ").split())


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("Second", "Second Two. Inner Three. a b c d"),
        ("^first-block", "One."),
        ("^an-apple", "apple"),
        ("^the-table", "a b c d"),
        ("first,1", "One. apple pear"),
        ("first:#second", "First One. apple pear"),
        ("second:#*", "Second Two."),
        ("first,1:#^first-block", "One."),
        ("^begin", "Note Intro."),
        ("inner,1:#^end", "Three. a b c d Third Four."),
    ],
)
def test_the_part_that_is_named_is_shown(reference: str, text: str) -> None:
    assert shown(reference) == text


def test_a_named_block_is_the_target_of_links_and_no_text() -> None:
    texts = {"note.md": NOTE, "page.md": "# Page\n\n[[note#^first-block]] and [there](note.md#^an-apple)\n"}
    links = [a["href"] for a in page_of(texts, "page.html").select("main p a[href*=note]")]
    assert links == ["note.html#%5Efirst-block", "note.html#%5Ean-apple"]
    note = page_of(texts, "note.html")
    assert "^first" not in note.get_text()
    assert note.find(id="^first-block") is not None


def test_an_anchor_in_raw_html_is_the_target_of_links() -> None:
    texts = {"a.md": '# A\n\n<a id="old-name"></a>\nText.\n', "b.md": "# B\n\n[x](a.md#old-name)\n"}
    assert [a["href"] for a in page_of(texts, "b.html").select("main p a[href*=old]")] == ["a.html#old-name"]


def test_a_link_of_dendron_shows_its_label() -> None:
    html = content_of(
        "## Part\n\n[[Make a vault|dendron://a.vault/topic.vaults#new]] [[here|#part]] "
        "[[Vaults|topic.vaults]] "
        "[[dendron://a.vault/topic.vaults]] [[topic.vaults|As you like]] [[gone|#gone]]\n",
        **{"topic.vaults": "# Vaults\n\n## New\n\nx\n"},
    )
    links = BeautifulSoup(html, "html.parser").select("p a.wikilink")
    assert [(link.text, link["href"]) for link in links] == [
        ("Make a vault", "topic.vaults.html#new"),
        ("here", "#part"),
        ("Vaults", "topic.vaults.html"),
        ("topic.vaults", "topic.vaults.html"),
        ("As you like", "topic.vaults.html"),
    ]
    assert 'class="missing-link"' in html


def test_a_note_whose_name_ends_like_a_file_is_called_by_its_name() -> None:
    page = content_of("![[dendron://a.vault/on.markdown]]\n", **{"on.markdown": "# On\n\nx\n"})
    source = BeautifulSoup(page, "html.parser").select_one(".transclusion-source")
    assert source is not None and source.text == "From on.markdown"


def article_of(text: str) -> BeautifulSoup:
    page = page_of({"note.md": NOTE, "page.md": text}, "page.html")
    article = page.select_one("article")
    assert article is not None
    return BeautifulSoup(str(article), "html.parser")


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("Before:\n![[note#^first-block]]\nAfter.", ["Before:", "From note", "One.", "After."]),
        ("See ![[note#^first-block]] now.", ["See", "From note", "One.", "now."]),
        ("- item ![[note#^first-block]]", ["From note", "One."]),
        ("> quoted\n> ![[note#^first-block]]", ["quoted", "From note", "One."]),
    ],
)
def test_a_note_is_shown_within_text_too(text: str, paragraphs: list[str]) -> None:
    article = article_of(f"# Page\n\n{text}\n")
    assert [" ".join(found.text.split()) for found in article.find_all("p")] == paragraphs
    assert article.select_one("p .transclusion") is None


def test_a_part_of_the_same_note_is_shown() -> None:
    article = article_of("# Page\n\n- apple ^ap\n- pear\n\nAgain:\n\n![[#^ap]]\n")
    assert [found.text.strip() for found in article.select(".transclusion")] == ["apple"]


@pytest.mark.parametrize("reference", ["#Part", "#Missing", "page", "#^none"])
def test_what_holds_itself_is_shown_once_more_at_most(reference: str) -> None:
    article = article_of(f"# Page\n\n## Part\n\nHeron.\n\n![[{reference}]] ^own-block\n")
    assert article.text.count("Heron.") == (2 if reference == "#Part" else 1)
    assert len(article.select(".transclusion .transclusion")) == 0


def test_images_in_text_stay_there() -> None:
    article = article_of("# Page\n\nA ![[a.png]] b.\n")
    assert len(article.find_all("p")) == 1
