"""Converting reStructuredText to HTML with docutils and Sphinx's vocabulary; no other file is read.

Inline markup is parsed in linear time: past a budget, what would begin some is text. From each ``*`` docutils
looks for its end through the whole paragraph, and copies the rest of it: 40 KB of ``*a`` cost six seconds,
and four times that for twice as much.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.states import Body, Inliner

from .admonitions import BOXES
from .descriptions import OBJECTS_DESCRIBED, AutoDescribed, InDomain, Module
from .faults import failed_directives, known_options, options_by_line
from .html import tree_html
from .layout import LAYOUT
from .objects import OBJECTS, Foreign, Setting
from .pictures import PICTURES
from .roles import role
from .standard import STANDARD, declared_directive
from .tabs import TABS
from .transforms import TRANSFORMS

# Files are bounded as a whole before they are parsed; docutils' own bound would drop a document for one long
# line.
_LONGEST_LINE = 100_000_000
_SILENT = 5
# Characters of one document that may be passed in vain in search of an end; a million take 20 ms.
_MAX_STEPS = 20_000_000
# What has an end is only copied.
_COPIES_PER_STEP = 64
# Children that are looked at for the next one to be replaced, before all are.
_NEAR = 64
_InlineMethod = Callable[[Inliner, re.Match[str], int], tuple[Any, ...]]


_DIRECTIVES = {**LAYOUT, **BOXES, **OBJECTS, **OBJECTS_DESCRIBED, **PICTURES, **TABS, **STANDARD}
# In a domain every directive describes an object, except for these.
_IN_DOMAINS: dict[str, type[Directive]] = {
    "currentmodule": Module,
    "module": Module,
    **dict.fromkeys(("alias", "namespace", "namespace-pop", "namespace-push"), Setting),
}


@dataclass(frozen=True, slots=True)
class RstPage:
    """A page for ``read_html``, and the beginnings of the directives that stand on it as code."""

    html: str
    failed: tuple[str, ...]


def rst_page(text: str, where: str) -> RstPage:
    """Render the text as an HTML page; raises ``RejectedDocument`` for an HTML bomb."""
    document = utils.new_document("", copy.copy(_settings()))
    with _vocabulary():
        Parser(inliner=_bounded_inliner()).parse(text, document)
    document.transformer.add_transforms(TRANSFORMS)
    with _in_linear_time():
        document.transformer.apply_transforms()
    return RstPage(tree_html(document, where), tuple(failed_directives(document)))


@lru_cache(maxsize=1)
def _settings() -> Any:
    """Return docutils' defaults without its configuration files: nothing is inserted, fetched or printed."""
    settings = frontend.get_default_settings(Parser)
    settings.file_insertion_enabled = False
    settings.raw_enabled = True  # as HTML, which is balanced first and sanitized later
    settings.line_length_limit = _LONGEST_LINE
    settings.syntax_highlight = "none"
    settings.report_level = settings.halt_level = _SILENT
    settings.warning_stream = False
    return settings


@contextmanager
def _vocabulary() -> Iterator[None]:
    """Install Sphinx's names in docutils, which looks them up in module globals, for one document.

    What the document itself defines is removed afterwards.
    """
    find_directive, find_role = directives.directive, roles.role
    body: Any = Body
    read_options, options_of = body.parse_extension_options, utils.assemble_option_dict

    def readable_options(state: Any, known: Mapping[str, Any], lines: Sequence[str]) -> tuple[int, Any]:
        success, found = read_options(state, known, lines)
        by_line = None if success else options_by_line(lines, known)
        return (success, found) if by_line is None else (1, by_line)

    defined: dict[str, Any] = vars(roles)["_roles"]
    before = dict(defined)
    defined.clear()
    vars(directives)["directive"] = lambda name, *rest: (_directive(name, find_directive, *rest), [])
    vars(roles)["role"] = lambda name, *rest: role(name, find_role, *rest)
    vars(utils)["assemble_option_dict"] = known_options
    body.parse_extension_options = readable_options
    try:
        yield
    finally:
        vars(directives)["directive"], vars(roles)["role"] = find_directive, find_role
        vars(utils)["assemble_option_dict"] = options_of
        body.parse_extension_options = read_options
        defined.clear()
        defined.update(before)


@contextmanager
def _in_linear_time() -> Iterator[None]:
    """Replace children, and tell references apart, in linear time: docutils looks for each among all others.

    16,000 references in a paragraph that lead nowhere took it seven seconds.
    """
    element: Any = nodes.Element
    shared: Any = utils
    last, really, uniq = dict[int, int](), element.replace, shared.uniq

    def replace(parent: Any, old: Any, new: Any) -> None:
        begin = last.get(id(parent), 0)
        if old not in parent.children[begin : begin + _NEAR]:
            begin = 0
        last[id(parent)] = at = parent.index(old, begin)
        if isinstance(new, nodes.Node):
            parent.setup_child(new)
            parent[at] = new
        else:
            really(parent, old, new)

    element.replace = replace
    shared.uniq = lambda found: list(dict.fromkeys(found))
    try:
        yield
    finally:
        element.replace, shared.uniq = really, uniq


def _directive(name: str, find: Callable[..., Any], *rest: Any) -> type[Directive]:
    """Return the directive of that name; an unknown one is treated according to its form."""
    key = name.lower()
    if own := declared_directive(rest[-1], name):
        return own
    domain, colon, last = key.rpartition(":")
    if key in _DIRECTIVES or (domain == "std" and last in STANDARD):
        return _DIRECTIVES[last if domain else key]
    if colon and domain:
        return _IN_DOMAINS.get(last, InDomain)
    if key.startswith("auto"):
        return AutoDescribed
    found = find(name, *rest)[0]
    return found if isinstance(found, type) and issubclass(found, Directive) else Foreign


def _bounded(method: _InlineMethod) -> _InlineMethod:
    """Return the method for what begins with some character; past the budget the paragraph's rest is text."""

    def bounded(inliner: Any, match: re.Match[str], line: int) -> tuple[Any, ...]:
        if inliner.steps_left < 0:
            return match.string, [], "", []
        found = method(inliner, match, line)
        is_open = any(isinstance(node, nodes.problematic) for node in found[1])
        inliner.steps_left -= len(match.string) // (1 if is_open else _COPIES_PER_STEP)
        return found

    return bounded


def _bounded_inliner() -> Inliner:
    """Return the parser of one document's inline markup, with a budget for all of it."""
    inliner = Inliner()  # docutils looks into this very class, so it has no subclass
    untyped: Any = inliner
    untyped.dispatch = {begin: _bounded(method) for begin, method in untyped.dispatch.items()}
    untyped.steps_left = _MAX_STEPS
    return inliner
