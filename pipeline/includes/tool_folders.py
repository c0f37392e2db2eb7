"""Which tools a folder of documents belongs to: those whose settings stand in it or around it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..filesystems.availability import briefly_away, briefly_away_told, is_there, real_path
from ..filesystems.opening import is_address
from ..settings.collection import Collection
from ..untrusted import NotRead, read_regular

Tool = Literal[
    "jekyll", "vitepress", "docusaurus", "obsidian", "dendron", "hugo", "quartz", "sphinx", "logseq"
]
# The names of files and folders that stand at the head of a tool's folder.
_SIGNS: Mapping[Tool, tuple[str, ...]] = {
    "jekyll": ("_config.yml",),
    "vitepress": (".vitepress", ".vuepress"),
    "docusaurus": ("docusaurus.config.js", "docusaurus.config.ts", "docusaurus.config.mjs"),
    "obsidian": (".obsidian", "quartz.config.ts"),
    "quartz": ("quartz.config.ts",),
    "dendron": ("dendron.yml", "root.schema.yml"),
    "hugo": ("hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json", "config/_default"),
    "logseq": ("logseq/config.edn",),
}
_HUGO: frozenset[Tool] = frozenset({"hugo"})
# Their settings stand above the folder of the documents.
_SET_ABOVE: frozenset[Tool] = frozenset({"docusaurus", "dendron", "obsidian", "quartz", "logseq"})
_MAX_BYTES = 64 * 1024
# Of Hugo: where its settings stand.
ENDINGS = ("toml", "yaml", "yml", "json")
HUGO_SETTINGS = tuple(f"{name}.{ending}" for name in ("hugo", "config") for ending in ENDINGS)
# Tells its older names of settings, which others have too, from those of Zola.
OF_HUGO = re.compile(rb"(?:^[\"']?|(?:^|[{,])\s*\")baseurl\b", re.IGNORECASE | re.MULTILINE)


def written_and_real(collection: Collection) -> list[Collection]:
    """Return the collection and, if links lead to its root, also the one with the root's real path.

    Settings of its tool may stand above the link or above the folder that it leads to. Raise ``SourceError``
    where the machine cannot say now whether there are links.
    """
    try:
        real = collection.root if is_address(collection.root) else real_path(collection.root)
    except OSError as error:
        raise briefly_away(error, collection.root) from error
    is_written = Path(real) == Path(collection.root)
    return [collection, *([] if is_written else [collection.model_copy(update={"root": real})])]


def settings_folders(collection: Collection) -> list[Path]:
    """Return where settings of a collection's tool may stand: there, above it, and where it includes from."""
    root = Path(collection.root)
    return [root, root.parent, *map(Path, collection.snippet_folders)]


def tools_of(folders: Sequence[Path]) -> frozenset[Tool]:
    """Return the tools whose settings stand in one of these folders, of some also above one.

    Raise ``SourceError`` where the machine cannot say now: such settings may keep documents private.
    """
    above = [folder.parent for folder in folders]
    found = frozenset(
        tool
        for tool, names in _SIGNS.items()
        for folder in (*folders, *(above if tool in _SET_ABOVE else ()))
        if any(is_there(folder / name) for name in names)
    )
    is_of_hugo = "hugo" not in found and any(map(_is_of_older_hugo, folders))
    return found | _HUGO if is_of_hugo else found


def _is_of_older_hugo(folder: Path) -> bool:
    """Return whether Hugo's settings stand in ``config.toml`` or another ``config`` there."""
    for path in (folder / name for name in HUGO_SETTINGS[len(ENDINGS) :]):
        with suppress(NotRead, OSError), briefly_away_told(str(path)):
            if path.is_file() and OF_HUGO.search(read_regular(path, _MAX_BYTES, folder)):
                return True
    return False
