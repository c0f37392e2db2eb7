"""Sphinx labels, which any page may refer to, as anchors that cannot coincide with those of headings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..address import slugify

LABEL_PREFIX = "ref:"
# Begins the label of a term of a glossary; a link to one that is in none is only its text.
TERM = "glossary-term-"
TERM_ADDRESS = f"#{LABEL_PREFIX}{TERM}"
# The class of a link without a text of its own: pages show the title of what it leads to.
UNTITLED = "untitled"
# The class of a formula within a line, whose text is LaTeX; one of its own is code in the language "math".
FORMULA = "formula"
# The class of a block of code that holds markup, such as links.
PARSED = "parsed-literal"
# The classes of the box around an object's signatures and description, and of the one around the latter.
DESCRIPTION, DESCRIPTION_CONTENT = "description", "description-content"
# Pages that Sphinx makes and a site here has no need of, by their labels.
INDICES = {
    "genindex": "Index",
    "modindex": "Module Index",
    "py-modindex": "Module Index",
    "search": "Search Page",
}
# What Sphinx' boxes are called that are not called by their name.
VERSION_TITLES = {
    "seealso": "See also",
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
    "deprecated-removed": "Deprecated since version",
}
# What a slug does not hold, and what tells terms apart: C, C++ and C#.
_SPOKEN = str.maketrans({"+": " plus ", "#": " sharp "})
# The name of a block of Logseq, which is the only one of its kind anywhere.
BLOCK_ID = re.compile(r"\^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# MyST's label: a line of its own that names what follows.
_MYST_LABEL = re.compile(r"\(([^()\n]{1,200})\)=")


def label_anchor(label: str) -> str:
    """Return the anchor of a label: ``Actor Guide`` and ``actor_guide`` both give ``ref:actor-guide``.

    The name of a block of Logseq is its own.
    """
    if BLOCK_ID.fullmatch(label):
        return label
    return LABEL_PREFIX + slugify(" ".join(label.replace("_", "-").split()))


def term_label(term: str) -> str:
    """Return the label of a term of a glossary."""
    return f"{TERM}{term.translate(_SPOKEN)}"


def labels_in(text: str) -> tuple[str, ...]:
    """Return the labels that a paragraph consists of, nothing if it has other text."""
    if ")=" not in text or _MYST_LABEL.sub("", text).strip():
        return ()
    return tuple(_MYST_LABEL.findall(text))


def anchors_of(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the anchors of the labels of a markdown text, each once, in order."""
    return tuple(dict.fromkeys((*labels, *(label_anchor(label) for label in labels))))
