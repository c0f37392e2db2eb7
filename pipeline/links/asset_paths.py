"""The files besides documents that links can name, in every spelling that people's tools understand."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

# Where Hugo, Docusaurus, VitePress and their kin keep what addresses name from the site's root.
_STATIC = ("static", "public")
# Astro's folder of images beside that of the pages, and the names that its sites give the way there.
_ASSETS = "assets"
_ALIAS = re.compile(r"(?:[~@]/|@|[~@]/src/)assets/")

# Sphinx chooses the image that suits its output, of those for pages in this order.
_ANY_ENDING, _IMAGES = ".*", (".svg", ".png", ".webp", ".gif", ".jpg", ".jpeg")


class AssetPaths:
    """The paths of one collection's assets."""

    def __init__(self, paths: Iterable[str], base_url: str = "") -> None:
        shallow = sorted(paths, key=lambda path: (path.count("/"), path))
        self._paths = frozenset(shallow)
        self._by_case: dict[str, str] = {}
        self._by_name: dict[str, str] = {}
        for path in shallow:
            self._by_case.setdefault(path.lower(), path)
            self._by_name.setdefault(posixpath.basename(path).lower(), path)
        self._base_url, self._base_path = base_url.rstrip("/"), urlsplit(base_url).path.rstrip("/")

    def find(self, source: str, target: str, *, by_name: bool) -> str | None:
        """Return the asset that the document at ``source`` names ``target``, without its fragment.

        The path is relative to the document, or from the collection's root, or from a folder between the two;
        with ``by_name`` the file may be anywhere, and of several that nearest the root is meant. Letter case
        matters only where it tells two files apart.
        """
        if not self._paths or not target:
            return None
        if self._base_url and target.startswith(f"{self._base_url}/"):
            target = target.removeprefix(self._base_url)
        for spelling in _spellings(target):
            for path in self._candidates(source, spelling):
                if found := self._at(path):
                    return found
            if by_name and (found := self._by_name.get(posixpath.basename(spelling).lower())):
                return found
        return None

    def _at(self, path: str) -> str | None:
        path = posixpath.normpath(path)
        if path.endswith(_ANY_ENDING):
            stem = path.removesuffix(_ANY_ENDING)
            return next((each for ending in _IMAGES if (each := f"{stem}{ending}") in self._paths), None)
        return path if path in self._paths else self._by_case.get(path.lower())

    def _candidates(self, source: str, target: str) -> Iterator[str]:
        folder = posixpath.dirname(source)
        if not target.startswith("/"):
            yield posixpath.join(folder, target)
            yield target
            yield f"static/{target}"  # a resource of Hugo's, which begins at the top of its assets
            # As the page's address is a folder where the site has clean URLs, raw HTML is written for that.
            yield posixpath.join(posixpath.splitext(source)[0], target)
            # A folder beside the root, whose files are as if they lay in it.
            outside = posixpath.normpath(posixpath.join(folder, target))
            top, _, rest = outside.lstrip("./").partition("/")
            if outside.startswith("../") and top in (*_STATIC, _ASSETS):
                yield f"static/{rest}"
            if aliased := _ALIAS.match(target):
                yield f"static/{target[aliased.end() :]}"
            return
        if self._base_path and target.startswith(f"{self._base_path}/"):
            yield target.removeprefix(self._base_path).lstrip("/")
        parts = folder.split("/") if folder else []
        for depth in range(len(parts) + 1):
            above = "/".join(parts[:depth])
            for static in ("", *_STATIC):
                yield posixpath.join(above, static, target.lstrip("/"))


def _spellings(target: str) -> Iterator[str]:
    """Yield the target as written, without its query, and with percent-encoding undone."""
    plain = target.partition("?")[0]
    for spelling in dict.fromkeys((target, plain, unquote(plain))):
        yield unicodedata.normalize("NFC", spelling.strip())
