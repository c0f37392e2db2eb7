"""Extracting the main content of an HTML page: plain text with offsets, and sanitized HTML for the site."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning

from ...sanitize import sanitize
from ..content import ParsedContent, first_title
from ..dates import day_of
from ..front_matter import one_line, unique
from ..markup import require_tame, with_endless_as_text, with_linked_frames, without_unseen
from .flow import Flow, attribute, language_of

_AROUND = ("nav", "header", "footer", "aside")
_UNSEEN = ("object", "head")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LINES = ("numbered-", "marked-")
_DATES = ("date", "last-modified", "dcterms.modified", "article:modified_time")


def read_html(html: str, where: str) -> ParsedContent:
    """Return the page's main content and metadata; raises ``RejectedDocument`` for an HTML bomb."""
    html = without_unseen(with_linked_frames(html))
    require_tame(html, where)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        soup = BeautifulSoup(with_endless_as_text(html), "html.parser")
    metas = _metas(soup)
    title = one_line(soup.title.get_text()) if soup.title else ""
    language = _attribute(soup.html, "lang")
    main = _main(soup)
    flow = Flow()
    flow.walk(main)
    _name_languages(main)
    return ParsedContent(
        text=flow.text(),
        # The site's settings say whether pages show images of other hosts.
        html=sanitize(main.decode_contents(), remote_images=True),
        title=title or first_title(flow.headings, flow.blocks),
        language=language,
        description=metas.get("description", "") or metas.get("og:description", ""),
        author=metas.get("author", ""),
        modified=max((day for name in _DATES if (day := day_of(metas.get(name)))), default=None),
        keywords=unique(one_line(word) for word in metas.get("keywords", "").split(",")),
        headings=tuple(flow.headings),
        blocks=tuple(flow.blocks),
        links=tuple(flow.links),
        anchors=unique(name for tag in main.find_all(True) for name in _names(tag)),
    )


def _name_languages(main: Tag) -> None:
    """Give each code block the class that tells its language, and those that tell of its lines."""
    for pre in main.find_all("pre"):
        if language := language_of(pre):
            kept = [name for name in attribute(pre, "class").split() if name.startswith(_LINES)]
            pre["class"] = " ".join([f"language-{language}", *kept])


def _metas(soup: BeautifulSoup) -> dict[str, str]:
    found: dict[str, str] = {}
    for meta in soup.find_all("meta"):
        name = (_attribute(meta, "name") or _attribute(meta, "property")).lower()
        found.setdefault(name, one_line(_attribute(meta, "content")))
    return found


def _names(tag: Tag) -> tuple[str, ...]:
    """Return the names that a link may use for the tag."""
    named = _attribute(tag, "name") if tag.name == "a" else ""
    return tuple(filter(None, (_attribute(tag, "id"), named)))


def _attribute(tag: Tag | None, name: str) -> str:
    return one_line(attribute(tag, name)) if tag else ""


def _main(soup: BeautifulSoup) -> Tag:
    """Return the page's main content without the navigation that generators put beside it."""
    main = soup.find("main") or soup.find(role="main") or soup.find("article")
    around: tuple[str, ...] = ("nav",)
    if not isinstance(main, Tag):
        main, around = soup.body or soup, _AROUND
    articles = main.find_all("article")
    if len(articles) == 1 and articles[0].find(_HEADINGS):
        main = articles[0]
    out = {*_UNSEEN, *around}
    remove_tags(main, lambda tag: tag.name in out or tag.get("role") == "navigation")
    remove_tags(main, lambda tag: tag.name == "details" and _only_leads_on(tag))
    remove_tags(main, lambda tag: tag.name == "footer" and tag.parent is main)
    return main


def remove_tags(main: Tag, is_unwanted: Callable[[Tag], bool]) -> None:
    """Take tags out with all that they hold; each is looked for once, and not among its neighbours again."""
    found, left = list[tuple[int, Tag]](), [main]
    while left:
        for at, child in enumerate(left.pop().contents):
            if isinstance(child, Tag):
                if is_unwanted(child):
                    found.append((at, child))
                else:
                    left.append(child)
    for at, tag in reversed(found):  # from the last child of a parent to its first: their places stay
        tag.extract(_self_index=at)


def _only_leads_on(box: Tag) -> bool:
    """Return whether a folded box holds only a label, or a label and a list of places on this page."""
    inside = [part for part in box.children if not (isinstance(part, Tag) and part.name == "summary")]
    links = [link for part in inside if isinstance(part, Tag) for link in part.find_all("a")]
    said = "".join("".join(part.get_text().split()) for part in inside)
    if box.find(("img", "picture", "video", "math")):
        return False
    if not all(_attribute(link, "href").startswith("#") for link in links):
        return False
    return said == "".join("".join(link.get_text().split()) for link in links)
