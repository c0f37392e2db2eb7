"""What ``noctule serve`` holds out: a swap every five seconds under load, and wrong tokens; and its memory.

Run as ``python -m bench.soak STORE [SECONDS]``, 600 seconds if none are given. The store needs two snapshots;
a copy of it goes back and forth between them while four clients ask, no question twice. Memory is looked at
every ten seconds. At the end 10,000 wrong tokens are sent.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.serve import ask, questions_of, served
from noctule.artifacts.store.store import Store

_CLIENTS, _SWAP_S, _LOOK_S, _TOKENS = 4, 5.0, 10.0, 10_000


def measure_store(store: Path, seconds: float) -> None:
    """Print failures, memory and wrong tokens of a server over a copy of a store."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(shutil.copytree(store, Path(folder) / "store", symlinks=True))
        questions = Path(folder) / "questions.json"
        questions.write_text(json.dumps(questions_of(copied, 5_000)))
        tokens = Path(folder) / "tokens.txt"
        tokens.write_text(f"nobody {'0' * 64}\n")
        with served(copied, 1) as (port, ready_s, process):
            print(f"ready after {ready_s:.2f} s, {_memory(process):.0f} MB", flush=True)
            _swapped(copied, port, process, questions, seconds)
        with served(copied, 1, ("--tokens", str(tokens))) as (port, _, process):
            _guessed(port, process)


def _swapped(store: Path, port: int, process: int, questions: Path, seconds: float) -> None:
    # A file: a pipe that nobody reads meanwhile holds 64 KB.
    answers = questions.with_name("answers.json")
    client = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "bench.soak",
            "--client",
            str(port),
            str(questions),
            str(seconds),
            str(answers),
        ]
    )
    sizes, swaps, start = [_memory(process)], 0, time.monotonic()
    while client.poll() is None:
        time.sleep(_SWAP_S)
        Store(store).rollback()
        swaps += 1
        if time.monotonic() - start > _LOOK_S * len(sizes):
            sizes.append(_memory(process))
    found = json.loads(answers.read_text())
    asked, failed = len(found["ms"]), int(found["failed"][0])
    files = len(list(Path(f"/proc/{process}/fd").iterdir()))
    print(f"{swaps} swaps, {asked:,} requests in {seconds:.0f} s, {failed} failed, {files} files open")
    parts = [sizes[len(sizes) * at // 6 : len(sizes) * (at + 1) // 6] for at in range(6)]
    print("MB by sixths:", ", ".join(f"{statistics.median(each):.0f}" for each in parts if each), flush=True)


def _guessed(port: int, process: int) -> None:
    """Send wrong tokens, one after the other, and print how they were answered."""
    before, start = _memory(process), time.perf_counter()
    answered = asyncio.run(_guess(port))
    seconds = time.perf_counter() - start
    told = ", ".join(f"{status}: {count:,}" for status, count in sorted(answered.items()))
    after = _memory(process)
    print(f"{_TOKENS:,} wrong tokens in {seconds:.1f} s: {told}; {before:.0f} MB before, {after:.0f} after")


async def _guess(port: int) -> Counter[int]:
    reading, writing = await asyncio.open_connection("127.0.0.1", port)
    found: Counter[int] = Counter()
    for number in range(_TOKENS):
        head = f"GET /v1/search?q=a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {number:x}\r\n\r\n"
        writing.write(head.encode())
        answer = await reading.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        await reading.readexactly(length)
        found[int(answer.split()[1])] += 1
    writing.close()
    return found


def _memory(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096 / 1e6


async def _ask_until(port: int, questions: list[str], seconds: float) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"ms": [], "failed": [0]}
    shared = _until(questions, time.monotonic() + seconds)
    await asyncio.gather(*(ask(port, shared, found) for _ in range(_CLIENTS)))
    return found


def _until(questions: list[str], end: float) -> Iterator[str]:
    """Yield questions until it is time, each made different by a number."""
    for number, question in enumerate(itertools.cycle(questions)):
        if time.monotonic() > end:
            return
        yield f"{question} {number}"


if __name__ == "__main__":
    if sys.argv[1] == "--client":
        asked = json.loads(Path(sys.argv[3]).read_text())
        found = asyncio.run(_ask_until(int(sys.argv[2]), asked, float(sys.argv[4])))
        Path(sys.argv[5]).write_text(json.dumps(found))
    else:
        measure_store(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 600.0)
