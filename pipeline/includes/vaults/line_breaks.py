"""Line breaks in the paragraphs of vaults: Obsidian and Logseq show each line on a line of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ...filesystems.availability import briefly_away_told
from ...untrusted import NotRead, read_regular
from ..fences import block_tokens
from ..front_matter_blocks import text_start
from ..tool_folders import Tool

_APP = ".obsidian/app.json"
_OF_VAULTS: frozenset[Tool] = frozenset({"obsidian", "logseq"})
# Where one of these stands, another tool makes pages of the notes, and joins their lines.
_OTHERS = (
    ".foam",
    *(f"{name}.{ending}" for name in ("mkdocs", "zensical", "myst") for ending in ("yml", "yaml", "toml")),
    *("_quarto.yml", "book.toml", "conf.py", "docs.json", "gatsby-config.js", "eleventy.config.js"),
    *(f"astro.config.{ending}" for ending in ("mjs", "ts", "js")),
)
_MAX_BYTES = 1_000_000
# The first line of a callout or another box; a line that is broken already.
_KEPT = re.compile(r"[ \t>]*(?:\[![^\[\]\n]+\]|!!!|\?\?\?|={3})|.*(?:  |\\|<br ?/?>)$", re.IGNORECASE)


def has_line_breaks(folders: Sequence[Path], tools: Collection[Tool]) -> bool:
    """Return whether lines of paragraphs in these folders end where they are written to end."""
    if not tools or not _OF_VAULTS.issuperset(tools):
        return False
    near = [*folders, *(folder.parent for folder in folders)]
    if "logseq" not in tools and any((folder / name).exists() for folder in near for name in _OTHERS):
        return False
    return not any(map(_is_strict, near))


def _is_strict(folder: Path) -> bool:
    """Return whether Obsidian is set to join lines, as markdown does, in this folder."""
    try:
        with briefly_away_told(str(folder / _APP)):
            given = json.loads(read_regular(folder / _APP, _MAX_BYTES, folder))
    except (OSError, NotRead, ValueError, RecursionError):
        return False
    return isinstance(given, dict) and given.get("strictLineBreaks") is True


def with_line_breaks(text: str) -> str:
    """Return the text in which every line of a paragraph, but its last, ends with a break of markdown."""
    start = text_start(text)
    lines = text[start:].split("\n")
    for first, last in _paragraphs(text[start:]):
        in_formula = False
        for at in range(first, min(last - 1, len(lines) - 1)):
            has_mark = "$$" in lines[at]
            if not in_formula and not has_mark and not _KEPT.match(lines[at]):
                lines[at] += "  "
            in_formula ^= lines[at].count("$$") % 2 == 1
    return text[:start] + "\n".join(lines)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the first line of each paragraph and the one after its last."""
    for each in block_tokens(text, "table"):
        if each.type == "paragraph_open" and each.map:
            yield each.map[0], each.map[1]
