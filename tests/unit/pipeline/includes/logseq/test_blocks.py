"""Names of blocks, references to them, logs and macros of Logseq."""

from __future__ import annotations

import pytest

from noctule.pipeline.includes.expand import ExpandedText, IncludedFile, NotIncluded, expand
from noctule.pipeline.includes.project import Context
from tests.processor_time import processor_seconds
from tests.site_builder import content_of

ID = "64b8c1f0-1111-2222-3333-444455556666"


def expanded(text: str) -> ExpandedText:
    def find(_target: str, _included_by: str) -> IncludedFile:
        raise NotIncluded("there is no such file")

    return expand(text, "/notes/note.md", find, 1_000_000, Context(path="/notes/note.md"))


def test_a_block_has_its_name_and_a_reference_its_words() -> None:
    found = expanded(f"- TODO A [[task]]\n  id:: {ID}\n  collapsed:: true\n- See (({ID})).\n")
    assert found.text == f"- TODO A [[task]] ^{ID}  \n- See [[#^{ID}|TODO A task]].\n"
    page = content_of(f"# Note\n\n{found.text}")
    assert (
        ">TODO A task</a>" in page
        and page.count("<ul>") == 1
        and f"<p>^{ID}" not in page
        and f"^{ID}</" not in page
    )


def test_a_log_of_time_is_on_no_page() -> None:
    text = "- A\n  :LOGBOOK:\n  CLOCK: [2023-01-01 Sun 10:00:00]\n  :END:\n- B\n  :LOGBOOK:\n- C\n"
    assert expanded(text).text == "- A\n- B\n  :LOGBOOK:\n- C\n"


@pytest.mark.parametrize("other", ["# A heading\n", "\nText.\n\n", "    code\n"])
def test_what_is_no_log_stays_between_its_marks(other: str) -> None:
    text = f"In Org mode:\n\n:LOGBOOK:\n{other}:END:\n"
    assert expanded(text).text == text


@pytest.mark.parametrize("comment", ["<!-- {} -->", "%%{}%%", "<!--\n{}\n-->"])
def test_a_reference_shows_nothing_of_comments(comment: str) -> None:
    text = f"- Owls {comment.format('private')}\n  id:: {ID}\n- See (({ID})).\n"
    assert "private" not in expanded(text).text.rpartition("- See ")[2]
    hidden = comment.format(f"- private\n  id:: {ID}")
    assert "private" not in expanded(f"{hidden}\n- See (({ID})).\n").text.rpartition("- See ")[2]


@pytest.mark.parametrize(
    ("written", "shown", "note"),
    [
        (f"(({ID}))", f"(({ID}))", ""),
        (f"[a]((({ID})))", f"[a]((({ID})))", ""),
        (f"{{{{embed (({ID}))}}}}", "", "is a block of another page"),
        ("{{query (and [[a]] (task todo))}}", "", "is Logseq's to answer"),
        ("{{renderer :x}}", "", "is Logseq's to answer"),
        ("{{embed [[other note]]}}", "![[other note]]", ""),
        ("![a](b.png){:height 10, :width 20}", "![a](b.png){width=20}", ""),
        (f"`(({ID}))`", f"`(({ID}))`", ""),
        ("f((x))", "f((x))", ""),
        ("{{query name}}", "{{query name}}", ""),
        ("{{renderer name}}", "{{renderer name}}", ""),
        ("f(x){:width 3}", "f(x){:width 3}", ""),
    ],
)
def test_what_only_logseq_can_answer_is_left_out_with_a_remark(written: str, shown: str, note: str) -> None:
    found = expanded(f"Text {written} end.\n")
    assert found.text == f"Text {shown} end.\n"
    assert (note in found.notes[0]) if note else found.notes == ()


@pytest.mark.parametrize(
    "piece", ["((", "- id:: ", ":LOGBOOK:\n", "{{embed ", "a:: b\n", " ", "![", f"(({ID[:-1]}", "{:width "]
)
def test_a_long_run_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    expanded(f"id:: {ID}\n" + (piece * 60_000)[:60_000])
    assert processor_seconds() - start < 5
