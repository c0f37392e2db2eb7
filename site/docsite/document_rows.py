"""What a document has several of: sections, code blocks, links as written and the assets they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from ..pipeline.assets.media import MEDIA_TYPES, MediaType
from . import urls

ASSET_COLUMNS = ("collection", "path", "asset_id", "media_type", "width", "height")


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section's anchor and the byte range of the document's text that it covers."""

    slug: str
    title: str
    level: int
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class CodeSpan:
    """A code block's language and the byte range of the document's text that it covers."""

    language: str
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as written, and where it leads."""

    kind: str
    target: str
    target_id: str | None
    fragment: str
    status: str
    asset: str | None


@dataclass(frozen=True, slots=True)
class Asset:
    """An image or attachment that documents name; ``file`` is its place in the site."""

    asset_id: str
    name: str
    kind: MediaType
    width: int | None
    height: int | None
    file: str


def assets_of(table: pa.Table) -> Mapping[tuple[str, str], Asset]:
    """Return assets by collection and path, in the order of the table."""
    found: dict[tuple[str, str], Asset] = {}
    for row in zip(*(table.column(name).to_pylist() for name in ASSET_COLUMNS), strict=True):
        collection, path, asset_id, media_type, width, height = row
        kind = MEDIA_TYPES[media_type]
        place = urls.file_path(path, asset_id, kind.ending)
        found[collection, path] = Asset(asset_id, path.rsplit("/", 1)[-1], kind, width, height, place)
    return found
