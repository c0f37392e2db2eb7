"""Requests a second and latency of ``noctule serve``, each query encoded: FastAPI's documentation.

Run as ``python -m bench serve``, or over a store of your own as ``python -m bench.serve STORE``. Four clients
in a process of their own ask over loopback, each one question after the other; no question is asked twice.
Then the store goes back and forth between two snapshots every few seconds, while the clients go on asking.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from bench.corpora import cache_folder, settings_file
from noctule.artifacts.store.store import Store

_CLIENTS, _REQUESTS, _SWAP_S, _SWAPS = 4, 2_000, 3.0, 5
_SEARCH = "/v1/search?q="
_COMMAND = (sys.executable, "-m", "noctule.flows.cli.main")


def measure() -> None:
    """Index FastAPI's documentation, and measure searches of it."""
    store = cache_folder() / "serve-fastapi-docs"
    given = ("--config", str(settings_file("fastapi-docs")), "--store", str(store))
    subprocess.run([*_COMMAND, "index", *given], check=True)
    measure_store(store)


def measure_store(store: Path) -> None:
    """Print the figures of a store with one process and with two, and of snapshots that change."""
    questions = questions_of(store, 3 * _REQUESTS)
    for at, workers in enumerate((1, 2)):
        with served(store, workers) as (port, ready_s, process):
            part, before = questions[at * _REQUESTS : (at + 1) * _REQUESTS], _processor_s(process)
            found = asked(port, part)
            tell(f"{workers} process(es), ready after {ready_s:.2f} s", found, process)
            used = (_processor_s(process) - before) / len(part) * 1000
            print(f"  {used:.1f} ms of processor time a request in the server", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(shutil.copytree(store, Path(folder) / "store", symlinks=True))
        if len(Store(copied).snapshots()) < 2:
            print("one snapshot only: nothing to swap")
            return
        with served(copied, 1) as (port, _, process):
            client = _client(port, questions[2 * _REQUESTS :])
            for _ in range(_SWAPS):
                time.sleep(_SWAP_S)
                Store(copied).rollback()
            tell(f"{_SWAPS} swaps meanwhile", json.loads(client.communicate()[0]), process)


def questions_of(store: Path, wanted: int) -> list[str]:
    """Return so many different questions, made of the titles of sections."""
    with Store(store).open() as snapshot:
        titles = sorted(
            {str(t) for t in snapshot.table("sections", ["title"]).column("title").to_pylist() if t}
        )
    draw = random.Random(0)  # no secret
    made = (f"{draw.choice(titles)} {draw.choice(titles)}"[:200] for _ in range(20 * wanted))
    return list(dict.fromkeys(made))[:wanted]


@contextmanager
def served(store: Path, workers: int, more: tuple[str, ...] = ()) -> Iterator[tuple[int, float, int]]:
    """Yield the port of a server, the seconds until it was ready, and its process."""
    port = free_port()
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as settings:
        settings.write("[serve]\nrequests_per_second = 0\ndeadline_s = 30\n")
        settings.flush()
        flags = (
            "--store",
            str(store),
            "--config",
            settings.name,
            "--port",
            str(port),
            "--workers",
            str(workers),
            *more,
        )
        start = time.perf_counter()
        server = subprocess.Popen(
            [*_COMMAND, "serve", "--no-site", "--quiet", *flags],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            while status(port) != 200:
                assert server.poll() is None, "the server has ended"
                time.sleep(0.02)
            seconds = time.perf_counter() - start
            if workers > 1:
                time.sleep(3)  # the others are ready, too
            yield port, seconds, server.pid
        finally:
            server.terminate()
            server.wait(20)


def free_port() -> int:
    """Return a port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _processor_s(process: int) -> float:
    """Return the seconds of processor time that a process and its children have used."""
    folder = Path(f"/proc/{process}")
    ticks = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
    children = (folder / "task" / str(process) / "children").read_text().split()
    own = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return own + sum(_processor_s(int(each)) for each in children)


def status(port: int, path: str = "/readyz") -> int:
    """Return the status that a server answers a request with, 0 if it does not."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as asked:
            asked.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            return int(asked.recv(64).split()[1])
    except (OSError, IndexError):
        return 0


def _client(port: int, questions: list[str], path: str = _SEARCH) -> subprocess.Popen[str]:
    client = subprocess.Popen(
        [sys.executable, "-m", "bench.serve", "--client", str(port), path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert client.stdin is not None
    client.stdin.write(json.dumps(questions) + "\n")
    client.stdin.flush()
    return client


def asked(port: int, questions: list[str], path: str = _SEARCH) -> dict[str, list[float]]:
    """Return the milliseconds of each question, the failures and all seconds, asked by four clients."""
    found: dict[str, list[float]] = json.loads(_client(port, questions, path).communicate()[0])
    return found


def tell(what: str, found: dict[str, list[float]], process: int) -> None:
    """Print what was asked, how fast it was answered, and the memory of the server."""
    times, (wall,), (failed,) = sorted(found["ms"]), found["wall_s"], found["failed"]
    p95, p99 = (times[min(len(times) - 1, int(len(times) * share))] for share in (0.95, 0.99))
    memory = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096 / 1e6
    print(
        f"{what}: {len(times) / wall:.0f} requests/s, p50 {statistics.median(times):.1f} ms, "
        f"p95 {p95:.1f} ms, p99 {p99:.1f} ms, {failed:.0f} failed, {memory:.0f} MB in the first process",
        flush=True,
    )


async def ask(
    port: int, questions: Iterator[str], found: dict[str, list[float]], path: str = _SEARCH
) -> None:
    """Ask on one connection until there are no more questions."""
    reading, writing = await asyncio.open_connection("127.0.0.1", port)
    for question in questions:
        start = time.perf_counter()
        writing.write(f"GET {path}{quote(question)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await reading.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        await reading.readexactly(length)
        found["ms"].append((time.perf_counter() - start) * 1000)
        found["failed"][0] += not head.startswith(b"HTTP/1.1 200")
    writing.close()


async def _ask_all(port: int, questions: list[str], path: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"ms": [], "failed": [0]}
    start, shared = time.perf_counter(), iter(questions)
    await asyncio.gather(*(ask(port, shared, found, path) for _ in range(_CLIENTS)))
    return found | {"wall_s": [time.perf_counter() - start]}


if __name__ == "__main__":
    if sys.argv[1] == "--client":
        port, path = int(sys.argv[2]), sys.argv[3]
        print(json.dumps(asyncio.run(_ask_all(port, json.loads(sys.stdin.readline()), path))))
    else:
        measure_store(Path(sys.argv[1]))
