"""What lists of files in the settings of a folder's tool leave out of its site.

Of data, everything is known or, where it cannot be read, private. Of a script, what is a literal holds, and
the report says that the rest could not be read.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pathspec import GitIgnoreSpec

from ...pipeline.navigation.myst_files import NONE_NAMED, NamedDocuments
from ...pipeline.patterns import globs
from ...pipeline.untrusted import with_lower_keys
from .data_lists import (
    HUGO,
    dendron_lists,
    hugo_lists,
    jekyll_lists,
    logseq_lists,
    mkdocs_lists,
    myst_lists,
    obsidian_lists,
)
from .file_patterns import LeftOut
from .script_lists import docusaurus_lists, vitepress_lists
from .sphinx_lists import sphinx_lists
from .tool_settings import NotKnown, folders_near, listed, texts_of

_WHOLE = "it leaves out the whole folder of the collection, for another tool to build, so it does not apply"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Patterns as in .gitignore, or regular expressions, of the files that a setting leaves out.

    ``root`` is the collection's folder and ``base`` the one at which patterns begin, both below one that
    holds them. What is ``named`` below ``base`` is not left out.
    """

    setting: str
    root: str
    base: str
    patterns: tuple[str, ...]
    is_regex: bool = False
    named: NamedDocuments = NONE_NAMED

    def matches(self, path: str) -> bool:
        """Return whether a document of the collection is left out."""
        if self.is_regex:  # by RE2, as in Hugo: it takes no longer for a hostile one
            named = pa.array([f"{self.base}/{path}"])
            return any(pc.match_substring_regex(named, each)[0].as_py() for each in self.patterns)
        whole = f"{self.root}/{path}"
        below = whole[len(self.base) + 1 :] if whole.startswith(f"{self.base}/") else ""
        return bool(below) and not self.named.hold(below) and _matcher(self.patterns).match_file(below)

    def leaves_all_out(self) -> bool:
        """Return whether it leaves out a folder that holds the collection, which another tool builds."""
        below = self.root if self.is_regex else self.root.removeprefix(f"{self.base}/")
        parts = below.split("/") if below != self.root else []
        folders = ("/".join(parts[: at + 1]) for at in range(len(parts)))
        return any(_matcher(self.patterns).match_file(f"{folder}/") for folder in folders)


@lru_cache(maxsize=64)
def _matcher(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    return globs(patterns)


@dataclass(frozen=True, slots=True)
class Exclusions:
    """What is left out of a collection, and remarks on what could not be read."""

    exclusions: tuple[Exclusion, ...] = ()
    remarks: tuple[str, ...] = ()


def exclusions_of(root: Path, folders: Sequence[Path], tools: Iterable[str]) -> Exclusions:
    """Return what settings in a collection's folder, above or below it leave out; raise ``NotKnown``.

    ``folders`` are those in which settings of Hugo, Jekyll, Dendron and Obsidian may stand.
    """
    near = folders_near(root)
    lists = [*mkdocs_lists(near, root), *myst_lists(near, root), *_of_scripts(near, root)]
    if "hugo" in tools:
        lists += hugo_lists(folders)
    if "jekyll" in tools:
        lists += jekyll_lists(folders)
    if "dendron" in tools:
        lists += dendron_lists(folders, root)
    if "obsidian" in tools:
        lists += obsidian_lists(folders)
    if "logseq" in tools:
        lists += logseq_lists(folders)
    found = [_exclusion(each, root) for each in lists if each.patterns]
    hugo = tuple(_of_hugo(folders, root)) if "hugo" in tools else ()
    remarks = [f"{each.setting}: {each.left}" for each in lists if each.left]
    others = [each for each in found if each.leaves_all_out()]
    remarks += [f"{each.setting}: {_WHOLE}" for each in others]
    return Exclusions(tuple(each for each in found if each not in others) + hugo, tuple(remarks))


def _exclusion(given: LeftOut, root: Path) -> Exclusion:
    top = os.path.commonpath([root, given.base])
    inner = [Path(os.path.relpath(each, top)).as_posix() for each in (root, given.base)]
    at, base = ("" if each == "." else f"/{each}" for each in inner)
    if given.is_regex:
        patterns = tuple(f"^{re.escape(base)}/(?:{each})" for each in given.patterns)
        return Exclusion(given.setting, at, at, _checked(patterns, given.setting), is_regex=True)
    return Exclusion(given.setting, at, base, tuple(given.patterns), named=given.named)


def _checked(patterns: tuple[str, ...], setting: str) -> tuple[str, ...]:
    """Return the regular expressions; raise ``NotKnown`` if one is none of RE2's."""
    try:
        for each in patterns:
            pc.match_substring_regex(pa.array([""]), each)
    except pa.ArrowInvalid:
        raise NotKnown(setting) from None
    return patterns


def _of_scripts(near: Sequence[Path], root: Path) -> Iterator[LeftOut]:
    """Yield what settings leave out that are scripts, of which a part may not be known."""
    for reader in (docusaurus_lists, vitepress_lists):
        for each in reader(near):
            if root.is_relative_to(each.base) or each.base.is_relative_to(root):
                yield each
    yield from sphinx_lists(near, root)


def _of_hugo(folders: Sequence[Path], root: Path) -> Iterator[Exclusion]:
    """Yield ``ignoreFiles`` of Hugo: regular expressions that are looked for in whole paths."""
    for found in texts_of(folders, HUGO):
        values = found.values() if found.mentions("ignorefiles") else {}
        patterns = tuple(listed(with_lower_keys(values).get("ignorefiles")))
        if _checked(patterns, f"ignoreFiles of {found.name}"):
            base = posixpath.join("/", root.parent.name, root.name)
            yield Exclusion(f"ignoreFiles of {found.name}", base, base, patterns, is_regex=True)
