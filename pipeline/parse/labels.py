"""Names that Sphinx lets any page refer to: they are anchors that no heading can have by chance."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..chunk.sections import slugify
from ..model import Block

LABEL_PREFIX = "ref:"
# MyST's way to name what follows: a line of its own.
_MYST_LABEL = re.compile(r"\(([^()\n]{1,200})\)=")


def label_anchor(label: str) -> str:
    """The anchor of a label, however it is spelt: ``Actor Guide`` and ``actor_guide`` give ``ref:actor-guide``."""
    return LABEL_PREFIX + slugify(label.replace("_", "-"))


def myst_label(block: Block) -> str:
    """The label that a block of markdown stands for, else an empty string."""
    found = _MYST_LABEL.fullmatch(block.text.strip()) if block.kind == "text" else None
    return found[1] if found else ""


def myst_anchors(blocks: Sequence[Block]) -> tuple[str, ...]:
    """The anchors of the labels that stand between the blocks of a markdown text, each once, in order."""
    labels = [label for block in blocks if (label := myst_label(block))]
    return tuple(dict.fromkeys((*labels, *(label_anchor(label) for label in labels))))
