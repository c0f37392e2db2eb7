"""The parts of a run that must be redone because the settings, the model or the analyzer changed, and why."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...artifacts.disk.manifest import Manifest
from ...artifacts.store.snapshot import read_manifest
from ...artifacts.store.store import Store
from ...pipeline import __version__
from ...pipeline.embedding.model_files import find
from ...pipeline.errors import ArtifactError, ModelUnavailable
from ...pipeline.lexical import analyzer as text
from ...pipeline.settings.collection import Collection
from ...pipeline.settings.reading import with_new_names
from ...pipeline.settings.settings import Settings

_log = logging.getLogger("noctule")
_MAX_VALUE_CHARS = 60
_ABSENT = "absent"
_ALL = ("parse", "embed")
# The stages that read a setting, by the longest beginning of its name that is here.
STAGES: Mapping[str, tuple[str, ...]] = {
    "analyzer.version": ("parse",),
    "chunk": ("parse", "embed"),
    "collections": _ALL,
    "communities": ("communities", "topics"),
    "embed": ("embed", "vocabulary vectors", "phrases", "spans"),
    "embed.query_prompt": ("phrases", "spans"),
    "lexical": ("lexical", "code"),
    "model.sha256": ("query model", "embed", "vocabulary vectors", "phrases", "spans"),
    "noctule": ("parse",),
    "static_encoder": ("training passages", "phrases", "spans", "static encoder"),
    "site": ("links",),
    "vectors": ("vector index",),
    "vocabulary": ("words", "near words"),
}


@dataclass(frozen=True, slots=True)
class Rebuild:
    """A change since the current snapshot, and the stages that read what changed.

    ``noctule.flows.graph.dependents`` has those that need them, and are rebuilt, too.
    """

    what: str
    before: str
    now: str
    stages: tuple[str, ...]

    def __str__(self) -> str:
        rebuilt = f"{', '.join(self.stages)} and what needs {'it' if len(self.stages) == 1 else 'them'}"
        return f"{self.what} was {self.before}, is {self.now}: {rebuilt} rebuilt"


def rebuilds(store: Store, settings: Settings) -> tuple[Rebuild, ...]:
    """Return every change between the current snapshot and a run with these settings; none before the first.

    A snapshot that cannot be read counts as one change: everything is rebuilt.
    """
    try:
        current = store.current()
        if current is None:
            return ()
        return compared(read_manifest(store.path_of(current), current), settings)
    except ArtifactError as error:
        return (Rebuild("the current snapshot", "readable", error.what, _ALL),)


def compared(manifest: Manifest, settings: Settings) -> tuple[Rebuild, ...]:
    """Return every difference between the snapshot's settings and today's, by name."""
    today, given = _flat(settings.shaping()), with_new_names(manifest.settings)
    before = _defaults(settings) | _flat(given)
    found = [*_of_collections(given, settings)]
    both = _names(given) & set(settings.collections)
    known = tuple(f"collections.{name}." for name in both)
    for name in sorted(before.keys() | today.keys()):
        if name.startswith("collections.") and not name.startswith(known):
            continue  # a collection that came or went is said in one line
        if before.get(name, _ABSENT) != today.get(name, _ABSENT):
            found.append(_changed(name, before.get(name, _ABSENT), today.get(name, _ABSENT)))
    return (*found, *_of_code(manifest, settings))


def _of_code(manifest: Manifest, settings: Settings) -> Iterator[Rebuild]:
    """Yield changes of the model's weights, the analyzer and noctule, whose versions are in no setting."""
    if (analyzer := manifest.analyzer.get("version", _ABSENT)) != text.VERSION:
        yield _changed("analyzer.version", analyzer, text.VERSION)
    if (version := manifest.tools.get("noctule", _ABSENT)) != __version__:
        yield _changed("noctule", version, __version__)
    try:
        weights = find(settings.embed).sha256
    except ModelUnavailable:
        return  # the run itself says so, and stops
    if weights != manifest.model.sha256:
        yield _changed("model.sha256", manifest.model.sha256[:12], weights[:12])


def _changed(name: str, before: object, now: object) -> Rebuild:
    beginnings = [each for each in STAGES if name == each or name.startswith(f"{each}.")]
    stages = STAGES[max(beginnings, key=len)] if beginnings else _ALL
    if name.startswith("collections."):
        stages = (f"every document of {name.split('.')[1]}", *stages)
    return Rebuild(name, _shown(before), _shown(now), stages)


def _of_collections(before: Mapping[str, object], settings: Settings) -> Iterator[Rebuild]:
    names = _names(before)
    for name in sorted(names ^ set(settings.collections)):
        gone = name in names
        was, now = ("there", "gone") if gone else ("not there", "new")
        yield Rebuild(f"collection {name}", was, now, ("links", "lexical", "vector index"))


def _names(shaping: Mapping[str, object]) -> set[str]:
    collections = shaping.get("collections")
    return set(collections) if isinstance(collections, dict) else set()


def _defaults(settings: Settings) -> dict[str, object]:
    """Return the default of a setting, which is what a snapshot older than the setting was made with."""
    collections = {name: Collection(root="") for name in settings.collections}
    return _flat(Settings(collections=collections).shaping())


def _flat(value: object, at: str = "") -> dict[str, object]:
    if not isinstance(value, Mapping):
        return {at.rstrip("."): value}
    return {name: leaf for key, each in value.items() for name, leaf in _flat(each, f"{at}{key}.").items()}


def _shown(value: object) -> str:
    if isinstance(value, list | tuple) and any(isinstance(each, dict) for each in value):
        return f"{len(value):,} of them"
    written = value if isinstance(value, str) and value == _ABSENT else json.dumps(value, ensure_ascii=False)
    return written if len(written) <= _MAX_VALUE_CHARS else f"{written[:_MAX_VALUE_CHARS]}…"
