"""Pictures for previews of links: drawn once, named by what they show, and on every listed page."""

from __future__ import annotations

import builtins
import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from PIL import Image

from noctule.docsite.build import build_site
from noctule.docsite.outline.cards import HEIGHT, WIDTH, Cards, cards_of
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.site import Site
from tests.pictures import png
from tests.site_builder import snapshot_of

BASE = "https://owl.example.org"
SETTINGS = Site(cards=True, base_url=BASE, title="Owls", image=f"{BASE}/all.png")
TEXTS = {
    "index.md": "---\ndescription: On owls.\n---\n# Große Eulen\n",
    "a.md": "# The nest\n",
    "ja.md": "# \u68df\u306e\u9ce5\n",
    "gone.md": "---\nunlisted: true\n---\n# Gone\n",
}


def _with_size(width: int, height: int) -> bytes:
    """A PNG that says it is so large, with the pixels of a small one."""
    small = png(80, 40)
    head = b"IHDR" + struct.pack(">II", width, height) + small[24:29]
    return small[:12] + head + struct.pack(">I", zlib.crc32(head)) + small[33:]


def cards(**more: object) -> Cards:
    found = cards_of(SETTINGS.model_copy(update=more), "Owls")
    assert found is not None
    return found


def test_every_listed_page_names_a_card_which_is_drawn_once(tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site(snapshot_of({"docs": TEXTS}), site, SETTINGS)

    def named(page: str) -> dict[str, str]:
        soup = BeautifulSoup((site / page).read_text(), "html.parser")
        return {
            str(each["property"]): str(each["content"]) for each in soup.select("meta[property^='og:image']")
        }

    home = named("index.html")
    card = site / home["og:image"].removeprefix(f"{BASE}/")
    assert home["og:image:width"] == "1200" and home["og:image:alt"] == "Große Eulen"
    assert len(list((site / "_cards").iterdir())) == 2
    for page in ("ja.html", "gone.html", "_pages/index.html"):
        assert named(page) == {"og:image": f"{BASE}/all.png"}
    before = card.stat().st_ino
    result = build_site(snapshot_of({"docs": TEXTS | {"a.md": "# The eggs\n"}}), site, SETTINGS)
    assert card.stat().st_ino == before and len(list((site / "_cards").iterdir())) == 2
    assert result.healed == 0


@pytest.mark.timeout(20)
def test_a_title_of_any_length_is_drawn_at_once() -> None:
    for title in ("W" * 200_000, "e" + "\u0301" * 9_000):
        assert cards().paint(title, title)


@pytest.mark.parametrize("title", ["Owls", "A long title of many words, " * 12, "x" * 300, ""])
def test_a_card_has_its_size_and_weighs_little(title: str) -> None:
    content = cards().paint(title, "What it is about. " * 20)
    with Image.open(BytesIO(content)) as image:
        assert image.size == (WIDTH, HEIGHT)
        colors = image.convert("RGB").getcolors(1 << 20)
    assert colors is not None and len(colors) > 4 and len(content) < 60_000
    assert cards().paint(title, "What it is about. " * 20) == content


def test_another_title_colour_logo_or_description_is_another_card(tmp_path: Path) -> None:
    logo = tmp_path / "logo.png"
    logo.write_bytes(png(80, 40))
    plain = cards()
    others = [cards(colors={"accent": ("#123456", "#abcdef")}), cards(logo=str(logo))]
    assert len({each.fingerprint for each in (plain, *others)}) == 3
    pictures = [each.paint("A", "") for each in (plain, *others)] + [
        plain.paint("B", ""),
        plain.paint("A", "b"),
    ]
    assert len(set(pictures)) == 5


def test_cards_need_an_address_and_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cards_of(Site(), "Owls") is None
    with pytest.raises(SettingsError, match="site's address"):
        cards_of(Site(cards=True), "Owls")
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "PIL":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SettingsError, match="not installed"):
        cards_of(SETTINGS, "Owls")


@pytest.mark.parametrize(
    ("logo", "reason"),
    [
        (_with_size(60_000, 60_000), "pixels"),
        (_with_size(6_000, 6_000), "pixels are too many"),
        (png(80, 40)[:60], "cannot be drawn"),
        (png(80, 40).replace(b"IDAT", b"IDAX"), "cannot be drawn"),
    ],
    ids=["a bomb that Pillow refuses", "a smaller one", "one that is cut", "one without its data"],
)
def test_a_logo_that_cannot_be_drawn_is_an_error_that_says_so(
    logo: bytes, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "logo.png").write_bytes(logo)
    with pytest.raises(SettingsError, match=reason) as raised:
        cards(logo=str(tmp_path / "logo.png")).paint("A", "")
    assert raised.value.where == "[site] logo"
