"""What is known only of all shards together: addresses that are taken, and categories that lead nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.flows.shards.files import PassFiles
from noctule.flows.shards.survey import left_out
from noctule.pipeline.settings.reading import parse as parse_settings
from noctule.pipeline.source_files import FoundFile


def shard(folder: Path, paths: list[str], ids: dict[str, str]) -> PassFiles:
    files = PassFiles(folder)
    linking = [{"collection": "docs", "path": path, "url": f"/{path}"} for path in paths]
    named = [
        {"collection": "docs", "path": path, "front_matter": json.dumps({"id": name})}
        for path, name in ids.items()
    ]
    fields = [(name, pa.string()) for name in ("collection", "path", "front_matter")]
    tables = {
        "linking": pa.Table.from_pylist(linking),
        "named": pa.Table.from_pylist(named, pa.schema(fields)),
    }
    files.write("survey", "key", tables)
    return files


@pytest.mark.parametrize(
    ("paths", "ids", "expected"),
    [
        (["open.md"], {}, ["category/plans.md", "hidden/index.md"]),
        (["hidden/a.md"], {}, ["category/plans.md"]),
        (["guide/b.md"], {"guide/b.md": "told"}, ["hidden/index.md"]),
    ],
)
def test_a_category_has_a_page_if_some_shard_has_one_of_its_pages(
    paths: list[str], ids: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    generated = {"type": "generated-index"}
    category = {"type": "category", "label": "Plans", "link": generated, "items": ["guide/told"]}
    (tmp_path / "sidebars.json").write_text(json.dumps({"docs": [category]}))
    settings = parse_settings({"collections": {"docs": {"root": str(tmp_path)}}}, "test")
    pages = [
        FoundFile("docs", "hidden/index.md", str(tmp_path / "_category_.json"), 0, category="hidden"),
        FoundFile(
            "docs", "category/plans.md", str(tmp_path / "sidebars.json"), 0, category="/category/plans"
        ),
    ]
    shards = [
        shard(tmp_path / "1", [each.path for each in pages], {}),
        shard(tmp_path / "2", paths, ids),
    ]
    found = left_out(shards, [pages], settings)
    assert sorted(each.path for each in found) == expected
    assert all(each.kind == "skipped" for each in found)
