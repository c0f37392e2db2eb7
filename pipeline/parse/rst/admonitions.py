"""Directives that contain prose: notes, cards, tables; an unknown option never loses their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast
from urllib.parse import quote

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.directives import tables
from docutils.statemachine import StringList

from ..labels import LABEL_PREFIX, VERSION_TITLES, label_anchor
from .faults import is_complaint

# Of a box: that it folds, and whether it is "open" or "closed" at first.
FOLDS = "noctule-folds"
_SPOKEN_OPTIONS = ("caption", "title", "header")
# Begins the labels of formulas, which are apart from others.
EQUATION = "equation-"


class AnyOption(dict[str, Callable[[str], Any]]):
    """An option specification that accepts every option as it is written."""

    def __missing__(self, name: str) -> Callable[[str | None], str]:
        return _as_written

    def __bool__(self) -> bool:
        return True


def _as_written(value: str | None) -> str:
    return (value or "").strip()


def _loosened(table: type[Directive]) -> AnyOption:
    shape = {"widths": lambda _: "auto", "align": _as_written, "width": _as_written}
    return AnyOption({**(table.option_spec or {}), **shape})


class Lenient(Directive):
    """A directive that accepts any option and content; subclasses combine ``title`` and ``body``."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = AnyOption()

    @property
    def argument(self) -> str:
        """Return what follows the directive's name, on one line."""
        return " ".join(self.arguments[0].split()) if self.arguments else ""

    def inline(self, text: str) -> list[nodes.Node]:
        """Parse a line of reStructuredText into inline nodes."""
        found, messages = self.state.inline_text(text, self.lineno)
        return [*found, *messages]

    def title(self, text: str) -> list[nodes.Node]:
        """Return the text as an emphasized paragraph, or nothing."""
        return [nodes.paragraph("", "", nodes.strong("", "", *self.inline(text)))] if text else []

    def caption(self) -> list[nodes.Node]:
        """Return the title that the option ``caption`` gives."""
        return self.title(self.options.get("caption", ""))

    def body(self, content: StringList | None = None, offset: int = 0) -> list[nodes.Node]:
        """Parse the content, or a part of it, as reStructuredText."""
        box = nodes.container()
        lines = self.content if content is None else content
        self.state.nested_parse(lines, self.content_offset + offset, box)
        return list(box.children)

    def named(self, node: nodes.Element) -> list[nodes.Node]:
        """Return the node under the name that the option ``name`` gives it."""
        self.add_name(node)
        return [node]


class Boxed(Lenient):
    """A box that a reader does not see: its content without the settings in its argument."""

    def run(self) -> list[nodes.Node]:
        """Return the content; a grid's stands side by side."""
        classes = [self.name] if self.name in ("grid", "grid-item") else []
        return self.named(nodes.container("", *self.body(), classes=classes))


class _Plain(Boxed):
    """A box without an argument: what follows its name is content."""

    optional_arguments = 0


class _Quotation(_Plain):
    """``epigraph`` and its kin: a quotation, whose last line may name its writer after a dash."""

    def run(self) -> list[nodes.Node]:
        found = list(cast("Any", self.state).block_quote(self.content, self.content_offset))
        return [*self.named(found[0]), *found[1:]] if found else []


class Unknown(Lenient):
    """A directive of an unknown extension, whose content is text or, failing that, code."""

    def run(self) -> list[nodes.Node]:
        """Return everything that may be meant for readers."""
        spoken = [self.options[name] for name in _SPOKEN_OPTIONS if self.options.get(name)]
        found = [nodes.paragraph("", "", *self.inline(text)) for text in (self.argument, *spoken) if text]
        body = self.body()
        if any(is_complaint(node) for part in body for node in part.findall(nodes.system_message)):
            code = "\n".join(self.content)
            body = [nodes.literal_block(code, code)]
        return [*found, *body]


class Admonition(Lenient):
    """A note, warning, tip or the like; a callout on the page."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Return the callout, titled with its kind."""
        return self.callout(self.name, nodes.Text(VERSION_TITLES.get(self.name, self.name.capitalize())))

    def callout(self, kind: str, *title: nodes.Node, said: Sequence[nodes.Node] = ()) -> list[nodes.Node]:
        """Return a callout of that kind and title; ``said`` stands before its content."""
        box = nodes.admonition("", nodes.title("", "", *title), *said, *self.body(), classes=[kind.lower()])
        classes = self.options.get("class", "").split()
        if not {"dropdown", "toggle"}.isdisjoint(classes):
            box[FOLDS] = "open" if "toggle-shown" in classes else "closed"
        return self.named(box)


class _NamedAdmonition(Admonition):
    """The ``admonition`` directive: its title is its argument, its kind its class."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        kind = re.sub(r"[^\w-].*", "", self.options.get("class", "")) or "note"
        return self.callout(kind, *self.inline(self.argument or "Note"))


class _VersionChange(Admonition):
    """``versionadded``, ``deprecated`` and the like: the version and what is said about it."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        kind = "warning" if self.name.startswith("deprecated") else "note"
        versions = 2 if self.name == "deprecated-removed" else 1
        words = self.argument.split(" ", versions)
        title = f"{VERSION_TITLES[self.name]} {' '.join(words[:versions])}".strip()
        said = [nodes.paragraph("", "", *self.inline(text)) for text in words[versions:]]
        return self.callout(kind, *self.inline(title), said=said)


class _ListTable(tables.ListTable):
    """``list-table`` with any option; docutils' own rejects the table for an option that it does not know."""

    option_spec = _loosened(tables.ListTable)


class _CSVTable(tables.CSVTable):
    """``csv-table`` with any option; it only names a file, since nothing but the document itself is read."""

    option_spec = _loosened(tables.CSVTable)

    def run(self) -> list[Any]:
        """Return the table, or the name of the file that holds it."""
        outside = self.options.get("file") or self.options.get("url")
        if outside:
            return [nodes.paragraph("", "", nodes.literal("", str(outside)))]
        return list(super().run())


class _RSTTable(tables.RSTTable):
    """The ``table`` directive with any option."""

    option_spec = _loosened(tables.RSTTable)


def label_or_document(target: str, kind: str) -> str:
    """Return the address of ``target``: a URL, a document, a label (``ref``), or either (``any``)."""
    if kind in ("url", "doc") or "/" in target:
        return target
    return f"#{label_anchor(target) if kind == 'ref' else LABEL_PREFIX + quote(target)}"


def by_name(names: str, kind: type[Directive]) -> dict[str, type[Directive]]:
    """Return the directive under each of the names."""
    return dict.fromkeys(names.split(), kind)


_SETTINGS_BESIDE = """
    card-carousel carousel code-group column columns container content-tabs div grid grid-item group layout
    panels row tab-set tabs
"""
_WHOLE = """
    acks annotations aside callout compound hlist margin nested-tabs
"""
_CALLOUTS = "attention caution danger error hint important note seealso tip todo warning"

BOXES: dict[str, type[Directive]] = {
    **by_name(_SETTINGS_BESIDE, Boxed),
    **by_name(_WHOLE, _Plain),
    **by_name("epigraph highlights pull-quote", _Quotation),
    **by_name(_CALLOUTS, Admonition),
    **by_name("deprecated deprecated-removed versionadded versionchanged versionremoved", _VersionChange),
    "admonition": _NamedAdmonition,
    "csv-table": _CSVTable,
    "flat-table": _ListTable,
    "list-table": _ListTable,
    "table": _RSTTable,
}
"""Directives that contain prose, by name."""
