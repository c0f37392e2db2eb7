"""Conditions of the directive ``only``: which builders of Sphinx its content is for."""

from __future__ import annotations

import ast

# The tags that Sphinx's builder of web pages has.
_TAGS = frozenset({"html", "format_html", "builder_html", "builder_dirhtml"})


def is_for_web_pages(condition: str) -> bool:
    """Return whether a condition such as ``not (latex or man)`` holds; one that is no condition does."""
    try:
        return _truth(ast.parse(condition, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True


def _truth(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return (all if isinstance(node.op, ast.And) else any)(map(_truth, node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _truth(node.operand)
    if isinstance(node, ast.Name):
        return node.id in _TAGS
    raise ValueError("no condition")
