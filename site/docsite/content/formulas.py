"""Formulas as MathML, which browsers draw natively; anything that is not valid LaTeX is shown as written."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from xml.etree import ElementTree

from latex2mathml.converter import convert_to_element

MAX_CHARS = 5_000
MAX_DEPTH = 60
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
# MathML Core without anything that runs code, loads files or links.
_TAG_NAMES = """
    math merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt
    mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none menclose mfenced
"""
_ATTRIBUTE_NAMES = """
    accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height
    largeop linethickness lspace mathvariant maxsize minsize movablelimits notation open close separators
    rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset width
"""
TAGS, ATTRIBUTES = frozenset(_TAG_NAMES.split()), frozenset(_ATTRIBUTE_NAMES.split())
# Environments that the converter does not know, and that are drawn as the one that it does: rows at "&".
_ALIGNED = re.compile(r"\\(begin|end)\{(?:aligned|gathered|(?:gather|multline|flalign|eqnarray)\*?)\}")
_NUMBERED = re.compile(r"\\(?:begin|end)\{equation\*?\}|\\label\{[^{}]*\}")
_VALUE = re.compile(r"[\w\s.%+()\[\]{}|,;:⟨⟩‖⌈⌉⌊⌋/\\-]*\Z")


@lru_cache(maxsize=4096)
def formula_html(latex: str, display: bool) -> str:
    """Return the formula as MathML with its source for copying, or as code if it is not LaTeX."""
    element = _converted(latex, display)
    kind = "formula display" if display else "formula"
    if element is None:
        return f'<code class="{kind} unread">{escape(latex)}</code>'
    drawn = ElementTree.tostring(element, encoding="unicode", short_empty_elements=True)
    tabbable = ' tabindex="0" role="group"' if display else ""
    return f'<span class="{kind}"{tabbable} data-latex="{escape(latex)}">{drawn}</span>'


def _converted(latex: str, display: bool) -> ElementTree.Element | None:
    if len(latex) > MAX_CHARS or latex.count("{") > MAX_CHARS // 10:
        return None
    try:
        known = _NUMBERED.sub("", _ALIGNED.sub(r"\\\1{split}", latex))
        found = convert_to_element(known, display="block" if display else "inline")
    except (
        Exception,
        RecursionError,
    ):  # a converter of unbounded input: whatever it raises, the source is shown
        return None
    return _cleaned(found, 0)


def _cleaned(element: ElementTree.Element, depth: int) -> ElementTree.Element | None:
    """Return the element with known tags and attributes only, or nothing if it is not a formula at all."""
    tag = element.tag.removeprefix(_NAMESPACE)
    if tag not in TAGS or depth > MAX_DEPTH:
        return None
    kept = {k: v for k, v in element.attrib.items() if k in ATTRIBUTES and _VALUE.match(v)}
    made = ElementTree.Element(tag, dict(sorted(kept.items())))
    # The converter writes symbols as character references, which have to be decoded once more.
    made.text, made.tail = unescape(element.text or "") or None, None
    for child in element:
        clean = _cleaned(child, depth + 1)
        if clean is None:
            return None
        made.append(clean)
    return made
