"""Classification of queries by their form: the first kind that fits decides, and most queries have none."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ....pipeline.settings.search import Classify
from ..model import ListName, QueryKind

# Names written with a capital inside that are words, not identifiers.
_NAMES = frozenset(
    ("github", "gitlab", "javascript", "typescript", "youtube", "linkedin", "postgresql", "mysql", "nosql",
     "mongodb", "graphql", "macos", "ios", "ipados", "latex", "numpy", "pytorch", "tensorflow", "fastapi",
     "devops", "webgl", "webrtc", "websocket", "websockets", "openapi", "wordpress", "powershell", "iphone",
     "ipad", "ebay", "onedrive", "cloudflare", "dropbox", "stackoverflow", "vscode", "obsidian")
)  # fmt: skip
_EXACT = re.compile(
    r"`[^`]+`|\"[^\"]+\"|\b\w+\(\)|\bv?\d+\.\d+(?:\.\d+)*\b|\b_{2}\w+_{2}\b|\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b"
)
_INNER_CAPITAL = re.compile(r"\b[A-Za-z]\w*[a-z0-9][A-Z]\w*\b")
_PLACE = re.compile(
    r"\[\[[^\]]+\]\]|\b(?:sections?|guides?|docs|documentation|chapters?|pages?)\b", re.IGNORECASE
)
_ASKS = re.compile(r"\W*(?:what|how|why|when|where|who|which|can|could|should|does|is|are)\b", re.IGNORECASE)
_SERVES: Mapping[QueryKind, ListName] = {
    "factual": "keyword",
    "navigational": "graph",
    "exploratory": "semantic",
}


def classify(text: str) -> QueryKind | None:
    """Tell names, literals (``factual``), places (``navigational``), questions (``exploratory``), others."""
    if _EXACT.search(text) or any(
        name.group().lower() not in _NAMES for name in _INNER_CAPITAL.finditer(text)
    ):
        return "factual"
    if _PLACE.search(text):
        return "navigational"
    if text.rstrip().endswith("?") or _ASKS.match(text):
        return "exploratory"
    return None


def adapted(weights: Mapping[str, float], kind: QueryKind | None, factors: Classify) -> dict[str, float]:
    """Multiply the weight of the list that serves this kind of query best."""
    if kind is None:
        return dict(weights)
    served = _SERVES[kind]
    factor = float(getattr(factors, kind))
    return {name: weight * factor if name == served else weight for name, weight in weights.items()}
