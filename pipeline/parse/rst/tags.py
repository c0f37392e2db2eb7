"""The HTML element that stands for each docutils node that has one."""

from __future__ import annotations

TAGS = {
    "attribution": "p",
    "block_quote": "blockquote",
    "bullet_list": "ul",
    "caption": "figcaption",
    "container": "div",
    "definition": "dd",
    "definition_list": "dl",
    "description": "dd",
    "emphasis": "em",
    "enumerated_list": "ol",
    "field_body": "dd",
    "field_list": "dl",
    "field_name": "dt",
    "figure": "figure",
    "footer": "div",
    "header": "div",
    "legend": "div",
    "line_block": "p",
    "list_item": "li",
    "literal": "code",
    "math": "code",
    "option_group": "dt",
    "option_list": "dl",
    "paragraph": "p",
    "row": "tr",
    "rubric": "p",
    "sidebar": "div",
    "strong": "strong",
    "subscript": "sub",
    "superscript": "sup",
    "table": "div",
    "tbody": "tbody",
    "tgroup": "table",
    "thead": "thead",
    "title_reference": "code",
    "topic": "div",
}
# Names go inside these: around them HTML allows nothing else.
NAMED_INSIDE = frozenset({"definition", "field_body", "list_item", "row", "tbody", "thead"})
UNSEEN = frozenset({"classifier", "colspec", "label", "pending", "substitution_definition"})
