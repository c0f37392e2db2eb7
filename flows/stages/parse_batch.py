"""Parsing of groups of files into documents, sections, passages and counted terms, ready to be merged.

Runs in a worker process, and returns Arrow columns rather than an object per passage.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from ...artifacts.cache.linking_rows import linking_column
from ...artifacts.cache.parsed_corpus import GROUPS, ParsedCorpus, group_row, in_one_piece
from ...artifacts.tables import schemas
from ...pipeline.address import heading_slugs
from ...pipeline.chunk.passages import build_passages
from ...pipeline.chunk.sections import SectionSpan, build_tree, code_blocks
from ...pipeline.embedding.model_files import find, tokenizer
from ...pipeline.errors import (
    NoctuleError,
    RejectedDocument,
    SourceError,
    SourceUnavailable,
    is_transient,
)
from ...pipeline.filesystems.opening import is_address
from ...pipeline.includes.source import read_source
from ...pipeline.lexical.analyzer import STEMMERS, UNSTEMMED, code_analyzer, primary_language, prose_analyzer
from ...pipeline.lexical.field_counts import FieldCounts, count_fields
from ...pipeline.links.linking_documents import linking_document
from ...pipeline.model import CodeBlock, Document, Passage, ReportEntry, Source
from ...pipeline.parse import parse
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile
from ...pipeline.visibility import visibility_of
from ...pipeline.vocabulary.acronyms import learn
from ..run.retry import with_retries
from ..run.workers import Begin, WorkStep, unwatched
from .groups import Group, group_key


@dataclass(frozen=True, slots=True)
class ParseVerdict:
    """The reason why a file with these bytes cannot be parsed, any bytes if it could not even be read.

    A lasting one is remembered with its group; after any other the next run tries the file again.
    """

    reason: str
    sha256: str
    is_lasting: bool


@dataclass(frozen=True, slots=True)
class FileBatch:
    """Groups of files to parse, in order of their document ids, with the settings for it.

    ``verdicts`` are on files that are not parsed again, by their number in the batch.
    """

    groups: tuple[Group, ...]
    settings: Settings
    fingerprints: Mapping[str, str]
    verdicts: Mapping[int, ParseVerdict] = field(default_factory=dict)

    @property
    def files(self) -> int:
        """Return the number of files in all groups."""
        return sum(map(len, self.groups))


@dataclass(frozen=True, slots=True)
class _Cut:
    """A document and the passages and sections cut from it."""

    document: Document
    nodes: list[SectionSpan]
    passages: list[Passage]
    code_blocks: list[CodeBlock]


def parse_files(batch: FileBatch, begin: Begin = unwatched) -> pa.Table:
    """Read, parse, chunk and count every file of the batch; return one row per group.

    ``noctule.artifacts.cache.parsed_corpus`` describes the row. Files that cannot be parsed are rejections;
    raise ``SourceError`` where the machine is to blame. A group is cached under the hash of the bytes read
    here, and not at all if some of it could not be read. ``begin`` is called with the number of each file.
    """
    rows, first = [GROUPS.empty_table()], 0
    for group in batch.groups:
        rows.append(_Reading(batch, begin).row(group, first))
        first += len(group)
    return in_one_piece(pa.concat_tables(rows))  # each chunk of each column would be sent by itself


class _Reading:
    """A group while it is read: its documents, and the files that are none."""

    def __init__(self, batch: FileBatch, begin: Begin) -> None:
        self._batch, self._begin = batch, begin
        self._cuts: list[_Cut] = []
        self._rejections: list[ReportEntry] = []

    def row(self, group: Group, first: int) -> pa.Table:
        sources = [self._read(file, number) for number, file in enumerate(group, start=first)]
        if len(group) > 1:  # what is done with all documents of a group has no single culprit
            self._begin(WorkStep(first, len(group)))
        key = group_key(sources, self._batch.fingerprints)
        return group_row(key, group[0].collection, _counted(self._cuts, self._rejections))

    def _read(self, file: FoundFile, number: int) -> Source | None:
        """Read, parse and cut a file; return its source unless the next run has to try it again."""
        settings, verdict = self._batch.settings, self._batch.verdicts.get(number)
        self._begin(WorkStep(number))
        if verdict is not None and not verdict.sha256:
            self._unread(file, verdict.reason)
            return None
        source: Source | None = None
        try:
            source = with_retries(partial(read_source, file, settings.collections[file.collection]))
            if verdict is not None and verdict.sha256 == source.sha256:
                self._reject(file, verdict.reason)
                return source if verdict.is_lasting else None
            self._begin(WorkStep(number, mark=source.sha256))
            self._cuts.append(_cut(source, settings))
        except NoctuleError as error:
            if not isinstance(error, RejectedDocument):
                raise
            self._rejections.append(ReportEntry(file.collection, file.path, error.rejection, error.what))
        except MemoryError:  # not of the document alone: the next run tries it again
            source = None
            self._reject(file, "took more memory than there is")
        except Exception as error:  # one document never stops the build
            if is_transient(error):  # of the machine, and not of the document
                what = f"the document cannot be understood now: {error}"
                raise SourceError(what, where=f"{file.collection}:{file.path}") from error
            self._reject(file, f"could not be understood: {type(error).__name__}: {error}")
        return source

    def _unread(self, file: FoundFile, reason: str) -> None:
        """Quarantine a file on whose bytes a worker ended; raise if it is another machine's."""
        if is_address(self._batch.settings.collections[file.collection].root):
            where = f"{file.collection}:{file.path}"
            raise SourceUnavailable(f"the document could not be read: {reason}", where=where)
        self._reject(file, reason)

    def _reject(self, file: FoundFile, reason: str) -> None:
        self._rejections.append(ReportEntry(file.collection, file.path, "quarantined", reason))


def _counted(cuts: list[_Cut], rejections: Sequence[ReportEntry]) -> ParsedCorpus:
    return ParsedCorpus(
        documents=schemas.documents_table(cut.document for cut in cuts),
        sections=schemas.sections_table(node.section for cut in cuts for node in cut.nodes),
        passages=schemas.passages_table(passage for cut in cuts for passage in cut.passages),
        code_blocks=schemas.code_blocks_table(block for cut in cuts for block in cut.code_blocks),
        linking=linking_column(
            [linking_document(c.document, heading_slugs(c.document.headings)) for c in cuts]
        ),
        prose=_count_prose(cuts),
        code=_count_code(cuts),
        # Passages, not sources: there a term is as a reader sees it, without markup around it.
        acronyms=learn("\n".join(passage.text for passage in cut.passages) for cut in cuts),
        languages=frozenset(stemmed_language(cut.document.language) for cut in cuts),
        rejections=(*rejections, *_notes(cuts)),
    )


def _cut(source: Source, settings: Settings) -> _Cut:
    document = parse(source, settings.collections[source.collection])
    nodes = build_tree(document)
    if not nodes or not (document.blocks or document.headings or document.front_matter != "{}"):
        raise RejectedDocument(
            "holds no text", where=source.path, hint="Exclude the file, or write something in it."
        )
    if not visibility_of(document.front_matter).searched:
        return _Cut(document, nodes, [], [])
    count = tokenizer(find(settings.embed)).count
    # Nobody looks for the page that says that a page is missing.
    is_error_page = posixpath.splitext(source.path)[0] == "404"
    passages = [] if is_error_page else build_passages(document, nodes, count, settings.chunk)
    return _Cut(document, nodes, passages, code_blocks(document, nodes))


def _notes(cuts: Sequence[_Cut]) -> list[ReportEntry]:
    """Return the parser's remarks on documents that were indexed."""
    return [
        ReportEntry(cut.document.collection, cut.document.path, "noted", note)
        for cut in cuts
        for note in cut.document.notes
    ]


def stemmed_language(tag: str) -> str:
    """Return the language whose stemmer is applied to a document's words, or ``und`` for none."""
    language = primary_language(tag)
    return language if language in STEMMERS else UNSTEMMED


def _count_prose(cuts: Sequence[_Cut]) -> FieldCounts:
    """Return counts of the fields in the order of ``noctule.pipeline.settings.settings.FIELDS``."""
    pairs = [(cut.document, passage) for cut in cuts for passage in cut.passages]
    columns = [
        [document.title for document, _ in pairs],
        ["\n".join(passage.headings) for _, passage in pairs],
        ["\n".join(document.keywords) for document, _ in pairs],
        [document.description for document, _ in pairs],
        ["\n".join(document.tags) for document, _ in pairs],
        ["\n".join(document.aliases) for document, _ in pairs],
        [document.author for document, _ in pairs],
        [passage.text for _, passage in pairs],
        [""] * len(pairs),  # anchors: known when all links are
    ]
    return count_fields(
        columns, [prose_analyzer(stemmed_language(document.language)) for document, _ in pairs]
    )


def _count_code(cuts: Sequence[_Cut]) -> FieldCounts:
    passages = [passage for cut in cuts for passage in cut.passages]
    return count_fields([[passage.code for passage in passages]], [code_analyzer()] * len(passages))
