"""Every fuzz target for a moment, so that a target that is broken or a fault that is near is found at
once.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.grammar import dictionary, inputs
from tests.fuzz.targets import TARGETS, is_inert


@pytest.mark.parametrize("name", sorted(set(TARGETS) - {"search", "snapshot"}))
def test_any_input_is_answered_or_refused_as_meant(name: str) -> None:
    @given(inputs(name))
    @settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def run(content: bytes) -> None:
        TARGETS[name](content)

    run()


def test_a_page_that_runs_something_would_be_noticed() -> None:
    hostile = (
        "<script>x</script>",
        "<p onclick=x>",
        "<a href='javascript:x'>",
        "<svg/onload=x>",
        "<iframe srcdoc=x>",
    )
    assert not any(is_inert(each) for each in hostile)
    assert is_inert("<p class=a title='<script> onclick=x'>only once = on = javascript:</p>")


@given(st.sampled_from(sorted(TARGETS)))
@settings(max_examples=14, deadline=None)
def test_every_target_has_words_of_its_own(name: str) -> None:
    lines = dictionary(name).splitlines()
    assert len(lines) > 20
    assert all(line.startswith('"\\x') and line.endswith('"') for line in lines)
