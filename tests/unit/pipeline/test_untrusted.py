"""Files and values that others wrote: read, or refused at once and with the reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from noctule.pipeline.discover import list_files
from noctule.pipeline.includes.project import context_of
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.untrusted import (
    NotRead,
    is_within,
    read_json,
    read_regular,
    read_settings,
    read_toml,
    read_yaml,
)


@pytest.mark.parametrize(
    "value",
    ["!!bool x", "!!int ''", "!!float ''", "!!timestamp x", "!!int 0x", "!!int 1:a", "!!set x",
     "2001-99-99", "2001-01-01T00:00:00+99:99", "9" * 6_000, "{[a]: b}", "{<<: 5}", "!x &a [*a]"],
)  # fmt: skip
def test_a_value_that_is_not_what_it_says_is_one_kind_of_error(value: str, tmp_path: Path) -> None:
    with pytest.raises(NotRead, match="not YAML"):
        read_yaml(f"key: {value}\n")
    # Front matter and Jekyll's settings, which fill in values of documents.
    (tmp_path / "_config.yml").write_text(f"key: {value}\n")
    found = context_of(f"---\nkey: {value}\n---\n", str(tmp_path / "a.md"), [tmp_path])
    assert not found.page and set(found.project.site) <= {
        "data"
    }  # the files of _data, of which there are none


def test_half_a_surrogate_pair_is_no_text_of_a_page(tmp_path: Path) -> None:
    text = '---\nkey: "\\ud800x"\n---\n\n{{ page.key }}\n'
    (tmp_path / "_config.yml").write_text("a: b\n")
    (tmp_path / "a.md").write_text(text)
    collection = Collection(root=str(tmp_path))
    found = next(file for file in list_files("c", collection).files if file.path == "a.md")
    read_source(found, collection).content.decode()


def test_json_is_read_as_json() -> None:
    values = {"owl": "\U0001f989\t/", "size": 1e22, "deep": [[{"a": None, "b": True}]]}
    for text in (json.dumps(values), json.dumps(values, indent="\t"), "\ufeff" + json.dumps(values)):
        assert read_settings(text, "hugo.json") == values
    assert read_settings('{"a": 1, # what JSON has not\n\t"b": 2,}', "a.json") == {"a": 1, "b": 2}


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", "[" * 61 + "]" * 61, "[" * 100_000, '"\\ud83d"',
                                  "9" * 6_000, '{"a": }', ""])  # fmt: skip
def test_json_that_is_none_or_hangs_a_reader_is_one_kind_of_error(text: str) -> None:
    with pytest.raises(NotRead):
        read_json(text)


def _merged(levels: int, keys: int) -> str:
    base = "a0: &a0 {" + ",".join(f"k{at}: " for at in range(keys)) + "}\n"
    return base + "".join(f"a{at}: &a{at} {{<<: [*a{at - 1}, *a{at - 1}]}}\n" for at in range(1, levels))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_merged(10, 3_000), "counted that aliases stand for"),
        ("a: &a [x]\n" + "b: [" + "*a, " * 30 + "]\n", "more than 20 aliases"),
        ("[" * 100, "nested deeper"),
    ],
)
def test_what_multiplies_or_nests_is_refused_before_it_is_built(text: str, message: str) -> None:
    with pytest.raises(NotRead, match=message):
        read_yaml(text)


def test_anchors_that_multiply_little_are_read() -> None:
    assert read_yaml(_merged(4, 2))["a3"] == {"k0": None, "k1": None}
    assert read_yaml("a: &a [*a]\n")["a"]


@pytest.mark.timeout(20)
def test_a_dotted_name_without_end_is_refused_at_once() -> None:
    for name in ("a" + ".a" * 40_000 + " = 1", "[a" + " . a" * 40_000 + "]"):
        with pytest.raises(ValueError, match=r"500 dots is not read \(at line 2"):
            read_toml(f"\n{name}\n")
    assert read_toml(f"a.b = 'so{'.' * 400}'") == {"a": {"b": f"so{'.' * 400}"}}


@pytest.mark.timeout(20)
def test_only_files_of_the_folder_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a").write_text("abc")
    (tmp_path / "b").write_text("no")
    (folder / "b").symlink_to(tmp_path / "b")
    (folder / "c").symlink_to("a")
    os.mkfifo(folder / "p")
    assert read_regular(folder / "a", 3, folder) == read_regular(folder / "c", 3, folder) == b"abc"
    for name, most, message in (("b", 3, "outside"), ("../b", 3, "outside"), ("a", 2, "over")):
        with pytest.raises(NotRead, match=message):
            read_regular(folder / name, most, folder)
    with pytest.raises(OSError, match="a pipe"):
        read_regular(folder / "p", 3, folder)
    assert is_within(folder, folder) and not is_within(tmp_path, folder)
