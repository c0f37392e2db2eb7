"""What a worker understood is the same after its way through a file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np

from flows.collect import list_sources
from flows.engines.columns import from_bytes, to_bytes
from flows.understand import FileBatch, Understood, understand
from pipeline.field_counts import FieldCounts
from pipeline.settings import parse
from tests.e2e.test_build import write_vault


def _same_counts(one: FieldCounts, other: FieldCounts) -> None:
    for field in fields(FieldCounts):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype and mine.shape == theirs.shape, field.name
            np.testing.assert_array_equal(mine, theirs)
        else:
            assert mine == theirs, field.name


def _same(one: Understood, other: Understood) -> None:
    for field in fields(Understood):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if field.name in ("prose", "code"):
            _same_counts(mine, theirs)
        else:
            assert mine == theirs, field.name


def test_a_batch_is_the_same_after_its_way_through_bytes(tmp_path: Path) -> None:
    root = write_vault(tmp_path)
    (root / "terms.md").write_text("# Terms\n\nSingle Sign-On (SSO) is used. Über café: naïve 😀.\n")
    settings = parse({"collections": {"vault": {"root": str(root)}}}, where="test")
    batch = understand(FileBatch(list_sources(settings).files, settings))
    assert len(batch.documents) > 4 and batch.rejections and batch.acronyms and batch.linking[0].anchors
    content = to_bytes(batch)
    _same(from_bytes(content), batch)
    assert to_bytes(from_bytes(content)) == content


def test_an_empty_batch_is_the_same_too() -> None:
    nothing = understand(FileBatch((), parse({}, where="test")))
    _same(from_bytes(to_bytes(nothing)), nothing)
