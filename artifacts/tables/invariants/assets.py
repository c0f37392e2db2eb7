"""The invariants of assets, and of the links that lead to them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import Problem, Tables, ints, mask, missing, not_rising, row_in, where

# Sorts before every other character, so joined keys are in the order of the pairs.
_BETWEEN = "\0"


def assets(tables: Tables) -> Iterator[Problem]:
    """Check that assets are sorted, have a size, and are named by links, all of them."""
    assets, links = tables["assets"], tables["links"]
    keys = _keys(assets["collection"], assets["path"])
    yield from where("assets", not_rising(keys), "not unique and sorted by collection and path")
    yield from where("assets", ints(assets, "bytes") < 0, "bytes is no number from 0")
    for name in ("width", "height"):
        wrong = mask(pc.less(assets[name], 1)) & mask(pc.is_valid(assets[name]))
        yield from where("assets", wrong, f"{name} is not above 0")
    named = _named(tables)
    yield from where("links", missing(named, keys, null_is_fine=True), "no such asset")
    yield from where("assets", missing(keys, named), "no link names it")
    is_asset = mask(pc.equal(links["status"], "asset"))
    wrong = is_asset != mask(pc.is_valid(links["asset"]))
    yield from where("links", wrong, "the status asset and a path must go together")


def _named(tables: Tables) -> pa.ChunkedArray:
    """Return the asset of each link with its document's collection before it; null for none."""
    links, documents = tables["links"], tables["documents"]
    source = row_in(links["source_id"], documents["doc_id"])
    place = pa.array(source, mask=source < 0) if len(source) else pa.array(np.zeros(0, np.int64))
    return _keys(documents["collection"].take(place), links["asset"])


def _keys(collection: pa.ChunkedArray, path: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(collection, path, _BETWEEN)
