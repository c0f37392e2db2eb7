"""Lists of files that other tools leave out, with their patterns as those of .gitignore."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...pipeline.navigation.myst_files import NONE_NAMED, NamedDocuments
from ...pipeline.patterns import pattern_fault

# What tools of Sphinx and MyST read: of a list of their documents, no other file is left out.
DOCUMENTS = ("*.md", "*.rst", "*.ipynb", "*.txt", "*.tex")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST = 200
# Each asterisk more lets a name of 255 characters be matched in some 100 times as many ways.
_MOST_CHARS, _MOST_ASTERISKS = 1_000, 4
_ASTERISKS = re.compile(r"\*+")
# What patterns of a shell have that those of .gitignore have not, once their braces are resolved.
_NOT_KNOWN = re.compile(r"[{}|]|[@+?!*]\(|^!")
COMPUTED = "a part of it is computed or not understood, and what that leaves out is published"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a setting leaves out below ``base``, and why a part of it is not known, if one is not.

    With ``is_regex``, patterns are regular expressions that paths below it begin with. What is ``named`` is
    not left out, whatever the patterns are.
    """

    setting: str
    base: Path
    patterns: list[str] = field(default_factory=list)
    left: str = ""
    is_regex: bool = False
    named: NamedDocuments = NONE_NAMED


def of_nearest(lists: Iterable[tuple[Path, Iterable[LeftOut]]], root: Path) -> Iterator[LeftOut]:
    """Yield the lists of each folder, nearest first; of those around the collection, only one counts."""
    is_found = False
    for folder, given in lists:
        is_around = root.is_relative_to(folder)
        if not (is_around and is_found):
            yield from given
        is_found |= is_around


def is_sound(pattern: str) -> bool:
    """Return whether a pattern is understood, and matching a name with it cannot take long."""
    if len(pattern) > _MOST_CHARS or pattern.count("**") > _MOST_ASTERISKS or pattern_fault(pattern):
        return False
    return all(len(_ASTERISKS.findall(part)) <= _MOST_ASTERISKS for part in pattern.split("/"))


def of_shell(pattern: str) -> Iterator[str]:
    """Yield what a pattern of Docusaurus or VitePress stands for; nothing for one that is not understood."""
    pending, found = [pattern] if len(pattern) <= _MOST_CHARS else [], list[str]()
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
    below = re.sub(r"(?<![^/])\*\*(?=[^/])", "**/*", pattern)
    return anchored(f"*/{below}" if pattern.startswith("**/") else below)


def of_jekyll(pattern: str) -> Iterator[str]:
    """Yield what a pattern of Jekyll stands for: an asterisk also for folders, a plain text for a prefix."""
    yield of_fnmatch(pattern)
    if pattern[-1:] != "/" and not re.search(r"[*?\[\\]", pattern):
        yield f"{anchored(pattern)}*"


def of_fnmatch(pattern: str) -> str:
    """Return a pattern in which an asterisk stands for any characters, also of folders."""
    return anchored(re.sub(r"(?<![^/])\*+(/?)", lambda found: "*/**/" if found[1] else "**/*", pattern))


def anchored(pattern: str) -> str:
    """Return a pattern that begins at the top, as those of nearly all tools do."""
    return f"/{pattern.removeprefix('./').lstrip('/')}"


def below(folder: Path, name: str) -> Path:
    """Return the path that settings in a folder name."""
    return Path(os.path.normpath(folder / name.replace("\0", "\ufffd")))
