"""A look at the sources: all that must be known of them to tell whether anything has changed."""

from __future__ import annotations

from dataclasses import dataclass

from ...artifacts.cache.parse_cache import ParseCache
from ...artifacts.store.store import Store
from ...pipeline.settings.settings import Settings
from ..incremental.unchanged import inputs_of
from ..stages.corpus import shrunk
from ..stages.sources import Listing, Looked, list_sources, look
from .result import BuildOptions
from .steps import Steps


@dataclass(frozen=True, slots=True)
class Gathered:
    """The sources, looked at and not parsed; nothing where a run begins after them.

    ``remembered`` is what the store remembers, where there was time to read it.
    """

    listing: Listing | None
    looked: Looked | None
    inputs: str
    remembered: ParseCache | None = None


def gathered(settings: Settings, store: Store, steps: Steps, options: BuildOptions) -> Gathered:
    """Every file listed, read and hashed; raises ``MissingRoot``."""
    if options.start in ("embed", "links"):
        return Gathered(None, None, "")
    listing = steps.run("discover", lambda: list_sources(settings))
    listing = shrunk(listing, settings, store, options)
    looked = steps.run("look", lambda: look(listing.files, settings))
    listing = listing.without(looked.failures)
    return Gathered(listing, looked, inputs_of(looked, listing, settings))
