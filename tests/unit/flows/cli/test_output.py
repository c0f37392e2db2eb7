"""What reaches the terminal: one shape of error, no control characters, honest progress."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections import Counter
from pathlib import Path

import pytest

from noctule.flows.cli import output
from noctule.flows.cli.init import presets, write_settings
from noctule.flows.report import summary
from noctule.flows.report.result import BuildResult
from noctule.flows.run import progress as display
from noctule.flows.run.stage import StageTime
from noctule.pipeline.errors import SettingsError, SourceError, StoreBusy
from noctule.pipeline.model import ReportEntry, SnapshotId
from noctule.pipeline.settings.reading import load, parse


def _result(rejected: int = 0) -> BuildResult:
    rejections = tuple(
        ReportEntry("docs", f"{n:04}.md", "quarantined", "not text") for n in reversed(range(rejected))
    )
    return BuildResult(
        snapshot=SnapshotId("0" * 20),
        generation=2,
        changed=True,
        encoded=10,
        reused=20,
        rejections=rejections,
        times=(StageTime("embed", 1.5), StageTime("embed", 0.25), StageTime("write", 1.0)),
        seconds=12.3,
        counts={"documents": 1200, "passages": 3400},
    )


def test_an_error_for_people_says_what_where_and_what_next(capsys: pytest.CaptureFixture[str]) -> None:
    output.error(StoreBusy("held", where="/s/lock", hint="Wait."), as_json=False)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "error: held\n  where: /s/lock\n  next:  Wait.\n")


def test_an_error_for_programs_is_one_json_object_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.error(StoreBusy("held", where="/s/lock", hint="Wait."), as_json=True)
    said = capsys.readouterr()
    assert json.loads(said.err) == {
        "error": {"kind": "StoreBusy", "what": "held", "where": "/s/lock", "hint": "Wait."}
    }
    assert said.out == ""


def test_without_a_terminal_a_row_is_one_line_unless_columns_says_otherwise(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://example.org/" + "long/" * 40
    for columns, lines in ((None, 2), ("", 2), ("80", 4)):
        output.console.cache_clear()
        if columns is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", columns)
        output.table(("page", "hits"), [(address, "3")])
        said = capsys.readouterr().out.splitlines()
        assert len(said) == lines
        assert all(len(line) < 300 for line in said)
    output.console.cache_clear()


def test_a_document_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("a\x1b[2Jb\x9b1mc\x07")
    assert capsys.readouterr().out == "a\\x1b[2Jb\\x9b1mc\\x07\n"


def test_nothing_that_is_printed_turns_a_line_around(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "a\u202eb\x1b]0;c\x07\x9b\ud800"
    output.configure_logging(quiet=False, as_json=False, debug=False)
    output.emit({"title": hostile})
    output.say(hostile)
    output.complain(hostile)
    output.table(("title",), [(hostile,)])
    output.error(SourceError(hostile, where=hostile, hint=hostile), as_json=False)
    output.error(SourceError(hostile), as_json=True)
    logging.getLogger("noctule").warning("file %s", hostile)
    said = "".join(capsys.readouterr())
    assert not set(hostile) & set("\u202e\x1b\x07\x9b\ud800") & set(said)
    assert json.loads(said.splitlines()[0]) == {"title": hostile}


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (2_340_000, "2.3 MB"), (5_000_000_000, "5.0 GB")],
)
def test_sizes_are_readable(count: int, text: str) -> None:
    assert display.size(count) == text


def test_progress_as_lines_says_the_stage_its_amount_and_its_time(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "noctule.test"):
        progress = display.LogProgress("noctule.test")
        progress.begin("embed", 1200, "tokens")
        progress.advance(1200)
        progress.end()
    assert caplog.messages[0] == "embed: 1,200 tokens"
    assert caplog.messages[1].startswith("embed: 0.")


def test_without_a_terminal_progress_is_log_lines() -> None:
    with display.shown(None) as progress:
        assert isinstance(progress, display.LogProgress)


def test_the_json_report_adds_up_a_stage_that_ran_twice() -> None:
    assert summary.as_json(_result())["stages"] == {"embed": 1.75, "write": 1.0}


def test_at_most_200_rejected_files_go_into_the_table_and_the_rest_is_counted() -> None:
    rows = summary.rejected_rows(_result(rejected=250))
    assert [row["path"] for row in rows[:2]] == ["0000.md", "0001.md"]
    assert len(rows) == 201
    assert rows[-1]["path"] == "and 50 more"


def test_the_summary_says_published_or_unchanged() -> None:
    assert summary.lines(_result())[0].endswith("published: 1,200 documents, 3,400 passages")
    assert "| documents | 1,200 |" in summary.markdown(_result())


def test_init_writes_settings_that_load_for_the_folder_with_the_documents(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("docs/a.md", "docs/b.html", "README.md"):
        (tmp_path / name).write_text("x")
    written = write_settings(tmp_path)
    collection = load(written.path).collections["docs"]
    assert Counter(collection.include) == Counter(["**/*.md", "**/*.html"])
    assert Path(collection.root) == tmp_path / "docs"
    assert written.found == "1 HTML file, 1 markdown file"


def test_init_names_pdfs_that_are_not_searched_and_includes_them_where_there_is_nothing_else(
    tmp_path: Path,
) -> None:
    for name in ("a.pdf", "b.docx", "~$b.docx"):
        (tmp_path / name).write_text("x")
    written = write_settings(tmp_path)
    (collection,) = load(written.path).collections.values()
    assert set(collection.include) == {"**/*.pdf", "**/*.docx"}
    assert (written.found, written.unsearched) == ("1 PDF file, 1 Word file", "")
    written.path.unlink()
    (tmp_path / "a.md").write_text("x")
    written = write_settings(tmp_path)
    assert (written.found, written.unsearched) == ("1 markdown file", "1 PDF file, 1 Word file")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("preset", presets())
def test_init_writes_settings_from_every_preset_and_they_load(preset: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    written = write_settings(tmp_path, preset)
    [(name, collection)] = load(written.path).collections.items()
    assert (written.collection, written.root) == (name, ".")
    assert Path(collection.root) == tmp_path


def test_a_preset_keeps_its_folder_where_it_is_there_and_its_own_settings(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("x")
    settings = load(write_settings(tmp_path, "docs").path)
    assert Path(settings.collections["docs"].root) == tmp_path / "docs"
    assert settings.collections["docs"].address.style == "directory"
    assert settings.search.max_per_document == 1


def test_an_unknown_preset_is_an_error_that_lists_them(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    with pytest.raises(SettingsError) as refused:
        write_settings(tmp_path, "docks")
    assert all(name in refused.value.hint for name in ("docs", "notes", "api-reference"))
    assert not (tmp_path / "noctule.toml").exists()


def test_init_refuses_to_overwrite_and_to_describe_nothing(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        write_settings(tmp_path)
    (tmp_path / "noctule.toml").write_text("mine")
    with pytest.raises(SettingsError):
        write_settings(tmp_path)
    assert (tmp_path / "noctule.toml").read_text() == "mine"


class _Gone(io.StringIO):
    def flush(self) -> None:
        raise BrokenPipeError


def test_a_reader_that_has_gone_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command ends with a code of its own then; Rich by itself would end it with 1."""
    monkeypatch.setattr(sys, "stdout", _Gone())
    with pytest.raises(BrokenPipeError):
        output.console.__wrapped__().print("owls")


def test_a_wrong_key_names_the_installed_file_that_has_them_all() -> None:
    with pytest.raises(SettingsError) as caught:
        parse({"serch": {}}, where="noctule.toml")
    assert load(Path(caught.value.hint.partition(" lists ")[0])).collections == {}
