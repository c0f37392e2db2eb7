"""What a reader sees of a page before opening it: titles and summaries, some dozens of pages to a file.

A script finds the file by a hash of the page's address, so no page has to name it. The files are scripts
themselves, because a page opened from disk may load nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from .. import urls
from ..outline.plan import SitePage, SitePlan, shard_count

MAX_SUMMARY_CHARS = 280


def shard_of(address: str, count: int) -> int:
    """Return the number of a page's file: FNV-1a of its encoded address."""
    state = 0x811C9DC5
    for byte in address.encode():
        state = ((state ^ byte) * 0x01000193) & 0xFFFFFFFF
    return state % count


def preview_files(plan: SitePlan, summaries: Mapping[str, str]) -> Iterator[SitePage]:
    """Yield all preview files; ``summaries`` are those of the pages, by page."""
    count = shard_count(len(plan.by_page))
    shards: list[dict[str, list[str]]] = [{} for _ in range(count)]
    for page in sorted(entry.page for entry in plan.library.listed):
        address = urls.encoded(page)
        summary = _shortened(summaries.get(page, ""))
        shards[shard_of(address, count)][address] = [plan.by_page[page].title, summary]
    for number, shard in enumerate(shards):
        table = json.dumps(shard, ensure_ascii=True, separators=(",", ":"))
        yield SitePage(f"{urls.PREVIEWS}/{number}.js", f"noctulePreviews({table});\n".encode())


def _shortened(text: str) -> str:
    one_line = " ".join(text.split())
    if len(one_line) <= MAX_SUMMARY_CHARS:
        return one_line
    return one_line[:MAX_SUMMARY_CHARS].rsplit(" ", 1)[0] + " …"
