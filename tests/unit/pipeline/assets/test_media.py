"""Files besides documents: what they are by their bytes, and what of them may not be carried."""

from __future__ import annotations

import pytest

from noctule.pipeline.assets.media import MEDIA_TYPES, media_type_of, recognise
from tests.pictures import png, svg

_GIF = b"GIF89a\x03\x00\x02\x00\x00\x00\x00;"


@pytest.mark.parametrize(
    ("path", "content", "name", "size"),
    [
        ("owl.png", png(7, 5), "image/png", (7, 5)),
        ("OWL.PNG", png(7, 5), "image/png", (7, 5)),
        ("owl.gif", _GIF, "image/gif", (3, 2)),
        ("owl.svg", svg(30, 20, "<rect/>"), "image/svg+xml", (30, 20)),
        ("owl.jpg", png(7, 5), "image/png", (7, 5)),
        ("call.mp3", b"ID3\x04", "audio/mpeg", (None, None)),
        ("flight.mp4", b"\0\0\0\x18ftypmp42", "video/mp4", (None, None)),
        ("paper.pdf", b"%PDF-1.7", "application/pdf", (None, None)),
        ("table.csv", "a;b\nü;2\n".encode("latin-1"), "text/csv", (None, None)),
        ("owl.yml", b"owl: 1\n", "application/yaml", (None, None)),
        ("owl.py", b"fly()\n", "text/x-python", (None, None)),
        ("owl.ipynb", b'{"cells": []}', "application/x-ipynb+json", (None, None)),
        ("owls.tar", b"owl.txt".ljust(257, b"\0") + b"ustar\x0000", "application/x-tar", (None, None)),
        ("torn.png", png(7, 5)[:12], "image/png", (None, None)),
    ],
)
def test_a_file_is_known_by_its_bytes(
    path: str, content: bytes, name: str, size: tuple[int | None, int | None]
) -> None:
    found = recognise(path, content)
    assert found.kind is MEDIA_TYPES[name] and not found.fault
    assert (found.width, found.height) == size


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("owl.png", b"<html><script>alert(1)</script>"),
        ("owl.png", b""),
        ("owl.jpg", svg(1, 1)),
        ("flight.mp4", b"<html>"),
        ("paper.pdf", b"<script>"),
        ("table.csv", b"MZ\0\0"),
        ("owl.py", b"\x7fELF\0"),
        ("owls.tar", b"owls"),
        ("page.html", b"<html>"),
        ("run.js", b"alert(1)"),
        ("notes.xml", b"<a/>"),
        ("owl", png(1, 1)),
    ],
)
def test_a_file_that_is_not_what_its_ending_says_is_refused(path: str, content: bytes) -> None:
    found = recognise(path, content)
    assert found.kind is None and found.fault


def test_no_page_and_no_script_is_a_kind_of_asset() -> None:
    for ending in ("html", "htm", "xhtml", "xht", "js", "mjs", "xml", "xsl", "css", "swf", "md"):
        assert media_type_of(f"x.{ending}") is None
    assert not {"text/html", "application/xhtml+xml", "text/javascript"} & MEDIA_TYPES.keys()
