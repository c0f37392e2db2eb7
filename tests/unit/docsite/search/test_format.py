"""FORMAT.md is enough to read every file of a real index, and says the same as format.py."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from noctule.artifacts.store.snapshot import Snapshot
from noctule.docsite.incremental.search_changes import Base, Changes, changes_between
from noctule.docsite.outline.plan import SitePlan, plan_site
from noctule.docsite.search import format as shard_format
from noctule.docsite.search import postings, terms
from noctule.docsite.search.excerpts import TooManyFiles
from noctule.docsite.search.index import PrebuiltParts, search_files
from noctule.docsite.theme_folder import CLIENT
from noctule.docsite.urls import SEARCH
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.settings import Site
from tests.search_format_reader import (
    FORMAT_PAGE,
    Index,
    ascending,
    codes,
    described,
    posting_lists,
    steps,
    strings,
)
from tests.search_site_builder import SearchSite, search_site

__all__ = ["search_site"]


@pytest.fixture(scope="module")
def snapshot(search_site: SearchSite) -> Iterator[Snapshot]:
    with search_site.store.open() as found:
        yield found


@pytest.fixture(scope="module")
def plan(snapshot: Snapshot) -> SitePlan:
    return plan_site(snapshot, Site())


@pytest.fixture(scope="module")
def index(snapshot: Snapshot, plan: SitePlan) -> Index:
    return _made(snapshot, plan)


def _made(snapshot: Snapshot, plan: SitePlan, base: Base | None = None) -> Index:
    with pytest.MonkeyPatch.context() as patch:
        # The guide is small: with the usual tiers every posting would lie in the first.
        for module in (postings, terms):
            patch.setattr(module, "TIERS", (40, 80))
        files = {page.path: page.content for page in search_files(plan, snapshot, Search(), base=base)}
    return Index({path.removeprefix(f"{SEARCH}/").removesuffix(".js"): files[path] for path in files})


def _postings(index: Index) -> Iterator[tuple[str, int, Any, list[Any]]]:
    """Yield of every term its place and shard, and its postings of all tiers."""
    tiers = [posting_lists(each) for each in index.all_of("posting_tiers", "POSTINGS")]
    assert tiers
    for shard in index.all_of("term_shards", "TERM_SHARD"):
        rows = posting_lists(shard)
        places = iter(shard["tier_places"])
        for at in places:
            for _ in range(next(places)):
                file, place, _size = next(places), next(places), next(places)
                rows[at] = rows[at] + tiers[file][place]
        for place, term in enumerate(strings(shard, "term")):
            yield term, place, shard, rows[place]


def test_the_page_and_the_program_name_the_same_columns() -> None:
    page = {
        name: {each["column"]: each["type"] for each in columns}
        for name, columns in described(FORMAT_PAGE.read_text("utf-8")).items()
    }
    assert page == {name: dict(layout.columns) for name, layout in shard_format.LAYOUTS.items()}
    assert [list(page[name]) for name in page] == [list(shard_format.LAYOUTS[name].columns) for name in page]
    assert f"This is format **{shard_format.FORMAT}**" in FORMAT_PAGE.read_text("utf-8")


def test_the_clients_module_is_what_the_program_states() -> None:
    made = (CLIENT / "search" / "format.js").read_text("utf-8")
    assert made == shard_format.client_module(), "run: make bundle"


def test_a_column_that_nobody_described_is_refused() -> None:
    with pytest.raises(KeyError, match="more"):
        shard_format.EXCERPTS.pack({"document": [], "more": []})
    with pytest.raises(KeyError, match="document"):
        shard_format.EXCERPTS.pack({})


def test_the_manifest_says_what_the_snapshot_is(index: Index, snapshot: Snapshot, plan: SitePlan) -> None:
    header, documents = index.header, snapshot.table("documents", ["links_in", "passages", "language"])
    assert (header["format"], header["documents"]) == (shard_format.FORMAT, documents.num_rows)
    assert header["passages"] == snapshot.table("passages", ["ordinal"]).num_rows
    assert (header["ranking"]["candidates"], header["aliases"]) == (Search().candidates, True)
    links, counts = documents["links_in"].to_pylist(), documents["passages"].to_pylist()
    flags = [min(127, round(header["link_steps"] * math.log1p(each))) * 2 for each in links]
    single = [each & 1 for each in index.manifest["document_flags"]]
    assert single == [int(count == 1) for count in counts]
    assert [each & ~1 for each in index.manifest["document_flags"]] == flags
    page = FORMAT_PAGE.read_text("utf-8")
    assert all(f"| `{key}` |" in page for key in header)


def test_term_shards_hold_every_term_with_its_postings(index: Index, snapshot: Snapshot) -> None:
    table = snapshot.table("terms", ["term", "idf", "passages"]).to_pydict()
    rows = dict(zip(table["term"], range(len(table["term"])), strict=True))
    own = snapshot.table("postings", ["passage", "score"]).to_pydict()
    first = np.concatenate([[0], np.cumsum(snapshot.table("documents", ["passages"])["passages"])])
    seen = []
    for term, place, shard, found in _postings(index):
        seen.append(term)
        row, count = rows[term], len(found)
        assert shard["passages"][place] == table["passages"][row] == count
        assert shard["documents"][place] == len({document for document, *_ in found})
        scores = dict(zip(own["passage"][row], own["score"][row], strict=True))
        levels = index.header["posting_levels"][count.bit_length()]
        low, high = (shard["impact_range"][place + n * len(shard["passages"])] for n in (0, 1))
        unit = index.header["ceiling"] * table["idf"][row] / 255
        for document, ordinal, impact, *_ in found:
            score = unit * (low + (high - low) * impact / levels)
            assert score == pytest.approx(
                scores.pop(first[document] + ordinal), abs=unit * (high - low) / levels
            )
        assert not scores
    assert seen == sorted(rows, key=lambda term: term.encode("utf-16-be"))
    prefixes = strings(index.manifest, "shard")
    shards = [strings(each, "term") for each in index.all_of("term_shards", "TERM_SHARD")]
    assert all(terms[0].startswith(prefix) for prefix, terms in zip(prefixes, shards, strict=True))


def test_postings_carry_what_a_term_adds_to_the_cosines(index: Index, snapshot: Snapshot) -> None:
    vectors = snapshot.table("term_vectors").to_pydict()
    known = dict(zip(vectors["term"], range(len(vectors["term"])), strict=True))
    centroids = np.array(snapshot.table("centroids", ["vector"])["vector"].to_pylist())
    matrix = np.array(snapshot.table("vectors", ["vector"])["vector"].to_pylist())
    passages = matrix[snapshot.table("passages", ["vector_row"])["vector_row"].to_numpy()]
    first = np.concatenate([[0], np.cumsum(snapshot.table("documents", ["passages"])["passages"])])
    checked = 0
    for term, place, shard, found in _postings(index):
        count = len(shard["passages"])
        coded = shard["vector_length"][place] + 256 * shard["vector_length"][place + count]
        if not coded:
            continue
        vector = np.array(vectors["code"][known[term]]) * vectors["scale"][known[term]]
        length = 2 ** (coded / 256 - 32)
        assert length == pytest.approx(np.linalg.norm(vector), rel=0.002)
        levels = index.header["posting_levels"][len(found).bit_length()]
        low, high = (shard["contribution_range"][place + n * count] * length / 127 for n in (0, 1))
        for document, ordinal, _, level, change in found[:20]:
            cosine = low + (high - low) * level / levels
            step = index.header["own_step"] * length / levels
            near = (high - low) / levels / 2 + 0.005 * length
            assert cosine == pytest.approx(float(vector @ centroids[document]), abs=near)
            if -128 < change < 127:
                passage = float(vector @ passages[first[document] + ordinal])
                assert cosine + change * step == pytest.approx(passage, abs=step / 2 + 0.005 * length)
            checked += 1
    assert checked > 1_000


def _lengths(shard: Any) -> list[int]:
    count = len(shard["vector_length"]) // 2
    return [shard["vector_length"][at] + 256 * shard["vector_length"][at + count] for at in range(count)]


def _levels(shard: Any, size: int) -> list[list[int]]:
    """Return the numbers of each vector of a shard, as levels."""
    count = sum(map(bool, _lengths(shard)))
    assert len(shard["vector"]) == count * (1 + size) and all(shard["vector"][:count])
    rows = [shard["vector"][count + row * size :][:size] for row in range(count)]
    return [[half - 8 for byte in row for half in (byte & 15, byte >> 4)] for row in rows]


def test_what_changed_since_the_base_lies_in_a_segment_of_its_own(
    index: Index, snapshot: Snapshot, plan: SitePlan
) -> None:
    # As if two documents had changed to what they are.
    rows = np.array([3, 40])
    made = _made(snapshot, plan, Base(snapshot, Changes(rows, rows, rows)))
    assert made.names | {"recent_shards": []} == index.names
    for name in ("stale_gap", "recent_gap"):
        assert ascending(made.manifest[name]) == rows.tolist()
    assert made.header["base"] == snapshot.id == index.header["base"]
    recent: dict[str, list[tuple[int, int]]] = {}
    for shard in made.all_of("recent_shards", "TERM_SHARD"):
        # The base has all of its terms, and their vectors.
        assert not any(shard["vector_length"]) and not shard["vector"]
        for term, found in zip(strings(shard, "term"), posting_lists(shard), strict=True):
            recent[term] = [(document, ordinal) for document, ordinal, *_ in found]
    whole = {term: {(row[0], row[1]) for row in found} for term, _, _, found in _postings(index)}
    wanted = {term: {each for each in found if each[0] in rows} for term, found in whole.items()}
    assert len(recent) > 100
    assert {term: set(found) for term, found in recent.items()} == {k: v for k, v in wanted.items() if v}


def test_what_no_document_says_any_more_is_in_no_shard(
    index: Index, snapshot: Snapshot, plan: SitePlan
) -> None:
    # As if a document had gone, of which some words were its alone.
    whole = {term: {row[0] for row in found} for term, _, _, found in _postings(index)}
    gone = min(document for rows in whole.values() if len(rows) == 1 for document in rows)
    changes = Changes(np.array([gone]), np.zeros(0, np.int64), np.array([-1]))
    made = _made(snapshot, plan, Base(snapshot, changes))
    left = {term: {row[0] for row in found} for term, _, _, found in _postings(made)}
    assert left == {term: rows - {gone} for term, rows in whole.items() if rows - {gone}}
    held = {term for term, rows in whole.items() if gone in rows}
    shards = zip(index.names["term_shards"], index.all_of("term_shards", "TERM_SHARD"), strict=True)
    # Shards that name files of later tiers count these through.
    others = {name for name, each in shards if not (held & {*strings(each, "term")} or each["tier_places"])}
    assert others and others <= {*made.names["term_shards"]}


def test_little_is_changed_by_little(snapshot: Snapshot) -> None:
    assert changes_between(snapshot, snapshot) is not None
    documents = snapshot.table("documents", ["doc_id"])["doc_id"].to_pylist()
    number = documents.index("guide:notes/kestrel.md")  # few lead to it
    less = WithoutDocuments(snapshot, documents[number : number + 1])
    added, removed = changes_between(less, snapshot), changes_between(snapshot, less)
    assert added is not None and removed is not None
    # Documents that the gone one led to may have other texts of links.
    assert number in added.recent and added.recent.size - added.stale.size == 1
    assert number in removed.stale and removed.stale.size - removed.recent.size == 1
    much = WithoutDocuments(snapshot, documents[: len(documents) // 5])
    assert changes_between(much, snapshot) is None


class WithoutDocuments:
    """A snapshot without some documents, for who reads documents, passages and links of it."""

    id = "0" * 20
    spill = None

    def __init__(self, snapshot: Snapshot, gone: Sequence[str]) -> None:
        self._snapshot, self._gone = snapshot, pa.array(gone)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows of the documents that stay."""
        table = self._snapshot.table(name)
        owner = "source_id" if name == "links" else "doc_id"
        kept = table.filter(pc.invert(pc.is_in(table[owner], value_set=self._gone)))
        return kept.select(list(columns)) if columns else kept

    def open_table(self, name: str) -> pq.ParquetFile:
        """Return the file, which is not asked for here."""
        raise NotImplementedError


def test_the_vectors_of_terms_use_all_levels(index: Index) -> None:
    size = -(-index.header["dimensions"] // 2)
    for shard in index.all_of("term_shards", "TERM_SHARD"):
        assert len(_lengths(shard)) == len(strings(shard, "term"))
        assert all(max(map(abs, levels)) == 7 for levels in _levels(shard, size))


def test_token_shards_hold_every_token_as_near_to_the_others_as_it_is(
    index: Index, snapshot: Snapshot
) -> None:
    table = snapshot.table("token_vectors")
    assert table.num_rows > 20_000
    (directory,) = index.all_of("token_directories", "TOKEN_DIRECTORY")
    names, lengths, rough = [], [], []
    shards = list(index.tokens())
    for shard in shards:
        names += strings(shard, "token")
        own = [2 ** (each / 256 - 32) for each in _lengths(shard)]
        lengths += own
        width = directory["bits"][0]
        assert set(directory["bits"]) == {width}
        signs = np.array(steps(index.header["levels"], width))[
            np.array(codes(shard["codes"], directory["bits"]))
        ]
        rough.append((directory["mean"] + signs * directory["deviation"]) * np.array(own)[:, None])
    assert names == sorted(table["token"].to_pylist(), key=lambda token: token.encode("utf-16-be"))
    assert directory["longest"] == [max(map(len, names))]
    prefixes = strings(directory, "shard")
    assert all(
        strings(shard, "token")[0].startswith(prefix) for prefix, shard in zip(prefixes, shards, strict=True)
    )
    rows = dict(zip(table["token"].to_pylist(), range(table.num_rows), strict=True))
    order = [rows[name] for name in names]
    code = np.array(table["code"].combine_chunks().flatten()).reshape(table.num_rows, -1)[order]
    exact = code * table["scale"].to_numpy()[order][:, None]
    assert lengths == pytest.approx(np.linalg.norm(exact, axis=1), rel=0.002)
    found = np.concatenate(rough)[::50]
    assert np.corrcoef((found @ found.T).ravel(), (exact[::50] @ exact[::50].T).ravel())[0, 1] > 0.85
    # Turned, a token is as near to the documents as it is.
    (projection,) = index.all_of("token_projections", "TOKEN_PROJECTION")
    levels = np.array(_levels(projection, code.shape[1] // 2))
    directions = levels * (np.array(list(projection["vector"][: len(levels)])) / 255 / 7)[:, None]
    assert len(directions) == index.header["dimensions"]
    documents = np.array(snapshot.table("centroids", ["vector"])["vector"].to_pylist())
    near, wanted = (found @ directions.T) @ (documents @ directions.T).T, exact[::50] @ documents.T
    assert np.corrcoef(near.ravel(), wanted.ravel())[0, 1] > 0.9


def test_words_without_a_stemmer_are_aliases(index: Index) -> None:
    found = {}
    for shard in index.all_of("term_shards", "TERM_SHARD"):
        found |= {word: rest for word, *rest in shard["aliases"]}
    assert found["häusern"] == ["haus"]


def test_every_document_lies_in_one_inverted_list_near_its_vector(index: Index, snapshot: Snapshot) -> None:
    manifest, levels = index.manifest, index.header["levels"]
    coarse = codes(manifest["centroid_codes"], manifest["centroid_bits"])
    vectors, guessed = np.array(snapshot.table("centroids", ["vector"])["vector"].to_pylist()), {}
    for number, file in enumerate(index.all_of("inverted_lists", "INVERTED_LIST")):
        centroid = np.array(file["centroid"]) * file["centroid_unit"][0]
        signs = [
            steps(levels, width)[code]
            for width, code in zip(manifest["centroid_bits"], coarse[number], strict=True)
        ]
        rough = manifest["centroid_mean"] + np.array(signs) * manifest["centroid_deviation"]
        assert np.abs(rough - centroid).max() < 0.15
        rows = codes(file["residual_codes"], manifest["residual_bits"])
        for document, row in zip(ascending(file["document_gap"]), rows, strict=True):
            residual = [
                steps(levels, width)[code] for width, code in zip(manifest["residual_bits"], row, strict=True)
            ]
            guessed[document] = centroid + np.array(residual) * manifest["residual_deviation"]
            assert manifest["list_low"][document] + 256 * manifest["list_high"][document] == number
    assert sorted(guessed) == list(range(index.header["documents"]))
    # The directions of the numbers are others; the products between documents are the same, nearly.
    rough = np.array([guessed[document] for document in sorted(guessed)])
    assert np.corrcoef((rough @ rough.T).ravel(), (vectors @ vectors.T).ravel())[0, 1] > 0.97


@pytest.mark.parametrize("less", [20, 60])
def test_a_limit_on_files_makes_neighbours_share_theirs(
    snapshot: Snapshot, plan: SitePlan, less: int
) -> None:
    def made(most: int | None) -> dict[str, bytes]:
        room = PrebuiltParts(room=lambda: most)
        return {page.path: page.content for page in search_files(plan, snapshot, Search(), prebuilt=room)}

    plain = made(None)
    shown = sum(path[8] in "89abcdef" for path in plain if "engine" not in path)  # with the facets
    assert made(shown + 1) == plain
    fewer = made(shown + 1 - less)
    assert len(fewer) <= len(plain) - less
    both = [Index({path.split("/")[1][:-3]: each[path] for path in each}) for each in (plain, fewer)]
    assert both[0].header["excerpt_sharing"] == 1 < both[1].header["excerpt_sharing"]
    assert list(both[0].excerpts()) == list(both[1].excerpts())
    with pytest.raises(TooManyFiles, match=r"^\d+$"):
        made(3)


def test_excerpts_hold_the_texts_of_all_documents(index: Index, snapshot: Snapshot, plan: SitePlan) -> None:
    table = snapshot.table("passages", ["doc_id", "text"]).to_pydict()
    documents = snapshot.table("documents", ["doc_id", "modified"]).to_pydict()
    texts: dict[str, list[str]] = {}
    for document, text in zip(table["doc_id"], table["text"], strict=True):
        texts.setdefault(document, []).append(text)
    found: dict[int, list[str]] = {}
    for row, piece, (title, page, _, modified, sections, passages) in index.excerpts():
        entry = plan.library.entries[row]
        assert (title, page, modified) == (entry.title, entry.page, entry.modified)
        own = found.setdefault(row, [])
        assert len(own) == piece * shard_format.EXCERPT_PASSAGES
        assert all(0 <= section < len(sections) for section, _ in passages)
        own += [text for _, text in passages]
    assert found == {row: texts.get(doc_id, []) for row, doc_id in enumerate(documents["doc_id"])}


def test_words_and_their_neighbours_are_those_of_the_snapshot(index: Index, snapshot: Snapshot) -> None:
    counts: dict[str, int] = {}
    table = snapshot.table("surfaces", ["surface", "count"]).to_pydict()
    for word, count in zip(table["surface"], table["count"], strict=True):
        counts[word] = counts.get(word, 0) + count
    near = snapshot.table("vocabulary", ["term", "near"]).to_pydict()
    near_of = dict(zip(near["term"], near["near"], strict=True))
    files, others = index.all_of("words", "WORDS"), index.all_of("near_words", "NEAR_WORDS")
    assert len(files) == len(others) == len(strings(index.manifest, "letter"))
    for file, other in zip(files, others, strict=True):
        words = strings(file, "word")
        assert file["commonness"] == [min(31, counts[word].bit_length()) for word in words]
        assert set(other["near"]) <= set(words)
        assert all(found == near_of[word][:4] for word, found in other["near"].items())
    assert "snapshot" in {word for file in files for word in strings(file, "word")}


def test_synonyms_are_those_of_the_glossary(snapshot: Snapshot, plan: SitePlan, tmp_path: Path) -> None:
    glossary = tmp_path / "glossary.toml"
    glossary.write_text('"Power  Cut" = ["blackout", "outage"]\nempty = []\n')
    given = {"synonyms": {"file": str(glossary), "weight": 0.5, "max_terms": 3}}
    for understand, expected in (("synonyms",), [0.5, 3]), ((), [0, 0]):
        search = Search(**given, understand=understand)  # type: ignore[arg-type]
        files = {page.path: page.content for page in search_files(plan, snapshot, search)}
        made = Index({path.split("/")[1][:-3]: files[path] for path in files})
        assert made.header["synonyms"] == expected
        found = [each["synonyms"] for each in made.all_of("synonyms", "SYNONYMS")]
        assert found == ([{"power cut": ["blackout", "outage"]}] if understand else [])


def test_facets_are_those_of_the_documents(index: Index, plan: SitePlan) -> None:
    (file,) = index.all_of("facets", "FACETS")
    names, tags = file["names"], iter(file["tags"])
    for row, entry in enumerate(plan.library.entries):
        assert names["collection"][file["collection"][row]] == entry.collection
        assert names["language"][file["language"][row]] == entry.language
        assert {names["tag"][next(tags)] for _ in range(next(tags))} == set(entry.tags)
        if file["community"][row]:
            assert names["community"][file["community"][row] - 1][0] == entry.community
        if file["modified"][row]:
            day = np.datetime64("1970-01-01") + file["modified"][row] - 1
            assert str(day) == entry.modified[:10]
        assert names["section"][file["section"][row]] in ("", *entry.page.split("/"))
    steps = [step // 2 if step % 2 == 0 else -(step + 1) // 2 for step in file["reading"]]
    pages = [entry.page for entry in plan.library.entries]
    places = dict(zip(pages, accumulate(steps), strict=True))
    assert sorted(pages, key=lambda page: places[page]) == [*plan.tree.order] and min(places.values()) == 1


def test_every_file_of_the_index_is_one_that_the_page_describes(index: Index) -> None:
    for key, kind in (
        ("term_shards", "TERM_SHARD"),
        ("posting_tiers", "POSTINGS"),
        ("inverted_lists", "INVERTED_LIST"),
        ("words", "WORDS"),
        ("near_words", "NEAR_WORDS"),
        ("facets", "FACETS"),
        ("token_directories", "TOKEN_DIRECTORY"),
        ("token_projections", "TOKEN_PROJECTION"),
    ):
        assert index.all_of(key, kind)
    assert list(index.excerpts()) and list(index.tokens())
    assert index.read == set(index.files) - {"engine"}
