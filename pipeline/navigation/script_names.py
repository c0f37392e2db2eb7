"""The names that a script declares, imports and exports, and the syntax that stands for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from .script_syntax import field as part
from .script_syntax import nodes_below, parts, string_of, text_of

DEFAULT, ALL = "default", "*"
FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration"})
# A call of a function of such a name is its argument.
_WRAPPER = re.compile(r"(?:define|with)|(?:starlight|\w*[tT]heme)\Z")
_DECLARING = frozenset({"lexical_declaration", "variable_declaration"})
_IDENTIFIERS = frozenset(
    {"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"}
)
_OPAQUE = FUNCTIONS | {"generator_function", "class_body", "method_definition", "type_annotation"}


@dataclass(frozen=True, slots=True)
class Import:
    """What another script, or a package, exports under a name; ``*`` for all of it."""

    path: str
    name: str = DEFAULT

    @property
    def is_beside(self) -> bool:
        """Return whether it is a script of the same project."""
        return self.path.startswith(("./", "../")) or self.path in (".", "..")


@dataclass(slots=True)
class Scope:
    """Names of a script, or of a function in it: what each stands for, None for what is not known."""

    names: dict[str, Node | Import | None] = field(default_factory=dict)
    outer: Scope | None = None

    def of(self, name: str) -> Scope | None:
        """Return the innermost scope that declares a name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        return scope

    def declare(self, statement: Node) -> None:
        """Note what a statement declares; of two values of a name, neither is known."""
        if statement.type == "export_statement":
            if (inner := part(statement, "declaration")) is not None:
                self.declare(inner)
        elif statement.type == "import_statement":
            for local, given in _imported(statement):
                self.names.setdefault(local, given)
        elif statement.type in _DECLARING:
            for each in parts(statement):
                self._set(_declared(each) if each.type == "variable_declarator" else {})
        elif (name := part(statement, "name")) is not None:
            self._set({text_of(name): statement if statement.type in FUNCTIONS else None})

    def _set(self, found: dict[str, Node | Import | None]) -> None:
        for name, value in found.items():
            is_new = name not in self.names or isinstance(self.names[name], Import)
            self.names[name] = value if is_new else None


def _declared(declarator: Node) -> dict[str, Node | Import | None]:
    target, value = part(declarator, "name"), part(declarator, "value")
    if target is None:
        return {}
    path = required(value)
    if target.type == "identifier":
        return {text_of(target): Import(path) if path else value}
    found: dict[str, Node | Import | None] = dict.fromkeys(identifiers(target))
    if path:
        plain = (each for each in parts(target) if each.type == "shorthand_property_identifier_pattern")
        found |= {name: Import(path, name) for name in map(text_of, plain)}
    return found


def is_wrapper(name: str) -> bool:
    """Return whether a call of a function of this name is its argument."""
    return _WRAPPER.match(name) is not None


def is_exported(name: str) -> bool:
    """Return whether an assignment to this says what a script exports."""
    return name in ("module.exports", "exports") or (name.startswith("exports.") and name.count(".") == 1)


def assigned_in_turn(statement: Node) -> Iterator[list[Node]]:
    """Yield each chain of assignments of a statement, also of ``const config = module.exports = {…}``."""
    is_expression = statement.type == "expression_statement"
    for each in parts(statement) if is_expression or statement.type in _DECLARING else ():
        chain, found = list[Node](), each if is_expression else part(each, "value")
        while found is not None and found.type == "assignment_expression":
            chain.append(found)
            found = part(found, "right")
        if chain:
            yield chain


def required(value: Node | None) -> str:
    """Return what ``require("./other")`` names; nothing for anything else."""
    if value is None or value.type != "call_expression" or text_of(part(value, "function")) != "require":
        return ""
    given = part(value, "arguments")
    return string_of(next(iter(parts(given)), None)) if given is not None else ""


def _imported(statement: Node) -> Iterator[tuple[str, Import]]:
    """Yield what ``import a, { b as c } from "./other"`` declares; no types."""
    if _is_of_types(statement):
        return
    for clause in (each for each in parts(statement) if each.type == "import_require_clause"):
        yield from ((name, Import(string_of(part(clause, "source")))) for name in identifiers(clause))
    path = string_of(part(statement, "source"))
    for each in (
        each for clause in parts(statement) if clause.type == "import_clause" for each in parts(clause)
    ):
        if each.type == "identifier":
            yield text_of(each), Import(path)
        elif each.type == "namespace_import":
            yield from ((name, Import(path, ALL)) for name in identifiers(each))
        else:
            yield from ((local, Import(path, name)) for name, local in _specified(each))


def _specified(clause: Node) -> Iterator[tuple[str, str]]:
    """Yield the names in braces with what each is called on the other side of ``as``."""
    for each in parts(clause):
        if not _is_of_types(each):
            name = text_of(part(each, "name"))
            yield name.strip("'\""), text_of(part(each, "alias")).strip("'\"") or name


def _is_of_types(node: Node) -> bool:
    return any(each.type in ("type", "typeof") for each in node.children)


@dataclass(slots=True)
class ExportedNames:
    """What a script exports: expressions, names of its own, names of others, and all of others."""

    values: dict[str, Node] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)
    others: dict[str, Import] = field(default_factory=dict)
    whole: dict[Import, None] = field(default_factory=dict)

    def note(self, statement: Node) -> None:
        """Note what a statement at the top of a script exports."""
        for chain in assigned_in_turn(statement):
            value = part(chain[-1], "right")
            for name in filter(is_exported, (text_of(part(each, "left")) for each in chain)):
                if value is not None and name != "exports":
                    self.values[DEFAULT if name == "module.exports" else name.partition(".")[2]] = value
        if statement.type == "export_statement" and not _is_of_types(statement):
            self._exported(statement)

    def _exported(self, statement: Node) -> None:
        path, given = string_of(part(statement, "source")), parts(statement)
        clause = next((each for each in given if each.type == "export_clause"), None)
        space = next((each for each in given if each.type == "namespace_export"), None)
        value = part(statement, "value") or part(statement, "declaration")
        if clause is not None:
            for name, public in _specified(clause):
                if path:
                    self.others[public] = Import(path, name)
                else:
                    self.own[public] = name
        elif space is not None:
            self.others[text_of(parts(space)[0]).strip("'\"")] = Import(path, ALL)
        elif path:
            self.whole[Import(path, ALL)] = None
        elif value is not None and any(each.type == DEFAULT for each in statement.children):
            self.values[DEFAULT] = value
        elif value is None and given and any(each.type == "=" for each in statement.children):
            self.values[DEFAULT] = given[0]


def identifiers(node: Node) -> set[str]:
    """Return the names that an expression uses or a pattern declares, without those in functions."""
    found, pending = set[str](), [node]
    while pending:
        each = pending.pop()
        if each.type in _IDENTIFIERS:
            found.add(text_of(each))
        elif each.type == "assignment_expression":  # of a chain of them, each is looked at for itself
            pending += filter(None, [part(each, "left")])
        elif each.type not in _OPAQUE:
            pending += each.named_children
    return found


def has_name(root: Node, name: str) -> bool:
    """Return whether a name stands in a script, outside of comments and of other words of its strings."""
    quoted = (f'"{name}"', f"'{name}'", f"`{name}`")
    return any(
        text_of(each) in quoted if each.type in ("string", "template_string") else text_of(each) == name
        for each in nodes_below(root)
        if each.type in ("string", "template_string") or each.type.endswith(("identifier", "_pattern"))
    )
