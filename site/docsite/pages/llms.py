"""Lists of all pages for programs: ``llms.txt`` by section (https://llmstxt.org/), and sections as one text.

Pages that front matter keeps from lists, from search or from robots are in none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ...pipeline.identity import text_hash
from ...pipeline.printable import counted
from .. import urls
from ..incremental.columns import digest_of_texts
from ..incremental.previous import Reuse
from ..library import Entry
from ..outline.navigation import Node
from ..outline.plan import SitePage, SitePlan
from .twins import page_text, site_address

# A list that a program reads whole; of more pages, each section has a list of its own.
MAX_LISTED = 200
SUMMARY_CHARS = 160
# What the largest models can read at once; English takes about four bytes a token.
MAX_FULL_TOKENS = 200_000
BYTES_A_TOKEN = 4
_FULL = urls.LLMS_FULL


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of the navigation: its name, the pages that stand by themselves, and the parts below it."""

    label: str
    folder: str
    pages: tuple[str, ...]
    parts: tuple[_Section, ...] = ()

    @property
    def every_page(self) -> tuple[str, ...]:
        """Return the pages of the section and of all its parts."""
        return (*self.pages, *(page for part in self.parts for page in part.every_page))


def llms_files(
    plan: SitePlan, summaries: Mapping[str, str], reuse: Reuse, contents: Mapping[str, str]
) -> Iterator[SitePage]:
    """Yield ``llms.txt``, the lists of sections where one list would be too long, and the sections' texts.

    ``contents`` are fingerprints of pages' contents: where a section's are unchanged, its text is kept.
    """
    if not plan.settings.markdown:
        return
    top = _Sections(plan).top()
    lists = _Lists(plan, summaries)
    full = list(_full_texts(plan, top, reuse, contents))
    yield lists.file(top, urls.LLMS, [*_head(plan), *_about_full(plan, full)])
    if len(top.every_page) > MAX_LISTED:
        yield from lists.of_parts(top)
    yield from (each.file for each in full)


def _head(plan: SitePlan) -> list[str]:
    lines = [f"# {_line(plan.title)}", ""]
    if plan.settings.description:
        lines += [f"> {_line(plan.settings.description)}", ""]
    return [*lines, f"Snapshot {plan.library.snapshot_id}. Each page is markdown with its address.", ""]


def _is_for_programs(entry: Entry) -> bool:
    return entry.shown.listed and entry.shown.searched and entry.shown.robots


class _Sections:
    """Makes sections of the navigation, with a folder for each that no page or other section has."""

    def __init__(self, plan: SitePlan) -> None:
        self._plan = plan
        self._taken = {urls.folded(path) for path in (*plan.by_page, *plan.twins.values())}
        self._taken |= {urls.folded(name) for name in urls.RESERVED}
        self._seen: set[str] = set()

    def top(self) -> _Section:
        """Return the whole site as a section; folders that are alone on their level are left out."""
        nodes, pages = self._plan.tree.roots, list[str]()
        while len(nodes) == 1 and nodes[0].children:
            pages += self._own(nodes[0])
            nodes = nodes[0].children
        return self._of("", "", nodes, pages)

    def _of(self, label: str, folder: str, nodes: Sequence[Node], pages: list[str]) -> _Section:
        parts = []
        for node in nodes:
            own = self._own(node)
            if not node.children:
                pages += own
                continue
            part = self._of(node.label, self._folder(node.key), node.children, own)
            if part.every_page:
                parts.append(part)
        return _Section(_line(label), folder, tuple(pages), tuple(parts))

    def _own(self, node: Node) -> list[str]:
        page = node.page
        if page is None or page in self._seen or not _is_for_programs(self._plan.by_page[page]):
            return []
        self._seen.add(page)
        return [page]

    def _folder(self, key: str) -> str:
        parts = [
            "-".join("".join(c if c.isalnum() or c in "_-" else " " for c in p).split())
            for p in key.split("/")
        ]
        folder = "/".join(part[:60] for part in parts if part)
        above = [urls.folded(each) for each in urls.folders_of(f"{folder}/x")]
        if not folder or any(each in self._taken for each in above) or f"{above[-1]}/" in self._taken:
            folder = f"section-{text_hash(key)[:8]}"
        self._taken.add(f"{urls.folded(folder)}/")
        return folder


class _Lists:
    """Writes lists of pages: all of a section if they are few, else its own pages and its parts' lists."""

    def __init__(self, plan: SitePlan, summaries: Mapping[str, str]) -> None:
        self._plan, self._summaries = plan, summaries

    def of_parts(self, section: _Section) -> Iterator[SitePage]:
        """Yield the list of each part of a section, and of their parts where these are too long."""
        for part in section.parts:
            head = [f"# {_line(self._plan.title)}: {part.label}", "", self._way_up(), ""]
            yield self.file(part, f"{part.folder}/{urls.LLMS}", head)
            if len(part.every_page) > MAX_LISTED:
                yield from self.of_parts(part)

    def file(self, section: _Section, path: str, head: Sequence[str]) -> SitePage:
        """Return a list."""
        lines = list(head)
        if section.pages:
            lines += ["## Pages", "", *map(self._item, section.pages), ""]
        is_whole = len(section.every_page) <= MAX_LISTED
        if is_whole:
            for part in section.parts:
                lines += [f"## {part.label}", "", *map(self._item, part.every_page), ""]
        elif section.parts:
            lines += ["## Sections", "", *map(self._link, section.parts), ""]
        return SitePage(path, ("\n".join(lines).rstrip() + "\n").encode())

    def _way_up(self) -> str:
        return f"All sections: {site_address(self._plan, urls.LLMS)}"

    def _link(self, part: _Section) -> str:
        address = site_address(self._plan, f"{part.folder}/{urls.LLMS}")
        return f"- [{_bracketless(part.label)}]({address}): {counted(len(part.every_page), 'page')}"

    def _item(self, page: str) -> str:
        title = _bracketless(_line(self._plan.by_page[page].title))
        about = _line(self._summaries.get(page, ""))[:SUMMARY_CHARS].strip()
        return f"- [{title}]({site_address(self._plan, self._plan.twins[page])})" + (
            f": {about}" if about else ""
        )


@dataclass(frozen=True, slots=True)
class _FullText:
    """A section as one text of so many bytes; how many of its pages are in it is the file's summary."""

    file: SitePage
    label: str
    size: int
    pages: int


def _full_texts(
    plan: SitePlan, top: _Section, reuse: Reuse, contents: Mapping[str, str]
) -> Iterator[_FullText]:
    """Yield each section's pages as one text, those that fit into the most that a program can read."""
    front = _Section(_line(plan.title), "", top.pages)
    for part in (front, *top.parts):
        pages = part.every_page
        if not pages:
            continue
        path = f"{_FULL}/{part.folder.replace('/', '-') or 'index'}.txt"
        said = (f"{site_address(plan, page)} {contents[page]}" for page in pages)
        file = reuse.page(path, digest_of_texts(*said).hex(), partial(_full_text, plan, path, pages))
        size = reuse.previous.by_path[path].size if file.kept else len(file.content)
        if size:
            yield _FullText(file, part.label, size, len(pages))


def _full_text(plan: SitePlan, path: str, pages: Sequence[str]) -> SitePage:
    pieces: list[bytes] = []
    room = MAX_FULL_TOKENS * BYTES_A_TOKEN
    for page in pages:
        text = page_text(plan.library, plan.by_page[page])
        piece = f"<{site_address(plan, page)}>\n\n{text}\n---\n\n".encode()
        if len(piece) <= room:  # a page that is too long by itself must not end the text
            room -= len(piece)
            pieces.append(piece)
    return SitePage(path, b"".join(pieces), summary=str(len(pieces)))


def _about_full(plan: SitePlan, full: Sequence[_FullText]) -> list[str]:
    """Return the list of the sections' texts with their tokens, which are estimated from their bytes."""
    if not full:
        return []
    lines = ["## Whole sections as one text", ""]
    for each in full:
        tokens, count = -(-each.size // BYTES_A_TOKEN), int(each.file.summary)
        shown = f"{count:,}" if count == each.pages else f"{count:,} of {each.pages:,}"
        told = f"{shown} pages, about {counted(tokens, 'token')}"
        lines.append(f"- [{_bracketless(each.label)}]({site_address(plan, each.file.path)}): {told}")
    return [*lines, ""]


def _bracketless(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def _line(text: str) -> str:
    return " ".join(text.split())
