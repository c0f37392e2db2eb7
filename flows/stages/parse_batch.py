"""Parsing of groups of files into documents, sections, passages and counted terms, ready to be merged.

Runs in a worker process, and returns Arrow columns rather than an object per passage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from ...artifacts.cache.parsed_corpus import GROUPS, ParsedCorpus, group_row, in_one_piece
from ...artifacts.tables import schemas
from ...pipeline.chunk.passages import build_passages
from ...pipeline.chunk.sections import SectionSpan, build_tree, code_blocks, heading_slugs
from ...pipeline.discover import FoundFile, read_source
from ...pipeline.embedding.model_files import find, tokenizer
from ...pipeline.errors import NoctuleError, RejectedDocument, SourceError, is_transient
from ...pipeline.lexical.analyzer import STEMMERS, UNSTEMMED, code_analyzer, primary_language, prose_analyzer
from ...pipeline.lexical.field_counts import FieldCounts, count_fields
from ...pipeline.links.resolve import linking_document
from ...pipeline.model import CodeBlock, Document, Passage, Rejection, Source
from ...pipeline.parse import parse
from ...pipeline.settings.settings import Settings
from ...pipeline.vocabulary.acronyms import learn
from ..run.retry import asked_again
from .groups import Group, group_key


@dataclass(frozen=True, slots=True)
class FileBatch:
    """Groups of files to parse, in order of their document ids, with the settings for it."""

    groups: tuple[Group, ...]
    settings: Settings
    deciding: Mapping[str, str]

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


def understand(batch: FileBatch) -> pa.Table:
    """Return every file of the batch read, parsed, chunked and counted, in one row per group.

    ``noctule.artifacts.cache.parsed_corpus`` describes the row. Files that cannot be parsed are rejections;
    raise ``SourceError`` where the machine is to blame. A group is cached under the hash of the bytes read
    here, and not at all if some of it could not be read.
    """
    rows = [GROUPS.empty_table(), *(_understood(group, batch) for group in batch.groups)]
    return in_one_piece(pa.concat_tables(rows))  # each chunk of each column would be sent by itself


def _understood(group: Group, batch: FileBatch) -> pa.Table:
    cuts: list[_Cut] = []
    rejections: list[Rejection] = []
    sources: list[Source | None] = []
    for file in group:
        sources.append(None)
        try:
            collection = batch.settings.collections[file.collection]
            source = sources[-1] = asked_again(partial(read_source, file, collection))
            cuts.append(_cut(source, batch.settings))
        except NoctuleError as error:
            if not isinstance(error, RejectedDocument):
                raise
            rejections.append(Rejection(file.collection, file.path, error.rejection, error.what))
        except MemoryError:  # not of the document alone: the next run tries it again
            sources[-1] = None
            reason = "took more memory than there is"
            rejections.append(Rejection(file.collection, file.path, "quarantined", reason))
        except Exception as error:  # one document never stops the build
            if is_transient(error):  # of the machine, and not of the document
                what = f"the document cannot be understood now: {error}"
                raise SourceError(what, where=f"{file.collection}:{file.path}") from error
            reason = f"could not be understood: {type(error).__name__}: {error}"
            rejections.append(Rejection(file.collection, file.path, "quarantined", reason))
    key = group_key(sources, batch.deciding)
    return group_row(key, group[0].collection, _counted(cuts, rejections))


def _counted(cuts: list[_Cut], rejections: Sequence[Rejection]) -> ParsedCorpus:
    return ParsedCorpus(
        documents=schemas.documents_table(cut.document for cut in cuts),
        sections=schemas.sections_table(node.section for cut in cuts for node in cut.nodes),
        passages=schemas.passages_table(passage for cut in cuts for passage in cut.passages),
        code_blocks=schemas.code_blocks_table(block for cut in cuts for block in cut.code_blocks),
        linking=tuple(linking_document(c.document, heading_slugs(c.document.headings)) for c in cuts),
        prose=_count_prose(cuts),
        code=_count_code(cuts),
        # Passages, not sources: there a term is as a reader sees it, without markup around it.
        acronyms=learn("\n".join(passage.text for passage in cut.passages) for cut in cuts),
        languages=frozenset(stemmed_language(cut.document.language) for cut in cuts),
        rejections=(*rejections, *_notes(cuts)),
    )


def lost(file: FoundFile, reason: str) -> pa.Table:
    """Return the row of a file that could not be examined; the next run tries it again."""
    rejection = Rejection(file.collection, file.path, "quarantined", reason)
    return group_row("", file.collection, _counted([], [rejection]))


def _cut(source: Source, settings: Settings) -> _Cut:
    document = parse(source, settings.collections[source.collection])
    nodes = build_tree(document)
    if not nodes or not (document.blocks or document.headings or document.front_matter != "{}"):
        raise RejectedDocument(
            "holds no text", where=source.path, hint="Exclude the file, or write something in it."
        )
    count = tokenizer(find(settings.embed)).count
    passages = build_passages(document, nodes, count, settings.chunk)
    return _Cut(document, nodes, passages, code_blocks(document, nodes))


def _notes(cuts: Sequence[_Cut]) -> list[Rejection]:
    """Return the parser's remarks on documents that were indexed."""
    return [
        Rejection(cut.document.collection, cut.document.path, "noted", note)
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
