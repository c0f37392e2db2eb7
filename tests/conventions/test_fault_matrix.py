"""The page of faults is whole, and every test that it and the page of promises name is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "store" / "fault-matrix.md").read_text("utf-8")
ROWS = {int(number): rest for number, rest in re.findall(r"(?m)^\| (\d+) \| (.+) \|$", PAGE)}
NAMED = sorted(set(re.findall(r"`([\w/]+\.py::\w+)`", PAGE)))
PROMISES = (ROOT / "docs" / "store" / "promises.md").read_text("utf-8")
HELD_BY = sorted(set(re.findall(r"`(\w+(?:/\w+)+\.py)`", PROMISES)))


@cache
def _tests_of(file: Path) -> frozenset[str]:
    body = ast.parse(file.read_text("utf-8")).body
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef))


def test_every_fault_has_a_row() -> None:
    assert sorted(ROWS) == list(range(1, 81))


def test_the_number_of_rows_is_the_one_that_the_readme_gives() -> None:
    assert f"in {len(ROWS)} rows" in (ROOT / "README.md").read_text("utf-8")


def test_every_row_names_a_test() -> None:
    assert not {number for number, row in ROWS.items() if not re.search(r"\.py::test_", row)}


@pytest.mark.parametrize("name", NAMED)
def test_a_test_that_is_named_exists(name: str) -> None:
    file, _, function = name.partition("::")
    assert (ROOT / "tests" / file).is_file(), f"tests/{file} is not there"
    assert function in _tests_of(ROOT / "tests" / file)


def test_every_promise_names_its_tests() -> None:
    assert len(HELD_BY) > 20
    assert not [name for name in HELD_BY if not (ROOT / "tests" / name).is_file()]
    rows = re.findall(r"(?m)^\| [A-Z][^|]* \| (.*?) \| .* \|$", PROMISES.partition("\n## ")[0])
    assert rows and all(row.startswith("`") for row in rows if row != "Tested by")
