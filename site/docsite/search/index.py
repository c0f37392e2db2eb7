"""The search index of a site: all its files, out of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from docsite.library import SnapshotTables
from docsite.plan import SitePage, SitePlan
from docsite.search.engine import engine
from docsite.search.excerpts import make_groups
from docsite.search.facets import make_facets
from docsite.search.kinships import kinships, no_kinships
from docsite.search.lists import Lists, make_lists
from docsite.search.manifest import Index, manifest
from docsite.search.material import Lexicon, Shape, read_lexicon, read_meanings, read_passages, read_shape
from docsite.search.packing import FOLDER, Names, page_of
from docsite.search.postings import arrange
from docsite.search.ranking import Ranking, ranking_of
from docsite.search.shelves import Shelves, make_shelves
from docsite.search.terms import Aliases, Shards, TurnedTerms, make_shards
from docsite.search.words import aliases, make_word_files, read_surfaces
from pipeline.search_settings import Search

MANIFEST, ENGINE = "manifest", "engine"
_UNSAID = "en"  # as the index analyses documents that name no language


def search_files(
    plan: SitePlan, snapshot: SnapshotTables, search: Search | None = None
) -> Iterator[SitePage]:
    """Every file below ``_search/``: the engine, the manifest, and the parts that a query loads as needed.

    Raises ``ArtifactError`` where the snapshot lacks the tables of search.
    """
    yield SitePage(f"{FOLDER}/{ENGINE}.js", engine())
    made = Names()
    index = _index(plan, snapshot, ranking_of(search or Search()), made)
    parts = [each for family in index.families().values() for each in family]
    names = [made.of(each) for each in parts]
    for name, packed in made.files():
        yield page_of(name, packed)
    yield page_of(MANIFEST, manifest(index, names))


def _index(plan: SitePlan, snapshot: SnapshotTables, ranking: Ranking, made: Names) -> Index:
    shape = read_shape(snapshot)
    surfaces = read_surfaces(snapshot)
    known = aliases(surfaces)
    words = make_word_files(snapshot, surfaces)
    languages = sorted(set(surfaces.languages)) or [_UNSAID]
    del surfaces
    lexicon = read_lexicon(snapshot)
    shards, lists = _terms_and_lists(snapshot, lexicon, shape, ranking, known)
    return Index(
        shape=shape,
        ranking=ranking,
        ceiling=_ceiling(lexicon),
        languages=languages,
        has_aliases=bool(known),
        shards=shards,
        lists=lists,
        shelves=_shelves(plan, snapshot, shape, made),
        words=words,
        facets=make_facets(plan),
    )


def _shelves(plan: SitePlan, snapshot: SnapshotTables, shape: Shape, made: Names) -> Shelves:
    """The shelves of all groups, which get their names here: the last to be made, for they are the largest."""
    groups = make_groups(plan, snapshot, shape.first.tolist())
    return make_shelves(groups, [made.of(each) for each in groups.parts])


def _terms_and_lists(
    snapshot: SnapshotTables, lexicon: Lexicon, shape: Shape, ranking: Ranking, known: Aliases
) -> tuple[Shards, Lists | None]:
    """What needs vectors; those of passages are let go of as soon as they are multiplied out."""
    meanings = read_meanings(snapshot, lexicon.terms) if ranking.meaning else None
    if meanings is None:
        return make_shards(
            lexicon, arrange(lexicon, shape, no_kinships(lexicon, shape), _ceiling(lexicon)), None, known
        ), None
    passages = read_passages(snapshot, meanings.documents.shape[1])
    kin = kinships(lexicon, shape, meanings.terms, passages, meanings.documents)
    del passages
    lists = make_lists(meanings, np.diff(shape.first) > 0)
    postings = arrange(lexicon, shape, kin, _ceiling(lexicon))
    return make_shards(lexicon, postings, TurnedTerms(meanings.terms, lists.turn), known), lists


def _ceiling(lexicon: Lexicon) -> float:
    if not len(lexicon.score):
        return 1.0
    best = np.maximum.reduceat(lexicon.score, lexicon.starts[:-1]) / lexicon.idf
    return float(np.ceil(best.max() * 1000) / 1000)
