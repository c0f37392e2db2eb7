"""Directives and roles of Sphinx's standard domain, and of the types of objects that a project adds to it."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, cast

from docutils import nodes
from docutils.parsers.rst import Directive, roles

from ...includes.python_blocks import NOT_INDEXED
from ...includes.sphinx.object_types import DECLARED, ObjectType, declared
from ..python_objects import bounded, shown_name
from ..standard_objects import (
    OPTION,
    option_anchors,
    option_names,
    program_name,
    standard_address,
    standard_anchors,
)
from .admonitions import Lenient
from .descriptions import Described, description
from .fields import with_fields
from .objects import as_code

_PROGRAM, _DECLARED = "noctule-program", "noctule-declared"
_TITLED = re.compile(r"(.+?)\s*<([^<>]*)>\s*", re.DOTALL)
_FIRST_WORD = re.compile(r"[^\s(]+")


class StandardDescribed(Described):
    """An object with its signatures: an option, a variable of the environment, a setting."""

    form = "text"
    kind = ""

    def run(self) -> list[nodes.Node]:
        """Return the signatures as code, with anchors, the type and default, and the description."""
        lines = self.arguments[0].split("\n") if self.arguments else []
        shown = [self.signature(line.strip()) for line in lines if line.strip()]
        return self.named(description(shown, [*self.facts(), *with_fields(self.body())]))

    def facts(self) -> list[nodes.field_list]:
        """Return what the options say of the object."""
        given = {name: self.options[name] for name in ("type", "default") if self.options.get(name)}
        fields = nodes.field_list()
        for name, text in given.items():
            said = nodes.field_body("", nodes.paragraph("", "", *self.inline(text)))
            fields += nodes.field("", nodes.field_name("", name.capitalize()), said)
        return [fields] if given else []

    def signature(self, text: str) -> nodes.paragraph:
        """Return one signature as code, with the anchors of the object."""
        paragraph = as_code(text)
        if NOT_INDEXED.isdisjoint(self.options):
            paragraph["ids"] += self.anchors(text)
        return paragraph

    def anchors(self, text: str) -> list[str]:
        """Return the anchors of the object of this signature, in whose description options may be its own."""
        if self.form == OPTION:
            return option_anchors(self.state.document.get(_PROGRAM, ""), option_names(text))
        name = self.named_by(text)
        if self.form == "program":
            self.state.document[_PROGRAM] = bounded(name)
        return standard_anchors(self.kind or self.name.rpartition(":")[2], name)

    def named_by(self, text: str) -> str:
        """Return the name in a signature."""
        word = _FIRST_WORD.match(text) if self.form in ("word", "program") else None
        return word[0] if word else text


class _Option(StandardDescribed):
    form = OPTION


class _Place(StandardDescribed):
    """A directive that names the place where it stands, and shows nothing."""

    def run(self) -> list[nodes.Node]:
        """Return the place."""
        target = nodes.target("", "", ids=self.anchors(self.argument))
        return [target, *self.body()] if target["ids"] else self.body()


class _Program(Lenient):
    """``program``: the one whose options follow."""

    def run(self) -> list[nodes.Node]:
        """Return nothing."""
        self.state.document[_PROGRAM] = program_name(self.argument)
        return []


class _Declared(Lenient):
    """Types of objects that the project declares: the text below may use their directives and roles."""

    def run(self) -> list[nodes.Node]:
        """Return nothing."""
        known: dict[str, type[Directive]] = self.state.document.setdefault(_DECLARED, {})
        for each in declared(self.argument):
            known[each.directive] = known[f"std:{each.directive}"] = _directive(each)
            if each.form != OPTION:
                for role in (each.role, f"std:{each.role}"):
                    roles.register_local_role(role, cast("Any", partial(_object, each.directive)))
        return []


def _directive(kind: ObjectType) -> type[Directive]:
    if kind.form == OPTION:
        return _Option
    base = _Place if kind.form == "place" else StandardDescribed
    return type(base.__name__, (base,), {"form": kind.form, "kind": kind.directive})


def declared_directive(document: Any, name: str) -> type[Directive] | None:
    """Return the directive of that name that the project declares for its documents, if it does."""
    known: dict[str, type[Directive]] = document.get(_DECLARED, {})
    return known.get(name)


def _object(
    kind: str, name: str, raw: str, text: str, _line: int, inliner: Any, *_rest: Any, **_more: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    title, target = split_title(text)
    shown = nodes.literal(raw, title or shown_name(name.lower(), target))
    address = standard_address(kind, target, inliner.document.get(_PROGRAM, ""))
    return [nodes.reference(raw, "", shown, refuri=address) if address else shown], []


def split_title(text: str) -> tuple[str, str]:
    """Split ``title <target>`` into the title, empty if there is none, and the target."""
    plain = nodes.unescape(text).strip()
    found = _TITLED.fullmatch(plain)
    return (" ".join(found[1].split()), found[2].strip()) if found else ("", plain)


STANDARD: dict[str, type[Directive]] = {
    "cmdoption": _Option,
    "confval": StandardDescribed,
    "envvar": StandardDescribed,
    "option": _Option,
    "program": _Program,
    DECLARED: _Declared,
}
"""Directives of the standard domain, by name."""

STANDARD_ROLES = {kind: partial(_object, kind) for kind in ("confval", "envvar", OPTION)}
"""Roles of the standard domain, by name."""
