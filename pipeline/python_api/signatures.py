"""Signatures of Python objects as code: decorators, overloads, parameters, bases and values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import islice

import griffe

_WIDTH = 80
_MAX_VALUE = 200
_MAX_PARAMETERS = 500
_MAX_OVERLOADS = 50
# What typing.Annotated holds beside a type is for tools; its Doc is for readers, and stands with them.
_ANNOTATED = "Annotated"
_DOC = "Doc"
_KINDS = griffe.ParameterKind


def signature(found: griffe.Object) -> str:
    """Return the code with which the object begins."""
    if isinstance(found, griffe.Class):
        bases = [_shown(base) for base in found.bases]
        return "\n".join((*_decorators(found.decorators), _call(f"class {found.name}", bases)))
    if isinstance(found, griffe.Function):
        overloads = islice(found.overloads or (), _MAX_OVERLOADS)
        return "\n\n".join((*(_function(each) for each in overloads), _function(found)))
    if isinstance(found, griffe.Attribute):
        return _property(found) if "property" in found.labels else _attribute(found)
    return found.name


def constructor(found: griffe.Class, init: griffe.Function) -> str:
    """Return the code with which the class begins, with the parameters that it is called with."""
    calls = [*islice(init.overloads or (), _MAX_OVERLOADS), init]
    given = [list(islice(_parameters(each.parameters), _MAX_PARAMETERS))[1:] for each in calls]
    shown = (_call(f"class {found.name}", each) for each in given)
    return "\n\n".join("\n".join((*_decorators(found.decorators), each)) for each in shown)


def _function(found: griffe.Function) -> str:
    prefix = "async def" if "async" in found.labels else "def"
    returns = f" -> {unwrapped(found.returns)}" if found.returns is not None else ""
    parameters = list(islice(_parameters(found.parameters), _MAX_PARAMETERS))
    return "\n".join((*_decorators(found.decorators), _call(f"{prefix} {found.name}", parameters, returns)))


def _property(found: griffe.Attribute) -> str:
    returns = f" -> {unwrapped(found.annotation)}" if found.annotation is not None else ""
    return f"@property\ndef {found.name}(self){returns}"


def _attribute(found: griffe.Attribute) -> str:
    annotation = f": {unwrapped(found.annotation)}" if found.annotation is not None else ""
    value = f" = {_shown(found.value)}" if found.value is not None else ""
    return f"{found.name}{annotation}{value}"


def _call(name: str, arguments: list[str], ending: str = "") -> str:
    if not arguments:
        return name if name.startswith("class") else f"{name}(){ending}"
    line = f"{name}({', '.join(arguments)}){ending}"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    return "\n".join((f"{name}(", *(f"    {each}," for each in arguments), f"){ending}"))


def _decorators(decorators: Iterable[griffe.Decorator]) -> Iterator[str]:
    yield from (f"@{_shown(each.value)}" for each in islice(decorators, 20))


def parameters_of(found: griffe.Function) -> str:
    """Return the parameters on one line, without the instance or class that a method is called on."""
    given = list(islice(_parameters(found.parameters), _MAX_PARAMETERS))
    is_method = isinstance(found.parent, griffe.Class) and "staticmethod" not in found.labels
    return ", ".join(given[1:] if is_method and given[:1] and given[0] in ("self", "cls") else given)


def _parameters(parameters: griffe.Parameters) -> Iterator[str]:
    """Yield the parameters with the marks ``/`` and ``*`` between their kinds."""
    before: griffe.ParameterKind | None = None
    for each in parameters:
        if before is _KINDS.positional_only and each.kind is not before:
            yield "/"
        if each.kind is _KINDS.keyword_only and before not in (_KINDS.keyword_only, _KINDS.var_positional):
            yield "*"
        before = each.kind
        yield _parameter(each)
    if before is _KINDS.positional_only:
        yield "/"


def _parameter(each: griffe.Parameter) -> str:
    star = {_KINDS.var_positional: "*", _KINDS.var_keyword: "**"}.get(each.kind, "") if each.kind else ""
    annotation = f": {unwrapped(each.annotation)}" if each.annotation is not None else ""
    if star or each.default is None:
        return f"{star}{each.name}{annotation}"
    return f"{each.name}{annotation}{' = ' if annotation else '='}{_shown(each.default)}"


def unwrapped(annotation: str | griffe.Expr | None) -> str:
    """Return a type without what ``Annotated`` adds to it."""
    inner = _annotated(annotation)
    return _shown(inner[0] if inner else annotation)


def description(annotation: str | griffe.Expr | None) -> str:
    """Return the text of ``Annotated[…, Doc("text")]``, as PEP 727 proposed and FastAPI writes it."""
    for each in _annotated(annotation)[1:]:
        if isinstance(each, griffe.ExprCall) and str(each.function).endswith(_DOC) and each.arguments:
            return _literal(str(each.arguments[0]))
    return ""


def _annotated(annotation: str | griffe.Expr | None) -> list[str | griffe.Expr]:
    """Return what ``Annotated[…]`` holds, nothing if the annotation is none."""
    if not isinstance(annotation, griffe.ExprSubscript):
        return []
    if str(annotation.left).rpartition(".")[2] != _ANNOTATED:
        return []
    inner = annotation.slice
    return list(inner.elements) if isinstance(inner, griffe.ExprTuple) else [inner]


def _literal(code: str) -> str:
    try:
        value = ast.literal_eval(code)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return ""
    return value if isinstance(value, str) else ""


def _shown(value: str | griffe.Expr | None) -> str:
    """Return code on one line, cut if it is long."""
    text = " ".join(str(value).split())
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}…"
