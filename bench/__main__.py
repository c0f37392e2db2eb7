"""Command line of the benchmarks: ``python -m bench [NAME …]``.

The names are ``index``, ``encoding``, ``search``, ``determinism``, ``relevance``, ``peers``, ``engines`` and
``scale``, which all run by default, and ``browser``, ``nights``, ``changes``, ``million``, ``groups``,
``listings``, ``communities``, ``pages``, ``preview``, ``questions``, ``serve``, ``shards``, ``site-memory``
and ``own-tools``, which run only when named. ``relevance`` also takes ``--set NAME`` (repeatable),
``--part NAME``, and ``--write docs/relevance.md``; ``questions`` ``--set CORPUS`` and ``--model NAME``;
``browser`` and ``shards`` take ``--part NAME`` too, ``own-tools`` ``--site NAME`` and ``--differences N``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from bench import (
    browser,
    communities,
    determinism,
    encoding,
    engines,
    groups,
    index,
    listings,
    million,
    nights,
    own_tools,
    pages,
    peers,
    preview,
    questions,
    relevance_page,
    scale,
    search,
    search_pairs,
    serve,
    shards,
    site_memory,
)

MEASUREMENTS: dict[str, Callable[[], None]] = {
    "index": index.measure,
    "encoding": encoding.measure,
    "search": search.measure,
    "search-pairs": search_pairs.measure,
    "determinism": determinism.measure,
    "relevance": relevance_page.measure,
    "peers": peers.measure,
    "engines": engines.measure,
    "nights": nights.measure,
    "changes": nights.measure_changes,
    "scale": scale.measure,
    "browser": browser.measure,
    "million": million.measure,
    "groups": groups.measure,
    "listings": listings.measure,
    "communities": communities.measure,
    "questions": questions.measure,
    "own-tools": own_tools.measure,
    "pages": pages.measure,
    "preview": preview.measure,
    "serve": serve.measure,
    "shards": shards.measure,
    "site-memory": site_memory.measure,
}
ON_REQUEST = {
    "browser", "changes", "communities", "groups", "listings", "million", "nights", "own-tools", "pages",
    "preview", "questions", "search-pairs", "serve", "shards", "site-memory",
}  # fmt: skip


def main() -> None:
    """Run the measurements that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("measurement", nargs="*", help=f"of {', '.join(MEASUREMENTS)}")
    parser.add_argument(
        "--set", action="append", default=[], help="relevance: this judged set only; questions: this corpus"
    )
    parser.add_argument("--model", default="", help="questions: another model, by name or folder")
    parser.add_argument(
        "--part",
        action="append",
        default=[],
        help=f"relevance: of {', '.join(relevance_page.EVERY)}; browser: asked, typed; "
        "shards: compared, sizes",
    )
    parser.add_argument("--write", type=Path, help="relevance: put the figures into this page")
    parser.add_argument("--site", action="append", default=[], help="own-tools: this site only")
    parser.add_argument("--differences", type=int, default=0, help="own-tools: show so many of each site")
    given = parser.parse_args()
    wanted = given.measurement or [name for name in MEASUREMENTS if name not in ON_REQUEST]
    unknown = sorted(set(wanted) - set(MEASUREMENTS))
    if unknown:
        parser.error(f"no measurement {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}")
    for chosen in wanted:
        if chosen == "relevance":
            relevance_page.measure(given.set, given.write, given.part)
        elif chosen == "questions":
            questions.measure(given.set, given.model)
        elif chosen == "own-tools":
            own_tools.measure(given.site, given.differences)
        elif chosen == "browser":
            browser.measure(given.part)
        elif chosen == "shards":
            shards.measure(given.part)
        else:
            MEASUREMENTS[chosen]()


if __name__ == "__main__":
    main()
