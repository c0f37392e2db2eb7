"""Patterns that would match nothing, or something else in a later Python, are errors with what to write."""

from __future__ import annotations

import pytest

from noctule.pipeline.errors import SettingsError
from noctule.pipeline.patterns import globs, pattern_fault
from noctule.pipeline.settings.reading import parse


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("[[", "without its end"),
        ("a[b", "without its end"),
        ("[!", "without its end"),
        ("[[]", "two ways"),
        ("docs/[![]x", "two ways"),
        ("[a&&b]", "two ways"),
        ("[a||b]", "two ways"),
        ("[z-a]", "bad character range"),
        ("!", "Invalid git pattern"),
        ("\\", "Invalid git pattern"),
    ],
)
def test_a_pattern_that_is_none_says_so(pattern: str, said: str) -> None:
    assert said in pattern_fault(pattern)
    for given in (
        {"collections": {"c": {"root": ".", "include": [pattern]}}},
        {"collections": {"c": {"root": ".", "exclude": ["a", pattern]}}},
        {"collections": {"c": {"root": ".", "assets": [pattern]}}},
        {"search": {"glossary": {"paths": [pattern]}}},
    ):
        with pytest.raises(SettingsError) as caught:
            parse(given, "noctule.toml")
        assert said in str(caught.value) and "noctule.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (r"\[[a]", "[a"),
        ("[]]", "]"),
        ("[a-c]*.md", "bee.md"),
        ("[!a]", "b"),
        (r"\[\[", "[["),
        ("a-b--c", "a-b--c"),
    ],
)
def test_a_pattern_that_is_one_matches(pattern: str, path: str) -> None:
    assert not pattern_fault(pattern) and globs([pattern]).match_file(path)


@pytest.mark.parametrize("pattern", ["[[]", "[a&&b]"])
def test_a_rule_that_a_later_python_reads_otherwise_is_refused(pattern: str) -> None:
    given = {"collections": {"c": {"root": ".", "rules": [{"pattern": pattern, "replacement": ""}]}}}
    with pytest.raises(SettingsError, match="begins no set"):
        parse(given, "noctule.toml")
