"""A real snapshot of part of the guide and of notes that give an analyst something to find; and an
older one.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.settings.reading import parse
from tests.shared_folder import shared_folder

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = (
    "store/crash-safety.md",
    "store/damage-and-check.md",
    "store/index.md",
    "store/layout.md",
    "store/publishing-protocol.md",
    "store/rollback-and-prune.md",
    "concepts/bm25f.md",
    "concepts/code-index.md",
    "concepts/embedding.md",
    "concepts/snapshot.md",
)
OWLS = (
    "The little owl hunts at dusk. It nests in old fruit trees, and its call carries far over the fields.\n"
)
NOTES = {
    "hub.md": "---\ntitle: Old hub\ndate: 2015-03-01\ntags: [birds, index]\n---\n\n# Old hub\n\n"
        "Everything about [owls](owls.md).\n",
    "owls.md": f"---\ntags: [birds, night]\ndate: 2024-05-01\n---\n# Owls\n\n{OWLS}\n"
        f"Back to the [hub](hub.md); see [a page](https://example.org/owls) elsewhere.\n",
    "owls-again.md": f"---\ntags: [birds, night]\n---\n# Owls\n\n{OWLS}\nSee the [hub](hub.md).\n",
    "alone.md": "---\ntags: [lonely]\n---\n# Alone\n\n"
        "Nobody links here. It names a [missing page](nowhere.md) and [another](nowhere.md).\n",
    "log.md": "---\ndescription: How a log is kept.\n---\n# Log\n\n"
        "The Write-Ahead Log (WAL) is read first. See the [hub](hub.md).\n\n"
    "```sql\nselect 1;\n```\n\n```python\ndef readWriteAheadLog(path_name): ...\n```\n",
    "log-again.md": "# More on the log\n\nA write-ahead log (WAL) may grow. Checkpoint, then checkpoint "
        "again. See [the log](log.md).\n",
    "eulen.md": "---\nlang: de\n---\n# Eulen\n\nDie Eulen jagen in der D\u00e4mmerung und br\u00fcten in "
        "alten Obstb\u00e4umen.\n"
    "[Zur\u00fcck](hub.md)\n",
}  # fmt: skip
NEW = ("log-again.md",)


@dataclass(frozen=True)
class Guide:
    """The store, and the folders of its current snapshot and of the one before."""

    store: Store
    current: Path
    before: Path


@pytest.fixture(scope="session")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Guide:
    """Built once, whichever module of whichever process asks first."""
    store = Store(shared_folder(tmp_path_factory, "guide's snapshot", _build_both) / "store")
    current, before = (store.path_of(info.snapshot_id) for info in store.snapshots())
    return Guide(store, current, before)


def _build_both(base: Path) -> None:
    store = Store(base / "store")
    _write(base / "docs")
    for name in NEW:
        (base / "docs" / "notes" / name).unlink()
    _build(base / "docs", store)
    _write(base / "docs")
    _build(base / "docs", store)


def _write(folder: Path) -> None:
    for page in PAGES:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DOCS / page, folder / page)
    (folder / "notes").mkdir(exist_ok=True)
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text, encoding="utf-8")
    (folder / "notes" / "latin.md").write_bytes(b"caf\xe9")


def _build(folder: Path, store: Store) -> None:
    given = {
        "collections": {"guide": {"root": str(folder)}},
        "store": {"keep": 5},
        "engine": {"name": "inline"},
    }
    settings = parse(given, where="test")
    build_snapshot(settings, store, PlainDriver(), Silent())
