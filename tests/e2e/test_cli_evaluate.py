"""The command ``evaluate`` on a small vault whose right answers are known."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.command_line import CommandLine
from tests.e2e.conftest import Built

QUERIES = {
    "owl": "little owl",
    "stop": "abort controller cancels",
    "none": "unjudged question",
    "tree": "fruit trees",
}
QRELS = [("owl", "Owls"), ("stop", "Cancel"), ("stop", "Gone"), ("tree", "Install"), ("nobody", "Owls")]
PATHS = {"Owls": "vault/guide/owls.md", "Cancel": "vault/guide/cancel.md", "Install": "vault/install.md"}
FIGURES = {
    "ndcg@10", "recall@100", "mrr@10", "hit@1", "judged@10", "unanswered", "p50_ms", "p95_ms", "queries",
}  # fmt: skip


@pytest.fixture
def command(built: Built, tmp_path: Path) -> CommandLine:
    judged = tmp_path / "faq"
    judged.mkdir()
    lines = [json.dumps({"_id": query, "text": text}) for query, text in QUERIES.items()]
    (judged / "queries.jsonl").write_text("\n".join(lines) + "\n")
    (judged / "qrels.tsv").write_text("".join(f"{query}\t{document}\t1\n" for query, document in QRELS))
    (judged / "docs.tsv").write_text("".join(f"{name}\t{path}\n" for name, path in PATHS.items()))
    return CommandLine(tmp_path, built.store)


def test_the_figures_are_those_of_the_search(command: CommandLine) -> None:
    shown = command.run("evaluate", "--judged", "faq", "--mode", "keyword", "--json", "--per-query").json
    assert set(shown) >= FIGURES | {"snapshot", "mode", "sets"}
    (one,) = shown["sets"]
    assert {query["query"]: query["rank"] for query in one["per_query"]} == {"owl": 1, "stop": 1, "tree": 0}
    assert (shown["queries"], shown["excluded_queries"], shown["excluded"]) == (3, 1, ["none"])
    assert shown["hit@1"] == pytest.approx(2 / 3, abs=1e-6)
    assert shown["recall@100"] == pytest.approx(1.5 / 3, abs=1e-6)
    assert (shown["missing_documents"], shown["unknown_documents"]) == (["Gone"], ["Gone"])
    assert shown["unknown_queries"] == ["nobody"]
    assert 0 < shown["p50_ms"] <= shown["p95_ms"]


def test_people_see_a_table_and_what_was_left_out(command: CommandLine) -> None:
    shown = command.run("evaluate", "--judged", "faq", "--mode", "keyword", "--per-query").out
    assert "nDCG@10" in shown
    assert "faq: queries that are not scored, as no document answers them (1): none" in shown
    assert "faq: judged documents that are not in the snapshot, and count as not found (1): Gone" in shown
    assert "queries that only the judgements name (1): nobody" in shown
    assert "little owl" in shown


def test_two_settings_are_compared_query_by_query(command: CommandLine) -> None:
    (command.folder / "other.toml").write_text("[search]\nrrf_k = 5\n")
    shown = command.run(
        "evaluate", "--judged", "faq", "--mode", "keyword", "--against", "other.toml", "--json"
    ).json
    (comparison,) = shown["comparisons"]
    assert (comparison["judged"], comparison["against"]) == ("faq", "other.toml")
    assert comparison["wins"] + comparison["ties"] + comparison["losses"] == 3
    assert {"baseline", "mean", "difference", "low", "high", "p", "p_holm", "fell", "rose"} <= set(comparison)
    assert [each["against"] for each in shown["baselines"]] == ["other.toml"]
    assert shown["warnings"] == []


def test_settings_that_would_shape_another_snapshot_are_said_to_be_left_out(command: CommandLine) -> None:
    (command.folder / "other.toml").write_text("[chunk]\nmax_tokens = 64\noverlap_tokens = 8\n")
    done = command.run("evaluate", "--judged", "faq", "--mode", "keyword", "--against", "other.toml")
    assert "other.toml: only how it searches was compared" in done.err
    assert "0 queries improved, 3 unchanged, 0 worse" in done.out


def test_two_snapshots_are_compared_and_the_query_that_fell_is_named(
    built: Built, command: CommandLine, tmp_path: Path
) -> None:
    mine = CommandLine(tmp_path, built.copied_to(tmp_path).store)
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "install.md").write_text("# Install\n\nRun the installer.\n")
    before = built.printed["snapshot"]
    assert mine.run("index", str(vault), "--accept-shrink", "--no-prefect", "--quiet", "--json").code == 0
    arguments = ("evaluate", "--judged", "faq", "--mode", "keyword", "--against-snapshot", before)
    (comparison,) = mine.run(*arguments, "--json").json["comparisons"]
    assert (comparison["against"], comparison["losses"]) == (before, 2)
    assert [change["query_id"] for change in comparison["fell"]] == ["owl", "stop"]
    assert "fell most" in mine.run(*arguments).out


def test_a_ranking_in_the_folder_is_what_the_search_is_compared_with(command: CommandLine) -> None:
    (command.folder / "faq" / "run.txt").write_text("owl Q0 Cancel 1 2.0 old\nowl Q0 Owls 2 1.0 old\n")
    shown = command.run("evaluate", "--judged", "faq", "--mode", "keyword", "--json").json
    assert [each["mrr@10"] for each in shown["baselines"]] == [pytest.approx(0.5 / 3, abs=1e-6)]
    assert shown["comparisons"][0]["against"] == "run.txt"


def test_every_query_is_written_as_json_or_parquet(command: CommandLine) -> None:
    for name in ("out.json", "out.parquet"):
        assert command.run("evaluate", "--judged", "faq", "--mode", "keyword", "--out", name).code == 0
    (one,) = json.loads((command.folder / "out.json").read_text())["sets"]
    table = pq.read_table(command.folder / "out.parquet")
    assert (
        table.column("query").to_pylist() == ["owl", "stop", "tree"] == [q["query"] for q in one["per_query"]]
    )
    assert table.column("ndcg@10").to_pylist() == [q["ndcg@10"] for q in one["per_query"]]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("--judged", "nowhere"), "SourceError"),
        (("--judged", "faq", "--out", "figures.csv"), "SettingsError"),
        (("--judged", "faq", "--against", "missing.toml"), "SettingsError"),
        ((), "UsageError"),
    ],
)
def test_bad_input_is_an_error_that_says_what_to_do(
    command: CommandLine, arguments: tuple[str, ...], kind: str
) -> None:
    done = command.run("evaluate", *arguments, "--json")
    assert (done.code, done.error["kind"]) == (2, kind)
    assert done.error["hint"]


def test_an_unknown_snapshot_is_refused(command: CommandLine) -> None:
    arguments = ("--judged", "faq", "--mode", "keyword", "--against-snapshot", "0" * 20)
    done = command.run("evaluate", *arguments, "--json")
    assert (done.code, done.error["kind"]) == (3, "NoSnapshot")


def test_the_evaluation_is_drawn_in_one_file_without_a_script(command: CommandLine) -> None:
    done = command.run("evaluate", "--judged", "faq", "--report", "faq.html", "--json")
    assert done.code == 0
    page = (command.folder / "faq.html").read_text()
    assert "Won and lost against words alone" in page and "What each list adds" in page
    assert "without keyword" in page and "confidence of the best hit" in page
    assert "<script" not in page and "http" not in page.partition("<body>")[2]
    refused = command.run("evaluate", "--judged", "faq", "--report", "faq.pdf")
    assert refused.code != 0 and "must end in .html" in refused.err


def test_the_drawing_is_of_what_the_search_is_compared_with(command: CommandLine) -> None:
    (command.folder / "other.toml").write_text("[search]\nrrf_k = 5\n")
    arguments = ("--judged", "faq", "--mode", "keyword", "--against", "other.toml")
    assert command.run("evaluate", *arguments, "--report", "faq.html").code == 0
    page = (command.folder / "faq.html").read_text()
    assert "Won and lost against other.toml" in page and "What each list adds" not in page
