"""Signatures of manifests by ``ssh-keygen -Y``: a manifest has the hash of every file and stands for all.

The signature lies beside the manifest and is not part of the snapshot, whose name is that of its content.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from ...pipeline.errors import NotSigned, SettingsError
from ..disk import durable

SIGNATURE = "manifest.json.sig"
MAX_SIGNATURE_BYTES = 100_000
_NAMESPACE = "noctule-snapshot"
_TIMEOUT_S = 60


def sign(manifest: bytes, key: Path) -> bytes:
    """Return the key's signature of a manifest.

    A key with a passphrase must be in the agent; then ``key`` may be its public half. Raises
    ``SettingsError``.
    """
    done = _ssh_keygen(["-Y", "sign", "-f", str(key.expanduser()), "-n", _NAMESPACE], manifest)
    if done.returncode or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        hint = "Name a private key without passphrase, or the public half of a key that ssh-agent holds."
        raise SettingsError(f"ssh-keygen cannot sign with this key: {_said(done)}", where=str(key), hint=hint)
    return done.stdout


def require_signature(manifest: bytes, signature: bytes | None, allowed: Path, where: str) -> str:
    """Return who signed the manifest, by name in the file of allowed signers.

    Raises ``NotSigned`` if nobody did, somebody else did, or it is another manifest; ``SettingsError`` if the
    file cannot be read.
    """
    if not allowed.is_file():
        hint = 'A line for each key: name namespaces="noctule-snapshot" ssh-ed25519 AAAA…'
        raise SettingsError("there is no such file of allowed signers", where=str(allowed), hint=hint)
    if signature is None:
        hint = "Sign it where it is published: noctule publish --sign KEY"
        raise NotSigned("the snapshot is not signed", where=where, hint=hint)
    with TemporaryDirectory(prefix="noctule-") as folder:
        file = Path(folder, SIGNATURE)
        durable.write_file(file, signature)
        who = _principal(file, allowed, where)
        verify = ["-Y", "verify", "-f", str(allowed), "-I", who, "-n", _NAMESPACE, "-s", str(file)]
        done = _ssh_keygen(verify, manifest)
    if done.returncode:
        hint = "Do not use it. Publish it again with --sign, from where it was built."
        what = f"the snapshot is not what {who} signed: {_said(done)}"
        raise NotSigned(what, where=where, hint=hint)
    return who


def _principal(signature: Path, allowed: Path, where: str) -> str:
    done = _ssh_keygen(["-Y", "find-principals", "-s", str(signature), "-f", str(allowed)], b"")
    names = done.stdout.decode("utf-8", "replace").splitlines()
    if done.returncode or not names:
        hint = f"If the signer's key has changed, add the new one to {allowed}."
        what = f"no allowed signer signed the snapshot: {_said(done)}"
        raise NotSigned(what, where=where, hint=hint)
    return names[0]


def _ssh_keygen(arguments: list[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments],  # the user's own OpenSSH
            input=given,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            start_new_session=True,  # without a terminal it cannot wait for a passphrase
        )
    except FileNotFoundError:
        hint = "Install OpenSSH 8.2 or later."
        raise SettingsError("ssh-keygen is not installed", where="ssh-keygen", hint=hint) from None
    except subprocess.TimeoutExpired:
        hint = "Is it waiting for a touch of the key or a passphrase? Use ssh-agent."
        raise SettingsError("ssh-keygen did not finish", where="ssh-keygen", hint=hint) from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else f"it ended with {done.returncode}"
