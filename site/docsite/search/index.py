"""The search index of a site: all its files, out of a snapshot; FORMAT.md describes their bytes.

There are two halves: what words and meanings are looked up in, which knows nothing of pages, and what hits
are shown from. Each can be made without the other; the manifest is made of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...pipeline.settings.search import Search
from ..assets import bundle
from ..incremental.previous import PreviousSite
from ..incremental.search_changes import Base, Changes
from ..library import SnapshotTables
from ..outline.plan import SitePage, SitePlan
from ..urls import SEARCH
from .cosine_contributions import CosineContributions, cosine_contributions, no_contributions
from .excerpts import Card, cards, make_excerpts
from .facets import facets
from .files import Files, Half, script
from .index_inputs import (
    Floats,
    Ints,
    Lexicon,
    SearchVectors,
    Shape,
    TermVectors,
    places_of,
    read_lexicon,
    read_passages,
    read_search_vectors,
    read_shape,
)
from .inverted_file import InvertedFile, make_inverted_file, principal_directions
from .manifest import BaseSegment, Index, Lookup, Ranking, RecentSegment, Shown, manifest, ranking_of
from .postings import CosinesOfTerms, Postings, arrange, unchanged_postings
from .quantization import ProjectedTerms
from .spelling import aliases, make_synonyms, make_word_files, read_surfaces
from .terms import Aliases, first_terms, make_shards
from .token_shards import make_token_files

MANIFEST, ENGINE, FOLDER = "manifest", "engine", f"{SEARCH}/"
T = TypeVar("T")
_DEFAULT_LANGUAGE = "en"  # as the index analyses documents that name no language


@dataclass(frozen=True, slots=True)
class PrebuiltParts:
    """The halves of an index that were begun before, to be asked for when everything else is there.

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
    prebuilt: PrebuiltParts | None = None,
    base: Base | None = None,
) -> Iterator[SitePage]:
    """Yield every file below ``folder``: the engine, the manifest, and what a query loads as needed.

    Files of the site before are kept where they are what ``previous`` has. A half that is ``prebuilt``
    is not among the files. Raises ``ArtifactError`` where the snapshot lacks the tables of search,
    ``TooManyFiles`` where there is no room for them all.
    """
    before, other = previous or PreviousSite(), prebuilt or PrebuiltParts()
    lookup, shown = other.lookup, other.shown
    if lookup is None:
        with Files(folder, before, Half.LOOKUP, snapshot.spill) as files:
            lookup = _ready(make_lookup(snapshot, search or Search(), files, base))
            yield from files.pages()
    yield SitePage(f"{folder}{ENGINE}.js", bundle(ENGINE))
    if shown is None:
        with Files(folder, before, Half.SHOWN, snapshot.spill) as files:
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


def make_lookup(snapshot: SnapshotTables, search: Search, files: Files, base: Base | None = None) -> Lookup:
    """Add what words and meanings are looked up in; with a ``base``, most term shards are those of the base.

    Raises ``ArtifactError`` where the snapshot lacks the tables of search, ``SettingsError`` where the
    glossary cannot be read.
    """
    surfaces = read_surfaces(snapshot)
    known = aliases(surfaces)
    words = make_word_files(snapshot, surfaces, files)
    languages = sorted(set(surfaces.languages)) or [_DEFAULT_LANGUAGE]
    del surfaces
    lookup = _Lookup(ranking_of(search), files)
    now = _read_inputs(snapshot, lookup.ranking)
    if base is None:
        segment, recent = lookup.base(snapshot.id, now, known), RecentSegment()
    else:
        segment, recent = lookup.segments(base, now, known)
    inverted_file = lookup.lists(now, segment.projection)
    return Lookup(
        shape=now.shape,
        ranking=lookup.ranking,
        languages=languages,
        has_aliases=bool(known),
        base=segment.written,
        recent=recent,
        inverted_file=inverted_file,
        words=words,
        tokens=None if segment.projection is None else make_token_files(snapshot, segment.projection, files),
        synonyms=make_synonyms(search, files),
    )


@dataclass(frozen=True, slots=True)
class _IndexInputs:
    """What shards and lists are made of; ``snapshot`` has the vectors of passages, which are large."""

    snapshot: SnapshotTables
    lexicon: Lexicon
    shape: Shape
    vectors: SearchVectors | None

    def cosines(self) -> CosinesOfTerms:
        """Return what multiplies out, of a range of terms, what every posting adds to cosines.

        That is nothing without vectors.
        """
        lexicon, shape, vectors = self.lexicon, self.shape, self.vectors
        if vectors is None:
            return lambda *some: no_contributions(lexicon.between(*some), shape)
        passages = read_passages(self.snapshot, vectors.documents.shape[1])

        def of_terms(first: int, end: int) -> CosineContributions:
            terms = vectors.terms.between(first, end)
            return cosine_contributions(
                lexicon.between(first, end), shape, terms, passages, vectors.documents
            )

        return of_terms

    def arranged(self, ceiling: float, passages: int | None = None) -> Postings:
        """Return the postings in their tiers; raise as ``arrange`` does."""
        return arrange(self.lexicon, self.shape, self.cosines(), ceiling, passages, self.snapshot.spill)

    def has_vector(self) -> npt.NDArray[np.bool_]:
        """Return which terms have a vector."""
        if self.vectors is None:
            return np.zeros(len(self.lexicon.terms), np.bool_)
        return self.vectors.terms.scale > 0


def _read_inputs(snapshot: SnapshotTables, ranking: Ranking) -> _IndexInputs:
    lexicon = read_lexicon(snapshot)
    vectors = read_search_vectors(snapshot, lexicon.terms) if ranking.meaning else None
    return _IndexInputs(snapshot, lexicon, read_shape(snapshot), vectors)


@dataclass(frozen=True, slots=True)
class _Segment:
    """A base with the directions along which the vectors of its terms are written, if it has any."""

    written: BaseSegment
    projection: Floats | None


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Where the parts of a lookup go, and the weights that they are made for."""

    ranking: Ranking
    files: Files

    def base(
        self, name: str, inputs: _IndexInputs, known: Aliases, whole: _IndexInputs | None = None
    ) -> _Segment:
        """Add the shards of the base: cut and scaled as those of the ``whole``, of which it is a part."""
        lexicon, shape, vectors = (whole or inputs).lexicon, inputs.shape, inputs.vectors
        ceiling = _ceiling(lexicon)
        postings = inputs.arranged(ceiling)
        projection = principal_directions(vectors.documents) if vectors else None
        projected = None
        if vectors and projection is not None:
            projected = ProjectedTerms(vectors.terms, projection)
        borders = first_terms(lexicon, (whole or inputs).has_vector())
        shards = make_shards(inputs.lexicon, postings, projected, known, self.files, borders)
        return _Segment(BaseSegment(name, shape.documents, shape.passages, ceiling, shards), projection)

    def segments(self, base: Base, now: _IndexInputs, known: Aliases) -> tuple[_Segment, RecentSegment]:
        """Add the shards of the base without postings that no longer hold, and those of later ones."""
        whole = _read_inputs(base.snapshot, self.ranking)
        before = _unchanged_inputs(whole, now, base.changes)
        known_before = aliases(read_surfaces(base.snapshot))
        kept = {word: terms for word, terms in known_before.items() if word in known}
        segment = self.base(base.snapshot.id, before, kept, whole)
        added = {word: terms for word, terms in known.items() if kept.get(word) != terms}
        return segment, self.recent(now, before, segment, base.changes, added)

    def lists(self, inputs: _IndexInputs, projection: Floats | None) -> InvertedFile | None:
        """Add the lists of documents by meaning."""
        if inputs.vectors is None:
            return None
        has_passages = np.diff(inputs.shape.first) > 0
        return make_inverted_file(inputs.vectors, has_passages, self.files, projection)

    def recent(
        self, now: _IndexInputs, before: _IndexInputs, base: _Segment, changes: Changes, known: Aliases
    ) -> RecentSegment:
        """Add the shards of documents that are new or have changed since the base was made."""
        written = base.written
        part = _recent_part(now, before, changes.recent)
        postings = part.arranged(written.ceiling, written.passages)
        # The vectors of the base's terms are not written again.
        old = np.append(before.has_vector(), False)[places_of(part.lexicon, before.lexicon)]
        length = np.where(old, np.float32(0), postings.ranges.length)
        postings = replace(postings, ranges=replace(postings.ranges, length=length))
        projected = (
            ProjectedTerms(part.vectors.terms, base.projection)
            if part.vectors and base.projection is not None
            else None
        )
        borders, tails = first_terms(part.lexicon, length > 0), len(written.shards.tails)
        shards = make_shards(part.lexicon, postings, projected, known, self.files, borders, tails)
        return RecentSegment(shards, changes.stale.tolist(), changes.recent.tolist())


def _unchanged_inputs(base: _IndexInputs, now: _IndexInputs, changes: Changes) -> _IndexInputs:
    """Return the base without the postings that its documents no longer have."""
    kept = unchanged_postings(base.lexicon, base.shape, now.lexicon, now.shape, changes)
    lexicon = base.lexicon.only(kept)
    if base.vectors is None:
        return replace(base, lexicon=lexicon)
    terms = base.vectors.terms.at(places_of(lexicon, base.lexicon))
    return replace(base, lexicon=lexicon, vectors=replace(base.vectors, terms=terms))


def _recent_part(now: _IndexInputs, before: _IndexInputs, recent: Ints) -> _IndexInputs:
    """Return the postings of recent documents, with the base's vectors of the terms that it has.

    So what both segments add to one cosine fits together.
    """
    lexicon = now.lexicon.only(np.isin(now.shape.document_of[now.lexicon.passage], recent))
    if now.vectors is None or before.vectors is None:
        return _IndexInputs(now.snapshot, lexicon, now.shape, None)
    own = now.vectors.terms.at(places_of(lexicon, now.lexicon))
    old = before.vectors.terms.at(places_of(lexicon, before.lexicon))
    is_old = old.scale > 0
    terms = TermVectors(np.where(is_old, old.scale, own.scale), np.where(is_old[:, None], old.code, own.code))
    return _IndexInputs(now.snapshot, lexicon, now.shape, SearchVectors(now.vectors.documents, terms))


def _ceiling(lexicon: Lexicon) -> float:
    if not len(lexicon.score):
        return 1.0
    best = np.maximum.reduceat(lexicon.score, lexicon.starts[:-1]) / lexicon.idf
    return float(np.ceil(best.max() * 1000) / 1000)
