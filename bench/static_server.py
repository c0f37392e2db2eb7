"""A static server as hosts run them: text is sent with gzip, and bytes are counted, headers included."""

from __future__ import annotations

import gzip
import mimetypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

TEXT = {".js", ".css", ".html", ".json", ".svg"}


@dataclass(frozen=True, slots=True)
class Sent:
    """One response: the requested path, and the number of bytes sent."""

    path: str
    size: int


@dataclass(slots=True)
class StaticServer:
    """The address of a served folder, and what was sent since the last ``taken``."""

    address: str
    sent: list[Sent] = field(default_factory=list)

    def taken(self) -> list[Sent]:
        """Return what was sent since the last call."""
        found, self.sent = self.sent, []
        return found


@contextmanager
def served(root: Path) -> Iterator[StaticServer]:
    """Serve the folder at a local address until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            path = root / unquote(urlsplit(self.path).path).lstrip("/")
            found = path.read_bytes() if path.is_file() else None
            head, body = _answer(path, found)
            self.wfile.write(head + body)
            server.sent.append(Sent(self.path, len(head) + len(body)))

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server = StaticServer(f"http://127.0.0.1:{listening.server_port}/")
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield server
        listening.shutdown()
        thread.join()


def _answer(path: Path, content: bytes | None) -> tuple[bytes, bytes]:
    """Return head and body; text is compressed with gzip if that is smaller."""
    if content is None:
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", b""
    lines = [
        "HTTP/1.1 200 OK",
        f"Content-Type: {mimetypes.guess_type(path.name)[0] or 'application/octet-stream'}",
        "Cache-Control: max-age=3600",
    ]
    packed = gzip.compress(content, 6, mtime=0) if path.suffix in TEXT else content
    if len(packed) < len(content):
        content = packed
        lines.append("Content-Encoding: gzip")
    lines.append(f"Content-Length: {len(content)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode(), content
