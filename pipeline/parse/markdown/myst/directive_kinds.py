"""Kinds of MyST's directives, by their names and titles."""

from __future__ import annotations

import re
from functools import lru_cache

from pygments.lexers import get_all_lexers

from ...python_objects import describes_object
from ...standard_objects import OPTION

OBJECT, MODULE, PROGRAM, PROSE, UNKNOWN = "object", "module", "program", "prose", "unknown"
BUTTON = "button"
LIST_TABLE, CSV_TABLE = "list-table", "csv-table"
_DOMAINS = frozenset({"c", "cpp", "js", "py", "rst", "std"})
STANDARD = frozenset({"confval", "envvar"})
OPTIONS = frozenset({OPTION, "cmdoption"})
_PLAIN = frozenset({"describe", OBJECT})
# Among them those of sphinx-proof and sphinx-exercise.
_KNOWN_PROSE = """
    acks algorithm aside assumption axiom blockquote callout card-body card-footer card-header centered
    conjecture corollary criterion definition example exercise exercise-start highlights hlist lemma
    observation proof proposition remark solution solution-start table theorem
"""
_PROSE_NAMES = frozenset(_KNOWN_PROSE.split())
_BUTTONS = frozenset({"button-link", "button-ref", "iframe"})
_STYLE = re.compile(r"[a-z0-9_ -]*")
# Interpreters of R Markdown, Quarto and notebooks, and directives whose content is no prose.
_CODE_NAMES = """
    asis bibtex cat code code-block code-cell comment doctest dot embed engine eval-rst exec glue
    graphviz include ipython jsxgraph julia-repl jupyter-execute knitr literalinclude math mermaid myst node
    ojs parsed-code parsed-literal plantuml plot productionlist program-output prompt pyodide raw rcpp
    sourcecode terminal testcode testoutput testsetup tikz uml verbatim webr
"""
_CODE = frozenset(_CODE_NAMES.split())
_INTERPRETERS = re.compile(r"(?:webr|pyodide|shinylive|glue|ipython|jupyter)\b")


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
    if describes_object(name) or last in OPTIONS | STANDARD | _PLAIN or (colon and domain in _DOMAINS):
        return PROSE if name == "class" and _STYLE.fullmatch(title) else OBJECT
    return "" if name in _CODE or _INTERPRETERS.match(name) or name in _languages() else UNKNOWN


@lru_cache(maxsize=1)
def _languages() -> frozenset[str]:
    """Return the names of languages: in R Markdown, code that is run stands below one in braces."""
    return frozenset(alias for lexer in get_all_lexers(plugins=False) for alias in lexer[1])
