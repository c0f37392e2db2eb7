"""Former addresses of a site, as its settings name them, and where each leads in the end."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import unquote

from ..settings.site import Site
from .published import path_stem

# Where Docusaurus publishes its documents, and redirects name them.
_BELOW = "docs"


@dataclass(frozen=True, slots=True)
class Redirects:
    """Redirects as they were written, by the path that an address shares with its other spellings."""

    targets: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    base_url: str = ""

    def steps(self, collection: str, source: str, target: str) -> Iterator[str]:
        """Yield where a link in the document at ``source`` leads, one redirect after the other, in no circle.

        Of several collections, those of a site lie in folders of their names.
        """
        path = posixpath.normpath(posixpath.join("/", posixpath.dirname(source), target)).strip("/")
        spelled = (path, posixpath.join(_BELOW, path), posixpath.join(collection, path))
        key = next((name for each in spelled if (name := _key(each)) in self.targets), "")
        seen = set[str]()
        while key in self.targets and key not in seen:
            seen.add(key)
            yield self.targets[key]
            key = _key(self.path(self.targets[key]))

    def path(self, address: str) -> str:
        """Return the path of an address of the site, from its top."""
        return unquote(address.removeprefix(self.base_url).partition("?")[0].partition("#")[0]).strip("/ ")

    def is_own(self, address: str) -> bool:
        """Return whether an address with a scheme is one of the site."""
        return bool(self.base_url) and f"{address}/".startswith(f"{self.base_url}/")


NO_REDIRECTS = Redirects()


def redirects_of(settings: Site) -> Redirects:
    """Return the redirects that the settings of a site name."""
    named = Redirects({}, settings.base_url.rstrip("/"))
    return replace(named, targets={_key(named.path(old)): new for old, new in settings.redirects.items()})


def _key(path: str) -> str:
    return path_stem(posixpath.normpath(f"/{path}").strip("/")).lower()
