"""A static server that speaks HTTP/2, as hosts do: every byte of its answers is counted, headers included."""

from __future__ import annotations

import gzip
import mimetypes
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bench.static_server import TEXT, Sent, StaticServer

_FRAME = 16_000


@contextmanager
def served_by_http2(root: Path, scratch: Path) -> Iterator[StaticServer]:
    """Serve the folder at a local https address until the block ends; its certificate lies in ``scratch``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(scratch))
    context.set_alpn_protocols(["h2"])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = StaticServer(f"https://127.0.0.1:{listening.getsockname()[1]}/")
        threading.Thread(target=_accept, args=(listening, context, root, server), daemon=True).start()
        yield server
        with suppress(OSError):  # which ends a thread that waits in accept
            listening.shutdown(socket.SHUT_RDWR)


def _certificate(scratch: Path) -> Path:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path = scratch / "certificate.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def _accept(listening: socket.socket, context: ssl.SSLContext, root: Path, server: StaticServer) -> None:
    with suppress(OSError):
        while True:
            plain, _ = listening.accept()
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_talk, args=(plain, context, root, server), daemon=True).start()


def _talk(plain: socket.socket, context: ssl.SSLContext, root: Path, server: StaticServer) -> None:
    with suppress(OSError, h2.exceptions.ProtocolError), context.wrap_socket(plain, server_side=True) as line:
        talk = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        talk.initiate_connection()
        line.sendall(talk.data_to_send())
        while received := line.recv(65_536):
            for event in talk.receive_data(received):
                if isinstance(event, h2.events.RequestReceived) and event.stream_id and event.headers:
                    line.sendall(talk.data_to_send())
                    path = dict(event.headers)[b":path"].decode()
                    with suppress(h2.exceptions.StreamClosedError):
                        _answer(talk, event.stream_id, path, root)
                    sent = talk.data_to_send()
                    server.sent.append(Sent(path, len(sent)))
                    line.sendall(sent)
            line.sendall(talk.data_to_send())


def _answer(talk: h2.connection.H2Connection, stream: int, asked: str, root: Path) -> None:
    """Send a file, compressed if that is smaller; a browser's windows hold more than any file here."""
    path = root / unquote(urlsplit(asked).path).lstrip("/")
    if not path.is_file():
        return talk.send_headers(stream, [(":status", "404")], end_stream=True)
    content = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = [(":status", "200"), ("content-type", kind), ("cache-control", "max-age=3600")]
    packed = gzip.compress(content, 6, mtime=0) if path.suffix in TEXT else content
    if len(packed) < len(content):
        content = packed
        headers.append(("content-encoding", "gzip"))
    talk.send_headers(stream, [*headers, ("content-length", str(len(content)))])
    for at in range(0, len(content), _FRAME):
        talk.send_data(stream, content[at : at + _FRAME])
    talk.end_stream(stream)
    return None
