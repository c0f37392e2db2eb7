"""Entity tags: what an answer depends on, known before anything is searched."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path

from ...pipeline import __version__
from ...pipeline.identity import canonical_json, sha256_hex
from ...pipeline.settings.settings import Settings
from ..guard.tokens import Client
from ..served import ServedSnapshot
from .parameters import Parameters

_MOST_TAGS = 50


class EntityTags:
    """Makes the tags of one server's answers: two are equal only if the answers are, byte for byte."""

    def __init__(self, settings: Settings) -> None:
        search = settings.search
        named = [Path(each).expanduser() for each in (search.synonyms.file, search.calibrate.file) if each]
        contents = [sha256_hex(path.read_bytes()) for path in named if path.is_file()]
        given = [__version__, search.model_dump(mode="json"), settings.embed.query_prompt, contents]
        self._settings = sha256_hex(canonical_json(given).encode())
        self._counts_days = "recency" in search.stages

    def tag(
        self, route: str, parameters: Parameters, served: ServedSnapshot, client: Client, representation: str
    ) -> str:
        """Return the tag of the answer to these parameters."""
        seen = None if client.collections is None else sorted(client.collections)
        day = date.today().isoformat() if self._counts_days else ""
        given = [self._settings, route, parameters.model_dump(mode="json"), seen, representation, day]
        digest = sha256_hex(canonical_json([*given, served.generation]).encode())[:16]
        return f'"{served.snapshot}-{digest}"'


def named_tags(if_none_match: Iterable[str]) -> frozenset[str]:
    """Return the tags that a conditional request's headers name; ``*`` stands for any."""
    names = (each.strip() for header in if_none_match for each in header.split(",")[:_MOST_TAGS])
    return frozenset(each.removeprefix("W/") for each in names)
