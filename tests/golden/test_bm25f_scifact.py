"""BM25F with one field on the 5,183 documents of scifact, against another implementation of BM25."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from noctule.artifacts.judged.reading import read_corpus, read_judged
from noctule.pipeline.lexical.bm25f import LexicalIndex, build_index
from noctule.pipeline.lexical.field_counts import count_fields
from noctule.pipeline.settings.settings import LexicalField

K1, B = 1.2, 0.75
FOLDER = Path(os.environ.get("NOCTULE_CORPORA", "nowhere")) / "judged" / "scifact"
_WORD = re.compile(r"\w+")


class Words:
    """An analyzer whose terms are its tokens, so that both sides count the same lengths."""

    language = ""

    def tokens(self, text: str) -> list[str]:
        return _WORD.findall(text.lower())

    def expand(self, token: str) -> tuple[str, ...]:
        return (token,)


def read(folder: Path) -> Iterator[str]:
    for document in read_corpus(folder):
        yield f"{document.title} {document.text}"


def scores(index: LexicalIndex, words: list[str], documents: int) -> npt.NDArray[np.float64]:
    position = {term: at for at, term in enumerate(index.terms)}
    found = np.zeros(documents)
    for at in (position[word] for word in words if word in position):
        span = slice(index.offsets[at], index.offsets[at + 1])
        found[index.passage[span]] += index.score[span]
    return found


@pytest.mark.skipif(not FOLDER.is_dir(), reason="set NOCTULE_CORPORA to the folder that holds judged/scifact")
def test_one_field_is_bm25_on_real_documents() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import bm25s
    analyzer = Words()
    texts = list(read(FOLDER))
    assert len(texts) == 5183
    index = build_index([count_fields([texts], [analyzer] * len(texts))], [LexicalField(weight=1.0, b=B)], K1)
    other = bm25s.BM25(method="lucene", k1=K1, b=B)
    other.index([analyzer.tokens(text) for text in texts], show_progress=False)
    for query in list(read_judged(FOLDER).queries.values())[:100]:
        words = [word for word in dict.fromkeys(analyzer.tokens(query)) if word in other.vocab_dict]
        ours = scores(index, words, len(texts)) / (K1 + 1)  # Lucene leaves the constant factor out
        theirs = other.get_scores(words)
        assert ours == pytest.approx(theirs, abs=1e-4)
        assert np.argsort(-ours.round(4), kind="stable")[0] == np.argsort(-theirs.round(4), kind="stable")[0]
