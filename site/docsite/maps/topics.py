"""Maps of all topics with the links among them, and of one topic's main pages, laid out at build time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from markupsafe import Markup, escape

from .. import urls
from ..library import CommunityRow, Entry
from ..outline.plan import SitePlan
from .layout import Floats, Shapes, placed
from .neighbours import shortened

# Beyond these a picture is no help; the lists beside it show the rest.
MAX_TOPICS, MAX_PAGES, LINES_EACH = 150, 28, 4
# A map of fewer pages says no more than their list; of a very large site, only the large topics get one.
MIN_PAGES, MAX_PAGE_MAPS = 5, 300
WIDTH, HEIGHT = 1000, 680
# A second drawing for phones has the letters of the first, in half of a screen's width more height.
NARROW_WIDTH, _NARROW_COVERED = 336, 0.42
# About how wide a letter is, plain and bold, and how high a line.
_CHAR, _BOLD, _LINE = 6.8, 8.2, 24.0
_COVERED = 0.34
_LABEL_CHARS = 22
TOP_PAGES = 3


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text in the map, and where it leads."""

    text: str
    href: str
    title: str = ""


def topics_map(plan: SitePlan, page: str) -> Markup:
    """Draw all topics as circles sized by their number of pages; the larger ones show their main pages.

    There are two drawings, for wide and for narrow screens; a style shows one of them.
    """
    topics = plan.topics[:MAX_TOPICS]
    sizes = np.array([len(topic.entries) for topic in topics], dtype=np.float64)
    weight = weights([[entry.row for entry in topic.entries] for topic in topics], plan)
    scaled = weight / np.sqrt(np.maximum(np.outer(sizes, sizes), 1.0))
    tall = max(620.0, 500.0 + 14 * len(topics))
    drawn = []
    for name, width, height in (("wide-map", WIDTH, HEIGHT), ("narrow-map", NARROW_WIDTH, tall)):
        radius = np.maximum(np.sqrt(sizes / sizes.sum() * width * height * _COVERED / np.pi), 9.0)
        radius = np.minimum(radius, width / 2 - 12)
        gap = radius + 9
        middles = placed(Shapes(gap, gap, scaled, round=True), width, height)
        parts = [*_lines(weight, middles)]
        for topic, middle, r in zip(topics, middles, radius.tolist(), strict=True):
            parts.append(_circle(plan, page, topic, middle, r))
        drawn.append(_picture(name, parts, middles, (radius, radius), plan.theme.words.say("map_title")))
    return Markup("").join(drawn)


def pages_map(plan: SitePlan, page: str, topic: CommunityRow) -> Markup:
    """Draw a topic's most linked pages and the links among them; return nothing for a small topic."""
    entries = topic.entries[:MAX_PAGES]
    if len(entries) < MIN_PAGES:
        return Markup("")
    labels = [shortened(entry.title, _LABEL_CHARS) for entry in entries]
    half_width = np.array([len(label) * _CHAR / 2 + 12 for label in labels])
    half_height = np.full(len(entries), _LINE / 2 + 3)
    weight = weights([[entry.row] for entry in entries], plan)
    title = plan.theme.words.say("topic_map", topic=plan.topic_label(topic))
    boxes = Shapes(half_width + 14, half_height + 16, weight, round=False)
    closer = Shapes(half_width + 2, half_height + 12, weight, round=False)
    tall = 4 * float((closer.half_width * closer.half_height).sum()) / NARROW_WIDTH / _NARROW_COVERED
    drawn = []
    for name, shapes, width, height in (
        ("wide-map", boxes, WIDTH * 0.9, HEIGHT * 0.7),
        ("narrow-map", closer, float(NARROW_WIDTH), tall),
    ):
        middles = placed(shapes, width, height)
        parts = [*_lines(weight, middles)]
        for entry, label, middle, half in zip(entries, labels, middles, half_width.tolist(), strict=True):
            parts.append(_box(plan.library.href(page, entry.page), entry, label, middle, half - 4))
        drawn.append(_picture(name, parts, middles, (half_width, half_height), title))
    return Markup("").join(drawn)


def weights(groups: Sequence[Sequence[int]], plan: SitePlan) -> Floats:
    """Return how many links there are between each two groups of pages, in either direction."""
    group_of = np.full(len(plan.library.entries) + 1, -1, dtype=np.int64)
    for number, rows in enumerate(groups):
        group_of[np.asarray(rows, dtype=np.int64)] = number
    source, target = group_of[plan.library.edges.source], group_of[plan.library.edges.target]
    between = (source >= 0) & (target >= 0) & (source != target)
    counts = np.zeros((len(groups), len(groups)))
    np.add.at(counts, (source[between], target[between]), 1.0)
    both: Floats = counts + counts.T
    return both


def _lines(weight: Floats, middles: Floats) -> Iterator[str]:
    """Yield lines from each thing to its strongest links, lightest first so that the heaviest are on top."""
    kept = _strongest(weight)
    first, second = np.nonzero(np.triu(kept, 1))
    many = weight[first, second]
    order = np.lexsort((second, first, many))
    least, most = (float(many.min()), float(many.max())) if len(many) else (0.0, 1.0)
    for place in order.tolist():
        (x1, y1), (x2, y2) = middles[first[place]], middles[second[place]]
        heavy = 1 + int(3.99 * (many[place] - least) / max(most - least, 4.0))
        yield f'<line class="w{heavy}" x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"/>'


def _strongest(weight: Floats) -> npt.NDArray[np.bool_]:
    """Return which pairs are joined: those in which one is among the other's nearest."""
    count = len(weight)
    rank = np.empty((count, count), dtype=np.int64)
    for row in range(count):
        rank[row, np.lexsort((np.arange(count), -weight[row]))] = np.arange(count)
    near = (rank < LINES_EACH) & (weight > 0)
    joined: npt.NDArray[np.bool_] = near | near.T
    return joined


def _circle(plan: SitePlan, page: str, topic: CommunityRow, middle: Floats, radius: float) -> str:
    (x, y), name = middle, plan.topic_label(topic)
    say = plan.theme.words.say
    told = f"{name}: {say('count_pages', count=len(topic.entries))}"
    href = urls.relative_href(page, plan.community_page(topic.community_id))
    inside = 1.7 * radius
    lines = [Label(text, href) for text in _wrapped(name, int(inside / _BOLD))] if radius > 24 else []
    if radius > 46:
        lines += [
            Label(
                shortened(entry.title, int(inside / _CHAR)), plan.library.href(page, entry.page), entry.title
            )
            for entry in topic.entries[:TOP_PAGES]
        ]
    top = y - (len(lines) - 1) * 8
    drawn = "".join(
        _text(label, x, top + 16 * place, label.href != href) for place, label in enumerate(lines)
    )
    hue = topic.community_id % 6
    circle = f'<circle class="t{hue}" cx="{x:.0f}" cy="{y:.0f}" r="{radius:.0f}"/>'
    return (
        f'<g><a href="{escape(href)}" aria-label="{escape(told)}">'
        f"<title>{escape(told)}</title>{circle}</a>{drawn}</g>"
    )


def _text(label: Label, x: float, y: float, is_page: bool) -> str:
    """Return a line of text; a topic's name is already in the circle's link, a page is a link of its own."""
    if not is_page:
        return (
            f'<text class="name" aria-hidden="true" x="{x:.0f}" y="{y + 4:.0f}">{escape(label.text)}</text>'
        )
    title = f"<title>{escape(label.title)}</title>" if label.title != label.text else ""
    return (
        f'<a href="{escape(label.href)}"><text x="{x:.0f}" y="{y + 4:.0f}">'
        f"{title}{escape(label.text)}</text></a>"
    )


def _wrapped(name: str, fits: int) -> list[str]:
    """Return the name on at most two lines, with as many of its words as fit."""
    lines = [""]
    for word in name.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= fits or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return [shortened(line.rstrip(","), fits) for line in lines[:2]]


def _box(href: str, entry: Entry, label: str, middle: Floats, half: float) -> str:
    x, y = middle
    title = f"<title>{escape(entry.title)}</title>" if label != entry.title else ""
    rect = f'<rect x="{x - half:.0f}" y="{y - 12:.0f}" width="{2 * half:.0f}" height="24" rx="6"/>'
    text = f'<text x="{x:.0f}" y="{y + 4:.0f}">{escape(label)}</text>'
    return f'<a href="{escape(href)}">{title}{rect}{text}</a>'


def _picture(
    name: str, parts: Sequence[str], middles: Floats, halves: tuple[Floats, Floats], title: str
) -> Markup:
    half_width, half_height = halves
    left, top = ((middles[:, axis] - half).min() - 8 for axis, half in ((0, half_width), (1, half_height)))
    right, below = ((middles[:, axis] + half).max() + 8 for axis, half in ((0, half_width), (1, half_height)))
    box = f"{left:.0f} {top:.0f} {right - left:.0f} {below - top:.0f}"
    opening = (
        f'<svg class="map {name}" viewBox="{box}" width="{right - left:.0f}" '
        f'role="group" aria-label="{escape(title)}">'
    )
    return Markup(f"{opening}{''.join(parts)}</svg>")  # noqa: S704 - all that is not ours was escaped
