"""Pages as a browser gets them: bytes of a first load, layout shift, and what axe finds, on whole sites.

``$NOCTULE_BENCH_SITES`` names folders of sites, separated by colons; without it, the sites of three corpora
are built. ``$NOCTULE_BENCH_PAGES`` is the number of pages of each, taken at equal distances: 30 by default.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

from selenium import webdriver

from bench.browser_pages import chromium
from bench.children import run
from bench.corpora import cache_folder, corpus
from bench.static_server import StaticServer, served

CORPORA = {"fastapi-site": "docs/en/docs", "rust-book-site": "src", "foam-site": "docs"}
MAX_KB = 40
# The window of a desktop and of a phone.
WINDOWS = ((1440, 900), (360, 800))
_FIRST_LOAD = (".html", ".css", ".js", "/")
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_SHIFT = """window.__shift = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.__shift += entry.value; }))
  .observe({ type: "layout-shift", buffered: true });"""
_AXE = """const [tags, done] = arguments;
axe.run(document, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] }).then(
  (found) => done(found.violations.map((each) => `${each.id}: ${each.nodes[0].target.join(" ")}`)),
  (error) => done(["axe failed: " + error]));"""


@dataclass(frozen=True, slots=True)
class Page:
    """One page in one window: kilobytes of HTML, styles and scripts, its shift, and violations of rules."""

    path: str
    width: int
    kilobytes: float
    shift: float
    violations: tuple[str, ...]


def measure() -> None:
    """Print for each site the bytes, shifts and violations of its pages, the worst by name."""
    count = int(os.environ.get("NOCTULE_BENCH_PAGES", "30"))
    for name, site in _sites().items():
        _print(name, list(measured(site, _chosen(site, count))))


def _sites() -> Mapping[str, Path]:
    if given := os.environ.get("NOCTULE_BENCH_SITES", ""):
        return {path: Path(path).resolve() for path in given.split(":")}
    return {name: _built(name, CORPORA[name]) for name in CORPORA}


def _built(name: str, below: str) -> Path:
    """Return the site of a corpus, built by the command line as its readers would."""
    folder = cache_folder() / f"pages-{name}"
    noctule = [sys.executable, "-m", "noctule"]
    store = ["--store", str(folder / "store"), "--no-prefect"]
    run([*noctule, "index", str(corpus(name) / below), *store], {})
    run([*noctule, "site", "--out", str(folder / "site"), *store], {})
    return folder / "site"


def _chosen(site: Path, count: int) -> Sequence[str]:
    """Return the first page and others at equal distances, generated ones among them."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return sorted({"index.html", *(pages[at * len(pages) // count] for at in range(min(count, len(pages))))})


def measured(site: Path, pages: Sequence[str]) -> Iterator[Page]:
    """Yield what a reader with an empty cache gets of each page, in each window."""
    axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    with tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as driver, served(site) as server:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _SHIFT})
        for width, height in WINDOWS:
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            for page in pages:
                yield _one(driver, server, page, width, axe)


def _one(driver: webdriver.Chrome, server: StaticServer, page: str, width: int, axe: str) -> Page:
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    server.taken()
    driver.get(server.address + page)
    _settled(driver)
    sent = [each for each in server.taken() if each.path.split("?")[0].endswith(_FIRST_LOAD)]
    shift = float(driver.execute_script("return window.__shift"))
    driver.execute_script(axe)
    found: list[Any] = driver.execute_async_script(_AXE, _RULES)
    kilobytes = sum(each.size for each in sent) / 1024
    return Page(page, width, kilobytes, shift, tuple(map(str, found)))


def _settled(driver: webdriver.Chrome) -> None:
    """Scroll through the page, as late images and scripts move text further down too."""
    driver.execute_async_script(
        "const done = arguments[0]; setTimeout(() => { window.scrollTo(0, document.body.scrollHeight);"
        " setTimeout(() => { window.scrollTo(0, 0); setTimeout(done, 60); }, 120); }, 120);"
    )


def _print(name: str, pages: Sequence[Page]) -> None:
    kilobytes = [page.kilobytes for page in pages]
    over = sum(size > MAX_KB for size in kilobytes)
    print(f"{name}: {len(pages)} loads of pages")
    print(f"  KB without images: median {median(kilobytes):.1f}, most {max(kilobytes):.1f}")
    print(f"  {over} over {MAX_KB} KB")
    for page in sorted(pages, key=lambda each: -each.kilobytes)[:3]:
        print(f"    {page.kilobytes:6.1f} {page.path} at {page.width}")
    moved = [page for page in pages if page.shift > 0]
    print(f"  layout shift: {len(moved)} loads, most {max(page.shift for page in pages):.4f}")
    for page in sorted(moved, key=lambda each: -each.shift)[:5]:
        print(f"    {page.shift:.4f} {page.path} at {page.width}")
    rules = Counter(each.split(":")[0] for page in pages for each in page.violations)
    print(f"  axe: {sum(bool(page.violations) for page in pages)} loads with violations {dict(rules)}")
    for page in [page for page in pages if page.violations][:8]:
        print(f"    {page.path} at {page.width}: {page.violations[0]}")
