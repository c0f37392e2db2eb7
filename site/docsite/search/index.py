"""The search index of a site: its files, and the manifest that a browser reads first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from docsite.library import SnapshotTables
from docsite.plan import SitePage, SitePlan
from docsite.search.excerpts import Groups, make_groups
from docsite.search.facets import make_facets
from docsite.search.lists import DIMENSIONS, LEVELS, Lists, make_lists
from docsite.search.material import Lexicon, Shape, read_lexicon, read_meanings, read_shape
from docsite.search.packing import (
    FOLDER,
    Names,
    Part,
    compressed,
    octets,
    page_of,
    strings,
    text,
    varints,
)
from docsite.search.postings import LEVELS as POSTING_LEVELS
from docsite.search.postings import arrange
from docsite.search.ranking import ranking_of
from docsite.search.terms import Shards, make_shards, utf16
from docsite.search.words import WordFiles, aliases, make_word_files, read_surfaces
from docsite.templates import CLIENT
from pipeline.identity import sha256_hex
from pipeline.search_settings import Search

FORMAT = 1
MANIFEST, ENGINE = "manifest", "engine"
# The order in which the engine's files stand in one another's scope.
LAYERS = (
    "bytes", "parts", "stem", "analyze", "query", "manifest", "terms", "postings", "meaning", "rank",
    "facets", "words", "excerpts", "engine",
)  # fmt: skip
LINK_STEPS = 4  # levels per unit of ln(1 + links in)


def search_files(
    plan: SitePlan, snapshot: SnapshotTables, search: Search | None = None
) -> Iterator[SitePage]:
    """Every file below ``_search/``: the engine, the manifest, and the parts that a query loads as needed.

    Raises ``ArtifactError`` where the snapshot lacks the tables of search.
    """
    numbers = ranking_of(search or Search())
    yield SitePage(f"{FOLDER}/{ENGINE}.js", engine())
    shape = read_shape(snapshot)
    groups = make_groups(plan, snapshot, shape.first.tolist())
    facets = make_facets(plan)
    surfaces = read_surfaces(snapshot)
    words = make_word_files(snapshot, surfaces)
    known = aliases(surfaces)
    languages = sorted(set(surfaces.languages)) or ["en"]
    del surfaces
    lexicon = read_lexicon(snapshot)
    ceiling = _ceiling(lexicon)
    meanings = read_meanings(snapshot, lexicon.terms, shape, numbers)
    lists = make_lists(meanings, np.diff(shape.first) > 0) if meanings else None
    postings = arrange(lexicon, shape, meanings, ceiling)
    shards = make_shards(lexicon, postings, meanings, lists.turn if lists else None, known)
    families = _families(shards, lists, groups, words, facets)
    made = Names()
    names = [made.of(each) for family in families.values() for each in family]
    yield from _written(names, families)
    header = {
        "format": FORMAT,
        "build": sha256_hex("".join(names).encode())[:16],
        "documents": shape.documents,
        "passages": shape.passages,
        "ceiling": ceiling,
        "ranking": asdict(numbers),
        "languages": languages,
        "aliases": bool(known),
        "dimensions": lists.turn.shape[1] if lists else 0,
        "levels": [list(each) for each in LEVELS],
        "posting_levels": POSTING_LEVELS,
        "link_steps": LINK_STEPS,
        "files": {name: len(family) for name, family in families.items()},
    }
    columns = [text(header), bytes.fromhex("".join(names)), *_columns(shape, shards, lists, groups, words)]
    yield page_of(MANIFEST, compressed(columns))


def _separators(shards: Shards) -> list[str]:
    """For each shard the shortest beginning of its first term that comes after the last of the shard before."""
    return [
        next(first[:end] for end in range(len(first) + 1) if utf16(first[:end]) > utf16(last) or end == len(first))
        for first, last in zip(shards.first, ("", *shards.last[:-1]), strict=True)
    ]


def _ceiling(lexicon: Lexicon) -> float:
    """The most that BM25F gives for a term of rarity 1."""
    if not len(lexicon.score):
        return 1.0
    best = np.maximum.reduceat(lexicon.score, lexicon.starts[:-1]) / lexicon.idf
    return float(np.ceil(best.max() * 1000) / 1000)


def _families(
    shards: Shards, lists: Lists | None, groups: Groups, words: WordFiles, facets: Part
) -> dict[str, Sequence[Part]]:
    return {
        "shards": shards.shards,
        "tails": shards.tails,
        "lists": lists.parts if lists else (),
        "groups": groups.parts,
        "words": words.words,
        "near": words.near,
        "facets": (facets,),
    }


def _columns(
    shape: Shape,
    shards: Shards,
    lists: Lists | None,
    groups: Groups,
    words: WordFiles,
) -> list[bytes]:
    links = np.round(np.log1p(shape.links_in) * LINK_STEPS).astype(np.int64)
    return [
        *strings(_separators(shards)),
        *strings(words.first),
        varints(np.diff(groups.documents, prepend=0)),
        varints(np.array(groups.ordinals, dtype=np.int64)),
        octets(np.minimum(links, 127) * 2 + (np.diff(shape.first) == 1)),
        *(lists.columns() if lists else [b""] * 7),
    ]


def _written(names: Sequence[str], families: Mapping[str, Sequence[Part]]) -> Iterator[SitePage]:
    """Each part once: equal parts are one file."""
    parts = (each for family in families.values() for each in family)
    for name, each in sorted(dict(zip(names, parts, strict=True)).items()):
        yield page_of(name, each.packed)


_COMMENTS = re.compile(r"^[ \t]*(?:/\*\*.*?\*/[ \t]*\n|//[^\n]*\n)", re.DOTALL | re.MULTILINE)
_INDENTS = re.compile(r"^[ \t]+|\n(?=\s*\n)", re.MULTILINE)


def engine(folder: Path = CLIENT / "search") -> bytes:
    """The engine's files in one scope, without comments and indentation: one script, which defines ``noctule``."""
    sources = [(folder / f"{name}.js").read_text("utf-8") for name in LAYERS]
    stripped = "".join(_INDENTS.sub("", _COMMENTS.sub("", source)) for source in sources)
    return f'var noctule=(function(noctule){{"use strict";\n{stripped}return noctule;}})(self.noctule||{{}});\n'.encode()
