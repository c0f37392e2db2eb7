"""What a point of the space is worth: the real search with its settings, asked every judged query.

Most of a trial is fusion and stages. Lists are kept and made again only where a change reaches them: of the settings
all that cannot, which are named here, are left out of what a list is kept by.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from artifacts.evaluate import Evaluation, evaluate, for_evaluation
from artifacts.judged import Judged
from artifacts.located import Located
from artifacts.measures import HEADLINE
from artifacts.query import Mode, Searcher
from artifacts.query.ask import Remember
from artifacts.query.corpus import Corpus
from artifacts.query.model import ListName, Query, RankedList
from flows.tuning.recount import Counts, recount, rescored_code, rescored_prose
from flows.tuning.space import Point, applied
from pipeline.search_settings import Search
from pipeline.settings import Lexical, Settings

Floats = npt.NDArray[np.float64]
# What somebody sees who asks for ten hits.
DEPTH = 10
# Read after the lists are made, or before, into the query that a list is kept by.
AFTER_LISTS = {
    "weights", "fusion", "rrf_k", "stages", "max_per_document", "recency_bias", "excerpt_chars", "balance", "support", "in_degree",
    "community", "recency", "glossary", "calibrate", "duplicates", "rerank", "mmr", "elbow", "aggregate", "parents",
    "caches",
}  # fmt: skip
BEFORE_LISTS = {"understand", "classify", "spelling", "acronyms", "synonyms", "concepts"}
_OF_VECTORS = ("semantic", "hypothesis")


@dataclass(slots=True)
class KeptLists:
    """The lists of one snapshot, by name, query and every setting that they may hang on; ``words`` were asked for."""

    lists: dict[tuple[object, ...], RankedList] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def for_settings(self, search: Search, scores: str = "") -> Remember:
        """What a searcher with these settings remembers lists by; ``scores`` names the scoring of words."""
        reach = search.model_dump(mode="json", exclude=AFTER_LISTS | BEFORE_LISTS)
        settings = json.dumps(reach, sort_keys=True)

        def remember(name: ListName, query: Query, limit: int, make: Callable[[], RankedList]) -> RankedList:
            key = (name, query, limit, settings, "" if name in _OF_VECTORS else scores)
            with self.lock:
                found = self.lists.get(key)
                if name == "keyword":
                    self.words.update(query.terms, *(each.terms for each in query.expansions))
            if found is None:
                found = make()
                with self.lock:
                    self.lists[key] = found
            return found

        return remember


@dataclass(slots=True)
class Built:
    """A snapshot to search in: the searcher over it, and which of its documents were judged."""

    searcher: Searcher
    located: Located
    lexical: Lexical
    counts: Counts | None = None
    corpora: dict[str, Corpus] = field(default_factory=dict)
    kept: KeptLists = field(default_factory=KeptLists)


@dataclass(frozen=True, slots=True)
class Ground:
    """A judged set and the snapshots it can be asked of, by the size of their passages (``256/32``)."""

    judged: Judged
    built: Mapping[str, Built]

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries that are scored, in the order of the scores."""
        return tuple(sorted(self.judged.answerable))


class Trials:
    """The scores of points, each worked out once; ``spent`` counts them, ``advance`` hears of each."""

    def __init__(
        self,
        grounds: Sequence[Ground],
        settings: Settings,
        mode: Mode = "hybrid",
        advance: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.grounds, self._settings, self._mode, self._advance = tuple(grounds), settings, mode, advance
        self._known: dict[str, tuple[Floats, ...]] = {}
        self.warnings: dict[str, None] = {}

    @property
    def spent(self) -> int:
        """How many different settings were tried."""
        return len(self._known)

    def scores(self, point: Point) -> tuple[Floats, ...]:
        """nDCG@10 of every query, in the order of their ids, for each ground; raises as a search does."""
        settings = applied(self._settings, point)
        key = settings.model_dump_json(include={"chunk", "search", "lexical"})
        if key not in self._known:
            found = [self._evaluation(ground, settings, point) for ground in self.grounds]
            self.warnings |= dict.fromkeys(w for each in found for w in each.warnings)
            self._known[key] = tuple(
                np.array([score.values[HEADLINE] for score in each.scores]) for each in found
            )
            self._advance(1)
        return self._known[key]

    def _evaluation(self, ground: Ground, settings: Settings, point: Point) -> Evaluation:
        built = ground.built[chunk_label(settings) if len(ground.built) > 1 else next(iter(ground.built))]
        search = for_evaluation(settings).search
        lexical = _lexical(built.lexical, point)
        remember = built.kept.for_settings(search, lexical.model_dump_json())
        searcher = built.searcher.with_settings(search, _corpus(built, lexical), remember)
        return evaluate(searcher, ground.judged, built.located, mode=self._mode, depth=DEPTH)


def chunk_label(settings: Settings) -> str:
    """The size of the passages that the settings make, as the axis ``chunk`` names it."""
    return f"{settings.chunk.max_tokens}/{settings.chunk.overlap_tokens}"


def _lexical(own: Lexical, point: Point) -> Lexical:
    """The snapshot's own scoring with the point's changes: not the settings', which may have made no snapshot yet."""
    changes = Point(tuple(change for change in point.changes if change.key.startswith("lexical.")))
    return applied(Settings(lexical=own), changes).lexical


def _corpus(built: Built, lexical: Lexical) -> Corpus:
    """The snapshot's content with the scores that ``lexical`` gives; kept, as counting takes a while."""
    own = built.searcher.corpus
    if lexical == built.lexical:
        return own
    label = lexical.model_dump_json()
    if label not in built.corpora:
        built.counts = built.counts or recount(own.snapshot)
        prose = rescored_prose(own.prose, built.counts, lexical, sorted(built.kept.words))
        code = rescored_code(own.code, built.counts, lexical, ())
        built.corpora[label] = own.with_postings(prose, code)
    return built.corpora[label]
