"""Pages at former addresses, which lead a browser on, also from disk; and the same for hosts to read."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from ...pipeline.printable import is_printable
from .. import urls
from ..outline.plan import SitePage, SitePlan
from ..placement import MAX_PATH_BYTES, served_file

MAX_REDIRECTS = 20_000
_MAX_STEPS = 20
_SHOWN = 5
_WEB = ("https://", "http://")
_SAFE = "/:@!$&'()*+,;=~-._?#%[]"
_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class Redirect:
    """A file of the site, and the page or the address elsewhere that it leads to, with any fragment."""

    source: str
    target: str
    fragment: str = ""


def redirect_files(plan: SitePlan) -> Iterator[SitePage]:
    """Yield a page for every former address, and the file ``_redirects``; remarks go to the log."""
    found, remarks = redirects_of(plan)
    for remark in remarks[:_SHOWN]:
        _log.warning("redirects: %s", remark)
    if len(remarks) > _SHOWN:
        _log.warning("redirects: and %s more of this kind", f"{len(remarks) - _SHOWN:,}")
    for each in found:
        yield SitePage(each.source, plan.theme.render("redirect.html", _context(plan, each)))
    if found:
        lines = "".join(f"{_rooted(plan, each.source)} {_there(plan, each)} 301\n" for each in found)
        yield SitePage(urls.REDIRECTS, lines.encode())


def redirects_of(plan: SitePlan) -> tuple[list[Redirect], list[str]]:
    """Return the redirects in order of their addresses, and what is wrong with the others."""
    remarks: list[str] = []
    wanted = _wanted(plan, remarks)
    finder = _Finder(plan, wanted)
    found = []
    for source in sorted(wanted):
        redirect = finder.follow(source)
        if isinstance(redirect, str):
            remarks.append(redirect)
        else:
            found.append(redirect)
    return found, remarks


def _wanted(plan: SitePlan, remarks: list[str]) -> Mapping[str, str]:
    """Return the files to be made at former addresses, and where each leads as it was written."""
    wanted: dict[str, str] = {}
    taken = {urls.folded(page) for page in (*plan.tree.pages, urls.HOME)}
    folders = {urls.folded(folder) for page in plan.tree.pages for folder in urls.folders_of(page)}
    blocked = {urls.folded(name) for name in urls.RESERVED}
    for old, new in _stated(plan):
        source = _file(plan, old)
        name = urls.folded(source)
        if not source or name.split("/", 1)[0] in blocked or name in folders:
            remarks.append(f"{old!r:.200} cannot be an address of this site")
        elif name in taken:
            remarks.append(f"{old!r:.200} is the address of a page or of another redirect")
        elif len(wanted) < MAX_REDIRECTS:
            taken.add(name)
            folders.update(map(urls.folded, urls.folders_of(source)))
            wanted[source] = new
    return wanted


def _stated(plan: SitePlan) -> Iterator[tuple[str, str]]:
    yield from sorted(plan.settings.redirects.items())
    for entry in plan.library.entries:
        if entry.page == urls.HOME and (own := urls.page_path(entry.path)) != urls.HOME:
            yield f"/{own}", "/"
        if entry.place and entry.place != entry.page:  # the other form of its address
            yield f"/{entry.place}", f"/{entry.page}"
        folder = posixpath.dirname(entry.place or entry.page)
        for old in entry.placement.former:
            yield (old if old.startswith("/") else posixpath.join("/", folder, old)), f"/{entry.page}"
        if entry.placement.moved_to:
            yield f"/{entry.page}", entry.placement.moved_to


def _file(plan: SitePlan, address: str) -> str:
    """Return the file that a server shows at an address of this site; empty for one that has none."""
    path = unquote(_below_base(plan, address)).strip()
    if "#" in address or "?" in address or not is_printable(path) or "\\" in path:
        return ""
    clean = posixpath.normpath(path.lstrip("/") or ".")
    too_long = len(clean.encode()) > MAX_PATH_BYTES or any(len(p.encode()) > 200 for p in clean.split("/"))
    if clean.startswith("..") or clean == "." or too_long:
        return ""
    return served_file(clean)


def _below_base(plan: SitePlan, address: str) -> str:
    base = plan.settings.base_url.rstrip("/")
    return address.removeprefix(base) if base else address


class _Finder:
    """Finds where redirects end."""

    def __init__(self, plan: SitePlan, wanted: Mapping[str, str]) -> None:
        self._plan, self._wanted = plan, wanted
        self._pages = set(plan.tree.pages) | {urls.HOME}
        self._documents = {entry.path: entry.page for entry in plan.library.entries}

    def follow(self, source: str) -> Redirect | str:
        """Return the redirect from this file to what is no redirect, or the reason why there is none."""
        at, seen = source, {source}
        for _ in range(_MAX_STEPS):
            target = self._wanted[at]
            if target.startswith(_WEB) and not self._is_own(target):
                return Redirect(source, quote(target, safe=_SAFE))
            path, _, fragment = target.partition("#")
            page = self._page(path, at)
            if page is None:
                return f"{source} leads to {target!r:.200}, which is no page"
            if page in self._pages:
                return Redirect(source, page, fragment)
            if page in seen:
                break
            seen.add(page)
            at = page
        return f"{source} leads in a circle"

    def _is_own(self, target: str) -> bool:
        base = self._plan.settings.base_url.rstrip("/")
        return bool(base) and (target == base or target.startswith(f"{base}/"))

    def _page(self, path: str, source: str) -> str | None:
        """Return the page or the redirect at a path from the top, or from the folder of ``source``."""
        path = _below_base(self._plan, path)
        if path in ("/", ""):
            return urls.HOME
        from_here = posixpath.join("/", posixpath.dirname(source), path)
        for each in (path, from_here):
            plain = posixpath.normpath(unquote(each).lstrip("/"))
            spelled = (f"{plain}.html", f"{plain}/{urls.HOME}")  # "geojson/" may be what geojson.html became
            known = (self._documents.get(plain), plain, *(spelled[::-1] if path.endswith("/") else spelled))
            for page in filter(None, known):
                if page in self._pages or page in self._wanted:
                    return page
        return None


def _context(plan: SitePlan, redirect: Redirect) -> dict[str, object]:
    is_page = not redirect.target.startswith(_WEB)
    href = redirect.target
    if is_page:
        href = urls.relative_href(redirect.source, redirect.target, redirect.fragment)
    base = plan.settings.base_url.rstrip("/")
    canonical = f"{base}/{plan.library.address(redirect.target)}" if is_page and base else href
    return {
        "href": href,
        "top": "../" * redirect.source.count("/"),
        "canonical": canonical,
        "language": plan.settings.language,
        "site_title": plan.title,
    }


def _rooted(plan: SitePlan, path: str) -> str:
    root = urlsplit(plan.settings.base_url).path.rstrip("/")
    return f"{root}/{urls.encoded(path.removesuffix(urls.HOME).rstrip('/') if '/' in path else path)}"


def _there(plan: SitePlan, redirect: Redirect) -> str:
    if redirect.target.startswith(_WEB):
        return redirect.target
    root = urlsplit(plan.settings.base_url).path.rstrip("/")
    anchor = f"#{urls.encoded(redirect.fragment)}" if redirect.fragment else ""
    return f"{root}/{plan.library.address(redirect.target)}{anchor}"
