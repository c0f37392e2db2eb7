"""Sites set aside: one place for each folder, and a prune that leaves what a build has in hand."""

from __future__ import annotations

import os
from pathlib import Path

from noctule.artifacts.store import locks
from noctule.artifacts.store.replaced_sites import aside_of, drop_asides


def test_each_folder_of_a_site_has_a_place_of_its_own(tmp_path: Path) -> None:
    one, other = aside_of(tmp_path, tmp_path / "site"), aside_of(tmp_path, tmp_path / "other")
    assert one.parent == other.parent == tmp_path / "sites" and one != other
    assert aside_of(tmp_path, tmp_path / "more" / ".." / "site") == one


def test_prune_drops_what_no_build_has_in_hand(tmp_path: Path) -> None:
    held, free = aside_of(tmp_path, tmp_path / "held"), aside_of(tmp_path, tmp_path / "free")
    for path in (held, free):
        (path / "deep").mkdir(parents=True)
        (path / "deep/page.html").write_text("page")
    folder = os.open(held, os.O_RDONLY)
    try:
        assert locks.directory(folder, alone=True)
        drop_asides(tmp_path)
        assert (held / "deep/page.html").is_file() and not free.exists()
    finally:
        os.close(folder)
    drop_asides(tmp_path)
    assert not list((tmp_path / "sites").iterdir())
    drop_asides(tmp_path / "no store")


def test_a_link_among_them_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/page.html").write_text("page")
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites/abc").symlink_to(tmp_path / "mine")
    drop_asides(tmp_path)
    assert (tmp_path / "mine/page.html").is_file() and not list((tmp_path / "sites").iterdir())
