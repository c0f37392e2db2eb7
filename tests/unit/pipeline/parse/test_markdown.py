from __future__ import annotations

import re
from unittest.mock import patch

import pytest

from noctule.pipeline.address import slugify
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse, plain_piece
from noctule.pipeline.parse.markdown.parser import TOO_DEEP, markdown_parser, read_markdown
from noctule.pipeline.settings.collection import Collection
from tests.processor_time import processor_seconds


def read(text: str, path: str = "note.md") -> Document:
    content = text.encode()
    return parse(Source("c", path, content, sha256_hex(content)), Collection(root="unused"))


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in read(text).blocks]


def test_headings_are_plain_and_cover_their_lines() -> None:
    document = read("# Use `fetch()` *now* { #now }\n\ntext\n\nSetext\n[x](y)\n===\n")
    assert [(h.level, h.text) for h in document.headings] == [(1, "Use fetch() now"), (1, "Setext x")]
    assert [document.text[h.start : h.end] for h in document.headings] == [
        "# Use `fetch()` *now* { #now }\n",
        "Setext\n[x](y)\n===\n",
    ]


def test_a_heading_closed_before_its_attributes_is_named_without_the_marks() -> None:
    (heading,) = read("## Order ## {: #the-order }\n\nText.\n").headings
    assert (heading.text, heading.anchor) == ("Order", "the-order")


@pytest.mark.parametrize(
    ("written", "text", "anchor"),
    [
        ("## Owl {: owl}", "Owl", "owl"),
        ("## Owl {: #\\6.0}", "Owl", "6.0"),
        ("## Owl {owl}", "Owl {owl}", "owl-owl"),
        ("## Owl {: a b}", "Owl {: a b}", "owl-a-b"),
    ],
)
def test_attributes_of_a_heading_are_no_part_of_it(written: str, text: str, anchor: str) -> None:
    (heading,) = read(f"{written}\n\nText.\n").headings
    assert (heading.text, heading.anchor or slugify(heading.text)) == (text, anchor)


def test_headings_in_quotes_and_lists_are_text() -> None:
    document = read("> # Quoted\n\n- # Listed\n\n# Real\n")
    assert [h.text for h in document.headings] == ["Real"]
    assert [b.text for b in document.blocks] == ["Quoted", "- Listed"]


def test_a_closing_row_of_hashes_is_not_in_the_title() -> None:
    assert read("## C# and F# ##\n").headings[0].text == "C# and F#"


def test_paragraphs_lists_tables_and_code_are_blocks_in_order() -> None:
    text = (
        "One *two*\nthree.\n\n- a `x`\n  - b\n\n    more\n\n|A|B|\n|-|-|\n|1|`2`|\n\n```JS title\n"
        "code()\n```\n\n    indented\n"
    )
    document = read(text)
    assert [(b.kind, b.text, b.code, b.language) for b in document.blocks] == [
        ("text", "One two three.", "", ""),
        ("list", "- a x", "x", ""),
        ("list", "- b", "", ""),
        ("list", "more", "", ""),
        ("table", "A | B", "", ""),
        ("table", "1 | 2", "2", ""),
        ("code", "code()", "code()", "js"),
        ("code", "indented", "indented", ""),
    ]
    assert document.text[document.blocks[1].start : document.blocks[1].end] == "- a `x`\n"
    assert document.text[document.blocks[5].start : document.blocks[5].end] == "|1|`2`|\n"


def test_the_language_is_the_first_word_of_the_info_string() -> None:
    for info, language in {
        "Python": "python",
        "rust,ignore": "rust",
        "{.yaml}": "yaml",
        'hl_lines="4"': "",
        "c++": "c++",
        "": "",
    }.items():
        assert read(f"```{info}\nx\n```\n").blocks[0].language == language


def test_definitions_are_list_items_in_either_notation() -> None:
    assert blocks("- `a`\n  - : first\n") == [("list", "- a"), ("list", "- first")]
    document = read("term\n: meaning\n")
    assert [block.text for block in document.blocks] == ["- term", "- meaning"]
    assert [document.text[block.start : block.end] for block in document.blocks] == ["term\n", ": meaning\n"]


def test_raw_html_is_text_without_tags_and_comments_are_nothing() -> None:
    assert blocks("<!-- a\n\nb -->\n\n<div>x &amp; <b>y</b></div>\n\n<script>\nz\n</script>\n") == [
        ("text", "x & y")
    ]
    assert blocks("a <b>c</b><!-- d --> e\n") == [("text", "a c e")]


def test_links_of_every_kind_are_found_where_they_stand() -> None:
    text = (
        "[a](b.md) ![pic](p.png) <https://x.org> [[Note#Part|shown]] ![[Other]] [ref][r]\n"
        '\n<a href="raw.html">raw</a> <a href="javascript:x">no</a>\n\n[r]: ref.md\n'
    )
    document = read(text)
    assert [(link.kind, link.target, link.text) for link in document.links] == [
        ("link", "b.md", "a"),
        ("image", "p.png", "pic"),
        ("link", "https://x.org", "https://x.org"),
        ("wikilink", "Note#Part", "shown"),
        ("transclusion", "Other", "Other"),
        ("link", "ref.md", "ref"),
        ("link", "raw.html", "raw"),
    ]
    starts = [link.start for link in document.links]
    assert starts[:5] == [text.index(mark) for mark in ("[a]", "![pic]", "<https", "[[Note", "![[Other")]


def test_pipes_in_code_part_no_cells_of_a_row_that_would_have_too_many() -> None:
    rows = [
        "| `x | y` | a \\| b |",
        "| a | ``k | l``",
        "| `a | b` |",  # as many as there should be, so a pipe as any other
        "| `x \\| z` | `y` |",
        "| `x | y` | `a | b | c |",  # too many in any case
    ]
    html = markdown_parser().render("\n".join(["| A | B |", "|---|---|", *rows]))
    cells = re.findall(r"<td>(.*?)</td>", html)
    assert cells == [
        *("<code>x | y</code>", "a | b"),
        *("a", "<code>k | l</code>"),
        *("`a", "b`"),
        *("<code>x | z</code>", "<code>y</code>"),
        *("`x", "y`"),
    ]


def test_the_mark_of_a_list_is_no_part_of_a_cell_in_its_first_row() -> None:
    html = markdown_parser().render("- x\n- `a\\|b` | B\n  ---|---\n  `x|y` | z\n")
    assert re.findall(r"<t[hd]>(.*?)</t", html) == [
        *("<code>a|b</code>", "B"),
        *("<code>x|y</code>", "z"),
    ]


def test_a_table_may_follow_a_line_of_text() -> None:
    html = markdown_parser().render("Text\n| A | B |\n|---|---|\n| `x|y` | z |\n")
    assert html.startswith("<p>Text</p>\n<table>") and "<code>x|y</code>" in html


def test_all_references_to_a_footnote_show_its_number() -> None:
    html = markdown_parser().render("One[^a], two[^b], again[^a].\n\n[^a]: First.\n[^b]: Second.\n")
    assert re.findall(r"\[(\d[^\]]*)\]</a></sup>", html) == ["1", "2", "1"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("[[a]](https://e.org)", ["link"]),
        ("[[a]](b.md)", ["link"]),
        ('[[a]](#b "t")', ["link"]),
        ("[[a]](https://e.org/a_(b))", ["link"]),
        ("[[a]](s)", ["wikilink"]),
        ("[[a]](see b.c)", ["wikilink"]),
        ("[[a]] (b.md)", ["wikilink"]),
        ("[[a]](b.md", ["wikilink"]),
    ],
)
def test_double_brackets_before_an_address_are_a_link_of_markdown(text: str, kinds: list[str]) -> None:
    assert [link.kind for link in read_markdown(text, 0, "x").links] == kinds


def test_a_wikilink_in_a_table_may_escape_its_bar() -> None:
    document = read("|A|\n|-|\n|[[x\\|y]]|\n")
    assert [(link.target, link.text) for link in document.links] == [("x", "y")]


def test_tags_are_words_after_a_blank_and_never_code_links_or_headings() -> None:
    document = read(
        "---\ntags: [first, '#both']\n---\n# H\n\n#both #área/sub-x. a#no #1 `#no` [#no](x) C# (#no)\n"
    )
    assert document.tags == ("first", "both", "área/sub-x")


def test_code_keeps_what_looks_like_markup() -> None:
    document = read("`[[x]]` and\n\n```\n[[y]] #tag {{ z }}\n```\n")
    assert document.links == ()
    assert document.tags == ()
    assert document.blocks[1].text == "[[y]] #tag {{ z }}"


def test_footnotes_stay_where_they_are_written_even_unused() -> None:
    document = read("See.[^1]\n\n[^1]: Used `a`.\n\nMiddle.\n\n[^2]: Unused.\n")
    assert [b.text for b in document.blocks] == ["See.", "Used a.", "Middle.", "Unused."]


def test_callouts_of_every_notation_lose_their_marker() -> None:
    for text in (
        "> [!NOTE]\n> body\n",
        "!!! note\n    body\n",
        "/// note\n\nbody\n\n///\n",
        ":::note\nbody\n:::\n",
        ":::{note}\nbody\n:::\n",
    ):
        assert [b.text for b in read(text).blocks] == ["body"]
        assert 'class="callout callout-note"' in markdown_parser().render(text)


def test_a_title_given_to_a_callout_is_text() -> None:
    assert blocks("> [!tip]- Mind *this*\n> body\n") == [("text", "Mind this"), ("text", "body")]
    assert blocks("/// tip | Mind this\nbody\n///\n") == [("text", "Mind this"), ("text", "body")]


def test_quotation_marks_around_the_title_of_a_tab_are_not_part_of_it() -> None:
    text = ':::: tabs\n\n::: tab "On [Unix]"\n\nbody\n\n:::\n\n::::\n'
    assert [shown for _, shown in blocks(text)] == ["On [Unix]", "body"]


def test_attributes_behind_the_title_of_a_box_are_not_part_of_it() -> None:
    html = markdown_parser().render("::: details Mind {open}\nbody\n:::\n\n::: tip T {#a .b}\nbody\n:::\n")
    assert "<details" in html and " open" in html and "{" not in html
    assert blocks("::: tip Use {x}\nbody\n:::\n")[0] == ("text", "Use {x}")
    assert blocks("/// tip | Use {.x}\nbody\n///\n")[0] == ("text", "Use {.x}")


def test_an_unclosed_box_is_text() -> None:
    assert blocks("/// tip\nbody\n") == [("text", "/// tip body")]
    assert blocks("::: bakery.oven\nbody\n") == [("text", "::: bakery.oven body")]
    assert blocks("::: bakery\nbody\n") == [("text", "::: bakery body")]
    for name in ("contents", "index", "bibliography", "toctree", "image"):
        assert blocks(f"::: {name}\n\nbody\n") == [("text", f"::: {name}"), ("text", "body")]


@pytest.mark.parametrize("opening", [":::{note}", ":::note", "::: info Mind", "```{note}", ":::{exercise}"])
def test_a_box_that_nothing_closes_ends_with_what_holds_it(opening: str) -> None:
    title = [("text", "Mind")] if "Mind" in opening else []
    assert blocks(f"{opening}\nbody\n\nmore\n") == [*title, ("text", "body"), ("text", "more")]
    assert blocks(f"> {opening}\n> body\n\nafter\n") == [*title, ("text", "body"), ("text", "after")]
    html = markdown_parser().render(f"- {opening}\n  body\n- next\n\nafter\n\n:::\n")
    assert html.index("body") < html.index("</div>") < html.index("next") < html.index("after")
    assert blocks(f"{opening}\n") == title


def test_boxes_that_nothing_closes_lose_no_text_and_take_no_time() -> None:
    began = processor_seconds()
    text = "".join(f"- :::{{note}}\n  word{number}\n\n:::{{tip}}\n" for number in range(2_000))
    shown = " ".join(each.text for each in read(text).blocks)
    assert all(f"word{number}" in shown for number in (0, 30, 999, 1_999))
    assert processor_seconds() - began < 5


@pytest.mark.parametrize("line", ["/// note", ":::{note}", "::: foo\n"])
def test_boxes_of_one_list_that_nothing_closes_there_take_no_time(line: str) -> None:
    began = processor_seconds()
    read("- a\n" + f"  {line}\n" * 10_000 + "\n\nafter\n\n///\n")
    assert processor_seconds() - began < 5


def test_task_items_lose_their_box() -> None:
    assert blocks("- [ ] do\n- [x] done\n") == [("list", "- do"), ("list", "- done")]


def test_a_hundred_levels_are_read_and_more_are_noted() -> None:
    assert read("> " * 90 + "deep\n").blocks[0].text == "deep"
    assert read("> " * 90 + "deep\n").notes == ()
    too_deep = read("> " * 120 + "deep\n\nafter\n")
    assert too_deep.notes == (TOO_DEEP,)
    assert [b.text for b in too_deep.blocks] == ["after"]


def test_wikilinks_and_tags_render_as_plain_anchors() -> None:
    html = markdown_parser().render('[[a b#c|<d>]] #t [[javascript:x|y]] [["x]]')
    assert '<a class="wikilink" href="a%20b#c">&lt;d&gt;</a>' in html
    assert '<a class="tag">#t</a>' in html
    assert "javascript" not in html


def test_the_title_is_front_matter_then_heading_then_file_name() -> None:
    assert read("---\ntitle: '`color` property'\n---\n# H\n").title == "color property"
    assert read("text\n\n# H\n").title == "H"
    assert read("text\n", path="a/some note.md").title == "some note"


def test_offsets_count_in_the_text_with_its_front_matter() -> None:
    document = read("---\ntitle: x\n---\n\n# H\n\npara\n")
    heading, block = document.headings[0], document.blocks[0]
    assert document.text[heading.start : heading.end] == "# H\n"
    assert document.text[block.start : block.end] == "para\n"


def test_a_piece_reads_without_marks() -> None:
    for piece, plain in {
        "- item **bold** `code`": "- item bold code",
        "> quote [a](b)": "quote a",
        "| a | *b* |": "a | b",
        "|---|:-:|": "",
        "## Head": "Head",
        "see [y][z] and [[w|t]]": "see y and t",
        "- [ ] task": "- task",
        "- [/] half": "- half",
        "a <b>c</b> &amp; d": "a c & d",
    }.items():
        assert plain_piece("markdown", piece) == plain
        assert plain_piece("text", piece) == piece


def test_the_size_of_an_image_is_no_text_and_media_are_links() -> None:
    document = read(
        '![[owl.png|300]] ![an owl|20x10](owl.png)\n\n<video src="a.mp4"><source src="b.webm"></video>\n'
    )
    assert "300" not in document.blocks[0].text and "20x10" not in document.blocks[0].text
    assert [(link.kind, link.target, link.text) for link in document.links] == [
        ("transclusion", "owl.png", "owl.png"),
        ("image", "owl.png", "an owl"),
        ("image", "a.mp4", ""),
        ("image", "b.webm", ""),
    ]


def test_an_address_in_running_text_is_a_link_and_the_name_of_a_file_is_none() -> None:
    document = read(
        "See https://e.org/a_b_c/~x~/*y*z. (http://e.org/x_(y)) build.rs, www.e.org, a@b.org, //x, ftp://x.y.\n\n"
        "`https://code.e.org` [https://e.org](page.md) <https://e.org/angle> https://{host}/x\n"
    )
    assert [link.target for link in document.links] == [
        "https://e.org/a_b_c/~x~/*y*z", "http://e.org/x_(y)", "page.md", "https://e.org/angle",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "title", "name"),
    [
        ("A {#b}", "A", "b"),
        ("A { .c #b }", "A", "b"),
        ("A {: .c }", "A", ""),
        ('A { data-toc-label="B b" }', "A", ""),
        ("A { data-search-exclude }", "A", ""),
        ("A ## {#b}", "A", "b"),
        ("A {b}", "A {b}", ""),
        ("A { .c, d }", "A { .c, d }", ""),
        ("A {}", "A {}", ""),
    ],
)
def test_attributes_are_no_part_of_a_heading(heading: str, title: str, name: str) -> None:
    (found,) = read(f"## {heading}\n").headings
    assert (found.text, found.anchor) == (title, name)


def test_options_of_pymdowns_blocks_are_no_text() -> None:
    text = "/// details | More\n    type: warning\n    open: true\n\nInside.\n///\n"
    html = markdown_parser().render(text)
    assert "callout-warning" in html and "<details" in html and " open" in html and "type" not in html


def test_what_searches_leave_out_is_on_the_page_and_no_block() -> None:
    text = (
        "# T\n\nOne.\n\n## A { data-search-exclude }\n\nTwo.\n\n### B\n\nThree.\n\n## C\n\nFour.\n\n"
        "/// note | N\n    attrs: {data-search-exclude: ''}\n\nFive.\n///\n\nSix.\n"
    )
    assert [block.text for block in read(text).blocks] == ["One.", "Four.", "Six."]
    html = markdown_parser().render(text)
    assert all(f"{word}." in html for word in ("Two", "Three", "Five"))
    assert [each.text for each in read(text).headings] == ["T", "A", "B", "C"]


def test_a_bare_address_ends_before_the_marks_around_it() -> None:
    html = markdown_parser().render("_https://a.b/c_ and **https://a.b/d**\n")
    assert '<em><a href="https://a.b/c">' in html and '<strong><a href="https://a.b/d">' in html


def test_many_addresses_without_an_end_cost_time_in_proportion_to_their_length() -> None:
    md = markdown_parser()
    measure = md.linkify._validate_http
    with patch.object(md.linkify, "_validate_http", side_effect=measure) as measured:
        md.parse("![](https://host/" * 1_000, {})
    assert 0 < measured.call_count <= 1_000
    assert max(len(call.args[0]) for call in measured.call_args_list) <= 2_048
