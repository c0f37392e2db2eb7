"""The literals of a JavaScript or TypeScript file, read and never run.

Objects, arrays, strings, numbers and names of constants of the same file or of one that it imports are
values, and so is what ``...`` puts into one; a call of ``defineConfig`` or the like is its argument, and a
function, or a call of one without arguments, what its only ``return`` gives. Everything else is ``UNREAD``, a
name whose value a script may change among it.
"""

from __future__ import annotations

from collections.abc import Callable, Set, Sized
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tree_sitter import Node

from .script_names import FUNCTIONS, Import, Scope, identifiers, is_wrapper, required
from .script_syntax import field as part
from .script_syntax import number_of, parsed, parts, string_of, template_of, text_of

MAX_NESTING = 60
# Values that "..." puts into others, in all: each may hold the one before it twice.
MAX_SPREAD = 100_000
_TYPED = ("as_expression", "satisfies_expression", "non_null_expression")
_AROUND = frozenset({"parenthesized_expression", "await_expression", *_TYPED})
_NAMES = ("identifier", "shorthand_property_identifier")
_NUMBERS = ("number", "unary_expression")
_CHOICES = ("", "||", "&&", "??")  # none stands in a ? b : c
_FALSY = (False, None, "", 0)
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
# In a function of other statements, something decides on what it returns.
_PLAIN = frozenset(
    {"lexical_declaration", "variable_declaration", "function_declaration", "expression_statement", "comment",
     "return_statement", "empty_statement", "type_alias_declaration", "interface_declaration"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unread:
    """A value that is computed or not known: ``where`` is its place, ``kind`` what stands there.

    Of ``a ? b : c``, or a name that is changed later, it may be one of ``possible`` values, or hold it.
    """

    where: str = field(default="", compare=False)
    kind: str = field(default="", compare=False)
    possible: tuple[Any, ...] = field(default=(), compare=False)


UNREAD: Final = Unread()


class OpenTable(dict[str, Any]):
    """An object into which something unknown is put, at ``where``: only some keys are ``certain``."""

    def __init__(self, given: dict[str, Any], certain: Set[str], where: str = "") -> None:
        super().__init__(given)
        self.certain, self.where = certain, where


def is_certain(table: object, key: str) -> bool:
    """Return whether it is an object of which it is known what stands under a key, or that nothing does."""
    return isinstance(table, dict) and (not isinstance(table, OpenTable) or key in table.certain)


def read_value(source: str) -> Any:
    """Return the value that a text is, such as an attribute of a component."""
    root = parsed(f"({source}\n)")
    first = next(iter(parts(root)), None) if root is not None else None
    given = parts(first) if first is not None and first.type == "expression_statement" else []
    return Reader(Scope(), frozenset()).value_of(given[0]) if given else UNREAD


@dataclass(slots=True)
class Bounds:
    """What several scripts that import each other may hold together."""

    depth: int = 0
    room: int = MAX_SPREAD


@dataclass(slots=True)
class Reader:
    """The values of expressions in a script.

    ``top`` has the script's names, of which ``changed`` have no known value; ``imported`` returns what
    another script exports, or what that function returns. ``name`` stands before the lines of places.
    """

    top: Scope
    changed: Set[str]
    imported: Callable[[Import, bool], Any] = lambda _, __: UNREAD
    name: str = ""
    bounds: Bounds = field(default_factory=Bounds)
    scope: Scope = field(default_factory=Scope, init=False)
    # What is not finished is unknown: a name may stand for itself.
    _values: dict[tuple[int, bool], Any] = field(default_factory=dict, init=False)

    def at_top(self, node: Node, *, is_called: bool) -> Any:
        """Return the value of an expression at the top of the script, or what that function returns."""
        before, self.scope = self.scope, self.top
        try:
            return self._result(node) if is_called else self.value_of(node)
        finally:
            self.scope = before

    def place(self, node: Node) -> str:
        """Return where an expression stands, for a remark."""
        line = f"line {node.start_point[0] + 1}"
        return f"{self.name}, {line}" if self.name else line

    def _unread(self, node: Node) -> Unread:
        return Unread(self.place(node), node.type)

    def value_of(self, node: Node) -> Any:
        """Return the value of an expression."""
        read = _READERS.get(node.type)
        self.bounds.depth += 1
        try:
            found = read(self, node) if read is not None and self.bounds.depth <= MAX_NESTING else UNREAD
        finally:
            self.bounds.depth -= 1
        is_placed = not isinstance(found, Unread) or found.where
        return found if is_placed else replace(found, where=self.place(node), kind=node.type)

    def _inner(self, node: Node) -> Any:
        return self.value_of(parts(node)[0]) if parts(node) else UNREAD

    def _result(self, node: Node) -> Any:
        """Return the value of an expression, or what a function returns."""
        while node.type in _AROUND and parts(node):
            node = parts(node)[0]
        if node.type not in FUNCTIONS:
            return self.value_of(node)
        given = part(node, "parameters") or part(node, "parameter")
        body, outer = part(node, "body"), self.scope
        self.scope = Scope(dict.fromkeys(identifiers(given) if given is not None else ()), outer)
        try:
            if body is None or body.type != "statement_block":
                return self.value_of(body) if body is not None else UNREAD
            return self._returned(body)
        finally:
            self.scope = outer

    def _returned(self, body: Node) -> Any:
        """Return what the only ``return`` of a function gives, if nothing decides on it."""
        statements = parts(body)
        returns = [each for each in statements if each.type == "return_statement" and parts(each)]
        others = [each for each in statements if each.type not in _PLAIN]
        if others or len(returns) != 1:
            return self._unread(others[0] if others else body)
        for statement in statements:
            self.scope.declare(statement)
        return self.value_of(parts(returns[0])[0])

    def constant(self, name: str, *, is_called: bool, start: Scope | None = None) -> Any:
        """Return a constant's value, or what a function returns, read once; what names itself has none."""
        scope = (start or self.scope).of(name)
        given = scope.names[name] if scope is not None else None
        if scope is None or given is None:
            return UNREAD
        if isinstance(given, Import):
            found = self.imported(given, is_called)
            return Unread(possible=(found,)) if name in self.changed else found
        key = given.id, is_called
        if key not in self._values:
            self._values[key] = UNREAD
            before, self.scope = self.scope, scope
            try:
                found = self._result(given) if is_called else self.value_of(given)
                self._values[key] = Unread(possible=(found,)) if name in self.changed else found
            finally:
                self.scope = before
        return self._values[key]

    def _template(self, node: Node) -> Any:
        """Return a text with the values that are put into it, if they are texts."""
        pieces = [each if isinstance(each, str) else self._inner(each) for each in template_of(node)]
        return UNREAD if node.has_error else self._joined(pieces)

    def _operation(self, node: Node) -> Any:
        """Return a sum of texts; of all else, such as a choice, what it may be."""
        given = (part(node, each) for each in ("left", "right", "consequence", "alternative"))
        values = [self.value_of(each) for each in given if each is not None]
        operator = text_of(part(node, "operator"))
        if operator == "+":
            return self._joined(values)
        return Unread(possible=(*values,)) if operator in _CHOICES else UNREAD

    def _joined(self, pieces: list[Any]) -> Any:
        if not all(isinstance(each, str) for each in pieces):
            return UNREAD
        text = "".join(pieces)
        return text if len(pieces) == 1 or self._admits(text) else UNREAD

    def _member(self, node: Node) -> Any:
        """Return what stands in an object under a name that is written there."""
        name, table = text_of(part(node, "property")), part(node, "object")
        given: Any = self.value_of(table) if table is not None else UNREAD
        return given[name] if is_certain(given, name) and name in given else UNREAD

    def _call(self, node: Node) -> Any:
        called, given = part(node, "function"), part(node, "arguments")
        if called is None or given is None or given.type != "arguments":
            return UNREAD
        name, first = text_of(called), next(iter(parts(given)), None)
        if called.type != "identifier":
            return self._method(called, first) if called.type == "member_expression" else UNREAD
        if name == "require":
            return self.imported(Import(required(node)), False)
        if first is None:
            return self.constant(name, is_called=True)
        return self._wrapped(name, first) if is_wrapper(name) else UNREAD

    def _wrapped(self, name: str, given: Node) -> Any:
        """Return what is given to a wrapper; one that the project has itself may add to it."""
        value, scope = self._result(given), self.scope.of(name)
        declared = scope.names[name] if scope is not None else None
        is_own = scope is not None and not (isinstance(declared, Import) and not declared.is_beside)
        is_open = is_own and isinstance(value, dict)
        return OpenTable(value, frozenset(), self.place(given)) if is_open else value

    def _method(self, called: Node, first: Node | None) -> Any:
        name, holder = text_of(part(called, "property")), part(called, "object")
        if text_of(called) == "require.resolve":
            return string_of(first) or UNREAD
        if holder is None or name != "filter" or text_of(first) != "Boolean":
            return UNREAD
        given = self.value_of(holder)
        return [each for each in given if each not in _FALSY] if isinstance(given, list) else UNREAD

    def _array(self, node: Node) -> Any:
        found: list[Any] = []
        for each in parts(node):
            value = self._inner(each) if each.type == "spread_element" else self.value_of(each)
            if each.type == "spread_element" and isinstance(value, list) and self._admits(value):
                found += value
            else:
                is_put = each.type == "spread_element" and not isinstance(value, Unread)
                found.append(self._unread(each) if is_put else value)
        return found

    def _object(self, node: Node) -> Any:
        found: dict[str, Any] = {}
        certain: set[str] | None = None  # of an open one
        where = ""
        for each in parts(node):
            put = self._put_in(each)
            if not isinstance(put, dict) or isinstance(put, OpenTable):
                certain = set(put.certain if isinstance(put, OpenTable) else ())
                where = self.place(each)
            elif certain is not None:
                certain |= put.keys()
            found |= put if isinstance(put, dict) else {}
        return found if certain is None else OpenTable(found, certain, where)

    def _put_in(self, node: Node) -> Any:
        """Return what a part of an object puts into it: a key with its value, or others."""
        if node.type == "spread_element":
            value = self._inner(node)
            return value if isinstance(value, dict) and self._admits(value) else UNREAD
        if node.type == "shorthand_property_identifier":
            return {text_of(node): self.value_of(node)}
        key, value = part(node, "key") or part(node, "name"), part(node, "value")
        if (
            key is None
            or key.type == "computed_property_name"
            or node.type not in ("pair", "method_definition")
        ):
            return UNREAD
        name = string_of(key) if key.type == "string" else text_of(key)
        return {name: self.value_of(value) if value is not None else self._unread(node)}

    def _admits(self, values: Sized) -> bool:
        """Return whether there is room for what is put into another value, and take it."""
        self.bounds.room -= len(values)
        return self.bounds.room >= 0


_READERS: dict[str, Callable[[Reader, Node], Any]] = {
    **dict.fromkeys(_AROUND, Reader._inner),
    **dict.fromkeys(_WORDS, lambda _, node: _WORDS[node.type]),
    **dict.fromkeys(_NAMES, lambda self, node: self.constant(text_of(node), is_called=False)),
    **dict.fromkeys(_NUMBERS, lambda _, node: UNREAD if (found := number_of(node)) is None else found),
    "type_assertion": lambda self, node: self.value_of(parts(node)[-1]),
    "string": lambda _, node: UNREAD if node.has_error else string_of(node),
    "template_string": Reader._template,
    "binary_expression": Reader._operation,
    "ternary_expression": Reader._operation,
    "member_expression": Reader._member,
    "call_expression": Reader._call,
    "array": Reader._array,
    "object": Reader._object,
}
