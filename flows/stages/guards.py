"""Checks that must pass before anything is encoded or published.

The model must read whole passages, collections must not be empty, and none may have lost many of its
documents overnight, which is more often a fault than intended.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from ...pipeline.embedding.model_files import find
from ...pipeline.errors import CollectionShrank, EmptyCollection, SettingsError
from ...pipeline.printable import counted
from ...pipeline.settings.settings import Settings
from ..run.context import BuildOptions

_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class CollectionSize:
    """The files of a collection, or of a part of it, and what became of them.

    ``drafts`` counts those that are deliberately skipped, and ``unpublished`` those of them that the current
    snapshot holds. ``first_reason`` says why the first one was quarantined, if any was.
    """

    files: int
    documents: int
    drafts: int
    unpublished: int
    first_reason: str = ""


def require_size(
    settings: Settings, name: str, size: CollectionSize, before: int, accepts: BuildOptions
) -> None:
    """Raise ``EmptyCollection`` or ``CollectionShrank`` where that is all of a collection.

    ``before`` counts its documents in the current snapshot.
    """
    require_documents(
        settings,
        name,
        size.files,
        size.documents,
        size.first_reason or "none",
        drafts=size.drafts,
        allow_empty=accepts.allow_empty,
    )
    left = size.documents + size.unpublished  # what its writer took back is not lost
    require_unshrunk(settings, name, before, left, accept=accepts.accept_shrink)


def require_unshrunk(settings: Settings, name: str, before: int, after: int, *, accept: bool) -> None:
    """Raise ``CollectionShrank`` if the collection lost too large a share of its documents, or only warn.

    ``before`` and ``after`` count its documents. A collection left with none at all is an
    ``EmptyCollection``, which has a flag of its own; ``accept`` turns the error into a warning.
    """
    most, lost = settings.limits.max_shrink_share, before - after
    if not 0 < after < before or lost / before <= most:
        return
    shrunk = (
        f"collection {name!r} would lose {lost:,} of its {counted(before, 'document')} ({lost / before:.0%})"
    )
    if accept:
        _log.warning("accepted: %s", shrunk)
        return
    raise CollectionShrank(
        f"{shrunk}, more than the {most:.0%} that limits.max_shrink_share allows",
        where=settings.collections[name].root,
        hint="None of it was published; the current snapshot is unchanged. Is a disk not mounted, "
        "a checkout unfinished, an exclude too broad? To publish anyway: --accept-shrink.",
    )


def require_room(settings: Settings) -> None:
    """Raise ``SettingsError`` if the model cannot read a whole passage."""
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
    """Raise ``EmptyCollection`` if a collection has no documents or most of its files could not be used.

    ``drafts`` counts those of the ``found`` files that are drafts and deliberately skipped.
    """
    collection, meant = settings.collections[name], found - drafts
    if count == 0 and not allow_empty:
        raise EmptyCollection(
            f"collection {name!r} holds no document to index "
            f"({found} files matched {', '.join(collection.include)}, {drafts} of them drafts)",
            where=collection.root,
            hint="None of it was published. Check root and include, or allow it with --allow-empty.",
        )
    if meant and (meant - count) / meant > settings.limits.max_failed_share:
        raise EmptyCollection(
            f"{meant - count} of {meant} documents of collection {name!r} failed",
            where=collection.root,
            hint=f"First reason: {first_reason}. None of it was published; "
            "limits.max_failed_share allows more.",
        )
