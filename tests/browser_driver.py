"""A real Chromium for the tests of pages, and a server below a sub-path."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.repetitions import ALL

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
REQUIRED = os.environ.get("NOCTULE_REQUIRE_BROWSER") == "1"
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and not REQUIRED, reason="needs chromium and chromedriver on the PATH"
)
# Where a site is read: from a disk alone, but for what a browser treats otherwise there (scripts, storage,
# the clipboard, addresses), which has the mark; ``make torture`` runs every test in both places.
PLACES = ["file", "http"] if ALL else ["file"]
anywhere = pytest.mark.parametrize("base", ["file", "http"], indirect=True)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
]


class _Chromium(webdriver.Chrome):
    """A browser whose ``get`` ends when the new page has run its scripts.

    Under load the driver may take the page before for the new one, whose loading has not begun.
    """

    def get(self, url: str) -> None:
        here, _, _ = self.current_url.partition("#")
        if url.partition("#")[0] == here and "#" in url:
            super().get(url)
            return
        self.execute_script("window.noctuleIsLeft = true")
        super().get(url)
        loaded = "return document.readyState === 'complete' && !window.noctuleIsLeft"
        WebDriverWait(self, 20, poll_frequency=0.01).until(lambda _: self.execute_script(loaded))


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # a page asks for more files at once than the five that wait by default


@contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """A browser whose console and requests are logged."""
    if not (CHROMIUM and DRIVER):
        pytest.fail("NOCTULE_REQUIRE_BROWSER=1, but chromium or chromedriver is not on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = _Chromium(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


class _Quiet(SimpleHTTPRequestHandler):
    def __init__(self, *args: Any, gone: threading.Event, **rest: Any) -> None:
        self._gone = gone
        super().__init__(*args, **rest)

    def do_GET(self) -> None:
        if not self._gone.is_set():  # else the connection ends without a word, as that to a server that died
            super().do_GET()

    def log_message(self, format: str, *args: object) -> None:
        return


@contextmanager
def served(folder: Path, gone: threading.Event | None = None) -> Iterator[str]:
    """The address of the folder on a server of this machine, which answers nothing while ``gone`` is set."""
    handler = partial(_Quiet, directory=str(folder), gone=gone or threading.Event())
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def resize(browser: webdriver.Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(browser: webdriver.Chrome, scheme: str, motion: str = "reduce") -> None:
    # Smooth scrolling moves targets away under a click.
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": motion},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
