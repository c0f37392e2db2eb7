"""What must hold of a build before anything is encoded or published."""

from __future__ import annotations

from ...pipeline.embedding.model_files import find
from ...pipeline.errors import EmptyCollection, SettingsError
from ...pipeline.settings.settings import Settings


def require_room(settings: Settings) -> None:
    """Returns if the model reads a whole passage; raises ``SettingsError``."""
    limit = find(settings.embed).max_tokens
    if settings.chunk.max_tokens > limit:
        raise SettingsError(
            f"chunk.max_tokens is {settings.chunk.max_tokens}, but the embedding model reads {limit} tokens",
            where="chunk.max_tokens",
            hint=f"Set it to {limit} or less: the rest of each passage would not be in its vector.",
        )


def require_documents(
    settings: Settings,
    name: str,
    found: int,
    count: int,
    first_reason: str,
    *,
    drafts: int,
    allow_empty: bool,
) -> None:
    """Returns if a collection has documents and most of its files could be used; raises ``EmptyCollection``.

    ``drafts`` are those of the ``found`` files that are not meant to be used.
    """
    collection, meant = settings.collections[name], found - drafts
    if count == 0 and not allow_empty:
        raise EmptyCollection(
            f"collection {name!r} holds no document to index ({found} files matched {', '.join(collection.include)}, "
            f"{drafts} of them drafts)",
            where=collection.root,
            hint="Nothing of it was published. Check root and include, or allow it with --allow-empty.",
        )
    if meant and (meant - count) / meant > settings.limits.max_failed_share:
        raise EmptyCollection(
            f"{meant - count} of {meant} documents of collection {name!r} failed",
            where=collection.root,
            hint=f"First reason: {first_reason}. Nothing of it was published; limits.max_failed_share allows more.",
        )
