from __future__ import annotations

import pytest

from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.parse.markdown.mdx import markdown_of_mdx
from noctule.pipeline.settings.collection import Collection


def read(text: str) -> Document:
    content = text.encode()
    return parse(Source("c", "page.mdx", content, sha256_hex(content)), Collection(root="unused"))


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
