"""From a folder of documents to answers and a site, by the command line alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.e2e.conftest import Built


def test_index_says_what_it_did_in_one_json_object(built: Built) -> None:
    printed = built.printed
    assert {"snapshot", "documents", "passages", "skipped", "quarantined", "seconds"} <= set(printed)
    assert (printed["documents"], printed["quarantined"]) == (4, 1)
    assert len(printed["snapshot"]) == 20


def test_the_published_snapshot_passes_the_deep_check(built: Built) -> None:
    command = CommandLine(built.store.parent, built.store)
    assert command.run("check", "--deep", "--json").json == {
        "snapshot": built.printed["snapshot"],
        "deep": True,
        "sound": True,
    }
    assert "is sound" in command.run("check").out


def test_search_finds_a_note_by_its_words_and_by_its_sense(built: Built) -> None:
    command = CommandLine(built.store.parent, built.store)
    question = ("search", "how can I stop a fetch that is running", "--json", "--top-n", "2")
    assert command.run(*question, "--mode", "semantic").json["hits"][0]["path"] == "guide/cancel.md"
    found = command.run(*question).json
    assert "guide/cancel.md" in {hit["path"] for hit in found["hits"]}
    assert len(found["hits"]) == 2
    assert {"doc_id", "path", "title", "breadcrumb", "url", "score", "excerpt", "why"} <= set(
        found["hits"][0]
    )
    assert (found["snapshot"], found["warnings"]) == (built.printed["snapshot"], [])


def test_search_for_people_shows_address_excerpt_and_with_explain_the_ranks(built: Built) -> None:
    command = CommandLine(built.store.parent, built.store)
    shown = command.run("search", "little owl", "--mode", "keyword", "--explain")
    assert "1. Owls" in shown.out
    assert "guide/owls.html" in shown.out
    assert "keyword: rank 1" in shown.out
    assert "stage" in shown.out and "per_document" in shown.out
    assert shown.err == ""


def test_a_keyword_search_loads_neither_torch_nor_prefect(built: Built) -> None:
    command = CommandLine(built.store.parent, built.store)
    done, modules = command.run_and_list_modules("search", "owl", "--mode", "keyword", "--json")
    assert done.code == 0
    assert done.json["hits"][0]["path"] == "guide/owls.md"
    assert done.err == ""
    assert "noctule.flows.cli.main" in modules
    assert not {"torch", "prefect", "faiss", "duckdb"} & modules


def test_report_names_files_left_out_and_links_that_lead_nowhere(built: Built) -> None:
    command = CommandLine(built.store.parent, built.store)
    told = command.run("report", "--json").json
    assert [each["path"] for each in told["rejected"]] == ["broken.md"]
    assert told["rejected"][0]["reason"]
    assert [each["target"] for each in told["unresolved_targets"]] == ["missing note"]
    assert told["stages"]["publish"] > 0
    assert "broken.md" in command.run("report").out


def test_a_change_is_published_rolled_back_and_pruned(built: Built, tmp_path: Path) -> None:
    command = built.copied_to(tmp_path)
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "new.md").write_text("# New\n\nA note about bats.\n")
    changed = command.run("index", str(vault), "--accept-shrink", "--no-prefect", "--json", "--quiet").json
    assert changed["snapshot"] != built.printed["snapshot"]

    listed = command.run("snapshots", "--json").json["snapshots"]
    assert [(row["snapshot"], row["current"]) for row in listed] == [
        (changed["snapshot"], True),
        (built.printed["snapshot"], False),
    ]
    assert f"*  {changed['snapshot']}" in command.run("snapshots").out

    assert command.run("rollback", "--json").json == {"snapshot": built.printed["snapshot"]}
    assert command.run("search", "owl", "--mode", "keyword", "--json").json["hits"]
    assert command.run("prune", "--keep", "0", "--json").json["removed"] == []
    assert command.run("check", "--deep").code == 0


def test_the_site_replaces_the_one_before_and_nothing_else(built: Built, tmp_path: Path) -> None:
    command = built.copied_to(tmp_path)
    out = tmp_path / "public"
    for _ in range(2):
        printed = command.run("site", "--no-prefect", "--out", str(out), "--json").json
        assert printed["pages"] == 4
    assert Path(printed["index"]).is_file()
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious.txt").write_text("mine")
    refused = command.run("site", "--no-prefect", "--out", str(other), "--json")
    assert (refused.code, refused.error["kind"]) == (2, "SourceError")
    assert (other / "precious.txt").read_text() == "mine"


def test_init_then_index_dry_run_need_no_flags(tmp_path: Path, built: Built) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    command = CommandLine(tmp_path, tmp_path / "store")
    written = command.run("init", "--json").json
    assert (written["collection"], written["root"]) == ("docs", "docs")
    assert command.run("index", "--dry-run", "--json").json["files"] == {"docs": 1}
    assert not command.store.exists()
    again = command.run("init", "--json")
    assert (again.code, again.error["kind"]) == (2, "SettingsError")


@pytest.mark.parametrize(
    ("line", "unbuffered"),
    [("", ""), ("--help", ""), ("--help", "1"), ("--version", ""), ("report --json", ""), ("snapshots", "1")],
)
def test_output_to_a_reader_that_has_gone_is_quiet(built: Built, line: str, unbuffered: str) -> None:
    command = CommandLine(built.store.parent, built.store, {"PYTHONUNBUFFERED": unbuffered})
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "noctule", *line.split()],
        env=command.environment,
        cwd=command.folder,
        check=False,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_the_caller_closed_is_not_written_to(closed: str, tmp_path: Path) -> None:
    command = CommandLine(tmp_path, tmp_path / "store")
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m noctule --version {closed}"],
        env=command.environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_a_full_disk_refuses_is_no_bug(tmp_path: Path, unbuffered: str) -> None:
    command = CommandLine(tmp_path, tmp_path / "store", {"PYTHONUNBUFFERED": unbuffered})
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "noctule", "--version"],
            env=command.environment,
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert (done.returncode, done.stderr) == (120, b"")


def test_where_takes_a_condition_on_documents_and_refuses_what_is_none(built: Built, tmp_path: Path) -> None:
    command = CommandLine(tmp_path, built.store)
    asked = ("search", "cancel", "--json", "--where")
    every = command.run("search", "cancel", "--json").json["hits"]
    found = command.run(*asked, "path like 'guide/%'").json["hits"]
    assert found and {hit["doc_id"] for hit in found} < {hit["doc_id"] for hit in every}
    assert all(":guide/" in hit["doc_id"] for hit in found)
    assert command.run(*asked, "path = 'none'").json["hits"] == []
    refused = command.run(*asked, "paths = 'none'")
    assert (refused.code, refused.out, refused.error["kind"]) == (2, "", "QueryError")
    assert '"paths" not found' in refused.error["what"] and "Columns: doc_id" in refused.error["hint"]
    assert "not a condition on documents" in command.run(*asked, "path =").error["what"]
    written = command.run(*asked, "exists (copy documents to 'x.csv')")
    assert (written.code, written.error["kind"]) == (2, "QueryError")
