"""What authors write for their tool is in no document: comments, raw tags, references, names of blocks."""

from __future__ import annotations

import pytest

from noctule.pipeline.parse.markdown.authoring import published_text
from tests.processor_time import processor_seconds

FRONT = '{"desc": "A note", "n": 3, "draft": true, "list": [1]}'


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("A %%secret%% word.\n", "A  word.\n"),
        ("A {::comment}secret{:/comment} word.\n", "A  word.\n"),
        ("{::comment}\nA *secret*\n{: .x }\n{:/}\n\nShown.\n", "\nShown.\n"),
        ("{::comment}\n```\nsecret\n```\n{:/comment}\nShown.\n", "Shown.\n"),
        ("{::comment}secret {::comment} secret {:/nomarkdown} secret{:/comment} word.\n", " word.\n"),
        ("`{::comment}` a `{:/comment}`\n", "`{::comment}` a `{:/comment}`\n"),
        ("%%\nA secret\nin lines\n%%\nShown.\n", "Shown.\n"),
        ("Shown.\n\n%% alone %%\n\nMore.\n", "Shown.\n\n\nMore.\n"),
        ("A <!-- secret --> word.\n", "A  word.\n"),
        ("<!-- secret\nin lines -->\nShown.\n", "Shown.\n"),
        ("Shown.\n<!-- never closed\nsecret\n", "Shown.\n"),
        ("`%%code%%` and ``<!-- code -->``\n", "`%%code%%` and ``<!-- code -->``\n"),
        ("```text\n%%code%%\n<!-- code -->\n^name\n```\n", "```text\n%%code%%\n<!-- code -->\n^name\n```\n"),
        ("%%secret%%Shown, (%%secret%%), **b**%%secret%%.\n", "Shown, (), **b**.\n"),
        ("%% secret\n```\n{}\n```\n%%\nShown.\n", "Shown.\n"),
        ("a\n\n<!-- secret\n```sh\nsecret\n```\nsecret -->\n\nShown.\n", "a\n\n\nShown.\n"),
        (
            "~~~\n<!-- code\n~~~\nShown.\n\n```\n--> %%\n```\n",
            "~~~\n<!-- code\n~~~\nShown.\n\n```\n--> %%\n```\n",
        ),
        ("> ```\n> %%code%%\n> ```\n%%secret%%\n```\n%%open", "> ```\n> %%code%%\n> ```\n```\n%%open"),
        (
            "- ```\n  %%code%%\n\nA %%secret%% <!-- secret -->\n{::comment}\nsecret\n{:/comment}\n",
            "- ```\n  %%code%%\n\nA  \n",
        ),
        (
            "- ```sh\n  %%code%%\n  ```\n\nA %%b%%\n\n1. > ~~~\n   > <!-- code\n   > ~~~\nB %%b%%\n",
            "- ```sh\n  %%code%%\n  ```\n\nA \n\n1. > ~~~\n   > <!-- code\n   > ~~~\nB \n",
        ),
        ("%%bash and %%time\n", "%%bash and %%time\n"),
        ("100%% sure and 50%% not\n", "100%% sure and 50%% not\n"),
        ("* TOC\n{:toc}\n\n## A\n{: .no_toc #a }\n\n{: .note }\nText.\n", "\n## A {#a}\n\nText.\n"),
        ("## 4.3 / 2022\n{: #v4-3}\n\nText.\n", "## 4.3 / 2022 {#v4-3}\n\nText.\n"),
        ("Title\n=====\n{: #t .b}\n\n- a\n---\n{: #q}\n", "Title {#t}\n=====\n\n- a\n---\n"),
        ("## A {#x}\n{: #y}\n`# b`\n{: #z}\n", "## A {#x}\n`# b`\n"),
        ('=== "T"\n\n    <div markdown>\n    x\n', '=== "T"\n\n    <div>\n\n    x\n'),
        (
            "- a\n\n    ```\n    b\n    ```\n\n    <p markdown>*c*</p>\n",
            "- a\n\n    ```\n    b\n    ```\n\n    <p><em>c</em></p>\n",
        ),
        (
            "- a\n\n    <figure markdown>\n        ![x](y.png)\n    </figure>\n",
            "- a\n\n    <figure>\n\n    ![x](y.png)\n    </figure>\n",
        ),
        (
            '<figure markdown="span">\n    ![x](y.png)\n    <figcaption>*c*</figcaption>\n</figure>\n',
            "<figure>\n\n![x](y.png)\n<figcaption><em>c</em></figcaption>\n</figure>\n",
        ),
        (
            "<figure markdown>\n    - a\n        - b\n  c\n</figure>\n",
            "<figure>\n\n- a\n    - b\nc\n</figure>\n",
        ),
        ("<div markdown>\n    kept\n</div>\n", "<div>\n\n    kept\n</div>\n"),
        ("  <div markdown>\n      <div markdown>\n  x\n", "  <div>\n\n  <div>\n\n  x\n"),
        ("<div>\n</div>\n[a]: b.md\n</div>\nc\n", "<div>\n</div>\n\n[a]: b.md\n</div>\nc\n"),
        ("- {:.x} a\n1. {: #y .z } b\n- `{:.x}`\n", "- a\n1. b\n- `{:.x}`\n"),
        ("`{:toc}`\n\n```\n{: .x}\n```\n", "`{:toc}`\n\n```\n{: .x}\n```\n"),
        ("{% include x %}\n", "{% include x %}\n"),
        ("{{fm.desc}}: {{ fm.n }} {{fm.gone}}{{fm.list}}{{fm.draft}}.\n", "A note: 3 .\n"),
        ("`{{fm.desc}}`\n", "`{{fm.desc}}`\n"),
        (
            "A paragraph. ^block-1\n\n- item ^1f1egthix10t\n",
            'A paragraph.<a id="^block-1"></a>\n\n- item<a id="^1f1egthix10t"></a>\n',
        ),
        ("| a |\n\n^table\n\nMore.\n", '| a |\n\n\n<a id="^table"></a>\n\nMore.\n'),
        (
            "![x](@site/static/a.png) [y](@site/docs/b.md) [z](pathname:///c.pdf) `(@site/d)`\n",
            "![x](/a.png) [y](/docs/b.md) [z](/c.pdf) `(@site/d)`\n",
        ),
        ("2 ^10 and x^2 and [^note]\n", "2 ^10 and x^2 and [^note]\n"),
    ],
)
def test_what_is_not_for_readers_goes_and_code_stays(text: str, published: str) -> None:
    assert published_text(text, FRONT) == published


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "%%",
        " %%a",
        "`",
        "`%%",
        "```%%",
        "```\n%% ",
        "{% raw",
        "{{fm.",
        " ^",
        "```\n",
        "- ",
        "> - ",
        "- ```\n",
        "%% %",
        "{::comment}",
        "{::comment}{:/}",
    ],
)
def test_a_long_run_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    published_text(piece * 20_000, "{}")
    assert processor_seconds() - start < 2
