"""Reading judged queries from a folder in BEIR or TREC layout.

BEIR: ``queries.jsonl``, ``qrels.tsv`` or ``qrels/test.tsv``, and ``corpus.jsonl`` (or ``corpus.jsonl.zst``)
or ``docs.tsv``, which maps a judged document to a file. TREC: ``queries.tsv`` or ``queries.jsonl``,
``qrels.txt`` and, optionally, a ranking to compare with in ``run.txt``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ...pipeline.errors import SourceError

QUERY_FILES = ("queries.jsonl", "queries.tsv")
QRELS_FILES = ("qrels.tsv", "qrels/test.tsv", "qrels.txt")
CORPUS_FILES = ("corpus.jsonl", "corpus.jsonl.zst")
PATHS_FILE, RUN_FILE = "docs.tsv", "run.txt"
_GAIN_NAMES = {"score", "rel", "relevance", "gain", "grade", "label"}
_ID_NAMES = {"_id", "id", "qid", "query-id", "query_id", "doc-id", "doc_id", "docid", "corpus-id", "docno"}


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """A document that came with the judgements as text, not as a file."""

    document_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A set of judged queries.

    ``queries`` gives the text of each in file order, ``qrels`` the gain of each judged document by query
    (known queries only), ``paths`` the file of a judged document where the set names it, ``run`` a ranking
    that came with the set. ``unknown_queries`` and ``unknown_documents`` occur only in the qrels; the
    documents stay in ``qrels``, where nothing can find them. ``unknown_ranked`` are queries that occur only
    in the ranking.
    """

    name: str
    queries: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]
    paths: Mapping[str, str] = field(default_factory=dict)
    run: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown_queries: tuple[str, ...] = ()
    unknown_documents: tuple[str, ...] = ()
    unknown_ranked: tuple[str, ...] = ()

    @property
    def answerable(self) -> tuple[str, ...]:
        """Return the queries that some document answers, in file order: those that are scored."""
        return tuple(query for query in self.queries if any(self.qrels.get(query, {}).values()))

    @property
    def documents(self) -> tuple[str, ...]:
        """Return every document with a judgement, sorted."""
        return tuple(sorted({document for gains in self.qrels.values() for document in gains}))


def read_judged(folder: Path) -> Judged:
    """Read the judged queries in ``folder``; raises ``SourceError`` naming the file and line at fault."""
    queries = _queries(_one_of(folder, QUERY_FILES, "queries"))
    qrels = _qrels(_one_of(folder, QRELS_FILES, "judgements"))
    paths = _paths(folder / PATHS_FILE)
    known = _corpus_ids(folder) | set(paths)
    named = {document for gains in qrels.values() for document in gains}
    run = _run(folder / RUN_FILE)
    judged = Judged(
        name=folder.resolve().name,
        queries=queries,
        qrels={query: qrels[query] for query in queries if query in qrels},
        paths=paths,
        run={query: run[query] for query in queries if query in run},
        unknown_queries=tuple(sorted(set(qrels) - set(queries))),
        unknown_documents=tuple(sorted(named - known)) if known else (),
        unknown_ranked=tuple(sorted(set(run) - set(queries))),
    )
    hint = "Do the ids in {} and in the queries belong together?"
    if run and not judged.run:
        what = "the ranking covers none of the queries"
        raise SourceError(what, where=str(folder / RUN_FILE), hint=hint.format("it"))
    if not judged.answerable:
        what = "no query has a document that answers it"
        raise SourceError(what, where=str(folder), hint=hint.format("the qrels"))
    return judged


def read_corpus(folder: Path) -> Iterator[CorpusDocument]:
    """Yield the documents of ``corpus.jsonl`` or ``corpus.jsonl.zst`` in file order, if either exists."""
    path = next((folder / name for name in CORPUS_FILES if (folder / name).is_file()), None)
    for line in _lines(path) if path else ():
        given = _object(line)
        yield CorpusDocument(_id(given, line), str(given.get("title") or ""), str(given.get("text") or ""))


@dataclass(frozen=True, slots=True)
class _Line:
    path: Path
    number: int
    text: str

    def error(self, what: str, hint: str) -> SourceError:
        return SourceError(what, where=f"{self.path}, line {self.number}", hint=hint)

    def cells(self) -> list[str]:
        """Split into columns: at tabs if there are any, since ids may contain spaces, else at white space."""
        return [cell.strip() for cell in self.text.split("\t")] if "\t" in self.text else self.text.split()


def _one_of(folder: Path, names: tuple[str, ...], what: str) -> Path:
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise SourceError(
            f"no {what} there: none of {', '.join(names)}",
            where=str(folder),
            hint="Name a folder in BEIR or TREC layout.",
        )
    return found


def _lines(path: Path) -> Iterator[_Line]:
    """Yield the lines that are not blank; Arrow decompresses ``.zst`` by itself."""
    try:
        with pa.input_stream(str(path)) as stream:
            content = stream.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        hint = "It must be UTF-8 text."
        raise SourceError(f"cannot be read: {error}", where=str(path), hint=hint) from None
    for number, text in enumerate(content.split("\n"), 1):
        if text.strip():
            yield _Line(path, number, text.strip("\r\n"))


def _object(line: _Line) -> dict[str, object]:
    try:
        given = json.loads(line.text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise line.error(f"not JSON: {error}", "Each line is one JSON object.") from None
    if not isinstance(given, dict):
        raise line.error("not a JSON object", 'Each line is {"_id": …, "text": …}.')
    return given


def _id(given: Mapping[str, object], line: _Line) -> str:
    value = given.get("_id", given.get("id"))
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise line.error("no _id", "Give each object a string _id.")
    return str(value)


def _queries(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _lines(path):
        query, text = _query(line)
        if query in _ID_NAMES and not found and path.suffix == ".tsv":
            continue
        if query in found:
            raise line.error(f"the query {query!r} occurs twice", "Give each query an id of its own.")
        if not text.strip():
            raise line.error(f"the query {query!r} has no text", "Write its text, or remove it.")
        found[query] = text
    if not found:
        raise SourceError("there are no queries", where=str(path), hint="Write one query per line.")
    return found


def _query(line: _Line) -> list[str]:
    if line.path.suffix == ".jsonl":
        given = _object(line)
        text = given.get("text") or ""
        if not isinstance(text, str):
            raise line.error("the text of the query is not a string", 'Each line is {"_id": …, "text": "…"}.')
        return [_id(given, line), text]
    query, _, text = line.text.partition("\t")
    return [query.strip(), text.strip()]


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for at, line in enumerate(_lines(path)):
        cells = line.cells()
        if at == 0 and cells[-1].lower() in _GAIN_NAMES:
            continue
        if len(cells) not in (3, 4):
            hint = "Write: query, document, gain; or: query, 0, document, gain."
            raise line.error(f"{len(cells)} columns", hint)
        query, document, gain = cells[0], cells[-2], _gain(cells[-1], line)
        if document in found.setdefault(query, {}):
            what = f"{document!r} is judged twice for the query {query!r}"
            raise line.error(what, "Keep one of the lines.")
        found[query][document] = gain
    if not found:
        raise SourceError("there are no judgements", where=str(path), hint="Write one judgement per line.")
    return found


def _gain(given: str, line: _Line) -> int:
    try:
        gain = float(given)
    except ValueError:
        raise line.error(f"the gain {given!r} is not a number", "Write 0, 1 or more.") from None
    if gain < 0:
        raise line.error(f"the gain {given} is below zero", "Write 0 for a document that does not answer.")
    if not gain.is_integer():
        raise line.error(f"the gain {given} is not a whole number", "Scale the gains to whole numbers.")
    return int(gain)


def _paths(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for at, line in enumerate(_lines(path) if path.is_file() else ()):
        cells = line.cells()
        if at == 0 and cells[0].lower() in _ID_NAMES:
            continue
        if len(cells) != 2 or not all(cells):
            raise line.error(f"{len(cells)} columns", "Write: document, path.")
        if cells[0] in found:
            raise line.error(f"the document {cells[0]!r} occurs twice", "Keep one of the lines.")
        found[cells[0]] = cells[1]
    return found


def _corpus_ids(folder: Path) -> set[str]:
    found: set[str] = set()
    for document in read_corpus(folder):
        if document.document_id in found:
            raise SourceError(
                f"the document {document.document_id!r} occurs twice",
                where=str(folder / "corpus.jsonl"),
                hint="Give each document an id of its own.",
            )
        found.add(document.document_id)
    return found


def _run(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a ranking by score, highest first; equal scores are ordered by their ranks."""
    ranked: dict[str, list[tuple[float, int, str]]] = {}
    columns = "Write: query, Q0, document, rank, score, tag."
    for line in _lines(path) if path.is_file() else ():
        cells = line.cells()
        if len(cells) != 6:
            raise line.error(f"{len(cells)} columns", columns)
        try:
            entry = -float(cells[4]), int(cells[3]), cells[2]
        except ValueError:
            raise line.error("rank or score is not a number", columns) from None
        ranked.setdefault(cells[0], []).append(entry)
    return {query: _documents(path, query, entries) for query, entries in ranked.items()}


def _documents(path: Path, query: str, entries: Iterable[tuple[float, int, str]]) -> tuple[str, ...]:
    documents = tuple(document for _, _, document in sorted(entries))
    if len(set(documents)) < len(documents):
        what = f"a document is ranked twice for the query {query!r}"
        raise SourceError(what, where=str(path), hint="Keep its best rank.")
    return documents
