"""From recorded lines to findings, judged queries and a page; whatever else stands in the folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.events.event_log import EventLog
from noctule.artifacts.judged.reading import read_judged
from noctule.artifacts.store.store import Store
from noctule.flows.quality.feedback.analysis import Feedback, analyse_events
from noctule.flows.quality.feedback.click_judgements import LeastCounts, write_judged
from noctule.flows.quality.feedback.feedback_page import feedback_page
from noctule.flows.quality.feedback.glossary_file import parse_synonym
from noctule.pipeline.errors import SourceError
from noctule.pipeline.settings.serve import EventSettings
from noctule.pipeline.settings.settings import Settings

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
BOATS, OTHER = "notes:boats.md", "notes:apples.md"


class Recorder:
    """Readers who search, each in a session of its own unless told otherwise."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.at, self._session = folder, NOW - timedelta(hours=2), 0
        self._log = EventLog(folder, EventSettings(queries=True), lambda: self.at)
        self._log.begin()

    def session(self, *asked: tuple[str, list[str], list[int]], pause_s: int = 20) -> None:
        """One reader, who asks these queries, is shown these hits and opens these ranks."""
        self._session += 1
        for number, (query, hits, opened) in enumerate(asked):
            about = {"session": f"{self._session:016x}", "search": number}
            kind = "search" if hits else "zero"
            events: list[dict[str, Any]] = [
                {**about, "kind": kind, "query": query, "hits": hits, "shown": len(hits)}
            ]
            events += [{**about, "kind": "click", "hit": hits[rank - 1], "rank": rank} for rank in opened]
            self._log.record(events)
            self.at += timedelta(seconds=pause_s)

    def line(self, **event: Any) -> None:
        self._log.record([event])


@pytest.fixture(scope="module")
def names(library: Store) -> dict[str, str]:
    with library.open() as snapshot:
        ids = snapshot.table("documents", ["doc_id"]).column("doc_id").to_pylist()
    assert {BOATS} <= set(ids)
    return {"first": BOATS, "second": next(each for each in ids if each not in (BOATS,))}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, names: dict[str, str]) -> Path:
    """A month of readers, and among them what no reader leaves."""
    recorder = Recorder(tmp_path_factory.mktemp("recorded") / "events")
    first, second = names["first"], names["second"]
    for at in range(12):
        # The best hit stands second, and half of those who look there open it.
        recorder.session(
            ("Sailing  boats", [second, "boats.html"], [2] if at % 2 else [1] if at % 3 == 0 else [])
        )
        recorder.session(("undo a sail", [], []), ("revert a sail", [first], [1]))
        recorder.session(("tea kettle", [second], []))
        recorder.session(("kettle", [], []))
        about = {"session": f"{at + 900:016x}", "search": 1, "kind": "search", "shown": 1}
        recorder.line(**about, query="teapot", hits=[first], sure=False)
    for at in range(4):
        recorder.session((f"ada@example.org {at}", [], []), ("secret word", [first], [1]))
    recorder.session(("undo a sail", [], []), ("much later", [first], [1]), pause_s=1_000)
    recorder.session(*[("robot", [first], [1])] * 150)
    about = {"session": "f" * 16, "search": 1}
    recorder.line(**about, kind="click", hit=first, rank=1)
    recorder.session(("gone", ["old-snapshot:gone.md", "https://elsewhere.example/a", "\u202e\x00"], [1]))
    recorder.line(**about | {"search": 2}, kind="search", query="q", hits=[first], shown=1)
    recorder.line(**about | {"search": 2}, kind="click", hit="never shown", rank=1)
    recorder.at = NOW + timedelta(days=400)
    recorder.session(("tomorrow", [first], [1]))
    (recorder.folder / "events-2026-03-13.jsonl").write_bytes(b'{"at":"2026-03-13T00:00:00Z","kind":"se')
    return recorder.folder


@pytest.fixture(scope="module")
def found(library: Store, recorded: Path) -> Iterator[Feedback]:
    with library.open() as snapshot:
        yield analyse_events(snapshot, Settings(), recorded, LeastCounts(), None, NOW)


def test_what_no_reader_leaves_is_left_out_and_said(found: Feedback) -> None:
    told = " ".join(found.notes)
    for reason in (
        "left out: events dated in the future: 2", "left out: events of sessions that no reader has: 300",
        "left out: clicks without a search: 1", "left out: clicks on what was not shown: 1",
        "left out: lines that are no events: 1", "hits whose names are not in this snapshot: 3",
    ):  # fmt: skip
        assert reason in told
    assert "robot" not in json.dumps(found.as_dict())


def test_queries_are_found_that_are_not_answered(found: Feedback) -> None:
    findings = found.findings
    assert [(each.text, each.without_hits) for each in findings.not_found] == [
        ("undo a sail", 13),
        ("kettle", 12),
        ("teapot", 12),
    ]
    assert [(each.text, each.sessions, each.opened) for each in findings.not_opened] == [
        ("tea kettle", 12, 0)
    ]
    (again,) = findings.reformulated
    assert (again.before, again.after, again.sessions, again.opened) == (
        "undo a sail",
        "revert a sail",
        12,
        12,
    )
    (words,) = findings.synonyms
    assert (words.term, words.synonym) == ("undo", "revert")


def test_what_few_asked_is_told_nowhere(found: Feedback) -> None:
    told = json.dumps(found.as_dict()) + feedback_page(found)
    for text in ("example.org", "secret word", "much later"):
        assert text not in told


def test_the_judgements_are_corrected_and_read_again(
    found: Feedback, names: dict[str, str], tmp_path: Path
) -> None:
    write_judged(found.judged, tmp_path / "clicks", LeastCounts())
    judged = read_judged(tmp_path / "clicks")
    assert set(judged.queries.values()) == {"Sailing boats", "revert a sail"}
    query = next(each for each, text in judged.queries.items() if text == "Sailing boats")
    # Six clicks at rank 2 weigh more than two at rank 1, and a page is the document that it shows.
    assert judged.qrels[query][BOATS] == 3
    assert judged.qrels[query][names["second"]] < 3
    again = tmp_path / "again"
    write_judged(found.judged, again, LeastCounts())
    assert all(
        (again / each).read_bytes() == (tmp_path / "clicks" / each).read_bytes()
        for each in ("queries.jsonl", "qrels.tsv")
    )


def test_the_page_says_it_without_scripts(found: Feedback) -> None:
    page = feedback_page(found)
    assert "<script" not in page and "default-src 'none'" in page
    for heading in (
        "Asked and not found",
        "Found and not opened",
        "Asked again in other words",
        "Judged queries",
    ):
        assert f"<h2>{heading}</h2>" in page
    assert "\u202e" not in page
    command = "noctule feedback --add-synonym &quot;undo=revert&quot;"
    assert command in page
    _, _, _, synonym = shlex.split(command.replace("&quot;", '"'))
    assert parse_synonym(synonym) == ("undo", "revert")


def test_without_the_text_figures_remain(library: Store, tmp_path: Path, names: dict[str, str]) -> None:
    log = EventLog(tmp_path, EventSettings(queries=False), lambda: NOW)
    for at in range(10):
        about = {"session": f"{at:016x}", "search": 1}
        log.record([
            {**about, "kind": "search", "query": "undo", "hits": ["boats.html", "b.html"], "shown": 2},
            {**about, "kind": "click", "hit": "boats.html", "rank": 1},
        ])  # fmt: skip
    with library.open() as snapshot:
        found = analyse_events(snapshot, Settings(), tmp_path, LeastCounts(), None, NOW)
    assert (found.totals.searches, found.totals.with_text, found.totals.clicks) == (10, 0, 10)
    assert [(each.shown, each.opened) for each in found.ranks] == [(10, 10), (10, 0)]
    assert [(each.doc_id, each.clicks) for each in found.pages] == [(BOATS, 10)]
    assert "serve.events.queries" in feedback_page(found)
    with pytest.raises(SourceError, match="no query was asked in 5 sessions"):
        write_judged(found.judged, tmp_path / "out", LeastCounts())


def test_no_events_are_an_error_that_says_how_to_get_some(library: Store, tmp_path: Path) -> None:
    for first in (None, NOW.date()):
        with library.open() as snapshot, pytest.raises(SourceError, match=r"serve\.events"):
            analyse_events(snapshot, Settings(), tmp_path / "none", LeastCounts(), first, NOW)
