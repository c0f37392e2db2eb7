"""What a section of Hugo hands down keeps the documents below it from being published."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.store.store import Store
from noctule.flows import api
from noctule.flows.sources.publishing_rules import rules_of
from noctule.flows.sources.withheld import withheld
from noctule.pipeline.settings.reading import parse as parse_settings
from tests.sentence_model_builder import in_this_process

BELOW = {
    "a/_index.md": {},
    "a/one.md": {},
    "a/shown.md": {"draft": False},
    "a/b/_index.md": {},
    "a/b/two.md": {},
    "c.md": {},
}


def held(
    tmp_path: Path, settings_file: str, front: dict[str, dict[str, object]], text: str = ""
) -> list[str]:
    (tmp_path / "content").mkdir()
    (tmp_path / settings_file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / settings_file).write_text(text)
    settings = parse_settings({"collections": {"docs": {"root": str(tmp_path / "content")}}}, "test")
    rows = [
        {"collection": "docs", "path": path, "front_matter": json.dumps(values)}
        for path, values in {**BELOW, **front}.items()
    ]
    return [
        each.path
        for each in withheld(pa.table({"documents": [rows]}), (), settings, rules_of(settings), "2026-11-25")
    ]


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        (
            {"a/_index.md": {"cascade": {"draft": True}}},
            "everything",
        ),
        (
            {"a/_index.md": {"Cascade": [{"build": {"render": "never"}, "_target": {"path": "/a/b/**"}}]}},
            ["a/b/_index.md", "a/b/two.md"],
        ),
        (
            {"a/_index.md": {"cascade": {"draft": True, "target": {"kind": "page"}}}},
            ["a/b/two.md", "a/one.md"],
        ),
        ({"a/_index.md": {"cascade": {"draft": True, "target": {"environment": "staging"}}}}, []),
        (
            {"a/_index.md": {"cascade": {"draft": True}}, "a/b/_index.md": {"cascade": {"draft": False}}},
            ["a/_index.md", "a/one.md"],
        ),
        ({"a/_index.md": {"cascade": {"draft": True, "target": {"path": "/{a,c}/one*"}}}}, "everything"),
        ({"a/_index.md": {"cascade": {"draft": True, "target": {"path": "a/***/!"}}}}, []),
        *(
            ({"a/_index.md": {"cascade": {"draft": True, "target": target}}}, expected)
            for target, expected in (
                ({"path": "/A/B/Two"}, ["a/b/two.md"]),
                ({"path": "**/t?o"}, ["a/b/two.md"]),
                ({"path": "/a/two.md"}, []),
                ({"kind": "{page,home}"}, "everything"),
                ({"kind": "Page"}, ["a/b/two.md", "a/one.md"]),
                ({"kind": "section"}, ["a/_index.md", "a/b/_index.md"]),
                ({"kind": "", "environment": ""}, "everything"),
                ({"environment": "prod*"}, "everything"),
                ({"path": "!/a/x"}, "everything"),
            )
        ),
        ({"a/one.md": {"cascade": {"draft": True}}}, []),
        ({"a/_index.md": {"cascade": "draft"}}, []),
    ],
)
def test_a_section_hands_down_that_pages_are_drafts(
    front: dict[str, dict[str, object]], expected: list[str] | str, tmp_path: Path
) -> None:
    below = ["a/_index.md", "a/b/_index.md", "a/b/two.md", "a/one.md"]
    assert sorted(held(tmp_path, "hugo.toml", front)) == (below if expected == "everything" else expected)


IN_B = ["a/b/_index.md", "a/b/two.md"]


@pytest.mark.parametrize(
    ("settings_file", "text", "expected"),
    [
        ("hugo.toml", '[[cascade]]\ndraft = true\n[cascade.target]\npath = "/a/b/**"', IN_B),
        ("hugo.yaml", "Cascade:\n  _target: {path: /a/one*}\n  build: {render: never}", ["a/one.md"]),
        (
            "config/_default/hugo.toml",
            "[cascade]\ndraft = true",
            ["a/_index.md", "a/_posts/p.md", *IN_B, "a/one.md", "c.md"],
        ),
        ("config/_default/cascade.yaml", "- {draft: true, target: {path: /c*}}", ["c.md"]),
        ("config.toml", 'BaseURL = "/"\n[[cascade]]\ndraft = true\n_target = {path = "/c*"}', ["c.md"]),
        (
            "config.json",
            '{\n "baseURL": "/",\n "cascade": {"draft": true, "target": {"path": "/c*"}}}',
            ["c.md"],
        ),
        ("config.json", '{"baseURL":"/","cascade":{"draft":true,"target":{"path":"/c*"}}}', ["c.md"]),
        ("config.json", '{"cascade":{"draft":true,"target":{"path":"/c*"}},"baseurl":"/"}', ["c.md"]),
        ("config.toml", 'base_url = "/"\n[[cascade]]\ndraft = true', []),
        ("hugo.toml", "cascade = [", sorted([*BELOW, "a/_posts/p.md"])),
        ("hugo.toml", "title = [", []),
        ("_config.yml", "defaults: [{scope: {path: a/b}, values: {published: false}}]", IN_B),
        ("_config.yml", "defaults: [{scope: {path: content/c.md}, values: {published: false}}]", ["c.md"]),
        (
            "_config.yml",
            "defaults: [{scope: {path: '', type: posts}, values: {published: false}}]",
            ["a/_posts/p.md"],
        ),
        ("dendron.yml", "publishing: {hierarchy: {root: {publishByDefault: true}}}", []),
        (
            "dendron.yml",
            "publishing: {hierarchy: {root: {publishByDefault: {v: false}}, one: {publishByDefault: true},"
            " two: {publishByDefault: false}}}",
            ["a/_index.md", "a/_posts/p.md", *IN_B, "a/shown.md", "c.md"],
        ),
        (
            "_config.yml",
            "defaults: [{scope: {path: '', type: posts}, values: {published: false}},"
            " {scope: {path: ''}, values: {published: true}}]",
            ["a/_posts/p.md"],
        ),
        (
            "_config.yml",
            "defaults: [{scope: {path: a/b}, values: {published: true}},"
            " {scope: {path: a}, values: {published: false}}]",
            ["a/_index.md", "a/_posts/p.md", "a/one.md", "a/shown.md"],
        ),
    ],
)
def test_the_settings_of_the_site_hand_down_that_pages_are_drafts(
    settings_file: str, text: str, expected: list[str], tmp_path: Path
) -> None:
    assert sorted(held(tmp_path, settings_file, {"a/_posts/p.md": {}}, text)) == expected


@pytest.mark.parametrize("pattern", ["/d/my-page", "/D/My Page*", "/d/my-page.de", "/d/*-page.md"])
def test_a_target_matches_the_path_that_hugo_makes_of_a_name(pattern: str, tmp_path: Path) -> None:
    names = ["d/My Page.de.md"] if "*-" not in pattern else ["d/My Page.md"]
    cascade = f"[cascade]\ndraft = true\n[cascade.target]\npath = '{pattern}'"
    assert held(tmp_path, "hugo.toml", {name: {} for name in names}, cascade) == names


def test_settings_of_one_tool_are_not_asked_for_what_another_hands_down(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("defaults: [")
    assert held(tmp_path, "hugo.toml", {}, "title = 'T'") == []


def test_a_cascade_says_nothing_in_other_folders(tmp_path: Path) -> None:
    assert held(tmp_path, "book.toml", {"a/_index.md": {"cascade": {"draft": True}}}) == []


@pytest.mark.parametrize("shards", ["", "[shards]\ncount = 4\n"], ids=["whole", "shards"])
def test_pages_below_a_hidden_section_are_in_no_snapshot(tmp_path: Path, shards: str) -> None:
    (tmp_path / "content/a").mkdir(parents=True)
    (tmp_path / "hugo.toml").write_text('title = "T"\n')
    (tmp_path / "content/a/_index.md").write_text("---\ntitle: A\ncascade:\n  draft: true\n---\n")
    (tmp_path / "content/a/one.md").write_text("# One\n\nSecret.\n")
    (tmp_path / "content/c.md").write_text("# C\n\nShown.\n")
    (tmp_path / "noctule.toml").write_text(
        f'[collections.docs]\nroot = "content"\n{in_this_process()}{shards}'
    )
    report = api.index(config=tmp_path / "noctule.toml", store=tmp_path / "store")
    with Store(tmp_path / "store").open() as snapshot:
        assert snapshot.table("documents")["path"].to_pylist() == ["c.md"]
    why = "is a draft (draft: true, by the cascade of a section)"
    assert {each.path: each.reason for each in report.rejections} == {"a/_index.md": why, "a/one.md": why}
