from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse, plain_piece
from noctule.pipeline.sanitize import sanitize
from noctule.pipeline.settings.collection import Collection
from tests.repetitions import examples

# Fragments that meet in real notes: chance alone seldom writes a table in a quote in a list.
_NOTES = r"""# |## |> |- |1. |    |```|```js|[[a#b]]|![[c]]|[x](y "t")|[^1]|[^1]: n|`c`|**|_|~~|---|===|: d
|#tag|!!! note|/// tip|///
|:::a|:::|- [ ] |\\|&amp;|a: 1|&a|{{x}}|> [!NOTE]|^[in]|{#id}|word"""
_TAGS = """<b>|</b>|<!--|-->|<div>|<a href="u">|<pre>|<li>|<td>|<tr>|<table>|</table>|<h1>|</h1>|<br>
|<img src=a alt=b>
|<script>|</script>|"|'|<dl><dt>|<dd>"""
_SPACES = ["\n", "\n\n", "\t", "\u2028", "\x0b", "\r\n", "é", "term\n: meaning\n", "- a\n  - b\n\n    c\n"]
_BITS = st.one_of(
    st.sampled_from(_NOTES.split("|")), st.sampled_from(_TAGS.split("|")), st.sampled_from(_SPACES)
)
_PIPES = st.sampled_from(["|", "|a|b|\n|-|-|\n|1|2|\n"])
_TEXTS = st.lists(st.one_of(_BITS, _PIPES, st.text(max_size=5)), max_size=40).map("".join)
_PATHS = st.sampled_from(["a.md", "a.html", "a.txt"])


def read(content: bytes, path: str) -> Document | None:
    try:
        return parse(Source("c", path, content, sha256_hex(content)), Collection(root="unused"))
    except RejectedDocument as rejection:
        assert rejection.what
        assert not rejection.what.startswith("the parser failed"), rejection
        return None


@given(st.binary(max_size=200), _PATHS)
@settings(max_examples=examples(150))
def test_any_bytes_are_parsed_or_rejected(content: bytes, path: str) -> None:
    read(content, path)


@given(_TEXTS, _PATHS, st.booleans())
@example("# <img src=a alt=b>\n#tag", "a.md", False)
@settings(max_examples=examples(400))
def test_headings_and_blocks_are_ordered_and_lie_in_the_text(text: str, path: str, front: bool) -> None:
    document = read((("---\nt: 1\n---\n" if front else "") + text).encode("utf-8", "ignore"), path)
    if document is None:
        return
    for nouns in (document.headings, document.blocks):
        assert all(a.end <= b.start for a, b in pairwise(nouns))
    spans = sorted((noun.start, noun.end) for noun in (*document.headings, *document.blocks))
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all(0 <= start < end <= len(document.text) for start, end in spans)
    assert all(0 <= link.start <= len(document.text) for link in document.links)
    assert [link.start for link in document.links] == sorted(link.start for link in document.links)
    # Whole lines: a span begins after a newline and ends with one, or where the text does.
    assert all(start == 0 or document.text[start - 1] == "\n" for start, _ in spans)
    assert all(end == len(document.text) or document.text[end - 1] == "\n" for _, end in spans)


@given(st.from_regex(r"[A-Za-z][A-Za-z ]{0,20}", fullmatch=True), st.integers(1, 6), _TEXTS)
@settings(max_examples=examples(100))
def test_a_headings_text_is_in_its_span(title: str, level: int, before: str) -> None:
    document = read(f"{before}\n\n```\n```\n\n{'#' * level} {title}\n".encode("utf-8", "ignore"), "a.md")
    for heading in document.headings if document else ():
        if heading.text == title.strip():
            assert title.strip() in document.text[heading.start : heading.end]  # type: ignore[union-attr]


@given(_TEXTS)
@settings(max_examples=examples(100))
def test_plain_pieces_and_sanitising_take_anything(text: str) -> None:
    plain_piece("markdown", text)
    left = sanitize(text).lower()
    assert "<script" not in left
    assert "<!--" not in left
