"""Lists of several processes as the lists of one, with the scores and in the order of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..index.postings import best
from ..model import Ints, RankedList, Step, list_label
from ..pipeline import nothing_meets
from ..retrieval.retrievers import Retrieved
from .found import FoundInShards, FoundRecord, ListRecord

Replies = Mapping[str, FoundInShards]
# Beside the columns that came: who sent a passage, by its place among the replies.
SOURCE = "source"


@dataclass(frozen=True, slots=True)
class MergedLists:
    """The passages of all replies in order of ``(doc_id, ordinal)``, each once, and the lists over them.

    ``sources`` are those who sent them, in the order of the column ``source``; ``used`` are also those who
    had nothing. ``lost`` says which replies could not be used, and why.
    """

    passages: pa.Table
    found: Retrieved
    record: FoundRecord
    warnings: tuple[str, ...]
    sources: tuple[str, ...]
    used: frozenset[str]
    lost: Mapping[str, str]


def merge(replies: Replies, limit: int) -> MergedLists:
    """Return the lists of at least one reply as lists of at most ``limit`` passages each."""
    usable, lost = _agreeing(replies)
    held = {phrase for each in usable.values() for phrase, note in each.record.phrases.items() if not note}
    # Where a phrase stands, passages elsewhere do not hold it, though there its words were searched.
    kept = {
        name: each
        for name, each in usable.items()
        if not any(note and phrase in held for phrase, note in each.record.phrases.items())
    }
    first = next(iter(usable.values())).record
    passages = _united(list(kept.values()) or [_without_passages(first, usable)])
    found = _lists(passages, list(kept.values()), limit)
    return MergedLists(
        passages, found, first, _warnings(usable, kept, held), tuple(kept), frozenset(usable), lost
    )


def _agreeing(replies: Replies) -> tuple[dict[str, FoundInShards], dict[str, str]]:
    """Return the replies that can be merged, and why not of the others.

    A list that failed in one process only would be a list without that process's passages. If another failed
    in each, the last one stays, with the lists that it has.
    """
    first = next(iter(replies.values())).record
    everywhere = set.intersection(*(set(each.record.failed) for each in replies.values()))
    usable, lost = dict[str, FoundInShards](), dict[str, str]()
    for left, (name, each) in zip(reversed(range(len(replies))), replies.items(), strict=True):
        failed = {label: error for label, error in each.record.failed.items() if label not in everywhere}
        if each.record.queries != first.queries or each.record.weights != first.weights:
            lost[name] = "it understood the query otherwise"
        elif failed and (usable or left):
            lost[name] = "; ".join(f"no {label} list: {error}" for label, error in failed.items())
        else:
            usable[name] = each
    return usable, lost


def _without_passages(record: FoundRecord, usable: Replies) -> FoundInShards:
    return FoundInShards(record, next(iter(usable.values())).passages.slice(0, 0))


def _united(replies: Sequence[FoundInShards]) -> pa.Table:
    """Return the passages of all replies, each once, with columns named after lists."""
    parts = []
    for number, each in enumerate(replies):
        renamed = [_by_label(name, each.record.lists) for name in each.passages.column_names]
        table = each.passages.rename_columns(renamed)
        parts.append(table.append_column(SOURCE, pa.array(np.full(len(table), number, np.int32))))
    united = pa.concat_tables(
        [each.replace_schema_metadata(None) for each in parts], promote_options="default"
    )
    united = united.sort_by([("doc_id", "ascending"), ("ordinal", "ascending"), (SOURCE, "ascending")])
    return united.filter(pa.array(_is_first(united)))


def _by_label(column: str, lists: Sequence[ListRecord]) -> str:
    kind, dot, number = column.partition(".")
    return f"{kind}.{_label(lists[int(number)])}" if dot else column


def _label(record: ListRecord) -> str:
    return f"{record.name}#{record.question}"


def _is_first(sorted_passages: pa.Table) -> npt.NDArray[np.bool_]:
    """Return for each passage whether the one before it is another; two processes may hold one shard."""
    ids = pc.dictionary_encode(sorted_passages["doc_id"].combine_chunks()).indices.to_numpy()
    ordinals = sorted_passages["ordinal"].to_numpy()
    is_first = np.ones(len(ids), np.bool_)
    is_first[1:] = (ids[1:] != ids[:-1]) | (ordinals[1:] != ordinals[:-1])
    return is_first


def _lists(passages: pa.Table, replies: Sequence[FoundInShards], limit: int) -> Retrieved:
    records: dict[str, list[ListRecord]] = {}
    for reply in replies:
        for record in reply.record.lists:
            records.setdefault(_label(record), []).append(record)
    found = Retrieved()
    for label, same in records.items():
        if same[0].name == "document":
            rows = _rows_of(found.made, same[0].question)
            found.made.append(_document_list(passages, label, same[0], rows))
        else:
            found.made.append(_merged(passages, label, same, limit))
    seconds: dict[str, float] = {}
    for step in (step for reply in replies for step in reply.record.steps):
        seconds[step.stage] = max(step.seconds, seconds.get(step.stage, 0.0))
    counts = {list_label(each.name, each.question): len(each.rows) for each in found.made}
    found.steps = [Step(stage, counts.get(stage, 0), spent) for stage, spent in seconds.items()]
    return found


def _merged(passages: pa.Table, label: str, same: Sequence[ListRecord], limit: int) -> RankedList:
    """Return the best passages of all processes by one list; the best of all gives it its scale."""
    column = passages[f"found.{label}"]
    rows = np.flatnonzero(pc.is_valid(column).to_numpy())
    scores = pc.drop_null(column).to_numpy()
    most, scale = max(each.most for each in same), max(each.scale for each in same)
    return _ranked(passages, label, same[0], best(rows, scores, limit), most, scale)


def _document_list(passages: pa.Table, label: str, record: ListRecord, rows: Ints) -> RankedList:
    """Return the list that ranks what the others have found."""
    scores = pc.fill_null(passages[f"score.{label}"], 0.0).to_numpy()[rows]
    ranked = best(rows[scores > 0], scores[scores > 0], len(rows))
    return _ranked(passages, label, record, ranked, record.most, record.scale)


def _rows_of(lists: Sequence[RankedList], question: int) -> Ints:
    own = [each.rows for each in lists if each.question == question]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *own]))


def _ranked(
    passages: pa.Table,
    label: str,
    record: ListRecord,
    ranked: tuple[Ints, npt.NDArray[np.float64]],
    most: float,
    scale: float,
) -> RankedList:
    scores = pc.fill_null(passages[f"score.{label}"], 0.0).to_numpy()
    score_of = scores.__getitem__ if record.is_scored else None
    return RankedList(record.name, *ranked, most, scale, record.question, score_of)


def _warnings(usable: Replies, kept: Replies, held: set[str]) -> tuple[str, ...]:
    """Return what is to be told of all replies, as one process would tell it."""
    records = [each.record for each in usable.values()]
    told = [note for record in records for note in record.notes]
    told += [f"no {name} list: {error}" for record in records for name, error in record.failed.items()]
    told += [
        note for record in records for phrase, note in record.phrases.items() if note and phrase not in held
    ]
    emptied = [each.record.emptied for each in kept.values()]
    if all(emptied) and (emptied or usable):
        same = emptied[0] if len(set(emptied)) == 1 else ""
        told.append(same or nothing_meets(records[0].conditions))
    return tuple(dict.fromkeys(told))
