"""What the current snapshot holds of its sources: the hashes of documents, and the paths of assets."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Set

import pyarrow.compute as pc

from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError

_log = logging.getLogger("noctule")


def published_hashes(store: Store) -> dict[str, dict[str, str]]:
    """Return the source hash of each current document by collection and path; raise ``ArtifactError``."""
    found: dict[str, dict[str, str]] = {}
    if (current := store.current()) is not None:
        table = store.read_unverified(current).table("documents", ["collection", "path", "sha256"])
        for row in table.to_pylist():
            found.setdefault(row["collection"], {})[row["path"]] = row["sha256"]
    return found


def documents_before(store: Store) -> Mapping[str, Mapping[str, str]]:
    """Return the published hashes; none if the current snapshot cannot be read."""
    try:
        return published_hashes(store)
    except ArtifactError as error:
        _log.warning("the shrink guard has nothing to compare with: %s", error)
        return {}


def document_counts(store: Store) -> Counter[str]:
    """Return how many documents each collection has in the current snapshot; none if it cannot be read."""
    found = Counter[str]()
    try:
        parts = store.read_unverified(current).parts if (current := store.current()) is not None else ()
        for part in parts:
            for each in pc.value_counts(part.table("documents", ["collection"])["collection"]).to_pylist():
                found[each["values"]] += each["counts"]
    except ArtifactError as error:
        _log.warning("the shrink guard has nothing to compare with: %s", error)
    return found


def published_assets(store: Store, collections: Set[str]) -> dict[str, set[str]]:
    """Return the paths of these collections' assets in the current snapshot; none if it cannot be read."""
    found: dict[str, set[str]] = {}
    try:
        if collections and (current := store.current()) is not None:
            table = store.read_unverified(current).table("assets", ["collection", "path"])
            for row in table.to_pylist():
                if row["collection"] in collections:
                    found.setdefault(row["collection"], set()).add(row["path"])
    except ArtifactError as error:
        _log.warning("the images of %s are missing: %s", ", ".join(sorted(collections)), error)
    return found
