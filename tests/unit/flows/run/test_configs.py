"""The files in configs/ are what they say: the defaults, and presets that load."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from noctule.pipeline.settings.collection import Address, Collection, Rule
from noctule.pipeline.settings.reading import load
from noctule.pipeline.settings.settings import Settings

CONFIGS = Path(__file__).resolve().parents[4] / "configs"


def test_default_toml_gives_every_key_with_its_default() -> None:
    given = tomllib.loads((CONFIGS / "default.toml").read_text())
    expected = Settings().model_dump(mode="json", exclude={"collections"})
    assert given == expected
    assert load(CONFIGS / "default.toml") == Settings()


def test_the_collection_in_default_toml_has_every_key_with_its_default() -> None:
    text = (CONFIGS / "default.toml").read_text()
    example = text[text.index("# [collections.NAME]") :]
    lines = [line[2:] for line in example.split("\n") if re.match(r"# (\[|[a-z_]+ = )", line)]
    given = tomllib.loads("\n".join(lines))["collections"]["NAME"]
    assert set(given) == set(Collection.model_fields)
    assert set(given["address"]) == set(Address.model_fields)
    assert set(given["rules"][0]) == set(Rule.model_fields)
    unlike = {"root", "rules"}
    defaults = Collection(root="docs").model_dump(mode="json", exclude=unlike)
    assert {key: value for key, value in given.items() if key not in unlike} == defaults


def test_every_key_in_default_toml_is_explained_where_its_table_has_few() -> None:
    text = (CONFIGS / "default.toml").read_text()
    tables = [name for name, field in Settings.model_fields.items() if isinstance(field.default, BaseModel)]
    assert all(f"[{name}]" in text for name in tables)
    assert text.count("\n# ") >= 25


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
def test_every_preset_loads(path: Path) -> None:
    settings = load(path)
    assert (len(settings.collections) == 1) == (
        path.name not in ("default.toml", "seed-order.toml", "bge-small.toml")
    )


def test_presets_are_the_ones_the_guide_names() -> None:
    names = {path.stem for path in CONFIGS.glob("*.toml")}
    assert {"default", "docs", "notes", "api-reference", "papers"} <= names


def test_the_unit_stops_the_flow_gently_and_a_held_lock_is_no_failure() -> None:
    unit = (CONFIGS / "noctule.service").read_text().split("\n")
    assert {"KillMode=mixed", "SuccessExitStatus=4", "Type=exec", "RuntimeMaxSec=6h"} <= set(unit)
    assert any(line.startswith("ExecStart=") and " nightly " in line for line in unit)
    assert "Persistent=true" in (CONFIGS / "noctule.timer").read_text().split("\n")
