"""What the fragment of a link means: one of the anchors of a document, however its own tool spells it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from ..address import slugify
from ..includes.python_blocks import OBJECT_PREFIX

# Dendron's note references continue after the heading: "start,1:#end".
_DENDRON_RANGE = re.compile(r"(?:,\d+)?(?::#.*)?$")
_NOT_IN_WORDS = re.compile(r"[\W_]+")


def find_anchor(fragment: str, anchors: Collection[str]) -> str:
    """Return the anchor that a fragment means: as written, as a heading, as another tool names it.

    Tools differ in what they make of what is no letter: ``output.dir`` is ``outputdir`` to GitHub and
    ``output-dir`` to VitePress and docutils. Letters and digits decide, where nothing else does.
    """
    found = next((name for name in heading_spellings(fragment) if name in anchors), "")
    words = "" if found else _letters(_DENDRON_RANGE.sub("", fragment))
    return found or (_by_letters(tuple(anchors)).get(words, "") if words else "")


def heading_spellings(fragment: str) -> tuple[str, ...]:
    """Return the anchors that a fragment may mean: as written, as a heading, as MDN writes it."""
    start = _DENDRON_RANGE.sub("", fragment.removeprefix(OBJECT_PREFIX))
    spellings = (start, slugify(start), slugify(start.rsplit("#", 1)[-1]), slugify(start.replace("_", "-")))
    return tuple(dict.fromkeys(spellings))


@lru_cache(maxsize=256)
def _by_letters(anchors: tuple[str, ...]) -> Mapping[str, str]:
    """Return the anchors by their letters and digits alone, without those that share them with another."""
    found: dict[str, str] = {}
    for anchor in anchors:
        letters = _letters(anchor)
        found[letters] = "" if letters in found else anchor
    return found


def _letters(name: str) -> str:
    return _NOT_IN_WORDS.sub("", name.lower())
