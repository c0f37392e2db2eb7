"""Settings read from a TOML file and validated; one error names the file and every wrong key."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from ..errors import SettingsError
from ..filesystems.opening import is_address
from .collection import Collection
from .search import Table
from .serve import Serve
from .settings import Settings
from .site import OWN_FILES, Site, is_font_file

MAX_SETTINGS_BYTES = 1_000_000
_MAX_KEY_CHARS = 100
# Every key with its default; in a clone the folder is a link to ``configs``.
DEFAULTS = Path(__file__).parents[2] / "presets" / "default.toml"
# Old names, and what they are called now.
RENAMED = {
    "query_encoder": "static_encoder",
    "site.verify_nights": "site.verify_days",
    "search.balance.least": "search.balance.min_factor",
    "search.balance.on": "search.balance.enabled",
    "search.caches.seconds": "search.caches.ttl_seconds",
    "search.graph.hub": "search.graph.max_links",
    "search.mmr.balance": "search.mmr.relevance_weight",
}
# What pydantic says in words of Python.
_REASONS = {
    "extra_forbidden": "unknown key",
    "tuple_type": "write a list, in square brackets",
    "dict_type": "write a table",
    "model_type": "write a table",
}
_log = logging.getLogger("noctule")


def load(path: Path) -> Settings:
    """Read settings from a TOML file; relative collection roots are resolved against its folder.

    Raises ``SettingsError`` naming the file and every wrong key.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SETTINGS_BYTES + 1)
    except OSError as error:
        raise SettingsError(
            f"cannot read the settings file: {error.strerror}",
            where=str(path),
            hint="Make one with: noctule init",
        ) from None
    if len(content) > MAX_SETTINGS_BYTES:
        raise SettingsError("the settings file is over 1 MB", where=str(path), hint="Is it the right file?")
    try:
        given = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"not a TOML file: {error}", where=str(path), hint="Fix that line.") from None
    return _anchored(parse(given, where=str(path)), path.resolve().parent)


def parse(given: Mapping[str, Any], where: str) -> Settings:
    """Build settings from plain values; renamed keys are read under their old names too, with a warning.

    Raises ``SettingsError`` with one line per mistake.
    """
    try:
        return Settings.model_validate(with_new_names(given, where))
    except ValidationError as error:
        lines = [f"{_key(e['loc'])}: {_reason(e)}{_nearest(e)}" for e in error.errors()]
        raise SettingsError(
            "; ".join(lines), where=where, hint=f"{DEFAULTS} lists every key with its default."
        ) from None


def with_new_names(given: Mapping[str, Any], where: str = "") -> Mapping[str, Any]:
    """Return the values under the keys of today; two names of one key are an error.

    Each old name is warned of if ``where`` says whose values they are.
    """
    for old, new in RENAMED.items():
        *tables, key = old.split(".")
        table: Any = given
        for name in tables:
            table = table.get(name) if isinstance(table, Mapping) else None
        if not isinstance(table, Mapping) or key not in table:
            continue
        name = new.rsplit(".", 1)[-1]
        if name in table:
            raise SettingsError(
                f"{old} and {new} are the old and the new name of one key",
                where=where,
                hint=f"Remove {old}.",
            )
        if where:
            _log.warning("%s: %s is now called %s; the old name still works", where, old, new)
        given = _replaced(given, tables, {name if each == key else each: table[each] for each in table})
    return given


def _replaced(given: Mapping[str, Any], tables: Sequence[str], table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values with one table, named by the way to it, exchanged for another."""
    if not tables:
        return table
    return {**given, tables[0]: _replaced(given[tables[0]], tables[1:], table)}


def _key(location: tuple[int | str, ...]) -> str:
    return ".".join(f"{part!s:.{_MAX_KEY_CHARS}}" for part in location) or "settings"


def _reason(error: Any) -> str:
    if error["type"] in _REASONS:
        return _REASONS[error["type"]]
    return str(error["msg"]).removeprefix("Value error, ")


def _nearest(error: Any) -> str:
    """Return the key that an unknown one of the same table is most like, as a part of a message."""
    if error["type"] != "extra_forbidden":
        return ""
    table: Any = Settings
    for part in error["loc"][:-1]:
        table = _within(table, part)
    near = get_close_matches(str(error["loc"][-1]), getattr(table, "model_fields", ()), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _within(kind: Any, part: int | str) -> Any:
    """Return the type of what a table has under a key, or a list or a mapping of tables holds."""
    if fields := getattr(kind, "model_fields", None):
        return fields[part].annotation if part in fields else None
    return next((each for each in get_args(kind) if hasattr(each, "model_fields")), None)


def _folders_from(folder: Path, collection: Collection) -> dict[str, object]:
    """Return the folders of a collection, resolved against the settings file's folder."""

    def resolved(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_path_from(each, folder) for each in given)

    api = collection.api
    return {
        "root": collection.root if is_address(collection.root) else resolved((collection.root,))[0],
        "snippet_folders": resolved(collection.snippet_folders),
        "auto_append": resolved(collection.auto_append),
        "variables": resolved(collection.variables),
        "static_folders": resolved(collection.static_folders),
        "sidebars": resolved(collection.sidebars),
        "api": api.model_copy(update={"packages": resolved(api.packages)}),
    }


def _anchored(settings: Settings, folder: Path) -> Settings:
    """Return the settings with every folder and file that they name resolved against the file's folder."""
    collections = {
        name: collection.model_copy(update=_folders_from(folder, collection))
        for name, collection in settings.collections.items()
    }
    judged = tuple(_file_from(each, folder) for each in settings.relevance.judged)
    search = settings.search
    named = settings.site.navigation.items()
    navigation = {name: tuple(_file_from(each, folder) for each in files) for name, files in named}
    site = settings.site.model_copy(update={"navigation": navigation})
    is_folder = search.rerank.model.startswith((".", "~", "/"))  # else it is a model's name, and no file
    stages = {
        "synonyms": _with_files(search.synonyms, folder, "file"),
        "calibrate": _with_files(search.calibrate, folder, "file"),
        "rerank": _with_files(search.rerank, folder, "model") if is_folder else search.rerank,
    }
    return settings.model_copy(
        update={
            "collections": collections,
            "search": search.model_copy(update=stages),
            "relevance": settings.relevance.model_copy(update={"judged": judged}),
            "site": _with_own_files(site, folder),
            "engine": _with_files(settings.engine, folder, "shared"),
            "publish": _with_files(settings.publish, folder, "sign"),
            "serve": _serve_from(settings.serve, folder),
        }
    )


def _serve_from(serve: Serve, folder: Path) -> Table:
    tables = {
        "events": _with_files(serve.events, folder, "folder"),
        "router": _with_files(serve.router, folder, "token"),
    }
    return _with_files(serve, folder, "tokens").model_copy(update=tables)


def _with_own_files(site: Site, folder: Path) -> Table:
    fonts = {
        name: tuple(_file_from(each, folder) if is_font_file(each) else each for each in given)
        for name, given in site.fonts
    }
    named = site.model_copy(update={"fonts": site.fonts.model_copy(update=fonts)})
    return _with_files(named, folder, *OWN_FILES)


def _with_files(section: Table, folder: Path, *names: str) -> Table:
    return section.model_copy(update={name: _file_from(getattr(section, name), folder) for name in names})


def _file_from(file: str, folder: Path) -> str:
    return _path_from(file, folder) if file else ""


def _path_from(path: str, folder: Path) -> str:
    """Return the whole path; an error does not repeat one, since somebody may have written a token there."""
    try:
        return str(folder / Path(path).expanduser())
    except RuntimeError:
        raise SettingsError(
            "a setting names the home folder of a user that does not exist",
            where=str(folder),
            hint="Begin your own home folder with ~/, others with a slash.",
        ) from None
