"""Files of another machine by SSH: only known hosts, only the user's own keys, and no prompts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import paramiko
from fsspec.implementations.sftp import SFTPFileSystem

from ..errors import RemoteUnavailable

_TIMEOUT_S = 10


class KnownHosts(SFTPFileSystem):  # type: ignore[misc]  # fsspec has no types
    """fsspec's SSH files, which accept any key, but with hosts of ``known_hosts`` only, as for ``ssh``."""

    def _connect(self) -> None:
        self.client = paramiko.SSHClient()
        self.client.load_system_host_keys()
        self.client.connect(self.host, **self.ssh_kwargs)
        self.ftp = self.client.open_sftp()


def opened(address: str) -> tuple[KnownHosts, str]:
    """Return the files at ``sftp://[user@]host[:port]/path``, and the path; ``~/.ssh/config`` is respected.

    Raises ``RemoteUnavailable`` for an unknown host, and whatever paramiko raises.
    """
    parts = urlsplit(address)
    known = _configured(parts.hostname or "")
    try:
        files = KnownHosts(
            known.get("hostname", parts.hostname), **_options(parts, known), skip_instance_cache=True
        )
    except paramiko.SSHException as error:
        if "known_hosts" not in str(error):
            raise
        raise RemoteUnavailable(
            f"the host is not known to this user: {error}",
            where=address,
            hint="Connect to it once with ssh as the same user, and compare the key that it shows.",
        ) from None
    return files, unquote(parts.path)


def _options(parts: SplitResult, known: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "port": parts.port or int(known.get("port", 22)),
        "username": unquote(parts.username) if parts.username else known.get("user"),
        "key_filename": known.get("identityfile"),
        "timeout": _TIMEOUT_S,
        "banner_timeout": _TIMEOUT_S,
        "auth_timeout": _TIMEOUT_S,
    }


def _configured(host: str) -> dict[str, Any]:
    path = Path("~/.ssh/config").expanduser()
    return dict(paramiko.SSHConfig.from_path(str(path)).lookup(host)) if path.is_file() else {}
