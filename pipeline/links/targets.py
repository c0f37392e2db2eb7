"""Every name by which the documents of one collection can be linked.

A target is looked up as in markdown (a relative path, with or without extension, or a folder's index), as a
published address (under the collection's base URL), as in Sphinx (a label, or a path from any folder above),
and, for wikilinks, as in Obsidian (path, unique file name, alias, title). A fragment must be a heading of the
target.
"""

from __future__ import annotations

import posixpath
import re
from array import array
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import unquote, urljoin

import numpy as np

from ..address import slugify, unnumbered
from ..assets.embedded_images import image_place
from ..includes.python_blocks import OBJECT_PREFIX
from ..model import Link
from ..parse.labels import LABEL_PREFIX, label_anchor
from ..parse.python_objects import names_meant
from ..parse.standard_objects import STANDARD_ADDRESS, anchors_meant
from ..settings.collection import Collection
from .asset_paths import AssetPaths
from .linking_documents import (
    BY_NAME,
    LinkingDocument,
    LinkingDocuments,
    Rows,
    absent,
    has_anchor,
    has_heading,
)
from .name_index import (
    NameIndex,
    address,
    aliases,
    file_name,
    headings,
    labels,
    objects,
    objects_by_end,
    published_stems,
    stem,
    title,
)
from .published import ENDINGS, address_key, path_stem, without_ending

_LABEL = re.compile(r"[\w-]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_POST = re.compile(r"/(\d{4}/\d{2}/\d{2}/[^/]+)$")
_ADDRESSES = 65_536
_SPHINX_ENDINGS = (".rst", ".rest", ".md", ".ipynb", ".txt")


class LinkTargets:
    """Every name by which the documents of one collection can be linked."""

    def __init__(
        self,
        documents: LinkingDocuments,
        base_url: str,
        assets: Iterable[str] = (),
        folder: str = "",
        *,
        heading_references: bool = False,
    ) -> None:
        self._folder = folder.lower()
        self._assets = AssetPaths(assets, base_url)
        self._base_url = base_url.rstrip("/") + "/" if base_url else ""
        self._by_stem, self._by_url, self._by_label, self.by_object, self._by_published = self._first = [
            NameIndex(documents, names) for names in (stem, address, labels, objects, published_stems)
        ]
        self._by_end = NameIndex(documents, objects_by_end)
        self._by_heading = NameIndex(documents, headings if heading_references else lambda _: ())
        self._first += [self._by_end, self._by_heading]
        # Of several files with the same name, the one nearest the root is meant, as in Obsidian.
        self.by_name, self._by_alias, self._by_title = self._shallowest = [
            NameIndex(documents, names) for names in (file_name, aliases, title)
        ]
        # A page is linked from many places by the same address.
        self._at_address = lru_cache(_ADDRESSES)(self._find_address)
        self._ending_with = lru_cache(_ADDRESSES)(self._find_ending_with)

    def add(self, row: int, document: LinkingDocument) -> None:
        """Add the document in this row; ``sort`` follows when all are there."""
        for each in (*self._first, *self._shallowest):
            each.add(row, document)

    def sort(self, rank: Rows, depth: Rows) -> None:
        """Decide whom a name means that several have: by their order, or the depth of their paths."""
        for each in self._first:
            each.sort(rank)
        for each in self._shallowest:
            each.sort(rank, depth)

    def find(
        self, source: LinkingDocument, link: Link, target: str, fragment: str
    ) -> tuple[LinkingDocument | None, str]:
        """Return the document that ``target`` means in ``source``, and the link's status."""
        if not target and fragment.startswith(LABEL_PREFIX):
            name = fragment.removeprefix(LABEL_PREFIX)
            found = self._by_label.get(label_anchor(name)) or self._by_relative_path(source, name)
            return found, "resolved" if found else "missing-document"
        if not target and fragment.startswith(OBJECT_PREFIX):
            described = self._described(fragment.removeprefix(OBJECT_PREFIX))
            return described, "resolved" if described else "missing-document"
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

    def by_role(self, address: str) -> tuple[LinkingDocument | None, str]:
        """Return the document with the object that a role means, and the object's anchor there."""
        if address.startswith(STANDARD_ADDRESS):
            anchor = next(filter(self.by_object.get, anchors_meant(address)), "")
            return (self.by_object.get(anchor) if anchor else None), anchor
        names, end = names_meant(address)
        name = next((each for each in names if self.by_object.get(OBJECT_PREFIX + each)), "")
        name = name or (self._ending_with(end) if end else "")
        # A heading may be named after an object, or a description be left out of the index.
        name = name or next(filter(self.by_object.get, names), "")
        found = self._described(name) if name else None
        return found, name if found is None or has_anchor(found, name) else OBJECT_PREFIX + name

    def by_reference(self, source: LinkingDocument, name: str) -> tuple[LinkingDocument | None, str]:
        """Return the document with the heading or object that a reference names, its own first."""
        for anchor in (name, OBJECT_PREFIX + name, slugify(name)):
            if found := source if has_anchor(source, anchor) else self._by_heading.get(anchor):
                return found, anchor
        return None, name

    def _described(self, name: str) -> LinkingDocument | None:
        return self.by_object.get(OBJECT_PREFIX + name) or self.by_object.get(name)

    def _find_ending_with(self, end: str) -> str:
        """Return the name of the only object whose name ends so, empty if there are none or several."""
        names = {objects_by_end(document)[end] for document in self._by_end.each(end)}
        return names.pop() if len(names) == 1 else ""

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
        return path if place and self._with_path(place.document) else None

    def _is_external(self, target: str) -> bool:
        if target.startswith("//"):
            return True
        return bool(_SCHEME.match(target)) and not (self._base_url and target.startswith(self._base_url))

    def _by_address(self, target: str) -> LinkingDocument | None:
        if not self._base_url or not (target.startswith("/") or target.startswith(self._base_url)):
            return None
        return self._at_address(target)

    def _find_address(self, target: str) -> LinkingDocument | None:
        return self._by_url.get(address_key(urljoin(self._base_url, target)))

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
        if target.startswith("/"):
            return self.from_top(path)
        return self._published(path) or self._by_own_address(source, target)

    def _by_own_address(self, source: LinkingDocument, target: str) -> LinkingDocument | None:
        """Return the document at a path that begins where the tool publishes the page that holds the link."""
        path = unquote(target.partition("?")[0])
        for own in source.aliases if path else ():
            folders = (own, posixpath.dirname(own)) if own.startswith("/") else ()
            for folder in folders[without_ending(own) != own :]:
                joined = posixpath.normpath(posixpath.join(folder, path)).strip("/")
                if found := self._published(joined):
                    return found
        return None

    def from_top(self, path: str) -> LinkingDocument | None:
        """Return the document at a path that its tool publishes it at, from the site's top.

        The collection's folder may be below the site's top: as ``docs``, or by its own name.
        """
        first, _, below = path.partition("/")
        may_be_below = below and first.lower() in ("docs", self._folder)
        found = self._published(path) or (self._published(below) if may_be_below else None)
        # Jekyll's posts also have their categories before their day.
        post = None if found else _POST.search(path)
        return found or (self._published(post[1]) if post else None)

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
        return self._with_path(path) or next(filter(None, map(self._by_stem.get, stems)), None)

    def _with_path(self, path: str) -> LinkingDocument | None:
        """Return the document with exactly this path."""
        return next((d for d in self._by_stem.each(path_stem(path).lower()) if d.path == path), None)

    def by_note(self, source: LinkingDocument, name: str) -> LinkingDocument | None:
        """Return the document that a wikilink with this name means."""
        name = unquote(name.strip())
        if not name:
            return None
        whole, key = posixpath.basename(name.lower()), posixpath.basename(without_ending(name).lower())
        exact = self._by_alias.get(name.lower()) or self._by_title.get(name.lower())
        return (
            self._by_relative_path(source, name)
            or self.at(name.strip("/"))
            or (exact if "/" in name else None)
            or self.by_name.get(whole)
            or self.by_name.get(key)
            or exact
        )


def link_targets(
    documents: LinkingDocuments,
    collections: Mapping[str, Collection],
    assets: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> dict[str, LinkTargets]:
    """Return the targets in each collection that has documents."""
    found: dict[str, LinkTargets] = {}
    depth = array("i")
    for row, document in enumerate(documents):
        name = document.collection
        if name not in found:
            base_url = collections[name].address.base_url if name in collections else ""
            folder = PurePosixPath(collections[name].root).name if name in collections else ""
            named = name in collections and collections[name].heading_references
            found[name] = LinkTargets(
                documents, base_url, assets.get(name, ()), folder, heading_references=named
            )
        found[name].add(row, document)
        depth.append(document.path.count("/"))
    rank = np.empty(len(depth), np.int32)
    rank[documents.order] = np.arange(len(depth), dtype=np.int32)
    for each in found.values():
        each.sort(rank, np.asarray(depth, np.int32))
    return found
