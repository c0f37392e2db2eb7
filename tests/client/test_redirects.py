"""A former address leads on with the fragment of the link, from a server and from disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

from noctule.docsite.build import build_site
from noctule.pipeline.settings.site import Site
from tests.browser_driver import needs_browser, served
from tests.site_builder import snapshot_of

pytestmark = needs_browser
TEXTS = {"index.md": "# Home\n", "b.md": "# B\n\n## Part\n\nOwls.\n\n## Other\n\nBats.\n"}
REDIRECTS = {"old/a.html": "b.md", "old/named.html": "b.html#other"}


@pytest.mark.parametrize(
    ("asked", "reached"),
    [
        ("old/a.html#part", "b.html#part"),
        ("old/a.html", "b.html"),
        ("old/named.html#part", "b.html#other"),
    ],
)
def test_the_fragment_is_kept(browser: webdriver.Chrome, tmp_path: Path, asked: str, reached: str) -> None:
    build_site(snapshot_of({"docs": TEXTS}), tmp_path / "site", Site(redirects=REDIRECTS))
    with served(tmp_path / "site") as address:
        for base in (address, f"{(tmp_path / 'site').as_uri()}/"):
            browser.get(f"{base}{asked}")
            WebDriverWait(browser, 20).until(lambda at, to=f"{base}{reached}": at.current_url == to)
