"""The catalog's macros against the Python that they repeat in SQL: same terms, same scores, same order."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pytest

from noctule.artifacts.disk.layout import CATALOG, TABLES
from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.query.model import Query, RankedList
from noctule.artifacts.query.retrieval.keyword import code_list, keyword_list
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.query.understanding.static_encoder import StaticEncoder
from noctule.artifacts.sql.catalog import catalog
from noctule.artifacts.store.snapshot import Snapshot
from noctule.pipeline.lexical.analyzer import code_analyzer, query_terms, terms
from noctule.pipeline.lexical.stop_words import without_stop_words
from noctule.pipeline.settings.settings import Settings
from tests.guide_snapshot import Guide, guide

__all__ = ["guide"]
Vectors = npt.NDArray[np.float64]
QUERIES = (
    "how are vectors reused between runs",
    "What happens when the power goes while a snapshot is published?",
    "rollback",
    "BM25F k1 and b",
    "node.js c++ snake_case_name write-ahead log's",
    "DuckDB; read_parquet('documents.parquet')",
    "readWriteAheadLog pathName",
    "Eulen in alten Obstb\u00e4umen",
    "caf\u00e9 \uff26\uff35\uff2c\uff2c \u6771\u4eac\u90fd\u306e\u6587\u66f8",
)
HOSTILE = (
    "",
    " ",
    "'; drop view passages; --",
    '"unclosed -minus title:x star* (',
    "a\x00b\x00",
    "\u202e\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\U0001f469\u200d\U0001f52c \U0001f989",
    "$1 ? {dimension} {languages} \\' \\x{61} %s",
    " ".join(f"term{i}" for i in range(10_000)),
    "x" * 1_000_000,
)


@pytest.fixture(scope="module")
def snapshot(guide: Guide) -> Iterator[Snapshot]:
    with guide.store.open() as opened:
        yield opened


@pytest.fixture
def connection(snapshot: Snapshot) -> duckdb.DuckDBPyConnection:
    return snapshot.connect()


@pytest.fixture(scope="module")
def corpus(snapshot: Snapshot) -> CorpusReader:
    return CorpusReader(snapshot)


def _ranked(found: Sequence[tuple[int, float]], expected: RankedList) -> None:
    assert [row for row, _ in found] == expected.rows.tolist()
    assert [score for _, score in found] == pytest.approx(expected.scores.tolist(), abs=1e-6)


@pytest.mark.parametrize("text", QUERIES)
def test_a_query_has_the_terms_it_has_in_python(
    text: str, connection: duckdb.DuckDBPyConnection, corpus: CorpusReader
) -> None:
    found = {term for _, term in connection.execute("from query_terms($1)", [text]).fetchall()}
    # Words that the corpus has not got are stemmed in English only; the index has not got them either.
    known = set(corpus.prose.terms.to_pylist())
    assert found & known == set(query_terms(text, corpus.languages)) & known
    assert found & known
    found = {term for _, term in connection.execute("from code_query_terms($1)", [text]).fetchall()}
    assert found == set(terms(code_analyzer(), text))


@pytest.mark.parametrize("text", QUERIES)
def test_keyword_search_is_the_keyword_list(
    text: str, connection: duckdb.DuckDBPyConnection, corpus: CorpusReader
) -> None:
    asked = without_stop_words(text, corpus.languages)
    expected = keyword_list(Query(text, tuple(query_terms(asked, corpus.languages))), corpus, 20)
    sql = "select passage, score from keyword_search($1, 20) order by rank"
    _ranked(connection.execute(sql, [text]).fetchall(), expected)
    assert len(expected.rows)


@pytest.mark.parametrize("text", QUERIES)
def test_code_search_is_the_code_list(
    text: str, connection: duckdb.DuckDBPyConnection, corpus: CorpusReader
) -> None:
    wanted = tuple(dict.fromkeys(terms(code_analyzer(), text)))
    expected = code_list(Query(text, code_terms=wanted), corpus, 20)
    sql = "select passage, score from code_search($1, 20) order by rank"
    _ranked(connection.execute(sql, [text]).fetchall(), expected)


def _vectors(snapshot: Snapshot, table: str) -> Vectors:
    column = snapshot.table(table, ["vector"]).column("vector").combine_chunks()
    return np.array(column.flatten().to_numpy(), dtype=np.float64).reshape(len(column), -1)


def _of_passages(snapshot: Snapshot) -> Vectors:
    rows = snapshot.table("passages", ["vector_row"]).column("vector_row").to_numpy()
    return np.asarray(_vectors(snapshot, "vectors")[rows])


def _nearest(scores: Vectors, count: int) -> list[int]:
    # Rounded: DuckDB's cosine is of single precision.
    return [int(row) for row in np.lexsort((np.arange(len(scores)), -scores.round(5)))[:count]]


def test_semantic_search_is_brute_force(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot) -> None:
    vectors = _of_passages(snapshot)
    given = vectors[3] * 2 + vectors[40]
    scores = vectors @ (given / np.linalg.norm(given))
    sql = "select passage, score from semantic_search($1, 15) order by rank"
    found = connection.execute(sql, [given.tolist()]).fetchall()
    assert [score for _, score in found] == pytest.approx(scores[[row for row, _ in found]], abs=1e-5)
    assert [score for _, score in found] == pytest.approx(sorted(scores, reverse=True)[:15], abs=1e-5)
    assert found[0][0] in _nearest(scores, 2)


def test_a_text_has_the_vector_that_the_static_encoder_gives_it(
    connection: duckdb.DuckDBPyConnection, corpus: CorpusReader
) -> None:
    text = "How do owls and eulen hunt at night?"
    expected = StaticEncoder(corpus).encode_query(text)
    assert expected.any()
    (found,) = connection.execute("select text_vector($1)", [text]).fetchone() or ()
    assert found == pytest.approx(expected, abs=1e-6)
    best = connection.execute("select passage, score from semantic_search_text($1, 5)", [text]).fetchall()
    assert best == connection.execute("select passage, score from semantic_search($1, 5)", [found]).fetchall()
    assert connection.execute("from semantic_search_text('', 5)").fetchall() == []


@pytest.mark.parametrize(
    "text",
    [
        "undo",
        "laptops",
        "how do owls undo a Dockerfile",
        "naïveté node.js_x c++",
        "🎉",
        "=>",
        "a",
        "zzxq ᚠᛇᚻ",
        "検索",
    ],
)
def test_a_word_of_no_document_has_the_tokens_it_has_in_python(
    text: str, connection: duckdb.DuckDBPyConnection, corpus: CorpusReader
) -> None:
    expected = StaticEncoder(corpus).encode_query(text)
    assert expected.any()
    (found,) = connection.execute("select text_vector($1)", [text]).fetchone() or ()
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_word_s_tokens_and_their_shares_can_be_read(connection: duckdb.DuckDBPyConnection) -> None:
    found = connection.execute("from query_tokens('Laptops and snapshots') order by share").fetchall()
    assert [(word, token) for word, token, _ in found] == [("laptops", "##s"), ("laptops", "laptop")]
    assert [share for *_, share in found] == pytest.approx([1 / 14, 6 / 14])


@pytest.mark.parametrize(
    "text", ["a crash while a snapshot is written", "a crash while qqqq zzzz is written"]
)
def test_hybrid_search_scores_as_the_searcher_does_before_its_stages(
    text: str, connection: duckdb.DuckDBPyConnection, guide: Guide
) -> None:
    settings = Settings.model_validate(
        {"search": {"encoder": "static", "stages": ["in_degree"], "understand": []}}
    )
    with Searcher(guide.store.open(), settings) as searcher:
        expected = [(hit.passage_id, hit.score) for hit in searcher.search(text, 10).hits]
    sql = "select passage_id, score from hybrid_search($1, 10) order by rank"
    found = connection.execute(sql, [text]).fetchall()
    assert [row for row, _ in found] == [row for row, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-5)


def test_hybrid_search_without_a_word_is_empty_and_with_a_strange_one_is_not(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    assert connection.execute("from hybrid_search(' ', 5)").fetchall() == []
    assert connection.execute("from hybrid_search('zzzz qqqq', 5)").fetchall() != []
    assert connection.execute("from hybrid_search('snapshot zzzz', 5)").fetchall() != []


def test_similar_documents_have_the_nearest_means(
    connection: duckdb.DuckDBPyConnection, snapshot: Snapshot
) -> None:
    owner = np.array(snapshot.table("passages", ["doc_id"]).column("doc_id").to_pylist())
    vectors = _of_passages(snapshot)
    mean = {doc: vectors[owner == doc].mean(axis=0) for doc in sorted(set(owner))}
    mine = mean["guide:notes/owls.md"]
    cosine = {
        doc: float(other @ mine / np.linalg.norm(other) / np.linalg.norm(mine)) for doc, other in mean.items()
    }
    found = connection.execute(
        "select doc_id, score from similar_to('guide:notes/owls.md', 5) order by rank"
    ).fetchall()
    assert found[0][0] == "guide:notes/owls-again.md"
    assert "guide:notes/owls.md" not in {doc for doc, _ in found}
    assert [score for _, score in found] == pytest.approx([cosine[doc] for doc, _ in found], abs=1e-5)
    assert len(found) == 5


def test_neighbours_are_both_ways_and_never_the_page_itself(connection: duckdb.DuckDBPyConnection) -> None:
    sql = "select doc_id, direction, kind, links from neighbours('guide:notes/hub.md')"
    found = connection.execute(sql).fetchall()
    assert found[0] == ("guide:notes/owls.md", "out", "link", 1)
    assert {doc for doc, direction, *_ in found if direction == "in"} == {
        f"guide:notes/{name}.md" for name in ("owls", "owls-again", "log", "eulen")
    }


def test_a_community_is_its_other_members(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot) -> None:
    of = snapshot.table("documents", ["doc_id", "community"]).to_pydict()
    community = dict(zip(of["doc_id"], of["community"], strict=True))
    mine = community["guide:notes/hub.md"]
    sql = "select doc_id, links_in from community('guide:notes/hub.md')"
    found = connection.execute(sql).fetchall()
    assert {doc for doc, _ in found} == {d for d, c in community.items() if c == mine} - {
        "guide:notes/hub.md"
    }
    assert [links for _, links in found] == sorted((links for _, links in found), reverse=True)


@pytest.mark.parametrize("macro", ["keyword_search", "code_search", "semantic_search_text", "hybrid_search"])
def test_a_hostile_query_is_only_a_query(
    macro: str, connection: duckdb.DuckDBPyConnection, corpus: CorpusReader
) -> None:
    for text in HOSTILE:
        assert len(connection.execute(f"from {macro}($1, 3)", [text]).fetchall()) <= 3
    assert connection.execute("select count(*) from passages").fetchone() == (corpus.passages,)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_n_is_how_many(n: int, connection: duckdb.DuckDBPyConnection) -> None:
    found = connection.execute("from keyword_search('snapshot', $1)", [n]).fetchall()
    assert [row[0] for row in found] == list(range(1, n + 1))


def test_a_vector_of_another_model_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.Error, match="384"):
        connection.execute("from semantic_search([0.5, 0.5], 3)").fetchall()


def _macros() -> dict[str, str]:
    """Every macro of the catalog with its text."""
    sql = re.sub(r"(?m)--.*$", "", catalog(384, ["en"]))
    parts = re.split(r"create or replace macro (\w+)", sql)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _inlined(name: str, macros: dict[str, str]) -> set[str]:
    """The macro and all that stand in it."""
    used = {each for each in re.findall(r"\b(\w+)\(", macros[name]) if each in macros and each != name}
    return {name}.union(*(_inlined(each, macros) for each in used))


def test_no_two_steps_of_a_macro_have_one_name() -> None:
    # DuckDB 1.3 takes the steps of a macro for those of the macro around it.
    macros = _macros()
    step = re.compile(r"\b(\w+) as (?:materialized )?\(\s*(?:\(|select|from)")
    assert {"query_terms", "text_vector"} <= _inlined("hybrid_search", macros)
    assert {"known", "stems"} <= set(step.findall(macros["query_terms"]))
    for name in macros:
        steps = [found for each in _inlined(name, macros) for found in step.findall(macros[each])]
        assert len(steps) == len(set(steps)), (name, sorted(steps))


def test_everything_in_the_catalog_says_what_it_is(connection: duckdb.DuckDBPyConnection) -> None:
    views = dict(
        connection.execute("select view_name, comment from duckdb_views() where not internal").fetchall()
    )
    assert set(TABLES) < set(views)
    assert [name for name, comment in views.items() if not comment] == []
    macros = connection.execute(
        "select function_name from duckdb_functions()"
        " where function_type = 'table_macro' and not internal and comment is null"
    ).fetchall()
    assert macros == []


PLAIN = """
import json, sys
import duckdb
connection = duckdb.connect()
connection.execute("set autoinstall_known_extensions = false; set autoload_known_extensions = false")
if len(sys.argv) > 1:
    connection.execute("set variable snapshot = ?", [sys.argv[1]])
connection.execute(open(sys.argv[-1] + "/catalog.sql" if len(sys.argv) > 1 else "catalog.sql").read())
rows = connection.execute("select passage_id, score from hybrid_search('crash of a snapshot', 5)").fetchall()
print(json.dumps(rows))
"""


def _plainly(cwd: Path, *arguments: str) -> list[list[object]]:
    command = [sys.executable, "-c", PLAIN, *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, timeout=60)
    return list(json.loads(done.stdout))


def test_a_copy_elsewhere_answers_in_any_duckdb_from_any_folder(
    guide: Guide, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    copy = tmp_path / "a copy [of] it's own"
    shutil.copytree(guide.current, copy)
    sql = "select passage_id, score from hybrid_search('crash of a snapshot', 5)"
    expected = [list(row) for row in connection.execute(sql).fetchall()]
    assert _plainly(copy) == expected
    assert _plainly(tmp_path, str(copy)) == expected


def test_the_catalog_can_be_read_twice_and_ask_another_snapshot(guide: Guide) -> None:
    connection = duckdb.connect()
    sql = (guide.current / CATALOG).read_text("ascii")
    for folder, found in ((guide.before, 0), (guide.current, 1)):
        connection.execute("set variable snapshot = ?", [str(folder)])
        connection.execute(sql)
        count = "select count(*) from documents where path = 'notes/log-again.md'"
        assert connection.execute(count).fetchone() == (found,)


def test_the_variable_leads_to_no_other_file(
    guide: Guide, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    shutil.copytree(guide.current, tmp_path / "other")
    connection.execute("set variable snapshot = ?", [str(tmp_path / "other")])
    with pytest.raises(duckdb.Error, match="annot access"):
        connection.execute("select * from documents").fetchall()


def test_the_catalog_of_a_snapshot_is_what_this_version_writes(snapshot: Snapshot) -> None:
    languages = snapshot.manifest.analyzer["languages"].split(",")
    assert languages == ["de", "en"]
    assert snapshot.file(CATALOG).read_text("ascii") == catalog(384, languages)
