"""What a site needs to be read offline: a service worker, a page for anything not cached, a web manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .. import urls
from ..assets import bundle
from ..features import own_names
from ..incremental.columns import digest
from ..outline.plan import SitePage, SitePlan
from .frame import direction, frame_of

MANIFEST = "manifest.webmanifest"


def offline_files(plan: SitePlan, shared: bytes) -> Iterator[SitePage]:
    """Yield the files, if the settings ask for them.

    ``shared`` stands for everything that all pages of the site are made with.
    """
    if not plan.settings.offline:
        return
    yield _no_network(plan)
    # A service worker's location decides what it may answer: the site, and nothing else.
    yield SitePage(urls.SERVICE_WORKER, _worker(plan, shared))
    if MANIFEST not in own_names(plan.settings.templates):
        yield SitePage(f"{urls.ASSETS}/{MANIFEST}", _manifest(plan))


def _no_network(plan: SitePlan) -> SitePage:
    title = plan.theme.words.say("offline_title")
    frame = frame_of(plan, urls.NO_NETWORK, title, plan.settings.description)
    return SitePage(urls.NO_NETWORK, plan.theme.render("offline.html", {"frame": frame}))


def _worker(plan: SitePlan, shared: bytes) -> bytes:
    """Return the script, named after the build so that browsers notice a new one."""
    build = digest(shared, plan.library.snapshot_id.encode()).hex()
    return f"// {build}\n".encode() + bundle("worker")


def _manifest(plan: SitePlan) -> bytes:
    """Return the web manifest, with addresses relative to itself."""
    settings = plan.settings
    stated = {
        "name": plan.title,
        "description": settings.description,
        "lang": settings.language,
        "dir": direction(settings.language),
        "start_url": "../index.html",
        "scope": "../",
        "display": "minimal-ui",
        "icons": [{"src": "icon.svg", "type": "image/svg+xml", "sizes": "any"}],
    }
    shown = {key: value for key, value in stated.items() if value}
    return f"{json.dumps(shown, ensure_ascii=False, indent=2)}\n".encode()
