"""References to Python objects as Sphinx has them: what a role shows, and the names that it may mean.

An object is a label of its own kind: ``py:`` and its full name is an anchor of the document that describes
it. A role's address holds the name as written, and the class and the module around it; which of the names
that these make is an object of the collection is known when links are resolved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..includes.python_blocks import OBJECT_PREFIX

# Begins the address of a role; one that leads to no object is only its text.
OBJECT_ADDRESS = "#object:"
_KIND_NAMES = """
    attribute class classmethod data decorator decoratormethod exception function method module property
    staticmethod type
"""
_KINDS = frozenset(_KIND_NAMES.split())
_ROLES = frozenset(["attr", "class", "const", "data", "exc", "func", "meth", "mod", "obj", "type"])
_CALLED = frozenset({"func", "meth"})
_DOMAINS = ("", "py")
_CONSTANTS = frozenset({"None", "True", "False", "Ellipsis"})
_NAME = re.compile(r"\.?[^\W\d]\w*(?:\.[^\W\d]\w*){0,20}")
LONGEST_NAME = 200
_MODIFIERS = ("abstractmethod", "classmethod", "staticmethod", "final", "async")
_SIGNATURE = re.compile(
    r"(?:(?:async|abstract(?:method)?|classmethod|def|final|static(?:method)?)[ \t]+)*([^\W\d][\w.]*)"
)
# Shortened to the last part of the name if the author writes a tilde.
_SHORTENED = re.compile(r"~(?:.*[.:])?([^.:]+)", re.DOTALL)


def is_object_role(name: str) -> bool:
    """Return whether a role names an object of Python."""
    domain, _, last = name.rpartition(":")
    return domain in _DOMAINS and last in _ROLES


def describes_object(directive: str) -> bool:
    """Return whether a directive describes an object of Python."""
    domain, _, last = directive.rpartition(":")
    return domain in _DOMAINS and last.removeprefix("auto") in _KINDS


def name_in(signature: str) -> str:
    """Return the name that a signature in Python begins with; empty where none can be told."""
    found = _SIGNATURE.match(signature)
    return bounded(found[1]) if found else ""


def bounded(name: str) -> str:
    """Return the name, empty for one that is too long: others are written after it, each with all of it."""
    return name if len(name) <= LONGEST_NAME else ""


def whole_signature(signature: str, options: Mapping[str, str]) -> str:
    """Return a signature as its options complete it: ``async go()``, ``wings: int = 2``."""
    before = [name for name in _MODIFIERS if name in options]
    kind, value = options.get("type", ""), options.get("value", "")
    after = (f": {kind}" if kind else "") + (f" = {value}" if value else "")
    return " ".join([*before, signature + after])


def object_anchors(full_name: str) -> list[str]:
    """Return the anchor of the description of an object; none for what is no name."""
    return [OBJECT_PREFIX + full_name] if _is_name(full_name) else []


def module_anchors(name: str) -> list[str]:
    """Return the anchors of the description of a module: ours, and the one that Sphinx gives it."""
    return [*anchors, f"module-{name}"] if (anchors := object_anchors(name)) else []


def shown_name(role: str, target: str) -> str:
    """Return what a role without a title shows: the last part after a tilde, and functions with ``()``."""
    plain = target.removeprefix("!")
    shown = plain if role.endswith(":mod") or role == "mod" else plain.lstrip(".")
    shortened = _SHORTENED.fullmatch(shown)
    shown = shortened[1] if shortened else shown
    is_called = is_object_role(role) and role.rpartition(":")[2] in _CALLED
    return f"{shown.removesuffix('()')}()" if is_called else shown


def object_address(role: str, target: str, holder: str = "", module: str = "") -> str:
    """Return the address of a role in the description of ``holder``, a class; empty where it is no link."""
    name = target.lstrip("~").removesuffix("()")
    if not is_object_role(role) or not _is_name(name):
        return ""
    around = ["", ""] if role.rpartition(":")[2] == "mod" else [holder, module]
    parts = [name, *(each if _is_name(each) else "" for each in around)]
    return OBJECT_ADDRESS + ":".join(parts).rstrip(":")


def type_address(name: str, holder: str, module: str) -> str:
    """Return the address of a name of a type in a field, which may be the end of a class's name.

    Anchors do not tell classes from members: a small letter begins those, and words such as ``optional``,
    unless the author wrote what is before the name.
    """
    plain = name.lstrip("~.")
    is_class = "." in plain or (plain.lstrip("_")[:1].isupper() and plain not in _CONSTANTS)
    return object_address("class", f".{plain}", holder, module) if is_class else ""


def within(address: str, holder: str, module: str) -> str:
    """Return the address of a role in the description of ``holder``, in this module."""
    name = address.removeprefix(OBJECT_ADDRESS)
    is_alone = name != address and ":" not in name
    return f"{address}:{holder}:{module}".rstrip(":") if is_alone else address


def member_name(holder: str, name: str) -> str:
    """Return the name of what stands in the description of a class, once with that of the class."""
    ends = [holder, *ends_of(holder)] if holder else []
    given = next((end for end in ends if f"{name}.".startswith(f"{end}.")), "")
    return holder + name.removeprefix(given) if given else ".".join(filter(None, (holder, name)))


def prefixed(module: str, name: str) -> str:
    """Return the name, once with that of the module."""
    return f"{module}.{name}" if module and name and not f"{name}.".startswith(f"{module}.") else name


def full_name(name: str, holder: str, module: str, own_module: str = "") -> str:
    """Return the full name of what a class or a module around it describes; empty for one that is too long.

    ``own_module`` is the module that the description itself names.
    """
    return bounded(prefixed(own_module, name) if own_module else prefixed(module, member_name(holder, name)))


def _is_name(text: str) -> bool:
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def names_meant(address: str) -> tuple[list[str], str]:
    """Return the full names that an address may mean, the first first, and the end of any other.

    That end is empty unless the author wrote a dot in front; such a name is of the class or module around it
    before it is one of its own.
    """
    name, *around = address.removeprefix(OBJECT_ADDRESS).split(":")
    plain = name.removeprefix(".")
    within = [f"{each}.{plain}" for each in around if each]
    return ([*within, plain], plain) if plain != name else ([plain, *within], "")


def ends_of(full_name: str) -> list[str]:
    """Return what a full name ends with, part by part, without the whole."""
    parts = full_name.split(".") if _is_name(full_name) else []
    return [".".join(parts[at:]) for at in range(1, len(parts))]
