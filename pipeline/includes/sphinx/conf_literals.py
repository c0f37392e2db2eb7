"""The values that ``conf.py`` of Sphinx, or ``_config.yml`` of Jupyter Book, gives as literals."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...untrusted import NotRead, read_yaml

MAX_CHARS = 50_000
DATA = (".yaml", ".yml", ".json")
_OPENING = frozenset({"open", "Path", "pathlib.Path"})
# Of all formatted texts of a script together.
MAX_FORMATTED = 1_000_000


class Computed:
    """Stands for a value that only running the script would tell."""


@dataclass(slots=True)
class _Known:
    """The values of names so far, and the characters that formatted texts may still have together."""

    values: dict[str, object] = field(default_factory=dict)
    room: int = MAX_FORMATTED


def literals_of(content: bytes) -> dict[str, object]:
    """Return the literals that a script assigns to names at its top; nothing if it is none.

    One that is computed is ``Computed``.
    """
    known = _Known()
    try:
        for node in ast.parse(content).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(node, ast.Assign) and isinstance(target, ast.Name):
                known.values[target.id] = _literal(node.value, known)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}
    return known.values


def files_read_into(content: bytes, setting: str) -> tuple[str, ...]:
    """Return the files of YAML and JSON that a script reads a setting from, with ``yaml.safe_load(file)``."""
    try:
        return tuple(dict.fromkeys(_files_read(ast.parse(content).body, setting, ())))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ()


def _files_read(statements: list[ast.stmt], setting: str, opened: tuple[str, ...]) -> Iterator[str]:
    for node in statements:
        if isinstance(node, ast.If | ast.Try):
            yield from _files_read(node.body, setting, opened)
        elif isinstance(node, ast.With):
            named = (name for item in node.items for name in _data_files(item.context_expr))
            yield from _files_read(node.body, setting, tuple(named))
        elif isinstance(node, ast.Assign | ast.Expr) and _gives(node, setting):
            loads = any(
                isinstance(each, ast.Call) and _name(each).endswith("load") for each in ast.walk(node)
            )
            yield from (*_data_files(node.value), *(opened if loads else ()))


def _gives(node: ast.Assign | ast.Expr, setting: str) -> bool:
    """Return whether a statement is ``setting = …`` or ``setting.update(…)``."""
    if isinstance(node, ast.Assign):
        return any(isinstance(each, ast.Name) and each.id == setting for each in node.targets)
    return isinstance(node.value, ast.Call) and _name(node.value) == f"{setting}.update"


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _data_files(node: ast.expr) -> Iterator[str]:
    """Yield the names of files that an expression opens."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and each.args and _name(each) in _OPENING:
            first = each.args[0]
            if (
                isinstance(first, ast.Constant)
                and isinstance(first.value, str)
                and first.value.endswith(DATA)
            ):
                yield first.value


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


def _literal(node: ast.expr, known: _Known) -> object:
    """Return the value of a literal, or of a name that stands for one; ``Computed`` for anything else.

    So are the values of a table that are no literals.
    """
    if isinstance(node, ast.Dict):
        keys = (each and _literal(each, known) for each in node.keys)
        pairs = zip(keys, (_literal(each, known) for each in node.values), strict=True)
        return {key: each for key, each in pairs if isinstance(key, str)}
    if isinstance(node, ast.Name):
        return known.values.get(node.id, Computed)
    if isinstance(node, ast.JoinedStr):
        return _joined(node, known)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return Computed


def _joined(node: ast.JoinedStr, known: _Known) -> object:
    """Return a formatted text of texts, unless it is long: each may hold the one before it twice."""
    pieces = [*_pieces(node, known)]
    texts = [each for each in pieces if isinstance(each, str)]
    size = sum(map(len, texts))
    if len(texts) < len(pieces) or size > min(MAX_CHARS, known.room):
        return Computed
    known.room -= size
    return "".join(texts)


def _pieces(node: ast.JoinedStr, known: _Known) -> Iterator[object]:
    for each in node.values:
        is_plain = isinstance(each, ast.FormattedValue) and each.conversion == -1 and not each.format_spec
        value = each.value if isinstance(each, ast.FormattedValue) and is_plain else each
        yield _literal(value, known) if isinstance(value, ast.Name | ast.Constant) else None
