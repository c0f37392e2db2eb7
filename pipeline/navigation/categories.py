"""Pages that Docusaurus generates for categories: each is a document, made of the file that describes it."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..address import slug_path, unnumbered

CATEGORY_FILES = frozenset({"_category_.json", "_category_.yml", "_category_.yaml"})
_GENERATED = "generated-index"
_NOT_IN_SLUG = re.compile(r"[^\w\- ]+")
# The list of its items, as ``pipeline.parse.markdown.authoring`` knows it.
_ITEMS = "<!-- pages below -->"
# What begins something in markdown; a description is plain text.
_SIGNS = re.compile(r"([\\`*_\[\]<>{}#$~|^=@!&])")


@dataclass(frozen=True, slots=True)
class Category:
    """A category with a generated page; ``slug`` is its address below that of the collection."""

    label: str
    title: str
    description: str
    keywords: tuple[str, ...]
    slug: str

    @property
    def path(self) -> str:
        """Return the path of the document at that address."""
        return f"{slug_path('', self.slug) or 'index'}.md"

    @property
    def markdown(self) -> str:
        """Return the document: what the category says of itself. Nobody can edit it under its path."""
        front = {
            "title": self.title,
            "description": self.description,
            "keywords": list(self.keywords),
            "slug": self.slug,
            "sidebar_label": self.label,
        }
        lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items() if value)
        head = "\n".join(("---", *lines, "custom_edit_url: null", "---"))
        return f"{head}\n\n" + _SIGNS.sub(r"\\\1", self.description) + f"\n\n{_ITEMS}\n"


def category_of(given: Mapping[str, Any], label: str) -> Category | None:
    """Return the category that has a generated page, as its settings say; None for any other."""
    link = given.get("link")
    if not isinstance(link, dict) or link.get("type") != _GENERATED:
        return None
    label = _text(given.get("label")) or label
    slug, keywords = _text(link.get("slug")), link.get("keywords")
    return Category(
        label,
        _text(link.get("title")) or label,
        _text(link.get("description")),
        tuple(filter(None, map(_text, keywords))) if isinstance(keywords, list) else (),
        f"/{slug.strip('/')}" if slug else f"/category/{_slugged(label)}",
    )


def section_of(folder: str) -> Category:
    """Return what Hugo and Quartz make of a folder without a page of its own: a list under its name."""
    words = re.split(r"[-_\s]+", folder_label(folder))
    title = " ".join(word[:1].upper() + word[1:] for word in words if word)
    return Category("", title or folder, "", (), "")


def folder_label(path: str) -> str:
    """Return the name that the category of a folder has where its file gives none."""
    return posixpath.basename(unnumbered(path))


def _slugged(label: str) -> str:
    """Return the label as Docusaurus writes it in addresses: each space is a hyphen."""
    return _NOT_IN_SLUG.sub("", label.lower()).replace(" ", "-") or "category"


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
