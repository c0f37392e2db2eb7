"""Whether front matter says that its document is not published, in the words of each tool.

What other files say of it (dates, cascades, exclusions) is read in ``noctule.flows.sources``, whose
``withheld`` leaves out what is not published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..includes.front_matter_blocks import hides
from ..untrusted import as_text
from ..visibility import FALSE, TRUE, word_of

# How tools mark a document as unpublished: Hugo, Docusaurus and others; Obsidian; Dendron and Jekyll.
_DRAFT_VALUES = {
    "draft": TRUE,
    "publish": FALSE,
    "published": FALSE,
    "permalink": frozenset({"false"}),  # Eleventy writes no such page
    "headless": TRUE,
    "build.render": FALSE | {"link"},
    "_build.render": FALSE | {"link"},
}


def draft_of(values: Mapping[str, Any]) -> str:
    """Return what says that the document is not published, ``key: value``; empty if nothing does."""
    nested = {f"{key}.render": each["render"] for key, each in values.items() if _renders(key, each)}
    said = ((key, value) for key, value in {**values, **nested}.items())
    found = ((key, value) for key, value in said if word_of(value) in _DRAFT_VALUES.get(key.lower(), ()))
    return next((f"{key}: {as_text(value) or word_of(value)}".strip().lower() for key, value in found), "")


def _renders(key: str, value: object) -> bool:
    """Return whether it is what Hugo is told about making the page."""
    return key.lower() in ("build", "_build") and isinstance(value, dict) and "render" in value


def twice(keys: Sequence[str]) -> str:
    """Return a key that may keep a document private and is there twice; tools take the first or the last."""
    return next((key for key, times in Counter(keys).items() if times > 1 and hides(key)), "")
