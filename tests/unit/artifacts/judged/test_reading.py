"""Judged queries: reading a folder, what may be wrong with one, and locating its documents in a snapshot."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.judged.locating import DocumentOrigin, locate
from noctule.artifacts.judged.reading import Judged, read_corpus, read_judged
from noctule.pipeline.errors import SourceError
from noctule.pipeline.identity import doc_id

QUERIES = '{"_id": "q1", "text": "stop a request"}\n{"_id": "q2", "text": "owls at dusk"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td3\t1\n"


def folder(root: Path, **files: str) -> Path:
    """A judged folder; ``qrels_tsv="…"`` is the file ``qrels.tsv``, and two low lines are a slash."""
    for name, text in ({"queries_jsonl": QUERIES, "qrels_tsv": QRELS} | files).items():
        *parents, last = name.split("__")
        path = root.joinpath(*parents, last.replace("_", ".", 1))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def only(root: Path, **files: str) -> Path:
    """A judged folder with just these files."""
    folder(root, **files)
    for name in {"queries_jsonl", "qrels_tsv"} - set(files):
        (root / name.replace("_", ".")).unlink()
    return root


def refusal(root: Path, **files: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_judged(folder(root, **files))
    assert caught.value.hint
    return caught.value


def place(path: str, collection: str = "docs") -> DocumentOrigin:
    return DocumentOrigin(doc_id(collection, path), collection, path)


def with_paths(**paths: str) -> Judged:
    return Judged("set", {"q": "text"}, {"q": dict.fromkeys(paths, 1)}, paths)


def with_ids(*ids: str) -> Judged:
    return Judged("set", {"q": "text"}, {"q": dict.fromkeys(ids, 1)})


# Reading


def test_the_beir_layout_is_read_with_its_header(tmp_path: Path) -> None:
    judged = read_judged(folder(tmp_path / "faq"))
    assert judged.name == "faq"
    assert dict(judged.queries) == {"q1": "stop a request", "q2": "owls at dusk"}
    assert judged.qrels == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
    assert judged.documents == ("d1", "d2", "d3")
    assert (judged.unknown_queries, judged.unknown_documents) == ((), ())


@pytest.mark.parametrize(
    "files",
    [
        {"qrels_tsv": QRELS.partition("\n")[2]},
        {"qrels__test_tsv": QRELS},
        {"qrels_txt": "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"},
        {"qrels_tsv": "\ufeff" + QRELS.replace("\n", "\r\n")},
    ],
    ids=["no header", "qrels/test.tsv", "TREC", "BOM and CRLF"],
)
def test_judgements_are_the_same_in_every_layout(tmp_path: Path, files: dict[str, str]) -> None:
    judged = read_judged(only(tmp_path, queries_jsonl=QUERIES, **files))
    assert judged.qrels == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}


def test_trec_topics_are_a_table_of_id_and_text(tmp_path: Path) -> None:
    judged = read_judged(
        only(tmp_path, queries_tsv="q1\tstop a request\nq2\towls\tat dusk\n", qrels_tsv=QRELS)
    )
    assert dict(judged.queries) == {"q1": "stop a request", "q2": "owls\tat dusk"}


def test_a_ranking_in_the_folder_is_ordered_by_score(tmp_path: Path) -> None:
    run = "q1 Q0 d2 1 0.5 bm25\nq1 Q0 d1 2 0.9 bm25\nq1 Q0 d9 3 0.5 bm25\n"
    assert read_judged(folder(tmp_path, run_txt=run)).run == {"q1": ("d1", "d2", "d9")}


def test_queries_that_only_the_ranking_names_are_listed(tmp_path: Path) -> None:
    judged = read_judged(folder(tmp_path, run_txt="q1 Q0 d1 1 2 t\nq9 Q0 d1 1 2 t\n"))
    assert (judged.run, judged.unknown_ranked) == ({"q1": ("d1",)}, ("q9",))


def test_ids_may_hold_spaces_where_columns_are_tabs(tmp_path: Path) -> None:
    judged = read_judged(folder(tmp_path, qrels_tsv="q1\tmy notes/a b\t1\n"))
    assert judged.documents == ("my notes/a b",)


def test_a_line_separator_inside_a_query_does_not_end_it(tmp_path: Path) -> None:
    queries = '{"_id": "q1", "text": "stop\u2028now"}\n'
    assert read_judged(folder(tmp_path, queries_jsonl=queries)).queries["q1"] == "stop\u2028now"


def test_a_corpus_is_read_packed_or_not(tmp_path: Path) -> None:
    line = '{"_id": "d1", "title": "Owls", "text": "Hunt at dusk."}\n'
    plain = folder(tmp_path / "plain", corpus_jsonl=line)
    packed = folder(tmp_path / "packed")
    with pa.output_stream(str(packed / "corpus.jsonl.zst")) as file:
        file.write(line.encode())
    assert (packed / "corpus.jsonl.zst").read_bytes() != line.encode()
    assert list(read_corpus(plain)) == list(read_corpus(packed))
    assert next(read_corpus(packed)).title == "Owls"


# Bad input


def test_queries_and_documents_that_only_judgements_name_are_listed_and_kept(tmp_path: Path) -> None:
    judged = read_judged(
        folder(tmp_path, qrels_tsv="q1\td1\t1\nq1\tlost\t1\nq9\td1\t1\n", docs_tsv="doc-id\tpath\nd1\ta.md\n")
    )
    assert judged.unknown_queries == ("q9",)
    assert judged.unknown_documents == ("lost",)
    assert judged.qrels["q1"] == {"d1": 1, "lost": 1}


def test_only_queries_that_a_document_answers_are_scored(tmp_path: Path) -> None:
    judged = read_judged(folder(tmp_path, qrels_tsv="q1\td1\t0\nq2\td3\t1\n"))
    assert judged.answerable == ("q2",)


@pytest.mark.parametrize(
    ("files", "what", "where"),
    [
        ({"queries_jsonl": "\n"}, "there are no queries", "queries.jsonl"),
        ({"qrels_tsv": "query-id\tcorpus-id\tscore\n"}, "there are no judgements", "qrels.tsv"),
        ({"qrels_tsv": "q7\td1\t1\n"}, "no query has a document that answers it", ""),
        ({"qrels_tsv": "q1\td1\t0\n"}, "no query has a document that answers it", ""),
        ({"queries_jsonl": QUERIES + QUERIES}, "the query 'q1' occurs twice", "queries.jsonl, line 3"),
        (
            {"queries_jsonl": '{"_id": "q1", "text": " "}'},
            "the query 'q1' has no text", "queries.jsonl, line 1",
        ),
        (
            {"queries_jsonl": '{"_id": "q1", "text": ["owls"]}'},
            "the text of the query is not a string", "queries.jsonl, line 1",
        ),
        ({"run_txt": "1 Q0 d1 1 2 t\n"}, "the ranking covers none of the queries", "run.txt"),
        ({"queries_jsonl": '{"text": "owls"}'}, "no _id", "queries.jsonl, line 1"),
        ({"queries_jsonl": "[1]"}, "not a JSON object", "queries.jsonl, line 1"),
        ({"queries_jsonl": "{"}, "not JSON", "queries.jsonl, line 1"),
        (
            {"qrels_tsv": QRELS + "q1\td1\t1\n"},
            "'d1' is judged twice for the query 'q1'", "qrels.tsv, line 5",
        ),
        ({"qrels_tsv": "q1\td1\t-1\n"}, "the gain -1 is below zero", "qrels.tsv, line 1"),
        ({"qrels_tsv": "q1\td1\t0.5\n"}, "the gain 0.5 is not a whole number", "qrels.tsv, line 1"),
        ({"qrels_tsv": "q1\td1\tnan\n"}, "the gain nan is not a whole number", "qrels.tsv, line 1"),
        ({"qrels_tsv": "q1\td1\tinf\n"}, "the gain inf is not a whole number", "qrels.tsv, line 1"),
        ({"qrels_tsv": "q1\td1\tgood\n"}, "the gain 'good' is not a number", "qrels.tsv, line 1"),
        ({"qrels_tsv": "q1\td1\n"}, "2 columns", "qrels.tsv, line 1"),
        ({"docs_tsv": "d1\ta.md\nd1\tb.md\n"}, "the document 'd1' occurs twice", "docs.tsv, line 2"),
        ({"docs_tsv": "d1\n"}, "1 columns", "docs.tsv, line 1"),
        (
            {"corpus_jsonl": '{"_id": "d1"}\n{"_id": "d1"}\n'},
            "the document 'd1' occurs twice", "corpus.jsonl",
        ),
        ({"run_txt": "q1 Q0 d1 1 high tag\n"}, "rank or score is not a number", "run.txt, line 1"),
        (
            {"run_txt": "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n"},
            "a document is ranked twice for the query 'q1'", "run.txt",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_and_line(
    tmp_path: Path, files: dict[str, str], what: str, where: str
) -> None:
    error = refusal(tmp_path, **files)
    assert what in error.what
    assert error.where == str(tmp_path / where) or error.where.startswith(str(tmp_path / where))


def test_a_folder_without_judgements_or_queries_says_which_names_are_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no queries there: none of queries.jsonl, queries.tsv"):
        read_judged(tmp_path)
    with pytest.raises(
        SourceError, match=r"no judgements there: none of qrels.tsv, qrels/test.tsv, qrels.txt"
    ):
        read_judged(only(tmp_path, queries_jsonl=QUERIES))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "queries.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match="cannot be read"):
        read_judged(tmp_path)


# Finding the documents in a snapshot


def test_a_judged_path_is_found_below_the_collections_folder() -> None:
    judged = with_paths(Anatomy="mdn/games/anatomy/index.md", Games="mdn/games/index.md")
    found = locate(judged, [place("games/anatomy/index.md"), place("games/index.md"), place("index.md")])
    assert found.doc_ids == {"Anatomy": "docs:games/anatomy/index.md", "Games": "docs:games/index.md"}
    assert found.missing == ()


def test_one_index_file_is_not_taken_for_another() -> None:
    judged = with_paths(a="mdn/a/index.md", b="mdn/b/index.md", gone="mdn/gone/index.md")
    found = locate(judged, [place("a/index.md"), place("b/index.md"), place("index.md")])
    assert sorted(found.doc_ids) == ["a", "b"]
    assert found.missing == ("gone",)


def test_a_collection_may_begin_above_the_judged_paths() -> None:
    found = locate(with_paths(a="guide/a.md", b="b.md"), [place("site/guide/a.md"), place("site/b.md")])
    assert found.doc_ids == {"a": "docs:site/guide/a.md", "b": "docs:site/b.md"}


def test_collections_that_hold_the_same_files_are_told_apart_by_the_folders_name() -> None:
    judged = with_paths(one="docs/v1/a.md", two="docs/v2/a.md")
    found = locate(judged, [place("a.md", "v1"), place("a.md", "v2")])
    assert found.doc_ids == {"one": "v1:a.md", "two": "v2:a.md"}


def test_a_document_that_may_be_either_of_two_is_missing() -> None:
    judged = with_paths(a="a.md", b="b.md")
    found = locate(judged, [place("a.md", "left"), place("a.md", "right"), place("b.md", "left")])
    assert found.doc_ids == {"b": "left:b.md"}
    assert found.missing == ("a",)


def test_without_paths_an_id_is_a_documents_id_path_or_file_name() -> None:
    documents = [place("x/one.md"), place("x/two.md"), place("y/three.md"), place("y/4983.md")]
    found = locate(with_ids("docs:x/one.md", "x/two.md", "y/three", "4983"), documents)
    assert found.doc_ids == {
        "docs:x/one.md": "docs:x/one.md",
        "x/two.md": "docs:x/two.md",
        "y/three": "docs:y/three.md",
        "4983": "docs:y/4983.md",
    }


def test_a_file_name_that_two_documents_have_names_neither() -> None:
    found = locate(with_ids("index", "a"), [place("x/index.md"), place("y/index.md"), place("a.md")])
    assert found.missing == ("index",)


def test_an_exact_path_counts_more_than_a_file_name() -> None:
    found = locate(with_ids("a"), [place("x/a.md"), place("a.md")])
    assert found.doc_ids == {"a": "docs:a.md"}


def test_a_snapshot_of_other_documents_is_refused() -> None:
    with pytest.raises(
        SourceError, match="none of the 1 judged documents is in the snapshot, for example 'a'"
    ):
        locate(with_ids("a"), [place("b.md")])


def test_the_order_of_the_documents_decides_nothing() -> None:
    judged = with_paths(a="m/v1/a.md", b="m/v1/b.md", c="m/v2/a.md")
    documents = [place("a.md", "v1"), place("b.md", "v1"), place("a.md", "v2"), place("v1/a.md", "all")]
    assert locate(judged, documents) == locate(judged, documents[::-1])
