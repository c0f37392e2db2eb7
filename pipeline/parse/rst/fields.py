"""Fields (``:name: text``): those that describe a document, and those of an object's description.

The latter (``:param x:``, ``:returns:``) become lists of what the object takes and gives back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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


@dataclass(slots=True)
class _Entry:
    kind: str = ""
    said: Sequence[nodes.Node] = field(default_factory=list)


def with_fields(body: Sequence[nodes.Node]) -> list[nodes.Node]:
    """Return the content of a description with its field lists as titled lists."""
    return [
        each for node in body for each in (_listed(node) if isinstance(node, nodes.field_list) else [node])
    ]


def _listed(fields: nodes.field_list) -> Iterator[nodes.Node]:
    groups, others = dict[str, dict[str, _Entry]](), nodes.field_list()
    for each in list(fields.children):
        name, body = (part for part in each.children[:2])
        words = name.astext().split()
        if not words or words[0] == _UNSEEN:
            continue
        if words[0] in _TITLES:
            _add(groups, words, body)
        elif words[0] in _TYPES:
            group = groups.setdefault(_TYPES[words[0]], {})
            group.setdefault(" ".join(words[1:]), _Entry()).kind = " ".join(body.astext().split())
        else:
            others += each
    for title, entries in groups.items():
        yield nodes.paragraph("", "", nodes.strong("", title))
        yield from _entries(entries)
    if others.children:
        yield others


def _add(groups: dict[str, dict[str, _Entry]], words: Sequence[str], body: nodes.Node) -> None:
    title, rest = _TITLES[words[0]], words[1:]
    is_typed = title not in _WHOLE and len(rest) > 1
    name, kind = (rest[-1], " ".join(rest[:-1])) if is_typed else (" ".join(rest), "")
    entry = groups.setdefault(title, {}).setdefault(name, _Entry())
    entry.kind, entry.said = kind or entry.kind, [*entry.said, *body.children]


def _entries(entries: dict[str, _Entry]) -> Iterator[nodes.Node]:
    items = nodes.definition_list()
    for name, entry in entries.items():
        shown = [nodes.literal("", part) for part in (name, entry.kind) if part]
        if not shown:
            yield from entry.said
            continue
        term = nodes.term(
            "", "", shown[0], *(node for each in shown[1:] for node in (nodes.Text(" · "), each))
        )
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
