"""``{% include-markdown %}`` inserts a part of a file, with its links and headings adapted."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.includes.source import read_source
from noctule.pipeline.model import Source
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.source_files import FoundFile

README = """---
title: T
---
# Owls

[a](docs/a.md#x) ![i](owl.png) [w](https://e.org) [t](#top) <img src="b.png"> `[c](c.md)`

[d]: docs/d.md
<!--start-->
## Nest
<!--end-->
After
```
# code [e](e.md)
```
"""
MOVED = '[a](../docs/a.md#x) ![i](../owl.png) [w](https://e.org) [t](#top) <img src="../b.png"> `[c](c.md)`'


def read(folder: Path, text: str) -> Source:
    (folder / "docs").mkdir()
    (folder / "README.md").write_text(README)
    (folder / "docs/index.md").write_text(text)
    collection = Collection(root=str(folder / "docs"), snippet_folders=(str(folder),))
    return read_source(FoundFile("c", "index.md", str(folder / "docs/index.md"), 0), collection)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (' start="<!--start-->" end="<!--end-->"', "\n## Nest"),
        ("\n  start='<!--start-->'\n  end='<!--end-->'\n  heading-offset=2\n", "\n#### Nest"),
        (' start="<!--end-->"', "\nAfter\n```\n# code [e](e.md)\n```"),
    ],
)
def test_a_part_is_chosen(tmp_path: Path, options: str, shown: str) -> None:
    source = read(tmp_path, f'{{%\n  include-markdown "../README.md"{options}%}}\n')
    assert source.content.decode() == f"{shown}\n" and not source.notes


def test_links_begin_at_the_page_that_includes_them(tmp_path: Path) -> None:
    source = read(tmp_path, '{% include-markdown "../README.md" end="<!--start-->" heading-offset=1 %}')
    assert source.content.decode() == f"## Owls\n\n{MOVED}\n\n[d]: ../docs/d.md"


def test_links_stay_if_that_is_asked_for(tmp_path: Path) -> None:
    source = read(tmp_path, '{% include-markdown "../README.md" rewrite-relative-urls=false %}')
    assert "(docs/a.md#x)" in source.content.decode()


def test_files_in_code_are_included_if_they_are_there(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("a: 1\nb: 2\n")
    source = read(
        tmp_path,
        '```yaml\n{% include "../a.yml" %}\n  {% include "../a.yml" start="a: 1\\n" %}\n'
        '{% include "../no.yml" %}\n{% include "a.yml" %}\n```\n',
    )
    assert source.content.decode() == (
        '```yaml\na: 1\nb: 2\n  b: 2\n{% include "../no.yml" %}\n{% include "a.yml" %}\n```\n'
    )
    assert not source.notes


def test_a_mark_that_is_missing_and_an_example_in_code(tmp_path: Path) -> None:
    source = read(tmp_path, '{% include-markdown "../README.md" start="no" %}\n`{% include-markdown "a" %}`')
    assert source.content.decode() == '\n`{% include-markdown "a" %}`'
    assert source.notes == ("line 1: '../README.md' is not included: it has no 'no'",)
