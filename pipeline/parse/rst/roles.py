"""Interpreted text: the roles of docutils and Sphinx become links, names in code, or plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from docutils import nodes
from docutils.parsers.rst import roles

from ..labels import INDICES, label_anchor, term_label
from ..python_objects import is_object_role, object_address, shown_name
from ..standard_objects import standard_address
from ..standards import STANDARDS, standard
from .admonitions import EQUATION, label_or_document
from .descriptions import around
from .standard import STANDARD_ROLES, split_title

# What docutils expects from a role: its nodes, and messages about them.
Found = tuple[Sequence[nodes.Node], Sequence[nodes.system_message]]
Role = Callable[..., Found]

_LABELS = frozenset({"numref", "ref"})
_DOCUMENTS = frozenset({"any", "doc", "download"})
_TEXT_NAMES = """
    abbr abbreviation ac acronym contents dfn dtag file-text guilabel i index menuselection title-text
"""
_TEXT = frozenset(_TEXT_NAMES.split())
# Their text is literal: angle brackets do not separate a title.
_VERBATIM_NAMES = """
    command dfn file kbd mailheader makevar manpage mimetype newsgroup program regexp samp
"""
_VERBATIM = frozenset(_VERBATIM_NAMES.split())
# The page that only Sphinx makes which a reference without a title names.
SPHINX_INDEX = "sphinx-index"
_VARYING = re.compile(r"\{([^{}]*)\}")
_ACCELERATOR = re.compile(r"(?<!&)&(?![&\s])")
# Icons by name: there is nothing to read.
_UNSEEN = re.compile(r"octicon|fa[bsrl]?|material-\w+|far|iconify")
_BADGE = re.compile(r"bdg(?:-\w+)*")
_OURS_IN_DOCUTILS = """
    code emphasis literal math raw strong sub subscript sup superscript
"""
_KEPT = frozenset(_OURS_IN_DOCUTILS.split())


def role(name: str, original: Callable[..., Any], *rest: Any) -> tuple[Role, list[nodes.system_message]]:
    """Return the role of that name as docutils' own ``role`` does, except that no role is unknown.

    Roles that the document itself defines come first; ``original`` is docutils' function and ``rest`` its
    arguments.
    """
    key = name.lower()
    if key in vars(roles)["_roles"] or key in _KEPT:
        found, messages = original(key, *rest)
        if found is not None:
            return found, messages
    return _named(key, _sphinx_role(key)), []


def _named(key: str, found: Role) -> Role:
    """Return the role with its own name, which docutils does not give to the default role."""
    return lambda _name, *rest, **more: found(key, *rest, **more)


def _sphinx_role(key: str) -> Role:
    last = key.rpartition(":")[2]
    if key.startswith("external") and last in _LABELS | _DOCUMENTS:  # of a project that nothing is known of
        return _text
    if last in _LEADING:
        return _LEADING[last]
    if _UNSEEN.fullmatch(last):
        return _nothing
    if _BADGE.fullmatch(last) or last in _TEXT:
        return _text
    return _verbatim if not last or last in _VERBATIM else _name


def _label(_name: str, raw: str, text: str, *_rest: Any, **_more: Any) -> Found:
    title, target = split_title(text)
    title = " ".join(title.replace("%s", "").replace("{number}", "").split())
    if target in INDICES:
        return [nodes.inline(raw, title or INDICES[target], **{} if title else {SPHINX_INDEX: target})], []
    is_notebook = ".ipynb" in target and "/" in target  # nbsphinx names notebooks by their paths
    address = target if is_notebook else f"#{label_anchor(target)}"
    link = nodes.reference(raw, title or target, refuri=address, untitled=not title)
    if not title:
        link["label"] = nodes.fully_normalize_name(target)
    return [link], []


def _document(name: str, raw: str, text: str, _line: int, inliner: Any, *_rest: Any, **_more: Any) -> Found:
    title, target = split_title(text)
    last = name.lower().rpartition(":")[2]
    if last == "any" and not title and (called := _dotted_object(target, *around(inliner.document))):
        return [nodes.reference(raw, "", nodes.literal(raw, shown_name("any", target)), refuri=called)], []
    address = label_or_document(target, "any" if last == "any" else "doc")
    untitled = not title and last != "download"
    return [nodes.reference(raw, title or target, refuri=address, untitled=untitled)], []


def _dotted_object(target: str, holder: str, module: str) -> str:
    """Return the address of an object that ``any`` names in full or in part: one word may be a label."""
    name = target.lstrip("~.")
    return object_address("obj", f".{name}", holder, module) if "." in name.strip(".") else ""


def _equation(_name: str, raw: str, text: str, *_rest: Any, **_more: Any) -> Found:
    title, label = split_title(text)
    address = f"#{label_anchor(EQUATION + label)}"
    return [nodes.reference(raw, title or f"({label})", refuri=address)], []


def _term(_name: str, raw: str, text: str, *_rest: Any, **_more: Any) -> Found:
    title, target = split_title(text)
    return [nodes.reference(raw, title or target, refuri=f"#{label_anchor(term_label(target))}")], []


def _standard(name: str, raw: str, text: str, *_rest: Any, **_more: Any) -> Found:
    title, target = split_title(text)
    kind = name.lower().rpartition(":")[2].removesuffix("-reference")
    found = standard(kind, target)
    if found is None:
        return [nodes.inline(raw, title or target)], []
    return [nodes.reference(raw, title or found[0], refuri=found[1])], []


_LEADING: dict[str, Role] = {
    **dict.fromkeys([*STANDARDS, "pep-reference", "rfc-reference"], _standard),
    **dict.fromkeys(_LABELS, _label),
    **dict.fromkeys(_DOCUMENTS, _document),
    **STANDARD_ROLES,
    "eq": _equation,
    "term": _term,
}


def _name(name: str, raw: str, text: str, _line: int, inliner: Any, *_rest: Any, **_more: Any) -> Found:
    title, target = split_title(text)
    shown = nodes.literal(raw, title or shown_name(name.lower(), target))
    is_link = not (title or target).startswith("!")
    find = _own_address if _may_be_own(name.lower()) else object_address
    address = find(name.lower(), target, *around(inliner.document)) if is_link else ""
    return [nodes.reference(raw, "", shown, refuri=address) if address else shown], []


def _may_be_own(name: str) -> bool:
    """Return whether an extension that is not there may have declared the role, named as its directive."""
    return ":" not in name and not is_object_role(name)


def _own_address(name: str, target: str, *_around: str) -> str:
    return standard_address(name, target)


def _verbatim(name: str, raw: str, text: str, *_rest: Any, **_more: Any) -> Found:
    plain = nodes.unescape(text)
    if name.lower() in ("file", "samp"):  # braces are around what varies
        plain = _VARYING.sub(r"\1", plain)
    return [nodes.literal(raw, plain)], []


def _text(name: str, raw: str, text: str, *_rest: Any, **_more: Any) -> Found:
    title, target = split_title(text)
    shown = title or target
    if name.lower() in ("guilabel", "menuselection"):
        shown = _ACCELERATOR.sub("", shown).replace("&&", "&").replace("-->", "‣")
    return [nodes.inline(raw, shown)], []


def _nothing(*_arguments: Any, **_more: Any) -> Found:
    return [], []
