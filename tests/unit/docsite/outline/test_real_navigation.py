"""The order of real sites, against readers of their files that share nothing with the product's."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from noctule.docsite.outline.plan import SitePlan, plan_site
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

CORPORA = Path(os.environ.get("NOCTULE_CORPORA", "/nowhere")) / "corpora"


def unpacked(name: str, folder: Path) -> Path:
    archive = CORPORA / f"{name}.tar.zst"
    if not archive.is_file():
        pytest.skip(f"needs {name} in $NOCTULE_CORPORA")
    subprocess.run(["tar", "--zstd", "-xf", archive, "-C", folder], check=True)
    return folder / name


def plan_of(root: Path, site: Site) -> SitePlan:
    texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*.md")}
    return plan_site(snapshot_of({"docs": texts}), site)


def _pages_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _pages_of(each)


def test_fastapi_is_in_the_order_of_its_mkdocs_yml(tmp_path: Path) -> None:
    config = unpacked("fastapi-site", tmp_path) / "docs/en/mkdocs.yml"
    plan = plan_of(config.parent / "docs", Site(navigation={"docs": (str(config),)}))
    nav = yaml.safe_load(re.sub(r"!!python/\S+", "", config.read_text("utf-8")))["nav"]
    expected = [path for path in _pages_of(nav) if (config.parent / "docs" / path).is_file()]
    assert len(expected) > 100
    assert [plan.by_page[page].path for page in plan.tree.order][: len(expected)] == expected


def test_the_rust_book_is_in_the_order_of_its_summary(tmp_path: Path) -> None:
    root = unpacked("rust-book-site", tmp_path) / "src"
    listed = re.findall(r"\[([^]]+)\]\(([^)]+\.md)\)", (root / "SUMMARY.md").read_text("utf-8"))
    plan = plan_of(root, Site())
    order = plan.tree.order
    assert [plan.by_page[page].path for page in order][: len(listed)] == [path for _, path in listed]
    labels = [plan.tree.trails[page][-1].label for page in order][: len(listed)]
    assert labels == [title.replace("`", "") for title, _ in listed]
    assert len(listed) > 100 and plan.tree.hidden == ("SUMMARY.html",)


def test_dotted_names_of_the_dendron_vault_are_no_flat_list(tmp_path: Path) -> None:
    root = unpacked("dendron-vault", tmp_path) / "vault"
    plan = plan_of(root, Site())
    assert plan.by_page["index.html"].path == "root.md"
    assert len(plan.tree.roots) < 40
    for trail in plan.tree.trails.values():
        labels = [node.label for node in trail[-1].children]
        assert len(labels) == len(set(labels))
