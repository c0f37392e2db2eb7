"""Every name by which the documents of one collection can be linked.

A target is looked up as in markdown (a relative path, with or without extension, or a folder's index), as a
published address (under the collection's base URL), as in Sphinx (a label, or a path from any folder above),
and, for wikilinks, as in Obsidian (path, unique file name, alias, title). A fragment must be a heading of the
target.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urljoin

from ..address import unnumbered
from ..assets.embedded_images import image_place
from ..assets.media import media_type_of
from ..includes.python_blocks import OBJECT_PREFIX
from ..model import DocId, Document, Link
from ..parse.labels import LABEL_PREFIX, label_anchor
from .asset_paths import AssetPaths
from .fragments import find_anchor
from .published import (
    ENDINGS,
    address_key,
    path_stem,
    published_names,
    published_paths,
    without_ending,
)

BY_NAME = ("wikilink", "transclusion", "tag")
_LABEL = re.compile(r"[\w-]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SPHINX_ENDINGS = (".rst", ".rest", ".md", ".ipynb", ".txt")


@dataclass(frozen=True, slots=True)
class LinkingDocument:
    """The part of a document that resolving links needs; ``aliases`` that are paths begin with a slash."""

    doc_id: DocId
    collection: str
    path: str
    url: str
    title: str
    aliases: tuple[str, ...]
    anchors: tuple[str, ...]
    links: Collection[Link]


def linking_document(document: Document, slugs: Sequence[str]) -> LinkingDocument:
    """Return the part of a document that link resolution needs; ``slugs`` are those of its headings."""
    return LinkingDocument(
        document.doc_id,
        document.collection,
        document.path,
        document.url,
        document.title,
        (*document.aliases, *published_names(document.path, document.front_matter)),
        (*slugs, *document.anchors),
        document.links,
    )


def has_heading(document: LinkingDocument, fragment: str) -> bool:
    """Return whether a fragment names a place of the document, or one that is not looked up."""
    # Obsidian's block references, text fragments, wildcards, and labels, which already led to the document.
    if (
        fragment.startswith(("^", ":~:", "*", LABEL_PREFIX))
        or fragment == "top"
        or fragment in document.anchors
    ):
        return True
    return bool(find_anchor(fragment, document.anchors))


class LinkTargets:
    """Every name by which the documents of one collection can be linked."""

    def __init__(
        self,
        documents: Sequence[LinkingDocument],
        base_url: str,
        assets: Iterable[str] = (),
        folder: str = "",
    ) -> None:
        self._folder = folder.lower()
        self._assets = AssetPaths(assets, base_url)
        self._base_url = base_url.rstrip("/") + "/" if base_url else ""
        self._by_path = {d.path: d for d in documents}
        self._by_stem = _first({path_stem(d.path).lower(): d} for d in documents)
        self._by_url = _first({address_key(d.url): d} for d in documents)
        # Of several files with the same name, the one nearest the root is meant, as in Obsidian.
        shallow = sorted(documents, key=lambda d: (d.path.count("/"), d.path))
        self.by_name = _first({posixpath.basename(without_ending(d.path)).lower(): d} for d in shallow)
        self._by_alias = _first({a.lower(): d for a in d.aliases} for d in shallow)
        self._by_title = _first({d.title.lower(): d} for d in shallow)
        self._by_label = _first({a: d for a in d.anchors if a.startswith(LABEL_PREFIX)} for d in documents)
        self.by_object = _first({a: d for a in d.anchors if "." in a} for d in documents)
        self._by_published = _first(
            {path_stem(p): d for p in published_paths(d.path, d.aliases)} for d in documents
        )
        self._addresses: dict[str, LinkingDocument | None] = {}

    def find(
        self, source: LinkingDocument, link: Link, target: str, fragment: str
    ) -> tuple[LinkingDocument | None, str]:
        """Return the document that ``target`` means in ``source``, and the link's status."""
        if not target and fragment.startswith(LABEL_PREFIX):
            name = fragment.removeprefix(LABEL_PREFIX)
            found = self._by_label.get(label_anchor(name)) or self._by_relative_path(source, name)
            return found, "resolved" if found else "missing-document"
        if not target and fragment.startswith(OBJECT_PREFIX):
            found = self.by_object.get(fragment.removeprefix(OBJECT_PREFIX))
            return found, "resolved" if found else "missing-document"
        if not target:  # MyST's [](#label) leads to a label of any document
            elsewhere = self._by_label.get(label_anchor(fragment)) if fragment else None
            own = elsewhere is None or has_heading(source, fragment)
            return source if own else elsewhere, "resolved"
        if link.kind in BY_NAME:
            found = self.by_note(source, target)
            return found, "resolved" if found else absent(link, target)
        if self._is_external(target):
            return None, "external"
        found = (
            self._by_address(target)
            or self._by_relative_path(source, target)
            or self._by_sphinx(source, target)
            or self._by_published_path(source, target)
            or self._by_folder_address(source, target)
        )
        return found, "resolved" if found else absent(link, target)

    def by_text(self, source: LinkingDocument, link: Link) -> tuple[LinkingDocument | None, str]:
        """Return the document and the heading that a wikilink's text names, where its target is the label."""
        name, _, fragment = link.text.partition("#")
        fragment = unquote(fragment).strip()
        own = source if fragment and has_heading(source, fragment) else None
        return (self.by_note(source, name) if name.strip() else own), fragment

    def asset(self, source: LinkingDocument, link: Link, target: str) -> str | None:
        """Return the path of the image or attachment that ``target`` means in ``source``."""
        found = self._assets.find(source.path, target, by_name=link.kind in BY_NAME)
        return found or self._embedded_image(source, target)

    def _embedded_image(self, source: LinkingDocument, target: str) -> str | None:
        """Return the path of an image in a document; only whoever opens the document knows if it is there."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), unquote(target)))
        place = image_place(path)
        return path if place and place.document in self._by_path else None

    def _is_external(self, target: str) -> bool:
        if target.startswith("//"):
            return True
        return bool(_SCHEME.match(target)) and not (self._base_url and target.startswith(self._base_url))

    def _by_address(self, target: str) -> LinkingDocument | None:
        if not self._base_url or not (target.startswith("/") or target.startswith(self._base_url)):
            return None
        if target not in self._addresses:  # a page is linked from many places by the same address
            self._addresses[target] = self._by_url.get(address_key(urljoin(self._base_url, target)))
        return self._addresses[target]

    def _by_relative_path(self, source: LinkingDocument, target: str) -> LinkingDocument | None:
        path = unquote(target.partition("?")[0])
        absolute = path.startswith("/")
        joined = path.lstrip("/") if absolute else posixpath.join(posixpath.dirname(source.path), path)
        return self.at(posixpath.normpath(joined))

    def _by_sphinx(self, source: LinkingDocument, target: str) -> LinkingDocument | None:
        """Return the document at a path from any folder above, or under a MyST label, as Sphinx does."""
        if not source.path.endswith(_SPHINX_ENDINGS):
            return None
        if not target.startswith("/"):
            return self._by_label.get(label_anchor(target)) if _LABEL.fullmatch(target) else None
        folders = [folder.as_posix() for folder in PurePosixPath(source.path).parents]
        return next(
            (d for folder in folders if (d := self.at(posixpath.normpath(f"{folder}{target}")))), None
        )

    def _by_published_path(self, source: LinkingDocument, target: str) -> LinkingDocument | None:
        """Return the document at the path that its tool publishes it at, from the site's top or relative."""
        joined = posixpath.join("/", posixpath.dirname(source.path), unquote(target.partition("?")[0]))
        path = posixpath.normpath(joined).strip("/")
        return self.from_top(path) if target.startswith("/") else self._published(path)

    def from_top(self, path: str) -> LinkingDocument | None:
        """Return the document at a path that its tool publishes it at, from the site's top.

        The collection's folder may be below the site's top: as ``docs``, or by its own name.
        """
        first, _, below = path.partition("/")
        may_be_below = below and first.lower() in ("docs", self._folder)
        return self._published(path) or (self._published(below) if may_be_below else None)

    def _published(self, path: str) -> LinkingDocument | None:
        return self.at(path.lower()) or self._by_published.get(path_stem(unnumbered(path.lower())))

    def _by_folder_address(self, source: LinkingDocument, target: str) -> LinkingDocument | None:
        """Return the document at a path that begins at the page as a folder, as a browser sees clean URLs."""
        path = unquote(target.partition("?")[0])
        if path.startswith("/") or not path.startswith("..") or path.lower().endswith(ENDINGS):
            return None
        return self.at(posixpath.normpath(posixpath.join(path_stem(source.path), path)))

    def at(self, path: str) -> LinkingDocument | None:
        """Return the document at a path from the collection's root."""
        path = "" if path == "." else path
        # The last part of a dotted name may be the ending of a document: lang.markdown, export.html.
        stems = (path.lower(), path_stem(path).lower())
        return self._by_path.get(path) or next(filter(None, map(self._by_stem.get, stems)), None)

    def by_note(self, source: LinkingDocument, name: str) -> LinkingDocument | None:
        """Return the document that a wikilink with this name means."""
        name = unquote(name.strip())
        if not name:
            return None
        whole, key = posixpath.basename(name.lower()), posixpath.basename(without_ending(name).lower())
        return (
            self._by_relative_path(source, name)
            or self.at(name.strip("/"))
            or self.by_name.get(whole)
            or self.by_name.get(key)
            or self._by_alias.get(name.lower())
            or self._by_title.get(name.lower())
        )


def absent(link: Link, target: str) -> str:
    """Return the status of a link to what is not there, by what it would be."""
    path = unquote(target.partition("?")[0]).lower()
    if link.kind == "image" or media_type_of(path) is not None:
        return "missing-asset"
    is_document = path.endswith(ENDINGS) or "." not in posixpath.basename(path.rstrip("/"))
    return "missing-document" if is_document or link.kind in BY_NAME else "missing-asset"


def _first(maps: Iterable[Mapping[str, LinkingDocument]]) -> dict[str, LinkingDocument]:
    """Merge maps; the first to claim a key keeps it."""
    union: dict[str, LinkingDocument] = {}
    for claimed in maps:
        for key, document in claimed.items():
            union.setdefault(key, document)
    return union
