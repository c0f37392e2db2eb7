"""Code on pages, from disk: what is copied, numbers, wrapping, annotations, colours that can be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from noctule.docsite.build import build_site
from noctule.pipeline.settings.site import Site
from tests.axe import axe, violations
from tests.browser_driver import needs_browser, prefer, resize
from tests.site_builder import snapshot_of

pytestmark = needs_browser
LONG = "x = '" + "a long line " * 40 + "'"
TEXT = f"""# Code

```console
$ pip install x
Collecting x
$ ls \\
  -l
total 0
```

```python
>>> for x in y:
...     print(x)
1
>>> f()
Traceback (most recent call last):
  File "a.py", line 1, in <module>
ValueError: no
```

```python title="a.py" linenums="9" hl_lines="2"
{LONG}
y = 2  # (1)!
```

1.  A *note*.

```js
a() // [!code focus]
b() // [!code ++]
c() // [!code --]
d() // [!code error]
```

```diff
-old
+new
```

<div class="termy">

```console
$ <font color="#4E9A06">run</font> <u>it</u>
<font color="#CC0000">red</font><font color="#3465A4">blue</font><font color="#34E2E2">cyan</font>
<font color="#AD7FA8">magenta</font><font color="#C4A000">yellow</font><b>bold</b>
<span style="background-color:#009485"><font color="#D3D7CF"> Fast </font></span>
```

</div>

!!! info inline end "Beside"
    Text.

[Go](#code){{ .md-button .md-button--primary }} [Go](#code){{ .md-button }}
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    site = tmp_path_factory.mktemp("code") / "site"
    build_site(snapshot_of({"notes": {"code.md": TEXT}}), site, Site(title="Code"))
    return (Path(site) / "code.html").as_uri()


@pytest.fixture
def opened(browser: webdriver.Chrome, page: str) -> Iterator[webdriver.Chrome]:
    resize(browser, 1280, 900)
    prefer(browser, "light")
    browser.get(page)
    browser.get_log("browser")
    yield browser
    assert browser.get_log("browser") == []


def _copied(browser: webdriver.Chrome, block: int) -> str:
    return str(
        browser.execute_script(
            """
            navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); };
            Object.defineProperty(window, "isSecureContext", { value: true, configurable: true });
            document.querySelectorAll(".code")[arguments[0]].querySelector(".copy-button").click();
            return window.copied;
            """,
            block,
        )
    )


def test_of_a_session_the_commands_are_copied(opened: webdriver.Chrome) -> None:
    assert _copied(opened, 0) == "pip install x\nls \\\n  -l\n"
    assert _copied(opened, 1) == "for x in y:\n    print(x)\nf()\n"
    assert _copied(opened, 5) == "run it\n"


def test_numbers_and_annotations_are_neither_copied_nor_selected(opened: webdriver.Chrome) -> None:
    assert _copied(opened, 2) == f"{LONG}\ny = 2\n"
    selected = opened.execute_script(
        "getSelection().selectAllChildren(document.querySelectorAll('.code code')[2]);"
        "return getSelection().toString()"
    )
    assert selected.strip() == f"{LONG}\ny = 2"


def test_an_annotation_leads_to_its_note(opened: webdriver.Chrome) -> None:
    mark = opened.find_element(By.CSS_SELECTOR, ".annotation")
    opened.execute_script("arguments[0].click()", mark)
    assert opened.find_element(By.CSS_SELECTOR, "li:target").text == "A note."


def test_long_lines_can_be_wrapped(opened: webdriver.Chrome) -> None:
    block = opened.find_elements(By.CSS_SELECTOR, ".code")[2]
    opened.execute_script("arguments[0].dispatchEvent(new Event('pointerenter'))", block)
    pre = block.find_element(By.CSS_SELECTOR, "pre")
    wide = "return arguments[0].scrollWidth > arguments[0].clientWidth"
    assert opened.execute_script(wide, pre)
    wrap = block.find_element(By.CSS_SELECTOR, "[aria-pressed]")
    opened.execute_script("arguments[0].click()", wrap)
    assert not opened.execute_script(wide, pre) and wrap.get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_code_breaks_no_rule_of_accessibility(opened: webdriver.Chrome, page: str, scheme: str) -> None:
    axe()
    prefer(opened, scheme)
    opened.get(page)
    assert violations(opened, scheme) == []


BESIDE = """# Beside

<div>

!!! info inline end "Beside"
    Text of a box that is as high as some lines of code, and stands at the side of them.

```python title="a.py"
x = "a long line of code that is wider than what the box leaves of the column, and has a button to copy it"
```

</div>

=== "Tab"

    !!! info inline end "Beside"
        Text.

    ```python
    x = "a long line of code that is wider than what the box leaves of the column, and has a button"
    ```

    !!! note
        A box beside a box.

!!! info inline "At the start"
    Text of a box at the other side.

```python
x = "a long line of code that is wider than what the box leaves of the column, and has a button to copy it"
```
"""
_OVERLAPS = """
return [...document.querySelectorAll('.callout-inline')].flatMap(box => {
  const around = box.getBoundingClientRect();
  return [...document.querySelectorAll('article .code, article .callout:not(.callout-inline, .callout-tab)')]
    .map(each => each.getBoundingClientRect())
    .filter(each => each.left < around.right && each.right > around.left
      && each.top < around.bottom && each.bottom > around.top);
}).length;
"""


def test_code_and_boxes_end_before_a_box_at_their_side(browser: webdriver.Chrome, tmp_path: Path) -> None:
    site = tmp_path / "beside"
    build_site(snapshot_of({"notes": {"beside.md": BESIDE}}), site, Site())
    resize(browser, 1280, 900)
    browser.get((site / "beside.html").as_uri())
    boxes = browser.find_elements(By.CSS_SELECTOR, ".callout-inline")
    assert [box.value_of_css_property("float") for box in boxes] == [
        "inline-end",
        "inline-end",
        "inline-start",
    ]
    assert browser.execute_script(_OVERLAPS) == 0


def test_code_of_two_lines_in_a_table_begins_where_its_text_does(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    long = "--external <external-id,another-external-id,and-one-more>"
    texts = {"a.md": f"# A\n\n| | |\n| --- | --- |\n| CLI | `-e` / `{long}` |\n"}
    build_site(snapshot_of({"d": texts}), tmp_path / "site", Site())
    browser.get((tmp_path / "site" / "a.html").as_uri())
    short, tall = browser.find_elements(By.CSS_SELECTOR, "td code")
    assert tall.rect["height"] > 1.5 * short.rect["height"]
    assert abs(tall.rect["y"] - short.rect["y"]) < 4
