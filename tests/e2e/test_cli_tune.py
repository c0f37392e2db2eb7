"""The command ``tune`` on a small set of notes: what it says, what it writes, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from noctule.pipeline.settings.reading import load
from tests.command_line import CommandLine
from tests.judged_builder import SUBJECTS, night, settings_for, write_judged, write_notes


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the notes, and one in passages of another size."""
    folder = tmp_path_factory.mktemp("stores")
    notes = write_notes(folder / "notes", SUBJECTS)
    night(folder / "usual", settings_for(notes))
    night(folder / "small", settings_for(notes, chunk={"max_tokens": 64, "overlap_tokens": 8}))
    return folder


@pytest.fixture
def command(stores: Path, tmp_path: Path) -> CommandLine:
    write_judged(tmp_path / "faq", lost="owls")
    (tmp_path / "space.toml").write_text('[space]\n"search.rrf_k" = [5, 60]\n"lexical.k1" = [0.9, 1.2]\n')
    return CommandLine(tmp_path, stores / "usual")


TUNE = ("tune", "--judged", "faq", "--mode", "keyword", "--space", "space.toml", "--folds", "3")


def test_noise_is_called_noise_and_nothing_is_written(command: CommandLine) -> None:
    done = command.run(*TUNE, "--write", "tuned.toml", "--report", "tuning.html")
    page = (command.folder / "tuning.html").read_text()
    assert "Held-out queries won and lost against today" in page and "<script" not in page
    assert done.code == 0, done.err
    assert "Nothing better than today's settings was found" in done.out
    assert "Nothing was written.\n" in done.out and "--even-if-noise" not in done.out
    assert "faq: queries that only the judgements name: 1" in done.err
    assert not (command.folder / "tuned.toml").exists()


def test_the_size_of_passages_is_an_axis_where_stores_differ_in_it(
    command: CommandLine, stores: Path
) -> None:
    both = ("--store", str(stores / "usual"), "--store", str(stores / "small"))
    shown = command.run(*TUNE, *both, "--json").json
    assert shown["tried"] >= 4
    assert shown["held_out"]["queries"] == len(SUBJECTS)
    assert (shown["changes"], shown["better"], shown["written"]) == ({}, False, None)
    twice = shutil.copytree(stores / "usual", command.folder / "copy")
    done = command.run(*TUNE, "--store", str(stores / "usual"), "--store", str(twice), "--json")
    assert (done.code, done.error["kind"]) == (2, "SourceError")
    assert "two stores with passages of the same size (256/32)" in done.error["what"]


def test_settings_that_are_better_are_written_and_load(command: CommandLine) -> None:
    """Questions full of typing errors, and settings of today that forgive none."""
    (command.folder / "noctule.toml").write_text("[search]\nunderstand = []\n")
    (command.folder / "space.toml").write_text('[space]\n"search.understand.spelling" = [true, false]\n')
    words = {name: max(text.rstrip(".").split(), key=len) for name, text in SUBJECTS.items()}
    lines = [json.dumps({"_id": name, "text": f"{word[:-1]}x{word[-1]}"}) for name, word in words.items()]
    (command.folder / "faq" / "queries.jsonl").write_text("\n".join(lines))
    done = command.run(*TUNE, "--write", "tuned.toml", "--report", "tuning.html")
    page = (command.folder / "tuning.html").read_text()
    assert "What each change adds" in page and "How many folds chose it" in page
    assert "Better: on held-out queries" in done.out, done.err
    assert load(command.folder / "tuned.toml").search.understand == ("spelling",)
    assert "3 of 3  search.understand.spelling = true" in done.out


def test_the_space_can_be_printed_and_read_again(command: CommandLine) -> None:
    printed = command.run("tune", "--print-space").out
    assert printed.startswith("[space]\n") and '"search.fusion" = ["rrf", "convex"]' in printed


@pytest.mark.parametrize(
    ("arguments", "kind", "what"),
    [
        (("tune",), "SettingsError", "there is nothing to tune on"),
        (("tune", "--judged", "nowhere"), "SourceError", "no queries there"),
        (("tune", "--judged", "faq", "--judged", "faq"), "SourceError", "the folder is named twice"),
        (("tune", "--judged", "faq", "--folds", "7"), "SourceError",
        "12 queries that a document answers are too few"),
        (("tune", "--judged", "faq", "--space", "none.toml"), "SettingsError", "cannot read the space"),
        (("evaluate", "--judged", "faq", "--judged", "./faq"), "SourceError", "the folder is named twice"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_hint(
    command: CommandLine, arguments: tuple[str, ...], kind: str, what: str
) -> None:
    done = command.run(*arguments, "--json")
    assert (done.code, done.error["kind"]) == (2, kind)
    assert what in done.error["what"] and done.error["hint"]


@pytest.mark.parametrize(
    ("file", "text", "what"),
    [
        ("qrels.tsv", "owls\towls\t-1\n", "the gain -1 is below zero"),
        ("qrels.tsv", "", "there are no judgements"),
    ],
)
@pytest.mark.parametrize("name", ["tune", "evaluate"])
def test_a_set_that_is_wrong_is_refused_with_its_file(
    command: CommandLine, name: str, file: str, text: str, what: str
) -> None:
    (command.folder / "faq" / file).write_text(text)
    done = command.run(name, "--judged", "faq", "--json")
    assert (done.code, done.error["kind"]) == (2, "SourceError")
    assert what in done.error["what"] and f"faq/{file}" in done.error["where"]


def test_a_set_of_other_documents_is_refused(command: CommandLine) -> None:
    (command.folder / "faq" / "docs.tsv").write_text("owls\telsewhere/x.md\n")
    done = command.run(*TUNE, "--json")
    assert (done.code, done.error["kind"]) == (2, "SourceError")
    assert "none of the 12 judged documents is in the snapshot" in done.error["what"]
