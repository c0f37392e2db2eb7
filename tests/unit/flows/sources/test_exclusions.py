"""What lists of files in a tool's own settings leave out is in no snapshot, without settings of ours."""

from __future__ import annotations

import errno
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.flows.sources.data_lists import myst_lists
from noctule.flows.sources.exclusions import exclusions_of
from noctule.flows.sources.publishing_rules import rules_of
from noctule.flows.sources.withheld import withheld
from noctule.pipeline.errors import SourceError
from noctule.pipeline.model import ReportEntry
from noctule.pipeline.settings.reading import parse as parse_settings
from tests.processor_time import processor_seconds

PATHS = ["README.md", "guide/README.md", "guide/_part.md", "guide/open.md", "internal/plan.md", "open.md"]


def rejections(tmp_path: Path, root: str, files: dict[str, str], drafts: bool = False) -> list[ReportEntry]:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    folder = tmp_path / root
    folder.mkdir(parents=True, exist_ok=True)
    given = {"root": str(folder), "drafts": drafts}
    settings = parse_settings({"collections": {"docs": given}}, "test")
    rows = [{"collection": "docs", "path": path, "front_matter": "{}"} for path in PATHS]
    return withheld(pa.table({"documents": [rows]}), (), settings, rules_of(settings), "2026-11-25")


def left_out(tmp_path: Path, root: str, name: str, text: str) -> list[str]:
    """Return the documents that a settings file leaves out; no part of it is unknown."""
    found = rejections(tmp_path, root, {name: text})
    assert all(each.kind == "skipped" and name.rpartition("/")[2] in each.reason for each in found)
    assert rejections(tmp_path, root, {name: text}, drafts=True) == []
    return [each.path for each in found]


VITEPRESS, DOCUSAURUS = "docs/.vitepress/config.ts", "docusaurus.config.js"
ADDED = "exclude_patterns = []\nif tags.has('p'):\n  exclude_patterns.append('internal')"
IN_INTERNAL = ["internal/plan.md"]
READMES = ["README.md", "guide/README.md"]
BOTH = ["guide/_part.md", *IN_INTERNAL]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("mkdocs.yml", "exclude_docs: |\n  README.md\n  /internal/\n", sorted([*READMES, *IN_INTERNAL])),
        ("mkdocs.yml", "draft_docs: |\n  internal/\n", IN_INTERNAL),
        ("mkdocs.yml", "exclude_docs: |\n  *.md\n  !open.md\n", [e for e in PATHS if "open" not in e]),
        ("mkdocs.yml", "not_in_nav: internal/\n", []),
        ("docs/.obsidian/templates.json", '{"folder": "internal"}', IN_INTERNAL),
        (
            "docs/.obsidian/plugins/templater-obsidian/data.json",
            '{"templates_folder": "internal"}',
            IN_INTERNAL,
        ),
        ("docs/.obsidian/app.json", '{"userIgnoreFilters": ["internal/"], "x": 1}', IN_INTERNAL),
        (
            "docs/.obsidian/app.json",
            '{"userIgnoreFilters": ["/_part/", "open.md"]}',
            ["guide/_part.md", "open.md"],
        ),
        ("docs/.obsidian/app.json", '{"userIgnoreFilters": null}', []),
        ("docs/.obsidian/app.json", '{"userIgnoreFilters": ["*.md"]}', []),
        ("docs/.obsidian/publish.json", '{"excluded": ["internal"], "included": []}', IN_INTERNAL),
        ("docs/.obsidian/app.json", '{"userIgnoreFilters": [', PATHS),
        ("docs/logseq/config.edn", '{:hidden ["/internal"] ; "guide"\n}', IN_INTERNAL),
        ("logseq/config.edn", '{:hidden ["docs/open.md"]}', ["open.md"]),
        ("docs/logseq/config.edn", '{;:hidden ["internal"]\n}', []),
        ("docs/logseq/config.edn", "{:hidden #{}}", PATHS),
        ("mkdocs.yml", "docs_dir: other\nexclude_docs: internal/\n", []),
        ("mkdocs.yml", "docs_dir: ./docs/\nexclude_docs: internal/\n", IN_INTERNAL),
        ("mkdocs.yml", "exclude_docs: [\n", PATHS),
        ("mkdocs.yml", "nav: [\n", []),
        ("zensical.toml", '[project]\nexclude_docs = "internal/"\n', IN_INTERNAL),
        ("docs/_config.yml", "exclude: [internal, '*.txt']", IN_INTERNAL),
        ("_config.yml", "source: docs\nexclude: [README.md]", ["README.md"]),
        ("docs/_config.yml", "exclude: ['*README.md']", READMES),
        ("docs/_config.yml", "exclude: ['*/README.md']", READMES[1:]),
        ("docs/_config.yml", "exclude: [int]", IN_INTERNAL),
        ("docs/conf.py", "exclude_patterns = ['guide/**.md']", sorted(e for e in PATHS if e[:5] == "guide")),
        ("docs/conf.py", "exclude_patterns = ['x'] + (['internal'] if a else [])", IN_INTERNAL),
        ("mkdocs.yml", "exclude_docs: [internal]\n", PATHS),
        ("mkdocs.yml", f"exclude_docs: 0x{'F' * 5_000}\n", PATHS),
        ("mkdocs.yml", "exclude_docs: '*a*a*a*a*a*a*b'\n", PATHS),
        ("docs/_config.yml", "sphinx: {}\nexclude_patterns: ['**/README.md']", ["guide/README.md"]),
        ("docs/conf.py", "exclude_patterns = ['internal', 'other']", IN_INTERNAL),
        ("docs/conf.py", "\ufeffexclude_patterns = ['internal']", IN_INTERNAL),
        ("docs/conf.py", "def f():\n  exclude_patterns = ['internal']\n  return exclude_patterns", []),
        (
            "docs/conf.py",
            "def f():\n  global exclude_patterns\n  exclude_patterns = ['internal']",
            IN_INTERNAL,
        ),
        (
            "docs/conf.py",
            "def setup(app):\n  app.config.exclude_patterns.append('internal')",
            IN_INTERNAL,
        ),
        ("docs/conf.py", "other.exclude_patterns.append('internal')", []),
        ("docs/conf.py", "include_patterns = ['guide/**', 'open.md']", ["README.md", *IN_INTERNAL]),
        ("docs/conf.py", "include_patterns = ['**']", []),
        ("mkdocs.yml", "exclude_docs: '!/internal/'", []),
        (
            "mkdocs.yml",
            "plugins: [search, exclude: {glob: [int*, 'guide/_*']}]",
            BOTH,
        ),
        ("mkdocs.yml", "plugins: {exclude: {regex: ['.*/_.*', 'int.*md$', 'part']}}", BOTH),
        ("mkdocs.yml", "plugins: [exclude: {regex: '(?=x)'}]", PATHS),
        ("mkdocs.yml", "# inherited, exclude_docs\nnav: [\n", []),
        ("mkdocs.yml", "{INHERIT: x, nav: [\n", PATHS),
        (
            "docs/myst.yml",
            "project: {exclude: [internal/*.md, '**/_*.md']}",
            BOTH,
        ),
        ("docs/myst.yml", "project: {exclude: internal/**}", IN_INTERNAL),
        ("docs/myst.yml", "project: {exclude: ['@(a|b)']}", PATHS),
        (
            "docs/myst.yml",
            "project: {toc: [{file: open, hidden: true}, {pattern: 'guide/*', children: [{file: README}]}]}",
            IN_INTERNAL,
        ),
        ("docs/myst.yml", "project: {toc: [", PATHS),
        ("docs/conf.py", "exclude_patterns: list[str] = []\nexclude_patterns += ['*/README*']", READMES[1:]),
        ("docs/conf.py", "exclude_patterns = ['**README.md']", READMES),
        ("docs/conf.py", "HIDDEN = ['internal']\nexclude_patterns = ['x', *HIDDEN] + ['y']", IN_INTERNAL),
        (
            "docs/conf.py",
            "exclude_patterns = []\nif tags.has('p'):\n  exclude_patterns.append('internal')",
            IN_INTERNAL,
        ),
        ("conf.py", "exclude_patterns = ['docs/internal/*']", IN_INTERNAL),
        (
            "docs/.vitepress/config.mts",
            "export default define({ srcExclude: ['**/{README,X}.md'] })",
            READMES,
        ),
        (
            ".vitepress/config.js",
            "module.exports = { srcDir: 'docs', srcExclude: ['README.md'] }",
            READMES[:1],
        ),
        (
            "docs/.vuepress/config.js",
            "export default { pagePatterns: ['**/*.md', '!internal'] }",
            IN_INTERNAL,
        ),
        ("hugo.toml", 'ignoreFiles = ["/internal/", "_part"]', BOTH),
        ("hugo.toml", 'ignoreFiles = ["("]', PATHS),
        (
            "docusaurus.config.js",
            "module.exports = {'plugins': [['docs', {}], ['x-docs', {'exclude': ['internal/**']}]]}",
            IN_INTERNAL,
        ),
        (
            "docs/.vitepress/config.ts",
            "export default defineConfigWithTheme<T<X>>({ srcExclude: ['internal'] })",
            IN_INTERNAL,
        ),
        (
            "docs/.vitepress/config.ts",
            "export default { srcExclude: ['internal', ''].filter(Boolean) }",
            IN_INTERNAL,
        ),
        (
            "docs/.vitepress/config.ts",
            "export default async () => ({ srcExclude: ['internal'] })",
            IN_INTERNAL,
        ),
        (
            "docs/.vitepress/config.ts",
            "const left = () => ['internal']\nconst all = { srcExclude: [...left()] }\n"
            "export default { ...all }",
            IN_INTERNAL,
        ),
        (
            "docusaurus.config.js",
            "module.exports = async function f() { const docs = { exclude: ['internal/**'] };\n"
            "  return { presets: [['classic', { docs }]] }; }",
            IN_INTERNAL,
        ),
        (
            "docusaurus.config.js",
            "module.exports = { presets: [['classic', { docs: { exclude: ['**/_*.{js,md}'] } }]] }",
            ["guide/_part.md"],
        ),
        (
            "docusaurus.config.ts",
            "export default { plugins: [['@docusaurus/plugin-content-docs', { exclude: ['internal/**'] }]] }",
            IN_INTERNAL,
        ),
    ],
)
def test_what_the_settings_leave_out_is_private(
    name: str, text: str, expected: list[str], tmp_path: Path
) -> None:
    assert sorted(left_out(tmp_path, "docs", name, text)) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [("_config.yml", "exclude: [docs, src]"), ("conf.py", "exclude_patterns = ['docs']")],
)
def test_a_list_that_leaves_the_whole_folder_out_is_of_another_tool(
    name: str, text: str, tmp_path: Path
) -> None:
    [found] = rejections(tmp_path, "docs", {name: text})
    assert found.kind != "skipped" and "whole folder" in found.reason


def test_hostile_lists_of_scripts_take_no_time(tmp_path: Path) -> None:
    began = processor_seconds()
    chain = "".join(f"a{at} = [{', '.join([f'a{at + 1}'] * 10)}]\n" for at in range(12))
    files = {
        "docs/conf.py": f"{chain}a12 = ['internal']\nexclude_patterns = a0 + ['*a*a*a*a*a*a*a*b']\n",
        "docs/.vitepress/config.js": f"export default {{ srcExclude: ['{{{',' * 40_000}'] }}",
    }
    found = rejections(tmp_path, "docs", files)
    assert [each.path for each in found if each.kind == "skipped"] == IN_INTERNAL
    assert len(found) == 3, "and two remarks"
    assert processor_seconds() - began < 3


def test_a_project_has_its_documents_in_a_folder(tmp_path: Path) -> None:
    files = {"mkdocs.yml": "docs_dir: guide\nexclude_docs: README.md\n"}
    assert [each.path for each in rejections(tmp_path, ".", files)] == ["guide/README.md"]


def test_a_part_of_the_documents_is_below_the_settings(tmp_path: Path) -> None:
    files = {"mkdocs.yml": "exclude_docs: /en/internal/\n"}
    assert [each.path for each in rejections(tmp_path, "docs/en", files)] == IN_INTERNAL


def test_settings_of_mkdocs_are_inherited(tmp_path: Path) -> None:
    files = {"de/mkdocs.yml": "INHERIT: ../base.yml\n", "base.yml": "exclude_docs: internal/\n"}
    assert [each.path for each in rejections(tmp_path, "de/docs", files)] == IN_INTERNAL


@pytest.mark.parametrize(("said", "expected"), [("true", BOTH), ("false", [])])
def test_jupyter_book_builds_what_its_contents_name(said: str, expected: list[str], tmp_path: Path) -> None:
    files = {
        "docs/_config.yml": f"only_build_toc_files: {said}\n",
        "docs/_toc.yml": "format: jb-book\nroot: README\nchapters:\n- file: guide/README\n"
        "  sections: [{file: guide/open}, {file: open.md}]\n",
    }
    assert [each.path for each in rejections(tmp_path, "docs", files)] == expected


@pytest.mark.parametrize(
    "root",
    ["versioned_docs/version-1.0", "i18n/de/docusaurus-plugin-content-docs/current", "docs"],
)
def test_docusaurus_excludes_also_in_versions_and_translations(root: str, tmp_path: Path) -> None:
    text = "module.exports = { presets: [['classic', { docs: { exclude: ['internal/**'] } }]] }"
    files = {"docusaurus.config.js": text}
    assert [each.path for each in rejections(tmp_path, root, files)] == IN_INTERNAL


def test_a_further_plugin_of_docusaurus_has_versions_and_a_blog_translations(tmp_path: Path) -> None:
    text = (
        "module.exports = { plugins: [['@docusaurus/plugin-content-docs', { id: 'api', path: 'api',"
        " exclude: ['guide/_*'] }], ['@docusaurus/plugin-content-blog', { exclude: ['internal/**'] }]] }"
    )
    for root, left in (
        ("api_versioned_docs/version-2", BOTH[:1]),
        ("i18n/de/docusaurus-plugin-content-docs-api/current", BOTH[:1]),
        ("i18n/de/docusaurus-plugin-content-blog", IN_INTERNAL),
        ("versioned_docs/version-2", []),
    ):
        held = rejections(tmp_path, root, {"docusaurus.config.js": text})
        assert [each.path for each in held] == left


def test_the_nearest_conf_that_has_patterns_counts(tmp_path: Path) -> None:
    outer = {"conf.py": "exclude_patterns = ['docs/internal']\n", "docs/conf.py": "project = 'T'\n"}
    assert [each.path for each in rejections(tmp_path, "docs", outer)] == IN_INTERNAL
    files = {"docs/conf.py": "exclude_patterns = ['guide/_part.md']\n"}
    assert [each.path for each in rejections(tmp_path, "docs", files)] == BOTH[:1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config/production/hugo.toml", 'ignoreFiles = ["/internal/"]'),
        (
            "hugo.toml",
            '[[module.mounts]]\nsource = "docs"\ntarget = "content"\nexcludeFiles = ["/internal/**"]',
        ),
        (
            "config/_default/module.yaml",
            "mounts: [{source: docs, target: content/en, excludeFiles: internal/*}]",
        ),
        ("hugo.toml", '[[module.mounts]]\nsource = "docs"\ntarget = "content"\nexcludeFiles = "@(a)"'),
    ],
)
def test_hugo_leaves_files_out_of_what_it_mounts(name: str, text: str, tmp_path: Path) -> None:
    files = {"hugo.toml": "baseURL = 'https://e.org'\n"} | {name: text}
    expected = PATHS if "@" in text else IN_INTERNAL
    assert [each.path for each in rejections(tmp_path, "docs", files)] == expected


def test_contents_that_name_nothing_of_the_collection_are_of_other_documents(tmp_path: Path) -> None:
    [found] = rejections(tmp_path, "docs", {"myst.yml": "project: {toc: [{file: README.md}]}"})
    assert found.kind == "noted" and "names no document" in found.reason
    files = {"myst.yml": "project: {toc: [{file: docs/README.md}, {file: docs/guide/README}]}"}
    held = rejections(tmp_path, "docs", files)
    assert sorted(each.path for each in held) == sorted({*PATHS} - {*READMES})


@pytest.mark.parametrize("more", ["", f", 0x{'f' * 5_000}"])
def test_dendron_publishes_the_hierarchies_that_it_names(tmp_path: Path, more: str) -> None:
    files = {"dendron.yml": f"publishing: {{siteHierarchies: [open{more}]}}\n"}
    assert {each.path for each in rejections(tmp_path, "vault", files)} == {
        path for path in PATHS if not path.endswith("open.md")
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs/conf.py", "exclude_patterns = ['internal', *found()]"),
        ("docs/conf.py", "exclude_patterns = ['internal']\nexclude_patterns.extend(x for x in y)"),
        ("docs/conf.py", "exclude_patterns = ['internal', '[z']"),
        ("docs/conf.py", "exclude_patterns = ['internal']\ninclude_patterns = ['guide/**', *found()]"),
        ("docs/.vitepress/config.ts", "export default { srcExclude: ['internal/**', ...others] }"),
        ("docs/.vitepress/config.ts", "export default { srcExclude: ['internal/**', '@(a|b)'] }"),
    ],
)
def test_what_a_script_computes_is_published_and_named(name: str, text: str, tmp_path: Path) -> None:
    held = rejections(tmp_path, "docs", {name: text})
    assert [each.path for each in held if each.kind == "skipped"] == IN_INTERNAL
    noted = [each.reason for each in held if each.kind == "noted"]
    assert len(noted) == 1 and name.removeprefix("docs/") in noted[0]
    assert rejections(tmp_path, "docs", {name: text}, drafts=True) == []


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        (VITEPRESS, "export default {\n  srcExclude: x.Y ? [] : ['internal'] }", "line 2"),
        (VITEPRESS, "export default { srcExclude: [\n ...(x ? ['internal'] : y()), 'z'] }", "line 2"),
        (VITEPRESS, "const a = ['internal']\nif (x) a.push('y')\nexport default { srcExclude: a }", "line 3"),
        (VITEPRESS, "export default {\n  srcExclude: x || (y ?? ['internal']) }", "line 2"),
        (
            VITEPRESS,
            "module.exports = { srcExclude: ['internal'] }\nmodule.exports.srcExclude.push(x)",
            "line 1",
        ),
        (VITEPRESS, "export default {\n  srcExclude: ['internal', x()] }", "line 2"),
        (VITEPRESS, "export default { srcExclude: ['internal'],\n ...x() }", "line 2"),
        (VITEPRESS, "export default { srcExclude: ['internal'], a: [1, }", "line 1"),
        (VITEPRESS, "import { shared } from './b'\nexport default shared", "docs/.vitepress/b.ts, line 3"),
    ],
)
def test_what_is_not_known_of_a_list_is_named_with_its_place(
    name: str, text: str, place: str, tmp_path: Path
) -> None:
    beside = "export const shared = {\n  srcExclude: ['internal',\n    x()] }"
    held = rejections(tmp_path, "docs", {name: text, "docs/.vitepress/b.ts": beside})
    assert [each.path for each in held if each.kind == "skipped"] == IN_INTERNAL
    [noted] = [each.reason for each in held if each.kind == "noted"]
    assert "is published" in noted and place.removeprefix("docs/") in noted


@pytest.mark.parametrize(
    ("name", "text", "bases"),
    [
        (VITEPRESS, "export default {\n srcDir: x.DOCS || 'guide', srcExclude: ['_*'] }", ["guide/_part.md"]),
        (VITEPRESS, "export default {\n srcDir: x ? '.' : 'internal', srcExclude: ['plan.md', 'open.md'] }",
         ["internal/plan.md", "open.md"]),
        (VITEPRESS, "export default {\n srcDir: x.DOCS, srcExclude: ['internal/**'] }", IN_INTERNAL),
        (DOCUSAURUS, "module.exports = { presets: [['classic', { docs: {\n path: x ? 'docs' : 'docs/guide',"
         " exclude: ['_*', 'open.md'] } }]] }", ["guide/_part.md", "guide/open.md", "open.md"]),
    ],
)  # fmt: skip
def test_a_list_is_of_every_folder_that_may_be_its_own(
    name: str, text: str, bases: list[str], tmp_path: Path
) -> None:
    held = rejections(tmp_path, "docs", {name: text})
    assert [each.path for each in held if each.kind == "skipped"] == bases
    [noted] = [each.reason for each in held if each.kind == "noted"]
    assert "line 2" in noted and name.removeprefix("docs/") in noted and "is published" in noted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (VITEPRESS, "const a: string[] = ['x']\nconst b: string[] = a\nb.push('internal')\n"
         "export default { srcExclude: a }"),
        (VITEPRESS, "import { make } from './b'\nexport default { ...make(1) }"),
        (VITEPRESS, "import { withX } from './b'\nexport default withX({})"),
        (VITEPRESS, "import * as b from './b'\nexport default { ...b.shared }"),
        ("docs/.vuepress/config.js", "export default { pagePatterns: ['*.md', ...(x ? ['internal'] : [])] }"),
        (DOCUSAURUS, "const plugin = make('exclude')\nmodule.exports = { plugins: [plugin, 'x'] }"),
        (DOCUSAURUS, "module.exports = { plugins: [[make(), { exclude: ['internal/**'] }]] }"),
        (DOCUSAURUS, "module.exports = { plugins: [['./blog-plugin', { path: 'a', exclude: ['x.md'] }]] }"),
        (DOCUSAURUS, "module.exports = { presets: [['classic', { docs: { exclude: ['x/**'] } }]] }\n"
         "module.exports.presets[0][1].docs.exclude.push('internal/**')"),
    ],
)  # fmt: skip
def test_what_may_leave_something_out_is_never_published_without_a_remark(
    name: str, text: str, tmp_path: Path
) -> None:
    beside = "const a = { srcExclude: ['internal'] }\nexport const make = (x) => a\n"
    files = {name: text, "docs/.vitepress/b.ts": f"{beside}export const withX = (x) => ({{ ...a, ...x }})"}
    [noted] = rejections(tmp_path, "docs", files)
    assert noted.kind == "noted" and "published" in noted.reason


def test_a_script_that_cannot_be_read_makes_nothing_private(tmp_path: Path) -> None:
    held = rejections(tmp_path, "docs", {"docs/conf.py": "exclude_patterns = [\n"})
    assert [(each.kind, each.path) for each in held] == [("noted", ".")]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"docs/myst.yml": "project: {toc: [{file: README.md}, {pattern: './guide/*.md'}]}"},
            ["internal/plan.md", "open.md"],
        ),
        ({"docs/myst.yml": "project: {toc: [{file: README.md}, {pattern: '{guide,internal}/*.md'}]}"}, []),
        ({"docs/myst.yml": f"project: {{toc: [{{file: README.md}}, {{url: 'https://x.y/{'z' * 1_200}'}}]}}"},
         [each for each in PATHS if each != "README.md"]),
        (
            {
                "myst.yml": "project: {toc: [{file: README.md}, {file: docs/README.md}]}",
                "docs/myst.yml": "project: {toc: [{file: README.md}, {file: guide/open.md}]}",
            },
            ["guide/README.md", "guide/_part.md", "internal/plan.md", "open.md"],
        ),
        (
            {
                "docs/myst.yml": "project: {exclude: ['guide/**'], toc: [{file: README.md}, {file: open.md},"
                " {pattern: 'guide/*.md'}, {file: guide/open.md}, {file: internal/plan.md}]}"
            },
            ["guide/README.md", "guide/_part.md"],
        ),
        ({"docs/myst.yml": "project: {toc: [{file: README.md}, " + "{children: [" * 16 + "{file: open.md}"
          + "]}" * 16 + "]}"}, []),
        (
            {
                "hugo.yaml": "module: {mounts: [{source: docs, target: content, excludeFiles: 'internal/**'},"
                " {source: docs, target: content, includeFiles: 'internal/**'}]}"
            },
            [],
        ),
        ({"docs/conf.py": "exclude_patterns = ['a']\nx = " + "+".join(["'a'"] * 2_000)}, []),
    ],
)  # fmt: skip
def test_what_a_tool_publishes_is_not_left_out(
    files: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    found = rejections(tmp_path, "docs", files)
    assert [each.path for each in found if each.kind == "skipped"] == expected
    assert expected or [each.kind for each in found] == ["noted"]


def test_a_table_of_contents_leaves_out_no_file_that_its_tool_does_not_build(tmp_path: Path) -> None:
    (tmp_path / "myst.yml").write_text("project: {toc: [{file: README.md}]}")
    [_, found] = myst_lists([tmp_path], tmp_path)
    assert "*.md" in found.patterns and not any(each in ("*", "*.*", "*.py") for each in found.patterns)


def test_contents_of_many_documents_take_no_time(tmp_path: Path) -> None:
    entries = "".join(f"- file: ./part/p{number}.md\n" for number in range(19_000))
    (tmp_path / "_config.yml").write_text("only_build_toc_files: true\n")
    (tmp_path / "_toc.yml").write_text(f"root: index\nchapters:\n{entries}- glob: guide/*\n")
    began = processor_seconds()
    [found] = exclusions_of(tmp_path, [tmp_path], ()).exclusions
    named = [f"part/p{number}.rst" for number in range(19_000)]
    assert not any(map(found.matches, [*named, "index.md", "guide/a/b.md", "part/p1.de.md", "x.png"]))
    assert all(map(found.matches, ["part/p20000.md", "part/p.md", "guide.md", "p1.md"]))
    assert processor_seconds() - began < 6


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mkdocs.yml", "plugins:\n- search\n- exclude:\n    glob: [internal/*]\nnav: [\n"),
        ("mkdocs.yml", "plugins: [search, exclude: {glob: internal/*}]\nnav: [\n"),
        ("mkdocs.yml", "plugins:\n  'exclude': {regex: internal}\nnav: [\n"),
        ("zensical.toml", "[project.plugins.exclude]\nglob = 'internal/*'\n[\n"),
    ],
)
def test_broken_settings_that_exclude_something_make_all_private(
    name: str, text: str, tmp_path: Path
) -> None:
    assert left_out(tmp_path, "docs", name, text) == PATHS


def test_a_list_in_a_script_that_another_imports_counts(tmp_path: Path) -> None:
    files = {
        "docs/.vitepress/config/index.ts": "import { all } from './all'\nexport default { ...all }",
        "docs/.vitepress/config/all.ts": "export const all = { srcExclude: ['internal'] }",
    }
    assert [each.path for each in rejections(tmp_path, "docs", files)] == IN_INTERNAL


IN_PRESET = "module.exports = { presets: [['classic', { docs: %s }]] }"
NAMED = "import s from './s'\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (VITEPRESS, f"{NAMED}export default {{ ...s }}"),
        (VITEPRESS, f"{NAMED}export default s"),
        (VITEPRESS, "import * as s from '../a'\nexport default { ...s }"),
        (VITEPRESS, "import s from '../../../../outside'\nexport default { ...s }"),
        (VITEPRESS, "import s from '../large'\nexport default { ...s }"),
        (VITEPRESS, "import s from '../a'\nexport default { ...s, title: 'T' }"),
        (VITEPRESS, "export { default } from '../a'"),
        ("docs/.vuepress/config.js", f"{NAMED}export default {{ ...s }}"),
        (DOCUSAURUS, NAMED + IN_PRESET % "s"),
        (DOCUSAURUS, NAMED + IN_PRESET % "{ ...s }"),
        (DOCUSAURUS, f"{NAMED}module.exports = {{ presets: s }}"),
        (DOCUSAURUS, f"{NAMED}module.exports = {{ plugins: [['x-content-docs', s]] }}"),
        (DOCUSAURUS, f"{NAMED}module.exports = {{ plugins: [s, 'x'], presets: ['classic'] }}"),
        (DOCUSAURUS, f"{NAMED}module.exports = {{ plugins: [[s, {{ ...s }}]] }}"),
    ],
)
def test_what_an_import_may_exclude_that_is_not_followed_is_named(
    name: str, text: str, tmp_path: Path
) -> None:
    files = {name: text, "docs/large.ts": " " * 2_100_000, "docs/a.ts": "export default shared(1)"}
    [noted] = rejections(tmp_path, "docs", files)
    assert noted.kind == "noted" and "published" in noted.reason


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (VITEPRESS, f"{NAMED}export default {{ title: s, themeConfig: {{ sidebar: s() }} }}"),
        (VITEPRESS, "import { defineConfig } from 'vitepress'\nexport default defineConfig(f(1))"),
        (DOCUSAURUS, NAMED + IN_PRESET % "{ sidebarPath: s }"),
        (DOCUSAURUS, NAMED + IN_PRESET % "false"),
        (
            DOCUSAURUS,
            f"{NAMED}module.exports = {{ title: s, plugins: [() => 1, 'x'], presets: ['classic'] }}",
        ),
    ],
)
def test_an_import_that_excludes_nothing_is_not_named(name: str, text: str, tmp_path: Path) -> None:
    assert rejections(tmp_path, "docs", {name: text}) == []


def test_what_stands_before_something_unknown_holds_with_a_remark(tmp_path: Path) -> None:
    text = "import s from 'x'\nexport default { srcExclude: ['internal'], ...s }"
    found = rejections(tmp_path, "docs", {VITEPRESS: text})
    assert sorted((each.kind, each.path) for each in found) == [("noted", "."), ("skipped", *IN_INTERNAL)]


def test_a_preset_of_docusaurus_may_have_a_computed_name(tmp_path: Path) -> None:
    text = "module.exports = { presets: [[require.resolve('x'), { docs: { exclude: ['internal/**'] } }]] }"
    assert left_out(tmp_path, "docs", DOCUSAURUS, text) == IN_INTERNAL


def test_a_constant_of_a_function_does_not_replace_what_is_excluded(tmp_path: Path) -> None:
    text = "const srcExclude = ['internal']\nfunction nav() { const srcExclude = ['y']; return srcExclude }\n"
    assert left_out(tmp_path, "docs", VITEPRESS, f"{text}export default {{ nav: nav(), srcExclude }}") == (
        IN_INTERNAL
    )


def test_a_script_that_is_away_for_a_moment_stops_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(path: Path, most: int, within: Path | None = None) -> bytes:
        raise OSError(errno.ESTALE, "stale")

    monkeypatch.setattr("noctule.pipeline.navigation.script_imports.read_regular", away)
    with pytest.raises(SourceError):
        rejections(tmp_path, "docs", {VITEPRESS: f"{NAMED}export default {{ ...s }}"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hugo.yaml", "cascade: [{draft: 0x@, target: {path: 0x@, kind: 0x@, type: 0x@}}]"),
        ("hugo.yaml", "cascade: [{draft: [0x@]}, {publish: false}]"),
        ("_config.yml", "defaults: [{scope: {path: 0x@, type: 0x@}, values: {published: false}}]"),
    ],
    ids=["cascade", "list", "defaults"],
)
def test_numbers_of_thousands_of_digits_hide_what_they_may_hide(name: str, text: str, tmp_path: Path) -> None:
    files = {"docs/hugo.yaml": "baseURL: x\n"} if name == "hugo.yaml" else {}
    held = rejections(tmp_path, "docs", files | {f"docs/{name}": text.replace("@", "f" * 5_000)})
    assert sorted(each.path for each in held if each.kind == "skipped") == PATHS
