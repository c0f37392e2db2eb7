"""Tabs and boxes that fold (sphinx-design, sphinx-tabs, sphinx-togglebutton), in the shape of markdown's."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes
from docutils.parsers.rst import Directive

from .admonitions import FOLDS, Lenient, by_name
from .objects import LANGUAGE, Code

_TAB, _FOLDED = "tab", "details"


def _box(kind: str, title: Sequence[nodes.Node], content: Sequence[nodes.Node]) -> nodes.admonition:
    named = title or [nodes.Text(kind.capitalize())]
    return nodes.admonition("", nodes.title("", "", *named), *content, classes=[kind])


class _Tab(Lenient):
    """``tab-item``, ``tab``, ``group-tab``: a tab whose title is its argument."""

    def run(self) -> list[nodes.Node]:
        """Return the tab; those that follow each other are one set."""
        title = self.inline(self.argument) if self.argument else []
        return self.named(_box(_TAB, title, self.body()))


class _CodeTab(Code):
    """``code-tab``: a language, perhaps a title, and the code."""

    def run(self) -> list[nodes.Node]:
        """Return the code in a tab named after its title or its language."""
        words = self.argument.split()
        title = " ".join(words[1:]) or "".join(words[:1])
        return [_box(_TAB, self.inline(title) if title else [], super().run())]


class _TabsOfCode(Lenient):
    """``tab-set-code``: a tab for each block of code, named after its language."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Return the blocks in tabs."""
        return [nodes.container("", *map(_in_tab, self.body()))]


def _in_tab(node: nodes.Node) -> nodes.Node:
    if not isinstance(node, nodes.literal_block):
        return node
    language = str(node.get(LANGUAGE, ""))
    return _box(_TAB, [nodes.Text(language)] if language else [], [node])


class _Folded(Lenient):
    """``dropdown`` and the like: a box that opens at its title."""

    def run(self) -> list[nodes.Node]:
        """Return the box, open where an option says so."""
        box = _box(_FOLDED, self.inline(self.argument) if self.argument else [], self.body())
        box[FOLDS] = "open" if {"open", "show"} & self.options.keys() else "closed"
        return self.named(box)


TABS: dict[str, type[Directive]] = {
    **by_name("content-tab group-tab tab tab-item", _Tab),
    **by_name("accordion collapse details dropdown expander toggle", _Folded),
    "code-tab": _CodeTab,
    "tab-set-code": _TabsOfCode,
}
"""Directives for tabs and boxes that fold, by name."""
