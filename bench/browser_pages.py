"""Searches in Chromium, with traffic counted by the server: cold, the next one, and warm."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium import webdriver

from bench.static_server import Sent, StaticServer

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
NOCTULE_PAGE = """<!doctype html><meta charset="utf-8"><title>search</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="_assets/dialog.css"><link rel="preload" as="script" href="_assets/dialog.js">
<script src="_search/engine.js"></script>
<script>window.ask = async (query) => {
  window.engine = window.engine || await noctule.open({ base: "_search/" });
  const answer = await engine.search(query, { limit: 10 });
  return { urls: answer.hits.map((hit) => hit.url), ms: answer.took.ms };
};</script>"""
PAGEFIND_PAGE = """<!doctype html><meta charset="utf-8"><title>search</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="pagefind/pagefind-ui.css">
<link rel="preload" as="script" href="pagefind/pagefind-ui.js">
<script type="module">window.ask = async (query) => {
  const start = performance.now();
  window.engine = window.engine || await import("./pagefind/pagefind.js");
  const found = await engine.search(query);
  const shown = await Promise.all(found.results.slice(0, 10).map((each) => each.data()));
  return { urls: shown.map((each) => each.url), ms: performance.now() - start };
};</script>"""
_ASK = """const [query, done] = arguments;
const failed = (error) => done({ error: String(error.stack || error) });
const ready = () => window.ask ? window.ask(query).then(done, failed) : setTimeout(ready, 5);
ready();"""


@dataclass(frozen=True, slots=True)
class Asked:
    """The results of a query: ten addresses, costs of the first and second search, warm milliseconds."""

    query: str
    urls: tuple[str, ...]
    first: tuple[Sent, ...]
    following: tuple[Sent, ...]
    warm_ms: float


@contextmanager
def chromium(
    profile: Path, more: Sequence[str] = (), *, logs_requests: bool = False
) -> Iterator[webdriver.Chrome]:
    """Start a headless browser with a new profile."""
    options = webdriver.ChromeOptions()
    if logs_requests:
        options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*FLAGS, *more, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(120)
    try:
        yield driver
    finally:
        driver.quit()


def asked(driver: webdriver.Chrome, server: StaticServer, page: str, queries: Sequence[str]) -> list[Asked]:
    """Run every query as the first of a reader with an empty cache, followed by the next query."""
    cold: list[tuple[dict[str, Any], list[Sent], list[Sent]]] = []
    for at, query in enumerate(queries):
        driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        server.taken()
        driver.get(server.address + page)
        found = _answer(driver, query)
        first = server.taken()
        _answer(driver, queries[(at + 1) % len(queries)])
        cold.append((found, first, server.taken()))
    for query in queries:
        _answer(driver, query)
    warm = [float(_answer(driver, query)["ms"]) for query in queries]
    return [
        Asked(query, tuple(found["urls"]), tuple(first), tuple(following), ms)
        for query, (found, first, following), ms in zip(queries, cold, warm, strict=True)
    ]


def _answer(driver: webdriver.Chrome, query: str) -> dict[str, Any]:
    found: dict[str, Any] = driver.execute_async_script(_ASK, query)
    if "error" in found:
        raise RuntimeError(f"the search for {query!r} failed in the browser: {found['error']}")
    return found
