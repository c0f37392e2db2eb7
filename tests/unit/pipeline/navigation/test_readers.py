"""Tables of contents of other tools, read as those tools read them, and never run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import pytest

from noctule.pipeline.navigation.entry import MAX_ENTRIES, Contents, NavEntry
from noctule.pipeline.navigation.literals import UNREAD
from noctule.pipeline.navigation.myst_files import read_myst, read_toc
from noctule.pipeline.navigation.script_imports import Script
from noctule.pipeline.navigation.sidebars import read_docusaurus, read_vitepress
from noctule.pipeline.navigation.site_scripts import read_mintlify, read_starlight, read_vuepress
from noctule.pipeline.navigation.summary import read_summary
from noctule.pipeline.navigation.toctree import toctrees
from noctule.pipeline.navigation.yaml_files import (
    read_category,
    read_data,
    read_mkdocs,
    read_pages,
    read_zensical,
)
from noctule.pipeline.untrusted import NotRead, read_yaml
from tests.processor_time import processor_seconds
from tests.repetitions import sample
from tests.unit.pipeline.navigation.conftest import exported


def shown(entries: Iterable[NavEntry], depth: int = 0) -> Iterator[str]:
    for entry in entries:
        yield f"{'  ' * depth}{entry.title}|{entry.target}"
        yield from shown(entry.children, depth + 1)


def lines(contents: Contents) -> list[str]:
    return list(shown(contents.entries))


def test_the_nav_of_mkdocs_keeps_titles_sections_links_and_wildcards() -> None:
    text = """
site_name: !ENV [NAME, default]
markdown_extensions:
  - x: {f: !!python/name:pymdownx.superfences.fence_code_format ''}
nav:
  - Home: index.md
  - A &amp; B: features.md
  - Guide:
    - guide/index.md
    - "": [guide/deep/a.md]
    - All: guide/rest/
  - Elsewhere: https://example.org/
  - ...
"""
    assert lines(read_mkdocs(text)) == [
        "Home|index.md", "A & B|features.md", "Guide|", "  |guide/index.md", "  |", "    |guide/deep/a.md",
        "  All|guide/rest/**", "Elsewhere|https://example.org/", "|**",
    ]  # fmt: skip


BOOK = """
format: jb-book
root: intro
parts:
- caption: Guide
  chapters:
  - file: guide/start
    title: Begin
    sections: [{file: guide/more.ipynb}, {glob: guide/rest/*}]
- chapters: [{url: 'https://e.org', title: Web}]
"""
SUBTREES = """
root: intro
subtrees:
- caption: Guide
  entries:
  - {file: guide/start, title: Begin, subtrees: [{entries: [{file: guide/more.ipynb}, {glob: guide/rest/*}]}]}
- items: [{url: 'https://e.org', title: Web}]
"""


@pytest.mark.parametrize("text", [BOOK, SUBTREES])
def test_tables_of_contents_of_jupyter_book_and_sphinx_are_read(text: str) -> None:
    assert lines(read_toc(text)) == [
        "|intro", "Guide|", "  Begin|guide/start", "    |guide/more.ipynb", "    |guide/rest/**", "Web|https://e.org",
    ]  # fmt: skip


def test_tables_of_contents_of_myst_are_read_and_so_are_those_of_old_books() -> None:
    text = "project:\n  toc:\n  - {file: index.md, title: Home}\n  - {title: More, children: [{file: a}]}\n"
    assert lines(read_myst(text + "  - {file: b.md, hidden: true}\n  - {pattern: '*.md'}\n")) == [
        "Home|index.md", "More|", "  |a", "|**",
    ]  # fmt: skip
    assert lines(read_toc("- {file: intro}\n- part: P\n  chapters: [{file: a}]\n- {header: H}\n")) == [
        "|intro", "P|", "  |a", "H|",
    ]  # fmt: skip
    for hostile in ("1", "project: [", "project: {toc: 3}", "root: [a]\nparts: [3, {chapters: 1}]"):
        for reader in (read_toc, read_myst):
            with suppress(NotRead):
                assert lines(reader(hostile)) == []


def test_a_number_of_too_many_digits_is_no_title() -> None:
    entry = f"[{{file: 0x{'f' * 5_000}}}, {{file: a, title: 0x{'f' * 5_000}}}]"
    assert lines(read_toc(entry)) == lines(read_myst(f"project: {{toc: {entry}}}")) == ["|a"]


def test_the_nav_of_zensical_is_read_from_toml() -> None:
    text = '[project]\nnav = [\n{"Home" = [{"Overview" = "index.md"}, "usage.md"]},\n{"Web" = "https://e.org"}]\n'
    assert lines(read_zensical(text)) == ["Home|", "  Overview|index.md", "  |usage.md", "Web|https://e.org"]
    assert lines(read_zensical("[project]\nsite_name = 'x'\n")) == []
    for wrong in ("nav = [", "x = " + "[" * 5_000):
        with pytest.raises(NotRead, match="not TOML"):
            read_zensical(wrong)


def test_inherit_is_a_remark_and_a_file_without_nav_has_no_entries() -> None:
    assert read_mkdocs("INHERIT: ../base.yml\nsite_name: x\n").remarks == (
        "INHERIT is not followed: name the file that holds nav",
    )


def test_tags_of_yaml_are_values_and_run_nothing() -> None:
    assert read_yaml("a: !ENV [X, 3]\nb: !!python/object/apply:os.system ['false']\nc: !x {y: 1}\n") == {
        "a": 3, "b": "false", "c": {"y": 1},
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a: [", "[" * 500, "a: *b", "\t- x", "x: &a [" + "*a," * 50 + "]"])
def test_what_is_no_yaml_or_multiplies_is_refused(text: str) -> None:
    with pytest.raises(NotRead):
        read_yaml(text)


def test_folders_of_docusaurus_and_awesome_pages_have_titles_places_and_orders() -> None:
    category = read_category('{\n\t"label": "Start",\n\t"position": 2\n}', "_category_.json")
    assert (category.title, category.order) == ("Start", 2)
    pages = read_pages("title: Guide\nnav: [b.md, Title: a.md, ...]\n")
    assert (pages.title, list(shown(pages.entries))) == ("Guide", ["|b.md", "Title|a.md", "|**"])


def test_a_data_file_of_jekyll_is_a_list_or_several() -> None:
    assert lines(read_data("- title: A\n  url: /a/\n  children:\n  - {title: B, url: /b/}\n")) == [
        "A|/a/", "  B|/b/",
    ]  # fmt: skip
    assert lines(read_data("nav:\n- section: A\n  items: [{title: B, href: /b/}]\n")) == [
        "A|", "  B|/b/",
    ]  # fmt: skip
    assert lines(read_data("main: [{title: A, url: /a/}]\ndocs: [{title: B, url: /b/}]\n")) == [
        "main|", "  A|/a/", "docs|", "  B|/b/",
    ]  # fmt: skip


SIDEBARS = """
// @ts-check
import type {SidebarsConfig} from '@docusaurus/plugin-content-docs';
const more = [{type: 'doc', id: 'c', label: "It's C"}, 'd'];
const sidebars: SidebarsConfig = {
  main: [
    'intro',
    {type: 'category', label: 'Guide', link: {type: 'doc', id: 'guide'}, items: more},
    {type: 'autogenerated', dirName: 'tutorial'}, /* a comment */
    {type: 'link', label: 'Web', href: 'https://example.org'},
    ...others.map((x) => ({type: 'doc', id: x})),
    {'Short form': ['e']},
  ],
};
export default sidebars;
"""


def test_sidebars_of_docusaurus_are_read_where_they_are_literals() -> None:
    found = read_docusaurus(Script(SIDEBARS, "sidebars.ts"))
    assert lines(found) == [
        "|intro", "Guide|guide", "  It's C|c", "  |d", "|tutorial/**", "Web|https://example.org",
        "Short form|", "  |e",
    ]  # fmt: skip
    assert found.remarks == ("what is not a literal (a call, a condition, an import) is left out (line 11)",)


def test_the_sidebar_of_vitepress_is_read_and_computed_ones_are_a_remark() -> None:
    config = """
import { defineConfig } from 'vitepress'
export default defineConfig({
  title: 'T', markdown: { config(md) { md.use(x, { a: [1, 2] }) } },
  themeConfig: { sidebar: { '/guide/': { base: '/guide/', items: [
    { text: 'One', link: 'one' }, { text: 'More', collapsed: false, items: [{ text: 'Two', link: '/two' }] },
    ] },
    '/api/': [{ text: 'API', link: '/api/' }] } }
})
"""
    assert lines(read_vitepress(Script(config, "config.mts"))) == [
        "One|/guide/one", "More|", "  Two|/guide/two", "API|/api/",
    ]  # fmt: skip
    computed = read_vitepress(
        Script("export default { themeConfig: { sidebar: getSidebar() } }", "config.js")
    )
    assert computed.entries == () and computed.remarks


def test_constants_that_name_each_other_end() -> None:
    assert exported("const a = b; const b = a; export default a") == UNREAD
    doubling = "".join(f"const c{n} = [c{n - 1}, c{n - 1}];" for n in range(1, 60))
    start = processor_seconds()
    read_docusaurus(Script(f"const c0 = ['x'];{doubling}module.exports = {{ s: c59 }};", "sidebars.js"))
    assert processor_seconds() - start < 5


def test_parts_of_a_summary_hold_their_chapters() -> None:
    text = "# Summary\n\n[Preface](p.md)\n\n# Part one\n- [A](a.md)\n  - [`B`](b.md)\n- Draft\n"
    text += "# Two\n- [C](c.md)\n"
    assert lines(read_summary(text)) == [
        "Preface|p.md", "Part one|", "  A|a.md", "    B|b.md", "  Draft|", "Two|", "  C|c.md",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("The *third* and __last__", "The third and last"),
        ("`a*b` of `c*d`", "a*b of c*d"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        (r"\*args\*", "*args*"),
        ("A &amp; *B*&#10;&lt;c&gt; `&amp;` &nope; AT&T", "A & B <c> &amp; &nope; AT&T"),
    ],
)
def test_a_chapter_is_called_as_a_reader_sees_its_title(written: str, name: str) -> None:
    assert lines(read_summary(f"- [{written}](a.md)\n")) == [f"{name}|a.md"]


def test_toctrees_are_found_in_myst() -> None:
    text = "# T\n\n```{toctree}\n:caption: Parts\n:glob:\n\nself\nintro\nNamed <deep/a>\nmore/*\n```\n"
    assert list(shown(toctrees(text, ""))) == ["Parts|", "  |intro", "  Named|deep/a", "  |more/**"]


def test_a_hundred_thousand_entries_are_cut_with_a_remark() -> None:
    found = read_summary("\n".join(f"- [t{n}](p{n}.md)" for n in range(100_000)))
    assert len(found.entries) == MAX_ENTRIES and len(found.remarks) == 1
    found = read_mkdocs("nav: [" + "a.md," * 100_000 + "]")
    assert len(found.entries) == MAX_ENTRIES and len(found.remarks) == 1


@pytest.mark.parametrize("char", sample("[](){}<>`'\"/*-#:!\\ \t\na1.$", 3))
def test_any_one_character_many_times_is_read_in_time_linear_in_its_length(char: str) -> None:
    text, start = char * 80_000, processor_seconds()
    read_summary(text)
    list(toctrees(f"{{toctree}}{text}", ""))
    list(toctrees("", f'"toctree"{text}'))
    exported(f"export default {text}")
    exported(text)
    assert processor_seconds() - start < 5


@pytest.mark.parametrize("pair", ["/*", '"\\', "`${", "[{", "a:", "{a:", "=>", "- ["])
def test_pairs_of_characters_are_read_in_linear_time_too(pair: str) -> None:
    start = processor_seconds()
    exported(f"export default {pair * 20_000}")
    read_summary(pair * 20_000)
    assert processor_seconds() - start < 5


def test_starlights_sidebar_stands_in_a_call() -> None:
    text = """
import starlight from '@astrojs/starlight';
const site = 'https://e.org';
export default defineConfig({
  site,
  integrations: [tailwind(), starlight({
    title: { en: 'T' }, plugins: [starlightLinksValidator(), defineNothing()], defaultLocale: 'root',
    locales: { root: { label: 'English' }, de: { label: 'Deutsch' } },
    sidebar: [
      'start', { slug: 'guides/a', label: 'First' },
      { label: 'Guides', collapsed: true, items: [{ label: 'B', link: '/guides/b/' }, computed()] },
      { label: 'Reference', autogenerate: { directory: 'reference' } },
      { label: 'Elsewhere', link: 'https://e.org/x' },
    ],
  })],
});
"""
    read = read_starlight(Script(text, "astro.config.mjs"))
    assert lines(read) == [
        "|start", "First|guides/a", "Guides|", "  B|guides/b", "Reference|", "  |reference/**",
        "Elsewhere|https://e.org/x", "Deutsch|", "  |de/**",
    ]  # fmt: skip
    assert "not a literal" in read.remarks[0]
    assert "not read" in read_starlight(Script("export default f()", "astro.config.mjs")).remarks[0]


def test_mintlifys_navigation_nests_in_many_ways() -> None:
    text = """{"navigation": {"tabs": [
      {"tab": "Docs", "groups": [
        {"group": "Start", "root": "index",
         "pages": ["quick", {"group": "Deep", "pages": ["a/b"]}, "GET /users"]}
      ]},
      {"tab": "API", "openapi": "x.json"}, {"tab": "Blog", "href": "https://e.org/blog"}]}}"""
    assert lines(read_mintlify(Script(text, "docs.json"))) == [
        "Docs|", "  Start|index", "    |quick", "    Deep|", "      |a/b", "Blog|https://e.org/blog",
    ]  # fmt: skip
    old = '{"navigation": [{"group": "G", "pages": ["a"]}], "tabs": [{"name": "x"}]}'
    assert lines(read_mintlify(Script(old, "mint.json"))) == ["G|", "  |a"]
    assert read_mintlify(Script("[", "docs.json")).remarks == ("it has no navigation",)


def test_vuepress_names_pages_by_texts_pairs_and_prefixes() -> None:
    text = """module.exports = { themeConfig: { sidebar: {
      '/api/': { title: 'API' },
      '/samples/': ['', { title: 'Bars', children: ['bar/a', ['bar/b', 'The b']] }],
      '/': ['', '/guide/', { title: 'Axes', children: ['axes/', 'axes/a'] },
        { text: 'Old', link: 'https://e.org/old', children: fn() }],
    } } };"""
    assert lines(read_vuepress(Script(text, "config.js"))) == [
        "|index", "|guide", "Axes|", "  |axes", "  |axes/a", "Old|https://e.org/old", "|api/**", "|samples",
        "Bars|", "  |samples/bar/a", "  The b|samples/bar/b",
    ]  # fmt: skip
    second = """export default { theme: defaultTheme({ sidebar: [
      { text: 'G', prefix: '/guide/', children: ['one.md', { text: 'Two', link: 'two.md' }] }] }) }"""
    assert lines(read_vuepress(Script(second, "config.ts"))) == [
        "G|",
        "  |guide/one.md",
        "  Two|guide/two.md",
    ]


def test_functions_in_a_script_cost_time_in_proportion_to_their_number() -> None:
    start = processor_seconds()
    read = exported("export default [" + "withA(() => { return 1 })," * 5_000 + "]")
    assert read == [1] * 5_000 and processor_seconds() - start < 4


SCRIPTS = {
    ".vitepress/config/index.ts": """
import { defineConfig } from 'vitepress'
import { shared } from './shared'
import { en, type X } from './en.js'
import zh from '../zh'
import title from '../../title.json'
export default defineConfig({
  ...shared,
  title,
  locales: {
    root: { label: 'English', ...en },
    zh: { label: '中文', ...zh },
    de: { label: 'Deutsch' },
    cn: { label: 'Elsewhere', link: 'https://cn.example.org' },
  },
})
""",
    ".vitepress/config/shared.ts": """
export const slug = (text) => text.replace(/[\\s~`!@#"'“”]+/g, '-')
export const shared = defineConfig({ srcExclude: ['parts/**'], themeConfig: { logo: '/x.svg' } })
""",
    ".vitepress/config/en.ts": """
import { owls } from './owls'
export const en = { themeConfig: { sidebar: { '/guide/': { base: '/guide/', items: sidebarGuide() } } } }
function sidebarGuide(): DefaultTheme.SidebarItem[] {
  return [{ text: 'Start', link: 'start' }, ...owls(), ...more()]
}
const more = (): Item[] => [{ text: 'End', link: 'end' }]
""",
    ".vitepress/config/owls/index.ts": "export function owls() { return [{ text: 'Owls', link: 'owls' }] }",
    ".vitepress/zh.mts": "export default { themeConfig: { sidebar: [{ text: '始', link: '/zh/start' }] } }",
    "title.json": '"owl 🦉"',
}


def test_settings_of_vitepress_in_several_scripts_are_read_as_one() -> None:
    name = ".vitepress/config/index.ts"
    script = Script(SCRIPTS[name], name, SCRIPTS.get)
    assert lines(read_vitepress(script)) == [
        "Start|/guide/start", "Owls|/guide/owls", "End|/guide/end",
        "中文|", "  始|/zh/start", "  |zh/**",
        "Deutsch|", "  |de/**",
    ]  # fmt: skip
    given = script.value
    assert given["title"] == "owl 🦉" and given["srcExclude"] == ["parts/**"]


def test_scripts_that_import_each_other_or_multiply_end() -> None:
    loop = {"a.ts": "import b from './b'; export default b", "b.ts": "import a from './a'\nexport default a"}
    assert Script(loop["a.ts"], "a.ts", loop.get).value == UNREAD
    doubled = "".join(f"const a{n} = [...a{n + 1}, ...a{n + 1}]\n" for n in range(50)) + "const a50 = [1]\n"
    assert exported(f"{doubled}export default [a0]") == [[UNREAD, UNREAD]]
    nested = "".join(f"const a{n} = [a{n + 1}, a{n + 1}]\n" for n in range(50)) + "const a50 = [1]\n"
    script = "import b from './b'\nexport default b"
    assert len(Script(script, "a.ts", {"b.ts": f"{nested}export default a0"}.get).value) == 2
    many = "".join(f"import a{n} from './a{n}'\n" for n in range(500))
    asked: list[str] = []
    read = Script(many, "a.ts", lambda path: asked.append(path) or "export default 1")  # type: ignore[func-returns-value]
    assert read.has_unknown_imports
    assert len(asked) < 500
    began = processor_seconds()
    assert Script("import {a\n" * 100_000, "a.ts", SCRIPTS.get).value == UNREAD
    assert processor_seconds() - began < 2


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("function f(): X[] { return [1] }\nexport default f()", [1]),
        ("const f = () => ({ a: 1 })\nexport default { ...f(), b: 2 }", {"a": 1, "b": 2}),
        ("const f = { a: 1 }\nexport default { a: 2, ...f, ...g }", {"a": 1}),
        ("function f(x) { return [x] }\nconst x = 1\nexport default [f(2)]", [UNREAD]),
        ("export default [1, ...g(), ...'x']", [1, UNREAD, UNREAD]),
        ("export default { a: /[`'\"{]/g, b: 8 / 2, c: 1 }", {"a": UNREAD, "b": UNREAD, "c": 1}),
        ("export default [{ a: <A />, b: 1 }, { a: <B /> }]", [{"a": UNREAD, "b": 1}, {"a": UNREAD}]),
    ],
)
def test_results_of_functions_and_what_is_put_into_values(script: str, value: object) -> None:
    assert exported(script) == value


def test_several_sidebars_stand_under_what_the_bar_above_the_pages_calls_them() -> None:
    bar = "[{ text: 'Home', link: '/' }, { text: 'Guide', link: '/guide/start' },"
    bar += "{ text: 'API', link: '/api/' }, { text: 'More', items: [{ text: 'Team', link: '/team/a' }] }]"
    trees = "'/guide/': [{ text: 'One', link: '/guide/one' }], '/api/': [{ text: 'API', link: '/api/' }],"
    trees += "'/': [{ text: 'All', link: '/all' }], '/team/': [{ text: 'A', link: '/team/a' }]"
    script = f"export default {{ themeConfig: {{ nav: {bar}, sidebar: {{ {trees} }} }} }}"
    assert lines(read_vitepress(Script(script, "config.ts"))) == [
        "Guide|", "  One|/guide/one", "API|/api/", "All|/all", "Team|", "  A|/team/a",
    ]  # fmt: skip
    assert lines(read_vuepress(Script(script, "config.ts"))) == [
        "All|all", "Guide|", "  One|guide/one", "API|api", "Team|", "  A|team/a",
    ]  # fmt: skip
