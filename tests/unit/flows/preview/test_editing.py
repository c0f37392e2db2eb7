"""A saved document is shown as the next build will show it, and one that cannot be read as it was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from noctule.docsite.build import build_site
from noctule.flows.engines.local import InlineCaller
from noctule.flows.preview.edit_search import search_edits
from noctule.flows.preview.editing import Edition, Editor
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from tests.site_builder import snapshot_of

NOTES = {
    "index.md": "# Home\n\nSee [[owl]] and [the bat](guide/bat.md).\n",
    "owl.md": "# Owl\n\nHoot.\n",
    "guide/bat.md": "# Bat\n\nFlies at dusk.\n",
    "guide/code.md": "# Code\n\n{{#include ../listing.rs}}\n",
}


class Folder:
    """A folder of notes with its snapshot, and the editor of both."""

    def __init__(self, root: Path) -> None:
        self.root, self.texts = root, dict(NOTES)
        (root / "guide").mkdir(parents=True)
        (root / "listing.rs").write_text("let before = 1;\n")
        for name, text in NOTES.items():
            (root / name).write_text(text)
        self.settings: Settings = parse({"collections": {"notes": {"root": str(root)}}}, where="test")
        self.editor = Editor(self.settings, snapshot_of({"notes": NOTES}), InlineCaller())  # type: ignore[arg-type]

    def save(self, **changed: str | None) -> Edition:
        """Write files, named without their folder's slash and ending, remove others, and show them."""
        paths = []
        for name, text in changed.items():
            relative = f"{name.replace('_', '/', 1)}.md"
            path = self.root / relative
            self.texts.pop(relative, None)
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
                self.texts[relative] = text
            paths.append(path)
        return self.editor.apply(paths)

    def built(self, out: Path) -> Path:
        """The site of the files as they are now."""
        build_site(snapshot_of({"notes": self.texts}), out, self.settings.site)
        return out


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "notes")


def _page(edition: Edition, path: str) -> str:
    return (edition.page_of(path) or b"").decode()


def test_every_page_is_as_the_next_build_makes_it(folder: Folder, tmp_path: Path) -> None:
    edition = folder.save(
        owl="# Owl\n\nScreeches, `and`:\n\n```python\nhoot()\n```\n\n## Nest\n\nIn barns.\n"
    )
    site = folder.built(tmp_path / "site")
    for path in ("index.html", "owl.html", "guide/bat.html"):
        assert _page(edition, path) == (site / path).read_text(), path


def test_edits_after_one_another_are_as_the_next_build_makes_them(folder: Folder, tmp_path: Path) -> None:
    first = folder.save(owl="# Owl\n\nAt night.\n")
    second = folder.save(owl="# Owl\n\nAt night, in [a barn](guide/bat.md).\n")
    assert first.plan and second.plan and second.plan.tree is first.plan.tree, "nothing that it shows is new"
    third = folder.save(owl="---\ntitle: Night owl\nnav_order: 9\n---\n\nAt night.\n")
    assert third.plan and third.plan.tree is not first.plan.tree
    site = folder.built(tmp_path / "site")
    for path in ("index.html", "owl.html", "guide/bat.html"):
        assert _page(third, path) == (site / path).read_text(), path


def test_a_new_title_is_in_the_navigation_of_other_pages(folder: Folder) -> None:
    edition = folder.save(owl="# Barn owl\n\nScreeches, unlike [the bat](guide/bat.md).\n")
    assert "Barn owl" in _page(edition, "index.html")
    assert "Barn owl" in _page(edition, "guide/bat.html"), "it is linked from there now"


def test_without_an_edit_there_is_nothing_over_the_site(folder: Folder) -> None:
    folder.editor.warm()
    assert folder.editor.apply(()).page_of("owl.html") is None


def test_a_new_file_has_a_page_and_a_removed_one_has_none(folder: Folder) -> None:
    edition = folder.save(guide_newt="# Newt\n\nSwims, see [[owl]].\n", owl=None)
    assert "Swims" in _page(edition, "guide/newt.html")
    assert edition.page_of("owl.html") is None
    assert ">Owl<" not in _page(edition, "index.html")


def test_a_new_file_without_a_title_has_that_of_the_navigation(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("nav:\n- Newts: guide/newt.md\n")
    site = folder.settings.site.model_copy(update={"navigation": {"notes": [str(tmp_path / "mkdocs.yml")]}})
    settings = folder.settings.model_copy(update={"site": site})
    folder.editor = Editor(settings, snapshot_of({"notes": NOTES}), InlineCaller())  # type: ignore[arg-type]
    plan = folder.save(guide_newt="Swims.\n").plan
    assert plan and plan.by_page["guide/newt.html"].title == "Newts"


def test_a_removed_folder_takes_its_documents_along(folder: Folder) -> None:
    for name in ("bat.md", "code.md"):
        (folder.root / "guide" / name).unlink()
    (folder.root / "guide").rmdir()
    edition = folder.editor.apply([folder.root / "guide"])
    assert edition.page_of("guide/bat.html") is None
    assert edition.page_of("owl.html") is not None


def test_a_fault_is_named_with_file_and_line_and_the_page_stays(folder: Folder) -> None:
    folder.save(owl="# Owl\n\nScreeches.\n")
    edition = folder.save(owl="---\ntitle: Owl\ntags: [open\n---\n# Owl\n\nLost.\n")
    problem = next(iter(edition.problems.values()))
    assert problem.where == str(folder.root / "owl.md")
    assert problem.line > 1
    assert "Lost." in _page(edition, "owl.html")
    private = folder.save(owl="---\ndraft: [\n---\n# Owl\n\nHidden.\n")
    assert private.problems and "Lost." in _page(private, "owl.html")
    mended = folder.save(owl="# Owl\n\nFound.\n")
    assert not mended.problems
    assert "Found." in _page(mended, "owl.html")


def test_a_fault_ends_with_its_file(folder: Folder) -> None:
    assert folder.save(owl="---\ndraft: [\n---\n").problems
    assert not folder.save(owl=None).problems


def test_a_draft_is_taken_back(folder: Folder) -> None:
    edition = folder.save(owl="---\ndraft: true\n---\n# Owl\n\nHoot.\n")
    assert edition.page_of("owl.html") is None
    assert not edition.problems


@pytest.mark.parametrize(
    ("settings_file", "text"),
    [
        ("_config.yml", "defaults: [{scope: {path: guide}, values: {published: false}}]"),
        ("quartz.config.ts", "export default { configuration: { ignorePatterns: ['guide'] } }"),
        ("book.toml", '[book]\nsrc = "notes"'),
    ],
)
def test_what_the_tools_settings_keep_private_is_not_shown(
    settings_file: str, text: str, folder: Folder, tmp_path: Path
) -> None:
    before = folder.save(guide_bat="# Bat\n\nSeen.\n")
    assert "Seen." in _page(before, "guide/bat.html")
    (tmp_path / settings_file).write_text(text)
    (folder.root / "SUMMARY.md").write_text("- [Home](index.md)\n- [Owl](owl.md)\n")
    edition = folder.save(guide_bat="# Bat\n\nSecret.\n", owl="# Owl\n\nShown.\n")
    assert edition.page_of("guide/bat.html") is None
    assert "Shown." in _page(edition, "owl.html")


def test_pages_are_private_while_a_section_says_so(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "hugo.toml").write_text("title = 'Notes'\n")
    hidden = folder.save(guide__index="---\ncascade: {draft: true}\n---\n# Guide\n")
    assert hidden.page_of("guide/bat.html") is None
    assert folder.save(owl="# Owl\n\nShown.\n").page_of("guide/bat.html") is None
    shown = folder.save(guide__index="# Guide\n")
    assert "Flies at dusk." in _page(shown, "guide/bat.html")


def test_a_page_of_a_day_to_come_is_not_shown(folder: Folder) -> None:
    assert folder.save(owl="---\npublishDate: 2999-01-01\n---\n# Owl\n").page_of("owl.html") is None


def test_an_included_file_changes_the_documents_that_include_it(folder: Folder) -> None:
    listing = folder.root / "listing.rs"
    listing.write_text("let after = 2;\n")
    shown = folder.editor.shown([listing])
    assert folder.root / "guide/code.md" in shown
    assert folder.root / "owl.md" not in shown
    assert "after" in _page(folder.editor.apply(shown), "guide/code.html")


def test_a_file_outside_and_a_link_are_not_read(folder: Folder, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n")
    (folder.root / "link.md").symlink_to(secret)
    edition = folder.editor.apply([secret, folder.root / "link.md"])
    assert not edition.edits


def _hits(edition: Edition, query: str) -> list[Mapping[str, str]]:
    found = search_edits(edition, query)["hits"]
    assert isinstance(found, list)
    return found


def test_a_saved_word_is_found_as_it_is_typed(folder: Folder) -> None:
    edition = folder.save(
        owl="# Owl\n\nHoot.\n\n## Nest\n\nA zygodactyl foot.\n", guide_bat="# Bat\n\nFoot.\n"
    )
    assert [hit["url"] for hit in _hits(edition, "zygod")] == ["/owl.html#nest"]
    assert "zygodactyl" in _hits(edition, "foot zygodactyl")[0]["excerpt"]
    assert {hit["url"] for hit in _hits(edition, "foot")} == {"/owl.html#nest", "/guide/bat.html#bat"}
    assert not _hits(edition, "foot absent")
    assert not _hits(edition, "   ")


def test_what_is_excluded_from_search_is_not_found(folder: Folder) -> None:
    edition = folder.save(owl="---\nsearch: false\n---\n# Owl\n\nA zygodactyl foot.\n")
    assert "zygodactyl" in _page(edition, "owl.html")
    assert not _hits(edition, "zygodactyl")
