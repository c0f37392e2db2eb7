"""The manifest: what a browser reads first, the names of all files and what ranking needs of every document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ...artifacts.query.understanding.term_vectors import PIECE_WEIGHT
from ...pipeline.identity import sha256_hex
from .excerpt_directory import Shelves
from .inverted_file import LEVELS, Lists
from .material import Shape
from .packing import FORMAT, compressed, octets, strings, text
from .quantization import OWN_STEP, levels_by_bits
from .ranking import Ranking
from .terms import Shards, utf16
from .words import WordFiles

LINK_STEPS = 8  # levels per unit of ln(1 + links in)
_MOST_LINK_LEVEL = 127


@dataclass(frozen=True, slots=True)
class Lookup:
    """What words and meanings are looked up in; ``ceiling`` is the most that BM25F gives for a term of rarity 1."""

    shape: Shape
    ranking: Ranking
    ceiling: float
    languages: Sequence[str]
    has_aliases: bool
    shards: Shards
    lists: Lists | None
    words: WordFiles


@dataclass(frozen=True, slots=True)
class Shown:
    """What hits are shown from, and the name of the file of what they are filtered by."""

    shelves: Shelves
    facets: str


@dataclass(frozen=True, slots=True)
class Index:
    """All that was made of a snapshot: where hits are looked up, and what they are shown from and filtered by."""

    lookup: Lookup
    shown: Shown

    def families(self) -> Mapping[str, Sequence[str]]:
        """The names of files by what they hold, in the order of the manifest."""
        lookup = self.lookup
        return {
            "shards": lookup.shards.shards,
            "tails": lookup.shards.tails,
            "lists": lookup.lists.names if lookup.lists else (),
            "shelves": self.shown.shelves.names,
            "words": lookup.words.words,
            "near": lookup.words.near,
            "facets": (self.shown.facets,),
        }


def manifest(index: Index) -> bytes:
    """The manifest, packed."""
    shape, words, lists = index.lookup.shape, index.lookup.words, index.lookup.lists
    names = [name for family in index.families().values() for name in family]
    links = np.round(np.log1p(shape.links_in) * LINK_STEPS).astype(np.int64)
    return compressed(
        [
            text(_header(index, names)),
            bytes.fromhex("".join(names)),
            *strings(_separators(index.lookup.shards)),
            *strings(words.first),
            *index.shown.shelves.columns(),
            octets(np.minimum(links, _MOST_LINK_LEVEL) * 2 + (np.diff(shape.first) == 1)),
            *(lists.columns() if lists else []),
        ]
    )


def _header(index: Index, names: Sequence[str]) -> dict[str, object]:
    lookup, shape = index.lookup, index.lookup.shape
    return {
        "format": FORMAT,
        "build": sha256_hex("".join(names).encode())[:16],
        "documents": shape.documents,
        "passages": shape.passages,
        "ceiling": lookup.ceiling,
        "ranking": asdict(lookup.ranking),
        "languages": list(lookup.languages),
        "aliases": lookup.has_aliases,
        "dimensions": lookup.lists.turn.shape[1] if lookup.lists else 0,
        "levels": [list(each) for each in LEVELS],
        "posting_levels": levels_by_bits(shape.passages).tolist(),
        "own_step": OWN_STEP,
        "link_steps": LINK_STEPS,
        "piece_weight": PIECE_WEIGHT,
        "files": {family: len(names) for family, names in index.families().items()},
    }


def _separators(shards: Shards) -> list[str]:
    """For each shard the shortest beginning of its first term that comes after the last of the shard before."""
    return [
        next(
            first[:end]
            for end in range(len(first) + 1)
            if utf16(first[:end]) > utf16(last) or end == len(first)
        )
        for first, last in zip(shards.first, ("", *shards.last), strict=False)
    ]
