"""Fingerprints of what surrounds a document's content: backlinks, links and related pages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..grouping import Edges
from ..incremental.columns import Digests, Rows, as_matrix, digest, digest_of_texts, sequence_digests
from ..maps.neighbours import EACH_SIDE, MIN_NEIGHBOURS
from ..outline.plan import MAX_BACKLINKS, SitePlan

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Ranks:
    """Each document's rank among all, by links to it (most first) and by title."""

    linked: Rows
    titled: Rows


def shown_digests(plan: SitePlan) -> Digests:
    """Return for each document, by row, a digest of its address, title and description, and what tells it
    apart.

    That is all other pages show of it.
    """
    entries = plan.library.entries
    return as_matrix(
        [digest_of_texts(entry.page, entry.title, entry.description, entry.apart) for entry in entries]
    )


def ranks_of(plan: SitePlan) -> Ranks:
    """Return the order in which lists choose and show documents; rows are sorted by id, so ties keep that
    order.
    """
    entries = plan.library.entries
    links = np.array([entry.links_in for entry in entries], dtype=np.int64)
    titles = sorted(range(len(entries)), key=lambda row: (entries[row].title.casefold(), entries[row].doc_id))
    titled = np.empty(len(entries), dtype=np.int64)
    titled[np.array(titles, dtype=np.int64)] = np.arange(len(entries))
    linked = np.empty(len(entries), dtype=np.int64)
    linked[np.argsort(-links, kind="stable")] = np.arange(len(entries))
    return Ranks(linked, titled)


def backlink_digests(edges: Edges, shown: Digests, ranks: Ranks) -> list[bytes]:
    """Return digests of the pages that link to each page, including a count of those not named."""
    count = len(shown)
    order = np.lexsort((ranks.linked[edges.source], edges.target))
    source, target = edges.source[order], edges.target[order]
    kept = _place_in_group(target) < MAX_BACKLINKS
    source, target = source[kept], target[kept]
    order = np.lexsort((ranks.titled[source], target))
    named = sequence_digests(shown, source[order], _bounds(target, count))
    all_of_them = np.bincount(edges.target, minlength=count).tolist()
    return [digest(names, str(many).encode()) for names, many in zip(named, all_of_them, strict=True)]


def drawing_digests(edges: Edges, shown: Digests, ranks: Ranks) -> list[bytes]:
    """Return digests of the pages in the drawing of each page's surroundings."""
    count = len(shown)
    forward, back = edges.source * count + edges.target, edges.target * count + edges.source
    mutual = np.isin(forward, back)
    only = ~mutual
    left = _sides(edges.source[only], edges.target[only], mutual[only], shown, ranks)
    right = _sides(edges.target, edges.source, mutual, shown, ranks)
    links = np.bincount(edges.target, minlength=count) + np.bincount(edges.source, minlength=count)
    drawn = (links >= MIN_NEIGHBOURS).tolist()
    return [
        digest(one, other) if enough else b"" for one, other, enough in zip(left, right, drawn, strict=True)
    ]


def _sides(there: Rows, here: Rows, mutual: Flags, shown: Digests, ranks: Ranks) -> list[bytes]:
    """Return for each page ``here`` the best of the pages ``there``, and whether links go both ways."""
    order = np.lexsort((ranks.linked[there], ~mutual, here))
    there, here, mutual = there[order], here[order], mutual[order]
    kept = _place_in_group(here) < EACH_SIDE
    there, here, mutual = there[kept], here[kept], mutual[kept]
    marked = np.concatenate([shown[there], mutual[:, None].astype(np.uint8)], axis=1)
    return sequence_digests(marked, np.arange(len(marked)), _bounds(here, len(shown)))


def related_digests(plan: SitePlan, shown: Digests) -> list[bytes]:
    """Return digests of the pages that each page recommends."""
    relations = plan.relations
    return [digest(shown[relations.related_to(row)].tobytes()) for row in range(len(plan.library.entries))]


def _place_in_group(groups: Rows) -> Rows:
    """Return how many rows of the same group precede each row; groups are sorted."""
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]])) if len(groups) else groups
    sizes = np.diff(np.append(starts, len(groups)))
    return np.arange(len(groups)) - np.repeat(starts, sizes)


def _bounds(groups: Rows, count: int) -> Rows:
    """Return where the rows of each group begin and end; groups are sorted."""
    return np.searchsorted(groups, np.arange(count + 1)).astype(np.int64)
