"""Pages a reader may want next: those that share links and tags with a page, its own community first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..grouping import Edges
from ..library import Entry

Rows = npt.NDArray[np.int64]

# What half the site links to or is tagged with says nothing about relatedness, and would cost a pass over it.
MAX_SHARED_BY = 200
DIRECT_LINK = 0.6
# More than any page can share with another, and little enough for nine decimals beside it.
_NEAR = 1e5
# How many are compared in one batch; each may share something with thousands.
_PAGES_AT_A_TIME = 128


class Relations:
    """The links, tags and communities of all pages, by row number.

    Each page has up to ``many`` related pages.
    """

    def __init__(self, entries: Sequence[Entry], edges: Edges, many: int) -> None:
        self._count, self._many = len(entries), many
        self._communities = np.array([entry.community for entry in entries], dtype=np.int64)
        self._links = _Grouped.of(edges.source, edges.target, self._count)
        self._backlinks = _Grouped.of(edges.target, edges.source, self._count)
        tagged, tags = _tags(entries)
        page, feature = np.append(edges.source, tagged), np.append(edges.target, self._count + tags)
        pages = np.bincount(feature, minlength=1)
        is_telling = ((pages > 1) & (pages <= MAX_SHARED_BY))[feature]
        page, feature = page[is_telling], feature[is_telling]
        self._features = _Grouped.of(page, feature, self._count)
        self._pages = _Grouped.of(feature, page, len(pages))
        self._weights = 1 / np.log2(1 + np.maximum(pages, 1))
        self._found: dict[int, list[Rows]] = {}

    def links_of(self, row: int) -> list[int]:
        """Return the pages that this page links to."""
        return self._links.group(row)

    def backlinks_of(self, row: int) -> list[int]:
        """Return the pages that link to this page."""
        return self._backlinks.group(row)

    def related_to(self, row: int) -> Rows:
        """Return other pages, best first: same community before others, then by what is shared.

        A shared link or tag counts less the more pages share it; a direct link in either direction counts as
        well. Neighbouring pages are compared in one batch, and the results kept for when they are asked for.
        """
        part, place = divmod(row, _PAGES_AT_A_TIME)
        if part not in self._found:
            first = part * _PAGES_AT_A_TIME
            batch = np.arange(first, min(first + _PAGES_AT_A_TIME, self._count))
            self._found[part] = list(self._best(batch))
        return self._found[part][place]

    def _best(self, batch: Rows) -> Iterator[Rows]:
        page, other, scores = self._scores(batch)
        own = self._communities[page]
        is_near = (self._communities[other] == own) & (own >= 0)
        # Rounded, so that sums of the same weights in another order tie.
        worth = np.round(scores, 9) + is_near * _NEAR
        borders = np.searchsorted(page, np.append(batch, batch[-1] + 1))
        for start, end in pairwise(borders.tolist()):
            yield other[start:end][np.argsort(-worth[start:end], kind="stable")[: self._many]]

    def _scores(self, batch: Rows) -> tuple[Rows, Rows, npt.NDArray[np.float64]]:
        """Return pairs of a page of the batch and another page, in order, with what they share."""
        place, feature = self._features.of_groups(batch)
        shared, others = self._pages.of_groups(feature)
        direct = [grouped.of_groups(batch) for grouped in (self._links, self._backlinks)]
        page = batch[np.concatenate([place[shared], *(near for near, _ in direct)])]
        other = np.concatenate([others, *(linked for _, linked in direct)])
        linked = len(page) - len(shared)
        weights = np.append(self._weights[feature][shared], np.full(linked, DIRECT_LINK))
        is_other = page != other
        pairs, at = np.unique(page[is_other] * self._count + other[is_other], return_inverse=True)
        scores = np.bincount(at, weights[is_other], minlength=len(pairs))
        return pairs // self._count, pairs % self._count, scores.astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Grouped:
    """Values by the number of their group, each group's in order."""

    values: npt.NDArray[np.int32]
    starts: Rows

    @classmethod
    def of(cls, group: Rows, value: Rows, count: int) -> _Grouped:
        order = np.lexsort((value, group))
        return cls(value[order].astype(np.int32), np.searchsorted(group[order], np.arange(count + 1)))

    def group(self, number: int) -> list[int]:
        """Return the values of a group."""
        found: list[int] = self.values[self.starts[number] : self.starts[number + 1]].tolist()
        return found

    def of_groups(self, groups: npt.NDArray[np.integer]) -> tuple[Rows, npt.NDArray[np.int32]]:
        """Return the values of these groups, one group after the other, each with the place of its group."""
        sizes = self.starts[groups + 1] - self.starts[groups]
        place = np.repeat(np.arange(len(groups)), sizes)
        within = np.arange(len(place)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return place, self.values[self.starts[groups][place] + within]


def _tags(entries: Sequence[Entry]) -> tuple[Rows, Rows]:
    """Return each page with a tag, and the tag's number."""
    names = {tag: number for number, tag in enumerate(sorted({tag for e in entries for tag in e.tags}))}
    pairs = [(entry.row, names[tag]) for entry in entries for tag in set(entry.tags)]
    tagged = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return tagged[:, 0], tagged[:, 1]
