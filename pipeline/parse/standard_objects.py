"""References to objects of Sphinx's standard domain: options, variables of the environment, settings.

Each is an anchor of the document that describes it: ``std:``, its type and its name. The address of a role
holds the text as written; which of the objects that it may mean are there is known when links are resolved.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote, unquote

from .python_objects import LONGEST_NAME, OBJECT_ADDRESS, bounded

STANDARD_PREFIX = "std:"
# No object of Python has an empty name.
STANDARD_ADDRESS = f"{OBJECT_ADDRESS}:"
OPTION = "option"
_MAX_NAMES = 100
_MAX_WORDS = 8
_OPTION = re.compile(r"(?P<name>(?:/|--|-|\+)?[^\s=]+)(?P<value>=?\s*.*)", re.DOTALL)
_WHOLE_TERM = re.compile(r"[A-Za-z0-9](?:[\w .-]*[A-Za-z0-9])?", re.ASCII)
_NOT_IN_ID, _AROUND_ID = re.compile(r"[^a-zA-Z0-9._]+"), re.compile(r"^[-0-9._]+|-+$")


def standard_anchors(kind: str, name: str) -> list[str]:
    """Return the anchors of an object: ours, and the one that Sphinx gives it; none for what is no name."""
    return _anchors(f"{kind}:", kind, name)


def term_id(term: str) -> str:
    """Return the anchor that Sphinx gives a term of a glossary.

    It is empty for one of other characters, of which Sphinx' anchor has only a part: ``C++`` and ``C#``.
    """
    is_whole = len(term) <= LONGEST_NAME and _WHOLE_TERM.fullmatch(term) is not None
    return _sphinx_id(f"term-{term}") if is_whole else ""


def program_name(argument: str) -> str:
    """Return the name of the program whose options follow; empty for ``None``, which ends them."""
    return "" if argument == "None" else bounded("-".join(argument.split()))


def option_anchors(program: str, names: list[str]) -> list[str]:
    """Return the anchors of a program's option with these names."""
    found: list[str] = []
    for name in names:
        is_argument = not name.startswith(("-", "/"))
        words = ["cmdoption", *filter(None, [program]), *(["arg"] if is_argument else [])]
        found += _anchors(f"{OPTION}:{program}:", "-".join(words), name)
    return found


def _anchors(before: str, prefix: str, name: str) -> list[str]:
    written = "-".join(name.split())
    if not written or len(name) > LONGEST_NAME:
        return []
    sphinx = _sphinx_id(f"{prefix}-{name}")
    return [f"{STANDARD_PREFIX}{before}{written}", *([sphinx] if sphinx != _sphinx_id(prefix) else [])]


def _sphinx_id(text: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _AROUND_ID.sub("", _NOT_IN_ID.sub("-", " ".join(ascii_only.split())))


def option_names(signature: str) -> list[str]:
    """Return the names of an option that is described so: ``-o FILE, --output=FILE``."""
    found = []
    for each in signature.split(", ", _MAX_NAMES)[:_MAX_NAMES]:
        if parts := _OPTION.match(each.strip()):
            is_bracketed = parts["name"].endswith("[") and parts["value"].endswith("]")
            found.append(parts["name"].removesuffix("[") if is_bracketed else parts["name"])
    return found


def standard_address(kind: str, target: str, program: str = "") -> str:
    """Return the address of a role that names an object; ``program`` is the one whose options are meant."""
    if not target or len(target) > LONGEST_NAME or target.startswith("!"):
        return ""
    name = quote(target, safe="-_=/+.,@")
    return f"{STANDARD_ADDRESS}{kind}:{f'{program}:' if kind == OPTION else ''}{name}"


def of_program(address: str, program: str) -> str:
    """Return the address of a role that stands where a program's options are described."""
    any_program = f"{STANDARD_ADDRESS}{OPTION}::"
    return address.replace(any_program, f"{any_program[:-1]}{program}:", 1) if program else address


def anchors_meant(address: str) -> Iterator[str]:
    """Yield the anchors of the objects that an address may mean, the first first."""
    kind, _, written = address.removeprefix(STANDARD_ADDRESS).partition(":")
    if kind != OPTION:
        yield f"{STANDARD_PREFIX}{kind}:{'-'.join(unquote(written).split())}"
        return
    program, _, quoted = written.partition(":")
    target, before = unquote(quoted), f"{STANDARD_PREFIX}{OPTION}:"
    yield f"{before}{program}:{target}"
    stems = (target.partition(mark)[0] for mark in ("[=", "=", " ") if mark in target)
    yield from (f"{before}{program}:{stem}" for stem in stems)
    words = target.split()[:_MAX_WORDS]
    for at in range(1, len(words)):  # git commit --amend
        yield f"{before}{'-'.join(words[:at])}:{' '.join(words[at:])}"
