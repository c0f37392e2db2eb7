from __future__ import annotations

import json
from typing import Any

import pytest

from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.parse.notebook import markdown_of_notebook
from noctule.pipeline.settings.collection import Collection
from tests.processor_time import processor_seconds


def cell(kind: str, source: str | list[str], **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "source": source, "metadata": {}, **more}


def notebook(*cells: dict[str, Any], language: str = "Python") -> str:
    return json.dumps({"nbformat": 4, "metadata": {"kernelspec": {"language": language}}, "cells": cells})


def read(text: str) -> Document:
    content = text.encode()
    return parse(Source("c", "folder/note.ipynb", content, sha256_hex(content)), Collection(root="unused"))


def test_cells_are_one_markdown_text() -> None:
    document = read(
        notebook(
            cell("markdown", ["# Title\n", "\n", "See [b](b.md) and `x`.\n"]),
            cell("code", "import os\n\nos.getcwd()"),
            cell("markdown", "## Part"),
            cell("code", ""),
            cell("markdown", "End."),
        )
    )
    assert (document.title, document.syntax, document.url) == ("Title", "markdown", "folder/note.html")
    assert [(h.level, h.text) for h in document.headings] == [(1, "Title"), (2, "Part")]
    assert [(b.kind, b.text, b.language) for b in document.blocks] == [
        ("text", "See b and x.", ""),
        ("code", "import os\n\nos.getcwd()", "python"),
        ("text", "End.", ""),
    ]
    assert [(link.target, link.text) for link in document.links] == [("b.md", "b")]
    assert all("\n" in document.text[b.start : b.end] for b in document.blocks)


def test_outputs_are_left_out() -> None:
    output = {"output_type": "stream", "name": "stdout", "text": "42 of 42 done"}
    assert "42" not in read(notebook(cell("code", "f()", outputs=[output], execution_count=1))).text


def test_images_of_outputs_and_attachments_stand_where_they_belong() -> None:
    shown = [{"data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}}, {"text": "42"}]
    attached = {"an owl.png": {"image/png": "iVBORw0KGgo="}}
    cells = [
        cell("code", "plot()", outputs=shown),
        cell("markdown", "See ![owl](attachment:an%20owl.png).", attachments=attached),
        cell("code", "hide()", outputs=shown, metadata={"tags": ["remove-output"]}),
    ]
    document = read(notebook(*cells))
    folder = document.path.rsplit("/", 1)[-1].replace(" ", "%20")
    assert [(link.kind, link.target) for link in document.links] == [
        ("image", f"{folder}/cell-1-output-1.png"),
        ("image", f"{folder}/cell-2-attachment-1.png"),
    ]


def test_an_attachment_is_found_by_the_longest_name_that_the_text_begins_with() -> None:
    image = {"image/png": "iVBORw0KGgo="}
    names = {"a": image, "a b.png": image, "a%20b": image, "\ud800": image}
    text = "![](attachment:a) ![](attachment:a%20b.png) ![](attachment:a%20b) attachment:c"
    document = read(notebook(cell("markdown", text, attachments=names)))
    places = [link.target.rsplit("-", 1)[1] for link in document.links]
    assert places == ["1.png", "2.png", "3.png"] and "attachment:c" in document.text


def test_attachments_of_a_cell_cost_time_in_proportion_to_their_number() -> None:
    image, many = {"image/png": "iVBORw0KGgo="}, 20_000
    text = "".join(f"attachment:a{number} " for number in range(many))
    given = json.dumps({"cells": [cell("markdown", text, attachments={f"a{n}": image for n in range(many)})]})
    began = processor_seconds()
    assert markdown_of_notebook(given, "c:note.ipynb").count("note.ipynb/cell-1-attachment-") == many
    assert processor_seconds() - began < 2


def test_images_of_a_notebook_at_the_top_of_the_folder_are_named_without_the_collection() -> None:
    content = notebook(cell("code", "plot()", outputs=[{"data": {"image/png": "iVBORw0KGgo="}}])).encode()
    document = parse(Source("c", "top.ipynb", content, sha256_hex(content)), Collection(root="unused"))
    assert [link.target for link in document.links] == ["top.ipynb/cell-1-output-1.png"]


def test_a_cell_that_holds_fences_or_leaves_one_open_ends_with_itself() -> None:
    document = read(
        notebook(cell("code", 'x = """\n```\n"""'), cell("markdown", "~~~sh\nls"), cell("markdown", "After."))
    )
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("code", 'x = """\n```\n"""'),
        ("code", "ls"),
        ("text", "After."),
    ]


def test_the_language_is_the_kernels_unless_the_cell_names_another() -> None:
    document = read(
        notebook(cell("code", "1"), cell("code", "%%bash\nls"), cell("code", "%%time\n2"), language="R")
    )
    assert [b.language for b in document.blocks] == ["r", "bash", "r"]
    assert read(json.dumps({"cells": [cell("code", "1")]})).blocks[0].language == ""


def test_cells_that_a_book_leaves_out_are_left_out() -> None:
    hidden = cell("code", "secret()") | {"metadata": {"tags": ["remove-cell"]}}
    assert "secret" not in read(notebook(hidden, cell("markdown", "x"))).text


def test_front_matter_may_stand_in_the_first_cell_and_other_raw_cells_are_code() -> None:
    document = read(
        notebook(
            cell("raw", "---\ntitle: Given\ntags: [a]\n---"), cell("markdown", "# H"), cell("raw", "<x>")
        )
    )
    assert (document.title, document.tags) == ("Given", ("a",))
    assert [(b.kind, b.text) for b in document.blocks] == [("code", "<x>")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON: line 1, column 2"),
        ("[]", "not an object"),
        ("{}", "no list of cells"),
        ('{"nbformat": 3, "worksheets": []}', "this says 3"),
        ('{"cells": [1]}', "cell 1 is not an object"),
        ('{"cells": [{"source": [1]}]}', "the source of cell 1 is not text"),
        ('{"cells": [{"source": "a\\u0000"}]}', "a NUL character"),
        ('{"cells": [{"source": "\\ud800"}]}', "half of a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
        ('{"cells": ' + "9" * 5_000 + "}", "not JSON"),
    ],
)
def test_what_is_no_notebook_is_rejected_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(RejectedDocument, match=reason):
        read(text)


def test_the_kernels_language_is_not_that_of_the_text() -> None:
    assert read(notebook(cell("markdown", "# Owls"), cell("code", "owl()"))).language == "en"
