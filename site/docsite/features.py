"""Decides which features a site has, from its documents, the settings, and the owner's own files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..pipeline.settings.site import OtherSite, Site, Version
from .appearance import Appearance, Icon, Logo
from .library import CommunityRow, Entry

OWN_ENDINGS = (
    ".css", ".js", ".svg", ".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".ico", ".woff", ".woff2",
    ".webmanifest",
)  # fmt: skip
CUSTOM_STYLE, CUSTOM_SCRIPT, MERMAID = "custom.css", "custom.js", "mermaid.js"
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


@dataclass(frozen=True, slots=True)
class Features:
    """Which features the site has, and the owner's own files in it."""

    tags: bool
    topics: bool
    map: bool
    search: bool
    feed: bool
    report: bool
    offline: bool
    versions: tuple[Version, ...]
    custom_style: bool
    custom_script: bool
    mermaid: bool
    version: str
    logo: Logo | None
    icon: Icon
    blogs: tuple[tuple[str, str], ...]
    folders: bool
    cards: str
    also: tuple[OtherSite, ...]
    events: str
    event_queries: bool

    def other_sites(self) -> str:
        """Return the other sites that the search asks, as JSON."""
        return json.dumps([{"label": each.label, "url": each.url} for each in self.also], ensure_ascii=False)

    def other_origins(self) -> str:
        """Return the other origins whose scripts pages may load, each after a space."""
        origins = {
            "{0.scheme}://{0.netloc}".format(urlsplit(each.url)) for each in self.also if ":" in each.url
        }
        return "".join(f" {origin}" for origin in sorted(origins))


def features_of(
    settings: Site,
    entries: Sequence[Entry],
    tags: bool,
    topics: Sequence[CommunityRow],
    appearance: Appearance,
    blogs: tuple[tuple[str, str], ...],
    cards: str,
) -> Features:
    """Return the features of the site that shows these documents."""
    own = own_names(settings.templates)
    dated = any(DATE.match(entry.modified) for entry in entries if entry.shown.listed)
    return Features(
        tags=tags,
        topics=bool(topics),
        map=len(topics) > 1,
        search=settings.search,
        # Addresses in a feed are absolute: a reader opens it far from the site.
        feed=settings.feed > 0 and bool(settings.base_url) and dated,
        report=settings.report,
        offline=settings.offline,
        versions=settings.versions,
        also=settings.also if settings.search else (),
        custom_style=CUSTOM_STYLE in own,
        custom_script=CUSTOM_SCRIPT in own,
        mermaid=bool(settings.mermaid),
        version=settings.version,
        logo=appearance.logo,
        icon=appearance.icon,
        blogs=blogs,
        folders=settings.clean_urls,
        cards=cards,
        events=settings.events if settings.search else "",
        event_queries=settings.event_queries,
    )


def own_names(folder: str) -> frozenset[str]:
    """Return the names of files in the owner's folder that go beside the pages."""
    if not folder or not Path(folder).is_dir():
        return frozenset()
    paths = Path(folder).iterdir()
    return frozenset(path.name for path in paths if path.suffix.lower() in OWN_ENDINGS and path.is_file())
