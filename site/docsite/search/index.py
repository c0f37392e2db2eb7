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
from .inverted_file import InvertedFile, make_inverted_file, principal_directions
from .manifest import BaseSegment, Index, Lookup, Ranking, RecentSegment, Shown, manifest, ranking_of
from .material import (
    Floats,
    Ints,
    Lexicon,
    Meanings,
    Shape,
    TermVectors,
    places_of,
    read_lexicon,
    read_meanings,
    read_passages,
    read_shape,
)
from .postings import CosinesOfTerms, Postings, arrange, still_said
from .quantization import ProjectedTerms
from .spelling import aliases, make_synonyms, make_word_files, read_surfaces
from .terms import Aliases, first_terms, make_shards
from .token_shards import make_token_files

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
    base: Base | None = None,
) -> Iterator[SitePage]:
    """Yield every file below ``folder``: the engine, the manifest, and what a query loads as needed.

    Files of the site before are kept where they are what ``previous`` has. A half that is made ``elsewhere``
    is not among the files. Raises ``ArtifactError`` where the snapshot lacks the tables of search,
    ``TooManyFiles`` where there is no room for them all.
    """
    before, other = previous or PreviousSite(), elsewhere or Elsewhere()
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
    languages = sorted(set(surfaces.languages)) or [_UNSAID]
    del surfaces
    lookup = _Lookup(ranking_of(search), files)
    now = _material(snapshot, lookup.ranking)
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
class _Material:
    """What shards and lists are made of; ``snapshot`` has the vectors of passages, which are large."""

    snapshot: SnapshotTables
    lexicon: Lexicon
    shape: Shape
    meanings: Meanings | None

    def cosines(self) -> CosinesOfTerms:
        """Return what multiplies out, of a range of terms, what every posting adds to cosines.

        That is nothing without vectors.
        """
        lexicon, shape, meanings = self.lexicon, self.shape, self.meanings
        if meanings is None:
            return lambda *some: no_contributions(lexicon.between(*some), shape)
        passages = read_passages(self.snapshot, meanings.documents.shape[1])

        def of_terms(first: int, end: int) -> CosineContributions:
            own, vectors = lexicon.between(first, end), meanings.terms.between(first, end)
            return cosine_contributions(own, shape, vectors, passages, meanings.documents)

        return of_terms

    def arranged(self, ceiling: float, passages: int | None = None) -> Postings:
        """Return the postings in their tiers; raise as ``arrange`` does."""
        return arrange(self.lexicon, self.shape, self.cosines(), ceiling, passages, self.snapshot.spill)

    def has_vector(self) -> npt.NDArray[np.bool_]:
        """Return which terms have a vector."""
        if self.meanings is None:
            return np.zeros(len(self.lexicon.terms), np.bool_)
        return self.meanings.terms.scale > 0


def _material(snapshot: SnapshotTables, ranking: Ranking) -> _Material:
    lexicon = read_lexicon(snapshot)
    meanings = read_meanings(snapshot, lexicon.terms) if ranking.meaning else None
    return _Material(snapshot, lexicon, read_shape(snapshot), meanings)


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

    def base(self, name: str, said: _Material, known: Aliases, whole: _Material | None = None) -> _Segment:
        """Add the shards of the base: cut and scaled as those of the ``whole``, of which it is a part."""
        lexicon, shape, meanings = (whole or said).lexicon, said.shape, said.meanings
        ceiling = _ceiling(lexicon)
        postings = said.arranged(ceiling)
        projection = principal_directions(meanings.documents) if meanings else None
        projected = None
        if meanings and projection is not None:
            projected = ProjectedTerms(meanings.terms, projection)
        borders = first_terms(lexicon, (whole or said).has_vector())
        shards = make_shards(said.lexicon, postings, projected, known, self.files, borders)
        return _Segment(BaseSegment(name, shape.documents, shape.passages, ceiling, shards), projection)

    def segments(self, base: Base, now: _Material, known: Aliases) -> tuple[_Segment, RecentSegment]:
        """Add the shards of the base without what is not said any more, and those of what was said since."""
        whole = _material(base.snapshot, self.ranking)
        before = _still_said(whole, now, base.changes)
        known_before = aliases(read_surfaces(base.snapshot))
        kept = {word: terms for word, terms in known_before.items() if word in known}
        segment = self.base(base.snapshot.id, before, kept, whole)
        added = {word: terms for word, terms in known.items() if kept.get(word) != terms}
        return segment, self.recent(now, before, segment, base.changes, added)

    def lists(self, material: _Material, projection: Floats | None) -> InvertedFile | None:
        """Add the lists of documents by meaning."""
        if material.meanings is None:
            return None
        has_passages = np.diff(material.shape.first) > 0
        return make_inverted_file(material.meanings, has_passages, self.files, projection)

    def recent(
        self, now: _Material, before: _Material, base: _Segment, changes: Changes, known: Aliases
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
            ProjectedTerms(part.meanings.terms, base.projection)
            if part.meanings and base.projection is not None
            else None
        )
        borders, tails = first_terms(part.lexicon, length > 0), len(written.shards.tails)
        shards = make_shards(part.lexicon, postings, projected, known, self.files, borders, tails)
        return RecentSegment(shards, changes.stale.tolist(), changes.recent.tolist())


def _still_said(base: _Material, now: _Material, changes: Changes) -> _Material:
    """Return the base without what its documents do not say any more."""
    kept = still_said(base.lexicon, base.shape, now.lexicon, now.shape, changes)
    lexicon = base.lexicon.only(kept)
    if base.meanings is None:
        return replace(base, lexicon=lexicon)
    terms = base.meanings.terms.at(places_of(lexicon, base.lexicon))
    return replace(base, lexicon=lexicon, meanings=replace(base.meanings, terms=terms))


def _recent_part(now: _Material, before: _Material, recent: Ints) -> _Material:
    """Return the postings of recent documents, with the base's vectors of the terms that it has.

    So what both segments add to one cosine fits together.
    """
    lexicon = now.lexicon.only(np.isin(now.shape.document_of[now.lexicon.passage], recent))
    if now.meanings is None or before.meanings is None:
        return _Material(now.snapshot, lexicon, now.shape, None)
    own = now.meanings.terms.at(places_of(lexicon, now.lexicon))
    old = before.meanings.terms.at(places_of(lexicon, before.lexicon))
    is_old = old.scale > 0
    terms = TermVectors(np.where(is_old, old.scale, own.scale), np.where(is_old[:, None], old.code, own.code))
    return _Material(now.snapshot, lexicon, now.shape, Meanings(now.meanings.documents, terms))


def _ceiling(lexicon: Lexicon) -> float:
    if not len(lexicon.score):
        return 1.0
    best = np.maximum.reduceat(lexicon.score, lexicon.starts[:-1]) / lexicon.idf
    return float(np.ceil(best.max() * 1000) / 1000)
