"""Directives of MyST that describe objects of programs, and unknown directives."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import escape

from markdown_it.rules_block import StateBlock

from ....directives import add_leftovers
from ....includes.python_blocks import NOT_INDEXED
from ...labels import DESCRIPTION, DESCRIPTION_CONTENT
from ...python_objects import (
    bounded,
    describes_object,
    full_name,
    module_anchors,
    name_in,
    object_anchors,
    whole_signature,
)
from ...standard_objects import option_anchors, option_names, program_name, standard_anchors
from ..block_tokens import close_group, open_group, push_content, push_definitions, push_paragraph
from .directive_kinds import (
    BUTTON,
    CSV_TABLE,
    LIST_TABLE,
    MODULE,
    OBJECT,
    OPTIONS,
    PROGRAM,
    PROSE,
    STANDARD,
    UNKNOWN,
)
from .directive_options import DirectiveOptions
from .scopes import ObjectScope, current_scope, enter_scope
from .tables import csv_table, list_table

# In a text that describes an object, wherever it stands: also in a list or a quotation.
DIRECTIVE_FENCE = r"(?:```|~~~|:::)[ \t]*\{"
OBJECT_ANCHORS = "object_anchors"
_FACTS = ("type", "default")
_NOT_IN_ROLE = re.compile("[`<>]")
_HOLDING = frozenset({"class", "exception"})
_BACKTICKS = re.compile("`+")
Directive = Callable[[StateBlock, str, str, DirectiveOptions, range], None]


def _object(state: StateBlock, name: str, title: str, options: DirectiveOptions, lines: range) -> None:
    """Push the signature as code below its anchors, and the description."""
    outer = current_scope(state)
    inside, anchors = _named(name, title, options, outer)
    found = [] if NOT_INDEXED & options.keys() else anchors
    marks = _marks(state, found)
    open_group(state, DESCRIPTION)
    is_standard = name.rpartition(":")[2] in OPTIONS | STANDARD
    if title:
        shown = title if is_standard else whole_signature(title, options)
        push_paragraph(state, marks + _as_code(shown), range(lines.start, lines.start))
    facts = [(each.capitalize(), options[each]) for each in _FACTS if is_standard and options.get(each)]
    content = lines[options.height :]
    if facts or not all(map(state.isEmpty, content)):
        open_group(state, DESCRIPTION_CONTENT)
        push_definitions(state, facts, lines)
        enter_scope(state, lines.start, inside)
        push_content(state, content)
        enter_scope(state, lines.stop, replace(outer, program=current_scope(state).program))
        close_group(state)
    close_group(state)


def _named(
    name: str, signature: str, options: DirectiveOptions, outer: ObjectScope
) -> tuple[ObjectScope, list[str]]:
    """Return the scope of the description of an object, and the object's anchors."""
    last = name.rpartition(":")[2]
    if last in OPTIONS:
        return outer, option_anchors(outer.program, option_names(signature))
    if last in STANDARD:
        return outer, standard_anchors(last, signature)
    own, module = name_in(signature) if describes_object(name) else "", bounded(options.get("module", ""))
    full = full_name(own, outer.holder, outer.module, module) if own else ""
    if not full:
        return outer, []
    is_holding = last in _HOLDING
    inside = replace(
        outer,
        holder=full if is_holding else outer.holder,
        lookup=full if is_holding else full.rpartition(".")[0],
        module=module or outer.module,
    )
    return inside, [full, *object_anchors(full)]


def _marks(state: StateBlock, anchors: list[str]) -> str:
    """Return the anchors as HTML, and list them for the site, which finds others in the text."""
    state.env.setdefault(OBJECT_ANCHORS, []).extend(anchors)
    return "".join(f'<a id="{escape(anchor)}"></a>' for anchor in anchors)


def _as_code(text: str) -> str:
    ticks = "`" * (max(map(len, _BACKTICKS.findall(text)), default=0) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def _module(state: StateBlock, name: str, title: str, options: DirectiveOptions, lines: range) -> None:
    """Push the anchor of a module that is described here, and the content."""
    anchors = module_anchors(title) if name.endswith(":module") or name == MODULE else []
    if anchors and not NOT_INDEXED & options.keys():
        block = state.push("html_block", "", 0)
        block.content = _marks(state, anchors)
        block.map = [lines.start - 1, lines.start]
    enter_scope(
        state,
        lines.start - 1,
        replace(current_scope(state), module="" if title == "None" else bounded(title)),
    )
    push_content(state, lines[options.height :])


def _program(state: StateBlock, _name: str, title: str, _options: DirectiveOptions, lines: range) -> None:
    enter_scope(state, lines.start - 1, replace(current_scope(state), program=program_name(title)))


def _prose(state: StateBlock, name: str, title: str, options: DirectiveOptions, lines: range) -> None:
    """Push what is beside the name and what is below it."""
    open_group(state)
    if title and name != "class":
        push_paragraph(state, title, range(lines.start, lines.start))
    push_content(state, lines[options.height :])
    close_group(state)


def _button(state: StateBlock, name: str, title: str, options: DirectiveOptions, lines: range) -> None:
    """Push a link that the content titles."""
    inside = (state.src[state.bMarks[line] : state.eMarks[line]] for line in lines[options.height :])
    text = _NOT_IN_ROLE.sub("", " ".join(" ".join(inside).split())) or title
    if name in ("button-link", "iframe"):
        push_paragraph(state, f"[{text}](<{title}>)", lines)
    else:
        push_paragraph(state, f"{{{options.get('ref-type', 'any')}}}`{text} <{title}>`", lines)


def _unknown(state: StateBlock, name: str, title: str, options: DirectiveOptions, lines: range) -> None:
    """Push the content of an unknown directive as prose, with a remark."""
    add_leftovers(state.env, [f"{{{name}}}"])
    _prose(state, name, title, options, lines)


DESCRIBED: dict[str, Directive] = {
    BUTTON: _button,
    CSV_TABLE: csv_table,
    LIST_TABLE: list_table,
    MODULE: _module,
    OBJECT: _object,
    PROGRAM: _program,
    PROSE: _prose,
    UNKNOWN: _unknown,
}
"""What pushes the tokens of a directive, by its kind."""
