from __future__ import annotations

import pytest

from noctule.pipeline.address import heading_slugs
from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.links.linking_documents import linking_document
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Document, ResolvedLink, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.parse.labels import label_anchor
from noctule.pipeline.settings.collection import Collection, Rule


def read(text: str, path: str = "page.rst", rules: tuple[Rule, ...] = ()) -> Document:
    content = text.encode()
    return parse(Source("c", path, content, sha256_hex(content)), Collection(root="unused", rules=rules))


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in read(text).blocks]


def code(text: str) -> list[tuple[str, str]]:
    return [(block.language, block.code) for block in read(text).blocks if block.kind == "code"]


def links(text: str) -> list[tuple[str, str]]:
    return [(link.target, link.text) for link in read(text).links]


def resolved(pages: dict[str, str]) -> list[ResolvedLink]:
    documents = [read(text, path) for path, text in pages.items()]
    linking = [linking_document(each, heading_slugs(each.headings)) for each in documents]
    return resolve_links(linking, {"c": Collection(root="unused")})


def test_a_label_of_nbsphinx_is_the_path_of_a_notebook() -> None:
    page = read("Page\n====\n\nSee :ref:`it </gallery/owls.ipynb#Night>`.\n")
    assert [link.target for link in page.links] == ["/gallery/owls.ipynb#Night"]


def test_a_page_is_its_headings_and_blocks_where_they_say() -> None:
    document = read(
        "=====\nTitle\n=====\n\nOne *two* ``x``\nthree.\n\nPart ``y``\n------\n\n- a\n\n  - b\n\nSub\n"
        "~~~\n\n::\n\n  code\n\n"
        "Other\n-----\n\nend\n"
    )
    assert document.title == "Title"
    assert [(h.level, h.text, h.anchor) for h in document.headings] == [
        (1, "Title", "title"),
        (2, "Part y", "part-y"),
        (3, "Sub", "sub"),
        (2, "Other", "other"),
    ]
    assert document.text == (
        "Title\n\nOne two x three.\n\nPart y\n\n- a\n\n- b\n\nSub\n\ncode\n\nOther\n\nend\n\n"
    )
    assert all(document.text[b.start : b.end] == b.text + "\n" for b in document.blocks)
    assert [document.text[h.start : h.end] for h in document.headings] == [
        f"{h.text}\n" for h in document.headings
    ]
    assert document.blocks[0].code == "x"
    assert "<em>two</em>" in document.html
    assert (document.syntax, document.url) == ("html", "page.html")


def test_a_title_in_letters_that_ids_do_not_know_keeps_its_own_slug() -> None:
    document = read("安装\n====\n\nx\n\n使用\n----\n\ny\n")
    assert heading_slugs(document.headings) == ["安装", "使用"]


def test_two_headings_of_one_name_have_two_anchors() -> None:
    assert [h.anchor for h in read("A\n=\n\nx\n\nB\n-\n\ny\n\nB\n-\n\nz\n").headings] == ["a", "b", "b-1"]


@pytest.mark.parametrize(
    ("source", "language"),
    [
        (".. code-block:: Python\n   :linenos:\n\n   x = 1\n", "python"),
        (".. code::\n\n   x = 1\n", ""),
        (".. sourcecode:: c++\n   :unknown-option: 7\n\n   x = 1\n", "c++"),
        (".. testcode:: group\n\n   x = 1\n", "python"),
        (".. code-block::\n   x = 1\n", ""),
        (".. code-block:: js\n   x = 1\n", "js"),
        (".. highlight:: rust\n\n::\n\n   x = 1\n", "rust"),
        (".. math::\n\n   x = 1\n", "math"),
        (".. math:: x = 1\n   :label: eq\n", "math"),
        (".. ipython:: python3\n\n   x = 1\n", "ipython"),
    ],
)
def test_code_keeps_its_language_and_text(source: str, language: str) -> None:
    assert code(source) == [(language, "x = 1")]


def test_doctests_are_code_and_hidden_tests_are_not_shown() -> None:
    assert code("Text:\n\n>>> f(1)\n2\n") == [("pycon", ">>> f(1)\n2")]
    assert code(
        ".. testcode::\n   :hide:\n\n   a\n\n.. testsetup::\n\n   b\n\n.. testoutput::\n\n   c\n"
    ) == [("", "c")]


def test_captions_of_code_are_its_titles_and_names_of_included_files_text() -> None:
    block = ".. code-block:: c\n   :caption: A ``file``\n\n   x\n"
    source = f"{block}\n.. literalinclude:: ../src/a.py\n   :lines: 1-3\n"
    assert blocks(source) == [("code", "A file\nx"), ("text", "src/a.py")]
    assert code(source) == [("c", "x")]


def test_notes_are_callouts_and_keep_their_content() -> None:
    document = read(
        ".. note:: First\n   line.\n\n   Second.\n\n.. admonition:: Mind *this*\n   :class: warning\n\n"
        "   Body.\n\n"
        ".. versionadded:: 1.2\n   The *x*.\n\n.. seealso::\n   :collapsible:\n\n   That.\n"
    )
    assert [b.text for b in document.blocks] == [
        "Note", "First line.", "Second.", "Mind this", "Body.", "New in version 1.2", "The x.", "See also",
        "That.",
    ]  # fmt: skip
    assert '<div class="callout callout-note"><p class="callout-title">Note</p>' in document.html
    assert (
        '<div class="callout callout-warning"><p class="callout-title">Mind <em>this</em></p>'
        in document.html
    )


def test_tabs_cards_and_dropdowns_are_their_titles_and_content() -> None:
    assert blocks(
        ".. tab-set::\n\n   .. tab-item:: Python\n      :sync: py\n\n      P\n\n   .. tab-item:: Java\n\n"
        "      J\n\n"
        ".. grid:: 1 2 3\n   :gutter: 1\n\n   .. grid-item-card:: Card\n      :link: /a/b\n"
        "      :link-type: doc\n\n"
        "      Head\n      ^^^\n      Middle\n      +++\n      Foot\n\n.. dropdown:: More\n\n   M\n"
    ) == [
        ("text", each) for each in ("Python", "P", "Java", "J", "Card", "Head", "Middle", "Foot", "More", "M")
    ]


def test_a_directive_nobody_knows_keeps_its_content_as_text_or_as_code() -> None:
    assert blocks(".. fancy:: An *argument*\n   :title: Told\n   :size: 3\n\n   Some ``text``.\n") == [
        ("text", "An argument"),
        ("text", "Told"),
        ("text", "Some text."),
    ]
    assert blocks(".. chart::\n\n   graph TD\n      a --> *b\n    c\n") == [
        ("code", "graph TD\n   a --> *b\n c")
    ]


def test_code_in_directives_nobody_knows_is_code() -> None:
    text = (
        ".. click:example::\n    import click\n\n    @click.command()\n    def hi():\n        pass\n\n"
        ".. exec:: a\n\n    >>> 1\n    1\n\n.. tool::\n\n    Say x = 1, a.\n\n"
        ".. js:widget::\n    owl(a)\n\n.. js:function::\n    owl(a)\n"
    )
    assert code(text) == [
        ("python", "import click\n\n@click.command()\ndef hi():\n    pass"),
        ("pycon", ">>> 1\n1"),
        ("python", "owl(a)"),
    ]
    assert ("text", "Say x = 1, a.") in blocks(text) and ("text", "owl(a)") in blocks(text)


def test_what_docutils_complains_about_is_not_lost() -> None:
    assert ("code", ".. list-table::\n\n   not a list") in blocks(".. list-table::\n\n   not a list\n")
    assert blocks(".. note::\n\n   Inner\n   =====\n\n   text\n") == [
        ("text", "Note"),
        ("text", "Inner"),
        ("text", "text"),
    ]
    skipped = read("A\n=\n\nx\n\nB\n-\n\ny\n\nC\n~\n\nz\n\nD\n=\n\nw\n\nE\n~\n\nv\n")
    assert [(h.level, h.text) for h in skipped.headings] == [(1, "A"), (2, "B"), (3, "C"), (1, "D"), (2, "E")]
    assert blocks("an *open mark and `another\n") == [("text", "an *open mark and `another")]


def test_roles_become_names_in_code_text_or_nothing() -> None:
    text = (
        ":class:`~ray.data.Dataset` :py:meth:`Dataset.map() <ray.data.Dataset.map>` :func:`!f` "
        ":made-up:`x` :abbr:`AB` "
        ":kbd:`<Tab>` `plain <int>` :octicon:`report;1em` :bdg-primary:`new` :math:`a^2` :pep:`8` :sub:`s`\n"
    )
    document = read(text)
    assert document.blocks[0].text == ("Dataset Dataset.map() f() x AB <Tab> plain <int> new a^2 PEP 8 s")
    assert document.blocks[0].code.split("\n") == [
        "Dataset",
        "Dataset.map()",
        "f()",
        "x",
        "<Tab>",
        "plain <int>",
    ]
    assert [link.target for link in document.links] == [
        "#object:ray.data.Dataset",
        "#object:ray.data.Dataset.map",
        "#object::made-up:x",
        "https://peps.python.org/pep-0008",
    ]


@pytest.mark.parametrize("name", ["epigraph", "highlights", "pull-quote"])
def test_a_quotation_names_its_writer(name: str) -> None:
    document = read(f".. {name}::\n\n   Owls *see*.\n\n   -- A. Elk\n\nText.\n")
    assert [block.text for block in document.blocks] == ["Owls see.", "A. Elk", "Text."]
    assert "<blockquote>" in document.html
    assert [block.text for block in read(f".. {name}:: Owls\n   see.\n").blocks] == ["Owls see."]
    named = read(f".. {name}::\n   :name: said\n\n   Owls.\n\n:ref:`x <said>`\n").html
    assert 'id="source-ref:said"></span><blockquote>' in named


@pytest.mark.parametrize("number", ["-", "\N{ARABIC-INDIC DIGIT EIGHT}", "8-"])
def test_a_standard_is_named_by_a_number(number: str) -> None:
    document = read(f":pep:`{number}` :cve:`2024-1`\n")
    assert [link.target for link in document.links] == ["https://www.cve.org/CVERecord?id=CVE-2024-1"]


def test_a_role_or_default_role_of_one_document_is_unknown_to_the_next() -> None:
    first = read(".. role:: mine(strong)\n\n.. default-role:: emphasis\n\n:mine:`a` `b`\n")
    assert "<strong>a</strong> <em>b</em>" in first.html
    assert "<code>a</code></a> <code>b</code>" in read(":mine:`a` `b`\n").html


def test_links_of_every_kind_are_found() -> None:
    assert links(
        "`a <b.html#c>`_ `d`_ e_ https://x.org :doc:`f <../g>` :doc:`/h` :ref:`i <J k>` :ref:`l_m` "
        "`anon`__\n\n"
        ".. _d: y.html\n.. _e: d_\n.. __: z.html\n\n.. toctree::\n   :caption: Below\n\n   one/two\n"
        "   Three <three>\n   self\n   many/*\n"
    ) == [
        ("b.html#c", "a"),
        ("y.html", "d"),
        ("y.html", "e"),
        ("https://x.org", "https://x.org"),
        ("../g", "f"),
        ("/h", "/h"),
        ("#ref:j-k", "i"),
        ("#ref:l-m", "l_m"),
        ("z.html", "anon"),
        ("one/two", "one/two"),
        ("three", "Three"),
    ]


def test_a_hidden_toctree_links_without_text() -> None:
    document = read("Title\n=====\n\nx\n\n.. toctree::\n   :hidden:\n\n   a\n   b/*\n")
    assert [link.target for link in document.links] == ["a"]
    assert document.text == "Title\n\nx\n\n"


def test_labels_lead_to_their_place_in_any_document() -> None:
    pages = {
        "core/actors.rst": ".. _actor_guide:\n.. _Second Name:\n\nActors\n======\n\nx\n\n.. _inner:\n\n"
        "A paragraph.\n",
        "tune/index.rst": (
            "Actors\n======\n\n:ref:`actor_guide` :ref:`x <second   name>` :ref:`inner` :ref:`nowhere` "
            ":doc:`/core/actors`"
            " :doc:`../notes` `y <../core/actors.html#actor-guide>`_ :any:`other` :ref:`labelled`\n"
        ),
        "tune/other.rst": "Other\n=====\n\nx\n",
        "notes.md": "(labelled)=\n\n# Notes\n\n[to](actor_guide) [in](#labelled)\n",
    }
    found = [(link.target, link.target_id, link.status) for link in resolved(pages)]
    actors = "c:core/actors.rst"
    assert found == [
        ("actor_guide", actors, "resolved"),
        ("#labelled", "c:notes.md", "resolved"),
        ("#ref:actor-guide", actors, "resolved"),
        ("#ref:second-name", actors, "resolved"),
        ("#ref:inner", actors, "resolved"),
        ("#ref:nowhere", None, "missing-document"),
        ("/core/actors", actors, "resolved"),
        ("../notes", "c:notes.md", "resolved"),
        ("../core/actors.html#actor-guide", actors, "resolved"),
        ("#ref:other", "c:tune/other.rst", "resolved"),
        ("#ref:labelled", "c:notes.md", "resolved"),
    ]
    assert read(pages["core/actors.rst"]).anchors[:2] == ("actors", "second-name")


def test_a_leading_slash_is_the_folder_of_the_sources_wherever_that_is() -> None:
    pages = {
        "project/doc/source/core/actors.rst": "Actors\n======\n\nx\n",
        "project/doc/source/tune/deep/index.rst": ":doc:`/core/actors`\n",
        "project/doc/source/tune/page.html": '<p><a href="/core/actors">x</a></p>',
    }
    assert [link.target_id for link in resolved(pages)] == ["c:project/doc/source/core/actors.rst", None]


def test_a_label_may_go_on_in_the_next_line() -> None:
    assert label_anchor("Fixing\n   conflicts") == label_anchor("fixing conflicts") == "ref:fixing-conflicts"


def test_a_label_of_the_same_page_is_shown_as_its_title() -> None:
    assert links(":ref:`here`\n\n.. _here:\n\nA *long* title\n--------------\n\nx\n") == [
        ("#ref:here", "A long title")
    ]


def test_tables_of_every_kind_are_rows() -> None:
    for table in (
        "=== ===\nA   B\n=== ===\n1   ``2``\n=== ===\n",
        "+---+-------+\n| A | B     |\n+===+=======+\n| 1 | ``2`` |\n+---+-------+\n",
        ".. list-table:: T\n   :header-rows: 1\n   :widths: 1 2 3 4\n   :odd: yes\n\n   * - A\n     - B\n"
        "   * - 1\n     - ``2``\n",
        '.. csv-table::\n   :header: "A", "B"\n\n   1, ``2``\n',
    ):
        rows = [(b.text, b.code) for b in read(table).blocks if b.kind == "table"]
        assert rows == [("A | B", ""), ("1 | 2", "2")]


def test_definitions_fields_options_and_lines_are_kept() -> None:
    assert blocks(
        "term : kind\n   Meaning.\n\n:param x: The x.\n\n-v, --verbose  Say more.\n\n| one\n| two\n"
    ) == [
        ("list", "- term : kind"),
        ("list", "- Meaning."),
        ("list", "- param x"),
        ("list", "- The x."),
        ("list", "- -v, --verbose"),
        ("list", "- Say more."),
        ("text", "one\ntwo"),
    ]


def test_footnotes_and_citations_stand_where_they_are_written() -> None:
    document = read("See [#a]_ and [C1]_.\n\n.. [#a] Note.\n.. [C1] Cited.\n\nEnd.\n")
    assert [b.text for b in document.blocks] == ["See [1] and [C1].", "[1] Note.", "[C1] Cited.", "End."]
    assert {link.target for link in document.links} <= {f"#{anchor}" for anchor in document.anchors}


def test_substitutions_are_replaced_and_unknown_ones_are_their_names() -> None:
    assert blocks(
        ".. |a| replace:: the **text**\n.. |i| image:: i.png\n   :alt: icon\n\nx |a| |i| |A| |release|\n"
    ) == [("text", "x the text icon the text release")]


@pytest.mark.timeout(10)
def test_substitutions_that_multiply_or_circle_end() -> None:
    doubling = "".join(f".. |v{n}| replace:: |v{n + 1}| |v{n + 1}|\n" for n in range(60))
    assert len(read(f"{doubling}\n|v0|\n").text) < 100_000
    assert blocks(".. |a| replace:: |b| x\n.. |b| replace:: |a|\n\n|a|\n") == [("text", "a x")]


def test_objects_are_named_in_full_and_are_anchors() -> None:
    document = read(
        ".. currentmodule:: ray.data\n\n.. autoclass:: Dataset\n   :members: map, filter\n\n"
        ".. py:function:: f(x, y=1)\n"
        "               g(z)\n\n   Does.\n\n.. autosummary::\n   :toctree: doc/\n\n   Dataset.count\n"
        "   ~io.read\n\n"
        ".. class:: small\n\n.. class:: Big(object)\n"
    )
    assert [(b.text, b.code) for b in document.blocks] == [
        ("ray.data.Dataset", "ray.data.Dataset"),
        ("- map", "map"),
        ("- filter", "filter"),
        ("f(x, y=1)", "f(x, y=1)"),
        ("g(z)", "g(z)"),
        ("Does.", ""),
        ("- Dataset.count", "Dataset.count"),
        ("- io.read", "io.read"),
        ("Big(object)", "Big(object)"),
    ]
    assert {"ray.data.Dataset", "ray.data.f"} <= set(document.anchors)


def test_what_a_page_tells_about_itself_is_not_text() -> None:
    document = read(
        ":orphan:\n:author: Ada\n:date: 2020-01-02\n:Status: draft\n\n.. meta::\n"
        "   :description: About it\n   :keywords: one, two\n\n"
        "Title\n=====\n\nx\n"
    )
    assert (document.author, document.modified, document.description) == ("Ada", "2020-01-02", "About it")
    assert document.keywords == ("one", "two")
    assert [b.text for b in document.blocks] == ["- Status", "- draft", "x"]
    assert read(".. title:: Given\n\nTitle\n=====\n\nx\n").title == "Given"


def test_comments_and_settings_are_nothing() -> None:
    assert blocks(
        ".. a comment\n   on two lines\n\n.. contents::\n\n.. index:: x\n\n.. sectionauthor:: A\n\nText.\n"
    ) == [("text", "Text.")]


def test_nothing_but_the_document_is_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("outside") / "secret.txt"
    secret.write_text("do not tell", "utf-8")
    document = read(
        f".. include:: {secret}\n\n.. raw:: html\n   :file: {secret}\n\n.. csv-table::\n"
        f"   :file: {secret}\n\n"
        f".. literalinclude:: {secret}\n\n.. raw:: html\n   :url: file://{secret}\n\n.. figure:: {secret}\n"
        f"   :figwidth: image\n"
    )
    assert "do not tell" not in document.text + document.html
    assert document.links[0].text == "secret.txt"


def test_raw_html_is_sanitised_and_cannot_swallow_the_page() -> None:
    document = read(
        "Before.\n\n.. raw:: html\n\n   </main></body><b>in</b><script>alert(1)</script><p onclick='x'>"
        "q<!-- \n\n"
        "After.\n\n.. raw:: html\n\n   <plaintext>\n\n.. raw:: latex\n\n   \\x\n\nEnd.\n"
    )
    assert [b.text for b in document.blocks] == ["Before.", "in", "q", "After.", "End."]
    assert "script" not in document.html
    assert "onclick" not in document.html
    assert links(".. _x: javascript:alert(1)\n\nx_\n") == [("javascript:alert(1)", "x")]
    assert "javascript" not in read(".. _x: javascript:alert(1)\n\nx_\n").html


def test_dates_are_not_of_the_day_of_the_run() -> None:
    assert blocks(".. |today| date:: %Y\n\nIt is |today|.\n") == [("text", "It is today.")]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["- " * 3_000 + "x", "".join("  " * n + ".. note::\n\n" for n in range(300))]
)
def test_deep_nesting_is_rejected_and_the_next_document_is_read(text: str) -> None:
    before = read("- a\n\n  - b\n\n.. note:: c\n")
    with pytest.raises(RejectedDocument, match="nested too deeply to parse"):
        read(text)
    assert read("- a\n\n  - b\n\n.. note:: c\n") == before


def test_rules_change_the_source_before_it_is_read() -> None:
    document = read("@@T@@\n=====\n\nx\n", rules=(Rule(pattern="@@T@@", replacement="Title"),))
    assert document.title == "Title"


def test_a_page_without_headings_is_named_by_its_file() -> None:
    assert read("x\n", "folder/some page.rest").title == "some page"


@pytest.mark.parametrize("directive", ["code-block", "sourcecode", "code"])
def test_the_language_of_code_is_not_that_of_the_document(directive: str) -> None:
    document = read(f"Owls\n====\n\n.. {directive}:: python\n\n   owl()\n")
    assert document.language == "en"
    assert [block.language for block in document.blocks] == ["python"]


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("session['a'].append(1)\nsession.modified = True", "python"),
        ("@app.route('/')\ndef hello():\n    return 'x'", "python"),
        (">>> f(1)\n2", "pycon"),
        ("pip install flask", ""),
        ("yourapplication/\n    app.py", ""),
        ("just text", ""),
    ],
)
def test_a_literal_block_without_a_language_is_python_where_it_can_be_read_so(
    code: str, language: str
) -> None:
    indented = "\n".join(f"    {line}" for line in code.split("\n"))
    found = [block for block in read(f"Page\n====\n\nSo::\n\n{indented}\n").blocks if block.kind == "code"]
    assert [block.language for block in found] == [language]


def test_what_a_version_changed_may_begin_beside_it() -> None:
    page = read("Page\n====\n\n.. versionadded:: 0.7\n   The *new* parameter.\n")
    assert [block.text for block in page.blocks] == ["New in version 0.7", "The new parameter."]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("July 20th -- 24th", "July 20th – 24th"),
        ("an owl---or two--hoots", "an owl—or two–hoots"),
        ("*owls* -- and *more* --- or", "owls – and more — or"),
        ("use --verbose or (--quiet), or `--x`", "use --verbose or (--quiet), or --x"),
        ("--first, a --> b <-- c <!-- d -->", "--first, a --> b <-- c <!-- d -->"),
        ("``a -- b`` and -----", "a -- b and -----"),
    ],
)
def test_dashes_in_prose_are_dashes(written: str, shown: str) -> None:
    assert read(f"x {written}\n").text == f"x {shown}\n\n"


def test_a_label_may_hold_a_slash() -> None:
    text = "Owls\n====\n\n:ref:`skip/xfail with owls`\n\n.. _`skip/xfail with owls`:\n\nPart\n----\n"
    document = read(text)
    assert [link.target for link in document.links] == [f"#{label_anchor('skip/xfail with owls')}"]
