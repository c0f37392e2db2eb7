from __future__ import annotations

from pathlib import Path

from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.source_files import FoundFile


def test_what_changelog_imports_includes_is_not_shown(tmp_path: Path) -> None:
    page = tmp_path / "new.rst"
    page.write_text(
        "Owls\n====\n\n.. changelog_imports::\n\n    .. include:: old.rst\n        :start-line: 5\n\n"
        "    .. include:: gone.rst\n\n.. include:: part.rst\n"
    )
    (tmp_path / "old.rst").write_text("Before\n")
    (tmp_path / "part.rst").write_text("A part.\n")
    source = read_source(FoundFile("c", page.name, str(page), 0), Collection(root=str(tmp_path)))
    text = source.content.decode()
    assert "A part." in text and "Before" not in text and not source.notes
