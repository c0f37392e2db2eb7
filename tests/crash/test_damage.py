"""Every kind of damage to every file is refused, by name, before a library that might believe it sees
a byte.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from noctule.artifacts.disk.layout import FILES, MANIFEST
from noctule.artifacts.store.check import check_deep, check_structure
from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import DamagedSnapshot
from noctule.pipeline.model import SnapshotId
from tests.snapshot_builder import publish_tiny_snapshot

Damage = Callable[[Path], None]


def _delete(path: Path) -> None:
    path.unlink()


def _zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _extend(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def _swap(path: Path) -> None:
    other = path.with_name("sections.parquet" if path.name != "sections.parquet" else "links.parquet")
    mine = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(mine)


def _link(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


DAMAGES: tuple[Damage, ...] = (_delete, _zero, _halve, _empty, _extend, _flip, _swap, _link)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = Store(tmp_path_factory.mktemp("sound"))
    return store.path_of(publish_tiny_snapshot(store).snapshot_id)


CASES = [
    (name, damage) for name in (*FILES, MANIFEST) for damage in DAMAGES if (name, damage) != (MANIFEST, _link)
]


@pytest.mark.parametrize(("name", "damage"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_damage_is_refused_and_the_file_named(name: str, damage: Damage, sound: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sound, tmp_path / sound.name, copy_function=shutil.copyfile)
    damage(folder / name)
    touched = {name, "sections.parquet", "links.parquet"} if damage is _swap else {name}
    for prove in (_open, check_deep):
        with pytest.raises(DamagedSnapshot) as caught:
            prove(folder, SnapshotId(sound.name))
        assert Path(caught.value.where).name in touched
        assert "noctule rollback" in caught.value.hint
    if damage in (_delete, _halve, _empty, _extend):
        with pytest.raises(DamagedSnapshot):
            check_structure(folder, SnapshotId(sound.name))


def _open(folder: Path, name: SnapshotId) -> None:
    with Snapshot.open(folder, expected_id=name):
        pass


def test_the_undamaged_copy_passes(sound: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sound, tmp_path / sound.name, copy_function=shutil.copyfile)
    _open(folder, SnapshotId(sound.name))
    check_deep(folder, SnapshotId(sound.name))


def test_no_library_is_even_loaded_before_the_bytes_are_verified(sound: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sound, tmp_path / sound.name, copy_function=shutil.copyfile)
    _flip(folder / "passages.parquet")
    program = (
        "import sys; from pathlib import Path; from noctule.artifacts.store.snapshot import Snapshot\n"
        "try: Snapshot.open(Path(sys.argv[1]), expected_id=Path(sys.argv[1]).name)\n"
        "except Exception as error: print(error.kind, *({'pyarrow', 'faiss', 'duckdb'} & set(sys.modules)))\n"
    )
    root = Path(__file__).parents[2]
    output = subprocess.run(
        [sys.executable, "-c", program, folder], cwd=root, capture_output=True, text=True, check=True
    )
    assert output.stdout.split() == ["DamagedSnapshot"]


@pytest.mark.parametrize("is_of_one_size", [True, False])
def test_files_of_two_builds_are_refused(is_of_one_size: bool, tmp_path: Path) -> None:
    store = Store(tmp_path)
    old, new = (store.path_of(publish_tiny_snapshot(store, edition).snapshot_id) for edition in (0, 1))
    differ = [name for name in FILES if (old / name).read_bytes() != (new / name).read_bytes()]
    name = next(
        each
        for each in differ
        if ((old / each).stat().st_size == (new / each).stat().st_size) == is_of_one_size
    )
    shutil.copyfile(old / name, tmp_path / "mixed")
    (tmp_path / "mixed").replace(new / name)
    with pytest.raises(DamagedSnapshot, match="SHA-256" if is_of_one_size else "bytes") as caught:
        store.open()
    assert caught.value.where.endswith(name)


def test_an_extra_file_is_found_by_the_deep_check_and_read_by_nobody(sound: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sound, tmp_path / sound.name, copy_function=shutil.copyfile)
    (folder / "extra.parquet").write_bytes(b"who put this here")
    _open(folder, SnapshotId(sound.name))
    with pytest.raises(DamagedSnapshot, match="does not list it") as caught:
        check_deep(folder, SnapshotId(sound.name))
    assert Path(caught.value.where).name == "extra.parquet"
