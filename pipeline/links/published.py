"""The paths at which a document's own tool publishes it, by which other documents link to it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from ..address import INDEX_NAMES, slug_path, unnumbered
from ..identity import read_front_matter_json

ENDINGS = (".md", ".markdown", ".html", ".htm", ".txt", ".rst", ".mdx", ".qmd", ".ipynb")
FORMER = ("redirect_from", "aliases", "alias")
SLUGS = ("permalink", "url", "slug")
# The path of a post, which has its day at the head of its name.
_DATED = re.compile(r"(?P<above>(?:.*/)?)(\d{4})-(\d{2})-(\d{2})[-/](.+)")
_SAY = (*SLUGS, *FORMER, "id")


def published_names(path: str, front_matter: str) -> tuple[str, ...]:
    """Return the paths, from the top, at which the document's own tool publishes it in place of its file's.

    They are what ``permalink``, ``url``, ``slug`` and Docusaurus's ``id`` say in the front matter (as JSON),
    in a collection of Jekyll the path without the underscore of its folder, and of a post
    ``/2026/11/25/name``. Former addresses are among them.
    """
    given = read_front_matter_json(front_matter) if any(f'"{each}"' in front_matter for each in _SAY) else {}
    names = [f"/{slug_path(path, each)}" for each in slugs_of(given)]
    names += [f"/{slug_path(path, given['id'])}"] if _is_name(given.get("id")) and not names else []
    in_jekyll = path.startswith("_") and "/" in path
    former = (posixpath.join("/", posixpath.dirname(path), each) for each in former_addresses(given))
    own = [f"/{path.lstrip('_')}"] if in_jekyll else []
    if dated := dated_path(path):
        own.append(f"/{dated.removeprefix('_posts/')}")
    return tuple(dict.fromkeys((*names, *own, *map(posixpath.normpath, former))))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "/" not in value


def slugs_of(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what takes the place of a document's path; only a slug without a slash is that of its name.

    Hugo's ``url`` and Jekyll's ``permalink`` begin at the top. Patterns such as ``/:year/:title`` are none.
    """
    for name in SLUGS:
        text = given.get(name)
        if isinstance(text, str) and text.strip() and (":" not in text):
            yield text if name == "slug" else f"/{text.strip().lstrip('/')}"


def dated_path(path: str) -> str:
    """Return the path, without ending, of a post whose name begins with its day; nothing for another page."""
    found = _DATED.fullmatch(path_stem(path))
    return f"{found['above']}{'/'.join(found.groups()[1:])}" if found else ""


def former_addresses(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the addresses that a page had, as its front matter says.

    For Obsidian an alias is a name, so that only one like a path counts.
    """
    names = [(key, name) for key in FORMER for name in _texts(given.get(key))]
    return tuple(dict.fromkeys(name for key, name in names if key == "redirect_from" or _is_path(name)))


def _texts(value: object) -> list[str]:
    given = value if isinstance(value, list) else [value]
    return [each.strip() for each in given if isinstance(each, str) and each.strip()]


def _is_path(alias: str) -> bool:
    return alias.startswith("/") or ("/" in alias and " " not in alias and alias.endswith(("/", ".html")))


def published_paths(path: str, aliases: Sequence[str]) -> Iterator[str]:
    """Yield the paths of a document as links may have them, in lower case; ``aliases`` has its names."""
    yield from (unnumbered(alias.strip("/").lower()) for alias in aliases if alias.startswith("/"))
    if (plain := unnumbered(path)) != path:
        yield plain.lower()
    above, _, name = path_stem(plain.lower()).rpartition("/")
    if above and posixpath.basename(above) == name:  # the page of its folder, in Docusaurus
        yield above


def path_stem(path: str) -> str:
    """Return what different spellings of a path share: no document extension and no trailing index name."""
    path = without_ending(path)
    folder, _, name = path.rpartition("/")
    return folder if name.lower() in INDEX_NAMES else path


def without_ending(path: str) -> str:
    """Return the path without the ending of a document."""
    lower = path.lower()
    if not lower.endswith(ENDINGS):
        return path
    return next(path[: -len(each)] for each in ENDINGS if lower.endswith(each))


def address_key(url: str) -> str:
    """Return what different spellings of a published address share."""
    parts = urlsplit(url)
    return f"{parts.netloc}{path_stem(unquote(parts.path).rstrip('/'))}".lower()
