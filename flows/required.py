"""What must hold of a build before anything is encoded or published."""

from __future__ import annotations

from flows.collect import Listing, Understanding
from pipeline.errors import EmptyCollection, SettingsError
from pipeline.model_files import find
from pipeline.settings import Settings


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
    settings: Settings, listing: Listing, understanding: Understanding, *, allow_empty: bool
) -> None:
    """Returns if every collection has documents and most of them could be used; raises ``EmptyCollection``."""
    indexed = dict.fromkeys(settings.collections, 0)
    for name in understanding.whole.documents["collection"].to_pylist():
        indexed[name] += 1
    for name, count in sorted(indexed.items()):
        collection = settings.collections[name]
        found = sum(file.collection == name for file in listing.files)
        if count == 0 and not allow_empty:
            raise EmptyCollection(
                f"collection {name!r} holds no document to index ({found} files matched {', '.join(collection.include)})",
                where=collection.root,
                hint="Nothing was published. Check root and include, or allow it with --allow-empty.",
            )
        if found and (found - count) / found > settings.limits.max_failed_share:
            raise EmptyCollection(
                f"{found - count} of {found} documents of collection {name!r} failed",
                where=collection.root,
                hint=f"First reason: {_first_reason(understanding, name)}. Nothing was published; limits.max_failed_share allows more.",
            )


def _first_reason(understanding: Understanding, collection: str) -> str:
    failed = (r for r in understanding.rejections if r.collection == collection and r.kind == "quarantined")
    return next((f"{r.path}: {r.reason}" for r in failed), "none")
