"""An owner's own templates, files and words: used where they are right, refused with file and line
where not.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.build import build_site
from noctule.docsite.interface_words import load_words
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

NOTES = {"index.md": "# Home\n\nWelcome.\n", "b.md": "# B\n\n[h](index.md)\n"}


def _build(tmp_path: Path, settings: Site) -> Path:
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", settings)
    return tmp_path / "site"


def _theme(tmp_path: Path, **files: str) -> Site:
    folder = tmp_path / "theme"
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return Site(templates=str(folder))


def test_a_template_may_change_one_part_of_the_themes(tmp_path: Path) -> None:
    text = (
        '{% extends "theme/base.html" %}\n{% block footer %}<p>Ours, {{ frame.title }}</p>{% include '
        '"_legal.html" %}{% endblock %}'
    )
    settings = _theme(tmp_path, base__html=text, _legal__html="<p>Legal</p>")
    page = BeautifulSoup((_build(tmp_path, settings) / "b.html").read_bytes(), "html.parser")
    assert page.footer is not None and "Ours, B" in page.select(".site-footer")[0].text
    assert "Legal" in page.text and page.select_one(".site-nav") is not None


def test_styles_scripts_and_files_of_an_owner_stand_beside_the_pages(tmp_path: Path) -> None:
    settings = _theme(
        tmp_path,
        custom__css=":root { --accent: red }",
        custom__js="1;",
        logo__svg="<svg/>",
        code__css="/* mine */",
        notes__txt="x",
    )
    site = _build(tmp_path, settings)
    page = (site / "b.html").read_text()
    assert page.index("_assets/style.css") < page.index("_assets/custom.css") and "_assets/custom.js" in page
    assert (site / "_assets/logo.svg").read_text() == "<svg/>"
    style = (site / "_assets/style.css").read_text()
    assert "/* mine */" in style and "code-number);" not in style
    assert not (site / "_assets/notes.txt").exists() and not (site / "_assets/code.css").exists()


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("<p>\n{% if %}\n", 2, "Expected an expression"),
        ("<p>\n\n{{ frame.titel }}", 3, "titel"),
        ("{{ 1 / 0 }}", 1, "ZeroDivisionError"),
        ("x\n{% extends 'nowhere.html' %}", 2, "nowhere.html"),
        ("{{ say('no_such_words') }}", 1, "no_such_words"),
    ],
)
def test_a_template_that_fails_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, told: str
) -> None:
    settings = _theme(tmp_path, listing__html="x", page__html=text)
    with pytest.raises(SettingsError) as caught:
        _build(tmp_path, settings)
    assert caught.value.where == f"{tmp_path}/theme/page.html:{line}"
    assert told in caught.value.what and "Fix that line" in caught.value.hint
    assert not (tmp_path / "site").exists() and [p.name for p in tmp_path.iterdir()] == ["theme"]


def test_a_template_that_takes_nobodys_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        _build(tmp_path, _theme(tmp_path, pages__html="x"))
    assert caught.value.where.endswith("theme/pages.html") and "page.html" in caught.value.hint
    with pytest.raises(SettingsError) as caught:
        _build(tmp_path, Site(templates=str(tmp_path / "gone")))
    assert "does not exist" in caught.value.what


def test_words_are_replaced_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "words.toml"
    file.write_text(
        '[text]\nall_pages = "Alle Artikel"\ncount_pages_few = "{count} Seiten"\n[dialog]\n'
        'label = "Suche </script>"\n'
    )
    site = _build(tmp_path, Site(words=str(file), language="de"))
    page = (site / "b.html").read_text()
    assert "Alle Artikel" in page and "Verwandte Seiten" in page
    assert '"label":"Suche </script>"' in (site / "_assets/dialog.js").read_text()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[text]\nall_page = "x"\n', "text.all_page is not a key"),
        ('[texts]\nall_pages = "x"\n', "texts is not a table"),
        ("[text]\nall_pages = 3\n", "text.all_pages is not a text"),
        ('[text]\nedit = "{path}"\n', "has {path}, which is not filled in"),
        ('[text]\nand_more = "{count:99999999}"\n', "only plain names"),
        ('[text]\nand_more = "{count.real}"\n', "{count.real}"),
        ('[text]\nand_more = "{"\n', "text.and_more"),
        ("[text\n", "not a TOML file"),
    ],
)
def test_words_that_cannot_be_used_are_named(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "words.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_words(str(file))
    assert told in caught.value.what and caught.value.where == str(file)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    for settings in (Site(words=str(tmp_path / "no.toml")), Site(mermaid=str(tmp_path / "no.js"))):
        with pytest.raises(SettingsError) as caught:
            _build(tmp_path, settings)
        assert "/no." in caught.value.where


@pytest.mark.timeout(20)
@pytest.mark.parametrize("setting", ["logo", "favicon", "words", "mermaid"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(setting: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.svg")
    settings = Site().model_copy(update={setting: str(tmp_path / "pipe.svg")})
    with pytest.raises(SettingsError, match="a pipe or a device"):
        _build(tmp_path, settings)


def test_a_language_is_a_tag() -> None:
    for code in ("x" * 300, "../x", 'en"><script>', ""):
        with pytest.raises(ValueError, match="is not a language"):
            Site(language=code)
    assert Site(language="pt-BR").language == "pt-BR"
