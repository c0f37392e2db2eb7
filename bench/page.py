"""Inserting figures into a page between its own markers; everything else in the page stays."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping


def with_figures(page: str, found: Mapping[str, str]) -> str:
    """Replace the parts of a page between ``<!-- figures:NAME -->`` and ``<!-- end -->``."""
    for name, text in found.items():
        marked = re.compile(rf"(<!-- figures:{re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
        found_at = marked.search(page)
        if not found_at:
            sys.exit(f"the page has no place for {name}: add <!-- figures:{name} --> and <!-- end -->")
        begin, end = found_at.end(1), found_at.start(2)
        page = f"{page[:begin]}\n{text}\n\n{page[end:]}"
    return page
