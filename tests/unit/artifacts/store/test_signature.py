"""Signed snapshots: ``noctule publish --sign KEY`` and readers that ask for a signature."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import noctule
from noctule.artifacts.disk.layout import MANIFEST
from noctule.artifacts.remote.send import send
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.signature import SIGNATURE, require_signature, sign
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import DamagedSnapshot, NotSigned, SettingsError
from tests.snapshot_builder import publish_tiny_snapshot

pytestmark = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed: signatures are not tested"
)


def _key(folder: Path, name: str) -> Path:
    path = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


def _allowed(folder: Path, *keys: Path) -> Path:
    """A file of allowed signers, each named by the name of its key."""
    path = folder / f"allowed-{'-'.join(key.name for key in keys)}"
    lines = [f'{key.name}@example.org namespaces="noctule-snapshot" {_public(key)}' for key in keys]
    path.write_text("".join(lines))
    return path


def _public(key: Path) -> str:
    return key.with_suffix(".pub").read_text()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    publish_tiny_snapshot(store)
    return store


@pytest.mark.parametrize("kind", ["folder", "address"])
def test_a_signed_snapshot_is_read_by_who_asks_for_it_until_the_key_changes(
    kind: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
    old, new = _key(tmp_path, "old"), _key(tmp_path, "new")
    target = f"file://{tmp_path}/target" if kind == "address" else str(tmp_path / "target")
    send(store, target, keep=1)
    with pytest.raises(NotSigned, match="is not signed"):
        noctule.open(target, require_signed=_allowed(tmp_path, old))
    sent = send(store, target, keep=1, sign_with=old)
    noctule.open(target, require_signed=_allowed(tmp_path, old)).close()
    reader = Store(target if kind == "address" else Path(target))
    check_deep(reader.path_of(sent.snapshot_id), sent.snapshot_id)
    with pytest.raises(NotSigned, match="no allowed signer"):
        noctule.open(target, require_signed=_allowed(tmp_path, new))
    both = _allowed(tmp_path, old, new)
    assert reader.require_signed(sent.snapshot_id, both) == "old@example.org"
    send(store, target, keep=1, sign_with=new)
    noctule.open(target, require_signed=_allowed(tmp_path, new)).close()


def test_a_signature_of_something_else_is_refused(store: Store, tmp_path: Path) -> None:
    key, now = _key(tmp_path, "key"), store.current()
    assert now is not None
    store.put_signature(now, sign(b"another manifest", key))
    with pytest.raises(NotSigned, match="is not what key@example"):
        store.require_signed(now, _allowed(tmp_path, key))
    (store.path_of(now) / SIGNATURE).write_bytes(b"no signature at all")
    with pytest.raises(NotSigned, match="no allowed signer"):
        store.require_signed(now, _allowed(tmp_path, key))


def test_a_signed_snapshot_under_the_name_of_another_is_refused(store: Store, tmp_path: Path) -> None:
    key, first = _key(tmp_path, "key"), store.current()
    assert first is not None
    store.put_signature(first, sign((store.path_of(first) / MANIFEST).read_bytes(), key))
    second = publish_tiny_snapshot(store, edition=7).snapshot_id
    store.path_of(second).rename(tmp_path / "put away")
    store.path_of(first).rename(store.path_of(second))
    with pytest.raises(DamagedSnapshot, match=f"expected the manifest of {second}"):
        store.require_signed(second, _allowed(tmp_path, key))


def test_a_signature_for_another_purpose_does_not_count(store: Store, tmp_path: Path) -> None:
    key, now = _key(tmp_path, "key"), store.current()
    assert now is not None
    manifest = (store.path_of(now) / MANIFEST).read_bytes()
    command = ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", "file"]
    of_a_file = subprocess.run(command, input=manifest, capture_output=True, check=True).stdout
    with pytest.raises(NotSigned):
        require_signature(manifest, of_a_file, _allowed(tmp_path, key), "here")


def test_what_is_missing_is_said(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = _key(tmp_path, "key")
    with pytest.raises(SettingsError, match="cannot sign"):
        sign(b"x", tmp_path / "none")
    with pytest.raises(SettingsError, match="no such file of allowed signers"):
        require_signature(b"x", b"y", tmp_path / "none", "here")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match="ssh-keygen is not installed"):
        send(store, str(tmp_path / "target"), keep=1, sign_with=key)
    assert not (tmp_path / "target").exists()
