"""What the collector of cycles is told."""

from __future__ import annotations

import gc

import pytest

from noctule.flows.run.memory import collect_seldom, uncollected


def test_nothing_is_collected_in_the_block_and_what_it_made_is_never_looked_through() -> None:
    frozen = gc.get_freeze_count()
    with uncollected():
        assert not gc.isenabled()
        kept = [[number] for number in range(1_000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= frozen + len(kept)
    gc.unfreeze()


def test_it_collects_again_after_an_error_and_stays_off_where_it_was_off() -> None:
    with pytest.raises(ZeroDivisionError), uncollected():
        1 / 0  # noqa: B018
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()


def test_work_with_many_objects_is_seldom_looked_through() -> None:
    before = gc.get_threshold()
    try:
        collect_seldom()
        assert gc.get_threshold() > before
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
