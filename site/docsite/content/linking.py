"""The targets of one document's links, as one page writes them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Literal
from urllib.parse import quote, unquote

from ...pipeline.address import outside_address
from ...pipeline.includes.python_blocks import HEADING_ADDRESS
from ...pipeline.links.fragments import find_anchor
from ...pipeline.links.published import without_ending
from ...pipeline.model import OTHER_PROJECT
from ...pipeline.parse.labels import BLOCK_ID, LABEL_PREFIX, TERM_ADDRESS, label_anchor, labels_in
from ...pipeline.parse.markdown.myst.descriptions import DIRECTIVE_FENCE, OBJECT_ANCHORS
from ...pipeline.parse.markdown.parser import markdown_parser, plain_markdown
from ...pipeline.parse.markup import names_in
from ...pipeline.parse.python_objects import OBJECT_ADDRESS
from ...pipeline.sanitize import ID_PREFIX, is_outward
from .. import urls
from ..document_rows import Asset, LinkRow
from ..library import Entry, Library
from ..placement import served_file

_SOURCE_ID = re.compile(rf'\sid="{ID_PREFIX}([^"<>]*)"')
_HEADING = re.compile(r"<h([1-6])\b[^<>]*>.*?</h\1>", re.DOTALL)
_ANY_TAG = re.compile(r"<[^<>]*>")
_BLOCK = re.compile(rf'<a id="(?P<name>{BLOCK_ID.pattern})"></a>')
_MARKERS = re.compile(r"^[ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+)?(?:#{1,6}[ \t]+)?(?:\[.\][ \t]+)?")
_DAYS = re.compile(r"\s*(?:SCHEDULED|DEADLINE):")
_MAX_WORDS, _MAX_LINE = 200, 2_000
_LABELLED = re.compile(r"^\(([^()\n]{1,200})\)=[ \t]*\n", re.MULTILINE)
_DIRECTIVE = re.compile(DIRECTIVE_FENCE)
# Begins the name of a heading such as "Source code", which is not a name with the sanitiser's prefix.
KEPT = "\x01"


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a link on a page leads: ``href`` if it leads somewhere, or ``title`` with the reason why not.

    Without either its text is only text.
    """

    kind: Literal["internal", "external", "missing"]
    href: str = ""
    title: str = ""


MISSING = Destination("missing", title="This page does not exist.")
NOTHING = Destination("missing")
ASSET = Destination("missing", title="This file is not part of the site.")


def kept_name(slug: str) -> str:
    """Return the name of a heading as it stands until names from raw HTML have lost their prefix."""
    return f"{KEPT}{slug}" if slug.startswith(ID_PREFIX) else slug


class Anchors:
    """The names within each document that a link's fragment can refer to."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._slugs = lru_cache(maxsize=4096)(self._read_slugs)
        self._ids = lru_cache(maxsize=512)(self._read_ids)
        self._titles = lru_cache(maxsize=512)(self._read_titles)
        self._blocks = lru_cache(maxsize=512)(self._read_blocks)

    def find(self, entry: Entry, fragment: str) -> str:
        """Return the anchor on the page of ``entry`` that ``fragment`` means, however it is spelt, or
        nothing.
        """
        if not fragment:
            return ""
        slugs, own = self._slugs(entry), fragment.partition(":#")[0].partition(",")[0]
        # What is written exactly so comes before a heading that is spelt alike.
        if fragment not in slugs and own in self._ids(entry):
            return f"{ID_PREFIX}{own}"
        found = find_anchor(fragment, slugs)
        return kept_name(found) if found else ""

    def title(self, entry: Entry, fragment: str) -> str:
        """Return the title of the document, or of its heading that ``fragment`` names; nothing for none."""
        if not fragment:
            return entry.title
        titles = self._titles(entry)
        found = titles.get(find_anchor(fragment, titles), "")
        is_document = fragment.startswith(LABEL_PREFIX) and not self.find(entry, fragment)
        return found or (entry.title if is_document else "")

    def words(self, entry: Entry, block: str) -> str:
        """Return the words of a block of Logseq, by its name; nothing for none."""
        line = _MARKERS.sub("", self._blocks(entry).get(block, ""))
        return " ".join(plain_markdown(line).split())[:_MAX_WORDS]

    def _read_blocks(self, entry: Entry) -> Mapping[str, str]:
        text = self._library.text(entry)
        return {found["name"]: _line_before(text, found.start()) for found in _BLOCK.finditer(text)}

    def _read_titles(self, entry: Entry) -> Mapping[str, str]:
        """Return the title of each heading by its names and its labels."""
        titles = {section.slug: section.title for section in self._library.sections(entry)}
        if entry.syntax == "html":
            for heading in _HEADING.finditer(self._library.html(entry)):
                said = " ".join(unescape(_ANY_TAG.sub("", heading[0])).split())
                titles |= dict.fromkeys(map(unescape, _SOURCE_ID.findall(heading[0])), said)
            return titles
        text = self._library.text(entry)
        sections = self._library.sections(entry)
        for label in _LABELLED.finditer(text) if ")=" in text else ():
            below = len(text[: label.end()].encode())
            section = next((each for each in sections if each.byte_start >= below), None)
            between = text.encode()[below : section.byte_start].decode(errors="ignore") if section else ""
            if section and len(_LABELLED.sub("", between).split("\n", 4)) < 4:
                titles |= dict.fromkeys((label[1], label_anchor(label[1])), section.title)
        return titles

    def _read_slugs(self, entry: Entry) -> frozenset[str]:
        return frozenset(self._library.anchors(entry))

    def _read_ids(self, entry: Entry) -> frozenset[str]:
        if entry.syntax == "html":
            return frozenset(unescape(found) for found in _SOURCE_ID.findall(self._library.html(entry)))
        text = self._library.text(entry)
        lines = text.split("\n") if ")=" in text else ()
        labels = [label for line in lines for label in labels_in(line)]
        named = [name for label in labels for name in (label, label_anchor(label))]
        return frozenset((*names_in(text), *named, *_described(text)))


def _line_before(text: str, end: int) -> str:
    """Return the end of the last line with words on it before a place in a text."""
    line = ""
    for _ in range(3):  # days of a task may stand between
        while end > 0 and text[end - 1].isspace():
            end -= 1
        line = text[max(text.rfind("\n", 0, end) + 1, end - _MAX_LINE) : end]
        if not _DAYS.match(line):
            break
        end -= len(line)
    return line


def _described(text: str) -> list[str]:
    """Return the anchors of the objects that directives of a markdown text describe."""
    env: dict[str, list[str]] = {}
    if _DIRECTIVE.search(text):
        markdown_parser().parse(text, env)
    return env.get(OBJECT_ANCHORS, [])


class PageLinks:
    """The links of ``source`` as the page ``page`` writes them; the two differ if content is transcluded."""

    def __init__(self, library: Library, anchors: Anchors, source: Entry, page: str) -> None:
        self._library, self._anchors, self._source, self._page = library, anchors, source, page
        self._rows: dict[str, LinkRow] = {}
        self._references: dict[str, LinkRow] = {}
        for row in library.links(source):
            rows = self._references if row.kind in ("wikilink", "transclusion", "tag") else self._rows
            rows.setdefault(row.target, row)

    def plain(self, href: str) -> Destination:
        """Return where a markdown or HTML link with this address leads."""
        row = self._rows.get(href) or self._rows.get(unquote(href))
        if row is not None:
            return self._destination(row)
        if href.startswith(f"#{ID_PREFIX}"):
            return Destination("internal", href)
        if is_outward(href):
            return Destination("external", href)
        if href.startswith((TERM_ADDRESS, OBJECT_ADDRESS, HEADING_ADDRESS)):
            return NOTHING
        anchor = self._anchors.find(self._source, unquote(href[1:])) if href.startswith("#") else ""
        return self._internal(self._source, anchor) if anchor else MISSING

    def title(self, href: str) -> str:
        """Return the title of what a link without a text of its own leads to; nothing if it has none."""
        row = self._rows.get(href) or self._rows.get(unquote(href))
        entry = self._library.by_id.get(row.target_id or "") if row else None
        return self._anchors.title(entry, row.fragment) if row and entry else ""

    def asset(self, address: str) -> Asset | None:
        """Return the image, medium or attachment that a markdown or HTML address means."""
        row = self._rows.get(address) or self._rows.get(unquote(address))
        return self.asset_of(row) if row else None

    def asset_of(self, row: LinkRow) -> Asset | None:
        """Return the image, medium or attachment that a link leads to."""
        return self._library.assets.get((self._source.collection, row.asset)) if row.asset else None

    def href(self, asset: Asset) -> str:
        """Return the address of the asset's file."""
        return urls.relative_href(self._page, asset.file)

    def reference(self, target: str, fragment: str) -> Destination:
        """Return where a wikilink leads."""
        row = self.reference_row(target, fragment)
        return self._destination(row) if row else MISSING

    def reference_row(self, target: str, fragment: str) -> LinkRow | None:
        """Return the snapshot's link for a wikilink or transclusion with this target."""
        return self._references.get(f"{target}#{fragment}" if fragment else target)

    def label(self, target: str, fragment: str, text: str) -> str:
        """Return what a wikilink shows: its text, or its target where the text names the note (Dendron).

        The name of a block of Logseq is nothing to read: its words stand there, or dots for what is not here.
        """
        row = self.reference_row(target, fragment)
        entry = self._library.by_id.get(row.target_id or "") if row else None
        if not text:
            return (self._anchors.words(entry, fragment) if entry else "") or "…"
        if row is None or entry is None or text == target or not target:
            return text
        name, _, named = text.partition("#")
        stem = posixpath.splitext(posixpath.basename(entry.path))[0].lower()
        by_text = posixpath.basename(name).lower() == stem if name else bool(named) and named == row.fragment
        written = posixpath.basename(target).lower()  # a note's name may end like a file's: concepts.markdown
        is_name = stem in (written, without_ending(written))
        return target if by_text and not is_name else text

    def _destination(self, row: LinkRow) -> Destination:
        entry = self._library.by_id.get(row.target_id or "")
        if entry is not None:
            return self._internal(entry, self._anchors.find(entry, row.fragment))
        if row.status == "external":
            href = row.target if is_outward(row.target) else self._outside(row.target)
            return Destination("external", href)
        if (asset := self.asset_of(row)) is not None:
            # Viewers of PDF open the page that it names.
            fragment = f"#{quote(row.fragment, safe='=&,-._~')}" if row.fragment else ""
            return Destination("internal", self.href(asset) + fragment)
        if row.status == OTHER_PROJECT:  # which page its inventory names, nobody knows here
            return NOTHING
        if is_outward(row.target):  # at the site's own address, which may hold more than this folder
            return Destination("external", row.target)
        return ASSET if row.status == "missing-asset" else MISSING

    def _outside(self, target: str) -> str:
        """Return the address of what lies beside the collection, or of the page at a former address."""
        if found := outside_address(self._source.path, self._library.url(self._source), target):
            return found
        path = posixpath.join("/", posixpath.dirname(self._source.path), unquote(target.partition("?")[0]))
        path, base = posixpath.normpath(path.partition("#")[0]), self._library.base_path
        below = path.removeprefix(base) if f"{path}/".startswith(f"{base}/") else path
        return self._library.href(self._page, served_file(below.strip("/")))

    def _internal(self, entry: Entry, anchor: str) -> Destination:
        href = self._library.href(self._page, entry.page, anchor)
        return Destination("internal", href.replace(quote(KEPT), KEPT))
