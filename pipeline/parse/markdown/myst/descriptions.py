"""Directives of MyST that describe objects of programs, and unknown directives.

What stands around a role, the class, the module and the program that are described there, is kept by lines:
inline markup is parsed when all blocks are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape

from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from pygments.lexers import get_all_lexers

from ....directives import add_leftovers
from ...labels import DESCRIPTION, DESCRIPTION_CONTENT
from ...python_objects import (
    NOT_INDEXED,
    bounded,
    describes_object,
    full_name,
    name_in,
    object_anchors,
    whole_signature,
    within,
)
from ...standard_objects import (
    OPTION,
    of_program,
    option_anchors,
    option_names,
    program_name,
    standard_anchors,
)
from ..block_tokens import close_group, open_group, push_content, push_definitions, push_paragraph
from .directive_options import DirectiveOptions
from .tables import csv_table, list_table

OBJECT, MODULE, PROGRAM, PROSE, UNKNOWN = "object", "module", "program", "prose", "unknown"
BUTTON = "button"
LIST_TABLE, CSV_TABLE = "list-table", "csv-table"
# In a text that describes an object, wherever it stands: also in a list or a quotation.
DIRECTIVE_FENCE = r"(?:```|~~~|:::)[ \t]*\{"
OBJECT_ANCHORS, _AROUND = "object_anchors", "objects_around"
_DOMAINS = frozenset({"c", "cpp", "js", "py", "rst", "std"})
_STANDARD = frozenset({"confval", "envvar"})
_OPTIONS = frozenset({OPTION, "cmdoption"})
_FACTS = ("type", "default")
_PLAIN = frozenset({"describe", OBJECT})
# Among them those of sphinx-proof and sphinx-exercise.
_KNOWN_PROSE = """
    acks algorithm aside assumption axiom blockquote callout card-body card-footer card-header centered
    conjecture corollary criterion definition example exercise exercise-start highlights hlist lemma
    observation proof proposition remark solution solution-start table theorem
"""
_PROSE_NAMES = frozenset(_KNOWN_PROSE.split())
_BUTTONS = frozenset({"button-link", "button-ref"})
_NOT_IN_ROLE = re.compile("[`<>]")
_HOLDING = frozenset({"class", "exception"})
_STYLE = re.compile(r"[a-z0-9_ -]*")
_BACKTICKS = re.compile("`+")
# Interpreters of R Markdown, Quarto and notebooks, and directives whose content is no prose.
_CODE_NAMES = """
    asis bibtex cat code code-block code-cell comment doctest dot embed engine eval-rst exec glue
    graphviz include ipython jsxgraph julia-repl jupyter-execute knitr literalinclude math mermaid node ojs
    parsed-code parsed-literal plantuml plot productionlist program-output prompt pyodide raw rcpp sourcecode
    terminal testcode testoutput testsetup tikz uml verbatim webr
"""
_CODE = frozenset(_CODE_NAMES.split())
_INTERPRETERS = re.compile(r"(?:webr|pyodide|shinylive|glue|ipython|jupyter)\b")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is described around some lines: the class that holds members and the one for references."""

    holder: str = ""
    around: str = ""
    module: str = ""
    program: str = ""


def kind_of_directive(name: str, title: str) -> str:
    """Return the kind of a directive by its name; nothing for code."""
    domain, colon, last = name.rpartition(":")
    if last in ("module", "currentmodule") and domain in ("", "py"):
        return MODULE
    if name in _PROSE_NAMES or name in (PROGRAM, LIST_TABLE, CSV_TABLE):
        return PROSE if name in _PROSE_NAMES else name
    if domain == "prf":
        return PROSE
    if name in _BUTTONS:
        return BUTTON
    if describes_object(name) or last in _OPTIONS | _STANDARD | _PLAIN or (colon and domain in _DOMAINS):
        return PROSE if name == "class" and _STYLE.fullmatch(title) else OBJECT
    return "" if name in _CODE or _INTERPRETERS.match(name) or name in _languages() else UNKNOWN


@lru_cache(maxsize=1)
def _languages() -> frozenset[str]:
    """Return the names of languages: in R Markdown, code that is run stands below one in braces."""
    return frozenset(alias for lexer in get_all_lexers(plugins=False) for alias in lexer[1])


Directive = Callable[[StateBlock, str, str, DirectiveOptions, range], None]


def _object(state: StateBlock, name: str, title: str, options: DirectiveOptions, lines: range) -> None:
    """Push the signature as code below its anchors, and the description."""
    outer = _current(state)
    inside, anchors = _named(name, title, options, outer)
    found = [] if NOT_INDEXED & options.keys() else anchors
    marks = _marks(state, found)
    open_group(state, DESCRIPTION)
    is_standard = name.rpartition(":")[2] in _OPTIONS | _STANDARD
    if title:
        shown = title if is_standard else whole_signature(title, options)
        push_paragraph(state, marks + _as_code(shown), range(lines.start, lines.start))
    facts = [(each.capitalize(), options[each]) for each in _FACTS if is_standard and options.get(each)]
    content = lines[options.height :]
    if facts or not all(map(state.isEmpty, content)):
        open_group(state, DESCRIPTION_CONTENT)
        push_definitions(state, facts, lines)
        _change(state, lines.start, inside)
        push_content(state, content)
        _change(state, lines.stop, replace(outer, program=_current(state).program))
        close_group(state)
    close_group(state)


def _named(
    name: str, signature: str, options: DirectiveOptions, outer: Surroundings
) -> tuple[Surroundings, list[str]]:
    """Return what stands around the description of an object, and the object's anchors."""
    last = name.rpartition(":")[2]
    if last in _OPTIONS:
        return outer, option_anchors(outer.program, option_names(signature))
    if last in _STANDARD:
        return outer, standard_anchors(last, signature)
    own, module = name_in(signature) if describes_object(name) else "", bounded(options.get("module", ""))
    full = full_name(own, outer.holder, outer.module, module) if own else ""
    if not full:
        return outer, []
    is_holding = last in _HOLDING
    inside = replace(
        outer,
        holder=full if is_holding else outer.holder,
        around=full if is_holding else full.rpartition(".")[0],
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
    anchors = object_anchors(title) if name.endswith(":module") or name == MODULE else []
    if anchors and not NOT_INDEXED & options.keys():
        block = state.push("html_block", "", 0)
        block.content = _marks(state, anchors)
        block.map = [lines.start - 1, lines.start]
    _change(
        state, lines.start - 1, replace(_current(state), module="" if title == "None" else bounded(title))
    )
    push_content(state, lines[options.height :])


def _program(state: StateBlock, _name: str, title: str, _options: DirectiveOptions, lines: range) -> None:
    _change(state, lines.start - 1, replace(_current(state), program=program_name(title)))


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
    if name == "button-link":
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


def _current(state: StateBlock) -> Surroundings:
    changes = state.env.get(_AROUND)
    return changes[-1][1] if changes else Surroundings()


def _change(state: StateBlock, line: int, around: Surroundings) -> None:
    state.env.setdefault(_AROUND, []).append((line, around))


def name_surroundings(state: StateCore) -> None:
    """Give each role for an object what is described around it (a core rule, after ``inline``)."""
    changes: list[tuple[int, Surroundings]] = state.env.get(_AROUND, [])
    lines = [line for line, _ in changes]
    for token in state.tokens if changes else ():
        at = bisect_right(lines, token.map[0]) if token.map and token.children else 0
        for child in (token.children or ()) if at else ():
            if child.type == "link_open":
                child.attrs["href"] = _within(str(child.attrs.get("href", "")), changes[at - 1][1])


def _within(address: str, known: Surroundings) -> str:
    return of_program(within(address, known.around, known.module), known.program)
