"""The pass ``survey``: the shard's files are parsed and its passages encoded, into its own store's caches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.cache.linking_rows import ADDRESSES, linking_table
from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...pipeline.address import INDEX_NAMES
from ...pipeline.errors import NoctuleError, SourceError
from ...pipeline.identity import combined_hash
from ...pipeline.model import ReportEntry
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile
from ..incremental.unchanged import inputs_of, rejected_inputs
from ..run.executor import Execution
from ..run.workers import Begin, WorkStep, unwatched
from ..sources.publication_dates import is_due, rows_of, today
from ..sources.withheld import empty_categories
from ..stages.corpus import CorpusRecord
from ..stages.parse import same_address
from ..stages.sources import HashedSources, Listing
from .files import PassFiles, table_digest
from .listing import category_pages, listing_of
from .worker import ShardTask, execution, receipt

NAME = "survey"
CONFLICTS = "conflicts"


def survey_shard(task: ShardTask, begin: Begin = unwatched) -> pa.Table:
    """Parse and encode what changed; leave the shard's addresses, links and headings for the other passes.

    Where the listing says that nothing has changed, no file is looked at.
    """
    begin(WorkStep(0))
    before = _before(task)
    if before is not None and task.key and before["values"]["listed"] == task.key:
        return receipt(_as_it_was(before))
    listing, start = listing_of(task), task.options.start if task.repeat else None
    with execution(task, listing, "parsed", "corpus", "vectors", "parse_record", start=start) as made:
        hashed: HashedSources = made.make("hashed")
        key, proof = _key(task, listing, hashed), task.key if hashed.is_proved else ""
        if before is not None and before["key"] == key:
            return receipt(_as_it_was(task.files.note(NAME, before, listed=proof)))
        record: CorpusRecord = made.make("parse_record")
        if not record.as_hashed:  # what was parsed is not what was hashed
            key, proof = uuid4().hex, ""
        return receipt(_write(task, made, hashed, key, proof))


def _before(task: ShardTask) -> dict[str, Any] | None:
    """Return the last survey if its tables are intact, and no document that it left out is due."""
    found = None if task.repeat else task.files.recorded(NAME)
    rejections = [ReportEntry(**each) for each in found["values"]["rejections"]] if found is not None else []
    return None if is_due(rejections, today()) else found


def _write(task: ShardTask, made: Execution, hashed: HashedSources, key: str, proof: str) -> dict[str, Any]:
    """Leave what the other passes need; ``proof`` stands for a listing that says whether a file changes."""
    parsed, record, vectors = (made.make(each) for each in ("parsed", "parse_record", "vectors"))
    tables = {
        "linking": linking_table(parsed.linking),
        "headings": _headings(parsed),
        "named": _named(parsed),
    }
    values: dict[str, Any] = {
        "documents": len(parsed.documents),
        "passages": len(parsed.passages),
        "listed": proof,
        "content": combined_hash([key, *rejected_inputs(record.rejections)]),
        "linking": table_digest(tables["linking"]),
        "addresses": table_digest(tables["linking"].select(ADDRESSES)),
        "groups": combined_hash(hashed.keys),
        "languages": sorted(parsed.languages),
        "parsed": record.parsed,
        "encoded": vectors.computed,
        "vectors": len(vectors.hashes),
        "rejections": [asdict(each) for each in _of_shard(task, record.rejections)],
        "failed": dict(record.failed),
        "before": task.before,
        "sizes": {name: asdict(size) for name, size in record.sizes.items()},
        "away": {name: [each.what, each.where, each.hint] for name, each in record.away.items()},
    }
    return task.files.write(NAME, key, tables, **values)


def _as_it_was(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of an earlier survey as that of this one, which has parsed and encoded nothing."""
    return {**record, "values": record["values"] | {"parsed": 0, "encoded": 0}}


def _key(task: ShardTask, listing: Listing, hashed: HashedSources) -> str:
    """Return what the survey depends on; of collections that failed, which snapshot they are taken from."""
    read = replace(listing, failures={})
    inputs = "" if hashed.failures else inputs_of(hashed, read, task.settings)
    if not inputs:  # where a file cannot be read, nothing says that it is as it was
        return uuid4().hex
    failed = [f"{name} {error}" for name, error in sorted(task.failures.items())]
    return combined_hash([inputs, str(task.before), *failed]) if failed else inputs


def _of_shard(task: ShardTask, rejections: Sequence[ReportEntry]) -> list[ReportEntry]:
    """Return the rejections without the notes on failed collections, which concern the set as a whole."""
    return [each for each in rejections if each.path != "." or each.collection not in task.failures]


def away(surveys: Iterable[Mapping[str, Any]]) -> dict[str, NoctuleError]:
    """Return the collections of which a file was temporarily unavailable when a shard read it."""
    found = (each["values"]["away"] for each in surveys)
    return {
        name: SourceError(what, where=where, hint=hint)
        for each in found
        for name, (what, where, hint) in each.items()
    }


def failed(failures: Mapping[str, NoctuleError], surveys: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the collections that failed, in all shards or in one, and why."""
    in_shards = [each for record in surveys for each in record["values"]["failed"].items()]
    return dict(in_shards) | {name: str(error) for name, error in sorted(failures.items())}


def costs(surveys: Iterable[Mapping[str, Any]]) -> tuple[int, int, int]:
    """Return how many files were parsed, and how many passages encoded, out of how many."""
    values = [record["values"] for record in surveys]
    parsed, encoded, vectors = (
        sum(each[name] for each in values) for name in ("parsed", "encoded", "vectors")
    )
    return parsed, encoded, vectors


def find_conflicts(task: ShardTask, begin: Begin = unwatched) -> pa.Table:
    """Find the documents that must be left out because of what other shards hold."""
    begin(WorkStep(0))
    shards = task.files_of_shards
    found = left_out(shards, category_pages(task), task.settings)
    return receipt({"values": {"rejections": [asdict(each) for each in found]}})


def left_out(
    shards: Sequence[PassFiles], pages: Sequence[FoundFile], settings: Settings
) -> list[ReportEntry]:
    """Return those whose address is taken, or, if there is none, generated pages of empty categories.

    ``pages`` are the generated pages of all categories.
    """
    return clashes(shards) or (_empty(shards, pages, settings) if pages else [])


def _empty(shards: Sequence[PassFiles], pages: Sequence[FoundFile], settings: Settings) -> list[ReportEntry]:
    paths = pa.concat_tables([files.read("linking").select(["collection", "path"]) for files in shards])
    unnamed = pa.array(["{}"] * len(paths), pa.string())
    named = [files.read("named") for files in shards]
    rows = rows_of(pa.concat_tables([paths.append_column("front_matter", unnamed), *named]))
    return list(empty_categories(pages, rows, (), settings))


def clashes(shards: Sequence[PassFiles]) -> list[ReportEntry]:
    """Return the documents whose address one of another shard has too: all but the first in order."""
    tables = [files.read("linking").select(["collection", "url", "path"]) for files in shards]
    rows = pa.concat_tables(tables)
    for name in INDEX_NAMES[1:]:  # as ``index_order`` sorts them
        rows = rows.append_column(
            name, pc.match_substring_regex(rows["path"], rf"(?i)(?:^|/){name}\.[^./]*$")
        )
    keys = ("collection", "url", *reversed(INDEX_NAMES[1:]), "path")
    rows = rows.sort_by([(name, "ascending") for name in keys])
    first = np.zeros(len(rows), np.bool_)
    for name in ("collection", "url"):
        number = pc.dictionary_encode(rows[name].combine_chunks()).indices.to_numpy()
        first |= np.diff(number, prepend=-1) != 0
    owner = np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))
    lost = np.flatnonzero(~first)
    owners = rows["path"].take(pa.array(owner[lost])).to_pylist()
    named = zip(rows.take(pa.array(lost)).to_pylist(), owners, strict=True)
    return [
        ReportEntry(each["collection"], each["path"], "quarantined", same_address(path, each["url"]))
        for each, path in named
    ]


def _headings(parsed: ParsedCorpus) -> pa.Table:
    """Return the titles of sections with their documents, which topics are named by."""
    return parsed.sections.select(["doc_id", "title"])


def _named(parsed: ParsedCorpus) -> pa.Table:
    """Return the documents with an ``id`` in their front matter, by which sidebars may name them."""
    rows = parsed.documents.select(["collection", "path", "front_matter"])
    plain = pa.table({name: rows[name].cast(pa.string()) for name in rows.column_names})
    return plain.filter(pc.match_substring(plain["front_matter"], '"id"'))


def require_same(task: ShardTask, made: Execution) -> None:
    """Raise ``SourceError`` unless the shard's files are those of its survey, as all passes must see."""
    hashed: HashedSources = made.make("hashed")
    if combined_hash(hashed.keys) != task.files.values(NAME)["groups"]:
        raise SourceError(
            "files changed while the shards were built",
            where=f"shard {task.shard}",
            hint="Nothing was published. Run it again: unchanged files are reused.",
        )
