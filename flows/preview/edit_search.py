"""Search in the documents saved since the site was built, whose own index does not know their words yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...docsite import urls
from ...docsite.library import Entry
from ...pipeline.lexical.analyzer import query_terms
from ...pipeline.lexical.bm25f import LexicalIndex, build_index
from ...pipeline.settings.settings import FIELDS, Lexical
from .editing import Edition

_MOST_HITS = 5
_EXCERPT_CHARACTERS = 160


def search_edits(edition: Edition, query: str) -> dict[str, object]:
    """Return, as JSON, the edited pages, and the passages in them that hold every word of the query.

    The last word is found as far as it is typed. Scores are those of BM25F among the edited documents.
    """
    if edition.plan is None:
        return {"pages": [], "hits": []}
    known = edition.plan.library.by_id
    edits = [
        edit.parsed for name, edit in edition.edits.items() if _is_searched(known.get(name)) and edit.parsed
    ]
    places = [f"/{urls.encoded(known[_name(parsed)].page)}" for parsed in edits]
    passages = [
        hit for parsed, place in zip(edits, places, strict=True) for hit in _hits(parsed, place, query)
    ]
    lexical = Lexical()
    index = build_index([e.prose for e in edits], [lexical.fields[name] for name in FIELDS], lexical.k1)
    languages = sorted({language for parsed in edits for language in parsed.languages})
    scores = np.zeros(len(passages))
    for language in languages:  # a word has another stem in each
        np.maximum(scores, _scores(index, query_terms(query, [language]), len(passages)), out=scores)
    best = np.argsort(-scores, kind="stable")[: min(_MOST_HITS, np.count_nonzero(scores))]
    return {"pages": places, "hits": [passages[at] for at in best.tolist()]}


def _is_searched(entry: Entry | None) -> bool:
    return entry is not None and entry.shown.searched


def _name(parsed: ParsedCorpus) -> str:
    return str(parsed.documents.column("doc_id")[0].as_py())


def _hits(parsed: ParsedCorpus, place: str, query: str) -> Iterator[dict[str, str]]:
    """Yield each passage of the document as a hit."""
    title = str(parsed.documents.column("title")[0].as_py())
    slugs = dict(zip(*(parsed.sections.column(n).to_pylist() for n in ("section_id", "slug")), strict=True))
    columns = (parsed.passages.column(name).to_pylist() for name in ("section_id", "headings", "text"))
    for section, headings, text in zip(*columns, strict=True):
        anchor = f"#{slugs[section]}" if slugs.get(section) else ""
        heading = headings[-1] if headings else ""
        yield {
            "title": title,
            "section": "" if heading == title else heading,
            "url": place + anchor,
            "excerpt": _excerpt(" ".join(text.split()), query),
        }


def _excerpt(text: str, query: str) -> str:
    """Return the words around the query's last one, or the beginning."""
    last = query.casefold().rpartition(" ")[2]
    at = max(0, text.casefold().find(last) - _EXCERPT_CHARACTERS // 2)
    return text[text.rfind(" ", 0, at) + 1 if at else 0 :][:_EXCERPT_CHARACTERS]


def _scores(index: LexicalIndex, wanted: Sequence[str], passages: int) -> npt.NDArray[np.float64]:
    """Return a score for each passage: 0 unless it holds every word, the last one as far as it is typed."""
    total, found = np.zeros(passages), np.full(passages, bool(wanted))
    for word in wanted:
        best = np.zeros(passages)
        for at, term in enumerate(index.terms):
            if term == word or (word == wanted[-1] and term.startswith(word)):
                rows = slice(int(index.offsets[at]), int(index.offsets[at + 1]))
                np.maximum.at(best, index.passage[rows], index.score[rows])
        total, found = total + best, found & (best > 0)
    return np.where(found, total, 0.0)
