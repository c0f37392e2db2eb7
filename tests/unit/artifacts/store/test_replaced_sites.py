"""Sites set aside: one place for each folder, and a prune that leaves what a build has in hand."""

from __future__ import annotations

import os
from pathlib import Path

from noctule.artifacts.disk import locks
from noctule.artifacts.store.replaced_sites import drop_replaced_sites, replaced_site


def test_each_folder_of_a_site_has_a_place_of_its_own(tmp_path: Path) -> None:
    one, other = replaced_site(tmp_path, tmp_path / "site"), replaced_site(tmp_path, tmp_path / "other")
    assert one.parent == other.parent == tmp_path / "sites" and one != other
    assert replaced_site(tmp_path, tmp_path / "more" / ".." / "site") == one


def test_prune_drops_what_no_build_has_in_hand(tmp_path: Path) -> None:
    held, free = replaced_site(tmp_path, tmp_path / "held"), replaced_site(tmp_path, tmp_path / "free")
    for path in (held, free):
        (path / "deep").mkdir(parents=True)
        (path / "deep/page.html").write_text("page")
    folder = os.open(held, os.O_RDONLY)
    try:
        assert locks.directory(folder, alone=True)
        drop_replaced_sites(tmp_path)
        assert (held / "deep/page.html").is_file() and not free.exists()
    finally:
        os.close(folder)
    drop_replaced_sites(tmp_path)
    assert not list((tmp_path / "sites").iterdir())
    drop_replaced_sites(tmp_path / "no store")


def test_a_link_among_them_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/page.html").write_text("page")
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites/abc").symlink_to(tmp_path / "mine")
    drop_replaced_sites(tmp_path)
    assert (tmp_path / "mine/page.html").is_file() and not list((tmp_path / "sites").iterdir())
