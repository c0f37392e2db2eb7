"""The names of a script whose values it may change after they are declared.

Where is not looked at: such a name has no known value anywhere, and neither has one that it stands for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from tree_sitter import Node

from .script_names import FUNCTIONS, assigned_in_turn, identifiers, is_exported
from .script_syntax import field as part
from .script_syntax import nodes_below, parts, text_of

# Methods that change what they are called on, and functions that change what they are given.
_CHANGING = frozenset(
    [
        "push",
        "unshift",
        "splice",
        "pop",
        "shift",
        "fill",
        "sort",
        "reverse",
        "copyWithin",
        "add",
        "set",
        "delete",
    ]
)
_CHANGING_GIVEN = frozenset({"assign", "defineProperty", "defineProperties", "setPrototypeOf", "merge"})
_HOLDERS = {"member_expression": "object", "subscript_expression": "object", "call_expression": "function"}
_CALLS = frozenset({"call_expression", "new_expression"})
_AROUND = frozenset(
    {
        "parenthesized_expression",
        "non_null_expression",
        "as_expression",
        "satisfies_expression",
        "spread_element",
    }
)


def changed_names(root: Node) -> frozenset[str]:
    """Return the names that are assigned to, and those whose values are changed, under whatever name.

    ``module`` or ``exports`` is among them if what a script exports is changed afterwards, or not at its top.
    """
    return _Changes(root).names()


class _Changes:
    def __init__(self, root: Node) -> None:
        self._assigned: set[str] = set()
        self._changed: set[str] = set()
        # What a name may stand for: the names in what it is declared with, assigned or called with.
        self._meant: defaultdict[str, set[str]] = defaultdict(set)
        self._parameters: dict[str, set[str]] = {}
        self._given: list[tuple[str, set[str]]] = []
        self._root: dict[int, str] = {}  # of each part of a chain
        self._at_the_top, self._variables = set[int](), set[str]()
        for statement in parts(root):
            self._top(statement)
        for node in nodes_below(root):
            if (see := _SEEN.get(node.type)) is not None:
                see(self, node)

    def names(self) -> frozenset[str]:
        for called, given in self._given:
            self._meant[f"{called}()"] |= given  # no name: it stands for all that the function is given
        for called, parameters in self._parameters.items():
            for each in parameters:
                self._meant[each].add(f"{called}()")
        found, new = set[str](), self._changed
        while new:
            found |= new
            new = set().union(*(self._meant[each] for each in new)) - found
        return frozenset(found | self._assigned)

    def _top(self, statement: Node) -> None:
        """Note the assignments that decide on what is exported, and the variables of the whole script."""
        statement = part(statement, "declaration") or statement
        for each in parts(statement):
            if statement.type == "variable_declaration" and (name := part(each, "name")) is not None:
                self._variables |= identifiers(name)
        self._at_the_top |= {each.id for chain in assigned_in_turn(statement) for each in chain}
        self._at_the_top.add(statement.id)

    def _declared_again(self, node: Node) -> None:
        """Take what ``var`` declares again in a block for assigned to: it is the same variable."""
        if node.id not in self._at_the_top:
            for name in filter(None, (part(each, "name") for each in parts(node))):
                self._assigned |= self._variables & identifiers(name)

    def _declaration(self, node: Node) -> None:
        self._means(part(node, "name"), part(node, "value"))

    def _loop(self, node: Node) -> None:
        self._means(part(node, "left"), part(node, "right"))
        name, kinds = part(node, "left"), {each.type for each in node.children}
        if name is not None and kinds.isdisjoint(("const", "let")):
            self._assigned |= identifiers(name) if "var" not in kinds else identifiers(name) & self._variables

    def _function(self, node: Node) -> None:
        given = part(node, "parameters") or part(node, "parameter")
        if (name := text_of(part(node, "name"))) and given is not None:
            self._parameters.setdefault(name, set()).update(identifiers(given))

    def _means(self, name: Node | None, value: Node | None) -> None:
        if name is None or value is None:
            return
        if value.type in FUNCTIONS:
            given = part(value, "parameters") or part(value, "parameter")
            if given is not None:
                self._parameters.setdefault(text_of(name), set()).update(identifiers(given))
            return
        used = identifiers(value)
        for each in identifiers(name) if name.type != "member_expression" else self._roots(name):
            self._meant[each] |= used

    def _assignment(self, node: Node) -> None:
        left = part(node, "left") or part(node, "argument")
        if left is None:
            return
        is_export = node.id in self._at_the_top and is_exported(text_of(left))
        if left.type in ("member_expression", "subscript_expression") and not is_export:
            self._changed |= self._roots(left)
        elif not is_export:
            self._assigned |= identifiers(left)
        self._means(left, part(node, "right"))

    def _deletion(self, node: Node) -> None:
        if any(each.type == "delete" for each in node.children):
            self._changed |= self._roots(node.named_children[0])

    def _statement(self, node: Node) -> None:
        """Take all that a call is given, whose result nobody uses, for changed."""
        for call in _calls_in(node):
            called, given = part(call, "function") or part(call, "constructor"), part(call, "arguments")
            roots = self._roots(called) if called is not None else set()
            if "console" not in roots:
                is_method = called is not None and called.type == "member_expression"
                self._changed |= roots if is_method else set()
                self._changed |= self._given_to(given) if given is not None else set()

    def _call(self, node: Node) -> None:
        called, given = part(node, "function"), part(node, "arguments")
        if called is None or given is None:
            return
        method, used = text_of(part(called, "property")), self._given_to(given)
        if method in _CHANGING:
            self._changed |= self._roots(called)
        if method in _CHANGING_GIVEN:
            self._changed |= used
        if called.type == "identifier":
            self._given.append((text_of(called), used))
        for each in parts(given):
            if each.type in FUNCTIONS and method:  # its parameters may be what the method is called on
                inner = part(each, "parameters") or part(each, "parameter")
                for name in identifiers(inner) if inner is not None else ():
                    self._meant[name] |= self._roots(called)

    def _roots(self, node: Node) -> set[str]:
        """Return the name at the beginning of ``name.other[0].push``; a chain is gone along once."""
        passed, at = list[int](), node
        while at.id not in self._root and at.type not in ("identifier", "shorthand_property_identifier"):
            passed.append(at.id)
            holder = _HOLDERS.get(at.type)
            inner = part(at, holder) if holder else at.named_children[0] if at.type in _AROUND else None
            if inner is None:
                break
            at = inner
        is_name = at.type in ("identifier", "shorthand_property_identifier")
        root = self._root.get(at.id, text_of(at) if is_name else "")
        self._root |= dict.fromkeys(passed, root)
        return {root} - {""}

    def _given_to(self, arguments: Node) -> set[str]:
        """Return the names that a call is given, also in objects and lists; not those in further calls."""
        found, pending = set[str](), parts(arguments)
        while pending:
            each = pending.pop()
            if each.type in ("object", "array", "pair", "spread_element"):
                pending += each.named_children
            else:
                found |= self._roots(each) if each.type not in _CALLS else set()
        return found


_SEEN: dict[str, Callable[[_Changes, Node], None]] = {
    "variable_declarator": _Changes._declaration,
    "for_in_statement": _Changes._loop,
    "variable_declaration": _Changes._declared_again,
    "function_declaration": _Changes._function,
    "assignment_expression": _Changes._assignment,
    "augmented_assignment_expression": _Changes._assignment,
    "update_expression": _Changes._assignment,
    "unary_expression": _Changes._deletion,
    "expression_statement": _Changes._statement,
    "call_expression": _Changes._call,
}


def _calls_in(statement: Node) -> Iterator[Node]:
    """Yield the calls whose results a statement does not use."""
    pending = parts(statement)
    while pending:
        each = pending.pop()
        if each.type in _CALLS:
            yield each
        elif each.type in ("await_expression", "parenthesized_expression", "binary_expression",
                           "ternary_expression", "sequence_expression", "unary_expression"):  # fmt: skip
            pending += each.named_children
