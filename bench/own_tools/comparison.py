"""Two sites of the same folder, compared page by page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .page_parts import INLINE, Block, Page, normal, read_page

OURS_MAIN = "article.prose"
_DIRECTIVE = re.compile(
    r"\{%.*?%\}|\{\{.*?\}\}|\{!.*?!\}|\{\*.*?\*\}"
    r"|^:::|^///|--8<--|<<<\s*@|^!!! |^\?\?\? |^=== \"|\[\[[^\]]+\]\]|^%%"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the two sites differ."""

    page: str
    kind: str
    theirs: str
    ours: str


@dataclass(slots=True)
class Result:
    """What was counted on one site; each pair is (equal, of theirs)."""

    site: str
    counts: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def share(self, kind: str) -> str:
        """Return the equal share of a kind as text."""
        total = self.counts[f"{kind} of"]
        return f"{100 * self.counts[kind] / total:.1f} % of {total:,}" if total else "none"

    def count(self, kind: str, equal: int, total: int) -> None:
        """Add to the counts of a kind."""
        self.counts[kind] += equal
        self.counts[f"{kind} of"] += total


def read_site(folder: Path, main: str) -> dict[str, Page]:
    """Return the pages of a site by name: the address without ``.html`` and ``index``."""
    found = {page_name(file.relative_to(folder)): file for file in sorted(folder.rglob("*.html"))}
    pages = {name: read_page(file, main) for name, file in found.items()}
    return {name: page for name, page in pages.items() if page}


def page_name(file: Path) -> str:
    """Return what both sites call a page: ``guide/install`` for ``guide/install/index.html``."""
    name = file.as_posix().removesuffix(".html")
    return "" if name == "index" else name.removesuffix("/index")


def compare(site: str, theirs: Mapping[str, Page], ours: Mapping[str, Page]) -> Result:
    """Compare two sites."""
    result = Result(site)
    result.count("pages", len(theirs.keys() & ours.keys()), len(theirs))
    for name, page in sorted(theirs.items()):
        if name not in ours:
            result.differences.append(Difference(name, "page", "is there", "is not there"))
            continue
        result.differences += _page(result, name, page, _with_their_title(ours[name], page))
        result.count("order", _following(page) == _following(ours[name]), 1)
    broken = _broken(theirs, ours)
    result.counts["broken"] = len(broken)
    result.differences += broken
    return result


def _with_their_title(ours: Page, theirs: Page) -> Page:
    """Return our page without the title that noctule puts above a page whose own tool shows none."""
    if not ours.blocks or ours.blocks[0].kind != "h1" or any(block.kind == "h1" for block in theirs.blocks):
        return ours
    is_theirs = ours.blocks[0].text in (block.text for block in theirs.blocks[:1])
    return ours if is_theirs else replace(ours, blocks=ours.blocks[1:])


def _following(page: Page) -> str:
    if not page.following:
        return ""
    target = page.following.strip("/").removesuffix(".html").removesuffix("/index")
    return target.rsplit("/", 1)[-1]


def _page(result: Result, name: str, theirs: Page, ours: Page) -> Iterator[Difference]:
    yield from _blocks(result, name, theirs, ours)
    yield from _listed(result, name, "images", *_images(theirs, ours))
    for kind, wanted in (("code", ("code",)), ("headings", ("h1", "h2", "h3", "h4", "h5", "h6"))):
        texts = [[b.text for b in page.blocks if b.kind in wanted] for page in (theirs, ours)]
        yield from _listed(result, name, kind, *texts)
    anchors = [[b.anchor for b in page.blocks if b.kind[0] == "h" and b.anchor] for page in (theirs, ours)]
    anchors[1] = [each for each in anchors[0] if each in ours.anchors]
    yield from _listed(result, name, "anchors", *anchors)
    for text in ours.prose:
        if _DIRECTIVE.search(text) and text not in theirs.prose:
            result.counts["raw"] += 1
            yield Difference(name, "raw", "", text)


def _images(theirs: Page, ours: Page) -> list[list[str]]:
    """Return the images of both; those that a tool has put into the page itself go by their text."""
    inline = {text for image, text in theirs.images if image == INLINE}
    return [[text if text in inline else image for image, text in page.images] for page in (theirs, ours)]


def _blocks(result: Result, name: str, theirs: Page, ours: Page) -> Iterator[Difference]:
    texts = [[block.text for block in page.blocks] for page in (theirs, ours)]
    matcher = SequenceMatcher(None, texts[0], texts[1], autojunk=False)
    equal = 0
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            equal += b - a
        else:
            yield Difference(name, "blocks", _shown(theirs.blocks[a:b]), _shown(ours.blocks[c:d]))
    result.count("blocks", equal, max(map(len, texts)))


def _shown(blocks: tuple[Block, ...]) -> str:
    return " ¦ ".join(f"<{block.kind}> {block.text}" for block in blocks)


def _listed(result: Result, name: str, kind: str, theirs: list[str], ours: list[str]) -> Iterator[Difference]:
    """Compare two lists whatever the order in them."""
    missing, added = Counter(theirs) - Counter(ours), Counter(ours) - Counter(theirs)
    result.count(kind, len(theirs) - missing.total(), len(theirs) + added.total())
    if kind in ("images", "anchors", "headings") and (missing or added):
        yield Difference(name, kind, " ¦ ".join(missing.elements()), " ¦ ".join(added.elements()))


def _broken(theirs: Mapping[str, Page], ours: Mapping[str, Page]) -> list[Difference]:
    """Return the links that lead nowhere on our pages, but not on theirs."""
    found = []
    for name in sorted(theirs.keys() & ours.keys()):
        also = {normal(link.rsplit("#", 1)[-1]) for link in dead_links(theirs[name])}
        dead = [*ours[name].dead, *dead_links(ours[name])]
        new = [link for link in dead if normal(link.rsplit("#", 1)[-1]) not in also]
        excess = len(dead) - len(dead_links(theirs[name])) - len(theirs[name].dead)
        found += [Difference(name, "broken", "", link) for link in new[: max(0, excess)]]
    return found


def dead_links(page: Page) -> list[str]:
    """Return the relative links of a page that name no file, or an anchor that its own page lacks."""
    return [link for link in page.links if _is_dead(page, link)]


def _is_dead(page: Page, link: str) -> bool:
    address = urlsplit(link)
    if address.scheme or address.netloc or address.path.startswith("/"):
        return False
    if not address.path:
        return bool(address.fragment) and unquote(address.fragment) not in page.anchors
    target = page.file.parent / unquote(address.path)
    return not any(each.exists() for each in (target, target.with_name(f"{target.name}.html")))
