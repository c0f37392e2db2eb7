"""The pictures of README.md: a page of the demo's site, and its dialog with the answer to a question.

make pictures      (after make demo; needs chromium and chromedriver)

Both are WebP of at most 200 KB, in ``docs/pictures/``.
"""

from __future__ import annotations

import argparse
import base64
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from bench.browser_pages import chromium
from bench.static_server import served

PAGE, QUESTION = "store/rollback-and-prune.html", "how do I undo a bad night"
WIDTH, HEIGHT, MOST_BYTES = 1280, 760, 200_000


def main() -> None:
    """Take both pictures; raise ``SystemExit`` if one is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="the folder that make demo built")
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as driver:
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        scheme = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
        with served(given.site) as server:
            driver.get(f"{server.address}{PAGE}")
            _take(driver, given.out / "page.webp")
            _ask(driver)
            _take(driver, given.out / "dialog.webp")


def _ask(driver: webdriver.Chrome) -> None:
    """Type the question into the dialog and wait until its hits have their excerpts."""
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "k")
    wait = WebDriverWait(driver, 60, poll_frequency=0.1)
    field = wait.until(lambda _: driver.find_element(By.CSS_SELECTOR, "dialog[open] input"))
    field.send_keys(QUESTION)
    wait.until(lambda _: len(driver.find_elements(By.CSS_SELECTOR, "dialog[open] mark")) > 2)
    calm = "return new Promise(done => setTimeout(done, 1500))"
    driver.execute_script(calm)


def _take(driver: webdriver.Chrome, path: Path) -> None:
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 90})
    content = base64.b64decode(shot["data"])
    if len(content) > MOST_BYTES:
        raise SystemExit(f"{path} would have {len(content):,} bytes, more than {MOST_BYTES:,}")
    path.write_bytes(content)
    print(f"{path}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
