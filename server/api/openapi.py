"""The OpenAPI 3.1 document, made from the table of operations and the models that check what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...pipeline import __version__
from ..problems import KINDS
from ..problems import MEDIA_TYPE as PROBLEM
from .bodies import ProblemBody, schema_of
from .calls import JSON
from .operations import BODY_PROBLEMS, COMMON_PROBLEMS, OPERATIONS, Operation

_SCHEMAS = "#/components/schemas/"
_TEMPLATE = f"{_SCHEMAS}{{model}}"


def openapi_document(operations: Sequence[Operation] = OPERATIONS) -> dict[str, Any]:
    """Return the description of the service, as JSON has it."""
    schemas: dict[str, Any] = {}
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        described = _operation(operation, schemas)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    _reference(ProblemBody, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "noctule",
            "version": __version__,
            "description": "Search over the current snapshot of a store. "
            "Errors are problem details (RFC 9457); each has a code.",
        },
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": _responses(operation, schemas),
    }
    if operation.method == "GET":
        described["parameters"] = [*_in_path(operation), *_in_query(operation, schemas)]
    else:
        schema = _reference(operation.parameters, schemas)
        content = {each: {"schema": schema} for each in operation.takes}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _in_path(operation: Operation) -> Iterable[dict[str, Any]]:
    if "{doc_id}" in operation.path:
        what = "A document, as collection:path; a slash may be written as it is."
        yield {
            "name": "doc_id", "in": "path", "required": True, "description": what,
            "schema": {"type": "string", "minLength": 1},
        }  # fmt: skip


def _in_query(operation: Operation, schemas: dict[str, Any]) -> Iterable[dict[str, Any]]:
    schema, inner = schema_of(operation.parameters, _TEMPLATE)
    schemas.update(inner)
    required = schema.get("required", ())
    for name, described in schema["properties"].items():
        said = {"description": described.pop("description")} if "description" in described else {}
        described.pop("title", None)
        yield {"name": name, "in": "query", "required": name in required, **said, "schema": described}


def _responses(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    reference = _reference(operation.body, schemas)
    forms = {form: {"schema": reference if form == JSON else {"type": "string"}} for form in operation.forms}
    found: dict[str, Any] = {"200": {"description": "The answer.", "content": forms}}
    if operation.method == "GET":
        found["304"] = {"description": "The answer is the one that If-None-Match names."}
    codes = [*operation.problems, *COMMON_PROBLEMS]
    codes += BODY_PROBLEMS if operation.method == "POST" else []
    problem = {PROBLEM: {"schema": _reference(ProblemBody, schemas)}}
    for status in sorted({KINDS[code].status for code in codes}):
        named = sorted({code for code in codes if KINDS[code].status == status})
        found[str(status)] = {"description": ", ".join(named), "content": problem}
    return found


def _reference(body: Any, schemas: dict[str, Any]) -> dict[str, str]:
    schema, inner = schema_of(body, _TEMPLATE)
    schemas.update(inner)
    schemas[body.__name__] = schema
    return {"$ref": f"{_SCHEMAS}{body.__name__}"}
