"""Every fuzz target for a moment, so that a target that is broken or a fault that is near is found at
once.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import forged, forged_site
from tests.fuzz.grammar import dictionary, inputs
from tests.fuzz.targets import TARGETS, is_inert


@pytest.mark.parametrize("name", sorted(set(TARGETS) - {"search", "service", "snapshot", "site", "events"}))
def test_any_input_is_answered_or_refused_as_meant(name: str) -> None:
    @given(inputs(name))
    @settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def run(content: bytes) -> None:
        TARGETS[name](content)

    run()


# The columns that pages show as more than a word; ``make fuzz`` forges all of them.
@pytest.mark.parametrize("place", [("documents", name) for name in ("title", "text", "html", "front_matter")]
                         + [("links", "text"), ("sections", "slug"), ("communities", "label")]
                         + [("assets", "path")])  # fmt: skip
def test_a_site_of_a_forged_snapshot_runs_nothing(place: tuple[str, str]) -> None:
    forged_site.site(bytes([forged_site.columns().index(place), *range(len(forged_site.TEXTS))]))


def test_what_is_forged_is_in_the_tables_at_all() -> None:
    assert all(forged.rows(table) for table in forged_site.TABLES)


@pytest.mark.parametrize(
    "planted",
    ["<script>x</script>", "<script src=//evil.example/x.js></script>", "<p onclick=x>", "<base href=/>",
     "<a href='java\nscript:x'>", "<meta http-equiv=refresh content=0>", "<iframe></iframe>"],
)  # fmt: skip
def test_a_file_of_a_site_that_runs_something_would_be_noticed(planted: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<html><script src='../_assets/theme.js'></script><body>{planted}</body></html>")
    assert list(forged_site.active(page))
    page.write_text(
        "<html><script src='../_assets/theme.js'></script><body><a href='a.html'>x</a></body></html>"
    )
    assert not list(forged_site.active(page))


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
