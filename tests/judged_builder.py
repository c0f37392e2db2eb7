"""Notes about a dozen subjects, a question for each, and snapshots in which the notes answer them well or
not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.report.result import BuildResult
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings

SUBJECTS: Mapping[str, str] = {
    "owls": "Owls hunt mice at dusk and nest in hollow trees.",
    "boats": "Boats float on water and carry sails and oars.",
    "bread": "Bread rises with yeast and bakes in a hot oven.",
    "clocks": "Clocks tick with a pendulum and count the hours.",
    "glass": "Glass is blown from molten sand by glaziers.",
    "honey": "Honey is made by bees from the nectar of flowers.",
    "iron": "Iron is forged by smiths with hammer and anvil.",
    "lamps": "Lamps burn oil and throw light on the page.",
    "maps": "Maps show rivers, borders and mountain passes.",
    "paper": "Paper is pressed from the pulp of wood.",
    "salt": "Salt is dried from sea brine in shallow pans.",
    "wool": "Wool is shorn from sheep and spun into yarn.",
}


def question(subject: str) -> str:
    """What somebody asks who wants to read of the subject: the words of its note."""
    return SUBJECTS[subject].rstrip(".").lower()


def write_notes(folder: Path, texts: Mapping[str, str]) -> Path:
    """A note for each subject with the text given."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(f"# Note {name}\n\n{text}\n", "utf-8")
    return folder


def shuffled() -> dict[str, str]:
    """The same texts, each in the note of the next subject: every question finds the wrong note first."""
    names = list(SUBJECTS)
    return {name: SUBJECTS[names[at - 1]] for at, name in enumerate(names)}


def write_judged(folder: Path, subjects: Iterable[str] = SUBJECTS, **more: str) -> Path:
    """A judged set: each subject's question is answered by its note; ``more`` are lines of the qrels, by
    query.
    """
    folder.mkdir(parents=True, exist_ok=True)
    asked = list(subjects)
    lines = [json.dumps({"_id": name, "text": question(name)}) for name in asked]
    (folder / "queries.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    qrels = [f"{name}\t{name}\t1" for name in asked] + [f"{query}\t{doc}\t1" for query, doc in more.items()]
    (folder / "qrels.tsv").write_text("\n".join(qrels) + "\n", "utf-8")
    return folder


def settings_for(notes: Path, *judged: Path, **tables: object) -> Settings:
    """Settings that index the notes, with a gate where a judged folder is given."""
    relevance = {"judged": [str(folder) for folder in judged]}
    given = {"collections": {"notes": {"root": str(notes)}}, "relevance": relevance}
    own = {"embed": {"workers": 1}, "engine": {"name": "inline"}}
    return parse({**given, **own, **tables}, where="test")


def night(store: Path, settings: Settings, *, accept_drop: bool = False) -> BuildResult:
    """One run over the store."""
    options = BuildOptions(accept_drop=accept_drop)
    return build_snapshot(settings, Store(store), PlainDriver(), Silent(), options)
