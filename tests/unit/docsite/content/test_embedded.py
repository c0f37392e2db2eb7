"""Images, players and attachments as pages show them."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup, Tag

from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.settings.site import Site
from tests.pictures import png, svg
from tests.site_builder import page_of

OWL, WIDE = png(40, 30), png(1200, 600)
FILES = {
    "img/owl.png": OWL,
    "img/wide.png": WIDE,
    "img/plan.svg": svg(900, 20),
    "clip.mp4": b"\0\0\0\x18ftypmp42",
    "clip.webm": b"\x1a\x45\xdf\xa3",
    "call.mp3": b"ID3\x04",
    "paper.pdf": b"%PDF-1.7",
}


def _article(text: str, path: str = "page.md") -> Tag:
    page = page_of({path: text}, path.replace(".md", ".html"), assets=FILES)
    article = page.select_one("article")
    assert article is not None
    return article


def _image(text: str) -> Tag:
    (image,) = _article(text).find_all("img")
    return image


def test_an_image_has_its_size_and_loads_when_it_is_seen() -> None:
    image = _image("![an owl](img/owl.png)")
    assert image.attrs == {
        "src": f"_files/owl.{sha256_hex(OWL)[:12]}.png",
        "alt": "an owl",
        "width": "40",
        "height": "30",
        "loading": "lazy",
        "decoding": "async",
    }


def test_a_page_in_a_folder_leads_up_to_the_image() -> None:
    (image,) = _article("![x](../img/owl.png)", "notes/page.md").find_all("img")
    assert image["src"].startswith("../_files/owl.")


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("![[owl.png|300]]", ("300", "225")),
        ("![[owl.png|300x100]]", ("300", "100")),
        ("![[owl.png|an owl|80]]", ("80", "60")),
        ("![an owl|80](img/owl.png)", ("80", "60")),
        ("![an owl|80x20](img/owl.png)", ("80", "20")),
        ('<img src="img/owl.png" width="80">', ("80", "60")),
        ('<img src="img/owl.png" height="60px">', ("80", "60")),
        ('<img src="img/owl.png" width="50%">', ("50%", None)),
        ('<img src="img/owl.png" style="width: 50%;">', ("50%", None)),
        ('<img src="img/owl.png" width="expression(1)">', ("40", "30")),
        ("![2024](img/owl.png)", ("40", "30")),
    ],
)
def test_a_size_as_written_is_the_size_shown(written: str, size: tuple[str, str | None]) -> None:
    image = _image(written)
    assert (image["width"], image.get("height")) == size
    assert not str(image["alt"]).endswith(("80", "300", "x20"))


def test_a_wide_image_can_be_enlarged_and_a_small_one_or_a_drawing_cannot() -> None:
    linked = "[![w](img/wide.png)](img/owl.png)"
    article = _article(f"![w](img/wide.png) ![o](img/owl.png) ![p](img/plan.svg) {linked}")
    (link,) = article.select("a.enlarge")
    assert link["href"] == link.img["src"]
    assert len(article.find_all("img")) == 4


def test_an_image_alone_in_a_link_is_named_after_its_file() -> None:
    assert _image("[![](img/owl.png)](https://example.org)")["alt"] == "owl.png"
    assert _image("![](img/wide.png)")["alt"] == "wide.png"
    assert _image("![](img/owl.png)")["alt"] == ""


def test_a_link_around_an_image_from_elsewhere_is_named_after_where_it_leads() -> None:
    article = _article("[![](https://badge.example/b.svg)](https://example.org/owls/)")
    assert [link.text for link in article.select("p a")] == ["owls"]


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("spelling", ["only-{}", "gh-{}-mode-only"])
def test_an_image_for_one_theme_has_its_class(theme: str, spelling: str) -> None:
    fragment = spelling.format(theme)
    assert _image(f"![x](img/owl.png#{fragment})")["class"] == [f"only-{theme}"]
    link = _article(f"![x](img/wide.png#{fragment})").select_one("a.enlarge")
    assert link is not None and f"only-{theme}" in link["class"]


@pytest.mark.parametrize(
    ("written", "element", "sources"),
    [
        ("![](clip.mp4)", "video", ["video/mp4"]),
        ("![[clip.mp4]]", "video", ["video/mp4"]),
        ('<video src="clip.mp4" autoplay></video>', "video", ["video/mp4"]),
        (
            '<video width="100">\n<source src="clip.webm">\n<source src="gone.mp4">\n'
            '<source src="clip.mp4">\nNo video.</video>',
            "video",
            ["video/webm", "video/mp4"],
        ),
        ('<audio src="call.mp3"></audio>', "audio", ["audio/mpeg"]),
        ("![[call.mp3]]", "audio", ["audio/mpeg"]),
    ],
)
def test_videos_and_sounds_have_players(written: str, element: str, sources: list[str]) -> None:
    (player,) = _article(written).find_all(element)
    assert player["preload"] == "metadata" and "controls" in player.attrs and "autoplay" not in player.attrs
    assert [source["type"] for source in player.find_all("source")] == sources
    assert all(source["src"].startswith("_files/") for source in player.find_all("source"))


@pytest.mark.parametrize(
    ("written", "text", "fragment"),
    [
        ("[the paper](paper.pdf#page=2)", "the paper", "#page=2"),
        ("[[paper.pdf]]", "paper.pdf", ""),
        ("![[paper.pdf]]", "paper.pdf", ""),
        ("![[paper.pdf#page=2]]", "paper.pdf", "#page=2"),
        ("![the paper](paper.pdf)", "the paper", ""),
    ],
)
def test_an_attachment_is_a_link_to_its_file(written: str, text: str, fragment: str) -> None:
    (link,) = _article(written).select("p a")
    assert link["href"] == f"_files/paper.{sha256_hex(FILES['paper.pdf'])[:12]}.pdf{fragment}"
    assert link.text == text and "download" not in link.attrs


@pytest.mark.parametrize(
    "written",
    ["![an owl](gone.png)", "![[gone.png|an owl]]", '<img src="gone.png" alt="an owl">'],
)
def test_what_is_missing_is_a_note(written: str) -> None:
    article = _article(written)
    note = article.select_one(".image-note")
    assert note is not None and note.text == "an owl" and "gone.png" in note["title"]
    assert not article.find("img")


def test_a_missing_video_is_a_note_and_what_follows_stays() -> None:
    article = _article('<video src="gone.mp4"></video>\n\nAfter.')
    assert article.find(["video", "source"]) is None and "After." in article.text
    assert article.select_one(".image-note") is not None


@pytest.mark.parametrize(
    "written",
    [
        '<video src="clip.mp4" onplay="alert(1)" poster="https://evil.example/p"></video>',
        '<video src="clip.mp4"><script>alert(1)</script><source src="//evil.example/x"></video>',
        '<img src="img/owl.png" onerror="alert(1)" srcset="//evil.example/x">',
        '<source src="clip.mp4"><audio><img src="https://evil.example/x"></audio>',
        '![x" onerror="alert(1)](img/owl.png "y\\" onload=\\"alert(1)")',
    ],
)
def test_nothing_but_the_site_s_own_files_is_loaded(written: str) -> None:
    for element in _article(written).find_all(True):
        assert not any(name.startswith("on") for name in element.attrs)
        assert "evil.example" not in str({key: element.get(key) for key in ("src", "srcset", "poster")})
    assert _article(written).find("script") is None


def test_an_image_at_the_top_is_no_summary() -> None:
    page = page_of({"a.md": "# A\n\n![](img/owl.png)\n\nOwls hunt.\n"}, "a.html", assets=FILES)
    description = page.find("meta", attrs={"name": "description"})
    assert description is not None and description["content"] == "Owls hunt."


def test_html_pages_show_their_images_too() -> None:
    page = page_of(
        {"a.html": '<title>A</title><body><h1>A</h1><p><img src="img/owl.png" alt="owl"></p>'},
        "a.html",
        assets=FILES,
    )
    article = page.select_one("article")
    assert isinstance(article, Tag) and isinstance(BeautifulSoup(str(article), "html.parser").img, Tag)
    assert article.img is not None and str(article.img["src"]).startswith("_files/owl.")


REMOTE = "![A badge](https://e.org/b.svg?x=1&y=2)\n\n[![](https://e.org/c.png)](page.md)\n\n![](http://e.org/d.png)\n"


def test_images_from_the_web_are_texts_unless_they_are_allowed() -> None:
    (plain, shown) = (
        page_of({"page.md": REMOTE}, "page.html", Site(remote_images=on)) for on in (False, True)
    )
    policies = [page.select_one("meta[http-equiv]") for page in (plain, shown)]
    assert ["https:" in str(policy) for policy in policies] == [False, True]
    assert not plain.select("article img") and "A badge" in plain.text
    assert [(link["href"], link.text) for link in plain.select("article p a")] == [
        ("page.html", "page.html"),
        ("http://e.org/d.png", "d.png"),
    ]
    badge, linked = shown.select("article img")
    assert badge.attrs == {
        "src": "https://e.org/b.svg?x=1&y=2",
        "alt": "A badge",
        "loading": "lazy",
        "decoding": "async",
        "referrerpolicy": "no-referrer",
    }
    assert linked["alt"] == "c.png" and linked.parent is not None and linked.parent.name == "a"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.html", '<h1>T</h1><p>x <img src="https://e.org/b.svg" alt="A badge"></p>'),
        ("page.rst", "T\n=\n\n.. image:: https://e.org/b.svg\n   :alt: A badge\n"),
    ],
)
def test_images_from_the_web_are_allowed_in_every_format(name: str, text: str) -> None:
    (plain, shown) = (page_of({name: text}, "page.html", Site(remote_images=on)) for on in (False, True))
    assert not plain.select("article img") and "A badge" in plain.text
    assert [image["src"] for image in shown.select("article img")] == ["https://e.org/b.svg"]
