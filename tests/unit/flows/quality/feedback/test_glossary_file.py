"""A synonym is one command: it goes into the glossary, and what the owner wrote stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.artifacts.query.understanding.synonyms import read_glossary
from noctule.flows.quality.feedback.glossary_file import add_synonym
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.reading import load


@pytest.mark.parametrize(
    "given",
    [
        "",
        "[collections.docs]\nroot = 'docs' # mine\n",
        "# mine\n[search]\nmax_per_document = 3\n\n[site]\ntitle = 'understand = []'\n",
        '[search]\nunderstand = [\n  "spelling", # two\n  "identifiers" # x\n]\n[search.elbow]\nratio = 0.4',
        "[search]\nunderstand = ['spelling', 'synonyms']\n[search.synonyms]\nweight = 0.5\n",
        '[search.synonyms] # words\nfile = "" # none\nweight = 0.5\n',
        '[search.synonyms]\nweight = 0.5\nfile = ""\n[site]\ntitle = "x"\n',
    ],
)
def test_settings_without_a_glossary_get_one(tmp_path: Path, given: str) -> None:
    file = tmp_path / "noctule.toml"
    file.write_text(given)
    before = load(file)
    added = add_synonym("undo = roll back", file)
    after = load(file)
    assert added.settings == file
    assert after.search.synonyms.file == str(tmp_path / "glossary.toml")
    assert after.search.understand[-1] == "synonyms"
    assert [each for each in after.search.understand if each != "synonyms"] == [
        each for each in before.search.understand if each != "synonyms"
    ]
    assert read_glossary(tmp_path / "glossary.toml") == {"undo": ("roll back",)}
    same = {"search": before.search}
    assert after.model_copy(update=same) == before
    for comment in ("# mine", "# two", "# words"):
        assert comment not in given or comment in file.read_text()
    content = file.read_text()
    assert add_synonym("undo=revert", file).settings is None
    assert file.read_text() == content
    assert read_glossary(tmp_path / "glossary.toml") == {"undo": ("roll back", "revert")}


def test_without_settings_they_are_made(tmp_path: Path) -> None:
    add_synonym("k8s=kubernetes", tmp_path / "noctule.toml")
    assert load(tmp_path / "noctule.toml").search.synonyms.file == str(tmp_path / "glossary.toml")


def test_a_glossary_keeps_what_its_author_wrote(tmp_path: Path) -> None:
    file, glossary = tmp_path / "noctule.toml", tmp_path / "words.toml"
    file.write_text('[search]\nunderstand = ["synonyms"]\n[search.synonyms]\nfile = "words.toml"\n')
    glossary.write_text("# ours\nUndo = [\n  'revert', # git\n]\n'roll back' = [] # later")
    assert add_synonym("undo=restore", file).settings is None
    add_synonym("Roll  Back=undo", file)
    add_synonym("roll back=UNDO", file)  # is there
    add_synonym('say "no"=refuse', file)
    assert read_glossary(glossary) == {
        "undo": ("revert", "restore"), "roll back": ("undo",), "say no": ("refuse",),
    }  # fmt: skip
    assert glossary.read_text().startswith("# ours\nUndo = [")


@pytest.mark.parametrize("given", ["undo", "=x", "x=", "!=?", "a\n[b]=c", "\u202ea=b", "a=\0"])
def test_what_is_no_synonym_is_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(SettingsError, match="undo=revert"):
        add_synonym(given, tmp_path / "noctule.toml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "glossary"),
    [
        ("search = { rrf_k = 30 }\n", ""),
        ("search.rrf_k = 30\n", ""),
        ('[search]\nunderstand=["synonyms"]\nsynonyms={file="glossary.toml"}\n', 'undo = ["a]b"]\n'),
        ('[search]\nunderstand=["synonyms"]\nsynonyms={file="glossary.toml"}\n', "undo = 3\n"),
        ("not toml", ""),
    ],
)
def test_files_that_are_written_in_another_way_are_left_alone(
    tmp_path: Path, settings: str, glossary: str
) -> None:
    file, words = tmp_path / "noctule.toml", tmp_path / "glossary.toml"
    file.write_text(settings)
    if glossary:
        words.write_text(glossary)
    with pytest.raises(SettingsError):
        add_synonym("undo=revert", file)
    assert file.read_text() == settings
    assert (words.read_text() if words.exists() else "") == glossary
