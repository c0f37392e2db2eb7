"""What is wrong with a settings file is told in words of TOML, under the key that was written."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.reading import load, parse
from noctule.pipeline.settings.settings import Settings

_WORDS_OF_PYTHON = re.compile(r"tuple|dictionary|instance|function|Value error|NoneType|\[key\]")


def _keys(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key of the settings and every table, with a name where an owner gives names."""
    for name, field in model.model_fields.items():
        place = (*above, name)
        yield place
        parts = (field.annotation, *typing.get_args(field.annotation))
        for part in parts:
            if inspect.isclass(part) and issubclass(part, BaseModel):
                named = typing.get_origin(field.annotation) is dict
                yield from _keys(part, (*place, "own") if named else place)


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:0", "cuda:12", "mps", "xpu", "xpu:1"])
def test_each_device_that_computes_a_model_may_be_named(device: str) -> None:
    assert parse({"embed": {"device": device}}, where="a test").embed.device == device


@pytest.mark.parametrize("device", ["", "gpu", "cuda:", "cuda:a", "cpu:-1", "meta", "CUDA", "c\nuda"])
def test_what_is_no_device_is_refused_with_those_that_are(device: str) -> None:
    with pytest.raises(SettingsError, match="write auto, cpu, cuda, cuda:1, mps or xpu"):
        parse({"embed": {"device": device}}, where="a test")


def _given(place: tuple[str, ...], value: object) -> dict[str, Any]:
    for name in reversed(place):
        value = {name: value}
    return typing.cast("dict[str, Any]", value)


@pytest.mark.parametrize(
    "key",
    [
        "engine.shared",
        "publish.sign",
        "search.synonyms.file",
        "serve.events.folder",
        "serve.router.token",
        "serve.tokens",
        "site.templates",
        "site.words",
    ],
)
def test_a_file_is_looked_for_beside_the_settings_file(tmp_path: Path, key: str) -> None:
    *tables, name = key.split(".")
    file = tmp_path / "noctule.toml"
    for written, expected in (("own", tmp_path / "own"), ("~/own", Path("~/own").expanduser())):
        file.write_text(f'[{".".join(tables)}]\n{name} = "{written}"\n')
        assert reduce(getattr, key.split("."), load(file)) == str(expected)


def test_a_home_folder_that_does_not_exist_is_told_without_what_stands_there(tmp_path: Path) -> None:
    file = tmp_path / "noctule.toml"
    file.write_text('[serve.router]\ntoken = "~no-such-user-secret"\n')
    with pytest.raises(SettingsError, match="home folder of a user") as caught:
        load(file)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("place", sorted(set(_keys(Settings))), ids=".".join)
def test_a_wrong_value_is_told_without_words_of_python(place: tuple[str, ...]) -> None:
    refused = 0
    for value in (3.5, "\0", ["\0"], [3.5], {"\0": 3.5}):
        try:
            parse(_given(place, value), where="a test")
        except SettingsError as error:
            refused += 1
            assert _WORDS_OF_PYTHON.search(error.what) is None
    assert refused


@pytest.mark.parametrize(
    ("place", "value", "what"),
    [
        ("site.colors.link", "red", "site.colors.link: 'red' is not a colour; write it as #rrggbb"),
        ("site.colors.link", 3, "site.colors.link: write one colour, #rrggbb, or two: [light, dark]"),
        ("site.colors", 3, "site.colors: write a table"),
        ("search.stages", "mmr", "search.stages: write a list, in square brackets"),
        ("site", 3, "site: write a table"),
        ("site.colours", {}, "site.colours: unknown key (did you mean colors?)"),
        ("site.zzz", {}, "site.zzz: unknown key"),
        (
            "collections.notes",
            {"root": ".", "rules": [{"pattern": "a", "replace": "b"}]},
            "collections.notes.rules.0.replace: unknown key (did you mean replacement?)",
        ),
        (
            "collections.notes",
            {"root": ".", "address": {"stile": "path"}},
            "collections.notes.address.stile: unknown key (did you mean style?)",
        ),
        ("serve.router.backend", [], "serve.router.backend: unknown key (did you mean backends?)"),
        (
            "embed.device",
            "tpu",
            "embed.device: 'tpu' is no device: write auto, cpu, cuda, cuda:1, mps or xpu",
        ),
    ],
)
def test_a_mistake_is_told_once_under_its_key(place: str, value: object, what: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse(_given(tuple(place.split(".")), value), where="a test")
    assert caught.value.what == what
