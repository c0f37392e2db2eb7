"""A real SSH server on the loopback address, in a process of its own, and a home whose keys and known hosts
fit it.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.loopback_server import LoopbackServer


class SshServer(LoopbackServer):
    """The server; it serves ``files`` to whoever has the key in ``home``."""

    def __init__(self, folder: Path) -> None:
        import asyncssh

        self.home, self.files = folder / "home", folder / "files"
        keys = self.home / ".ssh"
        for path in (keys, self.files):
            path.mkdir(parents=True)
        own, host = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
        own.write_private_key(keys / "id_ed25519")
        own.write_public_key(folder / "authorized_keys")
        host.write_private_key(folder / "host_key")
        super().__init__("tests.ssh_server", folder, (str(folder),), {"HOME": str(self.home)})
        shown = host.export_public_key().decode().strip()
        self.known_hosts = keys / "known_hosts"
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {shown}\n")

    @property
    def address(self) -> str:
        """Where its files are."""
        return f"sftp://owl@127.0.0.1:{self.port}"


async def _serve(port: int, folder: Path) -> None:
    import asyncssh

    await asyncssh.listen(
        "127.0.0.1",
        port,
        server_host_keys=[str(folder / "host_key")],
        authorized_client_keys=str(folder / "authorized_keys"),
        sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(folder / "files").encode()),
    )
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), Path(sys.argv[2])))
