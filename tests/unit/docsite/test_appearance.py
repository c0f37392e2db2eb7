"""Logo, icon, colours and fonts of the settings: on the pages, legible, and refused where they are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from noctule.docsite.appearance import MIN_CONTRAST, appearance_of, contrast
from noctule.docsite.build import build_site
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.site import Fonts, Site
from tests.site_builder import snapshot_of

NOTES = {"index.md": "# Home\n\nWelcome.\n", "a/b.md": "# B\n\nText.\n"}
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><rect width="80" height="40"/></svg>'


def _file(tmp_path: Path, name: str, content: bytes) -> str:
    (tmp_path / name).write_bytes(content)
    return str(tmp_path / name)


def test_logo_and_icon_stand_on_every_page_with_their_size(tmp_path: Path) -> None:
    settings = Site(
        logo=_file(tmp_path, "one.svg", SVG),
        logo_dark=_file(tmp_path, "two.svg", SVG),
        favicon=_file(tmp_path, "tab.svg", SVG),
        base_url="https://docs.example.org/",
    )
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", settings)
    page = (tmp_path / "site" / "a" / "b.html").read_text()
    assert 'class="site-logo only-light" src="../_assets/site-logo.svg" alt="" width="56" height="28"' in page
    assert 'class="site-logo only-dark" src="../_assets/site-logo-dark.svg"' in page
    assert 'rel="icon" href="../_assets/site-favicon.svg" type="image/svg+xml"' in page
    assert (tmp_path / "site" / "_assets" / "site-logo.svg").read_bytes() == SVG
    assert "_assets/site-favicon.svg" in (tmp_path / "site" / "404.html").read_text()


def test_another_logo_of_the_same_name_reaches_the_next_build(tmp_path: Path) -> None:
    settings = Site(logo=_file(tmp_path, "one.svg", SVG))
    snapshot = snapshot_of({"notes": NOTES})
    build_site(snapshot, tmp_path / "site", settings)
    wide = SVG.replace(b'width="80"', b'width="120"')
    _file(tmp_path, "one.svg", wide)
    build_site(snapshot, tmp_path / "site", settings)
    assert (tmp_path / "site" / "_assets" / "site-logo.svg").read_bytes() == wide
    assert 'width="84" height="28"' in (tmp_path / "site" / "index.html").read_text()


def test_a_logo_that_holds_a_script_is_refused(tmp_path: Path) -> None:
    bad = _file(tmp_path, "one.svg", SVG.replace(b"<rect", b"<script>1</script><rect"))
    with pytest.raises(SettingsError, match="logo is not an image that a page may show"):
        appearance_of(Site(logo=bad))


def test_one_accent_colours_links_too_and_is_lighter_in_the_dark_theme() -> None:
    style = appearance_of(Site(colors={"accent": "#7a1f5c"})).style
    found = dict(re.findall(r"--(\w+): light-dark\(#7a1f5c, (#[0-9a-f]{6})\)", style))
    assert found.keys() == {"accent", "link"}
    assert contrast(found["link"], "#15181d") >= MIN_CONTRAST


def test_illegible_colours_are_named_with_their_contrast_and_one_that_would_do() -> None:
    with pytest.raises(SettingsError, match=r"link #7fb069 on page #ffffff .* of 2\.\d\d to 1") as caught:
        appearance_of(Site(colors={"link": "#7fb069"}))
    better = re.search(r"(#[0-9a-f]{6}) would do", str(caught.value))
    assert better is not None and contrast(better[1], "#ffffff") >= MIN_CONTRAST


@pytest.mark.parametrize(
    ("colors", "key", "hint"),
    [
        ({"link": "#7fb069"}, "link", "would do"),
        ({"accent": "#7fb069"}, "accent", "would do"),
        ({"accent": "#7fb069", "link": "#0b6e4f"}, "accent", "would do"),
        ({"page": ("#888888", "#15181d")}, "page", "Choose another page, or #"),
    ],
)
def test_an_illegible_colour_is_told_under_the_key_that_was_given(
    colors: dict[str, str | tuple[str, str]], key: str, hint: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        appearance_of(Site(colors=colors))
    assert caught.value.where == f"[site.colors] {key}"
    assert hint in caught.value.hint


def test_a_background_is_checked_against_the_themes_own_colours() -> None:
    with pytest.raises(SettingsError, match="in the light theme"):
        appearance_of(Site(colors={"page": ("#888888", "#15181d")}))
    with pytest.raises(ValidationError, match="two colours"):
        Site(colors={"page": "#ffffff"})
    with pytest.raises(ValidationError, match="unknown colour"):
        Site(colors={"pages": "#ffffff"})


def test_fonts_are_copied_and_named_before_the_themes_own(tmp_path: Path) -> None:
    names = ("Inter-Regular.woff2", "Inter-BoldItalic.woff2")
    files = tuple(_file(tmp_path, name, b"wOF2" + bytes(9)) for name in names)
    made = appearance_of(Site(fonts=Fonts(text=files, code=("JetBrains Mono",))))
    assert sorted(made.files) == ["font-inter-bolditalic.woff2", "font-inter-regular.woff2"]
    assert re.search(r"inter-bolditalic.*font-weight: 700; font-style: italic", made.style)
    assert '--sans: "site-text", system-ui' in made.style
    assert '--mono: "JetBrains Mono", ui-mono' in made.style
    assert "http" not in made.style


def test_a_font_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="not a font"):
        appearance_of(Site(fonts=Fonts(text=(_file(tmp_path, "a.woff2", b"<html>"),))))
    with pytest.raises(SettingsError, match="neither a font"):
        appearance_of(Site(fonts=Fonts(text=("x; } body { display: none",))))
