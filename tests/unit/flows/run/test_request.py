"""Which settings a run gets from a settings file, folders and a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.flows.run.request import IndexRequest, collection_name, read_settings, unique_names
from noctule.pipeline.errors import NoctuleError, SettingsError, SourceError

_STORE = Path(".noctule")
_TWO = '[collections.a]\nroot = "one"\n[collections.b]\nroot = "two"\n'


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _config(content: str, name: str = "some.toml") -> Path:
    Path(name).write_text(content)
    return Path(name)


def test_a_folder_becomes_a_collection_named_after_it() -> None:
    settings = IndexRequest(_STORE, sources=("My Notes",)).settings()
    assert {name: each.root for name, each in settings.collections.items()} == {
        "my-notes": str(Path.cwd() / "My Notes")
    }


def test_two_folders_of_one_name_become_two_collections() -> None:
    assert unique_names([Path("a/docs"), Path("b/docs"), Path("c/docs")]) == ["docs", "docs-2", "docs-3"]


@pytest.mark.parametrize(
    ("folder", "name"), [("Über uns", "ber-uns"), ("日本", "docs"), ("_x_", "x"), ("A.B", "a-b")]
)
def test_a_collection_name_has_only_letters_that_one_may_have(folder: str, name: str) -> None:
    assert collection_name(Path(folder)) == name


def test_a_folder_takes_the_root_of_the_only_collection() -> None:
    config = _config('[collections.notes]\nroot = "old"\nlanguage = "de"\n')
    settings = IndexRequest(_STORE, config, sources=("new",)).settings()
    assert settings.collections["notes"].root == str(Path.cwd() / "new")
    assert settings.collections["notes"].language == "de"


def test_a_folder_takes_the_root_of_the_collection_named_and_leaves_the_other() -> None:
    settings = IndexRequest(_STORE, _config(_TWO), sources=("new",), collection="b").settings()
    assert [Path(each.root).name for each in settings.collections.values()] == ["one", "new"]


@pytest.mark.parametrize(
    ("sources", "collection"),
    [(("x",), None), (("x",), "c"), (("x", "y"), None), (("x", "y"), "a"), ((), "a")],
)
def test_what_is_not_clear_is_refused(sources: tuple[str, ...], collection: str | None) -> None:
    with pytest.raises(SettingsError) as refused:
        IndexRequest(_STORE, _config(_TWO), sources=sources, collection=collection).settings()
    assert "noctule index FOLDER" in refused.value.hint or "Leave it out" in refused.value.hint


def test_a_bad_collection_name_is_refused() -> None:
    with pytest.raises(SettingsError, match="lower-case"):
        IndexRequest(_STORE, sources=("x",), collection="Not Good").settings()


def test_the_settings_file_of_the_folder_is_used_unless_another_is_named() -> None:
    _config("[chunk]\nmax_tokens = 100\noverlap_tokens = 10\n", "noctule.toml")
    assert read_settings(None).chunk.max_tokens == 100
    assert read_settings(_config("")).chunk.max_tokens == 256


def test_nothing_to_index_names_both_ways_out() -> None:
    with pytest.raises(SourceError) as refused:
        IndexRequest(_STORE).settings()
    assert "noctule index FOLDER" in refused.value.hint
    assert "noctule init" in refused.value.hint
    assert isinstance(refused.value, NoctuleError)
