"""A document's content: links, headings, code, tables, callouts, transclusions."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.outline.plan import plan_site
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Source
from noctule.pipeline.settings.collection import Address, Collection
from noctule.pipeline.settings.site import Site
from tests.site_builder import content_of, page_of, snapshot_of_sources


def _soup(text: str, **others: str) -> BeautifulSoup:
    return BeautifulSoup(content_of(text, **others), "html.parser")


@pytest.mark.parametrize(
    ("written", "href"),
    [
        ("[x](guide/install.md)", "guide/install.html"),
        ("[x](guide/install)", "guide/install.html"),
        ("[x](guide/install.md#first-steps)", "guide/install.html#first-steps"),
        ("[x](guide/install.md#First_Steps)", "guide/install.html#first-steps"),
        ("[x](guide/install.md#nowhere)", "guide/install.html"),
        ("[[install]]", "guide/install.html"),
        ("[[install#First steps|how]]", "guide/install.html#first-steps"),
        ("[[guide/install.md|install]]", "guide/install.html"),
        ("[x](#here)", "#here"),
        ('<a href="guide/install.md">x</a>', "guide/install.html"),
        ("[x][ref]\n\n[ref]: guide/install.md", "guide/install.html"),
    ],
)
def test_links_between_documents_lead_to_pages(written: str, href: str) -> None:
    texts = {
        "page.md": f"# Page\n\n## Here\n\n{written}\n",
        "guide/install.md": "# Install\n\n## First steps\n\nDo.\n",
    }
    link = page_of(texts, "page.html").select_one("article p a")
    assert link is not None and link["href"] == href


def test_links_out_of_the_site_are_marked_and_carry_no_referrer() -> None:
    link = _soup("[x](https://example.org/?a=1&b=2)").a
    assert link is not None
    assert link["href"] == "https://example.org/?a=1&b=2"
    assert set(link["rel"]) == {"noopener", "noreferrer"}


def test_a_link_to_another_part_of_the_sites_address_stays_a_link() -> None:
    text = "[x](https://owl.example.org/v1/) [y](https://owl.example.org/page)"
    source = Source("notes", "page.md", text.encode(), sha256_hex(text.encode()))
    address = Address(base_url="https://owl.example.org/", style="directory")
    snapshot = snapshot_of_sources([source], {"notes": Collection(root=".", address=address)})
    plan = plan_site(snapshot, Site())
    soup = BeautifulSoup(plan.renderer.render(plan.by_page["page.html"]).html, "html.parser")
    assert next(a["href"] for a in soup.select("a[href]")) == "https://owl.example.org/v1/"
    assert soup.select(".missing-link") == []


@pytest.mark.parametrize("written", ["[x](gone.md)", "[[gone]]", "![[gone]]", "[x](tool.zip)"])
def test_a_link_to_nothing_is_a_span_that_says_so(written: str) -> None:
    soup = _soup(f"{written} and [y](https://example.org)")
    missing = soup.select_one("span.missing-link")
    assert missing is not None and missing["title"]
    assert [a.text for a in soup.find_all("a")] == ["y"]


def test_images_become_their_alternative_text() -> None:
    soup = _soup("![a <b> bat](bat.png) ![](figures/owl.svg) ![far](https://example.org/track.gif)")
    assert soup.find("img") is None
    assert [note.text for note in soup.select(".image-note")] == ["a <b> bat", "owl.svg"]
    assert "far" in soup.text and "example.org" not in str(soup)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("## Page\n\nA.\n\n### B\n\n#### C\n", [("h1", "page"), ("h2", "b"), ("h3", "c")]),
        ("## Page\n\nA.\n\n## B\n\n### C\n", [("h1", "page"), ("h2", "b"), ("h3", "c")]),
        ('<a id="old"></a>\n\n## Page\n\nA.\n\n### B\n', [("h1", "page"), ("h2", "b")]),
        ("A.\n\n## Page\n\nA.\n", [("h1", None), ("h2", "page")]),
        ("---\ntitle: Other\n---\n\n## Page\n", [("h1", None), ("h2", "page")]),
    ],
)
def test_a_lower_heading_that_names_the_page_is_its_title_and_stands_there_once(
    text: str, shown: list[tuple[str, str | None]]
) -> None:
    headings = page_of({"page.md": text}, "page.html").select("article :is(h1, h2, h3, h4)")
    assert [(heading.name, heading.get("id")) for heading in headings] == shown


def test_headings_carry_the_names_that_the_index_gave_them() -> None:
    soup = _soup("# Page\n\n## Twice\n\na\n\n## Twice\n\nb\n\n## `code` & *more*\n\nc\n\n> ## Quoted\n")
    assert [h.get("id") for h in soup.find_all(["h1", "h2"])] == [
        "page",
        "twice",
        "twice-1",
        "code-more",
        "quoted",
    ]


@pytest.mark.parametrize("inside", ["!!! note\n    ## Set up\n", "> ## Set up\n", "- a\n\n  ## Set up\n"])
def test_headings_in_boxes_quotes_and_lists_carry_them_too(inside: str) -> None:
    soup = _soup(f"# T\n\n{inside}\nSee [there](#set-up), [here](#set-up-1).\n\n## Set up\n")
    assert [link["href"] for link in soup.select("p a")] == ["#set-up", "#set-up-1"]
    assert [each["id"] for each in soup.select("h2")] == ["set-up-1", "set-up"]


def test_a_heading_without_text_below_it_still_has_its_name() -> None:
    soup = _soup("# Page\n\n## Empty\n\n## Full\n\ntext\n\n## Full\n\nmore\n")
    assert [h.get("id") for h in soup.find_all("h2")] == ["empty", "full", "full-1"]


def test_the_table_of_contents_leaves_out_headings_with_nothing_below_them() -> None:
    soup = page_of({"a.md": "# A\n\n## One\n\nx\n\n### Two\n\ny\n\n#### Deep\n\nz\n\n## Empty\n\n"}, "a.html")
    assert [a["href"] for a in soup.select("nav.toc a")] == ["#one", "#two"]
    assert [e["class"] for e in soup.select("nav.toc li[class]")] == [["toc-sub"]]
    assert soup.find(id="empty") is not None


@pytest.mark.parametrize(
    "tag", ["textarea", "select", "title", "iframe", "plaintext", "svg", "STYLE", "noframes"]
)
@pytest.mark.parametrize("written", ["<p>the {} element</p>", "The {} element.", "<div>\n{}\n</div>"])
def test_a_tag_that_nothing_closes_does_not_swallow_the_rest_of_the_page(tag: str, written: str) -> None:
    soup = _soup(f"# A\n\n{written.format(f'<{tag}>')}\n\n## Below\n\nStill here.\n")
    assert f"<{tag}>" in soup.text and soup.find(tag.lower()) is None
    assert soup.find(id="below") is not None and "Still here." in soup.text


def test_dropped_elements_that_are_closed_are_dropped_with_their_content() -> None:
    soup = _soup(
        "One <select><option>gone</option></select> two.\n\n<svg>\n<text>gone</text>\n</svg>\n\nThree.\n"
    )
    assert "gone" not in soup.text and "two" in soup.text and "Three" in soup.text


def test_code_is_coloured_by_classes_and_keeps_its_text() -> None:
    source = 'def f(a: int) -> str:\n    return "<b>" & a\n'
    block = _soup(f"```python\n{source}```").select_one(".code")
    assert block is not None and block["data-language"] == "python"
    assert block.text == source
    assert block.select_one("span.k") is not None
    assert not block.find(style=True)


def test_unknown_languages_and_code_without_one_stay_plain() -> None:
    for info in ("", "no-such-language", '"><script>'):
        block = _soup(f"````{info}\na <b> & ``` c\n````").select_one(".code code")
        assert block is not None and block.text == "a <b> & ``` c\n" and not block.find()


def test_tables_scroll_and_align_by_class() -> None:
    soup = _soup("| a | b |\n|:-:|--:|\n| 1 | 2 |\n")
    assert soup.select_one("div.table-scroll[tabindex='0'] > table") is not None
    assert [cell["class"] for cell in soup.find_all("td")] == [["align-center"], ["align-right"]]
    assert not soup.find(style=True) and not soup.find(align=True)


@pytest.mark.parametrize("written", ["> [!WARNING]\n> Mind it.", '!!! warning "Warning"\n    Mind it.'])
def test_callouts_are_named_and_titled(written: str) -> None:
    callout = _soup(written).select_one(".callout.callout-warning")
    assert callout is not None
    title = callout.select_one(".callout-title")
    assert title is not None and title.text == "Warning"
    assert "[!" not in callout.text and "Mind it." in callout.text


def test_mdn_definition_lists_are_definition_lists() -> None:
    simple = _soup("- `a`\n  - : The *first*.\n- `b`\n  - : The second.\n")
    assert [(e.name, e.text.strip()) for e in simple.select("dl > *")] == [
        ("dt", "a"), ("dd", "The first."), ("dt", "b"), ("dd", "The second."),
    ]  # fmt: skip


def test_ordinary_nested_lists_stay_lists() -> None:
    soup = _soup("- a\n  - : b\n- c\n")
    assert soup.find("dl") is None and len(soup.find_all("li")) == 3


def test_footnotes_lead_there_and_back() -> None:
    soup = _soup("A claim.[^1]\n\n[^1]: Its source.\n")
    reference = soup.select_one("sup a")
    assert reference is not None
    note = soup.find(id=reference["href"][1:])
    assert note is not None and "Its source." in note.text
    assert soup.find(id=note.find_all("a")[-1]["href"][1:]) is not None


def test_a_heading_whose_name_begins_like_those_of_raw_html_keeps_it() -> None:
    texts = {
        "page.md": "# Page\n\n[a](b.md#source-code)\n",
        "b.md": "# B\n\nSee [the code](#source-code).\n\n## Source code\n\nx\n",
    }
    page = page_of(texts, "b.html")
    assert page.select_one("h2#source-code a.anchor[href='#source-code']") is not None
    assert page.select_one("article p a[href='#source-code']") is not None
    link = page_of(texts, "page.html").select_one("article p a")
    assert link is not None and link["href"] == "b.html#source-code"


def test_addresses_of_headings_on_other_tools_sites_lead_to_them() -> None:
    soup = _soup("# Page\n\n## Where's the `->`?\n\na\n\n## 1. Über\n\nb\n\n## Same\n\nc\n\n## Same\n\nd\n")
    for name in ("wheres-the--", "wheres-the-", "where-s-the", "1-uber", "_1-uber", "same_1"):
        assert soup.select_one(f"h2 span[id='{name}']") is not None, name
    ids = [each["id"] for each in soup.select("[id]")]
    assert len(ids) == len(set(ids))


def test_a_label_that_is_the_name_of_the_note_is_shown_for_a_path_to_it() -> None:
    assert "/bat.md" not in _soup("[[/bat.md|bat]]", bat="x").text


def test_task_lists_show_their_state() -> None:
    boxes = _soup("- [x] done\n- [ ] open\n").find_all("input")
    assert [(b["type"], b.has_attr("checked"), b["aria-label"]) for b in boxes] == [
        ("checkbox", True, "done"), ("checkbox", False, "to do"),
    ]  # fmt: skip


def test_tasks_in_other_states_say_which() -> None:
    soup = _soup("- [/] half [b](bat.md)\n- [ ] open\n\n1. [-] no\n\n   more\n", bat="x")
    states = [
        (each["aria-label"], each.parent.get_text(" ", strip=True)) for each in soup.select(".task-state")
    ]
    assert states == [("in progress", "/ half b"), ("cancelled", "- no")]
    assert len(soup.select(".contains-task-list > .task-list-item")) == 3


def test_what_only_looks_like_a_task_stays() -> None:
    assert "[/] half" in _soup("[/] half\n").text and "[c] x" in _soup("- [c] x\n").text


def test_a_tag_in_the_text_leads_to_the_tags_page() -> None:
    soup = page_of({"a/b.md": "# B\n\nOn #flying/low today.\n"}, "a/b.html")
    tag = soup.select_one("article a.tag")
    assert tag is not None and tag.text == "#flying/low" and tag["href"] == "../_tags/flying-low.html"


def test_a_transclusion_shows_the_note_and_where_it_is_from() -> None:
    soup = _soup(
        "Before.\n\n![[bat]]\n\nAfter.",
        bat="---\ntitle: Bat\n---\nIt [flies](page.md).\n\n## Wings\n\nTwo.\n",
    )
    shown = soup.select_one("div.transclusion")
    assert shown is not None and "It flies" in shown.text and "title: Bat" not in shown.text
    assert [a["href"] for a in shown.find_all("a")] == ["bat.html", "page.html"]
    assert not list(shown.find_all(id=True))
    assert soup.find("p", string="") is None


def test_a_section_is_transcluded_alone() -> None:
    shown = _soup(
        "![[bat#Wings]]", bat="# Bat\n\nOne.\n\n## Wings\n\nTwo.\n\n## Ears\n\nThree.\n"
    ).select_one(".transclusion")
    assert (
        shown is not None and "Two." in shown.text and "One." not in shown.text and "Three." not in shown.text
    )


def test_transclusions_that_lead_back_are_cut() -> None:
    soup = _soup("Page. ![[page]]\n\n![[a]]", a="In A.\n\n![[b]]\n", b="In B.\n\n![[a]]\n\n![[page]]\n")
    assert soup.text.count("In A.") == soup.text.count("In B.") == 1
    assert len(soup.select(".transclusion")) == 2


def test_transclusions_end_at_a_depth_of_three() -> None:
    others = {f"n{i}": f"Level {i}.\n\n![[n{i + 1}]]\n" for i in range(1, 7)}
    text = _soup("![[n1]]", **others).text
    assert "Level 3." in text and "Level 4." not in text


def test_notes_that_transclude_each_other_manifold_stay_bounded() -> None:
    names = [f"n{i}" for i in range(8)]
    everything = "\n\n".join(f"![[{name}]]" for name in names)
    html = content_of(everything, **{name: f"{name}.\n\n{everything}" for name in names})
    assert html.count('class="transclusion"') <= 100


def test_two_transclusions_of_one_note_do_not_share_names() -> None:
    soup = _soup("![[note]]\n\n![[note]]\n", note="Claim.[^1]\n\n## Part\n\nText.\n\n[^1]: Source.\n")
    names = [e["id"] for e in soup.find_all(id=True)]
    assert len(names) == len(set(names)) == 4
    assert all(soup.find(id=a["href"][1:]) for a in soup.select("sup a"))


def test_html_documents_keep_their_names_and_links_to_them() -> None:
    texts = {
        "a.html": "<html><title>A</title><main><h1>A</h1><p><a href='b.html#x.y'>to</a> <a href='#z'>"
        "here</a></p>"
        "<p id='z'>z</p><pre><code class='language-python'>import os</code></pre></main></html>",
        "b.html": "<html><title>B</title><main><h1>B</h1><dl><dt id='x.y'>x.y</dt><dd>d</dd></dl></main>"
        "</html>",
    }
    soup = page_of(texts, "a.html")
    assert [a["href"] for a in soup.select("article p a")] == ["b.html#x.y", "#z"]
    assert soup.find(id="z") is not None and soup.select_one(".code .kn") is not None
    assert page_of(texts, "b.html").find(id="x.y") is not None
    assert len(soup.find_all("main")) == 1


def test_plain_text_is_shown_as_it_is() -> None:
    soup = page_of({"a.txt": "one <b>two</b>\n\n  three [x](y.md)"}, "a.html")
    assert soup.select_one("article pre").text == "one <b>two</b>\n\n  three [x](y.md)"


def test_names_that_authors_give_stay_and_links_from_other_pages_reach_them() -> None:
    texts = {
        "a.md": "# A\n\n[one](b.md#deep) [two](b.md#named) [three](b.md#lab) [menu](b.md#SiteNav)\n",
        "b.md": "# B\n\n<a id='deep'></a> <a name='named'></a> <a id='SiteNav'></a>\n\n"
        "(lab)=\n\n## Own {#my-id}\n",
    }
    links = [a["href"] for a in page_of(texts, "a.html").select("article p a")]
    assert links == ["b.html#deep", "b.html#named", "b.html#lab", "b.html#source-SiteNav"]
    page = page_of(texts, "b.html")
    assert all(page.find(id=name) for name in ("deep", "named", "lab", "source-SiteNav", "my-id"))
    assert "(lab)=" not in page.get_text()


RST_PAGES = {
    "page.rst": "Page\n====\n\n.. toctree::\n\n   guide/install\n   Mine <guide/install>\n\n"
    ":doc:`guide/install`, :ref:`steps`, :ref:`own <steps>`, :ref:`elsewhere <gone>` and :ref:`noted`.\n",
    "guide/install.rst": "Install *it*\n============\n\n.. _steps:\n\nFirst steps\n-----------\n\nDo.\n",
    "notes.md": "# Notes\n\nText.\n\n(noted)=\n(also)=\n## A note\n\nText.\n",
}


def test_references_of_sphinx_without_a_text_show_the_titles_of_what_they_lead_to() -> None:
    article = page_of(RST_PAGES, "page.html").select_one("article")
    assert article is not None
    assert [link.text for link in article.select("li a")][:2] == ["Install it", "Mine"]
    assert "Install it, First steps, own, elsewhere and A note." in " ".join(article.text.split())


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("{doc}`guide/install`", "Install"),
        ("{doc}`how <guide/install>`", "how"),
        ("{ref}`noted`", "A note"),
        ("[](guide/install.md)", "Install"),
        ("[](guide/install.md#first-steps)", "First steps"),
        ("[](#noted)", "A note"),
        ("[](#here)", "Here"),
        ("[guide/install.md](guide/install.md)", "guide/install.md"),
        ("```{toctree}\nguide/install\n```", "Install"),
        ("[](gone.md)", "gone.md"),
    ],
)
def test_links_of_myst_without_a_text_show_the_titles_of_what_they_lead_to(written: str, shown: str) -> None:
    texts = {
        "page.md": f"# Page\n\n## Here\n\n{written}\n",
        "guide/install.md": "# Install\n\n## First steps\n\nDo.\n",
        "notes.md": RST_PAGES["notes.md"],
    }
    found = page_of(texts, "page.html").select_one("article h2 ~ p")
    assert found is not None and found.text.strip() == shown


def test_a_note_called_by_its_file_shows_its_name_above_headings_that_are_parts() -> None:
    texts = {"2024-05-01.md": "---\ntitle: 2024-05-01\n---\n# Tasks\n\nOne.\n\n# Log\n\nTwo.\n"}
    assert [found.text.split()[0] for found in page_of(texts, "2024-05-01.html").select("h1")] == [
        "2024-05-01", "Tasks", "Log",
    ]  # fmt: skip
    texts = {"a.md": "# A title\n\n# B\n"}
    assert [found.text.split()[0] for found in page_of(texts, "a.html").select("h1")] == ["A", "B"]
