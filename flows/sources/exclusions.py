"""What lists of files in the settings of a folder's tool leave out of its site.

Of data, everything is known or, where it cannot be read, private. Of a script, what is a literal holds, and
the report says that the rest could not be read.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pathspec import GitIgnoreSpec

from ...pipeline.patterns import globs
from ...pipeline.untrusted import NotRead, read_regular, read_yaml, with_lower_keys
from .file_patterns import anchored, is_sound, of_jekyll, of_sphinx
from .script_lists import ScriptList, below, docusaurus_lists, sphinx_list, vitepress_lists
from .tool_settings import MAX_BYTES, NotKnown, SettingsText, texts_of, unread

_MKDOCS = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "zensical.toml")
_MKDOCS_KEYS = ("exclude_docs", "draft_docs")
_MOST_INHERITED = 10
_HUGO = tuple(
    f"{folder}{name}.{ending}"
    for folder in ("", "config/_default/")
    for name in ("hugo", "config")
    for ending in ("toml", "yaml", "yml")
)
_ABOVE = 3
_WHOLE = "it leaves out the whole folder of the collection, for another tool to build, so it does not apply"
# Where the documents of a project, and the settings of their tool, often lie.
_BELOW = ("docs", "doc", "source", "docs/source", "doc/source", "website", "site")


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Patterns as in .gitignore, or regular expressions, of the files that a setting leaves out.

    ``root`` is the collection's folder and ``base`` the one at which patterns begin, both below one that
    holds them.
    """

    setting: str
    root: str
    base: str
    patterns: tuple[str, ...]
    is_regex: bool = False

    def matches(self, path: str) -> bool:
        """Return whether a document of the collection is left out."""
        if self.is_regex:  # by RE2, as in Hugo: it takes no longer for a hostile one
            named = pa.array([f"{self.base}/{path}"])
            return any(pc.match_substring_regex(named, each)[0].as_py() for each in self.patterns)
        whole = f"{self.root}/{path}"
        return whole.startswith(f"{self.base}/") and _matcher(self.patterns).match_file(
            whole[len(self.base) + 1 :]
        )

    def leaves_all_out(self) -> bool:
        """Return whether it leaves out a folder that holds the collection, which another tool builds."""
        below = self.root.removeprefix(f"{self.base}/")
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

    ``folders`` are those in which settings of Hugo, Jekyll and Dendron may stand.
    """
    near = [root, *(root / each for each in _BELOW), *list(root.parents)[:_ABOVE]]
    lists = [*_of_mkdocs(near, root), *_of_scripts(near, root)]
    if "jekyll" in tools:
        lists += _of_jekyll(folders)
    if "dendron" in tools:
        lists += _of_dendron(folders, root)
    found = [_exclusion(each, root) for each in lists if each.patterns]
    hugo = tuple(_of_hugo(folders, root)) if "hugo" in tools else ()
    remarks = [f"{each.setting}: {each.left}" for each in lists if each.left]
    others = [each for each in found if each.leaves_all_out()]
    remarks += [f"{each.setting}: {_WHOLE}" for each in others]
    return Exclusions(tuple(each for each in found if each not in others) + hugo, tuple(remarks))


def _exclusion(given: ScriptList, root: Path) -> Exclusion:
    top = os.path.commonpath([root, given.base])
    inner = [Path(os.path.relpath(each, top)).as_posix() for each in (root, given.base)]
    at, base = ("" if each == "." else f"/{each}" for each in inner)
    return Exclusion(given.setting, at, base, tuple(given.patterns))


def _of_mkdocs(near: Sequence[Path], root: Path) -> Iterator[ScriptList]:
    """Yield what MkDocs leaves out of the folder of its documents, and what are drafts there."""
    for found in texts_of(near, _MKDOCS):
        given = _with_inherited(found)
        docs = given.get("docs_dir")
        base = below(found.folder, docs if isinstance(docs, str) else "docs")
        if not (root.is_relative_to(base) or base.is_relative_to(root)):
            continue
        yield ScriptList(found.name, base, ["/templates/"])  # always
        for key in _MKDOCS_KEYS:
            lines = given.get(key) or ""
            if not isinstance(lines, str):
                raise NotKnown(found.name)
            patterns = [each for each in lines.splitlines() if each.strip()]
            yield ScriptList(f"{key} of {found.name}", base, _sound(patterns, found.name))


def _sound(patterns: Iterable[str], name: str) -> list[str]:
    """Return the patterns; raise ``NotKnown`` for one that is not understood."""
    found = list(patterns)
    if not all(map(is_sound, found)):
        raise NotKnown(name)
    return found


def _with_inherited(found: SettingsText) -> dict[str, Any]:
    """Return the values of MkDocs' settings, with those of the files that they inherit from."""
    try:
        values = found.values()
    except NotKnown:
        if found.mentions("INHERIT", *_MKDOCS_KEYS):
            raise
        values = {}
    if found.name.endswith(".toml"):
        values = values.get("project")
    merged: dict[str, Any] = values if isinstance(values, dict) else {}
    path, bound = found.folder / found.name, found.folder.parent.parent
    parent = merged.get("INHERIT")
    for _ in range(_MOST_INHERITED):
        if not isinstance(parent, str) or "\0" in parent:
            break
        path = Path(os.path.normpath(path.parent / parent))
        try:
            above = read_yaml(read_regular(path, MAX_BYTES, bound).decode("utf-8", "replace"))
        except (OSError, NotRead) as error:
            raise unread(error, f"{found.name} (INHERIT)") from error
        above = above if isinstance(above, dict) else {}
        parent, merged = above.get("INHERIT"), {**above, **merged}
    return merged


def _of_scripts(near: Sequence[Path], root: Path) -> Iterator[ScriptList]:
    """Yield what settings leave out that are scripts, of which a part may not be known."""
    for reader in (docusaurus_lists, vitepress_lists):
        for each in reader(near):
            if root.is_relative_to(each.base) or each.base.is_relative_to(root):
                yield each
    sphinx = sphinx_list(near)
    if sphinx is not None:
        yield sphinx


def _of_jekyll(folders: Sequence[Path]) -> Iterator[ScriptList]:
    """Yield ``exclude`` of Jekyll, or ``exclude_patterns`` of Jupyter Book, whose file has the same name."""
    for found in texts_of(folders, ("_config.yml",)):
        values = found.values() if found.mentions("exclude") else {}
        given = values if isinstance(values, Mapping) else {}
        source = given.get("source")
        base = below(found.folder, source if isinstance(source, str) else ".")
        excluded = [each for name in _listed(given.get("exclude")) for each in of_jekyll(name)]
        yield ScriptList(f"exclude of {found.name}", base, _sound(excluded, found.name))
        patterns = map(of_sphinx, _listed(given.get("exclude_patterns")))
        yield ScriptList(f"exclude_patterns of {found.name}", base, _sound(patterns, found.name))


def _listed(given: object) -> list[str]:
    """Return the texts of a list, or the one that stands alone; raise ``NotKnown`` for what is no name."""
    try:
        return [str(each) for each in (given if isinstance(given, list) else [given]) if each]
    except ValueError:  # a number of thousands of digits
        raise NotKnown("a list") from None


def _of_dendron(folders: Sequence[Path], root: Path) -> Iterator[ScriptList]:
    """Yield the notes of other hierarchies than those that Dendron publishes."""
    for found in texts_of(folders, ("dendron.yml",)):
        values = found.values() if found.mentions("siteHierarchies") else {}
        publishing = values.get("publishing") or values.get("site") if isinstance(values, dict) else None
        tops = publishing.get("siteHierarchies") if isinstance(publishing, dict) else None
        if isinstance(tops, list) and tops and "root" not in tops:
            kept = [anchored(str(top)).strip("/") for top in tops]
            patterns = ["*.md", *(f"!{each}{ending}" for each in kept for ending in (".md", ".*.md"))]
            yield ScriptList(f"siteHierarchies of {found.name}", root, _sound(patterns, found.name))


def _of_hugo(folders: Sequence[Path], root: Path) -> Iterator[Exclusion]:
    """Yield ``ignoreFiles`` of Hugo: regular expressions that are looked for in whole paths."""
    for found in texts_of(folders, _HUGO):
        values = found.values() if found.mentions("ignorefiles") else {}
        patterns = tuple(_listed(with_lower_keys(values).get("ignorefiles")))
        try:
            for each in patterns:
                pc.match_substring_regex(pa.array([""]), each)
        except pa.ArrowInvalid:
            raise NotKnown(f"ignoreFiles of {found.name}") from None
        if patterns:
            base = posixpath.join("/", root.parent.name, root.name)
            yield Exclusion(f"ignoreFiles of {found.name}", base, base, patterns, is_regex=True)
