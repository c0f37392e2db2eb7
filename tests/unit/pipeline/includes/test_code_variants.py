"""``{* file *}`` shows the file that it names, and folds the whole file and its variants below it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from noctule.pipeline.includes.expand import ExpandedText, IncludedFile, NotIncluded, expand
from noctule.pipeline.parse.markdown.syntax import markdown_parser


def expanded(text: str, files: Mapping[str, str]) -> ExpandedText:
    def find(target: str, _included_by: str) -> IncludedFile:
        if target not in files:
            raise NotIncluded("there is no such file")
        return IncludedFile(f"/docs/{target}", files[target])

    return expand(text, "/docs/page.md", find, 100_000)


def tab(title: str, code: str, info: str = "python") -> str:
    return f"//// tab | {title}\n\n```{info}\n{code}\n```\n\n////"


def folded(title: str, content: str) -> str:
    return f"///// details | {title}\n    attrs: {{data-search-exclude: ''}}\n\n{content}\n\n/////"


def test_the_variants_of_a_file_are_folded_below_it() -> None:
    files = {"src/a_an_py310.py": "new = 1\n", "src/a_py310.py": "old = 1\n", "src/a_py39.py": "older = 1\n"}
    found = expanded("{* src/a_an_py310.py hl[1] *}\n", files)
    tip = "/// tip\n\nPrefer to use the `Annotated` version if possible.\n\n///\n\n"
    second = tab("Python 3.10+ - non-Annotated", "old = 1").replace("\n\n```", f"\n\n{tip}```", 1)
    others = f"{second}\n\n{tab('Python 3.9+', 'older = 1')}"
    shown = tab("Python 3.10+", "new = 1", "python {1}")
    assert found.text == f"{shown}\n\n{folded('🤓 Other versions and variants', others)}\n"
    html = markdown_parser().render(found.text)
    assert html.count("<pre>") == 3 and "//" not in html


def test_what_is_left_out_is_said_and_the_whole_file_is_folded_below_it() -> None:
    code = "one = 1\ntwo = 2\nthree = 3\nfour = 4\nfive = 5"
    found = expanded('{* a.py ln[2,4] hl[4] title["app/a.py"] *}\n', {"a.py": code})
    cut = (
        "# Code above omitted 👆\n\ntwo = 2\n\n# Code here omitted 👈\n\nfour = 4\n\n# Code below omitted 👇"
    )
    whole = tab("Python 3.8+", code, 'python {4} title="app/a.py"')
    shown = tab("Python 3.8+", cut, 'python {7} title="app/a.py"')
    assert found.text == f"{shown}\n\n{folded('👀 Full file preview', whole)}\n"


def test_the_variants_of_a_folder_are_found_too() -> None:
    files = {"app_an_py310/main.py": "new = 1\n", "app_py310/main.py": "old = 1\n"}
    found = expanded("{* app_an_py310/main.py *}\n", files).text
    assert found.startswith(tab("Python 3.10+", "new = 1")) and "Python 3.10+ - non-Annotated" in found


def test_a_file_of_no_known_version_is_shown_alone() -> None:
    assert expanded("{* a_py399.py *}\n", {"a_py399.py": "x = 1\n"}).text == "```python\nx = 1\n```\n"


def test_lines_that_are_not_there_are_a_remark() -> None:
    found = expanded("{* a.py ln[9] *}\n", {"a.py": "x = 1\n"})
    assert found.text == "\n" and found.notes == (
        "line 1: 'a.py' is not included: it has 1 lines, none of which is in '9'",
    )


def test_ranges_of_lines_are_bounded() -> None:
    files = {"a.py": "x\n" * 30_000}
    for ranges in (",".join(["1:"] * 40), "1:" + "9" * 5_000):
        found = expanded(f"{{* a.py ln[{ranges}] *}}\n", files)
        assert len(found.notes) == 1 and found.text == "\n"
    assert expanded("{* a.py hl[" + "9" * 5_000 + "] *}\n", {"a.py": "x\n"}).notes == ()


@pytest.mark.timeout(5)
def test_a_directive_that_is_never_closed_costs_no_time() -> None:
    text = "{* " + "a" * 90_000
    assert expanded(text, {}).text == text
