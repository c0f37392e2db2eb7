"""What a run may take, from the records of earlier ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.disk.layout import RUNS
from noctule.artifacts.store.run_records import read_runs, write_run
from noctule.flows.report.history import estimate, past_runs, seconds_per_text, usual


def _record(seconds: float = 10.0, **changes: Any) -> dict[str, Any]:
    embed = changes.pop("embed", 4.0)
    times = [{"stage": "parse", "seconds": seconds - embed}, {"stage": "embed", "seconds": embed}]
    return {
        "snapshot": "a" * 20,
        "documents": 100,
        "encoded": 0,
        "reused": 1000,
        "changed": True,
        "generation": 2,
        "seconds": seconds,
        "times": times,
    } | changes


def test_a_new_record_stays_though_the_others_are_dated_later(tmp_path: Path) -> None:
    for at in range(100):
        path = write_run(tmp_path, {"run": at})
        path.rename(path.with_name(f"2999{at:04}T000000000000Z.json"))
    new = [write_run(tmp_path, {"run": "new"}) for _ in range(3)]
    assert all(path.is_file() for path in new) and len(list((tmp_path / RUNS).iterdir())) == 100
    assert len(read_runs(tmp_path)) == 3  # a record under another name is none


def test_without_a_run_there_is_no_estimate() -> None:
    assert estimate((), "incremental", 10, 10) is None


def test_a_refused_run_and_a_broken_record_are_no_runs() -> None:
    assert past_runs([{"refused": "x", "times": [], "seconds": 1.0}, {}, {"times": None}]) == ()


def test_kinds_are_told_apart_by_what_was_encoded() -> None:
    runs = past_runs([_record(encoded=1000, reused=0), _record(), _record(changed=False)])
    assert [run.kind for run in runs] == ["full", "incremental", "unchanged"]
    first, second = past_runs([_record(generation=1), _record(generation=1, changed=False)])
    assert (first.kind, second.kind) == ("full", "unchanged")


def test_a_night_takes_the_median_of_the_last_nights() -> None:
    runs = past_runs([_record(10, embed=0), _record(30, embed=0), _record(20, embed=0)])
    found = estimate(runs, "incremental", 100, 0)
    assert found is not None
    assert (found.seconds, found.least, found.most, found.runs) == (20, 10, 30, 3)


def test_a_full_run_is_scaled_by_its_documents_and_encoding_by_its_texts() -> None:
    runs = past_runs([_record(10, embed=4, encoded=1000, reused=0)])
    found = estimate(runs, "full", documents=200, texts=500)
    assert found is not None
    assert found.stages == {"parse": 12.0, "embed": pytest.approx(2.0)}


def test_a_full_run_does_not_tell_how_long_one_without_a_change_takes() -> None:
    assert estimate(past_runs([_record(10, encoded=1000, reused=0)]), "unchanged", 100, 0) is None


def test_nights_without_one_of_their_kind_go_by_the_others() -> None:
    found = estimate(past_runs([_record(10, encoded=1000, reused=0)]), "incremental", 100, 0)
    assert found is not None
    assert found.runs == 1
    assert found.stages["embed"] == 0


def test_the_rate_is_that_of_runs_that_encoded_much() -> None:
    runs = past_runs([_record(encoded=1000, embed=4.0), _record(encoded=2, embed=3.0)])
    assert seconds_per_text(runs) == pytest.approx(0.004)
    assert seconds_per_text(past_runs([_record()])) is None


def test_a_stage_that_a_run_did_not_have_took_no_time_in_it() -> None:
    runs = past_runs([_record(), _record(), _record()])
    assert usual(runs) == {"parse": 6.0, "embed": 4.0}


def test_a_set_is_not_estimated_by_the_stages_of_a_whole_snapshot() -> None:
    times = [{"stage": "survey", "seconds": 8.0}, {"stage": "links", "seconds": 2.0}]
    whole = [_record(generation=1), _record(100, encoded=500, embed=50)]
    runs = past_runs([_record(times=times), *whole])
    found = estimate(runs, "incremental", 100, 1_000)
    assert found is not None
    assert found.stages == {"survey": 8.0, "links": 2.0} and found.runs == 1
    before = estimate(
        past_runs([_record(changed=False), *whole, _record(times=times)]), "incremental", 100, 0
    )
    assert before is not None and before.stages.keys() == {"parse", "embed"}
