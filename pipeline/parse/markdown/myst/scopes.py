"""Scopes: the class, the module and the program described around a role, in which its name is looked up.

They are kept by lines, since inline markup is parsed when all blocks are.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore

from ...python_objects import within
from ...standard_objects import of_program

_SCOPES = "scopes"


@dataclass(frozen=True, slots=True)
class ObjectScope:
    """What is described around some lines.

    ``holder`` is the class that has members there, ``lookup`` the class or module in which references are
    looked up first.
    """

    holder: str = ""
    lookup: str = ""
    module: str = ""
    program: str = ""


def current_scope(state: StateBlock) -> ObjectScope:
    """Return the scope of the lines that are parsed now."""
    scopes = state.env.get(_SCOPES)
    return scopes[-1][1] if scopes else ObjectScope()


def enter_scope(state: StateBlock, line: int, scope: ObjectScope) -> None:
    """Let a scope begin with a line."""
    state.env.setdefault(_SCOPES, []).append((line, scope))


def resolve_in_scopes(state: StateCore) -> None:
    """Give each role for an object the scope of its line (a core rule, after ``inline``)."""
    scopes: list[tuple[int, ObjectScope]] = state.env.get(_SCOPES, [])
    lines = [line for line, _ in scopes]
    for token in state.tokens if scopes else ():
        at = bisect_right(lines, token.map[0]) if token.map and token.children else 0
        for child in (token.children or ()) if at else ():
            if child.type == "link_open":
                child.attrs["href"] = _resolved(str(child.attrs.get("href", "")), scopes[at - 1][1])


def _resolved(address: str, scope: ObjectScope) -> str:
    return of_program(within(address, scope.lookup, scope.module), scope.program)
