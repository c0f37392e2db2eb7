"""The values that ``conf.py`` of Sphinx, or ``_config.yml`` of Jupyter Book, gives as literals."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ...untrusted import NotRead, read_yaml

MAX_CHARS = 50_000


class Computed:
    """Stands for a value of a table that only running the script would tell."""


def literals_of(content: bytes) -> dict[str, object]:
    """Return the literals that a script assigns to names at its top; nothing if it is none."""
    known: dict[str, object] = {}
    try:
        for node in ast.parse(content).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(node, ast.Assign) and isinstance(target, ast.Name):
                known[target.id] = _literal(node.value, known)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}
    return {name: value for name, value in known.items() if value is not None}


def settings_of_book(content: bytes) -> dict[str, object]:
    """Return what ``_config.yml`` of Jupyter Book hands on to Sphinx; nothing for Jekyll's file."""
    try:
        given = read_yaml(content.decode("utf-8", "replace"))
    except NotRead:
        return {}
    tables = given if isinstance(given, dict) else {}
    parse, sphinx = (tables.get(key) for key in ("parse", "sphinx"))
    own = sphinx.get("config") if isinstance(sphinx, dict) else None
    return {**(own if isinstance(own, dict) else {}), **(parse if isinstance(parse, dict) else {})}


def _literal(node: ast.expr, known: Mapping[str, object]) -> object:
    """Return the value of a literal, or of a name that stands for one; ``None`` for anything else.

    In a table, what is no literal is ``Computed``.
    """
    if isinstance(node, ast.Dict):
        keys = (each and _literal(each, known) for each in node.keys)
        pairs = zip(keys, (_literal(each, known) for each in node.values), strict=True)
        return {key: Computed if each is None else each for key, each in pairs if isinstance(key, str)}
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.JoinedStr):
        return _joined(node, known)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def _joined(node: ast.JoinedStr, known: Mapping[str, object]) -> str | None:
    """Return a formatted text of texts, unless it is long: each may hold the one before it twice."""
    pieces = [*_pieces(node, known)]
    texts = [each for each in pieces if isinstance(each, str)]
    return "".join(texts) if len(texts) == len(pieces) and sum(map(len, texts)) <= MAX_CHARS else None


def _pieces(node: ast.JoinedStr, known: Mapping[str, object]) -> Iterator[object]:
    for each in node.values:
        is_plain = isinstance(each, ast.FormattedValue) and each.conversion == -1 and not each.format_spec
        value = each.value if isinstance(each, ast.FormattedValue) and is_plain else each
        yield _literal(value, known) if isinstance(value, ast.Name | ast.Constant) else None
