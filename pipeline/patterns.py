"""Patterns of paths as in .gitignore, which settings and filters hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from pathspec import GitIgnoreSpec
from pydantic import AfterValidator

# A set of characters, or one that is escaped and begins none.
_SETS = re.compile(r"\\.|\[[!^]?(?P<inside>\]?[^\]]*)(?P<end>\]?)", re.DOTALL)
# Python will read these as operations on sets one day, and warns of it.
_AMBIGUOUS = ("--", "&&", "||", "~~")


def globs(patterns: Iterable[str]) -> GitIgnoreSpec:
    """Return the patterns, ready to be matched."""
    # The pure Python backend: whether an optional one is installed must not change the result.
    return GitIgnoreSpec.from_lines(patterns, backend="simple")


def pattern_fault(pattern: str) -> str:
    """Return what is wrong with a pattern, or nothing; one that is wrong would match nothing in silence."""
    for found in _SETS.finditer(pattern):
        if (inside := found["inside"]) is None:
            continue
        if not found["end"]:
            return rf"{found[0]!r} is a set of characters without its end: write \[ for a bracket"
        if inside.startswith("[") or any(each in inside for each in _AMBIGUOUS):
            return rf"{found[0]!r} can be read in two ways: write \[ for a bracket, and no sign twice"
    try:
        globs([pattern])
    except (ValueError, re.error) as error:
        return f"it is not a pattern as in .gitignore: {error}"
    return ""


def _sound(pattern: str) -> str:
    if fault := pattern_fault(pattern):
        raise ValueError(f"the pattern {pattern!r:.200}: {fault:.300}")
    return pattern


PathPattern = Annotated[str, AfterValidator(_sound)]
