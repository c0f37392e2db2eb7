"""What the settings name is read when a searcher is opened: a missing file is an error then, not later."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

import pytest

import noctule.artifacts.query
from noctule.artifacts.disk import locks
from noctule.artifacts.disk.layout import PINS
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import NoSnapshot, QueryError, SettingsError
from tests.cross_encoder_builder import write_cross_encoder
from tests.library_builder import TODAY, FailingEncoder, WordEncoder, searcher_of, settings_of

NAMED: list[dict[str, object]] = [
    {"synonyms": {"file": "/nowhere/glossary.toml"}},
    {"calibrate": {"file": "/nowhere/calibration.json"}},
    {"stages": ["rerank"], "rerank": {"model": "/nowhere/model"}},
]


def is_pinned(store: Store) -> bool:
    """Whether some reader holds the store's snapshot open."""
    current = store.current()
    lock = locks.try_exclusive(store.root / PINS / str(current))
    if lock is None:
        return True
    lock.close()
    return False


@pytest.mark.parametrize("search", NAMED, ids=["glossary", "calibration", "cross-encoder"])
def test_a_file_that_is_missing_is_an_error_at_the_start_and_lets_the_snapshot_go(
    library: Store, search: dict[str, object]
) -> None:
    with pytest.raises(SettingsError) as caught:
        noctule.artifacts.query.open(library, settings_of(**search))
    assert "/nowhere/" in str(caught.value)
    assert not is_pinned(library)


def test_a_searcher_holds_its_snapshot_until_it_is_closed(library: Store) -> None:
    with noctule.artifacts.query.open(library):
        assert is_pinned(library)
    assert not is_pinned(library)


def test_a_searcher_that_is_dropped_lets_go_at_once_of_its_pin_and_its_files(library: Store) -> None:
    """By counting references: Python may look for circles of them hours later, where little happens."""
    files, counts = Path("/proc/self/fd"), []
    gc.disable()
    try:
        for _ in range(3):
            found = searcher_of(library)
            found.search("cool cellar")
            found.search("boats", filters=["tag:sea"], where="title != 'x'")
            found.similar("notes:boats.md")
            found.with_settings(settings_of().search).facets("collection")
            assert found.sql("select 1").fetchall() == [(1,)]
            assert is_pinned(library)
            with pytest.warns(ResourceWarning, match="dropped without being closed"):
                del found
            assert not is_pinned(library)
            counts.append(len(list(files.iterdir())) if files.exists() else 0)
    finally:
        gc.enable()
    assert counts[0] == counts[2]


def test_a_store_may_be_named_by_its_folder(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(library.root.parent)
    for named in (library, library.root, str(library.root), library.root.name):
        with noctule.artifacts.query.open(named) as found:
            assert found.search("cool cellar").hits
            assert is_pinned(library)


def test_a_folder_that_holds_no_store_is_named(tmp_path: Path) -> None:
    for named in (tmp_path, str(tmp_path), tmp_path / "none"):
        with pytest.raises(NoSnapshot, match="nothing has been published yet") as caught:
            noctule.artifacts.query.open(named)
        assert caught.value.where == str(named)
        assert "noctule index" in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_a_reranker_that_is_not_on_this_machine_is_told_once_and_the_order_stays(library: Store) -> None:
    with searcher_of(library, stages=["per_document"]) as without:
        plain = [hit.passage_id for hit in without.search("cool cellar").hits]
    stages = ["rerank", "per_document"]
    with searcher_of(library, stages=stages, rerank={"model": "cross-encoder/none-such"}) as found:
        with pytest.warns(RuntimeWarning, match="not reranked.*none-such.*not on this machine") as caught:
            answer = found.search("cool cellar")
        assert len(caught) == 1
        assert [hit.passage_id for hit in answer.hits] == plain
        assert "none-such" in answer.warnings[0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert "none-such" in found.search("boats").warnings[0]
            assert found.search("cool cellar").hits == answer.hits
        assert found.cache_usage()["answers"].hits == 1


def test_a_reranker_of_a_folder_changes_the_order_and_says_how_relevant_each_is(
    library: Store, tmp_path: Path
) -> None:
    model = str(write_cross_encoder(tmp_path / "model"))
    with searcher_of(
        library, stages=["rerank"], rerank={"model": model, "depth": 4, "blend": [0.0, 0.0, 0.0]}
    ) as found:
        hits = found.search("cool cellar").hits
        assert [bool(hit.why.multipliers) for hit in hits] == [True] * 4 + [False] * 6
        told = [float(hit.why.multipliers[0].because.split()[1]) for hit in hits[:4]]
        assert told == sorted(told, reverse=True)
        assert 0 < min(told) <= max(told) < 1


def test_a_reranker_that_nobody_asks_for_is_not_looked_for(library: Store) -> None:
    with searcher_of(library, rerank={"model": "/nowhere"}) as found:
        assert found.search("boats").warnings == ()


@pytest.mark.parametrize("top_n", [0, -1])
def test_less_than_one_hit_cannot_be_asked_for(library: Store, top_n: int) -> None:
    with searcher_of(library) as found:
        with pytest.raises(QueryError, match="at least 1"):
            found.search("boats", top_n)
        with pytest.raises(QueryError, match="at least 1"):
            found.similar("notes:boats.md", top_n)
        with pytest.raises(QueryError, match="at least 1"):
            found.related("boats", top_n)


def test_the_same_question_is_answered_from_memory_and_another_is_not(library: Store) -> None:
    encoder = WordEncoder()
    with searcher_of(library, encoder) as found:
        first = found.search("boats")
        assert found.search("boats") is first
        assert found.cache_usage()["answers"].hits == 1
        for other in (
            found.search("boats", 5),
            found.search("boats", mode="keyword"),
            found.search("boats", filters=["path:boats.md"]),
            found.search("boats", hypothesis="ships"),
        ):
            assert other is not first
        assert encoder.calls == 2
        assert found.cache_usage()["answers"].size == 5


def test_the_day_is_part_of_the_question_only_where_it_counts(library: Store) -> None:
    day = TODAY.replace(day=1)
    with searcher_of(library, stages=[]) as found:
        assert found.search("boats", today=day) is found.search("boats")
    with searcher_of(library, stages=["recency"]) as found:
        assert found.search("boats", today=day) is not found.search("boats")
        assert found.search("boats", today=TODAY) is found.search("boats")


def test_without_caches_everything_is_made_anew_and_the_same(library: Store) -> None:
    encoder = WordEncoder()
    with searcher_of(library, encoder, caches={"answers": 0, "vectors": 0}) as found:
        first, second = found.search("boats"), found.search("boats")
        assert first is not second
        assert first.hits == second.hits
        assert encoder.calls == 2


def test_a_word_of_the_vocabulary_needs_no_model_to_have_terms_near_it(library: Store) -> None:
    with Searcher(library.open(), settings_of(), FailingEncoder(RuntimeError("no model"))) as found:
        with library.open() as snapshot:
            term = snapshot.table("vocabulary", ["term"]).column("term")[0].as_py()
        assert found.related(term)
        with pytest.raises(RuntimeError, match="no model"):
            found.related("no such term at all")
