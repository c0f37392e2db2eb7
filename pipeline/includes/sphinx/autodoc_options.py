"""Options that ``conf.py`` gives all of autodoc's directives, as if their authors had written them there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

# Those that mean something to what describes modules and classes; the last is an option of classes alone.
_KNOWN = frozenset(
    [
        "members",
        "undoc-members",
        "private-members",
        "special-members",
        "inherited-members",
        "show-inheritance",
        "exclude-members",
        "class-doc-from",
    ]
)
_SETTING, _OLD_SETTING = "autodoc_default_options", "autodoc_default_flags"
# What the docstring of a class is taken from: its own, that of ``__init__``, or both.
CLASS_DOC = "class-doc-from"
_CLASS_DOCS = ("both", "init")
_MAX_CHARS = 2_000
AutodocOptions = tuple[tuple[str, str], ...]


def autodoc_options(given: Mapping[str, object]) -> AutodocOptions:
    """Return the options that the settings of ``conf.py`` give, by name."""
    found = dict(_options(given))
    if (content := given.get("autoclass_content")) in _CLASS_DOCS:
        found.setdefault(CLASS_DOC, str(content))
    return tuple(sorted(found.items()))


def _options(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    table, flags = given.get(_SETTING), given.get(_OLD_SETTING)
    for name in flags if isinstance(flags, list | tuple) else ():
        if isinstance(name, str) and name in _KNOWN:
            yield name, ""
    for name, value in table.items() if isinstance(table, Mapping) else ():
        if name in _KNOWN and (value is None or value is True):
            yield name, ""
        elif name in _KNOWN and isinstance(value, str) and len(value) <= _MAX_CHARS:
            names = " ".join(value.split())
            yield from [(name, names)] if names.isprintable() else []  # none has half of a character


def with_defaults(given: Mapping[str, str], defaults: AutodocOptions) -> dict[str, str]:
    """Return a directive's options with those that it neither has nor refuses (``:no-members:``).

    It adds to the names of an option where it begins with a plus: ``:exclude-members: +fly``.
    """
    known = {name: value for name, value in defaults if f"no-{name}" not in given}
    added = {name: value[1:] for name, value in given.items() if value.startswith("+") and name in _KNOWN}
    return {**known, **given, **{name: f"{known.get(name, '')},{value}" for name, value in added.items()}}
