"""The files that go beside the pages: scripts, styles, whatever an owner adds, and what documents name."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from ..artifacts.disk.layout import table_file
from ..artifacts.disk.manifest import damaged
from ..artifacts.tables.parquet import read_group
from ..pipeline.assets.media import recognise
from ..pipeline.identity import sha256_hex
from . import urls
from .appearance import owners_file
from .document_rows import Asset
from .features import MERMAID, own_names
from .incremental.previous import Reuse
from .library import Entry, Library, SnapshotTables
from .outline.cards import Cards
from .outline.plan import SitePage, SitePlan
from .theme_folder import SCRIPTS, THEME

STYLES: Mapping[str, Sequence[str]] = {
    "style.css": ("style.css", "parts.css", "code.css", "lines.css"),
    "dialog.css": ("dialog.css",),
    "charts.css": ("charts.css",),
}
# What search alone needs, besides its dialog.
_COMPONENT_STYLE = ("component.css", "dialog.css")


def asset_files(plan: SitePlan) -> Iterator[SitePage]:
    """Yield every file of the folder ``_assets``, including the owner's, in a fixed order."""
    made = dict(_scripts(plan)) | dict(_styles(plan)) | {"icon.svg": (THEME / "icon.svg").read_bytes()}
    made |= {**_own(plan), **plan.appearance.files}
    if plan.settings.mermaid:
        made[MERMAID] = owners_file(Path(plan.settings.mermaid), "[site] mermaid")
    for name in sorted(made):
        yield SitePage(f"{urls.ASSETS}/{name}", made[name])


def _scripts(plan: SitePlan) -> Iterator[tuple[str, bytes]]:
    words = plan.theme.words
    for language, own in plan.theme.others.items():
        texts = own.script("page") + (own.script("dialog") if plan.settings.search else "")
        yield posixpath.basename(urls.words_script(language)), texts.encode()
    yield "theme.js", bundle("theme")
    yield "redirect.js", bundle("redirect")
    yield "page.js", words.script("page").encode() + bundle("page")
    if plan.settings.search:
        yield "dialog.js", words.script("dialog").encode() + bundle("dialog")
        yield "playground.js", bundle("playground")
        yield "agent.js", bundle("agent")


def component_files(plan: SitePlan) -> Iterator[SitePage]:
    """Yield the search element for a site built by another tool: its script, its style and the dialog."""
    words, style = plan.theme.words, b"\n".join((THEME / name).read_bytes() for name in _COMPONENT_STYLE)
    dialog = words.script("dialog").encode() + bundle("dialog")
    yield SitePage("dialog.js", plain_script(dialog))
    yield SitePage("noctule-search.js", plain_script(words.script("text").encode() + bundle("component")))
    yield SitePage("search.css", b'@charset "utf-8";\n' + style)


def bundle(name: str) -> bytes:
    """Return a script as ``make bundle`` built it from the client's modules."""
    return (SCRIPTS / f"{name}.js").read_bytes()


def plain_script(script: bytes) -> bytes:
    """Return the script in ASCII, because a page that declares no encoding reads scripts in its own."""
    units = script.decode().encode("utf-16-be", "surrogatepass")
    numbers = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "".join(chr(unit) if unit < 128 else f"\\u{unit:04x}" for unit in numbers).encode()


def _styles(plan: SitePlan) -> Iterator[tuple[str, bytes]]:
    folder = Path(plan.settings.templates) if plan.settings.templates else THEME
    for name, parts in STYLES.items():
        if not {"dialog.css": plan.settings.search, "charts.css": plan.settings.report}.get(name, True):
            continue
        sources = [folder / part if (folder / part).is_file() else THEME / part for part in parts]
        own = (plan.appearance.style.encode(),) if name == "style.css" and plan.appearance.style else ()
        yield name, b"\n".join((*(path.read_bytes() for path in sources), *own))


def _own(plan: SitePlan) -> dict[str, bytes]:
    parts = {part for sources in STYLES.values() for part in sources}
    folder = plan.settings.templates
    return {
        name: owners_file(Path(folder) / name, "[site] templates")
        for name in sorted(own_names(folder) - parts)
    }  # fmt: skip


def card_files(plan: SitePlan, reuse: Reuse) -> Iterator[SitePage]:
    """Yield the card of every listed page; those that the site has are kept by their names."""
    if (cards := plan.cards) is None:
        return
    named = {path: entry for entry in plan.library.listed if (path := cards.path(entry))}
    for path, entry in named.items():
        yield reuse.page(path, path, partial(_card, cards, path, entry))


def _card(cards: Cards, path: str, entry: Entry) -> SitePage:
    return SitePage(path, cards.paint(entry.title, entry.description))


def media_files(library: Library, snapshot: SnapshotTables, reuse: Reuse) -> Iterator[SitePage]:
    """Yield every file that documents name; those that the site has are kept by their names.

    Of the others, one row group at a time is in memory. Raises ``DamagedSnapshot`` for a file that is not
    what the snapshot says it is: it could run in a browser.
    """
    missing: dict[tuple[str, str], Asset] = {}
    placed: set[str] = set()
    for key, asset in library.assets.items():
        if asset.file in placed:
            continue
        placed.add(asset.file)
        if (kept := reuse.kept(asset.file, asset.asset_id)) is not None:
            yield kept
        else:
            missing[key] = asset
    if missing:
        for opened in snapshot.open_tables("assets"):
            with opened as file:
                for group in range(file.num_row_groups):
                    yield from _written(file, group, missing)


def _written(file: pq.ParquetFile, group: int, missing: dict[tuple[str, str], Asset]) -> Iterator[SitePage]:
    table = Path(table_file("assets"))
    names = read_group(file, group, table, ["collection", "path"])
    keys = list(zip(names["collection"].to_pylist(), names["path"].to_pylist(), strict=True))
    if missing.keys().isdisjoint(keys):
        return
    contents = read_group(file, group, table, ["content"])["content"]
    for key, content in zip(keys, contents, strict=True):
        if (asset := missing.get(key)) is not None:
            yield SitePage(asset.file, _proved(key[1], asset, content.as_py()), fingerprint=asset.asset_id)


def _proved(path: str, asset: Asset, content: bytes) -> bytes:
    found = recognise(path, content)
    if found.kind is not asset.kind or sha256_hex(content) != asset.asset_id:
        reason = found.fault or "it is another file than its row says"
        raise damaged(f"{path!r:.200}: {reason}", table_file("assets"))
    return content
