"""Partials, raw code and strings that MDX imports, and what VitePress's pages hold for Vue."""

from __future__ import annotations

import pytest

from noctule.pipeline.includes.expand import ExpandedText, IncludedFile, NotIncluded, expand
from noctule.pipeline.includes.project import Context, Project
from noctule.pipeline.includes.tool_folders import Tool
from tests.processor_time import processor_seconds

FILES = {
    "./_part.mdx": "---\nx: y\n---\nHello {props.name}.\n\nimport B from './_b.md'\n\n<B/>\n",
    "./_b.md": "More.\n",
    "./_self.mdx": "import Self from './_self.mdx'\n\n<Self />",
    "docs/x.js": "go()\n",
}


def expanded(text: str, tool: Tool | None = None, path: str = "/docs/page.mdx") -> ExpandedText:
    def find(target: str, _included_by: str) -> IncludedFile:
        if target not in FILES:
            raise NotIncluded("there is no such file")
        return IncludedFile(f"/docs/{target}", FILES[target])

    tools = frozenset({tool} if tool else ())
    return expand(text, path, find, 100_000, Context(Project("/docs", tools), {"title": "Owls"}, path))


def test_a_partial_stands_where_it_is_used_with_its_properties() -> None:
    found = expanded("import Part from './_part.mdx'\n\n<Part name=\"Bob\" />\n\n`<Part />`\n")
    assert [line for line in found.text.splitlines() if line] == ["Hello Bob.", "More.", "`<Part />`"]
    assert found.notes == ()


def test_a_partial_may_be_imported_with_its_list_of_headings() -> None:
    found = expanded("import Part, {toc as partToc} from './_part.mdx'\n\n<Part name=\"Bob\" />\n")
    assert [line for line in found.text.splitlines() if line] == ["Hello Bob.", "More."]


def test_raw_code_and_strings_are_filled_in() -> None:
    text = (
        "import Source from '!!raw-loader!@site/docs/x.js';\nexport const v = '1.2'\n\nv{v}\n\n"
        '<CodeBlock language="jsx" title="x.js">{Source}</CodeBlock>\n'
    )
    shown = [line for line in expanded(text).text.splitlines() if line]
    assert shown == ["v1.2", '```jsx title="x.js"', "go()", "```"]


def test_code_of_a_component_is_a_block_of_code() -> None:
    text = 'import CodeBlock from "x";\n\n<CodeBlock language="bash">npm i owl</CodeBlock>\n\n'
    text += "<CodeBlock language='js'>\n{`  a();\n  b();`}\n</CodeBlock>\n"
    shown = [line for line in expanded(text, "docusaurus").text.splitlines()[1:] if line]
    assert shown == ["```bash", "npm i owl", "```", "```js", "  a();", "  b();", "```"]


@pytest.mark.parametrize(
    ("expression", "result"),
    [("1 + 1", "2"), ("7 / 2", "3.5"), ("(2 + 3) * 4 - 1.5", "18.5"), ("0.1 + 0.2", "0.30000000000000004")],
)
def test_a_sum_of_numbers_is_what_vue_would_show(expression: str, result: str) -> None:
    found = expanded(f"Sum {{{{ {expression} }}}}.\n", "vitepress")
    assert (found.text, found.notes) == (f"Sum {result}.\n", ())


@pytest.mark.parametrize("expression", ["1 / 0", "2 ** 999", "01 + 1", "(" * 70, "1 // 2", "1 +"])
def test_what_is_no_sum_of_numbers_is_a_remark(expression: str) -> None:
    found = expanded(f"Sum {{{{ {expression} }}}}.\n", "vitepress")
    assert found.text == "Sum .\n" and "is not evaluated" in found.notes[0]


def test_a_partial_that_imports_itself_is_a_remark() -> None:
    found = expanded("import Self from './_self.mdx'\n\n<Self />\n")
    assert "the file includes itself" in found.notes[0]


def test_markdown_without_imports_is_no_mdx() -> None:
    assert expanded("Use <Part /> and {v}.", path="/docs/page.md").text == "Use <Part /> and {v}."


def test_a_comment_of_mdx_names_its_heading() -> None:
    found = expanded("## Setting up {/* #set-up */}\n\nText {/* of no reader */}.\n", "docusaurus")
    assert found.text == "## Setting up {#set-up}\n\nText .\n"


def test_a_page_of_vitepress_loses_what_is_for_vue() -> None:
    text = (
        '# {{ $frontmatter.title }} <Badge type="tip" text="new" />\n\n[[toc]]\n\n'
        "::: v-pre\n{{ raw }}\n:::\n\n"
        "<script setup>\nimport a from 'b'\n\nlet x\n</script>\n\n{{ n + 1 }} `{{ code }}`\n"
    )
    found = expanded(text, "vitepress", "/docs/page.md")
    assert found.text.split() == ["#", "Owls", "new", "\\{{", "raw", "}}", "`{{", "code", "}}`"]
    assert "{{ n + 1 }} is not evaluated" in found.notes[0]


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ('## The `base` <Badge type="info" text="1.2" />', "## The `base` 1.2 {#the-base}"),
        ('## Base <Badge text="a" /> more', "## Base a more"),
        ('## Base {#b} <Badge text="a" />', "## Base {#b} a"),
        ('Base <Badge text="a" />', "Base a"),
    ],
)
def test_a_badge_is_no_part_of_the_name_of_its_heading(heading: str, shown: str) -> None:
    assert expanded(f"# T\n\n{heading}\n\nText.\n", "vitepress", "/docs/page.md").text.split("\n")[2] == shown


def test_braces_in_an_element_that_vue_does_not_compile_stay() -> None:
    text = (
        "`{{ not }}` and <span v-pre>{{ kept }}</span> {{ gone }}\n\n"
        "<div class='a' v-pre>\n{{ raw }}\n</div>\n"
    )
    found = expanded(text, "vitepress", "/docs/page.md")
    kept = "`{{ not }}` and <span v-pre>&#123;{ kept }}</span> "
    assert found.text == f"{kept}\n\n<div class='a' v-pre>\n&#123;{{ raw }}}}\n</div>\n"


def test_elsewhere_only_front_matter_is_filled_in() -> None:
    text = "{{ $frontmatter.title }} {{ other }} <Badge text='x' />"
    assert expanded(text, None, "/docs/page.md").text == "Owls {{ other }} <Badge text='x' />"


@pytest.mark.parametrize(
    "piece",
    [
        "<Part ",
        '<Part a="',
        "<CodeBlock ",
        "::: v-pre\n",
        "<script>",
        "<Badge ",
        "<b v-pre>",
        "{/*",
        '<Badge text="',
        '<b @x="',
        "<b :src='a",
        "<template a",
        "const x = 1 ",
        "<!--@include:",
    ],
)
@pytest.mark.parametrize("tool", ["vitepress", "docusaurus"])
def test_a_long_run_costs_time_in_proportion_to_its_length(piece: str, tool: Tool) -> None:
    start = processor_seconds()
    expanded(("import Part from './_part.mdx'\n\n" + piece * 80_000)[:80_000], tool)
    assert processor_seconds() - start < 5


def _vue(text: str) -> ExpandedText:
    return expanded(text, "vitepress", "/docs/page.md")


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("//#region a", "//#endregion a"),
        ("#pragma region a", "#pragma endregion a"),
        ("/* #region a */", "/* #endregion a */"),
        ("<!-- region a -->", "<!-- endregion a -->"),
        ("# region a", "# endregion a"),
    ],
)
def test_a_region_is_marked_in_the_comments_of_any_language(
    name: str, holds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FILES, "code.x", f"before\n{name}\nx\n{holds}\nafter\n")
    assert _vue("<<< code.x#a\n").text == "```x\nx\n```\n"


def test_a_page_is_included_below_a_heading_up_to_the_next_of_its_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = "# T\n\n## First part\n\nOne.\n\n### Inner\n\n```sh\n# Not one\n```\n\n## Own {#second}\n\nTwo.\n"
    monkeypatch.setitem(FILES, "page.md", page)
    first = _vue("<!--@include: page.md#first-part-->\n").text
    assert first == "One.\n\n### Inner\n\n```sh\n# Not one\n```\n"
    assert _vue("<!--@include: page.md#second-->\n").text == "Two.\n"
    assert "it has no part 'third'" in _vue("<!--@include: page.md#third-->\n").notes[0]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('A <Badge text="a > b" /> c', "A a > b c"),
        ("A <Badge :text=\"'1.2'\" /> c", "A 1.2 c"),
        ('A <Badge :text="version" /> c', "A  c"),
        ('<button :class="a" @click="n++">B</button> {{ 1 + 1 }}', "<button>B</button> 2"),
        ('<img :src="withBase(\'/a.png\')" :alt="words">', '<img src="/a.png">'),
        ('<a :href="\'/b\'" v-if="x > 1">B</a>', '<a href="/b">B</a>'),
        ("<Card><template #title>T</template></Card>", "<Card><div>T</div></Card>"),
        ('<a href="b" class="x">B</a> `<b @click="x">`', '<a href="b" class="x">B</a> `<b @click="x">`'),
    ],
)
def test_tags_of_vue_are_html(written: str, shown: str) -> None:
    assert _vue(f"# T\n\n{written}\n").text == f"# T\n\n{shown}\n"


def test_what_a_component_is_given_by_a_program_is_a_remark() -> None:
    assert "line 3: :members of <Team> is not evaluated and is removed" in (
        _vue('# T {{ 1 + 1 }}\n\n<Team :members="all" :class="x" />\n').notes
    )


def test_constants_of_a_script_and_paths_in_front_matter_have_their_values() -> None:
    script = "<script setup>\nconst v = '1.2'\nconst n: number = ref(3)\nconst w = load()\n</script>\n"
    found = _vue(f"{script}{{{{ v }}}} {{{{ n }}}} {{{{ w }}}} {{{{ frontmatter.title }}}}.\n")
    assert found.text.strip() == "1.2 3  Owls."
    assert found.notes == ("line 6: {{ w }} is not evaluated and is removed",)
    page = {"tags": ["a", "b"], "deep": {"er": [{"x": 1}]}}
    context = Context(Project("/docs", frozenset()), page, "/docs/page.md")
    text = "{{ $frontmatter.tags[1] }} {{ $frontmatter.deep.er[0]['x'] }} {{ frontmatter.tags[0] }}\n"
    shown = expand(text, "/docs/page.md", lambda *_: IncludedFile("", ""), 1_000, context).text
    assert shown == "b 1 {{ frontmatter.tags[0] }}\n"
