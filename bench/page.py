"""Figures put into a page between its own markers; every other word of the page stays."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping


def with_figures(page: str, found: Mapping[str, str]) -> str:
    """The page with each part between its markers, ``<!-- figures:NAME -->`` and ``<!-- end -->``."""
    for name, text in found.items():
        marked = re.compile(rf"(<!-- figures:{re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(page):
            sys.exit(f"the page has no place for {name}: add <!-- figures:{name} --> and <!-- end -->")
        page = marked.sub(lambda match, text=text: f"{match[1]}\n{text}\n\n{match[2]}", page)  # type: ignore[misc]
    return page
