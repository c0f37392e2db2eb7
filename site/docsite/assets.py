"""The files that go beside the pages: scripts, styles, and whatever an owner adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..pipeline.errors import SettingsError
from . import urls
from .outline.plan import SitePage, SitePlan
from .parts import MERMAID, own_names
from .theme_folder import SCRIPTS, THEME

STYLES: Mapping[str, Sequence[str]] = {
    "style.css": ("style.css", "parts.css", "code.css"),
    "dialog.css": ("dialog.css",),
}
# What search alone needs, besides its dialog.
_COMPONENT_STYLE = ("component.css", "dialog.css")
MAX_OWN_BYTES = 20_000_000


def asset_files(plan: SitePlan) -> Iterator[SitePage]:
    """Yield every file of the folder ``_assets``, including the owner's, in a fixed order."""
    made = dict(_scripts(plan)) | dict(_styles(plan)) | {"icon.svg": (THEME / "icon.svg").read_bytes()}
    made |= _own(plan)
    if plan.settings.mermaid:
        made[MERMAID] = _read(Path(plan.settings.mermaid), "[site] mermaid")
    for name in sorted(made):
        yield SitePage(f"{urls.ASSETS}/{name}", made[name])


def _scripts(plan: SitePlan) -> Iterator[tuple[str, bytes]]:
    words = plan.theme.words
    yield "theme.js", bundle("theme")
    yield "page.js", words.script("page").encode() + bundle("page")
    if plan.settings.search:
        yield "dialog.js", words.script("dialog").encode() + bundle("dialog")
        yield "playground.js", bundle("playground")


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
        if name == "dialog.css" and not plan.settings.search:
            continue
        sources = [folder / part if (folder / part).is_file() else THEME / part for part in parts]
        yield name, b"\n".join(path.read_bytes() for path in sources)


def _own(plan: SitePlan) -> dict[str, bytes]:
    parts = {part for sources in STYLES.values() for part in sources}
    folder = plan.settings.templates
    return {
        name: _read(Path(folder) / name, "[site] templates")
        for name in sorted(own_names(folder) - parts)
    }  # fmt: skip


def _read(path: Path, setting: str) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_OWN_BYTES + 1)
    except OSError as error:
        raise SettingsError(
            f"cannot read a file that {setting} names: {error.strerror}",
            where=str(path),
            hint="Mend the setting.",
        ) from None
    if len(content) > MAX_OWN_BYTES:
        raise SettingsError(
            f"a file of {setting} is over 20 MB", where=str(path), hint="Choose a smaller one."
        )
    return content
