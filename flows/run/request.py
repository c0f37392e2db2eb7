"""The request for a run, from the command line or a deployment's parameters, turned into settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from os import PathLike
from pathlib import Path

from ...pipeline.errors import SettingsError, SourceError
from ...pipeline.filesystems.opening import is_address
from ...pipeline.settings import reading
from ...pipeline.settings.settings import Settings
from .context import BuildOptions

# Of the extra ``build``, which an install that only searches lacks. A run does without Prefect.
_BUILD_PACKAGES = (
    "torch", "sentence_transformers", "onnx", "scipy", "networkx", "community", "docutils", "bs4", "griffe",
)  # fmt: skip
SETTINGS_FILE = "noctule.toml"
_UNFIT = re.compile(r"[^a-z0-9_-]+")


def require_build_packages() -> None:
    """Raise ``SettingsError`` if packages that an index is built with are not installed."""
    missing = [name for name in _BUILD_PACKAGES if find_spec(name) is None]
    if missing:
        raise SettingsError(
            f"building an index needs packages that are not installed: {', '.join(missing)}",
            where="this Python environment",
            hint="Install them: pip install 'noctule[build]'. Searching, sites and SQL work without them.",
        )


def require_collections(settings: Settings, where: str) -> None:
    """Raise ``SourceError`` if the settings name no collection."""
    if not settings.collections:
        raise SourceError(
            "no folder of documents is named",
            where=where,
            hint="Describe one in a settings file: noctule init. Or name it, as in: noctule index FOLDER",
        )


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """A request to index documents into a store."""

    store: Path
    config: Path | None = None
    sources: tuple[str, ...] = ()
    collection: str | None = None
    engine: str | None = None
    options: BuildOptions = field(default_factory=BuildOptions)
    drafts: bool = False

    def settings(self) -> Settings:
        """Return the settings to build with; raise ``SettingsError``, or ``SourceError`` without sources."""
        require_build_packages()
        return self.described()

    def described(self) -> Settings:
        """Return the settings of what is asked for, whatever is installed; raise as :meth:`settings`."""
        given = with_engine(read_settings(self.config), self.engine)
        if self.sources:
            given = _with_sources(given, self.sources, self.collection)
        elif self.collection is not None:
            raise SettingsError(
                "--collection names a folder given on the command line, and there is none",
                where=f"--collection {self.collection}",
                hint="Give the folder: noctule index FOLDER --collection NAME",
            )
        require_collections(given, str(self.config or Path.cwd()))
        return _with_drafts(given) if self.drafts else given


def source_root(source: str | PathLike[str]) -> str:
    """Return a source named on the command line: an address as it is, a folder by its whole path."""
    return str(source) if is_address(str(source)) else str(Path(source).expanduser().absolute())


def _with_drafts(given: Settings) -> Settings:
    drawn = {name: each.model_copy(update={"drafts": True}) for name, each in given.collections.items()}
    return given.model_copy(update={"collections": drawn})


def read_settings(config: Path | None) -> Settings:
    """Return settings from the file named, else from ``./noctule.toml`` if it exists, else the defaults."""
    path = config or found_settings()
    return Settings() if path is None else reading.load(path)


def with_engine(given: Settings, name: str | None) -> Settings:
    """Return the settings with the engine named on the command line; raise ``SettingsError`` if unknown."""
    if name is None:
        return given
    checked = reading.parse({"engine": {"name": name}}, where=f"--engine {name}")
    return given.model_copy(update={"engine": given.engine.model_copy(update={"name": checked.engine.name})})


def with_version(given: Settings, version: str | None, aliases: Sequence[str]) -> Settings:
    """Return the settings of the site of one version, named on the command line; raise ``SettingsError``."""
    if version is None and not aliases:
        return given
    named = {"version": given.site.version if version is None else version, "aliases": list(aliases)}
    checked = reading.parse({"site": named}, where="--version and --alias").site
    own = {"version": checked.version, "aliases": checked.aliases}
    return given.model_copy(update={"site": given.site.model_copy(update=own)})


def found_settings() -> Path | None:
    """Return the settings file of the working directory, if there is one."""
    path = Path(SETTINGS_FILE)
    return path if path.exists() else None


def _with_sources(given: Settings, sources: Sequence[str], name: str | None) -> Settings:
    """Return settings with a collection per folder; where they describe some, the folder is one of them."""
    roots = [source_root(each) for each in sources]
    if name is not None and len(roots) > 1:
        raise SettingsError(
            f"--collection names one folder, and {len(roots)} were given",
            where=f"--collection {name}",
            hint="Leave it out: each collection is then named after its folder.",
        )
    if given.collections:
        return _with_root(given, roots, name)
    names = [name] if name is not None else unique_names([Path(root) for root in roots])
    return _parsed(given, dict(zip(names, roots, strict=True)))


def _with_root(given: Settings, roots: Sequence[str], name: str | None) -> Settings:
    known = list(given.collections)
    if len(roots) > 1 or (name is None and len(known) > 1) or (name is not None and name not in known):
        raise SettingsError(
            f"the settings describe {', '.join(known)}; it is not clear to which of them this folder belongs",
            where=", ".join(roots),
            hint=f"Name it: noctule index FOLDER --collection {known[0]}",
        )
    chosen = name or known[0]
    own = given.collections[chosen].model_dump() | {"root": roots[0]}
    moved = reading.parse({"collections": {chosen: own}}, where="the command line").collections
    return given.model_copy(update={"collections": given.collections | moved})


def _parsed(given: Settings, roots: dict[str, str]) -> Settings:
    collections = {name: {"root": root} for name, root in roots.items()}
    checked = reading.parse({"collections": collections}, where="the command line")
    return given.model_copy(update={"collections": checked.collections})


def unique_names(folders: Sequence[Path]) -> list[str]:
    """Return a collection name for each folder, from its own; a second one of a name ends in ``-2``."""
    names: list[str] = []
    for folder in folders:
        name = collection_name(folder)
        twins = [f"{name}-{number}" for number in range(2, len(folders) + 1)]
        names.append(next(free for free in (name, *twins) if free not in names))
    return names


def collection_name(folder: Path) -> str:
    """Return a folder's name in the characters allowed for a collection; ``docs`` if none are left."""
    return _UNFIT.sub("-", folder.resolve().name.lower()).strip("-_")[:60] or "docs"
