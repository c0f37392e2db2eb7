"""A Word document keeps its headings, lists, tables and links; bombs and impostors are refused."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest

from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse, word
from noctule.pipeline.settings.collection import Collection
from tests.office_files import docx_of, paragraph

CELL = "<w:tc>{}</w:tc>"
IMAGE = (
    '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
    '<wp:docPr id="1" name="p" descr="An owl on a branch"/>'
    '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData>'
    '<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill>'
    '<a:blip r:embed="rId5"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>'
    "</w:r></w:p>"
)
RELATIONSHIPS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId5" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" '
    'Target="media/owl.png"/></Relationships>'
)


def read(content: bytes) -> Document:
    return parse(Source("c", "a.docx", content, sha256_hex(content)), Collection(root="unused"))


def test_headings_paragraphs_and_tables_are_kept() -> None:
    row = "".join(CELL.format(paragraph(each)) for each in ("Barn owl", "white"))
    document = read(
        docx_of(
            paragraph("Owls", "Heading1")
            + paragraph("They hunt.")
            + paragraph("Kinds", "Heading2")
            + f"<w:tbl><w:tr>{row}</w:tr></w:tbl>",
            core="<dc:creator>Ann &amp; Bo</dc:creator><dcterms:modified>2026-02-03</dcterms:modified>",
        )
    )
    assert [(each.level, each.text) for each in document.headings] == [(1, "Owls"), (2, "Kinds")]
    assert (document.title, document.author, document.modified) == ("Owls", "Ann & Bo", "2026-02-03")
    assert "Barn owl | white" in [block.text for block in document.blocks]


def test_the_title_of_its_properties_comes_first() -> None:
    assert (
        read(docx_of(paragraph("Owls", "Title"), core="<dc:title>Night birds</dc:title>")).title
        == "Night birds"
    )


def test_an_image_is_shown_by_its_path_below_the_document() -> None:
    files = {"word/_rels/document.xml.rels": RELATIONSHIPS, "word/media/owl.png": "PNG"}
    document = read(docx_of(paragraph("Owls") + IMAGE, files=files))
    assert [(each.kind, each.target, each.text) for each in document.links] == [
        ("image", "a.docx/owl.png", "An owl on a branch")
    ]
    assert document.notes == () and "data:" not in document.html


def test_an_image_that_no_browser_shows_leaves_its_description_and_a_remark() -> None:
    relationships = RELATIONSHIPS.replace("owl.png", "owl.emf")
    files = {"word/_rels/document.xml.rels": relationships, "word/media/owl.emf": "EMF"}
    document = read(docx_of(paragraph("Owls") + IMAGE, files=files))
    assert "An owl on a branch" in document.text
    assert document.notes == ("1 images are left out: their descriptions stand in their places",)
    assert "data:" not in document.html


def test_markup_in_the_text_is_text() -> None:
    assert "<script" not in read(docx_of(paragraph("<script>alert(1)</script>"))).html


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no archive", "not a Word document"),
        (docx_of("")[:-40], "not a Word document"),
        (docx_of("", files={"word/document.xml": "<a"}), "not a Word document"),
        (
            docx_of("", files={"word/document.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'}),
            "declares a document type",
        ),
    ],
)
def test_an_impostor_says_what_it_is(content: bytes, reason: str) -> None:
    with pytest.raises(RejectedDocument, match=reason):
        read(content)


_ENTITY = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>'
_ELSEWHERE = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/media/owl.png"/></Relationships>'
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("name", ["word/document.xml", "word/media/owl.png"])
def test_entities_are_found_in_any_part_and_encoding(name: str, encoding: str) -> None:
    text = _ENTITY.replace('"1.0"', f'"1.0" encoding="{encoding}"')
    files = {"_rels/.rels": _ELSEWHERE, name: text.encode(encoding)}
    with pytest.raises(RejectedDocument, match="declares a document type"):
        read(docx_of("", files=files))


def test_a_part_is_xml_by_what_it_holds_and_not_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word, "MAX_XML", 10_000)
    assert "Owls" in read(docx_of(paragraph("Owls"), files={"word/media/owl.png": b"\x89PNG" * 5_000})).text
    with pytest.raises(RejectedDocument, match="unpacks to more than"):
        read(docx_of("", files={"_rels/.rels": _ELSEWHERE, "word/media/owl.png": "\n<a/>" * 5_000}))


def test_an_image_elsewhere_is_not_opened() -> None:
    outside = RELATIONSHIPS.replace("media/owl.png", "file:///etc/hostname")
    assert "file:///etc/hostname" in outside
    image = IMAGE.replace("r:embed", "r:link")
    assert "r:link" in image
    read_ = read(docx_of(paragraph("Owls") + image, files={"word/_rels/document.xml.rels": outside}))
    assert read_.text.split() == ["Owls", "An", "owl", "on", "a", "branch"]


def test_a_bomb_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word, "MAX_XML", 1_000_000)
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 2_000_000)
    with pytest.raises(RejectedDocument, match="unpacks to more than"):
        read(packed.getvalue())


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noctule.pipeline.parse.word.find_spec", lambda name: None)
    with pytest.raises(RejectedDocument, match=r"install noctule\[docx\]"):
        read(docx_of(""))
