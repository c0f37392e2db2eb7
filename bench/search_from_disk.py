"""Searches in a site that is opened from a disk, as people type them: files, bytes and milliseconds.

``python -m bench.search_from_disk SITE QUERY …``, where ``SITE`` is the folder of a site.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from selenium import webdriver

from bench.browser_pages import chromium
from bench.typed_search import KEY_MS, NOCTULE_HOOKS, TYPE

_SENT = "Network.requestWillBeSent"


def measure(site: Path, queries: Sequence[str]) -> None:
    """Print for each query what it reads, typed into the first page of the site with an empty cache."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch,
        chromium(Path(scratch), ("--window-size=1440,900",), logs_requests=True) as driver,
    ):
        for query in queries:
            driver.execute_cdp_cmd("Network.clearBrowserCache", {})
            driver.get((site / "index.html").as_uri())
            _read(driver)
            driver.execute_script(NOCTULE_HOOKS)
            found: dict[str, Any] = driver.execute_async_script(TYPE, query, KEY_MS)
            if "error" in found:
                raise RuntimeError(f"typing {query!r} failed in the browser: {found['error']}")
            read = _read(driver)
            size = sum(path.stat().st_size for path in read) / 1e3
            manifest = sum(path.stat().st_size for path in read if path.stem == "manifest") / 1e3
            hits = driver.execute_script("return document.querySelectorAll('#SearchList a').length")
            print(
                f"{query}: {hits} hits, {len(read)} files of {size:.0f} KB, the manifest {manifest:.0f}, "
                f"{found['first']:.0f} ms to the first hits, {found['rest']:.0f} ms to the answer at rest",
                flush=True,
            )


def _read(driver: webdriver.Chrome) -> list[Path]:
    """Return the files that the page has read since the last call, in order."""
    log = driver.get_log("performance")  # type: ignore[no-untyped-call]
    events = (json.loads(entry["message"])["message"] for entry in log)
    sent = (each["params"]["request"]["url"] for each in events if each["method"] == _SENT)
    return [Path(unquote(urlsplit(address).path)) for address in sent if address.startswith("file:")]


if __name__ == "__main__":
    measure(Path(sys.argv[1]).resolve(), sys.argv[2:])
