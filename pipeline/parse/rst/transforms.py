"""Changes of docutils' tree before it is written: names, references, dashes, pages that only Sphinx makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.transforms import Transform, references

from .roles import OF_SPHINX

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
        self.document.ids.update(dict.fromkeys(target["ids"], node))
        if isinstance(target.parent, nodes.figure) and isinstance(node, nodes.caption):
            target.parent.remove(target)
            return
        if target["ids"]:
            target["refid"] = target["ids"][0]
            self.document.note_refid(target)
        target["ids"], target["names"] = [], []


class Dashes(Transform):
    """Writes ``--`` and ``---`` in prose as dashes, as Sphinx does; options such as ``--verbose`` stay."""

    default_priority = 850

    def apply(self) -> None:
        """Walk through the texts outside of code."""
        for text in list(_prose(self.document)):
            if _DASHES.search(text):
                text.parent.replace(text, nodes.Text(_DASHES.sub(_dash, text)))


class Indices(Transform):
    """Leaves out lists of pages that only Sphinx makes, such as its index, and sections of nothing else."""

    default_priority = 860

    def apply(self) -> None:
        """Walk through the entries of lists."""
        for entry in [each for each in self.document.findall(nodes.list_item) if _is_of_sphinx(each)]:
            node: nodes.Element = entry
            while node is entry or _is_empty(node):
                parent = node.parent
                parent.remove(node)
                node = parent


def _is_of_sphinx(entry: nodes.list_item) -> bool:
    texts = [text for text in entry.findall(nodes.Text) if text.strip()]
    return bool(texts) and all(text.parent.get(OF_SPHINX) for text in texts)


def _is_empty(node: nodes.Element) -> bool:
    """Return whether it is a list without entries, or a section with nothing but a title beside others."""
    if isinstance(node, nodes.section) and all(isinstance(each, nodes.title) for each in node.children):
        beside = (each for each in node.parent.children if each is not node)
        return isinstance(node.parent, nodes.section) or any(
            isinstance(each, nodes.section) for each in beside
        )
    return isinstance(node, nodes.bullet_list) and not node.children


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
    Dashes,
    Indices,
)
