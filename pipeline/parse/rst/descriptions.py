"""Directives that describe objects of a program: ``py:function``, ``c:type``, ``object`` and the like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from docutils import nodes
from docutils.parsers.rst import Directive

from ...includes.python_blocks import NOT_INDEXED
from ..labels import DESCRIPTION, DESCRIPTION_CONTENT
from ..python_objects import (
    bounded,
    describes_object,
    full_name,
    module_anchors,
    name_in,
    object_anchors,
    prefixed,
    shown_name,
    type_address,
    whole_signature,
)
from .admonitions import Boxed, Lenient, by_name
from .fields import with_fields
from .objects import as_code, foreign_code, listed_nodes

_MODULE, _CLASS = "noctule-module", "noctule-class"
# The class in which names of references are looked for; that of a method is the one before its name.
_AROUND = "noctule-around"

# In C and C++ a type stands before the name.
_AFTER_TYPE = re.compile(r"(?<![\w:~])([A-Za-z_~][\w:~]*)\s*(?:\(|\[|=|\Z)")
_TYPED = ("c", "cpp")
_STYLE_CLASSES = re.compile(r"[a-z0-9_ -]+")
_HOLDING = ("class", "exception")


def description(signatures: Iterable[nodes.Node], content: Iterable[nodes.Node]) -> nodes.container:
    """Return signatures, and below them in a box of its own what is said of their object."""
    below = nodes.container("", *content, classes=[DESCRIPTION_CONTENT])
    return nodes.container("", *signatures, *([below] if below.children else []), classes=[DESCRIPTION])


class Described(Lenient):
    """An object with its signatures: ``py:function``, ``c:type``, ``object`` and the like."""

    def run(self) -> list[nodes.Node]:
        """Return the signatures as code, with anchors for links, and the description."""
        lines = self.arguments[0].split("\n") if self.arguments else []
        signatures = [line.strip() for line in lines if line.strip()]
        shown = [self.signature(signature) for signature in signatures]
        name = next((each["ids"][0] for each in shown if each["ids"]), "")
        with self.within(name):
            body = with_fields(self.body(), self.named_type)
        return self.named(description(shown, body))

    def named_type(self, name: str) -> nodes.Node:
        """Return a name of a type in a field; in Python it is a link."""
        address = type_address(name, *around(self.state.document)) if describes_object(self.name) else ""
        shown = nodes.Text(shown_name("class", name))
        return nodes.reference("", "", shown, refuri=address) if address else shown

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        """Give the names of members, and those of references, what stands around them."""
        document = self.state.document
        module = self.options.get("module", "")
        outer = {key: document.get(key, "") for key in (_CLASS, _AROUND, *([_MODULE] if module else []))}
        is_holding = self.name.rpartition(":")[2].removeprefix("auto") in _HOLDING
        if name:
            document[_CLASS] = name if is_holding else outer[_CLASS]
            document[_AROUND] = name if is_holding else name.rpartition(".")[0]
        if module:
            document[_MODULE] = bounded(module)
        yield
        document.attributes.update(outer)

    def signature(self, text: str) -> nodes.paragraph:
        """Return one signature as its options complete it, with the object's full name as its id."""
        paragraph = as_code(whole_signature(text, self.options))
        if name := self.object_name(text):
            holder, module = (str(self.state.document.get(key, "")) for key in (_CLASS, _MODULE))
            full = full_name(name, holder, module, str(self.options.get("module", "")))
            is_label = describes_object(self.name) and NOT_INDEXED.isdisjoint(self.options)
            paragraph["ids"] += [full, *(object_anchors(full) if is_label else [])] if full else []
        return paragraph

    def object_name(self, signature: str) -> str:
        """Return the name of the object, empty where none can be told."""
        if self.name.partition(":")[0] in _TYPED and ":" in self.name:
            found = _AFTER_TYPE.search(signature)
            return bounded(found[1]) if found else ""
        return name_in(signature)


class InDomain(Described):
    """A directive of a domain that is not known: an object, or code where none is named beside it."""

    def run(self) -> list[nodes.Node]:
        """Return the code, as of ``click:example``, or the description."""
        is_object = self.name.rpartition(":")[2] in OBJECTS_DESCRIBED
        return (not is_object and foreign_code(self, beside=False)) or super().run()


class AutoDescribed(Described):
    """``autoclass`` and the like: the document contains only the object's name."""

    def run(self) -> list[nodes.Node]:
        """Return the full name and the members listed in the options as code, then the content."""
        name = self.options.get("prog", "") or prefixed(
            str(self.state.document.get(_MODULE, "")), self.argument
        )
        members = [word for word in re.split(r"[\s,]+", self.options.get("members", "")) if word]
        if self.name.endswith("automodule"):
            self.state.document[_MODULE] = bounded(self.argument)
        shown = [self.signature(name)] if name else []
        listed = listed_nodes(map(as_code, members))
        with self.within(bounded(name)):
            body = with_fields(self.body(), self.named_type)
        return self.named(description(shown, [*listed, *body]))


class Module(Boxed):
    """``module`` and ``currentmodule``: the prefix of the names that follow."""

    def run(self) -> list[nodes.Node]:
        """Return the anchor of a module that is described here, and the content, if there is any."""
        self.state.document[_MODULE] = "" if self.argument == "None" else bounded(self.argument)
        is_label = describes_object(self.name) and NOT_INDEXED.isdisjoint(self.options)
        anchors = module_anchors(self.argument) if is_label else []
        place = [nodes.target("", "", ids=anchors)] if anchors else []
        return [*place, *(super().run() if self.content else [])]


class _ClassOrStyle(Described):
    """``class``: an object of the language in Sphinx, a style in docutils, which is written in lower case."""

    def run(self) -> list[nodes.Node]:
        if self.argument and not _STYLE_CLASSES.fullmatch(self.argument):
            return super().run()
        return self.body()


def around(document: nodes.document) -> tuple[str, str]:
    """Return the class and the module that stand around what is read."""
    return str(document.get(_AROUND, "")), str(document.get(_MODULE, ""))


_DESCRIBED = """
    attribute classmethod data decorator decoratormethod describe exception function method object property
    staticmethod
"""

OBJECTS_DESCRIBED: dict[str, type[Directive]] = {
    **by_name(_DESCRIBED, Described),
    **by_name("argparse click typer", AutoDescribed),
    **by_name("currentmodule module", Module),
    "class": _ClassOrStyle,
}
"""Directives for objects, by name."""
