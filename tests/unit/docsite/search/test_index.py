"""The search index of a site: what its files are, and which of them a change touches."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noctule.artifacts.store.snapshot import Snapshot
from noctule.docsite.build import build_site
from noctule.docsite.incremental.previous import PreviousSite
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.search.cosine_contributions import (
    CosineContributions,
    cosine_contributions,
    no_contributions,
)
from noctule.docsite.search.files import Files, Half
from noctule.docsite.search.index import search_files
from noctule.docsite.search.index_inputs import (
    Floats,
    Lexicon,
    SearchVectors,
    Shape,
    TermVectors,
    read_search_vectors,
)
from noctule.docsite.search.inverted_file import Quantizer, make_inverted_file
from noctule.docsite.search.manifest import ranking_of
from noctule.docsite.search.postings import TIERS, CosinesOfTerms, Postings, arrange
from noctule.docsite.search.quantization import OWN_STEP, levels_by_bits
from noctule.docsite.search.spelling import Surfaces, aliases, make_word_files
from noctule.docsite.search.terms import Sizes, first_terms, make_shards, runs_by_use
from noctule.docsite.search.token_shards import make_token_files
from noctule.docsite.urls import SEARCH as FOLDER
from noctule.pipeline.errors import WriteFailed
from noctule.pipeline.settings.search import Recency, Search
from noctule.pipeline.settings.settings import Site
from tests.command_line import REPOSITORY
from tests.search_site_builder import SearchSite, search_site
from tests.site_builder import snapshot_of

__all__ = ["search_site"]


class _Without:
    """A snapshot with nothing in some tables."""

    spill = None

    def __init__(self, snapshot: Snapshot, *missing: str) -> None:
        self._snapshot, self._missing = snapshot, missing

    @property
    def id(self) -> str:
        return "0123456789abcdef0123"

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        found = self._snapshot.table(name, columns)
        return found.slice(0, 0) if name in self._missing else found


def _borders(lexicon: Lexicon) -> list[str]:
    return first_terms(lexicon, np.zeros(len(lexicon.terms), np.bool_))


def _files(site: SearchSite, *missing: str, search: Search | None = None) -> dict[str, bytes]:
    with site.store.open() as snapshot:
        seen = _Without(snapshot, *missing) if missing else snapshot
        return {page.path: page.content for page in search_files(plan_site(seen, Site()), seen, search)}


def test_the_same_snapshot_gives_the_same_bytes(search_site: SearchSite) -> None:
    first = _files(search_site)
    assert first == _files(search_site)
    assert {
        path.relative_to(search_site.site).as_posix() for path in (search_site.site / FOLDER).glob("*.js")
    } == {*first}
    assert all(re.fullmatch(r"_search/(?:manifest|engine|[0-9a-f]{8,})\.js", path) for path in first)


def test_other_numbers_of_ranking_stand_in_the_manifest(search_site: SearchSite) -> None:
    search = Search(candidates=50, weights={"keyword": 2.0})
    assert b'"candidates":50' in _manifest(_files(search_site, search=search))
    assert b'"keyword":2.0' in _manifest(_files(search_site, search=search))


def _manifest(files: dict[str, bytes]) -> bytes:
    code = files[f"{FOLDER}/manifest.js"].decode("utf-16")
    units = re.sub(
        "\ue000(.)", lambda found: chr(_unescaped(ord(found[1]))), code.split('"')[3], flags=re.DOTALL
    )
    packed = units.encode("utf-16-le", "surrogatepass")
    return gzip.decompress(packed[: int(code.split(",")[1])])


def _unescaped(unit: int) -> int:
    return 0xE000 if unit == 0xEB00 else unit - 0xE100 + 0xD800 if unit < 0xE900 else unit - 0xEA00


def test_without_term_vectors_the_index_is_one_of_words(search_site: SearchSite) -> None:
    plain = _manifest(_files(search_site, "term_vectors"))
    assert b'"dimensions":0' in plain and b'"inverted_lists":0' in plain


class _Full:
    """A snapshot whose tables find no room on the disk."""

    id, spill = "0123456789abcdef0123", Path()

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        raise WriteFailed(f"cannot write {name}: {columns}")

    def open_tables(self, name: str) -> Sequence[pq.ParquetFile]:
        raise NotImplementedError(name)


def test_a_full_disk_is_no_snapshot_without_vectors(files: Files) -> None:
    with pytest.raises(WriteFailed, match="term_vectors"):
        read_search_vectors(_Full(), ["owl"])
    with pytest.raises(WriteFailed, match="token_vectors"):
        make_token_files(_Full(), np.eye(4, dtype=np.float32), files)
    with pytest.raises(WriteFailed, match="vocabulary"):
        make_word_files(_Full(), Surfaces(["owl"], ["en"], [["owl"]], [2]), files)


def test_tokens_change_no_byte_of_what_a_search_for_known_words_loads(search_site: SearchSite) -> None:
    whole, without = _files(search_site), _files(search_site, "token_vectors")
    manifest = f"{FOLDER}/manifest.js"
    assert without.keys() < whole.keys()
    assert all(whole[path] == content for path, content in without.items() if path != manifest)
    assert abs(len(whole[manifest]) - len(without[manifest])) < 64
    extra = [len(whole[path]) for path in whole.keys() - without.keys()]
    assert len(extra) > 100 and sum(size > 16_000 for size in extra) == 1  # the turn
    assert max(extra) < 21_000


def test_of_tokens_only_the_turn_depends_on_the_documents(search_site: SearchSite) -> None:
    made = []
    with search_site.store.open() as snapshot:
        size = snapshot.table("token_vectors", ["code"])["code"].type.list_size
        for seed in (1, 2):
            turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(size, 128)))[0].astype(np.float32)
            with Files(f"{FOLDER}/", PreviousSite(), Half.LOOKUP) as files:
                names = make_token_files(snapshot, turn, files)
                made.append((names, {page.path for page in files.pages()}))
    (first, paths), (second, others) = made
    assert first and second and first.directory == second.directory and first.projection != second.projection
    assert paths ^ others == {f"{FOLDER}/{each.projection}.js" for each in (first, second)}


def test_without_numbers_of_ranking_there_is_no_index(tmp_path: Path) -> None:
    snapshot = snapshot_of({"notes": {"a.md": "# A\n\nText.\n"}})
    build_site(snapshot, tmp_path / "with", Site(), Search())
    build_site(snapshot, tmp_path / "without", Site())
    assert [*(tmp_path / "with" / FOLDER).glob("*.js")]
    assert not [*(tmp_path / "without" / FOLDER).glob("*.js")]


@pytest.fixture
def files() -> Iterator[Files]:
    """Files that no site had before."""
    with Files("", PreviousSite(), Half.SHOWN) as made:
        yield made


def _lexicon(terms: list[str], passages: list[list[int]], score: float = 1.0) -> Lexicon:
    counts = [len(each) for each in passages]
    flat = np.array([row for each in passages for row in each], dtype=np.int32)
    return Lexicon(
        terms,
        np.ones(len(terms), np.float32),
        np.cumsum([0, *counts]),
        flat,
        np.full(len(flat), score, np.float32),
    )


def test_postings_keep_every_passage_in_its_tier(files: Files) -> None:
    passages = TIERS[0] * 2 + 100
    lexicon = _lexicon(["common", "rare"], [list(range(passages)), [7, 8]])
    shape = Shape(np.arange(0, passages + 1, 2), np.zeros(passages // 2, np.int64))
    found = arrange(lexicon, shape, _nothing(lexicon, shape), 2.0)
    assert found.sizes().reshape(2, -1).sum(axis=1).tolist() == [passages, 2]
    assert found.size(found.list_of(0, 0)) == TIERS[0] and found.size(found.list_of(1, 0)) == 2
    assert found.documents_of.tolist() == [passages // 2, 2]
    shards = make_shards(lexicon, found, None, {}, files, _borders(lexicon))
    assert shards.first == ("common", "rare") and len(shards.tails) == 1


def test_an_empty_corpus_has_an_empty_index(files: Files) -> None:
    lexicon, shape = _lexicon([], []), Shape(np.zeros(1, np.int64), np.zeros(0, np.int64))
    found = arrange(lexicon, shape, _nothing(lexicon, shape), 1.0)
    assert make_shards(lexicon, found, None, {}, files, _borders(lexicon)).shards == ()


def _nothing(lexicon: Lexicon, shape: Shape) -> CosinesOfTerms:
    return lambda *some: no_contributions(lexicon.between(*some), shape)


def _cosines(
    lexicon: Lexicon, shape: Shape, vectors: TermVectors, passages: Floats, first: int, end: int
) -> CosineContributions:
    own = lexicon.between(first, end)
    return cosine_contributions(own, shape, vectors.between(first, end), passages, passages[::4])


def test_postings_are_arranged_a_range_of_terms_at_a_time_as_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(5)
    lists = [np.flatnonzero(random.random(400) < share).tolist() for share in (0.9, 0.02, 0.3, 0.01, 0.5)]
    lexicon = _lexicon(["a", "b", "c", "d", "e"], lists)
    shape = Shape(np.arange(0, 401, 4), np.zeros(100, np.int64))
    passages = random.normal(size=(400, 8)).astype(np.float32)
    vectors = TermVectors(np.full(5, 0.01, np.float32), random.integers(-127, 127, (5, 8)).astype(np.int8))
    own = partial(_cosines, lexicon, shape, vectors, passages)
    at_once = arrange(lexicon, shape, own, 1.0)
    for most, folder in ((1, None), (20, tmp_path), (500, None), (1_000_000, tmp_path)):
        monkeypatch.setattr("noctule.docsite.search.postings._POSTINGS_AT_A_TIME", most)
        found = arrange(lexicon, shape, own, 1.0, folder=folder)
        for one, other in zip(_arrays(found), _arrays(at_once), strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other)


def _arrays(postings: Postings) -> list[npt.NDArray[Any]]:
    found = [getattr(postings, each.name) for each in fields(postings)]
    return [getattr(found[0], each.name) for each in fields(found[0])] + found[1:]


def _risen(gaps: npt.NDArray[np.int32], bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Rising numbers of each run, of what lies between them."""
    return np.concatenate([np.cumsum(gaps[first:end] + 1) - 1 for first, end in pairwise(bounds)])


def test_contributions_are_read_back_as_they_were_to_a_step() -> None:
    random = np.random.default_rng(3)
    passages = random.normal(size=(4_000, 8)).astype(np.float32)
    passages /= np.linalg.norm(passages, axis=1, keepdims=True)
    shape = Shape(np.arange(0, 4_001, 4), np.zeros(1_000, np.int64))
    lexicon = _lexicon(["common", "rare"], [list(range(4_000)), [5, 6, 9]])
    vectors = TermVectors(
        np.array([0.01, 0.02], np.float32), random.integers(-127, 127, (2, 8)).astype(np.int8)
    )
    cosines = cosine_contributions(lexicon, shape, vectors, passages, passages[::4])
    assert np.allclose(cosines.passage[:4_000], passages @ vectors.of(np.array([0]))[0], atol=1e-5)
    found = arrange(lexicon, shape, partial(_cosines, lexicon, shape, vectors, passages), 1.0)
    for term in (0, 1):
        levels = int(levels_by_bits(4_000)[int(lexicon.frequency[term]).bit_length()])
        low, high = found.ranges.contribution[term].astype(np.float64) / 127
        pairs = np.arange(found.lists[found.list_of(term, 0)], found.lists[found.list_of(term + 1, 0)])
        documents = low + (high - low) * found.contribution[pairs] / levels
        tiers = found.lists[found.list_of(term, 0) : found.list_of(term + 1, 0) + 1]
        documents_of = _risen(found.document_gap, tiers)
        truth = passages[::4][documents_of] @ vectors.of(np.array([term]))[0] / cosines.length[term]
        assert np.abs(documents - truth).max() <= (high - low) / levels / 2 + 1e-5
        rows = np.arange(found.passages[pairs[0]], found.passages[pairs[-1] + 1])
        owner = np.repeat(np.arange(len(pairs)), np.diff(found.passages[np.append(pairs, pairs[-1] + 1)]))
        steps = found.change[rows].astype(np.int64)
        own = documents[owner] + (steps >> 1 ^ -(steps & 1)) * OWN_STEP / levels
        ordinals = _risen(found.ordinal_gap, found.passages[np.append(pairs, pairs[-1] + 1)])
        where = 4 * documents_of[owner] + ordinals
        assert (
            np.abs(own - passages[where] @ vectors.of(np.array([term]))[0] / cosines.length[term]).max()
            <= OWN_STEP / levels / 2 + 1e-5
        )


def test_rare_terms_are_written_more_finely_than_common_ones() -> None:
    levels = levels_by_bits(100_000).tolist()
    assert levels == sorted(levels, reverse=True) and levels[1] > 4 * levels[16] and max(levels) <= 255


def test_words_that_are_asked_for_share_no_file_with_many_others() -> None:
    weights, rare = np.full(100, 50.0), np.zeros(100)
    assert len(list(runs_by_use(weights, rare, Sizes(0, 1_000), 1.0))) == 5
    asked = rare.copy()
    asked[50] = 0.1
    cut = list(runs_by_use(weights, asked, Sizes(0, 1_000), 1.0))
    assert [run.stop - run.start for run in cut if run.start <= 50 < run.stop] == [1]
    assert [at for run in cut for at in range(run.start, run.stop)] == list(range(100))
    least = runs_by_use(weights, asked, Sizes(200, 1_000), 1.0)
    assert min(run.stop - run.start for run in least) >= 4


def test_the_manifest_says_in_which_list_each_document_lies(files: Files) -> None:
    vectors = np.random.default_rng(2).normal(size=(400, 16)).astype(np.float32)
    meanings = SearchVectors(vectors, TermVectors(np.zeros(0, np.float32), np.zeros((0, 16), np.int8)))
    lists = make_inverted_file(meanings, np.ones(400, np.bool_), files)
    columns = lists.columns()
    low, high = (np.asarray(columns[name]) for name in ("list_low", "list_high"))
    assert (low + 256 * high).tolist() == lists.list_of.tolist()


def test_words_without_a_stemmer_lie_with_the_terms_around_them(files: Files) -> None:
    lexicon = _lexicon(["alpha", "beta", "gamma"], [[0], [1], [2]])
    shape = Shape(np.arange(4), np.zeros(3, np.int64))
    postings = arrange(lexicon, shape, _nothing(lexicon, shape), 1.0)
    with_words = make_shards(
        lexicon, postings, None, {"aaa": ["beta"], "zzz": ["alpha"]}, files, _borders(lexicon)
    )
    assert with_words.first == ("alpha",)
    assert with_words.shards != make_shards(lexicon, postings, None, {}, files, _borders(lexicon)).shards


def test_quantized_numbers_are_near_what_they_were() -> None:
    rows = np.random.default_rng(1).normal(0, [2, 1, 0.1], (500, 3)).astype(np.float32)
    quantizer = Quantizer(rows.mean(axis=0), rows.std(axis=0), np.array([4, 3, 0]))
    codes = quantizer.encode(rows)
    assert codes.max(axis=0).tolist() == [15, 7, 0]
    assert codes[np.argsort(rows[:, 0]), 0].tolist() == sorted(codes[:, 0].tolist())


@pytest.mark.parametrize("documents", [1, 40, 400])
def test_every_document_lies_in_one_list(documents: int, files: Files) -> None:
    vectors = np.random.default_rng(2).normal(size=(documents, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    meanings = SearchVectors(vectors, TermVectors(np.zeros(0, np.float32), np.zeros((0, 16), np.int8)))
    lists = make_inverted_file(meanings, np.arange(documents) != 3, files)
    assert len(lists.names) == max(1, round((documents - (documents > 3)) / 57))
    assert make_inverted_file(meanings, np.arange(documents) != 3, files).names == lists.names


def test_words_that_the_browser_cannot_stem_lead_to_their_terms() -> None:
    found = aliases(
        Surfaces(
            ["houses", "häuser", "haus", "vinhos"],
            ["en", "de", "de", "und"],
            [["hous"], ["haus"], ["haus"], ["vinhos"]],
            [1, 1, 1, 1],
        )
    )  # fmt: skip
    assert found == {"häuser": ["haus"]}


def test_a_changed_page_leaves_the_texts_of_others_their_names(search_site: SearchSite) -> None:
    before = _files(search_site)
    with search_site.store.open() as snapshot:
        plan = plan_site(snapshot, Site())
        texts = snapshot.table("passages").column("text").to_pylist()
        texts[-1] = "Changed."
        changed = _Changed(snapshot, texts)
        after = {page.path for page in search_files(replace(plan), changed)}
    assert len({*before} - after) <= 3  # the group of that page; and nothing that is made of all pages


class _Changed(_Without):
    """A snapshot in which passages have other texts."""

    def __init__(self, snapshot: object, texts: list[str]) -> None:
        super().__init__(snapshot)
        self._texts = texts

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        table = super().table(name, columns)
        if name != "passages" or (columns and "text" not in columns):
            return table
        return table.set_column(table.schema.get_field_index("text"), "text", pa.array(self._texts))


def test_the_ranking_is_that_of_the_settings() -> None:
    plain = ranking_of(Search())
    assert (plain.rrf_k, plain.boosts) == (None, ())
    search = Search(
        fusion="rrf",
        rrf_k=7,
        stages=("recency", "community"),
        recency=Recency(days=(1, 9), factors=(3.0, 2.0)),
        recency_bias=0.5,
    )
    found = ranking_of(search)
    assert (found.rrf_k, found.support, found.links) == (7, 0.0, 0.0)
    assert [each.kind for each in found.boosts] == ["recency", "community"]
    assert found.boosts[0].tiers == ((1, 2.0), (9, 1.5))
    assert (found.boosts[1].seeds, found.boosts[1].factor) == (3, 1.1)


_DIGEST = """
import hashlib, sys
from pathlib import Path
from noctule.artifacts.store.store import Store
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.search.index import search_files
from noctule.pipeline.settings.site import Site
with Store(Path(sys.argv[1])).open() as snapshot:
    files = {page.path: page.content for page in search_files(plan_site(snapshot, Site()), snapshot)}
print(hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest())
"""


def test_the_number_of_threads_leaves_no_trace(search_site: SearchSite) -> None:
    def digest(threads: int) -> str:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, str(threads))
        environment["PYTHONPATH"] = f"{REPOSITORY}:{REPOSITORY / 'site'}"
        command = [sys.executable, "-c", _DIGEST, str(search_site.store.root)]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    assert digest(1) == digest(2)
