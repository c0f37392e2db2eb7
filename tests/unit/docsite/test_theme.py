"""The theme's colours are legible, and every script and style it names exists."""

from __future__ import annotations

import re

import pytest
from pygments.token import STANDARD_TYPES

from noctule.docsite.assets import asset_files
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.theme_folder import CLIENT, THEME
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

_STYLE = "".join((THEME / name).read_text() for name in ("style.css", "parts.css", "lines.css", "dialog.css"))
_COLOURS = dict(re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}, #[0-9a-f]{6})\)", _STYLE))
_TEXT = ["text", "muted", "link", "accent", "note", "tip", "warning", "danger"]
_IN_CODE = [name for name in _COLOURS if name.startswith(("code-", "terminal-"))]
_LINES = [name for name in _COLOURS if name.startswith("line-")]
_TEXT += _IN_CODE


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, second: str) -> float:
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", _TEXT)
def test_text_is_legible_on_every_background_it_stands_on(name: str, theme: int) -> None:
    grounds = (
        ["page", "panel", "raised", *_LINES]
        if name in _IN_CODE
        else ["page", "panel"] + (["raised"] if name in ("text", "muted", "accent", "link") else [])
    )
    for ground in grounds:
        text, behind = (_COLOURS[which].split(", ")[theme] for which in (name, ground))
        assert _contrast(text, behind) >= 4.5, (name, ground)


def test_the_focus_ring_stands_out() -> None:
    for theme in (0, 1):
        for ground in ("page", "panel", "raised"):
            ring, behind = (_COLOURS[which].split(", ")[theme] for which in ("focus", ground))
            assert _contrast(ring, behind) >= 3


def test_every_variable_that_is_used_is_defined() -> None:
    assert len(_LINES) == 3
    sheets = _STYLE + (THEME / "code.css").read_text()
    assert set(re.findall(r"var\((--[a-z-]+)\)", sheets)) <= set(re.findall(r"(--[a-z-]+):", sheets))


def test_code_classes_are_pygments_own() -> None:
    named = set(re.findall(r"\.([a-z][a-z0-9]*)\b", (THEME / "code.css").read_text())) - {"code", "css"}
    assert named <= set(STANDARD_TYPES.values())


def test_every_asset_that_a_template_or_script_names_is_there() -> None:
    sources = [*THEME.glob("*.html"), *CLIENT.rglob("*.js")]
    named = set(re.findall(r"_assets/([\w.-]+)", "".join(path.read_text() for path in sources)))
    plan = plan_site(snapshot_of({"notes": {"a.md": "# A\n"}}), Site(offline=True))
    named.add(plan.features.icon.file)
    made = {page.path.removeprefix("_assets/") for page in asset_files(plan)}
    made_elsewhere = {"custom.css", "custom.js", "mermaid.js", "manifest.webmanifest"}
    assert made - made_elsewhere == named - made_elsewhere


def test_motion_and_print_are_looked_after() -> None:
    assert "prefers-reduced-motion" in _STYLE and "@media print" in _STYLE and ":focus-visible" in _STYLE
