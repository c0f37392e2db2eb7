"""Pieces that meet in real files of each kind: chance alone seldom writes a table in a quote in a list."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.hostile_texts import VECTORS
from tests.office_files import docx_of, paragraph, pdf_of

_MARKDOWN = [
    "# ", "## ", "> ", "- ", "1. ", "    ", "```", "~~~js", "[[a#b|c]]", "![[c]]", '[x](y "t")', "[^1]",
    "[^1]: n", "`c`",
    "**", "_", "~~", "---", "===", ": d", "#tag", "!!! note", "/// tip", ":::a", "- [ ] ", "\\", "&amp;",
    "{{x}}", "> [!NOTE]",
    "^[in]", "{#id}", "$$a$$", "$a$", '=== "T"', "|a|b|\n|-|-|\n|1|2|\n", "<!-- a -->", "<div markdown>",
    "(label)=", "[a]: b",
    "```mermaid\nA-->B\n```", "---\na: b\n---\n", "{{<tabs>}}", "%% c %%", "==m==",
]  # fmt: skip
_PYTHON = [
    "def f(a: int = 1, /, *, b) -> str:\n", "class A(B):\n", "    ", "@property\n", "@overload\n",
    "x: int = 1\n",
    '"""Do.\n\nArgs:\n    a: An a.\n"""\n', "'d'\n", "from .a import b\n", "from x import *\n",
    "__all__ = ['f']\n", "Annotated[int, Doc('d')]", "pass\n", "(", ")", ":param a: b\n",
    "if x:\n", "lambda: 0",
]  # fmt: skip
_HTML = [
    "<b>", "</b>", "<!--", "-->", "<div>", "</div>", '<a href="u">', "<pre>", "<code>", "<li>", "<ul>",
    "<td>", "<tr>", "<table>",
    "</table>", "<h1>", "</h1>", "<br>", "<img src=a alt=b>", "<script>", "</script>", "<style>", '"', "'",
    "<dl><dt>", "<dd>", "<main>",
    "<article>", "<nav>", "<![CDATA[", "<?x?>", "<!DOCTYPE", "&#0;", "&#xD800;", "&nbsp", "<title>",
    "<meta name=date content=x>",
    "<svg>", "<math>", "<template>", "<select>", "<textarea>", "<noscript>",
]  # fmt: skip
_RST = [
    ".. note::\n\n   ", ".. code-block:: py\n\n   ", ".. toctree::\n\n   ", ".. list-table::\n\n   * - ",
    ".. csv-table:: T\n\n   ",
    ".. raw:: html\n\n   ", ".. include:: x\n", ".. |s| replace:: ", "|s|", ":ref:`a <b>`", "`a`_",
    "`a <b>`__", "``c``", "[1]_", ".. [1] ",
    ".. _l:", "====\n", "----\n", "+---+\n", "| a |\n", "===  ===\n", "::\n\n   ", ">>> x", "-a  b",
    ":field: ", ".. role:: r(code)\n",
    ".. default-role:: r\n", ".. math:: a\n", ".. py:function:: f(x)\n\n   ", ".. unknown:: y\n\n   ",
    ".. contents::\n", "* ", "#. ",
]  # fmt: skip
_MDX = [
    "import A from 'a'\n",
    "export const a = {",
    "<A b={",
    "}>",
    "</A>",
    "<>",
    "</>",
    "{/* c */}",
    "{`",
    "`}",
    "<A.B />",
]
_NOTEBOOK = [
    '{"cells": [', '{"cell_type": "markdown", "source": [', '"# a\\n"', "]}", "]", "}", ",", '"metadata": {}',
    '"nbformat": 4',
    '"cell_type": "code"', '"source": "x"', '"outputs": []', "null", "1e999", '"tags": ["hide-cell"]',
    '"\\ud800"',
]  # fmt: skip
_TOML = [
    "[collections.a]\n", 'root = "."\n', "[search]\n", "[chunk]\n", "max_tokens = ", "-1", "1e400", '"x"',
    "[1, 2]", "true", "\n", "= ",
    "[[a]]\n", "a.b.c = {}\n", "include = ", "[[collections.a.rules]]\n", 'pattern = "("\n',
    'replacement = "\\\\9"\n', "[site]\n", "[embed]\n",
    "[search.weights]\n", "nan", "inf", "9" * 30, "1979-05-27", "'''", "[limits]\nmax_failed_share = ",
]  # fmt: skip
_QUERY = [
    '"', "“", "-", "*", ":", "(", ")", " OR ", "~", "'; drop table passages; --", "title:", "tags:sea",
    "boat*", "harbuor", "SSO", "node.js",
    "c++", "--force", "how", "what is", "?", ",", "${x}", "%s", "get_user", "中文字", "ไทย", "e\u0301", "ﬀ",
    "\u202e", "\0", "🎉", "apples",
]  # fmt: skip
_STORE = [
    '{"', '":', "{}", "[]", "null", '"id"', '"generation"', '"previous"', "1", "-1", "1e400", "NaN",
    '"' + "a" * 20 + '"', '"files"', '"rows"',
    '"format_version"', '"../../x"', "\n", ",", "}", '"sha256"', '"bytes"',
]  # fmt: skip
_SPACES = [
    "\n",
    "\n\n",
    "\t",
    " ",
    "\u2028",
    "\x0b",
    "\x0c",
    "\r\n",
    "\r",
    "é",
    "\u00a0",
    "\ufeff",
    "İ",
    "\u0301",
    "word",
    "\n   ",
]
_OWN = {
    "markdown": _MARKDOWN + _HTML,
    "page": _MARKDOWN + _HTML + VECTORS,
    "mdx": _MDX + _MARKDOWN,
    "html": _HTML + VECTORS,
    "rst": _RST + _HTML,
    "notebook": _NOTEBOOK,
    "text": _MARKDOWN,
    "pdf": _STORE,
    "docx": _STORE,
    "python": _PYTHON,
    "settings": _TOML,
    "store": _STORE,
    "query": _QUERY,
    "search": _QUERY,
    "faiss": _STORE,
    "parquet": _STORE,
    "snapshot": _STORE,
    "site": _STORE,
}


# Their bytes say what is forged, and are no text.
FORGED = frozenset({"faiss", "parquet", "snapshot", "site"})


# Chance alone writes none that a parser reads beyond its first bytes.
_MADE = {
    "pdf": pdf_of([["Owls", "They hunt."], []], information="/Title (Owls)"),
    "docx": docx_of(paragraph("Owls", "Heading1") + paragraph("They hunt.")),
}


def _damaged(whole: bytes) -> st.SearchStrategy[bytes]:
    """The file with a few bytes in the place of others."""
    cut = st.tuples(st.integers(0, len(whole)), st.binary(max_size=12), st.integers(0, 12))
    return cut.map(lambda each: whole[: each[0]] + each[1] + whole[each[0] + each[2] :])


def inputs(target: str) -> st.SearchStrategy[bytes]:
    """Bytes for a target: mostly pieces of its own kind, at times anything at all."""
    if target in _MADE:
        return st.one_of(st.binary(max_size=120), _damaged(_MADE[target]))
    if target in FORGED:
        return st.binary(min_size=6, max_size=61)
    pieces = st.one_of(st.sampled_from(_OWN[target]), st.sampled_from(_SPACES), st.text(max_size=4))
    texts = st.lists(pieces, max_size=60).map("".join)
    return st.one_of(texts.map(lambda text: text.encode("utf-8", "ignore")), st.binary(max_size=120))


def dictionary(target: str) -> str:
    """The same pieces in the form of libFuzzer's dictionaries."""
    pieces = (piece.encode("utf-8", "ignore") for piece in (*_OWN[target], *_SPACES))
    lines = ("".join(rf"\x{byte:02x}" for byte in piece) for piece in pieces if 0 < len(piece) <= 60)
    return "".join(f'"{line}"\n' for line in lines)
