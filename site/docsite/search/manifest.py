"""The manifest, which a browser reads first: names of files, numbers of the ranking, flags of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from ...pipeline.identity import sha256_hex
from ...pipeline.lexical.bm25f import credibility
from ...pipeline.lexical.stop_words import question_words, stop_words
from ...pipeline.lexical.word_pieces import UNSEEN_SHARE
from ...pipeline.settings.search import Search
from .excerpts import ExcerptGroups
from .files import compressed
from .format import FAMILIES, FORMAT, MANIFEST, MANIFEST_VECTORS, separators, strings
from .index_inputs import Ints, Shape
from .inverted_file import LEVELS, InvertedFile
from .quantization import OWN_STEP, levels_by_bits
from .spelling import SynonymFile, WordFiles
from .terms import NO_SHARDS, Shards
from .token_shards import TokenFiles

LINK_STEPS = 8  # levels per unit of ln(1 + links in)
_MOST_LINK_LEVEL = 127


@dataclass(frozen=True, slots=True)
class Boost:
    """A factor applied to documents that were found.

    It is for those in the communities of the ``seeds`` best ones, or for those changed within a number of
    days, by ``tiers`` of days and factors.
    """

    kind: Literal["community", "recency"]
    seeds: int = 0
    factor: float = 1.0
    tiers: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The weights of the parts of a score, and how many candidates each list gives.

    ``score(p) = (keyword · words + passage · cos(q, p) + document · cos(q, d)) / their sum``, times ``1 +
    support · second / best`` and ``1 + links · ln(1 + links in)``, and the boosts, one after the other.
    ``words`` is a share of the best, times that of known words and the collection's credibility. With
    ``rrf_k`` the first is ``keyword / (k + rank) + passage / (k + rank) + document / (k + rank)``.
    """

    keyword: float
    passage: float
    document: float
    support: float
    links: float
    candidates: int
    rrf_k: int | None = None
    boosts: tuple[Boost, ...] = ()

    @property
    def meaning(self) -> float:
        """Return the combined weight of the two cosines."""
        return self.passage + self.document


def ranking_of(search: Search) -> Ranking:
    """Return a search's weights, leaving out what a browser cannot do (other lists, other stages)."""
    return Ranking(
        keyword=search.weights["keyword"],
        passage=search.weights["semantic"],
        document=search.weights["document"],
        support=search.support.share if "support" in search.stages else 0.0,
        links=search.in_degree.share if "in_degree" in search.stages else 0.0,
        candidates=search.candidates,
        rrf_k=search.rrf_k if search.fusion == "rrf" else None,
        boosts=tuple(_boost(stage, search) for stage in search.stages if stage in ("community", "recency")),
    )


def _boost(stage: str, search: Search) -> Boost:
    if stage == "community":
        return Boost("community", seeds=search.community.seeds, factor=search.community.factor)
    given = zip(search.recency.days, search.recency.factors, strict=True)
    tiers = tuple((days, 1 + search.recency_bias * (factor - 1)) for days, factor in given)
    return Boost("recency", tiers=tiers)


@dataclass(frozen=True, slots=True)
class BaseSegment:
    """Term shards of the snapshot named ``snapshot``; ``ceiling`` is BM25F's maximum at rarity 1 in it."""

    snapshot: str
    documents: int
    passages: int
    ceiling: float
    shards: Shards


@dataclass(frozen=True, slots=True)
class RecentSegment:
    """Term shards of documents that are not in the base as they are now; and which of the base are gone."""

    shards: Shards = NO_SHARDS
    stale: Sequence[int] = ()
    recent: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Lookup:
    """What words and meanings are looked up in; ``shape`` is that of the snapshot, not of the base."""

    shape: Shape
    ranking: Ranking
    languages: Sequence[str]
    has_aliases: bool
    base: BaseSegment
    recent: RecentSegment
    inverted_file: InvertedFile | None
    words: WordFiles
    tokens: TokenFiles | None
    synonyms: SynonymFile | None


@dataclass(frozen=True, slots=True)
class Shown:
    """What hits are shown from: the groups of excerpts, and the file of facets."""

    excerpts: ExcerptGroups
    facets: str


@dataclass(frozen=True, slots=True)
class Index:
    """Both halves of an index: what hits are looked up in, and what they are shown from."""

    lookup: Lookup
    shown: Shown

    def families(self) -> Mapping[str, Sequence[str]]:
        """Return the names of files by what they hold, in the order of the manifest."""
        lookup = self.lookup
        names: Mapping[str, Sequence[str]] = {
            "term_shards": lookup.base.shards.shards,
            "posting_tiers": lookup.base.shards.tails + lookup.recent.shards.tails,
            "inverted_lists": lookup.inverted_file.names if lookup.inverted_file else (),
            "excerpt_groups": self.shown.excerpts.names,
            "words": lookup.words.words,
            "near_words": lookup.words.near,
            "facets": (self.shown.facets,),
            "token_directories": (lookup.tokens.directory,) if lookup.tokens else (),
            "token_projections": (lookup.tokens.projection,) if lookup.tokens else (),
            "synonyms": (lookup.synonyms.file,) if lookup.synonyms else (),
            "recent_shards": lookup.recent.shards.shards,
        }
        return {family: names[family] for family in FAMILIES}


def manifest(index: Index) -> bytes:
    """Pack the manifest."""
    shape, words, excerpts = index.lookup.shape, index.lookup.words, index.shown.excerpts
    base, recent = index.lookup.base, index.lookup.recent
    names = [name for family in index.families().values() for name in family]
    links = np.round(np.log1p(shape.links_in) * LINK_STEPS).astype(np.int64)
    values = {
        "header": _header(index, names),
        "file_names": bytes.fromhex("".join(names)),
        **strings(separators(base.shards.first, base.shards.last), "shard"),
        **strings(separators(recent.shards.first, recent.shards.last), "recent"),
        "stale_gap": _gaps(recent.stale),
        "recent_gap": _gaps(recent.recent),
        **strings(words.first, "letter"),
        "first_document_gap": np.diff(np.array(excerpts.documents, dtype=np.int64), prepend=0),
        "document_flags": np.minimum(links, _MOST_LINK_LEVEL) * 2 + (np.diff(shape.first) == 1),
    }
    vectors = index.lookup.inverted_file
    return compressed(MANIFEST.pack(values) + (MANIFEST_VECTORS.pack(vectors.columns()) if vectors else []))


def _gaps(ascending: Sequence[int]) -> Ints:
    rows: Ints = np.array([-1, *ascending], dtype=np.int64)
    return rows[1:] - rows[:-1] - 1


def _header(index: Index, names: Sequence[str]) -> dict[str, object]:
    lookup, shape = index.lookup, index.lookup.shape
    return {
        "format": FORMAT,
        "build": sha256_hex("".join(names).encode())[:16],
        "base": lookup.base.snapshot,
        "base_documents": lookup.base.documents,
        "documents": shape.documents,
        "passages": shape.passages,
        "ceiling": lookup.base.ceiling,
        "ranking": asdict(lookup.ranking),
        "languages": list(lookup.languages),
        "stop_words": sorted(frozenset[str]().union(*map(stop_words, lookup.languages))),
        "question_words": sorted(frozenset[str]().union(*map(question_words, lookup.languages))),
        "aliases": lookup.has_aliases,
        "dimensions": lookup.inverted_file.projection.shape[1] if lookup.inverted_file else 0,
        "levels": [list(each) for each in LEVELS],
        "posting_levels": levels_by_bits(lookup.base.passages).tolist(),
        "own_step": OWN_STEP,
        "link_steps": LINK_STEPS,
        "unseen_share": UNSEEN_SHARE,
        "credibility": credibility(shape.documents),
        "excerpt_sharing": index.shown.excerpts.sharing,
        "synonyms": [lookup.synonyms.weight, lookup.synonyms.most] if lookup.synonyms else [0, 0],
        "files": {family: len(names) for family, names in index.families().items()},
    }
