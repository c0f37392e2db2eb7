"""Several publishing targets: one that fails is named, and does not keep the snapshot from the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.run.plain import PlainDriver
from noctule.flows.stages.publish import publish_elsewhere
from noctule.pipeline.errors import PartialFailure, SettingsError
from noctule.pipeline.settings.reading import parse
from tests.snapshot_builder import publish_tiny_snapshot


def test_a_target_that_fails_is_named_and_the_others_are_served(tmp_path: Path) -> None:
    published = publish_tiny_snapshot(Store(tmp_path / "store"))
    (tmp_path / "a-file").write_text("in the way")
    targets = [str(tmp_path / "a-file" / "below"), str(tmp_path / "good")]
    with pytest.raises(PartialFailure, match="1 of 2 publishing targets failed") as caught:
        publish_elsewhere(tmp_path / "store", targets, 1, PlainDriver())
    assert caught.value.exit_code == 5 and "a-file" in caught.value.where
    assert Store(tmp_path / "good").current() == published.snapshot_id


def test_no_target_is_no_work(tmp_path: Path) -> None:
    assert publish_elsewhere(tmp_path / "store", (), 1, PlainDriver()) == ()


@pytest.mark.parametrize("target", ["relative/folder", "", "s3:/bucket", "s3://bucket/a b"])
def test_what_is_no_target_is_refused_by_the_settings(target: str) -> None:
    with pytest.raises(SettingsError, match="not an absolute folder or an address"):
        parse({"publish": {"targets": [target]}}, where="test")


@pytest.mark.parametrize("name", ["spark", "dask:/host:1", "dask://host", "ray://:80", "processes://host:1"])
def test_an_engine_that_is_not_known_is_refused_by_the_settings(name: str) -> None:
    with pytest.raises(SettingsError, match="no engine"):
        parse({"engine": {"name": name}}, where="test")
