"""A page is on lists, in search and open to search engines as its front matter says, tool by tool."""

from __future__ import annotations

import json

import pytest

from noctule.pipeline.visibility import EVERYWHERE, Visibility, visibility_of, word_of

UNLISTED = Visibility(listed=False, searched=False, in_sitemap=False, robots=False)
UNSEARCHED = Visibility(searched=False)


@pytest.mark.parametrize(
    ("front_matter", "shown"),
    [
        ({}, EVERYWHERE),
        ({"title": "A list of searches"}, EVERYWHERE),
        ({"unlisted": True}, UNLISTED),
        ({"Unlisted": "yes"}, UNLISTED),
        ({"unlisted": False}, EVERYWHERE),
        ({"_build": {"list": "never"}}, UNLISTED),
        ({"build": {"list": False}}, UNLISTED),
        ({"search": {"exclude": True}}, UNSEARCHED),
        ({"search.exclude": True}, UNSEARCHED),
        ({"search": False}, UNSEARCHED),
        ({"search": {"boost": 2}}, EVERYWHERE),
        ({"searchable": False}, UNSEARCHED),
        ({"excludeSearch": True}, UNSEARCHED),
        ({"search_exclude": True}, UNSEARCHED),
        ({"noindex": True}, Visibility(in_sitemap=False, robots=False)),
        ({"robots": "noindex, nofollow"}, Visibility(in_sitemap=False, robots=False)),
        ({"sitemap": False}, Visibility(in_sitemap=False)),
        ({"sitemap": {"exclude": "yes"}}, Visibility(in_sitemap=False)),
        ({"sitemap": {"priority": 0.3}}, EVERYWHERE),
    ],
)
def test_front_matter_says_where_a_page_is_shown(front_matter: dict[str, object], shown: Visibility) -> None:
    assert visibility_of(json.dumps(front_matter)) == shown


HUGE = 10**5_000


@pytest.mark.parametrize(
    ("value", "word"),
    [(HUGE, "true"), ([HUGE], ""), ({"a": HUGE}, ""), (0.0, "false"), (" Off ", "off"), (None, "")],
    ids=["number", "list", "table", "zero", "text", "none"],
)
def test_a_value_of_too_many_digits_is_a_word_too(value: object, word: str) -> None:
    assert word_of(value) == word
