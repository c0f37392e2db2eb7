"""Figures in a page: as a part of the site's, or as a file that is read alone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from ..theme_folder import THEME
from .figure import Figure, plain

_STYLES = ("style.css", "charts.css")


def figure_html(figure: Figure) -> str:
    """Return the figure with its title, its legend and its sentence."""
    narrow = f'<div class="narrow">{figure.narrow}</div>' if figure.narrow else ""
    kind = "wide" if figure.narrow else "always"
    parts = [
        f'<figcaption class="chart-title">{escape(plain(figure.title))}{_headline(figure)}</figcaption>',
        f'<div class="{kind}">{figure.drawing}</div>{narrow}',
        _legend(figure),
        f'<p class="chart-sentence">{escape(plain(figure.sentence))}</p>',
    ]
    card = " card" if figure.value else ""
    return f'<figure class="chart-figure{card}">{"".join(filter(None, parts))}</figure>'


def _headline(figure: Figure) -> str:
    if not figure.value:
        return ""
    change = f' <span class="chart-change">{escape(figure.change)}</span>' if figure.change else ""
    return f' <strong class="chart-value">{escape(figure.value)}</strong>{change}'


def _legend(figure: Figure) -> str:
    items = "".join(f'<li class="key-{kind}">{escape(plain(name))}</li>' for kind, name in figure.legend)
    return f'<ul class="chart-legend">{items}</ul>' if items else ""


def figures_html(figures: Sequence[Figure]) -> str:
    """Return figures side by side, as many as there is room for."""
    kind = "chart-cards" if all(each.value for each in figures) else "chart-row"
    return f'<div class="{kind}">{"".join(map(figure_html, figures))}</div>' if figures else ""


def lone_page(title: str, body: str) -> str:
    """Return a page that needs no other file and runs nothing; its policy allows its own style alone."""
    style = "\n".join((THEME / name).read_text("utf-8") for name in _STYLES)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(plain(title))}</title>
<style>{style}</style>
</head>
<body>
<main class="content alone"><div class="prose report">
<h1>{escape(plain(title))}</h1>
{body}
</div></main>
</body>
</html>
"""
