"""Resolving links as written to documents, or to a reason why they lead nowhere.

What a link means in its collection, ``noctule.pipeline.links.targets`` says; what leads out of the
collection may lead into another one of the store. What is no document may be an image or an attachment
(``noctule.pipeline.links.asset_paths``); where a PDF is both, a link means the file.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from ..address import out_of_collection, outside_address
from ..assets.media import DOCUMENT_ENDINGS
from ..includes.python_blocks import HEADING_ADDRESS, MAY_BE_AN_OBJECT
from ..model import OTHER_PROJECT, Link, ResolvedLink
from ..parse.labels import TERM_ADDRESS
from ..parse.python_objects import OBJECT_ADDRESS
from ..settings.collection import Collection
from .linking_documents import BY_NAME, LinkingDocument, LinkingDocuments, ListedDocuments, has_heading
from .redirects import NO_REDIRECTS, Redirects
from .targets import LinkTargets, link_targets

# In another project's glossary or API, as often as not: of no use to tell.
_MAY_BE_ELSEWHERE = (TERM_ADDRESS, OBJECT_ADDRESS)


def resolve_links(
    documents: Iterable[LinkingDocument],
    collections: Mapping[str, Collection],
    assets: Mapping[str, Iterable[str]] = MappingProxyType({}),
    redirects: Redirects = NO_REDIRECTS,
) -> list[ResolvedLink]:
    """Return every link of every document, in the order of their names, as ``each_resolved`` does."""
    listed = ListedDocuments(list(documents))
    return list(each_resolved(listed, listed, collections, assets, redirects))


def each_resolved(
    sources: Iterable[LinkingDocument],
    documents: LinkingDocuments,
    collections: Mapping[str, Collection],
    assets: Mapping[str, Iterable[str]] = MappingProxyType({}),
    redirects: Redirects = NO_REDIRECTS,
) -> Iterator[ResolvedLink]:
    """Resolve every link of the sources, in their order; ``documents`` are all that links can lead to.

    ``assets`` are the paths of each collection's images and attachments. A link to a former address leads to
    where one of the ``redirects`` does.
    """
    targets = link_targets(documents, collections, assets)
    roots = {name: each.root for name, each in collections.items() if name in targets}
    store = _Store(targets, roots, redirects)
    for source in sources:
        yield from _resolve_document(source, store)


@dataclass(frozen=True, slots=True)
class _Meant:
    """The document that a link leads to, if there is one, the fragment there, and the link's status."""

    document: LinkingDocument | None
    fragment: str
    status: str

    @property
    def is_missing(self) -> bool:
        """Return whether it leads to nothing in the source's collection."""
        return self.status.startswith("missing-")


class _Store:
    """The documents of all collections, and where these lie."""

    def __init__(
        self, targets: Mapping[str, LinkTargets], roots: Mapping[str, str], redirects: Redirects
    ) -> None:
        self.targets, self._redirects = targets, redirects
        self._base_path = urlsplit(redirects.base_url).path.rstrip("/")
        places = {name: posixpath.normpath(root) for name, root in roots.items()}
        self._place = places
        # Of folders within each other, the inner one is meant.
        self._by_place = sorted(
            ((place, name) for name, place in places.items()), key=lambda e: (-len(e[0]), e)
        )

    def elsewhere(self, source: LinkingDocument, link: Link, target: str) -> LinkingDocument | None:
        """Return the document that a target means in the folder of a collection, or by a collection's name.

        That is ``../other/page.md``, where the folders lie so, or ``[[other:page]]``.
        """
        name, colon, note = target.partition(":")
        if link.kind in BY_NAME and colon and name in self.targets:
            return self.targets[name].by_note(source, f"/{note}") or self.targets[name].by_note(source, note)
        out, place = out_of_collection(source.path, target), self._place.get(source.collection)
        if not out or place is None or link.kind == "image":
            return None
        path = posixpath.normpath(posixpath.join(place, out))
        for around, owner in self._by_place:
            if path == around or path.startswith(f"{around}/"):
                return self.targets[owner].at(path[len(around) + 1 :])
        return None

    def from_site(self, source: LinkingDocument, target: str) -> _Meant | None:
        """Return what a path from the top of the site means that begins with a collection's folder.

        A collection without an index has a page of the site's own there, such as a blog's, and so has a site
        of several collections at its top.
        """
        path = unquote(target.partition("?")[0])
        first, _, below = path.strip("/").partition("/")
        if path.startswith("/") and not first:
            return _Meant(None, "", "external")
        for name in sorted(self.targets) if path.startswith("/") else ():
            if first in (name, posixpath.basename(self._place.get(name, ""))):
                found = self.targets[name].from_top(below) if name != source.collection else None
                if found is not None or (first == name and not below and len(self.targets) > 1):
                    return _Meant(found, "", "resolved" if found else "external")
        return None

    def below_base(self, target: str) -> str:
        """Return a path from the top of the host as one from the top of the site; empty for any other."""
        rest = target.removeprefix(self._base_path)
        return rest or "/" if rest != target and rest[:1] in ("", "/", "#", "?") else ""

    def redirected(self, source: LinkingDocument, link: Link, target: str) -> _Meant | None:
        """Return what a former address leads to now: a document, or an address elsewhere."""
        fragment, former = link.target.partition("#")[2], unquote(target.partition("?")[0])
        for written in self._redirects.steps(source.collection, source.path, former):
            if written.startswith(("https://", "http://")) and not self._redirects.is_own(written):
                return _Meant(None, "", "external")
            fragment = written.partition("#")[2] or fragment
            if found := self._from_top(source.collection, written):
                return _Meant(found, unquote(fragment).strip(), "resolved")
        return None

    def _from_top(self, collection: str, address: str) -> LinkingDocument | None:
        """Return the document at an address from the site's top."""
        path = self._redirects.path(address)
        name, _, below = path.partition("/")
        found = self.targets[collection].from_top(path)
        return found or (self.targets[name].from_top(below) if name in self.targets else None)


def _resolve_document(document: LinkingDocument, store: _Store) -> Iterable[ResolvedLink]:
    own = store.targets[document.collection]
    for ordinal, link in enumerate(document.links):
        if link.kind == "tag" and _is_alone(own.by_name.get(link.target.lower()), document):
            continue  # nearly all
        meant, asset = _destination(document, link, store)
        if meant.is_missing and asset is None and (below := store.below_base(link.target)):
            meant, asset = _destination(document, replace(link, target=below), store)
        if meant.is_missing and asset is None and _may_be_elsewhere(link.target):
            continue
        found, target = meant.document, link.target.partition("#")[0].strip()
        yield ResolvedLink(
            source_id=document.doc_id,
            target_id=found.doc_id if found and asset is None else None,
            fragment=meant.fragment,
            kind="link" if link.kind == "label" else link.kind,
            target=link.target,
            text=link.text,
            ordinal=ordinal,
            status=_status(document, link, target, meant.status) if asset is None else "asset",
            asset=asset,
        )


def _destination(document: LinkingDocument, link: Link, store: _Store) -> tuple[_Meant, str | None]:
    """Return what a link means in any collection, and the asset that it names, if it does."""
    own, target = store.targets[document.collection], link.target.partition("#")[0].strip()
    meant = _meant(document, link, own)
    if meant.is_missing and (other := store.elsewhere(document, link, target)):
        meant = _Meant(other, meant.fragment, "resolved")
    if meant.is_missing and link.kind == "link" and (of_site := store.from_site(document, target)):
        meant = replace(of_site, fragment=meant.fragment)
    if meant.is_missing and link.kind == "link":
        meant = store.redirected(document, link, target) or meant
    if meant.document is not None and meant.fragment and not has_heading(meant.document, meant.fragment):
        meant = replace(meant, status="missing-heading")
    may_be_asset = meant.is_missing or target.lower().endswith(DOCUMENT_ENDINGS)
    return meant, own.asset(document, link, target) if may_be_asset else None


def _may_be_elsewhere(target: str) -> bool:
    name = target.removeprefix(HEADING_ADDRESS)
    return target.startswith(_MAY_BE_ELSEWHERE) or (name != target and bool(MAY_BE_AN_OBJECT.fullmatch(name)))


def _is_alone(named: LinkingDocument | None, document: LinkingDocument) -> bool:
    """Return whether no other document has the name."""
    return named is None or named.doc_id == document.doc_id


def _meant(document: LinkingDocument, link: Link, own: LinkTargets) -> _Meant:
    """Return what a link means in its own collection."""
    if link.target.startswith(OBJECT_ADDRESS):
        described, anchor = own.by_role(link.target)
        return _Meant(described, anchor, "resolved" if described else "missing-document")
    if link.target.startswith(HEADING_ADDRESS):
        page, anchor = own.by_reference(document, unquote(link.target.removeprefix(HEADING_ADDRESS)))
        return _Meant(page, anchor, "resolved" if page else "missing-heading")
    target, _, fragment = link.target.partition("#")
    target, fragment = target.strip(), unquote(fragment).strip()
    if target.startswith("?") and link.kind == "link":  # a search on the page itself
        return _Meant(document, fragment, "resolved")
    found, status = own.find(document, link, target, fragment)
    if status.startswith("missing-") and link.kind in BY_NAME:  # Dendron writes [[label|note#heading]]
        named, fragment_of_text = own.by_text(document, link)
        if named is not None:
            return _Meant(named, fragment_of_text or fragment, "resolved")
    if status.startswith("missing-") and not fragment and (described := own.by_object.get(target)):
        return _Meant(described, target, "resolved")  # MyST: [text](package.Class)
    return _Meant(found, fragment, status)


def _status(document: LinkingDocument, link: Link, target: str, status: str) -> str:
    """Return the status of a link, which is external if it leads out of a collection with a known address."""
    if link.kind == "label" and status == "missing-document":
        return OTHER_PROJECT
    is_outside = status.startswith("missing-") and outside_address(document.path, document.url, target)
    return "external" if is_outside else status
