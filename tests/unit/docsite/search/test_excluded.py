"""A document that is excluded from search: nothing of it reaches a file of the index."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from noctule.docsite.build import build_site
from noctule.docsite.urls import SEARCH as FOLDER
from noctule.flows.api import build_snapshot
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.site import Site
from tests.search_format_reader import handed_over

SECRET = """---
title: Zanzibarian
description: Quokkadom of the page.
tags: [wombatry, both]
{front_matter}
---
# Zanzibarian

The axolotlish word stands here, `kinkajouById` and Margayish too. The axolotlish word again: Axolotlish
Union of Xeruses (AUX). AUX is an acronym.

## Numbatly

Text of the tarsierish section. [To the home page](../index.md)
"""
WORDS = re.compile(
    "zanzibarian|quokkadom|wombatry|axolotl|kinkajou|margayish|numbatly|tarsierish|xeruses|hidden-folder",
    re.IGNORECASE,
)


def _site(folder: Path, front_matter: str, link: str = "") -> Mapping[str, str]:
    """Return what each file of the index says, by its name."""
    docs = folder / "docs"
    (docs / "hidden-folder").mkdir(parents=True)
    (docs / "guide").mkdir()
    (docs / "index.md").write_text(
        f"---\ntags: [both]\n---\n# Home\n\nBats sleep in caves. {link}\n", "utf-8"
    )
    (docs / "guide" / "owls.md").write_text("# Owls\n\nOwls hunt at night. [Home](../index.md)\n", "utf-8")
    secret = SECRET.format(front_matter=front_matter)
    (docs / "hidden-folder" / "secret.md").write_text(secret, "utf-8")
    given = {"collections": {"docs": {"root": str(docs)}}, "engine": {"name": "inline"}}
    settings, store = parse(given, where="test"), Store(folder / "store")
    build_snapshot(settings, store, PlainDriver(), Silent())
    with store.open() as snapshot:
        build_site(snapshot, folder / "site", Site(), settings.search)
    paths = [path for path in (folder / "site" / FOLDER).iterdir() if path.name != "engine.js"]
    return {path.name: _told(path) for path in paths}


def _told(path: Path) -> str:
    if path.suffix == ".js" and path.read_bytes()[:2] == b"\xff\xfe":
        return gzip.decompress(handed_over(path.read_bytes(), path.stem)).decode("utf-8", "replace")
    page = path.read_text("utf-8")
    return page[page.index("<main") : page.index("</main>")]  # the navigation names what is listed


@pytest.mark.parametrize("front_matter", ["search: {exclude: true}", "unlisted: true"])
def test_nothing_of_an_excluded_document_is_in_the_index(tmp_path: Path, front_matter: str) -> None:
    told = _site(tmp_path, front_matter)
    assert {name: found for name, text in told.items() if (found := WORDS.findall(text))} == {}
    assert any("Bats sleep in caves" in text for text in told.values())
    assert (tmp_path / "site" / "hidden-folder" / "secret.html").is_file()


def test_what_is_looked_for_stands_in_the_index_of_a_document_that_is_not_excluded(tmp_path: Path) -> None:
    told = " ".join(_site(tmp_path, "").values()).lower()
    missing = {word for word in WORDS.pattern.split("|") if word not in told}
    assert missing <= {"quokkadom", "kinkajou", "tarsierish"}, missing  # terms share their beginnings


def test_words_of_a_link_to_it_are_those_of_the_page_that_links(tmp_path: Path) -> None:
    told = _site(tmp_path, "search: {exclude: true}", "[Zanzibarian](hidden-folder/secret.md)")
    found = {word.lower() for text in told.values() for word in WORDS.findall(text)}
    assert found == {"zanzibarian"}
