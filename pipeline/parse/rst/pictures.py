"""Directives for pictures: their size, the side they stand at, their link and their caption."""

from __future__ import annotations

import re

from docutils import nodes
from docutils.parsers.rst import Directive

from ...sanitize import SIDES
from .admonitions import Lenient, by_name

SHAPE = "noctule-shape"

# A name used as an address in options: ``target_`` or `` `a target`_ ``.
_NAME = re.compile(r"`?([^`]+?)`?_")
_LENGTH = re.compile(r"(\d{1,5}(?:\.\d{1,4})?)\s*(%|[a-z]{0,3})")
_PIXELS = {
    "": 1.0,
    "px": 1.0,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 96 / 2.54,
    "mm": 96 / 25.4,
}


class _Picture(Lenient):
    """``image`` and ``figure``: the picture with its alternative text, its link and its caption."""

    def run(self) -> list[nodes.Node]:
        """Return the picture, in a figure where something is said below it."""
        source = "".join(self.arguments[0].split()) if self.arguments else ""
        picture: nodes.Element = nodes.image("", uri=source, alt=self.options.get("alt", ""))
        picture[SHAPE] = self.shape()
        side = self.options.get("align", "")
        if side in SIDES and not self.content:
            picture[SHAPE]["align"] = side
        if target := self.options.get("target", ""):
            picture = self.reference(target, picture)
        if not self.content:
            return self.named(picture)
        classes = [f"align-{side}"] if side in SIDES else []
        return self.named(nodes.figure("", picture, *self.below(), classes=classes))

    def below(self) -> list[nodes.Node]:
        """Return the caption, which is the first paragraph, and the rest as a legend."""
        body = self.body()
        first = body[0] if body else None
        if not isinstance(first, nodes.paragraph):
            return body
        legend = [nodes.legend("", *body[1:])] if body[1:] else []
        return [nodes.caption("", "", *first.children), *legend]

    def shape(self) -> dict[str, str]:
        """Return width and height as HTML has them, and a class that scales a picture without either."""
        scale = _LENGTH.fullmatch(self.options.get("scale", "").strip().lower())
        factor = float(scale[1]) / 100 if scale else 1.0
        found = {
            name: size
            for name in ("width", "height")
            if (size := _size(self.options.get(name, ""), factor)) and not (name == "height" and "%" in size)
        }
        return found if found or not scale else {"class": f"scale-{min(round(factor * 100), 999)}"}

    def reference(self, target: str, picture: nodes.Element) -> nodes.reference:
        """Link the picture to an address, or to what a name ending in ``_`` stands for."""
        named = _NAME.fullmatch(target)
        if not named:
            return nodes.reference("", "", picture, refuri=target)
        reference = nodes.reference("", "", picture, refname=nodes.fully_normalize_name(named[1]))
        self.state.document.note_refname(reference)
        return reference


def _size(written: str, factor: float) -> str:
    """Return a length in pixels or per cent, nothing if it is none."""
    found = _LENGTH.fullmatch(written.strip().lower())
    if not found or (found[2] != "%" and found[2] not in _PIXELS):
        return ""
    value = float(found[1]) * factor
    return f"{round(value)}%" if found[2] == "%" else str(round(value * _PIXELS[found[2]]))


PICTURES: dict[str, type[Directive]] = by_name("figure figure-md image thumbnail", _Picture)
"""Directives for pictures, by name."""
