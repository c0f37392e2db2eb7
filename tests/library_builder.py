"""A small library of notes, really indexed with the real model, and encoders that cost nothing."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from noctule.artifacts.query.model import TextEncoder, Vector
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings

TODAY = date(2026, 8, 31)
DIMENSION = 384
# Two lists, nothing added to the query, and no stage that changes a score.
PLAIN: Mapping[str, object] = {
    "understand": [],
    "weights": {"keyword": 1.0, "semantic": 1.0, "document": 0.0, "code": 0.0, "graph": 0.0},
    "fusion": "rrf",
    "stages": ["duplicate_hash", "duplicate_url", "calibrate", "per_document"],
    "max_per_document": 2,
}

NOTES: Mapping[str, str] = {
    "fruit/apples.md": """# Apples

Apples are the fruit of an orchard tree. See [[Pears]] and [[Orchard]].

## Storing

Keep apples in a cool cellar; a cellar keeps them until spring.

## Cutting

Cut apples in quarters with a small knife.

## Baking

Bake apples in the oven with cinnamon.
""",
    "fruit/pears.md": """# Pears

Pears ripen after the harvest. See [[Apples]].

## Storing

Keep pears in a cool cellar, away from apples.
""",
    "fruit/orchard.md": """# Orchard

An orchard is a garden of trees: [[Apples]], [[Pears]] and [[Boats]].
""",
    "boats.md": """# Boats

A boat floats on water. Call `launchBoat()` to start; `get_user_by_id` finds its owner.

## Sails

Sails catch the wind, as a trade wind does. Sails are made of canvas.

## Rowing

Rowing is done with oars. See [[Harbour]].
""",
    "harbour.md": """# Harbour

Boats sleep in the harbour at night. Single Sign-On (SSO) opens the gate of the harbour.
""",
    "copy-one.md": """# Lighthouse

A lighthouse shines at night and warns the ships of rocks near the coast.
""",
    "copy-two.md": """# Lighthouse

A lighthouse shines at night and warns the ships of rocks near the coast.
""",
    "copy-three.md": """# Lighthouse again

A lighthouse shines at night and warns all ships of rocks near the coast.
""",
    "glossary/tide.md": """# Tide

Tide: the rise and fall of the sea, twice a day.
""",
    "sea.md": """# The sea

The tide comes in, the tide goes out. Waves break on the coast. The sea is salty.
""",
    "hebrew.md": """# עברית

טקסט קצר בעברית על סירות. Ünïcödé wörds 🎉 stand here: a naïve café.
""",
    "saga.md": "# Saga\n\n"
    + "".join(f"## Part {at}\n\nThe saga of the whale, part {at}.\n\n" for at in range(60)),
    "whale.md": "# Animals of the deep\n\nAmong them is the whale, of which many a saga is told.\n",
}  # fmt: skip
COLLECTIONS: Mapping[str, Mapping[str, str]] = {
    "staff": {
        "pay/salaries.md": "# Salaries\n\nSalaries are paid on Fridays.\n\n## Raises\n\nAsk for raises.\n"
    },
    "public": {"guide/visits.md": "# Visits\n\nVisits are on Fridays. Salaries are not told.\n"},
}
_FRONT = {
    "boats.md": "tags: [sea, craft]\nauthor: Ada\nstatus: draft\n",
    "harbour.md": "tags: [sea]\nauthor: Grace\nlang: en\n",
}
_AGE_DAYS = {"fruit/apples.md": 3, "fruit/pears.md": 20, "boats.md": 400, "harbour.md": -5}


def write_notes(root: Path) -> Path:
    """The notes as files, some with a date, tags and an author."""
    for name, text in NOTES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        front = _FRONT.get(name, "")
        if name in _AGE_DAYS:
            front += f"date: {TODAY - timedelta(days=_AGE_DAYS[name])}\n"
        path.write_text(f"---\n{front}---\n\n{text}" if front else text, "utf-8")
    return root


def build_library(folder: Path, beside: Mapping[str, bytes] | None = None) -> Store:
    """A store with the snapshot of the notes, built by the real job with the real model.

    The files ``beside`` are read as well.
    """
    root = write_notes(folder / "notes")
    for name, content in (beside or {}).items():
        (root / name).write_bytes(content)
    given = {
        "collections": {"notes": {"root": str(root)}},
        "embed": {"workers": 1},
        "engine": {"name": "inline"},
        "vocabulary": {"min_passages": 1},
    }
    store = Store(folder / "store")
    build_snapshot(parse(given, where="test"), store, PlainDriver(), Silent())
    return store


def build_collections(folder: Path) -> Store:
    """A store whose snapshot has two collections, which hold the same words but for their own names."""
    for name in COLLECTIONS:
        for path, text in COLLECTIONS[name].items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_text(text, "utf-8")
    given = {
        "collections": {name: {"root": str(folder / name)} for name in COLLECTIONS},
        "embed": {"workers": 1},
        "engine": {"name": "inline"},
        "vocabulary": {"max_terms": 0},
        "static_encoder": {"phrases": 0, "spans": 0, "passages": 0},
    }
    store = Store(folder / "store")
    build_snapshot(parse(given, where="test"), store, PlainDriver(), Silent())
    return store


def settings_of(**search: object) -> Settings:
    """Settings with these values in their table ``search``."""
    return parse({"search": search}, where="test")


def searcher_of(store: Store, encoder: TextEncoder | None = None, **search: object) -> Searcher:
    """A searcher over the store; its clock stands at ``TODAY``, its encoder is cheap unless one is given.

    What is not said in ``search`` is as in ``PLAIN``, whatever the defaults are.
    """
    settings = settings_of(**{**PLAIN, **search})
    return Searcher(store.open(), settings, encoder or WordEncoder(), clock=lambda: TODAY)


class WordEncoder:
    """The same words give the same unit vector, in every process; ``calls`` counts the texts."""

    def __init__(self) -> None:
        self.calls = 0

    def encode_query(self, text: str) -> Vector:
        self.calls += 1
        vector = np.full(DIMENSION, 1e-3, dtype=np.float32)
        for word in text.lower().split():
            vector[zlib.crc32(word.encode("utf-8")) % DIMENSION] += 1
        unit: Vector = vector / np.linalg.norm(vector)
        return unit


class FailingEncoder(WordEncoder):
    """Raises the error, so many times."""

    def __init__(self, error: Exception, times: int = 1_000_000) -> None:
        super().__init__()
        self._error, self._times = error, times

    def encode_query(self, text: str) -> Vector:
        vector = super().encode_query(text)
        if self.calls <= self._times:
            raise self._error
        return vector
