"""Home pages that front matter describes, as VitePress and Starlight do: a hero, and cards of features.

They become markdown, so that their links, images and words are those of any other page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..front_matter import one_line

MAX_CARDS, MAX_ACTIONS = 60, 12
_PRIMARY = ("brand", "primary")


def with_home(body: str, front_matter: str) -> str:
    """Return the text below what its front matter, given as JSON, says of a home page."""
    if '"hero"' not in front_matter and '"features"' not in front_matter:
        return body
    values = json.loads(front_matter)
    hero, features = values.get("hero"), values.get("features")
    is_home = isinstance(hero, Mapping) or values.get("layout") == "home"
    if not is_home:
        return body
    parts = [*_hero(hero if isinstance(hero, Mapping) else {}), *_cards(features)]
    return "\n\n".join([*parts, body])


def _hero(hero: Mapping[str, Any]) -> Iterator[str]:
    name, text = _line(hero.get("name") or hero.get("title")), _line(hero.get("text"))
    parts = [f"# {name or text}"] if name or text else []
    if name and text:
        parts.append(_div("hero-text", text))
    if tagline := _line(hero.get("tagline")):
        parts.append(_div("hero-tagline", tagline))
    if actions := " ".join(_actions(hero.get("actions"))):
        parts.append(_div("hero-actions", actions))
    if parts and (image := _image(hero.get("image"), name)):
        parts.append(_div("hero-image", image))
    if parts:
        yield _div("hero", "\n\n".join(parts))


def _actions(actions: object) -> Iterator[str]:
    for action in actions[:MAX_ACTIONS] if isinstance(actions, list) else ():
        if isinstance(action, Mapping) and (link := _link(_line(action.get("text")), action.get("link"))):
            kind = str(action.get("theme") or action.get("variant") or "brand")
            yield f"**{link}**" if kind in _PRIMARY else link


def _cards(features: object) -> Iterator[str]:
    known = [each for each in features if isinstance(each, Mapping)] if isinstance(features, list) else []
    if cards := list(filter(None, map(_card, known[:MAX_CARDS]))):
        yield _div("grid cards", "\n".join(cards))


def _card(feature: Mapping[str, Any]) -> str:
    title = _line(feature.get("title"))
    named = _link(title, feature.get("link")) if "linkText" not in feature else title
    head = f"## {named or title}" if title else ""
    more = _link(_line(feature.get("linkText")), feature.get("link"))
    parts = (_icon(feature.get("icon")), head, _line(feature.get("details")), more)
    paragraphs = "\n\n  ".join(filter(None, parts))
    return f"- {paragraphs}\n" if paragraphs else ""


def _icon(icon: object) -> str:
    if isinstance(icon, str):  # a drawing would be removed anyway
        return "" if "<" in icon else _line(icon)
    return _image(icon, "")


def _image(image: object, name: str) -> str:
    """Return the image: an address, or a mapping with one or with two for the light and the dark theme."""
    if isinstance(image, str):
        return f"![{name}]({_address(image)})" if _address(image) else ""
    if not isinstance(image, Mapping):
        return ""
    alt = _line(image.get("alt")) or name
    plain = image.get("src") or image.get("file")
    themed = [(image.get(theme), f"#only-{theme}") for theme in ("light", "dark")]
    given = [(plain, "")] if plain else themed
    return " ".join(f"![{alt}]({_address(src)}{mark})" for src, mark in given if _address(src))


def _link(text: str, target: object) -> str:
    address = _address(target)
    return f"[{text}]({address})" if text and address else ""


def _address(target: object) -> str:
    """Return an address as it stands between a link's parentheses; nothing if it could not."""
    text = _line(target)
    return "" if any(character in text for character in "<>()\\") else text.replace(" ", "%20")


def _line(value: object) -> str:
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


def _div(name: str, content: str) -> str:
    return f'<div class="{name}">\n\n{content}\n\n</div>'
