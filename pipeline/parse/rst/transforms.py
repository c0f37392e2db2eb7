"""Changes of docutils' tree before it is written: names, references, dashes, code, pages only of Sphinx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.transforms import Transform, references

from ..code.listing import without_doctest_flags
from ..labels import INDICES
from .objects import LANGUAGE, UNTRIMMED
from .roles import SPHINX_INDEX

# A reference to "search" alone may mean a label of another page.
_GENERATED = INDICES.keys() - {"search"}

# Neither a part of an arrow, a rule or a comment of HTML, nor the beginning of an option.
_DASHES = re.compile(r"(?<![-<!])(?:(?<![\s(\[{'\"/|=])(?<!\A)--(?![->])|--(?![->\w])|---(?![->]))")
_AS_WRITTEN = (
    nodes.literal,
    nodes.title_reference,
    nodes.FixedTextElement,
    nodes.math,
    nodes.raw,
    nodes.option_group,
    nodes.system_message,
    nodes.problematic,
)


class NamesOfElements(references.PropagateTargets):
    """Gives the names that stand before an element to it, in linear time.

    docutils hands all names before one over to it, and so on: 4,000 in a row took it seven seconds.
    """

    def apply(self) -> None:
        """Walk through the document once; what cannot have names leaves them where they are."""
        waiting: list[Any] = []
        for node in _outside_messages(self.document):
            if _is_bare(node):
                waiting.append(node)
                continue
            if not isinstance(node, nodes.Invisible | nodes.Targetable) or isinstance(node, nodes.target):
                for target in reversed(waiting):
                    self._give(target, node)
            waiting.clear()

    def _give(self, target: Any, node: Any) -> None:
        for kind, names in (("id", target["ids"]), ("name", target["names"])):
            node[f"{kind}s"].extend(names)
            expected = vars(node).setdefault(f"expect_referenced_by_{kind}", {})
            expected.update(dict.fromkeys(names, target))
        ids = self.document.ids
        ids.update({each: node for each in target["ids"] if ids.get(each, target) is target})
        if isinstance(target.parent, nodes.figure) and isinstance(node, nodes.caption):
            target.parent.remove(target)
            return
        if target["ids"]:
            target["refid"] = target["ids"][0]
            self.document.note_refid(target)
        target["ids"], target["names"] = [], []


class AnchorsOfHeadings(Transform):
    """Leaves an anchor that a module or term has as Sphinx names it to the heading that has it too."""

    default_priority = 840

    def apply(self) -> None:
        """Walk through what has more than one anchor."""
        block: Any
        for block in [*self.document.findall(_has_anchors)]:
            owners = ((each, self.document.ids.get(each, block)) for each in block["ids"])
            block["ids"] = [
                each for each, owner in owners if owner is block or not isinstance(owner, nodes.section)
            ]


class Dashes(Transform):
    """Writes ``--`` and ``---`` in prose as dashes, as Sphinx does; options such as ``--verbose`` stay."""

    default_priority = 850

    def apply(self) -> None:
        """Walk through the texts outside of code."""
        for text in list(_prose(self.document)):
            if _DASHES.search(text):
                text.parent.replace(text, nodes.Text(_DASHES.sub(_dash, text)))


class DoctestFlags(Transform):
    """Takes out of sessions of Python what is meant for doctest, as Sphinx does."""

    default_priority = 855

    def apply(self) -> None:
        """Walk through the code that holds no markup."""
        block: Any
        for block in [*self.document.findall(_is_code)]:
            text, classes = block.astext(), [name for name in block["classes"] if name != "code"]
            language = str(block.get(LANGUAGE) or "".join(classes[:1]))
            shown = text if block.get(UNTRIMMED) else without_doctest_flags(text, language)
            if shown != text and all(isinstance(each, nodes.Text) for each in block.children):
                block.children = []
                block.append(nodes.Text(shown))


class Indices(Transform):
    """Leaves out lists of pages that only Sphinx makes, such as its index, and sections of nothing else."""

    default_priority = 860

    def apply(self) -> None:
        """Walk through the lists."""
        for found in [*self.document.findall(_is_list)]:
            named = {each: self._index_named(each) for each in found.children}
            if not _GENERATED.isdisjoint(named.values()):
                found.children = [each for each in found.children if not named[each]]
            node: Any = found
            while _is_empty(node):
                node.parent.remove(node)
                node = node.parent

    def _index_named(self, entry: Any) -> str:
        """Return the name of the page of Sphinx that is all an entry names; nothing for a label here."""
        if len(entry.children) != 1 or not isinstance(entry.children[0], nodes.paragraph):
            return ""
        inline: list[Any] = [each for each in entry.children[0].children if each.astext().strip()]
        name = str(inline[0].get(SPHINX_INDEX, "")) if len(inline) == 1 and inline[0].children else ""
        return "" if name in self.document.nameids else name


def _has_anchors(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and len(node["ids"]) > 1


def _is_code(node: nodes.Node) -> bool:
    return isinstance(node, nodes.literal_block | nodes.doctest_block)


def _is_list(node: nodes.Node) -> bool:
    return isinstance(node, nodes.bullet_list | nodes.enumerated_list)


def _is_empty(node: Any) -> bool:
    """Return whether it is a list without entries, or a section with nothing but a title beside others.

    One that has a label may be linked to.
    """
    if isinstance(node, nodes.section) and all(isinstance(each, nodes.title) for each in node.children):
        is_alone = sum(isinstance(each, nodes.section) for each in node.parent.children) == 1
        return len(node["names"]) < 2 and (isinstance(node.parent, nodes.section) or not is_alone)
    return _is_list(node) and not node.children


def _prose(node: Any) -> Iterator[Any]:
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child
        elif not isinstance(child, _AS_WRITTEN):
            yield from _prose(child)


def _dash(found: re.Match[str]) -> str:
    return "\N{EN DASH}" if len(found[0]) == 2 else "\N{EM DASH}"


def _outside_messages(node: Any) -> Iterator[Any]:
    for child in [*node.children]:  # one may be taken out meanwhile
        if not isinstance(child, nodes.system_message | nodes.Text):
            yield child
            yield from _outside_messages(child)


def _is_bare(node: Any) -> bool:
    """Return whether it is a name on a line of its own, without an address."""
    has_address = any(node.hasattr(each) for each in ("refid", "refuri", "refname"))
    return (
        isinstance(node, nodes.target) and not has_address and not isinstance(node.parent, nodes.TextElement)
    )


# Substitutions are left to the HTML writer, which knows when to stop.
TRANSFORMS = (
    NamesOfElements,
    references.AnonymousHyperlinks,
    references.IndirectHyperlinks,
    references.Footnotes,
    references.ExternalTargets,
    references.InternalTargets,
    AnchorsOfHeadings,
    Dashes,
    DoctestFlags,
    Indices,
)
