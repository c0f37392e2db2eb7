"""Where each page is in the site, and how one page writes the address of another.

Addresses are relative and name files, so a site works under any sub-path and straight from disk.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import quote

from ..pipeline.address import INDEX_NAMES, index_order
from ..pipeline.identity import text_hash

# The theme's own files, and those that documents name.
ASSETS = "_assets"
FILES = "_files"
PAGES_INDEX = "_pages/index.html"
TAGS_INDEX = "_tags/index.html"
COMMUNITIES_INDEX = "_communities/index.html"
HOME = "index.html"
NOT_FOUND = "404.html"
SEARCH = "_search"
SEARCH_INDEX = f"{SEARCH}/index.html"
PLAYGROUND = f"{SEARCH}/ranking.html"
BLOGS = "_blogs"
CARDS = "_cards"
ATOM = "atom.xml"
MAP = "_communities/map.html"
PREVIEWS = "_previews"
FEED = "feed.xml"
LLMS = "llms.txt"
LLMS_FULL = "llms-full"
# As hosts read it.
REDIRECTS = "_redirects"
SERVICE_WORKER = "service-worker.js"
NO_NETWORK = "_offline.html"
# Says that noctule made this folder; and what the next build has to know about its files.
MARKER = ".noctule-site"
RECORD = ".noctule-record"
# Holds the search of a site that something else built.
SEARCH_ONLY = "_noctule"
# The home page of a vault of Dendron.
VAULT_ROOT = "root.md"
REPORT = "_report.html"
RESERVED = (
    REPORT,
    NO_NETWORK,
    ASSETS,
    FILES,
    "_pages",
    "_tags",
    "_communities",
    BLOGS,
    CARDS,
    SEARCH,
    PREVIEWS,
    NOT_FOUND,
    "sitemap.xml",
    *(f"sitemap-{number}.xml" for number in range(1, 21)),
    FEED,
    LLMS,
    LLMS_FULL,
    REDIRECTS,
    MARKER,
    RECORD,
)
_FILE_FOLDER = re.compile(r"(?i)(^service-worker\.js|(?:^|(?<=/))index\.html)/")
# A file name has at most 255 bytes; what is left is room for the suffix and the ending.
MAX_NAME_BYTES = 200
MAX_FILE_STEM_BYTES = 80


@dataclass(frozen=True, slots=True)
class Placed:
    """A document's id, its path in its collection, and the site folder that it goes below.

    With ``published`` its page is there, and not where its path is.
    """

    doc_id: str
    path: str
    below: str = ""
    published: str = ""


def page_path(path: str) -> str:
    """Return a document's page: its path ending in ``.html``; an index or README becomes ``index.html``."""
    # No file of a collection has such a name, but a forged snapshot may claim so.
    folder, name = posixpath.split(posixpath.normpath(f"/{path}").lstrip("/"))
    stem = posixpath.splitext(name)[0] or name
    return posixpath.join(folder, "index.html" if stem.lower() in INDEX_NAMES else f"{stem}.html")


def page_paths(documents: Iterable[Placed], home: str = "") -> Mapping[str, str]:
    """Return every document's page by id, no two alike even if letter case is ignored.

    ``home`` is the path or the id of the document that is the home page, whatever its name.

    Of several documents that want the same page, ``index`` goes before ``README`` before ``_index``, then by
    path; the others keep their own name, or get a suffix made from their path, so that it stays the same when
    documents come and go.
    """
    return _page_paths(tuple(documents), home)


@lru_cache(maxsize=2)  # a preview asks again after every change of a page's text
def _page_paths(documents: tuple[Placed, ...], home: str) -> Mapping[str, str]:
    chosen = min((d for d in documents if home and home in (d.path, d.doc_id)), key=_precedence, default=None)
    placed = sorted(documents, key=lambda d: (d is not chosen, _precedence(d)))
    vaults = _vaults(placed)
    wanted = {d.doc_id: posixpath.join(d.below, _wanted(d, vaults)) for d in placed}
    # A folder may have the name of a file of the site's own.
    wanted = {name: _FILE_FOLDER.sub(r"\1-folder/", page) for name, page in wanted.items()}
    if chosen is not None:
        wanted[chosen.doc_id] = HOME
    taken = {folded(folder) for page in wanted.values() for folder in folders_of(page)}
    blocked = {folded(name) for name in RESERVED}
    pages: dict[str, str] = {}
    for document in placed:
        page = wanted[document.doc_id]
        if page == NOT_FOUND and page not in taken:
            taken.add(page)
            pages[document.doc_id] = page
            continue
        if folded(page) in taken and page.endswith("index.html"):
            page = posixpath.join(posixpath.dirname(page), posixpath.basename(_named(document.path)))
        if folded(page) in taken or folded(page.split("/", 1)[0]) in blocked:
            page = _suffixed(page, document.path, blocked)
        taken.add(folded(page))
        pages[document.doc_id] = page
    return MappingProxyType(pages)


def _vaults(documents: Iterable[Placed]) -> frozenset[tuple[str, str]]:
    """Return the folders that hold a ``root.md`` and a note with a dot in its name, as Dendron's do."""
    folders = [(d.below, *posixpath.split(d.path)) for d in documents]
    roots = {(below, folder) for below, folder, name in folders if name == VAULT_ROOT}
    return frozenset((b, f) for b, f, name in folders if (b, f) in roots and name.count(".") > 1)


def _wanted(document: Placed, vaults: frozenset[tuple[str, str]]) -> str:
    if document.published:
        return _shortened(page_path(document.published))
    folder, name = posixpath.split(document.path)
    if name == VAULT_ROOT and (document.below, folder) in vaults:
        return _shortened(posixpath.join(folder, HOME))
    return _shortened(page_path(document.path))


def twin_names(page: str) -> tuple[str, str]:
    """Return the names of the markdown beside a page: the page's own, and one that no folder has."""
    stem = page.removesuffix(".html")
    return f"{stem}.md", f"{stem}-{text_hash(page)[:8]}.md"


def twin_paths(pages: Iterable[str]) -> Mapping[str, str]:
    """Return the markdown file beside each page: its name ending in ``.md``, with a suffix if that is a
    folder's.
    """
    placed = sorted(pages)
    taken = {folded(folder) for page in placed for folder in folders_of(page)}
    twins: dict[str, str] = {}
    for page in placed:
        plain, hashed = twin_names(page)
        twins[page] = hashed if folded(plain) in taken else plain
    return twins


def words_script(language: str) -> str:
    """Return the script with the interface texts of a language that is not the site's own."""
    return f"{ASSETS}/words-{language.lower()}.js"


def file_path(path: str, digest: str, ending: str) -> str:
    """Return where the site keeps a file that documents name; another content has another name.

    Names are in lower case: two that differ only there would be one on some disks, unless they differ in
    content too.
    """
    stem = posixpath.splitext(posixpath.basename(path))[0]
    slug = "-".join("".join(c if c.isalnum() or c in "_-" else " " for c in folded(stem)).split())
    cut = slug.encode()[:MAX_FILE_STEM_BYTES].decode(errors="ignore")
    return f"{FILES}/{cut or 'file'}.{digest[:12]}.{ending}"


def root_of(page: str) -> str:
    """Return the path from a page to the top of the site: ``../`` for each folder, or ``./``."""
    return "../" * page.count("/") or "./"


def slug_pages(names: Iterable[str], folder: str) -> Mapping[str, str]:
    """Return a page below ``folder`` for each name (a tag), no two alike even if letter case is ignored."""
    taken = {folded(f"{folder}/index.html")}
    pages: dict[str, str] = {}
    for name in sorted(set(names)):
        stem = "-".join("".join(c if c.isalnum() or c in "_-" else " " for c in name).split())
        page = f"{folder}/{_shortened(stem or 'tag')}.html"
        if folded(page) in taken or not stem:
            page = f"{folder}/{_shortened(stem or 'tag')}-{text_hash(name)[:8]}.html"
        taken.add(folded(page))
        pages[name] = page
    return pages


def folded(path: str) -> str:
    """Return a path as a file system that ignores case and composition would compare it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


@lru_cache(maxsize=65536)
def encoded(path: str) -> str:
    """Return a path as it is written in an address: UTF-8, percent-encoded, slashes kept."""
    return quote(path, safe="/-._~")


def relative_href(source: str, target: str, fragment: str = "") -> str:
    """Return the address of page ``target`` as written in page ``source``, with any fragment given."""
    anchor = f"#{quote(fragment, safe='-._~')}" if fragment else ""
    if source == target:
        return anchor or encoded(posixpath.basename(target))
    here, there = _parts(source), _parts(target)
    shared, last = 0, min(len(here), len(there)) - 1
    while shared < last and here[shared] == there[shared]:
        shared += 1
    return "../" * (len(here) - 1 - shared) + encoded("/".join(there[shared:])) + anchor


def folder_href(source: str, target: str, fragment: str = "") -> str:
    """Return the same for a site whose pages are folders: without ``index.html``, but on generated lists."""
    path, sign, anchor = relative_href(source, target, fragment).partition("#")
    return (as_folder(path) or "./" if path and target[:1] != "_" else path) + sign + anchor


def as_folder(page: str) -> str:
    """Return the address of a page without the name of its file, where a server needs none."""
    folder, slash, name = page.rpartition("/")
    return folder + slash if name == HOME else page


def folder_pages(pages: Mapping[str, str]) -> Mapping[str, str]:
    """Return the pages, by id, as folders with an ``index.html``; a page whose folder is another's stays."""
    taken = {folded(page) for page in pages.values()} | set(map(folded, RESERVED))
    found: dict[str, str] = {}
    for name, page in pages.items():
        folder = page.removesuffix(".html")
        is_file = posixpath.basename(page) != HOME and page != NOT_FOUND
        free = taken.isdisjoint((folded(folder), folded(f"{folder}/{HOME}")))
        found[name] = f"{folder}/{HOME}" if is_file and free else page
    return found


@lru_cache(maxsize=65536)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))


def _precedence(document: Placed) -> tuple[str, int, str, str]:
    stem = posixpath.splitext(posixpath.basename(document.path))[0]
    # An index of the same folder goes before a root.
    rank = len(INDEX_NAMES) if stem == "root" else index_order(document.path)[0]
    return (document.below, rank, document.path, document.doc_id)


def _named(path: str) -> str:
    return f"{_short(posixpath.splitext(path)[0])}.html"


def folders_of(page: str) -> Iterable[str]:
    """Return the folders that a page lies in, from the top down."""
    parts = page.split("/")[:-1]
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _suffixed(page: str, path: str, blocked: set[str]) -> str:
    mark = text_hash(path)[:8]
    first, slash, rest = page.partition("/")
    if slash and folded(first) in blocked:
        return f"{first}-{mark}/{rest}"
    return f"{posixpath.splitext(page)[0]}-{mark}.html"


def _shortened(page: str) -> str:
    return "/".join(_short(part) for part in page.split("/"))


def _short(name: str) -> str:
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    stem, ending = posixpath.splitext(name)
    ending = ending if len(ending) <= 8 else ""
    cut = stem.encode()[: MAX_NAME_BYTES - 20].decode(errors="ignore")
    return f"{cut}-{text_hash(name)[:8]}{ending}"
