"""Lists of files that settings in YAML, TOML and JSON leave out: MkDocs, Jekyll, Jupyter Book, MyST, Obsidian
and Dendron.

They are known in full, or raise ``NotKnown``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...pipeline.includes.logseq.config import CONFIG, read_config
from ...pipeline.navigation.entry import Contents
from ...pipeline.navigation.myst_files import NamedDocuments, myst_contents, named_documents, read_toc
from ...pipeline.untrusted import NotRead, as_text, read_regular, read_yaml, with_lower_keys
from .file_patterns import (
    DOCUMENTS,
    LeftOut,
    anchored,
    below,
    is_sound,
    of_fnmatch,
    of_jekyll,
    of_nearest,
    of_shell,
    of_sphinx,
)
from .tool_settings import MAX_BYTES, NotKnown, SettingsText, listed, tables_in, texts_of, unread

_MKDOCS = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "zensical.toml")
# What each leaves out that is not negated there.
_MKDOCS_KEYS: Mapping[str, Sequence[str]] = {"exclude_docs": ["/templates/"], "draft_docs": []}
_PLUGIN = "exclude"
_MOST_INHERITED = 10
_NOT_WHOLE = "a part of it is not understood, so it leaves out nothing"
_OF_MOUNTS = "another mount may take them in, so they are not left out"
# In the name of a folder whose documents a pattern takes in.
_OF_SHELL = re.compile(r"[{}?\[*]")
_OF_OTHERS = "it names no document of the collection, so it does not apply"
# Of Obsidian: what has a folder of templates, what is excluded from its search, and from Obsidian Publish.
_OBSIDIAN = {
    "templates.json": "folder",
    "plugins/templater-obsidian/data.json": "templates_folder",
    "app.json": "userIgnoreFilters",
    "publish.json": "excluded",
}
_SPECIAL = re.compile(r"([\\*?\[\] ])")
HUGO = tuple(
    f"{folder}{name}.{ending}"
    for folder in ("", "config/_default/", "config/production/")
    for name in ("hugo", "config", *(("module",) if folder else ()))
    for ending in ("toml", "yaml", "yml")
)


def mkdocs_lists(near: Sequence[Path], root: Path) -> Iterator[LeftOut]:
    """Yield what MkDocs leaves out of the folder of its documents, and what are drafts there."""
    for found in texts_of(near, _MKDOCS):
        given = _with_inherited(found)
        docs = given.get("docs_dir")
        base = below(found.folder, docs if isinstance(docs, str) else "docs")
        if not (root.is_relative_to(base) or base.is_relative_to(root)):
            continue
        for key, always in _MKDOCS_KEYS.items():
            lines = given.get(key) or ""
            if not isinstance(lines, str):
                raise NotKnown(found.name)
            patterns = [each for each in lines.splitlines() if each.strip()]
            setting = f"{key} of {found.name}" if patterns else found.name
            yield LeftOut(setting, base, _sound([*always, *patterns], found.name))
        yield from _of_plugin(found.name, base, given.get("plugins"))


def _of_plugin(name: str, base: Path, plugins: object) -> Iterator[LeftOut]:
    """Yield what the plugin ``exclude`` of MkDocs leaves out."""
    for plugin in plugins if isinstance(plugins, list) else [plugins]:
        options = plugin.get(_PLUGIN) if isinstance(plugin, Mapping) else None
        if isinstance(options, Mapping):
            setting = f"the plugin exclude of {name}"
            globs = map(of_fnmatch, listed(options.get("glob")))
            yield LeftOut(setting, base, _sound(globs, setting))
            yield LeftOut(setting, base, listed(options.get("regex")), is_regex=True)


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
        if found.has_key("INHERIT", _PLUGIN, *_MKDOCS_KEYS):
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


def jekyll_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield ``exclude`` of Jekyll, or ``exclude_patterns`` of Jupyter Book, whose file has the same name."""
    for found in texts_of(folders, ("_config.yml",)):
        values = found.values() if found.mentions("exclude") else {}
        given = values if isinstance(values, Mapping) else {}
        source = given.get("source")
        base = below(found.folder, source if isinstance(source, str) else ".")
        excluded = [each for name in listed(given.get("exclude")) for each in of_jekyll(name)]
        yield LeftOut(f"exclude of {found.name}", base, _sound(excluded, found.name))
        patterns = map(of_sphinx, listed(given.get("exclude_patterns")))
        yield LeftOut(f"exclude_patterns of {found.name}", base, _sound(patterns, found.name))


def myst_lists(near: Sequence[Path], root: Path) -> Iterator[LeftOut]:
    """Yield ``exclude`` of MyST, and the documents that its table of contents does not name.

    Jupyter Book leaves those out where ``only_build_toc_files`` says so.
    """
    texts = texts_of(near, ("myst.yml",))
    yield from of_nearest(((found.folder, _of_myst(found, root)) for found in texts), root)
    yield from of_nearest(_contents_of_books(near, root), root)


def _of_myst(found: SettingsText, root: Path) -> Iterator[LeftOut]:
    values = found.values()
    project = values.get("project") if isinstance(values, Mapping) else None
    given = project if isinstance(project, Mapping) else {}
    contents = myst_contents(values, with_hidden=True)
    excluded = _of_shell(f"exclude of {found.name}", found.folder, listed(given.get("exclude")))
    # What the contents name is a page even so.
    yield replace(excluded, named=NamedDocuments(named_documents(contents).stems))
    if given.get("toc"):
        yield _not_named(found, contents, root)


def _contents_of_books(near: Sequence[Path], root: Path) -> Iterator[tuple[Path, Iterator[LeftOut]]]:
    for found in texts_of(near, ("_config.yml",)):
        values = found.values() if found.mentions("only_build_toc_files") else {}
        if isinstance(values, Mapping) and values.get("only_build_toc_files") is True:
            tocs = texts_of([found.folder], ("_toc.yml",))
            yield found.folder, (_not_in_toc(each, root) for each in tocs)


def hugo_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield ``excludeFiles`` of the folders that Hugo mounts as its content."""
    for found in texts_of(folders, HUGO):
        values = with_lower_keys(found.values()) if found.mentions("excludefiles") else {}
        is_own = found.name.rpartition("/")[2].startswith("module.")
        module = values if is_own else values.get("module")
        mounts = [
            (below(found.folder, source), listed(mount.get("excludefiles")))
            for mount in map(with_lower_keys, tables_in(with_lower_keys(module).get("mounts")))
            for source, target in [(mount.get("source") or "content", mount.get("target"))]
            if isinstance(source, str) and isinstance(target, str) and target.partition("/")[0] == "content"
        ]
        for number, (base, excluded) in enumerate(mounts):
            others = [other for at, (other, _) in enumerate(mounts) if at != number]
            setting = f"excludeFiles of {found.name}"
            if not any(base.is_relative_to(each) or each.is_relative_to(base) for each in others):
                yield _of_shell(setting, base, excluded)
            elif excluded:
                yield LeftOut(setting, base, left=_OF_MOUNTS)


def _of_shell(setting: str, base: Path, given: Sequence[str]) -> LeftOut:
    patterns = [[*of_shell(each)] for each in given]
    if not all(patterns):
        raise NotKnown(setting)
    return LeftOut(setting, base, _sound((one for each in patterns for one in each), setting))


def _not_in_toc(found: SettingsText, root: Path) -> LeftOut:
    try:
        return _not_named(found, read_toc(found.text), root)
    except NotRead:
        raise NotKnown(found.name) from None


def _not_named(found: SettingsText, contents: Contents, root: Path) -> LeftOut:
    setting = f"the table of contents {found.name}"
    named = named_documents(contents)
    if contents.remarks or any(map(_OF_SHELL.search, named.folders)):
        return LeftOut(setting, found.folder, left=_NOT_WHOLE)
    inner = root.relative_to(found.folder).as_posix() if root.is_relative_to(found.folder) else "."
    if not named.reach("" if inner == "." else inner):
        return LeftOut(setting, found.folder, left=_OF_OTHERS)
    return LeftOut(setting, found.folder, [*DOCUMENTS], named=named)


def dendron_lists(folders: Sequence[Path], root: Path) -> Iterator[LeftOut]:
    """Yield the notes of other hierarchies than those that Dendron publishes."""
    for found in texts_of(folders, ("dendron.yml",)):
        values = found.values() if found.mentions("siteHierarchies") else {}
        publishing = values.get("publishing") or values.get("site") if isinstance(values, dict) else None
        tops = publishing.get("siteHierarchies") if isinstance(publishing, dict) else None
        if isinstance(tops, list) and tops and "root" not in tops:
            kept = [anchored(top).strip("/") for top in map(as_text, tops) if top]
            patterns = ["*.md", *(f"!{each}{ending}" for each in kept for ending in (".md", ".*.md"))]
            yield LeftOut(f"siteHierarchies of {found.name}", root, _sound(patterns, found.name))


def obsidian_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield the templates of a vault, and what is excluded in Obsidian or from Obsidian Publish."""
    for name, key in _OBSIDIAN.items():
        for found in texts_of(folders, (f".obsidian/{name}",)):
            values = found.values()
            given = listed(values.get(key)) if isinstance(values, Mapping) else []
            regexes = [each[1:-1] for each in given if len(each) > 2 and each[0] == each[-1] == "/"]
            paths = [each.strip("/") for each in given if each[0] != "/" or each[-1] != "/"]
            setting = f"{key} of {name}"
            escaped = [_SPECIAL.sub(r"\\\1", each) for each in paths if each]
            yield LeftOut(setting, found.folder, _sound(map(anchored, escaped), setting))
            yield LeftOut(setting, found.folder, [f".*(?:{each})" for each in regexes], is_regex=True)


def logseq_lists(folders: Sequence[Path]) -> Iterator[LeftOut]:
    """Yield the files and folders that a graph of Logseq hides; raise ``NotKnown``."""
    for found in texts_of(folders, (CONFIG,)):
        hidden = read_config(found.text).hidden
        if hidden is None:
            raise NotKnown(f":hidden of {found.name}")
        paths = [_SPECIAL.sub(r"\\\1", each.strip("/")) for each in hidden if each.strip("/")]
        yield LeftOut(
            f":hidden of {found.name}", found.folder, _sound(map(anchored, paths), f":hidden of {found.name}")
        )
