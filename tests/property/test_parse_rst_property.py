from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from tests.repetitions import examples

# Fragments that meet in real pages: chance alone seldom writes a table in a note in a list.
_DIRECTIVES = """note|code-block:: python|toctree|image:: a.png|figure:: a|list-table|csv-table:: T|table
|raw:: html|include:: x
|math|tab-set|tab-item:: A|autosummary|autoclass:: A|py:function:: f(x)|class:: X|role:: r(code)
|default-role:: strong|unknown:: y
|replace:: z|unicode:: 0x41|date|parsed-literal|glossary|highlight:: c|only:: html|contents|meta|title:: T
|sidebar:: S|header|container:: c
|versionadded:: 1|rubric:: R|epigraph|include|literalinclude:: f|card:: C|button-ref:: l|target-notes
|sectnum|restructuredtext-test-directive"""
_MARKS = r"""* |- |1. |#. |+---+|+===+|===  ===|| a|:field: |:ref:`a <b>`|:class:`~a.b`|:doc:`/x`
|:unknown:`y`|`a`_|`a <b>`__|``c``|*e*|**s**
|[1]_|[#a]_|.. [1] n|.. [#a] m|.. _l:|.. _l: http://x|.. __: y|__|_`t`|a_|a__|::|>>> x|-a  b|--long  c
|.. |.. c|\|s\||.. \|s\| |.. \|s\| image:: i|word|\ |"""
_LINES = [
    "====",
    "----",
    "~~~~",
    "\n",
    "\n\n",
    "\n   ",
    "\n\n   ",
    "\n      ",
    "\t",
    "é",
    " ",
    "\u2028",
    "<b>",
    "</main>",
    "<!--",
    "^^^",
    "+++",
]
_BITS = st.one_of(
    st.sampled_from(_DIRECTIVES.replace("\n", "").split("|")).map(lambda name: f"\n\n.. {name}\n"),
    st.sampled_from(_DIRECTIVES.replace("\n", "").split("|")).map(
        lambda name: f"\n\n   .. {name}::\n      :name: a\n\n      "
    ),
    st.sampled_from(
        [mark.replace("\0", "|") for mark in _MARKS.replace("\n", "").replace(r"\|", "\0").split("|")]
    ),
    st.sampled_from(_LINES),
    st.text(max_size=5),
)
_TEXTS = st.lists(_BITS, max_size=40).map("".join)
_JSON = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=8), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["cells", "source", "cell_type", "metadata", "tags"]), inner, max_size=4
        ),
    ),
    max_leaves=12,
)
_MDX_BITS = (
    """<Tabs>|</Tabs>|<A b={c}>|<A b="|{/*|*/}|{"x"}|{|}|<|>|`|```\n|import a from "b"\n"""
    """|export const c = {\n|\n\n|    |- |<div style={{a: 1}}>|word|\\<|<>|</>"""
)


def read(text: str, path: str) -> Document | None:
    content = text.encode("utf-8", "ignore")
    try:
        return parse(Source("c", path, content, sha256_hex(content)), Collection(root="unused"))
    except RejectedDocument as rejection:
        assert rejection.what
        assert not rejection.what.startswith("the parser failed"), rejection
        return None


def require_sound(document: Document) -> None:
    spans = sorted((noun.start, noun.end) for noun in (*document.headings, *document.blocks))
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all(0 <= start < end <= len(document.text) for start, end in spans)
    assert all(0 <= link.start <= len(document.text) for link in document.links)
    assert all(start == 0 or document.text[start - 1] == "\n" for start, _ in spans)
    assert all(end == len(document.text) or document.text[end - 1] == "\n" for _, end in spans)


@given(_TEXTS)
@settings(max_examples=examples(400))
def test_any_restructuredtext_is_read_or_rejected_and_its_spans_lie_in_its_text(text: str) -> None:
    document = read(text, "a.rst")
    if document is not None:
        require_sound(document)
        assert "<script" not in document.html


@given(_TEXTS, _TEXTS)
@settings(max_examples=examples(100))
def test_one_document_leaves_nothing_behind_for_the_next(first: str, second: str) -> None:
    alone = read(second, "a.rst")
    read(first, "a.rst")
    assert read(second, "a.rst") == alone


@given(_JSON)
@settings(max_examples=examples(150))
def test_any_json_is_a_notebook_or_rejected(value: object) -> None:
    document = read(json.dumps(value), "a.ipynb")
    if document is not None:
        require_sound(document)


@given(
    st.lists(st.one_of(st.sampled_from(_MDX_BITS.split("|")), st.text(max_size=5)), max_size=40).map("".join)
)
@settings(max_examples=examples(300))
def test_any_mdx_is_read_and_its_spans_lie_in_its_text(text: str) -> None:
    document = read(text, "a.mdx")
    if document is not None:
        require_sound(document)
        assert "\0" not in document.text
