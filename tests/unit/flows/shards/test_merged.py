"""Processes that hold some shards each answer together as one that holds all, to the last bit and tie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.query import Searcher
from noctule.artifacts.query.context import SearchRequest
from noctule.artifacts.query.retrieval.filters import parse_filter
from noctule.artifacts.query.shards.found import FoundInShards, find_in_shards, shown_of
from noctule.artifacts.query.shards.merging import Replies, merge
from noctule.artifacts.query.shards.ranking import (
    RankingSettings,
    SetEdition,
    SourceLost,
    merged_answer,
    require_mergeable,
)
from noctule.artifacts.query.shards.wire import from_bytes, shown_rows, table_bytes, to_bytes
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import ArtifactError, SettingsError
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.settings.shard_choice import ShardChoice
from tests.unit.flows.shards.test_shards import QUERIES, Built, built  # noqa: F401  # a fixture

CHOICES = ("1/2", "2/2")
EVERY_STAGE = Search(
    stages=(
        "support", "in_degree", "community", "recency", "glossary", "duplicate_hash", "duplicate_url",
        "duplicate_ngram", "duplicate_cosine", "calibrate", "mmr", "per_document", "elbow",
    ),
    understand=("split", "classify", "identifiers", "compounds", "spelling", "acronyms", "concepts"),
    weights={"code": 0.2},
    fuzziness="auto",
)  # fmt: skip


@dataclass
class LocalSources:
    """Searchers of some shards each, asked over the bytes that processes would send."""

    searchers: Mapping[str, Searcher]
    broken: frozenset[str] = frozenset()
    asked: int = 0

    def find(self, request: SearchRequest, limit: int) -> Replies:
        self.asked += 1
        return {
            name: from_bytes(to_bytes(find_in_shards(request, limit, each._resources)), name)
            for name, each in self.searchers.items()
        }

    def show(self, wanted: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        for source in wanted:
            if source in self.broken:
                raise SourceLost(source, "it is gone")
        return {
            source: shown_rows(table_bytes(shown_of(rows, self.searchers[source].corpus)), len(rows), source)
            for source, rows in wanted.items()
        }


@dataclass
class Together:
    """A searcher of the whole set, and those of some shards each."""

    whole: Searcher
    parts: LocalSources

    def edition(self) -> SetEdition:
        corpus = self.whole.corpus
        return SetEdition(corpus.snapshot.id, corpus.languages, corpus.addresses)

    def ranking(self) -> RankingSettings:
        resources = self.whole._resources
        return RankingSettings(resources.settings, resources.curve, resources.scorer)

    def both(self, request: SearchRequest) -> tuple[dict[str, Any], dict[str, Any]]:
        """The answer of one process, and that of several, without times and counts of stages."""
        merged = merged_answer(request, self.edition(), self.ranking(), self.parts).answer
        found = self.whole.ask(request).as_dict(), merged.as_dict()
        for each in found:
            del each["timings"], each["counts"]
        return found


def open_together(built: Built, search: Search, choices: Sequence[str], stack: ExitStack) -> Together:  # noqa: F811
    settings = Settings(search=search)
    opened = [
        stack.enter_context(Searcher(Store(built.sharded.root, choice).open(), settings, silent=True))
        for choice in (None, *map(ShardChoice.parse, choices))
    ]
    named = dict(zip(choices, opened[1:], strict=True))
    return Together(opened[0], LocalSources(named))


@pytest.fixture(scope="module")
def together(built: Built) -> Iterator[Together]:  # noqa: F811
    with ExitStack() as stack:
        yield open_together(built, Search(), CHOICES, stack)


@pytest.fixture(scope="module")
def all_stages(built: Built) -> Iterator[Together]:  # noqa: F811
    with ExitStack() as stack:
        # Shard 0001 is held by two of them.
        yield open_together(built, EVERY_STAGE, ("0-1", "1,2"), stack)


@pytest.mark.parametrize("query", [
    *QUERIES, '"very same text"', '"nest3"', '"book 7 of owls" -dusk', "title:hub", "owls -dusk", "zzzyx owl",
    "wor*", "nothing_of_this_is_there", '"no such phrase here"', "?", "-owls",
])  # fmt: skip
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic", "code"])
def test_several_processes_answer_as_one(together: Together, query: str, mode: Any) -> None:
    one, several = together.both(SearchRequest(query, 20, mode))
    assert one == several


@pytest.mark.parametrize("query", [*QUERIES, "where is the hub? how is the WAL kept?", "nests of owl"])
def test_every_stage_over_processes_is_that_of_one(all_stages: Together, query: str) -> None:
    request = SearchRequest(query, 10, hypothesis="owls sleep in trees", today=date(2026, 9, 20))
    one, several = all_stages.both(request)
    assert one == several and one["hits"]
    assert any("recency" in hit["why"]["multipliers"] for hit in one["hits"])


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_near_the_best_documents_is_so_over_processes(
    built: Built,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    query: str,
) -> None:
    monkeypatch.setattr(Manifest, "mostly_without_headings", True)
    with ExitStack() as stack:
        one, several = open_together(built, Search(), CHOICES, stack).both(SearchRequest(query))
    assert one == several
    assert all("rocchio" in hit["why"]["multipliers"] for hit in one["hits"][:2])


@pytest.mark.parametrize("filters", [
    ("tag:t1",), ("path:shelf2/*",), ("doc:library:hub.md",), ("tag:none",), ("path:shelf1/*", "tag:t3"),
])  # fmt: skip
def test_conditions_are_those_of_the_whole(together: Together, filters: tuple[str, ...]) -> None:
    for query in ("owls at dusk", '"book 7 of owls"', "-dusk nest4"):
        request = SearchRequest(query, 50, filters=tuple(parse_filter(each) for each in filters))
        one, several = together.both(request)
        assert one == several


def test_few_candidates_are_asked_for_again(together: Together) -> None:
    few = Search(candidates=2, max_per_document=1)
    small = Together(together.whole.with_settings(few), together.parts)
    small.parts.asked = 0
    for each in small.parts.searchers.values():
        each._use(few)
    try:
        one, several = small.both(SearchRequest("owls", 12, "keyword", (parse_filter("path:shelf1/*"),)))
    finally:
        for each in small.parts.searchers.values():
            each._use(Search())
    assert one == several and small.parts.asked > 1


def test_who_is_lost_is_named_and_the_others_answer(together: Together) -> None:
    request, edition, ranking = SearchRequest("owls at dusk", 10), together.edition(), together.ranking()
    broken = replace(together.parts, broken=frozenset({"2/2"}))
    found = merged_answer(request, edition, ranking, broken)
    assert (found.used, found.lost) == (frozenset({"1/2"}), {"2/2": "it is gone"})
    every = merged_answer(request, edition, ranking, together.parts)
    assert every.used == {"1/2", "2/2"} and not every.lost
    scores = {hit.passage_id: hit.score for hit in every.answer.hits}
    assert found.answer.hits and all(scores.get(h.passage_id, h.score) > 0 for h in found.answer.hits)
    with pytest.raises(ArtifactError, match="no shard answers"):
        merged_answer(request, edition, ranking, replace(broken, broken=frozenset(CHOICES)))


def found_by(together: Together) -> dict[str, FoundInShards]:
    return dict(together.parts.find(SearchRequest("owls at dusk"), 20))


def test_replies_that_do_not_fit_together_are_lost_with_a_reason(together: Together) -> None:
    replies = found_by(together)
    other = replies["2/2"]
    queries = (replace(other.record.queries[0], terms=("else",)),)
    merged = merge(replies | {"2/2": replace(other, record=replace(other.record, queries=queries))}, 20)
    assert (merged.sources, set(merged.lost)) == (("1/2",), {"2/2"})
    failed = replace(other.record, failed={"semantic": "the GPU is full"})
    merged = merge(replies | {"2/2": replace(other, record=failed)}, 20)
    assert "GPU is full" in merged.lost["2/2"]
    full = replies["1/2"]
    full = replace(full, record=replace(full.record, failed={"keyword": "the disk is full"}))
    merged = merge({"1/2": full, "2/2": replace(other, record=failed)}, 20)
    assert merged.sources == ("2/2",) and "disk is full" in merged.lost["1/2"]
    assert "no semantic list: the GPU is full" in merged.warnings
    gone = {"code": "gone"}
    both = {name: replace(r, record=replace(r.record, failed=gone)) for name, r in replies.items()}
    merged = merge(both, 20)
    assert not merged.lost and "no code list: gone" in merged.warnings


def test_bytes_that_are_no_reply_are_refused(together: Together) -> None:
    content = to_bytes(found_by(together)["1/2"])
    wrong = [b"", b"x" * 100, content[:-200], table_bytes(pa.table({"row": [1]}))]
    for each in wrong:
        with pytest.raises(ArtifactError, match="not what was asked for"):
            from_bytes(each, "http://there")
    with pytest.raises(ArtifactError, match="not what was asked for"):
        shown_rows(content, 3, "http://there")
    with pytest.raises(IndexError, match="rows are in"):
        shown_of([10**9], together.whole.corpus)


def test_what_only_one_process_can_rank_is_refused() -> None:
    for wrong in (Search(stages=("aggregate",)), Search(weights={"graph": 0.1})):
        with pytest.raises(SettingsError, match="not over several processes"):
            require_mergeable(wrong)
    require_mergeable(EVERY_STAGE)


def test_choices_of_shards() -> None:
    names = [f"{number:04d}" for number in range(7)]
    assert ShardChoice.parse("0,2-4").of_names(names) == ("0000", "0002", "0003", "0004")
    assert ShardChoice.parse("2/3").of_names(names) == ("0001", "0004")
    for wrong in ("", "x", "0/2", "3/2", "1-", "1,,2", "../x"):
        with pytest.raises(ValueError, match=r"shards|part"):
            ShardChoice.parse(wrong)


def test_shards_that_the_set_lacks_are_refused(built: Built) -> None:  # noqa: F811
    with pytest.raises(ArtifactError, match="not among those"):
        Store(built.sharded.root, ShardChoice.parse("7-9")).open()
    with pytest.raises(ArtifactError, match="not among those"):
        Store(built.whole.root, ShardChoice.parse("1/2")).open()
