"""Searches as people type them: a key every 80 ms into the dialog, everything counted at the server.

From the opening of the dialog to the results, with an empty cache: bytes, requests, and the milliseconds from
the last key to the first hits and to the answer at rest, without a limit and as on a fast 3G network.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from selenium import webdriver

from bench.browser_pages import chromium
from bench.http2_server import served_by_http2
from bench.static_server import Sent, StaticServer

NETWORKS: Mapping[str, Mapping[str, float]] = {
    "no limit": {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
    "fast 3G": {"latency": 150, "downloadThroughput": 1_400_000 / 8, "uploadThroughput": 675_000 / 8},
}
NOCTULE_HOOKS = """
window.openSearch = () => document.querySelector("[data-search]").click();
window.field = () => document.querySelector("dialog[open] #SearchInput");
document.addEventListener("noctule:search", (event) => { window.rested = event.detail.query; });
window.hits = (query) => new URLSearchParams(location.search).get("q") === query &&
  document.querySelectorAll("#SearchList a").length > 0;
window.atRest = (query) => window.rested === query;
"""
NOCTULE_TYPED = (
    """<!doctype html><html lang="en" data-root="./"><meta charset="utf-8"><title>typed</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<link rel="stylesheet" href="_assets/style.css">
<script src="_assets/theme.js"></script><script src="_assets/page.js" defer></script>
<body><header class="site-header" lang="en"><a href="#" data-search>Search</a>
<button data-theme-toggle hidden>Theme</button></header><main id="Content"></main>
<script>"""
    + NOCTULE_HOOKS
    + "</script>"
)
PAGEFIND_TYPED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>typed</title>
<link rel="icon" href="data:,"><body><div id="search"></div>
<script>
window.openSearch = () => {
  document.head.append(Object.assign(document.createElement("link"),
    { rel: "stylesheet", href: "pagefind/pagefind-ui.css" }));
  const script = Object.assign(document.createElement("script"), { src: "pagefind/pagefind-ui.js" });
  script.onload = () => { new PagefindUI({ element: "#search", autofocus: true, showImages: false }); };
  document.head.append(script);
};
window.field = () => document.querySelector(".pagefind-ui__search-input");
window.hits = (query) => {
  const said = document.querySelector(".pagefind-ui__message");
  return !!said && said.textContent.includes(query) && (/^No results/.test(said.textContent.trim()) ||
    !!document.querySelector(".pagefind-ui__result-link[href]"));
};
window.atRest = (query) => window.hits(query) && !document.querySelector("[data-pfmod-loading]") &&
  [...document.querySelectorAll(".pagefind-ui__result")].every((each) => each.querySelector("a[href]"));
</script>"""
TYPE = """const [query, pause, done] = arguments;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
(async () => {
  openSearch();
  while (!window.field()) await wait(5);
  const field = window.field();
  field.focus();
  let last = 0;
  for (let end = 1; end <= query.length; end++) {
    const next = performance.now() + pause;
    field.value = query.slice(0, end);
    field.dispatchEvent(new InputEvent("input", { bubbles: true, data: query[end - 1] }));
    last = performance.now();
    if (end < query.length) await wait(Math.max(0, next - performance.now()));
  }
  const found = {};
  while (!(found.rest && found.first)) {
    await wait(3);
    const ms = performance.now() - last;
    if (!found.first && window.hits(query)) found.first = ms;
    if (window.atRest(query)) { found.rest = ms; found.first ||= ms; }
    if (ms > 20000) return done({ error: "no answer in 20 s" });
  }
  await wait(700);
  done(found);
})().catch((error) => done({ error: String(error.stack || error) }));"""
KEY_MS = 80
_FLAGS = ("--ignore-certificate-errors", "--window-size=1440,900")


@dataclass(frozen=True, slots=True)
class Typed:
    """What a typed query took: what was sent, and milliseconds from its last key."""

    query: str
    sent: tuple[Sent, ...]
    first_ms: float
    rest_ms: float


def typed(root: Path, page: str, queries: Sequence[str], network: str) -> list[Typed]:
    """Type every query into the page's search, each with an empty cache."""
    (root / "typed.html").write_text(page, "utf-8")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch,
        served_by_http2(root, Path(scratch)) as server,
        chromium(Path(scratch), _FLAGS) as driver,
    ):
        driver.execute_cdp_cmd("Network.enable", {})
        return [_typed(driver, server, query, network) for query in queries]


def _typed(driver: webdriver.Chrome, server: StaticServer, query: str, network: str) -> Typed:
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **NETWORKS["no limit"]})
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    driver.get(f"{server.address}typed.html")
    server.taken()
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **NETWORKS[network]})
    found: dict[str, Any] = driver.execute_async_script(TYPE, query, KEY_MS)
    if "error" in found:
        raise RuntimeError(f"typing {query!r} failed in the browser: {found['error']}")
    return Typed(query, tuple(server.taken()), found["first"], found["rest"])


def rows(system: str, root: Path, page: str, queries: Sequence[str]) -> Iterator[str]:
    """Yield a row of the table for each network; ``HEAD`` is above them."""
    for network in NETWORKS:
        found = typed(root, page, queries, network)
        size = np.array([sum(each.size for each in one.sent) for one in found]) / 1e3
        requests = np.array([len(one.sent) for one in found])
        first, rest = (np.array([getattr(one, name) for one in found]) for name in ("first_ms", "rest_ms"))
        yield (
            f"| {system}, {network} | {np.median(size):.0f}, {size.max():.0f} | {np.median(requests):.0f}, "
            f"{requests.max()} | {np.median(first):.0f}, {first.max():.0f} | "
            f"{np.median(rest):.0f}, {rest.max():.0f} | {os.getloadavg()[0]:.1f} |"
        )


HEAD = (
    "| typed, 80 ms a key | KB | requests | ms to the first hits | ms to the answer at rest | load |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
)
