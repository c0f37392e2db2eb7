"""The paths at which a document's own tool publishes it, by which other documents link to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ..address import slug_path

# Docusaurus and others take numbers at the head of names for an order.
_NUMBERED = re.compile(r"(\A|/)\d{1,3}[-_.]+(?=[^/\d])")


def published_names(path: str, front_matter: str) -> tuple[str, ...]:
    """Return the paths, from the top, at which the document's own tool publishes it in place of its file's.

    They are what ``permalink`` and ``slug`` say in the front matter (as JSON), and, in a collection of
    Jekyll, the path without the underscore of its folder.
    """
    given = json.loads(front_matter) if '"permalink"' in front_matter or '"slug"' in front_matter else {}
    said = [given[name] for name in ("permalink", "slug") if isinstance(given.get(name), str)]
    names = [f"/{slug_path(path, each)}" for each in said if each.strip() and ":" not in each]
    in_jekyll = path.startswith("_") and "/" in path
    return tuple(dict.fromkeys((*names, *([f"/{path.lstrip('_')}"] if in_jekyll else []))))


def published_paths(path: str, aliases: Sequence[str]) -> Iterator[str]:
    """Yield the paths of a document as links may have them, in lower case; ``aliases`` has its names."""
    yield from (unnumbered(alias.strip("/").lower()) for alias in aliases if alias.startswith("/"))
    if _NUMBERED.search(path):
        yield unnumbered(path.lower())


def unnumbered(path: str) -> str:
    """Return the path without the numbers that only give an order: ``01-app/02-guides`` is ``app/guides``."""
    return _NUMBERED.sub(r"\1", path)
