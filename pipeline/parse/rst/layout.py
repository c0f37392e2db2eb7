"""Directives that arrange prose: cards and sidebars, glossaries, and content for some builders only."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

from ..conditions import is_for_web_pages
from ..labels import term_label
from ..standard_objects import term_id
from .admonitions import Boxed, Lenient, by_name, label_or_document

# Of a container: how many sections its own are in.
DEPTH = "noctule-depth"
_NUMBERS = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
_INDENT = "   "
# Titled boxes, as in markdown.
_BOXED = {"card": "card", "grid-item-card": "card", "panel": "card", "sidebar": "sidebar", "topic": "topic"}
_CARD_HEADER = re.compile(r"\^{3,}\s*")
_CARD_FOOTER = re.compile(r"\+{3,}\s*")


class _Sectioned(Boxed):
    """Content that may have sections of its own, as that of ``ifconfig``."""

    def body(self, content: StringList | None = None, offset: int = 0) -> list[nodes.Node]:
        """Parse the content; sections are on the level of those around that are underlined alike."""
        lines, memo, box = self.content if content is None else content, self.state.memo, nodes.section()
        around, level, memo.title_styles, memo.section_level = memo.title_styles, memo.section_level, [], 0
        try:
            self.state.nested_parse(lines, self.content_offset + offset, box, match_titles=True)
            first = memo.title_styles[0] if memo.title_styles else None
        finally:
            memo.title_styles, memo.section_level = around, level
        if first in around:
            return [nodes.container("", *box.children, **{DEPTH: around.index(first)})]
        return list(box.children)


class _Only(_Sectioned):
    """``only``: content for some builders, of which this site's is the one of HTML."""

    def run(self) -> list[nodes.Node]:
        """Return the content if it is for web pages; nothing for other builders."""
        return super().run() if is_for_web_pages(self.argument) else []


class _Release(Boxed):
    """``changelog``: the changes of a version, under its name."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Return a section, with the day of the release where one is given."""
        version, day = self.options.get("version", ""), self.options.get("released", "")
        if not version:
            return super().run()
        said = [nodes.paragraph("", f"Released: {day}")] if day else []
        title = nodes.title(version, "", *self.inline(version))
        return [nodes.section("", title, *said, *self.body(), ids=["-".join(f"change-{version}".split())])]


class _Change(Lenient):
    """``change``: an entry of such a list, with its tags and the numbers of its tickets."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Return the entry."""
        tags, tickets = (_listed(self.options.get(name, "")) for name in ("tags", "tickets"))
        tagged = " ".join(f"[{tag}]" for tag in tags)
        first = [nodes.paragraph("", "", nodes.strong(tagged, tagged))] if tags else []
        numbers = ", ".join(f"#{ticket}" for ticket in tickets)
        last = [nodes.paragraph("", f"References: {numbers}")] if tickets else []
        return [nodes.bullet_list("", nodes.list_item("", *first, *self.body(), *last))]


def _listed(text: str) -> list[str]:
    return [each for part in text.split(",") if (each := part.strip())]


class _Glossary(Boxed):
    """``glossary``: a definition list in which several terms may share a definition."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Return the list; a definition belongs to all the terms above it."""
        apart = StringList(
            [
                line
                for at, each in enumerate(self.content)
                for line in ([each, f"{_INDENT}.."] if self.is_shared(at) else [each])
            ],
            "glossary",
        )
        box = nodes.container("", *self.body(apart))
        for definition in [each for each in box.findall(nodes.definition) if not each.astext().strip()]:
            definition.parent.remove(definition)
        for term in box.findall(nodes.term):
            term["names"].append(nodes.fully_normalize_name(term_label(term.astext())))
            self.state.document.note_explicit_target(term, term)
            term["ids"] += filter(None, [term_id(term.astext())])
        return self.named(box)

    def is_shared(self, at: int) -> bool:
        """Return whether the line is a term below which another one stands."""
        pair = list(self.content[at : at + 2])
        return len(pair) == 2 and all(line.strip() and line[0] not in " \t" for line in pair)


class _Titled(Lenient):
    """A box whose argument is its title: a card, a sidebar."""

    def run(self) -> list[nodes.Node]:
        """Return the title, linked as the options say, and the content."""
        title: list[nodes.Node] = self.inline(self.argument) if self.argument else []
        if address := _linked(self.options):
            title = [nodes.reference("", "", *title, refuri=address)]
        if title and (kind := _BOXED.get(self.name)):
            box = nodes.admonition("", nodes.title("", "", *title), *self.parts(), classes=[kind])
            return self.named(box)
        shown = [nodes.paragraph("", "", nodes.strong("", "", *title))] if title else []
        return self.named(nodes.container("", *shown, *self.parts()))

    def parts(self) -> list[nodes.Node]:
        """Return the content; a card's header and footer are set apart by lines of ``^`` and ``+``."""
        found: list[nodes.Node] = []
        start = 0
        for index, line in enumerate(self.content):
            if _CARD_HEADER.fullmatch(line) or _CARD_FOOTER.fullmatch(line):
                found += self.body(self.content[start:index], start)
                start = index + 1
        return found + self.body(self.content[start:], start)


def numbering(node: nodes.Element) -> str:
    """Return the attributes for the first number and the digits or letters of a numbered list."""
    begin, kind = node.get("start", 1), _NUMBERS.get(str(node.get("enumtype")), "")
    return (f' start="{begin}"' if begin != 1 else "") + (f' type="{kind}"' if kind else "")


def _linked(options: dict[str, Any]) -> str:
    """Return the address that ``:link:`` or ``:ref-type:`` gives a card or button, else an empty string."""
    target = str(options.get("link", ""))
    kind = options.get("link-type", "url")
    return label_or_document(target, kind) if target else ""


_TITLES_ABOVE = """
    card centered grid-item-card panel rubric sidebar step topic
"""

LAYOUT: dict[str, type[Directive]] = {
    **by_name(_TITLES_ABOVE, _Titled),
    "change": _Change,
    "changelog": _Release,
    "glossary": _Glossary,
    "ifconfig": _Sectioned,
    "only": _Only,
}
"""Directives that arrange prose, by name."""
