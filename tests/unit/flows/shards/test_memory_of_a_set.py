"""What a pass over a shard holds: links are objects one block at a time, whatever their number."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.shards.files import of_shard
from tests.unit.flows.shards.test_shards import settings_for, write_library


def test_links_of_a_shard_are_objects_one_block_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_library(tmp_path / "notes")
    monkeypatch.setattr("noctule.flows.stages.links._LINKS_AT_A_TIME", 8)
    store = Store(tmp_path / "store")
    build_snapshot(settings_for(tmp_path / "notes", count=2, by="hash"), store)
    for name in ("0000", "0001"):
        links = of_shard(store.root, name).read("links")
        assert len(links) > 16 and max(map(len, links.to_batches())) <= 8
