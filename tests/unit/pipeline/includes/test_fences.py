"""Where code stands in markdown, by its fences."""

from __future__ import annotations

import pytest

from noctule.pipeline.includes.fences import fences_of
from tests.processor_time import processor_seconds


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\n```sh\nx\n```\nb\n", ["x\n"]),
        ("- ```sh\n  x\n  ```\n- b\n", ["  x\n"]),
        ("1. a\n   - ~~~\n     x\n     ~~~\n", ["     x\n"]),
        ("> 2) ```\n>    x\n>    ```\nb\n", [">    x\n"]),
        ("```\n- ```\nx\n```\nb\n", ["- ```\nx\n"]),
        ("- ```\n  never closed\n", ["  never closed\n"]),
    ],
)
def test_code_begins_on_the_first_line_of_an_item_of_a_list_too(text: str, code: list[str]) -> None:
    assert [text[start:end] for start, end, _ in fences_of(text).spans] == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("- ```\n  x\n\nb\n", ["  x\n\n"]),
        ("1. a\n\n   ```\n   x\n\nb\n```\ny\n```\n", ["   x\n\n", "y\n"]),
        ("- a\n    ```\n  x\n    ```\n    b\n", ["  x\n"]),
        ("1. a\n  ```\nx\n  ```\nb\n", ["x\n"]),
        ("- a\n\t- ```\n\t  x\n\t- b\n", ["\t  x\n"]),
        ("> ```\n> x\n\nb\n", ["> x\n"]),
        ("> - a\n>   ```\n>   x\n> b\n", [">   x\n"]),
        ("- > ~~~\n  > x\n> ~~~\nb\n", ["  > x\n", ""]),
        ("```\n> ```\nx\n```\n", ["> ```\nx\n"]),
        ('=== "a"\n\n    ```\n    x\n\nb\n', ["    x\n\n"]),
        ("[^1]: a\n\n    ```\n    x\nb\n", ["    x\n"]),
        ("   ```\nx\n\ny\n", ["x\n\ny\n"]),
    ],
)
def test_code_that_no_fence_closes_ends_with_the_quote_or_item_that_it_is_in(
    text: str, code: list[str]
) -> None:
    assert [text[start:end] for start, end, _ in fences_of(text).spans] == code


@pytest.mark.parametrize(
    "piece",
    [
        *("- ", "> ", "1. ", " ", "- ```\n", "\t- > ", "  ```\nx\n", "- a\n\n  ```\n\n"),
        *("> ```\n> a\n", "```\n~~~\n"),
    ],
)
def test_a_long_run_of_marks_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    fences_of(piece * 50_000)
    assert processor_seconds() - start < 2
