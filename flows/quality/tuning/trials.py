"""What a point of the space is worth: the real search with its settings, asked every judged query.

Most of a trial is fusion and stages. Lists are kept and made again only where a change reaches them: of the
settings all that cannot, which are named here, are left out of what a list is kept by.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ....artifacts.judged.evaluate import Evaluation, evaluate, for_evaluation
from ....artifacts.judged.locating import Located
from ....artifacts.judged.measures import HEADLINE
from ....artifacts.judged.reading import Judged
from ....artifacts.query import Mode, Searcher
from ....artifacts.query.context import Remember
from ....artifacts.query.index.corpus import CorpusReader
from ....artifacts.query.model import ListName, Query, RankedList
from ....pipeline.settings.search import Search
from ....pipeline.settings.settings import Lexical, Settings
from .rescore import Counts, recount, rescored_code, rescored_prose
from .space import Point, applied

Floats = npt.NDArray[np.float64]
K = TypeVar("K")
V = TypeVar("V")
# What somebody sees who asks for ten hits.
DEPTH = 10
# Read after the lists are made, or before, into the query that a list is kept by.
AFTER_LISTS = {
    "weights", "fusion", "rrf_k", "stages", "max_per_document", "recency_bias", "excerpt_chars", "balance",
    "rocchio", "support", "in_degree", "community", "recency", "glossary", "calibrate", "duplicates",
    "rerank", "mmr", "elbow", "aggregate", "parents", "caches",
}  # fmt: skip
BEFORE_LISTS = {"understand", "classify", "spelling", "acronyms", "synonyms", "concepts"}
_OF_VECTORS = ("semantic", "hypothesis")
# For the lists that are kept: each holds a score for every passage, so those of a few hundred queries take a
# quarter of a gigabyte of a large corpus, for each way to make them. A search goes from one point to the next
# and seldom further back.
_ROOM_BYTES, _LEAST_KEPT = 1_000_000_000, 4


@dataclass(slots=True)
class KeptLists:
    """The lists of one snapshot, by every setting that they may depend on, then by name and query.

    Those of the ``most`` settings asked for last are kept. ``words`` are those that were asked for.
    """

    most: int = _LEAST_KEPT

    lists: OrderedDict[tuple[str, str], dict[tuple[object, ...], RankedList]] = field(
        default_factory=OrderedDict
    )
    words: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def for_settings(self, search: Search, scores: str = "") -> Remember:
        """Return what a searcher with these settings, and ``scores`` for words, remembers lists by."""
        reach = search.model_dump(mode="json", exclude=AFTER_LISTS | BEFORE_LISTS)
        settings = json.dumps(reach, sort_keys=True)

        def remember(name: ListName, query: Query, limit: int, make: Callable[[], RankedList]) -> RankedList:
            key = (name, query, limit)
            with self.lock:
                which = (settings, "" if name in _OF_VECTORS else scores)
                kept = _lately(self.lists, which, dict[tuple[object, ...], RankedList], self.most)
                found = kept.get(key)
                if name == "keyword":
                    self.words.update(query.terms, *(each.terms for each in query.expansions))
            if found is None:
                found = make()
                with self.lock:
                    kept[key] = found
            return found

        return remember


def most_kept(passages: int, queries: int) -> int:
    """Return for how many settings lists may be kept, of so many queries over so many passages."""
    return max(_LEAST_KEPT, _ROOM_BYTES // (8 * max(1, passages * queries)))


def _lately(kept: OrderedDict[K, V], key: K, make: Callable[[], V], most: int) -> V:
    """Return what is kept under the key, made where it is not; what was not asked for lately goes."""
    if key not in kept:
        kept[key] = make()
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
    return kept[key]


@dataclass(slots=True)
class Built:
    """A snapshot to search in: the searcher over it, and which of its documents were judged."""

    searcher: Searcher
    located: Located
    lexical: Lexical
    counts: Counts | None = None
    corpora: OrderedDict[str, CorpusReader] = field(default_factory=OrderedDict)
    kept: KeptLists = field(default_factory=KeptLists)


@dataclass(frozen=True, slots=True)
class TuningSet:
    """A judged set and the snapshots it can be asked of, by the size of their passages (``256/32``)."""

    judged: Judged
    built: Mapping[str, Built]

    @property
    def queries(self) -> tuple[str, ...]:
        """Return the queries that are scored, in the order of the scores."""
        return tuple(sorted(self.judged.answerable))


class Trials:
    """The scores of points, each worked out once; ``spent`` counts them, ``advance`` hears of each."""

    def __init__(
        self,
        tuning_sets: Sequence[TuningSet],
        settings: Settings,
        mode: Mode = "hybrid",
        advance: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.tuning_sets = tuple(tuning_sets)
        self._settings, self._mode, self._advance = settings, mode, advance
        self._known: dict[str, tuple[Floats, ...]] = {}
        self.warnings: dict[str, None] = {}

    @property
    def spent(self) -> int:
        """Return how many different settings were tried."""
        return len(self._known)

    def scores(self, point: Point) -> tuple[Floats, ...]:
        """Return nDCG@10 of every query, in the order of ids, for each set; raises as a search does."""
        settings = applied(self._settings, point)
        key = settings.model_dump_json(include={"chunk", "search", "lexical"})
        if key not in self._known:
            found = [self._evaluation(each, settings, point) for each in self.tuning_sets]
            self.warnings |= dict.fromkeys(w for each in found for w in each.warnings)
            self._known[key] = tuple(
                np.array([score.values[HEADLINE] for score in each.scores]) for each in found
            )
            self._advance(1)
        return self._known[key]

    def _evaluation(self, tuning_set: TuningSet, settings: Settings, point: Point) -> Evaluation:
        stores = tuning_set.built
        built = stores[chunk_label(settings) if len(stores) > 1 else next(iter(stores))]
        search = for_evaluation(settings).search
        lexical = _lexical(built.lexical, point)
        remember = built.kept.for_settings(search, lexical.model_dump_json())
        searcher = built.searcher.with_settings(search, _corpus(built, lexical), remember)
        return evaluate(searcher, tuning_set.judged, built.located, mode=self._mode, depth=DEPTH)


def chunk_label(settings: Settings) -> str:
    """Return the size of the passages that the settings make, as the axis ``chunk`` names it."""
    return f"{settings.chunk.max_tokens}/{settings.chunk.overlap_tokens}"


def _lexical(own: Lexical, point: Point) -> Lexical:
    """Return the snapshot's scoring, not the file's, which may have made none yet, with the changes."""
    changes = Point(tuple(change for change in point.changes if change.key.startswith("lexical.")))
    return applied(Settings(lexical=own), changes).lexical


def _corpus(built: Built, lexical: Lexical) -> CorpusReader:
    """Return the snapshot's content scored as ``lexical`` says; it is kept, as counting takes a while."""
    own = built.searcher.corpus
    if lexical == built.lexical:
        return own
    label = lexical.model_dump_json()
    return _lately(built.corpora, label, lambda: _rescored(built, own, lexical), built.kept.most)


def _rescored(built: Built, own: CorpusReader, lexical: Lexical) -> CorpusReader:
    built.counts = built.counts or recount(own.snapshot)
    prose = rescored_prose(own.prose, built.counts, lexical, sorted(built.kept.words))
    return own.with_postings(prose, rescored_code(own.code, built.counts, lexical))
