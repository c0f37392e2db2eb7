"""A search that needs no script: the collection's words from A to Z, with the best pages for each."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .. import urls
from ..library import Entry, Library, SnapshotTables

PAGES_PER_WORD = 5
# A letter with more words has several pages, of a hundred or two, none with more than twice as many.
WORDS_PER_PAGE = 200
# One word in so many ends a page.
_EVERY = 128
OTHER = "#"


@dataclass(frozen=True, slots=True)
class Word:
    """A word, the number of passages that contain it, and its best pages."""

    text: str
    passages: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Letter:
    """A page of words: those that begin with one letter, or a range of them."""

    label: str
    page: str
    words: tuple[Word, ...]


def read_words(snapshot: SnapshotTables, library: Library) -> tuple[Word, ...]:
    """Read every word of the vocabulary with its best pages, best first, sorted by word."""
    vocabulary = snapshot.table("vocabulary", ["term", "index_term", "passages"])
    best = _best_rows(snapshot, library, vocabulary.column("index_term").combine_chunks())
    words = [
        Word(str(term), int(passages), tuple(library.entries[row] for row in best[index_term]))
        for term, index_term, passages in zip(
            *(vocabulary.column(i).to_pylist() for i in range(3)), strict=True
        )
        if index_term in best
    ]
    return tuple(sorted(words, key=lambda word: (_sort_form(word.text), word.text)))


def _best_rows(snapshot: SnapshotTables, library: Library, terms: pa.Array) -> dict[str, list[int]]:
    """Return the documents of the best passages of each of these terms that has any.

    Postings are read where they lie, a batch of terms at a time: a site has some sixty for each passage.
    """
    postings, found = snapshot.table("postings", ["term", "passage", "score"]), dict[str, list[int]]()
    documents = _document_rows(snapshot, library).to_numpy() if len(postings) else np.zeros(0, np.int32)
    for batch in postings.to_batches():
        lists = _Lists(batch, documents)
        wanted = pc.is_in(batch.column("term"), value_set=terms).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(wanted).tolist():
            found[batch.column("term")[row].as_py()] = lists.best(row)
    return found


def _document_rows(snapshot: SnapshotTables, library: Library) -> pa.ChunkedArray:
    """Return the library row of every passage's document."""
    names = pa.array([*library.by_id], pa.string())
    passages = snapshot.table("passages", ["doc_id"]).column("doc_id")
    return pc.index_in(passages, value_set=names).fill_null(-1)


class _Lists:
    """The posting lists of a batch, sliced without copying."""

    def __init__(self, postings: pa.RecordBatch, documents: npt.NDArray[np.int32]) -> None:
        passage, score = postings.column("passage"), postings.column("score")
        self._offsets = [each.offsets.to_numpy() for each in (passage, score)]
        self._passages, self._scores = passage.values.to_numpy(), score.values.to_numpy()
        self._documents = documents

    def best(self, row: int) -> list[int]:
        """Return the documents of this term's best passages, best first."""
        own, scored = (slice(offsets[row], offsets[row + 1]) for offsets in self._offsets)
        documents, scores = self._documents[self._passages[own]], self._scores[scored]
        found: dict[int, None] = {}
        for document in documents[np.lexsort((documents, -scores))].tolist():
            if document >= 0:
                found[document] = None
            if len(found) == PAGES_PER_WORD:
                break
        return [*found]


def _sort_form(text: str) -> str:
    bare = unicodedata.normalize("NFD", text.casefold())
    return "".join(c for c in bare if not unicodedata.combining(c))


def letter_of(word: str) -> str:
    """Return the letter a word is listed under, without accents; one sign for words that begin with no
    letter.
    """
    first = _sort_form(word)[:1]
    return first.upper() if first.isalpha() else OTHER


def letters(words: Sequence[Word]) -> Iterator[Letter]:
    """Yield the pages of words in order; words that begin with no letter come first."""
    by_letter: dict[str, list[Word]] = {}
    for word in words:
        by_letter.setdefault(letter_of(word.text), []).append(word)
    pages = urls.slug_pages(by_letter, urls.SEARCH)
    for letter in sorted(by_letter, key=lambda each: (each != OTHER, each)):
        found = by_letter[letter]
        stem = pages[letter].removesuffix(".html").replace(f"{urls.SEARCH}/", f"{urls.SEARCH}/words-")
        several = len(found) > WORDS_PER_PAGE
        for number, part in enumerate(_parts(found) if several else [tuple(found)]):
            label = f"{part[0].text} – {part[-1].text}" if several else letter
            yield Letter(label, f"{stem}{f'-{number + 1}' if several else ''}.html", part)


def _parts(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield runs of words whose ends depend on the words alone: one more word changes one run.

    Cut by their number, all later ones would change, and with them the list of pages that each page shows.
    """
    part: list[Word] = []
    for word in words:
        part.append(word)
        ends = sha256(word.text.encode("utf-8", "surrogatepass")).digest()[0] % _EVERY == 0
        if len(part) == 2 * WORDS_PER_PAGE or (ends and len(part) >= WORDS_PER_PAGE // 4):
            yield tuple(part)
            part = []
    if part:
        yield tuple(part)
