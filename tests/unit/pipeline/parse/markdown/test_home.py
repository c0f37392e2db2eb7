"""Home pages of VitePress and Starlight: their words, links and images are those of any page."""

from __future__ import annotations

import pytest

from noctule.pipeline.parse.markdown.home import with_home
from tests.site_builder import page_of

HOME = """---
layout: home
hero:
  name: Owl
  text: Finds what you wrote
  tagline: At night, while you sleep.
  image: { src: /img/day.png, alt: An owl }
  actions:
    - { theme: brand, text: Get started, link: /guide/start }
    - { theme: alt, text: Source, link: "https://git.example.org/owl" }
features:
  - { icon: 🦉, title: Quiet, details: "Runs with `cron`." }
  - { icon: "<svg onload=alert(1)></svg>", title: Fast, details: Very., link: /guide/start, linkText: Go }
---

More below.
"""
OTHERS = {"guide/start.md": "# Start\n\nBegin.\n"}


def test_hero_and_features_stand_above_the_text() -> None:
    page = page_of({"index.md": HOME, **OTHERS}, "index.html")
    hero = page.select_one(".prose > .hero")
    assert hero is not None and hero.h1 is not None and hero.h1.text.startswith("Owl")
    assert [part.text.strip() for part in hero.select(".hero-text, .hero-tagline")] == [
        "Finds what you wrote",
        "At night, while you sleep.",
    ]
    primary = hero.select_one(".hero-actions strong a")
    assert primary is not None and primary["href"] == "guide/start.html"
    cards = page.select(".grid.cards > ul > li")
    assert [card.h2.contents[0].strip() for card in cards if card.h2] == ["Quiet", "Fast"]
    assert "🦉" in cards[0].text and cards[0].code is not None
    assert cards[1].select_one("a[href='guide/start.html']") and "svg" not in str(cards[1])
    assert "More below." in page.text


def test_a_page_without_a_hero_is_as_it_was() -> None:
    assert with_home("text", "{}") == "text"
    assert with_home("text", '{"features":["a"],"title":"Release notes"}') == "text"
    assert with_home("text", '{"tags":["hero"]}') == "text"


@pytest.mark.parametrize(
    "front",
    [
        '{"hero":"none"}',
        '{"hero":{"name":["a"],"actions":"x","image":3}}',
        '{"hero":{"actions":[null,{"text":"a"},{"link":"b"}],"image":{"src":null}},"features":[1,{},"x"]}',
    ],
)
def test_values_of_the_wrong_shape_are_left_out(front: str) -> None:
    assert with_home("text", front) == "text"


def test_material_cards_keep_their_grid() -> None:
    text = '<div class="grid cards" markdown>\n\n- __One__\n\n    ---\n\n    Details\n\n- Two\n\n</div>\n'
    page = page_of({"index.md": text}, "index.html")
    assert len(page.select(".prose > .grid.cards > ul > li")) == 2
