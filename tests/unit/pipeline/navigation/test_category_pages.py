"""Pages that Docusaurus generates for categories are documents, made of what describes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noctule.pipeline.discover import list_files
from noctule.pipeline.errors import MissingRoot, RejectedDocument
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.model import Document
from noctule.pipeline.navigation.script_imports import Script
from noctule.pipeline.navigation.sidebars import read_docusaurus
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from tests.processor_time import processor_seconds

GENERATED = {"link": {"type": "generated-index", "description": "What *you* <need>.", "keywords": ["k"]}}
SIDEBARS = """
module.exports = {
  docs: [
    {type: 'category', label: 'How to: fly & land', items: ['a'],
     link: {type: 'generated-index', title: 'All about flight'}},
    {type: 'category', label: 'Own', items: ['b'], link: {type: 'generated-index', slug: '/own/way/'}},
    {type: 'category', label: 'How to fly', items: ['c'], link: {type: 'generated-index'}},
    {type: 'category', label: 'How to: fly', items: ['d'], link: {type: 'generated-index'}},
    {type: 'category', label: 'None', items: ['e']},
  ],
};
"""


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def documents(collection: Collection) -> dict[str, Document]:
    files = list_files("c", collection).files
    return {file.path: parse(read_source(file, collection), collection) for file in files}


def test_a_category_of_a_folder_is_the_index_of_the_folder(tmp_path: Path) -> None:
    files = {
        "01-guide/a.md": "# A\n",
        "01-guide/_category_.json": json.dumps({"label": "Guides", **GENERATED}),
    }
    found = documents(Collection(root=str(written(tmp_path, files))))
    page = found["01-guide/index.md"]
    assert (page.title, page.description, page.keywords) == ("Guides", "What *you* <need>.", ("k",))
    assert [block.text for block in page.blocks] == ["What *you* <need>."]
    assert json.loads(page.front_matter)["slug"] == "/category/guides"


@pytest.mark.parametrize(
    "category",
    ["label: G\nposition: 2", "label: G\nlink: {type: doc, id: a}", "link: null", "- no table", "a: ["],
)
def test_a_category_without_a_generated_page_is_no_document(category: str, tmp_path: Path) -> None:
    root = written(tmp_path, {"guide/a.md": "# A\n", "guide/_category_.yml": category})
    assert [*documents(Collection(root=str(root)))] == ["guide/a.md"]


def test_a_folder_names_a_category_without_a_label(tmp_path: Path) -> None:
    root = written(tmp_path, {"x/02-first-steps/_category_.yml": "link: {type: generated-index}"})
    page = documents(Collection(root=str(root)))["x/02-first-steps/index.md"]
    assert (page.title, json.loads(page.front_matter)["slug"]) == ("first-steps", "/category/first-steps")


def test_a_written_page_stands_before_a_generated_one_and_exclude_before_both(tmp_path: Path) -> None:
    files = {f"{name}/_category_.json": json.dumps(GENERATED) for name in ("kept", "old", "other")}
    root = written(tmp_path, {**files, "kept/README.md": "# Kept\n"})
    listing = list_files("c", Collection(root=str(root), exclude=("old/", "other/_category_.json")))
    assert [file.path for file in listing.files] == ["kept/README.md"]
    assert [(each.path, each.kind) for each in listing.rejections] == [("kept/index.md", "skipped")]


def test_a_folder_whose_pages_are_no_documents_has_no_generated_page(tmp_path: Path) -> None:
    names = ("open", "private", "open/_parts", "files/static/open")
    files = {f"{name}/_category_.json": json.dumps(GENERATED) for name in names}
    root = written(tmp_path / "docs", {**files, "docusaurus.config.js": ""})
    given = Collection(root=str(root), include=("/open/**/*.mdx",), static_folders=(str(root / "files"),))
    assert [file.path for file in list_files("c", given).files] == ["open/index.md"]


def test_categories_of_sidebars_stand_at_their_addresses(tmp_path: Path) -> None:
    root = written(tmp_path, {"docs/a.md": "# A\n", "sidebars.js": SIDEBARS})
    found = documents(Collection(root=str(root / "docs"), sidebars=(str(root / "sidebars.js"),)))
    assert {path: page.title for path, page in found.items()} == {
        "a.md": "A",
        "category/how-to-fly--land.md": "All about flight",
        "category/how-to-fly.md": "How to fly",
        "category/how-to-fly-1.md": "How to: fly",
        "own/way.md": "Own",
    }
    targets = [entry.target for entry in read_docusaurus(Script(SIDEBARS, "sidebars.js")).entries]
    assert [target for target in targets if target] == [
        "category/how-to-fly--land.md", "own/way.md", "category/how-to-fly.md", "category/how-to-fly-1.md",
    ]  # fmt: skip


def test_thousands_of_categories_of_one_name_cost_time_in_proportion() -> None:
    item = {"type": "category", "label": "x", "items": [], **GENERATED}
    started = processor_seconds()
    found = read_docusaurus(Script(json.dumps({"s": [item] * 12_000}), "sidebars.json")).categories
    assert (len({each.slug for each in found}), found[-1].slug) == (12_000, "/category/x-11999")
    assert processor_seconds() - started < 4


def test_a_category_that_goes_is_rejected_and_sidebars_that_are_not_there_are_an_error(
    tmp_path: Path,
) -> None:
    root = written(tmp_path, {"docs/a.md": "# A\n", "sidebars.js": SIDEBARS})
    collection = Collection(root=str(root / "docs"), sidebars=(str(root / "sidebars.js"),))
    file = next(file for file in list_files("c", collection).files if file.path == "own/way.md")
    (root / "sidebars.js").write_text("module.exports = {}")
    with pytest.raises(RejectedDocument, match="no generated page any more"):
        read_source(file, collection)
    (root / "sidebars.js").unlink()
    with pytest.raises(MissingRoot, match="sidebars"):
        list_files("c", collection)


def test_what_no_file_can_have_in_its_name_is_left_out_of_an_address(tmp_path: Path) -> None:
    link = {"type": "generated-index", "slug": "/../a\ud800b/\u0007"}
    category = {"type": "category", "label": "A\ud800", "items": [], "link": link}
    root = written(tmp_path, {"docs/a.md": "# A\n", "sidebars.json": json.dumps({"s": [category]})})
    found = documents(Collection(root=str(root / "docs"), sidebars=(str(root / "sidebars.json"),)))
    assert {path: page.title for path, page in found.items()} == {"a.md": "A", "ab.md": "A?"}


@pytest.mark.parametrize(
    ("settings", "lists"),
    [
        ("hugo.toml", {"posts/_index.md": "Posts"}),
        ("quartz.config.ts", {"posts/index.md": "Posts", "posts/my-tales/index.md": "My Tales"}),
        ("book.toml", {}),
    ],
)
def test_folders_of_hugo_and_quartz_without_an_index_have_lists(
    settings: str, lists: dict[str, str], tmp_path: Path
) -> None:
    names = ("posts/my-tales/a.md", "own/_index.md", "own/b.md", "page/index.md", "top.md", "top/c.md")
    root = written(tmp_path, {**{f"content/{name}": "# T\n" for name in names}, settings: ""}) / "content"
    found = documents(Collection(root=str(root), exclude=("own/b.md",)))
    assert {path: page.title for path, page in found.items() if path not in names} == lists
    given = Collection(root=str(root), include=("posts/my-tales/a.md",))
    assert [*documents(given)] == ["posts/my-tales/a.md"]
