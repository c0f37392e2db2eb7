"""Drawings that run or load something are refused, each with what it holds; harmless ones are not."""

from __future__ import annotations

import pytest

from noctule.pipeline.assets.svg import is_white, svg_fault, without_imports
from tests.pictures import svg

_LINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
_HTML = 'xmlns="http://www.w3.org/1999/xhtml"'


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>',
        '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>',
        f"<foreignObject><iframe {_HTML} src='//evil.example'/></foreignObject>",
        f"<foreignObject><body {_HTML}><form/></body></foreignObject>",
        f"<foreignObject><img {_HTML} src='#x'/></foreignObject>",
        '<rect onload="alert(1)"/>',
        '<rect ONCLICK="alert(1)"/>',
        f'<a {_LINK} xlink:href="javascript:alert(1)"><text>x</text></a>',
        '<a href="java&#10;script:alert(1)"><text>x</text></a>',
        '<a href="data:text/html,x"><text>x</text></a>',
        '<a><set attributeName="href" to="https://evil.example"/></a>',
        '<animate attributeName="xlink:href" values="a;b"/>',
        '<animate attributeName="x" to="javascript:alert(1)"/>',
        '<image href="https://evil.example/t.gif"/>',
        '<image href="//evil.example/t.gif"/>',
        '<image href="data:image/svg+xml,x"/>',
        '<image href="other.png"/>',
        f'<use {_LINK} xlink:href="https://evil.example/x.svg#a"/>',
        '<g xml:base="https://evil.example/"><use href="#a"/></g>',
        '<rect fill="url(https://evil.example/x.svg#a)"/>',
        "<rect style=\"fill: url( '//evil.example/x' )\"/>",
        '<rect style="fill: u\\72l(https://evil.example/x)"/>',
        '<rect style="fill: url/**/(https://evil.example/x)"/>',
        "<style>@import 'https://evil.example/x.css';</style>",
        "<style>@\\69mport 'x.css';</style>",
        "<style>a { background: image-set('https://evil.example/x' 1x) }</style>",
        "<style><![CDATA[a{background:url(http://evil.example/x)}]]></style>",
        '<iframe src="https://evil.example"/>',
        '<?xml-stylesheet href="https://evil.example/x.css"?>',
        "<rect>",
    ],
)
def test_a_drawing_that_runs_or_loads_something_is_refused(inside: str) -> None:
    assert svg_fault(svg(1, 1, inside))


@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"/>',
        b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>',
        b"<html><body/></html>",
        b"\x89PNG",
        b"",
        b'<?xml version="1.0" encoding="no-such"?><svg/>',
    ],
)
def test_what_is_no_drawing_or_has_entities_is_refused(content: bytes) -> None:
    assert svg_fault(content)


@pytest.mark.parametrize(
    "inside",
    [
        '<linearGradient id="a"/><rect fill="url(#a)" style="stroke: url(\'#a\')"/>',
        f'<use {_LINK} xlink:href="#a"/>',
        '<image href="data:image/png;base64,AAAA"/>',
        f'<a {_LINK} xlink:href="https://example.org/?a=1"><text>read on</text></a>',
        "<style>.owl { fill: #123; } /* not url(http://x) */</style>",
        f'<foreignObject><div {_HTML} style="color: red">Owls <b>hunt</b></div></foreignObject>',
        "<title>javascript: the url(http://x) parts</title>",
        "<metadata><a:b xmlns:a='http://a' a:resource='http://example.org/'/></metadata>",
    ],
)
def test_a_harmless_drawing_is_fine(inside: str) -> None:
    assert svg_fault(svg(1, 1, inside)) == ""


def test_a_document_type_without_entities_is_fine() -> None:
    public = (
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    )
    assert svg_fault(b'<?xml version="1.0"?>' + public + svg(1, 1)) == ""


_FACE = "@font-face {{ font-family: 'Virgil'; src: url({}); }}"


@pytest.mark.parametrize(
    "rule",
    [
        _FACE.format("https://fonts.example/virgil.woff2"),
        _FACE.format("'//fonts.example/v.woff2') format('woff2'"),
        "@import 'https://fonts.example/x.css';",
        "@import url(https://fonts.example/x.css)",
        _FACE.format("https://a.example/1") * 3,
    ],
)
def test_a_drawing_is_kept_without_the_fonts_that_it_loads(rule: str) -> None:
    content = svg(9, 9, f"<style>text {{ fill: red }} {rule}</style><text>Owls</text>")
    assert "leaves the file" in svg_fault(content)
    kept = without_imports(content)
    assert not svg_fault(kept) and b"Owls" in kept and b"fill: red" in kept and b"example" not in kept


def test_a_font_that_stands_in_the_drawing_is_kept() -> None:
    content = svg(9, 9, f"<style>{_FACE.format('data:font/woff2;base64,' + 'A' * 90_000)}</style>")
    assert not svg_fault(content) and without_imports(content) == content


@pytest.mark.timeout(20)
@pytest.mark.parametrize("run", ["@font-face{", "@import ", "@font-face", "@import url(", "@font-face {x"])
def test_what_is_dropped_is_found_in_linear_time(run: str) -> None:
    without_imports(run.encode() * (2_000_000 // len(run)))


def test_what_dropping_a_rule_would_put_together_is_refused() -> None:
    inside = "@imp@import 'https://a.example/1';ort 'https://a.example/2'"
    assert svg_fault(without_imports(svg(9, 9, f"<style>{inside}</style>")))


@pytest.mark.parametrize(
    ("style", "white"),
    [
        ('fill="#fff"', True),
        ("style='fill:#FFFFFF;fill-rule:evenodd;stroke:none'", True),
        ('fill="white" stroke="#000"', False),
        ('fill="currentColor"', False),
        ('fill="url(#a)"', False),
        ("", False),
    ],
)
def test_a_drawing_is_white_if_all_that_it_paints_is(style: str, white: bool) -> None:
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg"><path {style} d="M0 0"/></svg>'
    assert is_white(drawing.encode()) is white


@pytest.mark.parametrize(
    ("inside", "white"),
    [
        ('<path d="M0 0"/><circle fill="#fff"/>', False),
        ('<clipPath id="a"><rect fill="white"/></clipPath><path d="M0 0"/>', False),
        ('<clipPath id="a"><rect fill="#000"/></clipPath><g fill="#fff"><path d="M0 0"/></g>', True),
        ('<image href="data:image/png;base64,aa"/><path fill="#fff" d="M0 0"/>', False),
        ('<style>.a{fill:#FFFFFF;}</style><path class="a" d="M0 0"/>', True),
        ('<g style="fill: white"><path d="M0 0"/></g>', True),
        ('<path fill="#fff" d="M0 0"/></g>', False),
    ],
)
def test_a_shape_without_a_paint_is_black_and_what_cuts_others_out_is_none(inside: str, white: bool) -> None:
    assert is_white(f'<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>'.encode()) is white
