from __future__ import annotations

import time

import pytest
from bs4 import BeautifulSoup

from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.parse.markdown.mdx import is_mdx, markdown_of_mdx
from noctule.pipeline.settings.collection import Collection
from tests.processor_time import processor_seconds
from tests.site_builder import content_of, page_of


def read(text: str) -> Document:
    content = text.encode()
    return parse(Source("c", "page.mdx", content, sha256_hex(content)), Collection(root="unused"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Example:\n    ```python\n    a = 1\n\n      b\n    ```\n\nMore.\n", "a = 1\n\n  b"),
        ("- item\n\n    ```python\n    a = 1\n    ```\n", "a = 1"),
        ("1. one\n\n   more\n\n    ```python\n    a = 1\n    ```\n", "a = 1"),
    ],
)
def test_a_fence_may_be_indented_as_deep_as_one_likes(text: str, code: str) -> None:
    assert [block.code for block in read(text).blocks if block.kind == "code"] == [code]


def test_modules_components_and_comments_go_and_their_text_stays() -> None:
    document = read(
        "---\ntitle: Given\n---\nimport Tabs from '@theme/Tabs';\nimport {\n  A,\n} from \"x\";\n\n"
        "export const meta = {\n  a: 1,\n\n  b: 2,\n};\n\n# Head {/* note */}\n\n"
        'Some <Tip text="x > y" on={() => a > b}>*inner*</Tip> text{\' \'}and {"more"}.\n'
    )
    assert document.title == "Given"
    assert [h.text for h in document.headings] == ["Head"]
    assert [(b.kind, b.text) for b in document.blocks] == [("text", "Some inner text and more.")]
    assert document.syntax == "markdown"


def test_prose_that_begins_like_a_module_is_prose() -> None:
    text = "import duties rise.\n\nexport them.\n"
    assert markdown_of_mdx(text).text == text


def test_text_inside_components_is_not_code_for_being_indented() -> None:
    document = read(
        '<Tabs values={[\n  {label: "a"},\n]}>\n    <TabItem value="npm" label="With npm">\n\n'
        "        ```bash\n        npm i <A>\n"
        "        ```\n\n        - one\n          - two\n\n    </TabItem>\n</Tabs>\n\nAfter.\n"
    )
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("text", "With npm"),
        ("code", "npm i <A>"),
        ("list", "- one"),
        ("list", "- two"),
        ("text", "After."),
    ]


def test_code_is_left_as_it_is() -> None:
    text = (
        "`<Tab a={b}>` and ``{/* x */}``\n\n```jsx\nimport A from 'b'\n\n<A {...b}>{c}</A>\n```\n\n~~~\n"
        "export default 1\n~~~\n"
    )
    assert markdown_of_mdx(text).text == text


def test_what_is_not_a_component_stays() -> None:
    text = 'a < b, <https://x.org>, <b>bold</b>, <img src="a.png" />, \\<Not>, 1 <2\n'
    assert markdown_of_mdx(text).text == text
    assert markdown_of_mdx('<div style={{a: "b"}}>x</div>').text == "<div>x</div>"
    assert markdown_of_mdx("<>x</>").text == "x"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("bit", ["<A {", '<A "', "{/*", "`", "<a ", "import {\n\n", "<A ", "```\n"])
def test_what_is_never_closed_takes_no_time(bit: str) -> None:
    markdown_of_mdx(bit * 30_000)


@pytest.mark.timeout(20)
def test_a_name_of_any_length_takes_no_time() -> None:
    markdown_of_mdx("<" + "a" * 200_000)


def markdown(text: str) -> str:
    return "\n".join(line for line in markdown_of_mdx(text).text.split("\n") if line.strip())


def test_a_table_of_properties_is_a_list_with_what_lies_in_it() -> None:
    text = (
        "<PropertiesTable\n  content={[\n    {\n      name: 'run',\n      type: \"Map<string, X> | null\",\n"
        '      isOptional: true,\n      defaultValue: "{}",\n      description: "What <T> `a<b>` does.",\n'
        "      properties: [{type: 'X', parameters: [{name: 'deep', type: 'number',\n"
        "        description: `Deep.`}]}],\n"
        "      render: () => <b/>,\n    },\n  ]}\n/>\n"
    )
    assert markdown(text).split("\n") == [
        "- `run?: Map<string, X> | null = {}` — What &#60;T&#62; `a<b>` does.",
        "  - `X`",
        "    - `deep: number` — Deep.",
    ]
    assert markdown(
        '<TypeTable type={{ size: { type: "number", default: 2, description: "Its size." } }} />'
    ) == ("- `size: number = 2` — Its size.")


def test_fields_cards_and_links_keep_what_their_attributes_say() -> None:
    field = '<ParamField path="--out" type="string" default="dist" required>\n  Where to.\n</ParamField>'
    assert markdown(field) == "`--out: string = dist`\nWhere to."
    assert markdown('<LinkCard title="Go on" href="/next/" description="All {of} it." />') == (
        "**[Go on](</next/>)**\nAll &#123;of&#125; it."
    )
    assert (
        markdown('<Card title="Go on" href="./next.mdx">\n  Text.\n</Card>')
        == "**[Go on](<./next.mdx>)**\nText."
    )
    assert markdown('See <Link to="/docs/a">the a page</Link> and <B to={b}>b</B>.') == (
        "See [the a page](</docs/a>) and b."
    )
    within = (
        '<div className="c">\n  <Button\n    href="https://e.org/?a=b&c"\n  >\n    Go on\n  </Button>\n</div>'
    )
    assert '<a href="https://e.org/?a=b&amp;c">\n    Go on\n  </a>' in markdown(within)
    assert (
        markdown('<Cards items={[{title: "A", href: "/a", description: "First."}]} />')
        == "- **[A](</a>)** — First."
    )
    assert (
        markdown('An option <Badge text="new" size="small" /> and <Icon name="star" />.')
        == "An option new and ."
    )
    assert markdown('<Head title="machines" /><Seo description="machines" />') == ""


def test_code_in_an_attribute_is_a_block() -> None:
    assert markdown('Run:\n\n<Snippet text="npm i x" dark />') == "Run:\n```\nnpm i x\n```"
    lines = "<CodeBlock lang='ts' code={[`const a = 1`, 'use(a)']} />"
    assert markdown(lines) == "```ts\nconst a = 1\nuse(a)\n```"
    assert markdown("<Command cmd={computed()} />") == ""
    named = '<Snippet text="npm i" title="T" description="Install *it*" />'
    assert markdown(named) == "**T**\nInstall *it*\n```\nnpm i\n```"
    assert markdown('<Shell.CodeBlock code="ls" desc="Lists." />') == "Lists.\n```\nls\n```"


@pytest.mark.parametrize("name", ["QRCode", "QrCode", "CodeSandbox", "StatusCode", "Barcode"])
def test_what_is_only_called_a_code_is_none(name: str) -> None:
    assert markdown(f'<{name} value="https://example.org" />') == ""


def test_a_long_table_of_properties_is_no_text() -> None:
    entries = ", ".join(
        f"{{name: 'option{n}', type: 'string', description: 'It\\'s {n}.'}}" for n in range(1_100)
    )
    shown = markdown(f"<PropertiesTable content={{[{entries}]}} />")
    assert shown.startswith("- `option0: string` \u2014 It's 0.") and "<" not in shown


def test_markdown_that_imports_a_component_after_code_with_an_import_is_mdx() -> None:
    code = "```js\nimport {a} from 'b';\n```\n"
    assert is_mdx(f"{code}\nimport C from '@theme/C';\n\n<C />\n") and not is_mdx(code)


def test_images_by_components_calls_and_imports_are_images() -> None:
    text = (
        "import logo from '../assets/logo.png';\n\n<Image src={logo} alt=\"The logo\" />\n\n"
        "<img src={require('./a.png').default} alt=\"A\" />\n\n<img src={useBaseUrl('/img/b.svg')} />\n\n"
        "<ThemedImage\n  sources={{light: useBaseUrl('/img/l.png'), dark: '/d.png'}}\n  alt=\"T\"\n/>\n\n"
        "<Image src={computed(1)} />\n"
    )
    assert markdown(text).split("\n") == [
        "![The logo](<../assets/logo.png>)",
        "![A](<./a.png>)",
        "![](</img/b.svg>)",
        "![T](</img/l.png>)",
    ]


def test_an_imported_image_in_an_element_is_no_text_and_what_follows_is_read() -> None:
    text = (
        "import owl from './a.png';\n\n<center><img src={owl} alt=\"it's\" /></center>\n## Barn\n\n"
        "<div>\n  <img src={owl} />\n</div>\n\n```html\n<b>x</b>\ny\n```\n\n"
        "<p>a</p>\n<p>b</p>\n*c* <img src={owl} />\n"
    )
    document = read(text)
    assert [heading.text for heading in document.headings] == ["Barn"]
    assert [link.target for link in document.links] == ["./a.png"] * 3
    assert [block.text for block in document.blocks] == ["<b>x</b>\ny", "a\nb", "c"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("## T\n{}\nSee [docs](b.md) **now**.\n", ["See docs now."]),
        ("- {}\n  See [docs](b.md).\n", ["- See docs."]),
        ("> {}\n> *See* [docs](b.md).\n", ["See docs."]),
        ("<Tabs>\n<TabItem value='a'>\n{}\nSee [docs](b.md).\n</TabItem>\n</Tabs>\n", ["a", "See docs."]),
        ("<div>\n<Box>\n{}\nSee [docs](b.md).\n</Box>\n</div>\n", ["See docs."]),
        ("<p>a</p>\n{}\nSee [docs](b.md).\n", ["a", "See docs."]),
    ],
)
@pytest.mark.parametrize(
    "image", ["<img src={require('./a.png').default} />", "<ThemedImage sources={{light: './a.png'}} />"]
)
def test_text_below_an_image_is_markdown(text: str, said: list[str], image: str) -> None:
    document = read(text.replace("{}", image))
    assert [link.target for link in document.links] == ["./a.png", "b.md"]
    assert [block.text for block in document.blocks] == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Press\n<kbd>Ctrl</kbd>\nto stop.\n", ["Press Ctrl to stop."]),
        ("See the\n<a href='b.md'>docs</a>\nfor more.\n", ["See the docs for more."]),
        ("|a|b|\n|-|-|\n|1|2|\n<b>x</b>\n|3|4|\n", ["a | b", "1 | 2", "x | ", "3 | 4"]),
        ("<p>a</p>\nsome *b*\n", ["a", "some b"]),
    ],
)
def test_an_element_within_a_paragraph_or_table_does_not_end_it(text: str, said: list[str]) -> None:
    assert [block.text for block in read(text).blocks] == said


def test_what_the_front_matter_says_stands_where_a_page_asks_for_it() -> None:
    document = read(
        "---\ntitle: T\ndescription: About it.\n---\n\n{frontMatter.description}\n\n{frontMatter.no}\n"
    )
    assert [block.text for block in document.blocks] == ["About it."]
    assert "frontMatter.no" in document.notes[0]


def test_a_tree_of_files_is_a_list_in_a_list() -> None:
    text = (
        '<FileTree>\n  <FileTree.Folder name="src" open>\n    <FileTree.File name="a.ts" />\n'
        '    <FileTree.Folder name="in">\n      <FileTree.File name="b.ts" />\n    </FileTree.Folder>\n'
        '    <FileTree.File name="c.ts" />\n  </FileTree.Folder>\n  <File name="d.ts" />\n</FileTree>\n\n'
        "After <File /> it.\n"
    )
    assert markdown(text).split("\n") == [
        "- `src`", "  - `a.ts`", "  - `in`", "    - `b.ts`", "  - `c.ts`", "- `d.ts`", "After  it.",
    ]  # fmt: skip


def test_tabs_have_the_titles_that_stand_around_them() -> None:
    text = "<Tabs items={[\"npm\", 'pnpm']}>\n<Tabs.Tab>\nOne.\n</Tabs.Tab>\n"
    text += "<Tabs.Tab>\nTwo.\n</Tabs.Tab>\n</Tabs>\n"
    assert [line for line in markdown(text).split("\n") if "tab" in line] == [
        "//////// tab | npm", "//////// tab | pnpm",
    ]  # fmt: skip
    assert "//////// warning | Mind" in markdown('<Warning title="Mind">\nIt.\n</Warning>\n')


def test_tabs_of_docusaurus_have_the_titles_that_stand_beside_their_values() -> None:
    text = "<Tabs groupId=\"os\" values={[{label: 'Win', value: 'a'}, {label: 'macOS', value: 'b'}]}>\n"
    text += '<TabItem value="a">\nOne.\n</TabItem>\n<TabItem value="b">\nTwo.\n</TabItem>\n</Tabs>\n'
    assert [line for line in markdown(text).split("\n") if "tab" in line] == [
        "//////// tab | Win", "//////// tab | macOS",
    ]  # fmt: skip


def test_what_an_element_holds_on_its_line_is_markdown() -> None:
    text = "<details>\n<summary>Open *me*</summary>\n\nBody.\n\n</details>\n\n"
    text += "<table><tr><td>`a`</td><td>b_c</td></tr></table>\n\n<div>\n\n*x*\n\n</div>\n"
    shown = content_of(f"import X from 'x';\n\n{text}")
    assert "<summary>Open <em>me</em></summary>" in shown
    assert "<td><code>a</code></td><td>b_c</td>" in shown and "<p><em>x</em></p>" in shown
    assert "Open me" in [block.text for block in read(text).blocks]


def test_tabs_in_an_item_of_a_list_stay_in_it() -> None:
    text = (
        '1. First:\n\n   <Tabs>\n     <TabItem label="a">\n\n       ```sh\n       ls\n       ```\n\n'
        "     </TabItem>\n   </Tabs>\n\n2. Second.\n\n<Tip>\n\n    Not code.\n\n</Tip>\n"
    )
    page = BeautifulSoup(content_of(f"import X from 'x';\n\n{text}"), "html.parser")
    items = page.select("ol > li")
    assert [item.select_one(".callout-tab pre") is not None for item in items] == [True, False]
    assert [pre.get_text().strip() for pre in page.select("pre")] == ["ls"]


def test_details_of_docusaurus_fold() -> None:
    text = "<Details summary={<summary>More on *owls*</summary>}>\n\nBody.\n\n</Details>\n\n"
    text += '<Details summary="a > b">\n\nSecond.\n\n</Details>\n'
    page = BeautifulSoup(content_of(f"import Details from '@theme/Details';\n\n{text}"), "html.parser")
    folded = page.select("details")
    assert [each.summary.get_text() for each in folded if each.summary] == ["More on *owls*", "a > b"]
    assert [each.p.get_text() for each in folded if each.p] == ["Body.", "Second."]


def test_mdx_in_a_fence_of_docusaurus_is_mdx_and_a_drawing_in_a_component_is_drawn() -> None:
    text = "```mdx-code-block\nimport Mermaid from 'x';\n\n"
    text += '<Admonition type="tip">\n\nYes.\n\n</Admonition>\n```\n\n'
    text += "<Mermaid value={`graph TD;\nA-->B;`} />\n\n```sh\nls\n```\n"
    page = BeautifulSoup(content_of(text), "html.parser")
    assert page.select_one(".callout-tip p:last-child").get_text() == "Yes."  # type: ignore[union-attr]
    assert "A-->B;" in page.get_text() and "mdx-code-block" not in page.get_text()


@pytest.mark.parametrize(
    ("component", "target", "text"),
    [
        ('<LiteYouTubeEmbed id="a-b_1" />', "https://www.youtube.com/watch?v=a-b_1", "Video: "),
        ('<YouTube videoId="ab" title="Owls" />', "https://www.youtube.com/watch?v=ab", "Owls"),
        ('<Vimeo id="12" />', "https://vimeo.com/12", "Video: "),
        ('<YouTube id="a&b" />', "", ""),
        ('<YouTubeCard title="Owls" href="https://e.org/o" />', "https://e.org/o", "Owls"),
    ],
)
def test_a_video_in_a_component_is_a_link(component: str, target: str, text: str) -> None:
    found = read(f"import V from 'v';\n\nSee:\n\n{component}\n\nEnd.\n").links
    assert [each.target for each in found] == list(filter(None, [target]))
    assert all(each.text.startswith(text) for each in found)


def test_many_fences_of_mdx_that_never_end_take_no_time() -> None:
    start = time.perf_counter()
    markdown_of_mdx("```mdx-code-block\na\n" * 50_000)
    assert time.perf_counter() - start < 5


def test_a_sum_of_numbers_is_its_result() -> None:
    assert markdown("After {1 + 1}, {n + 1} and {1,2}.\n") == "After 2,  and {1,2}."


def test_what_a_component_in_a_list_says_stays_in_the_list() -> None:
    snippet = '<Snippet text="npm i" />'
    text = f"1. One:\n\n   {snippet}\n\n   After.\n\n2. Two\n   {snippet}\n\n<Card>\n    {snippet}\n</Card>\n"
    page = page_of({"page.mdx": text}, "page.html")
    (items,) = page.select("article ol")
    assert [len(item.find_all("pre")) for item in items.find_all("li")] == [1, 1]
    assert "After." in items.text and len(page.select("article pre")) == 3


@pytest.mark.parametrize(
    "expression", ["new Date().getFullYear()", "[1, 2].map((x) => <li>{x}</li>)", "!hidden && x", "await f()"]
)
def test_expressions_of_programs_are_removed_with_a_remark(expression: str) -> None:
    found = markdown_of_mdx(f"Text {{{expression}}} end.\n")
    assert found.text == "Text  end.\n" and len(found.removed) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<Tabs>\n  <TabItem value="a" label="A">\n', True),
        ("Text\n\n<DocCardList />\n", True),
        ('```jsx\n<TabItem value="a" label="A">\n```\n', False),
        ("Use `<DocCardList />` there.\n", False),
    ],
)
def test_markdown_with_components_of_docusaurus_is_mdx(text: str, expected: bool) -> None:
    assert is_mdx(text) is expected


@pytest.mark.parametrize("piece", [" ", "\n", "{ ", "{ new "])
def test_blanks_in_an_expression_cost_time_in_proportion_to_their_number(piece: str) -> None:
    start = processor_seconds()
    markdown_of_mdx("{" + piece * (60_000 // len(piece)) + ";", {})
    assert processor_seconds() - start < 5
