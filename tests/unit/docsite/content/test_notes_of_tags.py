"""Tags and people of Dendron lead to the notes about them, where there are such notes."""

from __future__ import annotations

import pytest

from tests.site_builder import page_of

TEXTS = {
    "page.md": "---\ntags: [area.work]\n---\n# Page\n\n#area.cooking with @ada, @bob and @acme/pkg. #none\n",
    "tags.area.cooking.md": "---\ntitle: Cooking\n---\nAll. #area.cooking\n",
    "tags.area.work.md": "---\ntitle: Work\n---\nMore.\n",
    "user.ada.md": "---\ntitle: Ada\n---\nAda.\n",
}


def test_tags_and_people_in_the_text_lead_to_their_notes() -> None:
    page = page_of(TEXTS, "page.html")
    links = [(a.text, a["href"]) for a in page.select("article p a")]
    assert links == [
        ("#area.cooking", "tags.area.cooking.html"),
        ("@ada", "user.ada.html"),
        ("#none", "_tags/none.html"),
    ]
    assert "with @ada, @bob and @acme/pkg." in page.select("article p")[-1].text


def test_the_tags_of_a_page_lead_to_their_notes() -> None:
    shown = {a["href"] for a in page_of(TEXTS, "page.html").select("a.tag")}
    assert shown == {"tags.area.work.html", "tags.area.cooking.html", "_tags/none.html"}


@pytest.mark.parametrize("note", ["tags.area.cooking", "tags.area.work", "user.ada"])
def test_a_note_names_the_pages_that_use_the_tag(note: str) -> None:
    backlinks = page_of(TEXTS, f"{note}.html").select("section[aria-labelledby=LinkedFrom] a")
    assert [a["href"] for a in backlinks] == ["page.html"]
