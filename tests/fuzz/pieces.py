"""Short pieces of every syntax, by the ending of the files: openings without an end, pairs, halves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Piece(NamedTuple):
    """What is repeated, what closes it as often after that, and what stands once: before all of it, between
    openings and closings, and after all of it.

    ``{n}`` is another number each time.
    """

    opening: str
    closing: str = ""
    head: str = ""
    middle: str = ""
    tail: str = ""


_COMMONMARK = (
    "![](https://youtu.be/", "![", "[", "](", "[](", "[a](", "[a](b", "[a](b)", "[a][b]", "[a]", "[a]:",
    "[a]: b", "[^", "[^1]", "[^1]: n", "^[", "^[a]", "[[", "![[", "[[a|", "[[a#", "[[a]]", "![[a]]", "<a ",
    "<a href=x>", "<a href='x", "<div", "<div>", "<!--", "<!-- a -->", "<?", "<![CDATA[", "<!A", "<b>",
    "</b>", "<img src=a>", "<https://a", "<a@b.c>", "https://a.b/", "https://", "www.", "a@b.c ", "`", "``a",
    "` a `` ", "```", "```a {", "~~~", "    code", "\t", "*", "**", "*_", "_a_", "**a", "*a **b ", "__", "~",
    "~~", "~a", "^", "^a", "^x^", "++", "++a", "++ctrl", "==", "==a", "$", "$$", "$a", "$$a", "\\(", "\\[",
    "\\", "\\\\", "\\\n", "  \n", "&", "&amp;", "&#", "&#1;", "&a", "#", "# a", "###### a", "a\n===",
    "a\n---", "---", "***", "> ", ">", "> [!", "> [!NOTE]", "- ", "-", "* a", "1. ", "1) a", "- [ ] a", "- [",
    "| ", "|", "|a|b", "|-|-|", "a|b\n-|-\n", "a|", ":-", "term\n: d", ": d", ":", "::", ":::", ":::a",
    "::::{a}", ":a:", ":a-b:", "{", "}", "{#", "{#a}", "{.a}", "{: ", "{: .a }", "# a {#b", "# a {.b .c",
    "# a { data-search-exclude }",
)  # fmt: skip
_MATERIAL = (
    "!!! ", "!!! note", "!!! note\n    ", "??? ", "???+ a", '=== "', '=== "T"', '=== "T"\n    a', "/// ",
    "/// a", "/// a | b\n", "--8<-- ", '--8<-- "', "*[x]: y", "*[", "(annotate)", "{ .annotate }",
    "1. a { .b }", "`#!", "`#!py a`", "{--", "{++", "{~~", "{~~a~>", "{==", "{>>", "[=", '[=5% "',
    ":material-a:", ":octicons-", "[TAGS]", "{{ a }}", "{{", "{%", "{% a %}", "{% raw %}", "{% include ",
    "{% include a.md %}", "{!", "{!a!}", "{*", "{* a *}", "!!!include(", "<!-- material/tags", "::: a.b",
    "\n::: a\n    options:",
)  # fmt: skip
_OTHERS = (
    "{{<", "{{< a", "{{< a >}}", "{{% a %}}", "{{< /a >}}", "{{< tabs >}}", "{{#include ", "{{#include a}}",
    "{{#", "{{ site.", "{% highlight a %}", "{% if a %}", "{% for", "<%", "<% a %>", "%%", "%% a", "%% a %%",
    "#tag", "#tag ", "#a/b", "@a", "@a ", "^a ^b", " ^x", "key:: ", "key:: v", "[key:: ", "[key:: v]",
    "(key:: v)", "`= ", "`= a`", "`$= this.", "```dataview", "```query\na\n```\n", "[[a|b]] ", "dendron://",
    "![[a.png|1x", "<<< ", "<<< @/a", "<!--@include: ", "[[toc]]", "::: tip", "::: tip\na\n:::",
    "::: code-group", "```js {1", "```{note}", "```{note}\n:a: b\n", "{a}`b`", "{a}`", "(a)=", "+++", "---\n",
    "% a", "$$a$$ (b)", "{abc}`d <e>`", "[a](#b)", "[](a.md)", "](<", "[a](<b", "![a](b){", "[a]{", "<Tabs>",
)  # fmt: skip
_LISTINGS = (
    "```a\n1\n```\n", '```py title="', "``` {.a #b", "```mermaid\na\n```\n", "```diff\n+a\n```\n",
    "    :::python", "> a\n", "- a\n  - b\n", "- a\n\n", "  ", " - a\n  ", "é", "İ", "́", "\u200b", "\x00",
    "\u2028", "\x0b", "\r", "word ", "a.b", "A. ", "? ", "。", "W3C ", "a-b", "-- ", '"', "'",
)  # fmt: skip
_PAIRS = (
    ("[", "]"), ("[", "](a)"), ("![", "](a)"), ("^[", "]"), ("*a ", " b*"), ("**a ", " b**"), ("_", "_"),
    ("`a", "`"), ("<b>", "</b>"), ("<a href=x>", "</a>"), ("<div>", "</div>"), ("<div>\n", "\n</div>\n"),
    ("<details>\n", "\n</details>\n"), ("(", ")"), ("{", "}"), ("[[", "]]"), ("![[", "]]"), ("$", "$"),
    ("==a", "b=="), ("++a", "b++"), ("~~a", "b~~"), ("{{<a>}}", "{{</a>}}"), ("{% if a %}", "{% endif %}"),
    (":::a\n", ":::\n"), ("<!--", "-->"), ("<a", ">"), ('"', '"'), ("<Tabs>\n", "</Tabs>\n"), ("{--a", "--}"),
    ("{==a", "==}"), ("%%", "%%"), ("/// a\n", "///\n"), ("> ", ""), ("<ul><li>", ""), ("[a](", ")"),
    ("[a](<", ">)"), ('[a](b "', '")'), ("<kbd>", "</kbd>"), ("<span data-search-exclude>", "</span>"),
    ("<p data-search-exclude>\n", ""),
)  # fmt: skip
_AFTER = (
    ("[^a]", "", "[^a]: x\n\n"), ("[^", "", "[^a]: x\n\n"), ("[a]", "", "[a]: b\n\n"),
    ("x ", "", "*[x]: y\n\n"), ("xx", "", "*[x]: y\n\n"), ("*[{}]: y", "", "a\n\n"),
    ("a", "", "# a {data-search-exclude}\n"), ("a\n", "", "!!! note\n    "), ("a\n", "", '=== "T"\n    '),
    ("`", "", "x `` "), ("]", "", "["), (")", "", "[a]("), ("*", "", "a**b"), ("|", "", "|a|\n|-|\n"),
    ("| a ", "", "|a|\n|-|\n"), ("a | b\n", "", "a | b\n--|--\n"), ("-->", "", "<!--"),
    ("## a\n", "", "# b {.x data-search-exclude}\n"), (": a\n", "", "term\n"), ("  a\n", "", "- b\n"),
    ("[x](y) ", "", ""), ("[{n}]: b\n", "", ""), ("#t ", "", "---\ntags: [a]\n---\n"),
    ("a: 1\n", "", "---\n"), ("a.", "", "+++\n"), ("a\n", "", "```\n"), ("{{x}}", "", "---\nx: y\n---\n"),
)  # fmt: skip
_MDX = (
    "<A ", "<A>", "<A b={", "<A b='", "<A/>", "</A>", "<>", "</>", "{", "{/*", "{/* a */}", "{`", "{a}",
    "{a.b(", "import a from 'b'\n", "import {", "export ", "export const a = 1\n", "export const a = {",
    "<A.B", "<A {...b}", "{frontMatter.a}", "<Tabs>\n<TabItem>\n", "<CodeBlock>{a}</CodeBlock>", "<A\n",
    "\\{", "`{", "![](https://youtu.be/", "[a](b", "<div>", "<!--", "a {", "style={{", "<Card title=",
    "<img src={a} />", "{'", '{"', "=> {", "//", "/*",
)  # fmt: skip
_MDX_PAIRS = (
    ("<A>", "</A>"), ("<A>\n", "</A>\n"), ("{", "}"), ("{`", "`}"), ("<A b={", "}>"),
    ("<Tabs><TabItem>", "</TabItem></Tabs>"), ("(", ")"), ("export const a = {", "}"),
)  # fmt: skip
_HTML = (
    "<b>", "</b>", "<b", "<!--", "-->", "<!-- a -->", "<div>", "<div", '<a href="u">', "<a>", "<a", "<pre>",
    "<code>", "<li>", "<ul>", "<ol><li>", "<td>", "<tr>", "<table>", "<table><tr><td>", "<h1>", "<h1>a</h1>",
    "<h2 id=a>", "<br>", "<p>", "<p>a", "<img src=a alt=b>", "<img", "<script>", "</script>", "<style>", '"',
    "<dl><dt>", "<dd>", "<dt>a<dd>b", "<main>", "<article>", "<nav>", "<![CDATA[", "<?x?>", "<?", "<!DOCTYPE",
    "<!", "&#0;", "&#xD800;", "&nbsp", "&", "&a", "&amp;", "<title>", "<meta name=date content=x>",
    "<meta name=", "<svg>", "<math>", "<template>", "<select>", "<option>", "<textarea>", "<noscript>",
    "<iframe src=a>", "<video src=a>", "<blockquote>", "<details><summary>", "<section>", "<a name=b>",
    "<a id=b></a>", "<p id=a>", "<span data-search-exclude>", "<input>", "<object>", "<figure>", "<form>",
    "<font>", "<a b=", "<a b='", "< ", "<<", "</", "a", "a\n", " ", "<p>a</p>", "<div>a</div>", "<li>a</li>",
    "<td>a</td>", "<i>a</i>", "<code>a</code>", "<pre>a\n</pre>", "<a href=u>a</a>", "<b><i>", "</p>",
    "</div>", "<body>", "<html>", "<head>", "<base href=a>",
)  # fmt: skip
_HTML_PAIRS = (
    ("<div>", "</div>"), ("<b>", "</b>"), ("<ul><li>", "</li></ul>"), ("<a href=u>", "</a>"),
    ("<table><tr><td>", "</td></tr></table>"), ("<blockquote>", "</blockquote>"), ("<b><p>", "</b></p>"),
    ("<svg>", "</svg>"), ("<dl><dd>", "</dd></dl>"), ("<span>", "</span>"), ("<pre>", "</pre>"),
    ("<p data-search-exclude>", "</p>"),
)  # fmt: skip
_RST = (
    "*", "**", "*a ", "**a ", "`", "``", "`a ", "``a ", "`a`_ ", "`a`__ ", "`a <b>`_ ", "`a <", "a_ ", "a__ ",
    "_a", "_`a", "_`a` ", "[1]_ ", "[#]_ ", "[#a]_", "[*]_", "[a]_ ", "|", "|a", "|a| ", "|a|_ ", ":a:",
    ":a:`", ":a:`b` ", ":ref:`a <b>`", ":a: b\n", ":param a: b\n", "::", "a::\n\n  b\n\n", ".. ", "..",
    ".. a\n", ".. a::", ".. note::\n", ".. note:: a\n\n", ".. note::\n\n   a\n\n", ".. code::\n\n   a\n\n",
    ".. _a:\n", ".. _a: b\n", ".. __: b\n", ".. [1] a\n", ".. [#] a\n", ".. [a] b\n", ".. |a| replace:: b\n",
    ".. |a| image:: b\n", ".. image:: a\n", ".. include:: a\n", ".. toctree::\n\n   a\n\n",
    ".. raw:: html\n\n   <b>\n\n", ".. only:: a\n\n   b\n\n", ".. rst-class:: a\n\n", ".. math:: a\n\n",
    ".. csv-table::\n\n   a,b\n\n", ".. list-table::\n\n   * - a\n\n", ".. py:function:: f(a)\n\n",
    ".. index:: a\n\n", ".. contents::\n\n", ".. role:: a\n\n", ".. unknown:: a\n\n",
    ".. tab:: a\n\n   b\n\n", "a\n=\n\n", "a\n-\n\n", "=\na\n=\n\n", "====\n", "----\n\n", "- ", "- a\n",
    "* a\n\n", "1. a\n", "#. a\n", "a. b\n", "a\n  b\n", "  ", " a\n", "| a\n", "+-+\n", "+-+\n|a|\n+-+\n",
    "= =\n", "== ==\na  b\n== ==\n\n", ">>> a\n", "-a  b\n", "--a=b  c\n", "/a  b\n", "\\", "\\ ", "\\*",
    "https://a.b/ ", "a@b.c ", "__ ", "__ a\n", "a : b\n  c\n", "(a)", '"', "'", "<", "<a ", "&", "a", "a\n",
    "a\n\n", "*a*b ", "**a*", "`a*", "_", "__a",
)  # fmt: skip
_RST_PAIRS = (
    ("*", "*"), ("**", "**"), ("`", "`"), ("``a", "``"), ("[", "]_"), ("|", "|"), ("(", ")"), ("`a <", ">`_"),
    (":a:`", "`"),
)  # fmt: skip
_NUMBERED = (
    "[{n}]: b", "[a{n}]", "[^{n}]: x", "[^{n}] ", "*[a{n}]: y", "a{n} ", "# a{n}", "## a{n} {#b{n}}",
    "#t{n} ", "@p{n} ", "[[a{n}]]", "[[a{n}#b|c]]", "[a](b{n}.md)", "![](a{n}.png)", "<a id=a{n}></a>",
    "<a href=b{n}>c</a> ", "(l{n})=", "term{n}\n: d\n", "$$a{n}$$ (b{n})", "https://a{n}.b/ ", "`a{n}` ",
    "```a{n}\nb\n```\n", ":::a{n}", "key{n}:: v", "{{< a{n} >}}", "{{ a{n} }} ", "{% a{n} %}",
    "# a { data-search-exclude }\n\na{n}\n", "[^{n}]\n\n[^{n}]: x\n", "a{n}.",
)  # fmt: skip
_NUMBERED_RST = (
    ".. _a{n}:\n\n", "a{n}_ ", ".. _a{n}: b\n", ".. |a{n}| replace:: b\n\n", "|a{n}| ", "[#a{n}]_ ",
    ".. [#a{n}] b\n", "A{n}\n====\n\n", "A\n=\n\n", ":a{n}: b\n", "`a{n} <b>`_ ", "`a{n} <b>`__ ", "_`a{n}` ",
    ":ref:`a{n}` ", ".. py:function:: f{n}(a)\n\n", "term{n}\n  d\n", "|a{n}| \n\n.. |a{n}| replace:: b\n\n",
    "[a{n}]_ \n\n.. [a{n}] b\n\n", ".. math:: a\n   :label: b{n}\n\n", ".. role:: a{n}\n\n",
)  # fmt: skip
_NUMBERED_HTML = (
    "<p id=a{n}>b</p>", "<h2>a{n}</h2>", "<h2>a</h2>", "<h2 id=a>a</h2>", "<a name=a{n}></a>",
    "<a href='#a{n}'>b</a> ", "<a href=b{n}>c</a> ", "<img src=a{n}.png>", "<dt>a{n}<dd>b",
    "<code>a{n}</code> ", "<pre>a{n}</pre>", "<td>a{n}", "<meta name=keywords content=a{n}>",
)  # fmt: skip
# A notebook is JSON: a piece is a cell, a line, an output or an attachment of it, or part of its text.
_CELLS = (
    '"markdown", "source": "# a{n}"', '"markdown", "source": "a"', '"markdown", "source": "```a"',
    '"markdown", "source": "~~~"', '"markdown", "source": "<div>"', '"markdown", "source": "<!--"',
    '"markdown", "source": "- a"', '"markdown", "source": "> a"', '"markdown", "source": "[a{n}]: b"',
    '"markdown", "source": "$$a"', '"markdown", "source": "---\\na: b\\n---"', '"markdown", "source": "|a|"',
    '"code", "source": "a{n}"', '"code", "source": "```"', '"code", "source": "%%html\\n<b>"',
    '"code", "source": ""', '"raw", "source": "<x>"', '"raw", "source": "---\\na: b"', '"a", "source": []',
    '"code", "source": "a", "metadata": {"tags": ["remove-input"]}',
    '"code", "outputs": [{"data": {"image/png": "aaaa"}}]',
    '"code", "outputs": [{"data": {"text/html": "<div><table><tr>"}}]',
    '"code", "outputs": [{"text": ["\\u001b[31ma\\u001b[0m"]}]',
    '"markdown", "source": "![](attachment:a{n})", "attachments": {"a{n}": {"image/png": "aaaa"}}',
)  # fmt: skip
_SOURCE_LINES = (
    "a{n}\\n", "\\n", "```\\n", "~~~a\\n", "````a", "\\r", "\\r\\n", "\\u001b[31ma\\u001b[0m", "<b>",
    "<div>\\n", "| a ", "> ", "- a\\n", "    ", "`", "# a\\n", "%%", "%%html\\n", "attachment:",
    "![](attachment:a)", "---\\n", "\\ud83d\\ude00", "\\\\", "\\u2028", "$", "[a](b", "{n}",
)  # fmt: skip
_OUTPUTS = (
    '{"data": {"image/png": "aaaa"}},', '{"data": {"image/png": ["aa", "aa"]}},', '{"data": {}},',
    '{"data": {"text/html": "<div><b>"}},', '{"text": "\\u001b[31ma"},', '{"data": {"image/png": ["a", 1]}},',
)  # fmt: skip
_FIRST, _LAST = '{"nbformat": 4, "cells": [{"cell_type": ', "}]}"
_ATTACHED = f'{_FIRST}"markdown", "attachments": {{'


def _pieces_of_a_notebook() -> Iterator[Piece]:
    start, end = _FIRST.removesuffix('{"cell_type": '), "{}]}"
    yield from (Piece(f'{{"cell_type": {each}}},', "", start, "", end) for each in _CELLS)
    for kind in ("markdown", "code"):
        text = f'{_FIRST}"{kind}", "source": '
        yield from (Piece(f'"{line}",', "", f"{text}[", "", f'""]{_LAST}') for line in _SOURCE_LINES)
        yield from (Piece(line, "", f'{text}"', "", f'"{_LAST}') for line in _SOURCE_LINES)
    outputs = f'{_FIRST}"code", "source": "a", "outputs": ['
    yield from (Piece(output, "", outputs, "", f"{{}}]{_LAST}") for output in _OUTPUTS)
    for text in ("\\u001b[31m", "<div>", "a\\n", "<table><tr><td>"):
        yield Piece(text, "", f'{outputs}{{"data": {{"text/html": "', "", f'"}}}}]{_LAST}')
        yield Piece(f'"{text}",', "", f'{outputs}{{"text": [', "", f'""]}}]{_LAST}')
    attachment = '"a{n}": {"image/png": "aaaa"},'
    for used in ("![](attachment:a{n})", "attachment:a{n} ", "attachment:", "a"):
        yield Piece(attachment, used, _ATTACHED, '"": {}}, "source": "', f'"{_LAST}')
    yield Piece("[", "]", f"{outputs}", "", f"]{_LAST}")
    yield Piece('{"a":', "}", f'{_FIRST}"code", "metadata": ', "1", _LAST)


PIECES: dict[str, tuple[Piece, ...]] = {
    ".md": (
        *(Piece(each) for each in (*_NUMBERED, *_COMMONMARK, *_MATERIAL, *_OTHERS, *_LISTINGS)),
        *(Piece(*each) for each in (*_PAIRS, *_AFTER)),
    ),
    ".mdx": (*(Piece(each) for each in _MDX), *(Piece(*each) for each in _MDX_PAIRS)),
    ".html": (*(Piece(each) for each in (*_NUMBERED_HTML, *_HTML)), *(Piece(*each) for each in _HTML_PAIRS)),
    ".ipynb": tuple(_pieces_of_a_notebook()),
    ".rst": (*(Piece(each) for each in (*_NUMBERED_RST, *_RST)), *(Piece(*each) for each in _RST_PAIRS)),
    ".txt": tuple(Piece(each) for each in ("a", "a ", "a\n", "\n", ". ", "A. ", "é", "\u0301")),
}
