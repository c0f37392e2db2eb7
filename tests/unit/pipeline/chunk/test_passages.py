"""Passages fit the model, end where a reader would pause, and lose nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.pipeline.chunk.passages import build_passages, embedded_text
from noctule.pipeline.chunk.sections import build_tree, code_blocks
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Passage, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.settings import Chunk

SMALL = Chunk(max_tokens=40, overlap_tokens=8)


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def cut(text: str, limits: Chunk = SMALL, path: str = "page.md") -> tuple[Document, list[Passage]]:
    content = text.encode()
    document = parse(Source("c", path, content, sha256_hex(content)), Collection(root="."))
    return document, build_passages(document, build_tree(document), count_words, limits)


def sentences(count: int) -> str:
    return " ".join(f"Sentence number {i} has exactly seven words." for i in range(count))


def test_a_section_that_fits_is_one_passage() -> None:
    _, passages = cut("# One\n\nA short text.\n\nAnother line.\n")
    assert [p.text for p in passages] == ["A short text.\n\nAnother line."]
    assert passages[0].section_id == "c:page.md#one"


def test_no_passage_is_longer_than_the_model_reads_breadcrumb_included() -> None:
    _, passages = cut(f"# A heading of some length\n\n{sentences(30)}\n")
    assert len(passages) > 5
    assert all(count_words([embedded_text(p.breadcrumb, p.text)])[0] + 2 <= 40 for p in passages)
    assert all(p.tokens <= 40 for p in passages)


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    _, passages = cut(f"{sentences(30)}\n")
    assert all(p.text.endswith("words.") and p.text.startswith("Sentence") for p in passages)


def test_passages_of_a_section_overlap_by_a_sentence() -> None:
    _, passages = cut(f"{sentences(12)}\n")
    for before, after in pairwise(passages):
        assert after.text.startswith(before.text.split(". ")[-1].removesuffix("."))
        assert after.byte_start < before.byte_end


def test_a_code_block_that_fits_is_never_split() -> None:
    code = "\n".join(f"line_{i} = call({i})" for i in range(8))
    _, passages = cut(f"# T\n\n{sentences(3)}\n\n```python\n{code}\n```\n\n{sentences(3)}\n")
    assert sum(code in p.text for p in passages) == 1


def test_a_code_block_that_cannot_fit_is_cut_between_lines() -> None:
    lines = [f"value_{i} = function_{i}(argument_{i})" for i in range(60)]
    _, passages = cut("```python\n" + "\n".join(lines) + "\n```\n")
    assert len(passages) > 1
    assert [line for p in passages for line in p.text.split("\n")] == lines
    assert all("```" not in p.text for p in passages)


def test_one_endless_line_is_cut_between_words() -> None:
    words = [f"w{i}" for i in range(500)]
    _, passages = cut(" ".join(words) + "\n", Chunk(max_tokens=40, overlap_tokens=0))
    assert [word for p in passages for word in p.text.split()] == words


def test_lines_without_full_stops_are_cut_at_line_ends() -> None:
    lines = [f"INFO request number {i} was served" for i in range(200)]
    document, passages = cut("\n".join(lines) + "\n", path="server.txt")
    assert len(passages) > 10
    raw = document.text.encode()
    for p in passages:
        assert set(raw[p.byte_start : p.byte_end].decode().strip().split("\n")) <= set(lines)


def test_a_large_block_takes_time_in_proportion_to_its_size() -> None:
    counted = 0

    def count(texts: Sequence[str]) -> list[int]:
        nonlocal counted
        counted += sum(map(len, texts))
        return count_words(texts)

    text = sentences(4000)
    content = text.encode()
    document = parse(Source("c", "big.md", content, sha256_hex(content)), Collection(root="."))
    assert len(build_passages(document, build_tree(document), count, SMALL)) > 500
    assert counted < 10 * len(text)


def test_inline_code_of_a_long_html_paragraph_stays_with_its_sentence() -> None:
    html = f"<p>{sentences(6)} Call <code>frobnicateAll()</code> then. {sentences(6)}</p>"
    _, passages = cut(html, path="page.html")
    assert len(passages) > 1
    assert [p.code for p in passages if "frobnicateAll" in p.text] == ["frobnicateAll()"] * sum(
        "frobnicateAll" in p.text for p in passages
    )


def test_a_document_of_front_matter_alone_can_still_be_found_by_its_title() -> None:
    _, passages = cut("---\ntitle: Only a title\ndescription: And what it is about\n---\n")
    assert [p.text for p in passages] == ["And what it is about"]


def test_a_long_description_or_heading_alone_is_cut_to_what_the_model_reads() -> None:
    for text in (
        f"---\ntitle: T\ndescription: {'words ' * 500}\n---\n",
        f"# {'words ' * 500}\n",
        f"# {'a-' * 500}\n",
    ):
        _, (passage,) = cut(text)
        assert 0 < passage.tokens <= SMALL.max_tokens
        assert passage.text


def test_spans_are_bytes_of_the_documents_text() -> None:
    document, passages = cut(f"# Überschrift\n\nÄpfel und Birnen.\n\n## Zwei\n\n{sentences(8)}\n")
    raw = document.text.encode()
    for p in passages:
        assert p.text.split(". ")[0] in raw[p.byte_start : p.byte_end].decode()


def test_code_blocks_know_their_section_and_language() -> None:
    document, _ = cut("# A\n\n```js\nlet a\n```\n\n## B\n\n```\nplain\n```\n")
    found = code_blocks(document, build_tree(document))
    assert [(b.section_id, b.language, b.text.strip()) for b in found] == [
        ("c:page.md#a", "js", "let a"),
        ("c:page.md#b", "", "plain"),
    ]


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            [
                "# H",
                "## Sub",
                "word " * 30,
                "A sentence. Another one! A third?",
                "- item",
                "```\ncode here\n```",
                "",
                "| a | b |\n|---|---|\n| 1 | 2 |",
                "é" * 90,
            ]
        ),
        min_size=1,
        max_size=25,
    )
)
def test_every_word_of_every_block_is_in_some_passage(parts: list[str]) -> None:
    document, passages = cut("\n\n".join(parts))
    said = {word for p in passages for word in p.text.split()}
    assert {word for block in document.blocks for word in block.text.split()} <= said | {"é" * 90}
    assert [p.ordinal for p in passages] == list(range(len(passages)))
    assert all(0 <= p.byte_start <= p.byte_end <= len(document.text.encode()) for p in passages)
    assert all(p.tokens <= SMALL.max_tokens for p in passages)
