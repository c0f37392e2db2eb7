"""A real SSH server on the loopback address, in a process of its own, and a home whose keys and known hosts fit it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.command_line import wait_until


class SshServer:
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
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        shown = host.export_public_key().decode().strip()
        self.known_hosts = keys / "known_hosts"
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {shown}\n")
        self._log = folder / "server.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.ssh_server", str(self.port), str(folder)],
                stdout=log,
                stderr=log,
                cwd=Path(__file__).parents[1],
                env={**os.environ, "HOME": str(self.home)},
            )
        wait_until(self._answers, 60, "the SSH server does not answer")

    def _answers(self) -> bool:
        assert self.process.poll() is None, self._log.read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def address(self) -> str:
        """Where its files are."""
        return f"sftp://owl@127.0.0.1:{self.port}"

    def stop(self) -> None:
        """The server is gone."""
        self.process.kill()
        self.process.wait(10)


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    """A server for the block's time."""
    server = SshServer(folder)
    try:
        yield server
    finally:
        server.stop()


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
