"""noctule's site of a folder compared, page by page, with the site that the folder's own tool makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .comparison import Result
from .sites import SITES
from .tools import Missing

_KINDS = ("pages", "blocks", "images", "code", "headings", "anchors", "order", "links")


def measure(names: Sequence[str] = (), differences: int = 0) -> None:
    """Compare each site, print a table, and the first differences of each site."""
    results = []
    for name in names or SITES:
        try:
            results.append(SITES[name]())
        except Missing as missing:
            print(f"{name}: left out, {missing.what}")
    print(f"| site | {' | '.join(_KINDS)} | raw directives | broken links of ours alone |")
    print("| --- " * (len(_KINDS) + 3) + "|")
    for result in results:
        shares = " | ".join(result.share(kind) for kind in _KINDS)
        print(f"| {result.site} | {shares} | {result.counts['raw']} | {result.counts['broken']} |")
    for result in results:
        _print_differences(result, differences)


def _print_differences(result: Result, most: int) -> None:
    pages = Counter(kind for kind, _ in {(each.kind, each.page) for each in result.differences})
    print(f"\n{result.site}: pages with a difference: {dict(pages.most_common())}")
    for each in result.differences[:most]:
        print(f"  {each.page or '(home)'} [{each.kind}]")
        print(f"    theirs: {each.theirs[:600]}\n    ours:   {each.ours[:600]}")
