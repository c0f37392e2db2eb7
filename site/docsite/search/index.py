"""The search index of a site: all its files, out of a snapshot; FORMAT.md describes their bytes.

There are two halves: what words and meanings are looked up in, which knows nothing of pages, and what hits
are shown from. Each can be made without the other; the manifest is made of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ...pipeline.settings.search import Search
from ..assets import bundle
from ..incremental.previous import PreviousSite
from ..library import SnapshotTables
from ..outline.plan import SitePage, SitePlan
from ..urls import SEARCH
from .cosine_contributions import cosine_contributions, no_contributions
from .excerpts import Card, cards, make_excerpts
from .facets import facets
from .files import Files, Half, script
from .inverted_file import InvertedFile, make_inverted_file
from .manifest import Index, Lookup, Ranking, Shown, manifest, ranking_of
from .material import Lexicon, Shape, read_lexicon, read_meanings, read_passages, read_shape
from .postings import arrange
from .quantization import TurnedTerms
from .spelling import aliases, make_synonyms, make_word_files, read_surfaces
from .terms import Aliases, Shards, cut_for, make_shards, make_token_files

MANIFEST, ENGINE, FOLDER = "manifest", "engine", f"{SEARCH}/"
T = TypeVar("T")
_UNSAID = "en"  # as the index analyses documents that name no language


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The halves of an index that are made elsewhere, to be asked for when everything else is there.

    ``room`` says for how many files there is room when all are there but the manifest and what hits are shown
    from.
    """

    lookup: Callable[[], Lookup] | None = None
    shown: Callable[[], Shown] | None = None
    room: Callable[[], int | None] = lambda: None


def search_files(
    plan: SitePlan,
    snapshot: SnapshotTables,
    search: Search | None = None,
    previous: PreviousSite | None = None,
    folder: str = FOLDER,
    elsewhere: Elsewhere | None = None,
) -> Iterator[SitePage]:
    """Yield every file below ``folder``: the engine, the manifest, and what a query loads as needed.

    Files of the site before are kept where they are what ``previous`` has. A half that is made ``elsewhere``
    is not among the files. Raises ``ArtifactError`` where the snapshot lacks the tables of search,
    ``TooManyFiles`` where there is no room for them all.
    """
    before, other = previous or PreviousSite(), elsewhere or Elsewhere()
    lookup, shown = other.lookup, other.shown
    if lookup is None:
        with Files(folder, before, Half.LOOKUP) as files:
            lookup = _ready(make_lookup(snapshot, search or Search(), files))
            yield from files.pages()
    yield SitePage(f"{folder}{ENGINE}.js", bundle(ENGINE))
    if shown is None:
        with Files(folder, before, Half.SHOWN) as files:
            room = other.room()
            shown = _ready(
                make_shown(cards(plan), facets(plan), snapshot, files, None if room is None else room - 1)
            )
            yield from files.pages()
    # Of two halves that one process was given it is the later; if it has not begun, it is made here
    # meanwhile.
    had = shown()
    yield SitePage(f"{folder}{MANIFEST}.js", script(MANIFEST, manifest(Index(lookup(), had))))


def _ready(made: T) -> Callable[[], T]:
    return lambda: made


def make_shown(
    documents: Sequence[Card],
    filters: Sequence[bytes],
    snapshot: SnapshotTables,
    files: Files,
    most: int | None = None,
) -> Shown:
    """Add what hits are shown from; ``filters`` are the columns of the file that they are filtered by.

    Raises ``TooManyFiles`` if there were more than ``most`` of them.
    """
    left = None if most is None else most - 1
    excerpts = make_excerpts(documents, snapshot, np.diff(read_shape(snapshot).first).tolist(), files, left)
    pa.default_memory_pool().release_unused()
    return Shown(excerpts, files.add(filters))


def make_lookup(snapshot: SnapshotTables, search: Search, files: Files) -> Lookup:
    """Add what words and meanings are looked up in.

    Raises ``ArtifactError`` where the snapshot lacks the tables of search, ``SettingsError`` where the
    glossary cannot be read.
    """
    shape, ranking = read_shape(snapshot), ranking_of(search)
    surfaces = read_surfaces(snapshot)
    known = aliases(surfaces)
    words = make_word_files(snapshot, surfaces, files)
    languages = sorted(set(surfaces.languages)) or [_UNSAID]
    del surfaces
    lexicon = read_lexicon(snapshot)
    shards, inverted_file = _shards_and_lists(snapshot, lexicon, shape, ranking, known, files)
    tokens = make_token_files(snapshot, inverted_file.turn, files) if inverted_file else None
    return Lookup(
        shape=shape,
        ranking=ranking,
        ceiling=_ceiling(lexicon),
        languages=languages,
        has_aliases=bool(known),
        shards=shards,
        inverted_file=inverted_file,
        words=words,
        tokens=tokens,
        synonyms=make_synonyms(search, files),
    )


def _shards_and_lists(
    snapshot: SnapshotTables,
    lexicon: Lexicon,
    shape: Shape,
    ranking: Ranking,
    known: Aliases,
    files: Files,
) -> tuple[Shards, InvertedFile | None]:
    """Add what needs vectors; those of passages are let go of as soon as they are multiplied out."""
    cut = cut_for(shape.documents)
    meanings = read_meanings(snapshot, lexicon.terms) if ranking.meaning else None
    if meanings is None:
        postings = arrange(lexicon, shape, no_contributions(lexicon, shape), _ceiling(lexicon))
        return make_shards(lexicon, postings, None, known, files, cut), None
    passages = read_passages(snapshot, meanings.documents.shape[1])
    cosines = cosine_contributions(lexicon, shape, meanings.terms, passages, meanings.documents)
    del passages
    inverted_file = make_inverted_file(meanings, np.diff(shape.first) > 0, files)
    postings = arrange(lexicon, shape, cosines, _ceiling(lexicon))
    del cosines
    turned = TurnedTerms(meanings.terms, inverted_file.turn)
    return make_shards(lexicon, postings, turned, known, files, cut), inverted_file


def _ceiling(lexicon: Lexicon) -> float:
    if not len(lexicon.score):
        return 1.0
    best = np.maximum.reduceat(lexicon.score, lexicon.starts[:-1]) / lexicon.idf
    return float(np.ceil(best.max() * 1000) / 1000)
