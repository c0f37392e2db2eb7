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


def test_included_text_has_the_values_of_the_script_and_so_has_what_the_prolog_includes(
    tmp_path: Path,
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "conf.py").write_text(
        "version = '3.1'\nextlinks = {'pr': ('https://example.org/pull/%s', '#%s')}\n"
        "rst_prolog = '.. include:: /above.txt\\n'\n"
    )
    (docs / "above.txt").write_text(".. |bird| replace:: owl\n")
    (docs / "changes.rst").write_text(
        "Changes\n=======\n\n.. include:: ../CHANGES.rst\n\n.. literalinclude:: a.py\n"
    )
    (tmp_path / "CHANGES.rst").write_text("Of |version|: an |bird| hunts. :pr:`5072`\n")
    (docs / "a.py").write_text("# :pr:`1` stays\n")
    page = docs / "changes.rst"
    collection = Collection(root=str(docs), snippet_folders=(str(tmp_path),))
    text = read_source(FoundFile("c", page.name, str(page), 0), collection).content.decode()
    assert "`#5072 <https://example.org/pull/5072>`__" in text and "# :pr:`1` stays" in text
    assert ".. |version| replace:: 3.1" in text and ".. |bird| replace:: owl" in text
    assert "include::" not in text
