"""A page is traced to the file that it is made of, with all that this includes, whatever its own path is."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.flows.report.trace import TracedFile, traced_source
from noctule.pipeline.discover import list_files
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings.reading import load
from noctule.pipeline.settings.settings import Settings

SETTINGS = """
[collections.docs]
root = "docs"
[collections.docs.api]
packages = ["weasel"]
pages = "reference"
"""
FILES = {
    "noctule.toml": SETTINGS,
    "weasel/__init__.py": '"""A weasel."""\n',
    "docs/otters.md": '# Otters\n\n--8<-- "parts/part.txt"\n',
    "docs/parts/part.txt": "Otters swim.\n",
    "docs/tunnels/_category_.yml": "link: {type: generated-index}",
}
MADE_OF = {
    "otters.md": "docs/otters.md",
    "tunnels/index.md": "docs/tunnels/_category_.yml",
    "reference/weasel/index.md": "weasel/__init__.py",
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return load(tmp_path / "noctule.toml")


def indexed(settings: Settings, path: str) -> dict[str, str]:
    files = list_files("docs", settings.collections["docs"]).files
    source = read_source(next(each for each in files if each.path == path), settings.collections["docs"])
    return {"collection": "docs", "path": path, "sha256": source.sha256}


@pytest.mark.parametrize("page", MADE_OF)
def test_a_page_is_traced_to_what_it_is_made_of(page: str, settings: Settings, tmp_path: Path) -> None:
    row = indexed(settings, page)
    found = traced_source(settings, row)
    assert found == TracedFile(str(tmp_path / MADE_OF[page]), row["sha256"], is_same=True)


def test_a_page_that_nothing_makes_any_more_is_gone(settings: Settings, tmp_path: Path) -> None:
    row = indexed(settings, "tunnels/index.md")
    (tmp_path / MADE_OF["tunnels/index.md"]).unlink()
    assert traced_source(settings, row) == TracedFile(
        str(tmp_path / "docs/tunnels/index.md"), "", is_same=False
    )
