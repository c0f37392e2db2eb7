from __future__ import annotations

import pytest

from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.parse.rst.faults import balanced
from noctule.pipeline.settings.collection import Collection, Rule
from tests.processor_time import processor_seconds

HEAD = (
    '<!doctype html><html lang="de"><head><title>A  page</title><meta name="description" content="About it">'
    '<meta name="keywords" content="one, two"><meta name="author" content="Ada"></head>'
)


def read(html: str) -> Document:
    content = html.encode()
    return parse(Source("c", "page.html", content, sha256_hex(content)), Collection(root="unused"))


def test_the_head_tells_title_language_and_the_rest() -> None:
    document = read(f"{HEAD}<body><h1>H</h1></body></html>")
    assert (document.title, document.language, document.description) == ("A page", "de", "About it")
    assert (document.author, document.keywords, document.url) == ("Ada", ("one", "two"), "page.html")


def test_a_page_without_title_takes_its_first_heading() -> None:
    assert read("<h1>First</h1>").title == "First"
    assert read("<p>x</p>").title == "page"


@pytest.mark.parametrize("main", ["<main>{}</main>", '<div role="main">{}</div>', "<article>{}</article>"])
def test_only_the_main_content_is_read(main: str) -> None:
    document = read(f"{HEAD}<body><nav>menu</nav>{main.format('<p>body</p>')}<footer>foot</footer></body>")
    assert document.text == "body\n\n"
    assert document.html == "<p>body</p>"


def test_without_a_main_part_the_frame_of_the_page_is_cut() -> None:
    html = "<nav>a</nav><header>b</header><p>body</p><aside>c</aside><footer>d</footer><script>e</script>"
    assert read(f"{HEAD}<body>{html}</body>").text == "body\n\n"


def test_blocks_and_headings_lie_where_they_say() -> None:
    document = read(
        "<h1>Top <code>x</code><a href='#top'>¶</a></h1><p>One\n"
        " <b>two</b> <code>c</code></p><ul><li>a<p>b</p></li></ul>"
        "<table><tr><th>A<th>B</tr><tr><td>1<td><code>2</code></tr></table>"
        "<pre class='highlight-python'>  def f():\n    pass\n</pre><dl><dt>term<dd>meaning</dl>"
    )
    assert document.text == (
        "Top x\n\nOne two c\n\n- a\n\nb\n\nA | B\n\n1 | 2\n\n  def f():\n    pass\n\n- term\n\n- meaning\n\n"
    )
    assert [(b.kind, b.code, b.language) for b in document.blocks] == [
        ("text", "c", ""),
        ("list", "", ""),
        ("list", "", ""),
        ("table", "", ""),
        ("table", "2", ""),
        ("code", "  def f():\n    pass", "python"),
        ("list", "", ""),
        ("list", "", ""),
    ]
    assert all(document.text[b.start : b.end] == b.text + "\n" for b in document.blocks)
    assert [(h.level, h.text) for h in document.headings] == [(1, "Top x")]
    assert document.text[: document.headings[0].end] == "Top x\n"


def test_links_and_images_are_found() -> None:
    document = read(
        '<p><a href="b.html">see <b>b</b></a> <img src="p.png" alt="pic"></p><p><a name="x">no</a></p>'
    )
    assert [(link.kind, link.target, link.text) for link in document.links] == [
        ("link", "b.html", "see b"),
        ("image", "p.png", "pic"),
    ]


def test_a_table_that_lays_out_a_page_is_read_as_what_it_holds() -> None:
    document = read("<table><tr><td><h2>H</h2><p>x</p></td><td><pre>y</pre></td></tr></table>")
    assert [h.text for h in document.headings] == ["H"]
    assert [b.kind for b in document.blocks] == ["text", "code"]


def test_the_kept_html_is_sanitised_and_code_names_its_language() -> None:
    document = read("<main><p onclick='x'>a</p><pre data-language='python'>b</pre><script>c</script></main>")
    assert document.html == '<p>a</p><pre class="language-python">b</pre>'


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "bomb",
    [
        "<div>" * 100_000,
        "<div " + " ".join(f"a{n}=1" for n in range(100_000)) + ">",
        "<b>x</b>" * 150_000,
        "<a " * 100_000,
    ],
)
def test_an_html_bomb_is_rejected_by_its_shape(bomb: str) -> None:
    with pytest.raises(RejectedDocument, match="the HTML has more than"):
        read(bomb)


@pytest.mark.timeout(10)
def test_unclosed_comments_by_the_thousand_take_no_time() -> None:
    assert read("<p>a</p>" + "<!--" * 200_000).text == "a\n\n"


@pytest.mark.parametrize(
    "piece", ["<head>", "<body>", "a<nav></nav>", "a<details></details>", "a<p role=navigation>b</p>"]
)
def test_tags_that_are_left_out_cost_time_in_proportion_to_their_number(piece: str) -> None:
    for use in (read, lambda html: balanced(html, "c:x.rst")):
        began = processor_seconds()
        use("<p>x</p>" + piece * 8_000)
        assert processor_seconds() - began < 1.5


@pytest.mark.parametrize("piece", ["<meta name=", "<img\n"])
def test_tags_that_never_end_are_text_and_cost_time_in_proportion_to_their_number(piece: str) -> None:
    assert read("<p>a</p>b <img src=x").text == "a\n\nb <img src=x\n\n"
    began = processor_seconds()
    assert read("<p>a</p>" + piece * 12_000).text.count("<") == 12_000
    assert processor_seconds() - began < 3


def test_raw_html_of_another_format_loses_its_frame_and_keeps_what_it_holds() -> None:
    html = "<html><head><title>T</title></head><body>a<article><p>b</p></article>c</body></html><b>d"
    assert balanced(html, "c:x.rst") == "a<p>b</p>c<b>d</b>"


def test_deep_but_possible_nesting_is_read() -> None:
    assert read("<div>" * 1_900 + "x" + "</div>" * 1_900).text == "x\n\n"


def test_of_a_generated_page_the_ways_to_other_pages_are_left_out() -> None:
    page = read(
        "<body><nav>Site tree</nav><main><nav>Home / Guide</nav><article><h1>Owls</h1>"
        "<details><summary>On this page</summary><nav>Dusk</nav></details>"
        "<details><summary>Contents</summary><ul><li><a href='#x'>Place</a></li></ul></details>"
        "<div role='navigation'>Older page</div><p>They hunt.</p>"
        "<details><summary>More</summary><p>At dusk.</p></details><footer>Edit this page</footer></article>"
        "<footer>Related: bats</footer></main></body>"
    )
    assert page.title == "Owls"
    texts = " ".join(block.text for block in page.blocks)
    assert "They hunt." in texts and "At dusk." in texts
    for left_out in (
        "Site tree",
        "Home",
        "Contents",
        "Place",
        "On this page",
        "Dusk",
        "Older",
        "Edit",
        "Related",
    ):
        assert left_out not in texts


def test_several_articles_of_a_page_are_all_its_content() -> None:
    page = read(
        "<main><article><h2>A</h2><p>One.</p></article><article><h2>B</h2><p>Two.</p></article></main>"
    )
    assert [block.text for block in page.blocks] == ["One.", "Two."]


@pytest.mark.parametrize(("head", "language"), [(HEAD, "de"), ("", "en")])
def test_the_language_of_code_is_not_that_of_the_page(head: str, language: str) -> None:
    document = read(f'{head}<p>Owls</p><pre class="language-python">owl()</pre>')
    assert document.language == language
    assert [block.language for block in document.blocks] == ["", "python"]


FRONT = (
    "---\ntitle: The `owl`\ndescription: Of owls\ntags: [bird, night]\naliases: strix\nkeywords: [hoot]\n"
    "lang: fr\n"
    "author: Bob\ndate: 2024-02-03\nweight: 20\n---\n"
)


@pytest.mark.parametrize("head", [HEAD, ""])
def test_front_matter_goes_before_what_the_head_tells(head: str) -> None:
    document = read(f"{FRONT}{head}<body><h2>Owls</h2><p>body</p></body>")
    assert (document.title, document.description, document.language) == ("The owl", "Of owls", "fr")
    assert (document.tags, document.aliases, document.keywords[0]) == (("bird", "night"), ("strix",), "hoot")
    assert (document.author, document.modified) == ("Bob", "2024-02-03")
    assert '"weight":20' in document.front_matter
    assert (document.text, document.html) == ("Owls\n\nbody\n\n", "<h2>Owls</h2><p>body</p>")


def test_front_matter_may_stand_before_a_fragment_or_be_empty() -> None:
    assert read("---\ntitle: Bare\n---\n\n\n<p>body</p>\n").text == "body\n\n"
    assert read("---\n---\n<p>body</p>\n").text == "body\n\n"
    assert read("---\ntitle: Bare\n---\n<h1>Head</h1>").title == "Bare"
    wrong = read("---\nok: 1\ntitle: [x]\n---\n<p>body</p>")
    assert wrong.text == "body\n\n" and wrong.notes[0].startswith("front matter, line 3")


def test_rules_spare_the_front_matter_of_a_page() -> None:
    content = b"---\ntitle: a\n---\n<p>a</p>"
    rules = (Rule(pattern="a", replacement="b"),)
    document = parse(Source("c", "x.html", content, sha256_hex(content)), Collection(root="x", rules=rules))
    assert (document.title, document.text) == ("a", "b\n\n")


def test_images_videos_and_sounds_are_links() -> None:
    media = '<img src="a.png"><video src="b.mp4"><source src="c.webm"></video><audio src="d.mp3"></audio>'
    links = read(f"<body><h1>A</h1>{media}</body>").links
    assert [link.target for link in links if link.kind == "image"] == ["a.png", "b.mp4", "c.webm", "d.mp3"]
