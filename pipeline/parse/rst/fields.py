"""Fields (``:name: text``): those that describe a document, and those of an object's description.

The latter (``:param x:``, ``:returns:``) become lists of what the object takes and gives back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from docutils import nodes

_META_FIELDS = {"author": "author", "authors": "author", "date": "date", "description": "description"}
_SETTING_FIELD = re.compile(
    r"orphan|tocdepth|no-?comments|no-?search|no-?index|html_theme.*|og:.*|allow-section-numbers"
    r"|layout|template|robots|hide-.+|sd_\w+|no-?sidebar|full-?width|file_format|keywords"
)
_NAMES = {
    "Parameters": "param parameter arg argument key keyword kwarg kwparam",
    "Attributes": "var ivar cvar",
    "Returns": "return returns",
    "Yields": "yield yields",
    "Raises": "raise raises except exception throws",
    "Return values": "retval",
    "Query parameters": "query",
    "Form parameters": "form formparam",
    "Request body": "<json reqjson jsonparam json",
    "Response body": ">json resjson",
    "Request headers": "<header reqheader",
    "Response headers": ">header resheader",
    "Status codes": "statuscode status code",
}
_TITLES = {name: title for title, names in _NAMES.items() for name in names.split()}
_TYPES = {
    "type": "Parameters",
    "paramtype": "Parameters",
    "kwtype": "Parameters",
    "vartype": "Attributes",
    "rtype": "Returns",
    "ytype": "Yields",
}
# What follows their name is not a name of a parameter with its type.
_WHOLE = frozenset({"Raises", "Status codes", "Return values"})
_UNSEEN = "meta"
# What stands between the names of types: list[Owl] | None, Owl or None.
_BETWEEN = re.compile(r"(\s*[\[\](),](?:\s*o[rf]\s)?\s*|\s+o[rf]\s+|\s*\|\s*|\.\.\.)")
# What stands after so many is text.
_MAX_NAMES = 100
# A name of a type, as what it shows and leads to.
Named = Callable[[str], nodes.Node]


@dataclass(slots=True)
class _Entry:
    kind: Sequence[nodes.Node] = field(default_factory=list)
    said: Sequence[nodes.Node] = field(default_factory=list)


def with_fields(body: Sequence[nodes.Node], named: Named = nodes.Text) -> list[nodes.Node]:
    """Return the content of a description with its field lists as titled lists.

    What the names of types show, and where they lead, ``named`` says.
    """
    return [
        each
        for node in body
        for each in (_listed(node, named) if isinstance(node, nodes.field_list) else [node])
    ]


def _listed(fields: nodes.field_list, named: Named) -> Iterator[nodes.Node]:
    groups, others = dict[str, dict[str, _Entry]](), nodes.field_list()
    for each in list(fields.children):
        name, body = (part for part in each.children[:2])
        words = name.astext().split()
        if not words or words[0] == _UNSEEN:
            continue
        if words[0] in _TITLES:
            _add(groups, words, body, named)
        elif words[0] in _TYPES:
            group = groups.setdefault(_TYPES[words[0]], {})
            group.setdefault(" ".join(words[1:]), _Entry()).kind = _said_type(body, named)
        else:
            others += each
    for title, entries in groups.items():
        yield nodes.paragraph("", "", nodes.strong("", title))
        yield from _entries(entries, named if title == "Raises" else nodes.Text)
    if others.children:
        yield others


def _said_type(body: nodes.Node, named: Named) -> list[nodes.Node]:
    """Return the type that a field says, with the links that its author wrote or those of its names."""
    only = body.children[0] if len(body.children) == 1 else None
    if isinstance(only, nodes.paragraph) and not all(isinstance(each, nodes.Text) for each in only.children):
        return list(only.children)
    return _typed(" ".join(body.astext().split()), named)


def _typed(text: str, named: Named) -> list[nodes.Node]:
    """Return a type, or names of some, as code in which each name is what ``named`` says."""
    pieces = enumerate(_BETWEEN.split(text, _MAX_NAMES))
    is_text = {2 * _MAX_NAMES, *range(1, 2 * _MAX_NAMES, 2)}
    found = [nodes.Text(each) if at in is_text else named(each) for at, each in pieces if each]
    return [nodes.literal("", "", *found)] if found else []


def _add(groups: dict[str, dict[str, _Entry]], words: Sequence[str], body: nodes.Node, named: Named) -> None:
    title, rest = _TITLES[words[0]], words[1:]
    is_typed = title not in _WHOLE and len(rest) > 1
    name, kind = (rest[-1], " ".join(rest[:-1])) if is_typed else (" ".join(rest), "")
    entry = groups.setdefault(title, {}).setdefault(name, _Entry())
    entry.kind = _typed(kind, named) or entry.kind
    entry.said = [*entry.said, *body.children]


def _entries(entries: dict[str, _Entry], named: Named) -> Iterator[nodes.Node]:
    items = nodes.definition_list()
    for name, entry in entries.items():
        shown = _typed(name, named)
        between = [nodes.Text(" · ")] if shown and entry.kind else []
        if not shown and not entry.kind:
            yield from entry.said
            continue
        term = nodes.term("", "", *shown, *between, *entry.kind)
        items += nodes.definition_list_item("", term, nodes.definition("", *entry.said))
    if items.children:
        yield items


# Fields at the head of a document


def without_settings(fields: nodes.Element) -> tuple[nodes.field_list, dict[str, str]]:
    """Return the fields that are for readers, and the values of those that describe the document."""
    kept, metas = nodes.field_list(), dict[str, str]()
    for child in list(fields.children):
        name, body = (part.astext().strip() for part in child.children[:2])
        if meta := _META_FIELDS.get(name.lower()):
            metas.setdefault(meta, body)
        elif not _SETTING_FIELD.fullmatch(name.lower()):
            kept += child
    return kept, metas


def is_first(node: nodes.Element) -> bool:
    """Return whether nothing that readers see stands before the node."""
    passing = (nodes.comment, nodes.target, nodes.system_message, nodes.substitution_definition, nodes.meta)
    before: Iterable[nodes.Node] = node.parent.children if node.parent else ()
    return next((each for each in before if not isinstance(each, passing)), None) is node
