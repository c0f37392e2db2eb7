"""The pictures of a night: what is drawn of full, old and damaged records, and which folders are shown."""

from __future__ import annotations

from typing import Any

from noctule.flows.report.dashboard import dashboard
from noctule.flows.report.folder_changes import MOST_FOLDERS, folder_changes
from noctule.flows.report.trends import NIGHTS, last_nights, trend_figures
from tests.site_builder import snapshot_of


def _record(day: int, **more: Any) -> dict[str, Any]:
    stamp = f"202601{day % 28 + 1:02}T021500{day:06}Z"
    return {"finished": stamp, "documents": day, "times": [{"stage": "parse", "seconds": 1.0}]} | more


def _snapshot(texts: dict[str, str]) -> Any:
    return snapshot_of({"docs": texts})


def _night(**more: Any) -> dict[str, Any]:
    topics = {"moved": 0, "new": [], "gone": [], "renamed": [], "grown": []}
    return {"topics": topics, "stages": [], "seconds": 0.0, "runs": 0} | more


def test_the_last_sixty_nights_are_drawn_the_oldest_first() -> None:
    nights = last_nights([_record(day) for day in range(100, 0, -1)])
    assert len(nights.records) == NIGHTS
    assert [nights.records[at]["documents"] for at in (0, -1)] == [41, 100]


def test_figures_that_no_record_has_are_not_drawn_and_bad_ones_are_gaps() -> None:
    sets = [{"judged": "faq", "after": 0.5, "unanswered": None}]
    records = [
        _record(3, documents=float("nan"), relevance={"measure": "MRR@10", "sets": sets}),
        _record(2, documents="many", relevance="none"),
        _record(1, times=None),
        {"finished": "yesterday", "documents": 7},
    ]
    nights = last_nights(records)
    assert nights.trend(lambda record: record["documents"]) == (1.0, None, None)
    assert [each.title for each in trend_figures(nights)] == ["Documents", "MRR@10, faq", "Seconds by stage"]


def test_a_report_of_an_older_noctule_and_no_records_draw_nothing() -> None:
    assert dashboard(_night(), last_nights([])) == ()


def test_folders_have_what_changed_in_them_and_their_links() -> None:
    before = _snapshot({"a/x.md": "# X\n", "a/y.md": "# Y\n", "b/z.md": "# Z\n"})
    now = _snapshot({"a/x.md": "# X!\n[no](gone.md)\n", "b/z.md": "# Z\n", "b/new.md": "# N\n"})
    found = {each.name.partition(":")[2]: each for each in folder_changes(before, now)}
    first = folder_changes(None, now)
    assert sorted(found) == ["a/", "b/"]
    a, b = found["a/"], found["b/"]
    assert (a.documents, a.added, a.changed, a.removed, a.links, a.broken) == (2, 0, 1, 1, 1, 1)
    assert (b.documents, b.added, b.changed, b.removed, b.broken) == (2, 1, 0, 0, 0)
    assert all(each.added == each.changed == 0 for each in first), "nothing changed in a first night"


def test_many_folders_are_a_screen_of_them_and_others() -> None:
    texts = {f"f{at:03}/x.md": f"# {at}\n" for at in range(120)}
    found = folder_changes(_snapshot(texts), _snapshot(texts | {"f119/x.md": "# New\n"}))
    assert len(found) <= MOST_FOLDERS + 1 and sum(each.documents for each in found) == 120
    assert found[-1].others and any(each.changed and each.name.endswith("f119/") for each in found)
