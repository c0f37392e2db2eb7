"""The sitemap for search engines; a site too large for one file has several, and an index of them."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from .. import urls
from ..features import DATE
from ..outline.plan import SitePage, SitePlan

# The protocol allows no more in one file.
ADDRESSES_PER_FILE = 50_000
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def sitemap_files(plan: SitePlan) -> Iterator[SitePage]:
    """Yield ``sitemap.xml``.

    Addresses are absolute, as the protocol requires, if the settings give a base, and relative otherwise.
    """
    base = f"{plan.settings.base_url.rstrip('/')}/" if plan.settings.base_url else ""
    lines = (
        []
        if urls.HOME in plan.by_page
        else [f"<url><loc>{escape(base + plan.library.address(urls.HOME))}</loc></url>"]
    )
    lines += [_line(plan, base, page) for page in plan.tree.pages if plan.by_page[page].shown.in_sitemap]
    if len(lines) <= ADDRESSES_PER_FILE:
        yield _file("sitemap.xml", "urlset", lines)
        return
    names = []
    for number, start in enumerate(range(0, len(lines), ADDRESSES_PER_FILE), start=1):
        names.append(f"sitemap-{number}.xml")
        yield _file(names[-1], "urlset", lines[start : start + ADDRESSES_PER_FILE])
    index = [f"<sitemap><loc>{escape(base + name)}</loc></sitemap>" for name in names]
    yield _file("sitemap.xml", "sitemapindex", index)


def _line(plan: SitePlan, base: str, page: str) -> str:
    modified = plan.by_page[page].modified
    changed = f"<lastmod>{modified}</lastmod>" if DATE.match(modified) else ""
    return f"<url><loc>{escape(base + plan.library.address(page))}</loc>{changed}</url>"


def _file(name: str, root: str, lines: list[str]) -> SitePage:
    opening = f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{_NAMESPACE}">'
    return SitePage(name, "\n".join([opening, *lines, f"</{root}>", ""]).encode())
