"""``noctule prune --embeddings`` on a real store: smaller, and the next night encodes nothing again."""

from __future__ import annotations

import json
from pathlib import Path

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.incremental.pruning import prune_store
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.settings import reading
from tests.command_line import CommandLine, write_vault


def _size(store: Path) -> int:
    return sum(path.stat().st_size for path in (store / "embeddings").rglob("*.parquet"))


def test_only_texts_of_kept_snapshots_stay_and_the_next_run_encodes_nothing(tmp_path: Path) -> None:
    vault, store = write_vault(tmp_path / "vault"), Store(tmp_path / "store")
    given = {"collections": {"vault": {"root": str(vault)}}, "vocabulary": {"min_passages": 1}}
    settings = reading.parse(given | {"engine": {"name": "inline"}}, where="here")

    def build() -> int:
        steps = PlainDriver()
        build_snapshot(settings, store, steps, Silent(), BuildOptions(accept_shrink=True))
        return len(list((store.root / "embeddings").rglob("*.parquet")))

    build()
    long_gone = " ".join(f"gondola{number}" for number in range(40))
    (vault / "gone.md").write_text(f"# Gone soon\n\n{long_gone}\n")
    build()
    (vault / "gone.md").unlink()
    for text in ("Owls hunt at dusk.", "Owls hunt at night."):
        (vault / "guide" / "owls.md").write_text(f"# Owls\n\n{text}\n")
        segments = build()
    before = _size(store.root)
    spared = prune_store(store, 0, settings, spare_runs=100)
    assert spared.embeddings is not None and spared.embeddings.vectors == 0
    assert spared.removed, "the snapshot with the page that is gone"
    done = prune_store(store, 0, settings, spare_runs=0)
    assert done.embeddings is not None and done.embeddings.vectors > 0
    assert done.embeddings.kept_bytes == _size(store.root) < before
    pruned = len(list((store.root / "embeddings").rglob("*.parquet")))
    assert pruned < segments
    assert build() == pruned, "something had to be encoded again"


def test_the_command_prunes_embeddings_and_says_what_it_freed(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault")
    command = CommandLine(tmp_path, tmp_path / "store")
    assert command.run("index", str(vault), "--no-prefect").code == 0
    plain = command.run("prune", "--json")
    assert json.loads(plain.out) == {"removed": [], "embeddings": None}
    pruned = command.run("prune", "--embeddings", "--spare-runs", "0", "--json")
    assert pruned.code == 0, pruned.err
    told = json.loads(pruned.out)["embeddings"]
    assert told["vectors"] == 0 and told["kept_vectors"] > 0
    held = command.run("prune", "--embeddings", "--spare-runs", "0")
    assert "embeddings: 0 vectors dropped" in held.out
