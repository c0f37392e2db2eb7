"""Patterns of files as other tools write them, as those of .gitignore."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST = 200
# What patterns of a shell have that those of .gitignore have not, once their braces are resolved.
_NOT_KNOWN = re.compile(r"[{}|]|[@+?!*]\(|^!")


def of_shell(pattern: str) -> Iterator[str]:
    """Yield what a pattern of Docusaurus or VitePress stands for; nothing for one that is not understood."""
    pending, found = [pattern], list[str]()
    while pending and len(found) + len(pending) <= _MOST:
        each = pending.pop()
        if braces := _BRACES.search(each):
            before, after = each[: braces.start()], each[braces.end() :]
            pending += [f"{before}{part}{after}" for part in braces[1].split(",")]
        else:
            found.append(each)
    if not pending and not any(map(_NOT_KNOWN.search, found)):
        yield from (anchored(each) for each in sorted(found))


def of_sphinx(pattern: str) -> str:
    """Return a pattern of Sphinx, in which two asterisks stand for any characters."""
    if pattern.startswith("**") and not pattern.startswith("**/"):
        return f"**/*{pattern[2:]}"
    return anchored(f"*/{pattern}" if pattern.startswith("**/") else pattern)


def of_fnmatch(pattern: str) -> str:
    """Return a pattern of Jekyll, in which one asterisk also stands for folders."""
    return anchored(re.sub(r"(?<![^/])\*+(?!/)", "**/*", pattern))


def anchored(pattern: str) -> str:
    """Return a pattern that begins at the top, as those of nearly all tools do."""
    return f"/{pattern.removeprefix('./').lstrip('/')}"
