"""The time from saving a file to its page in the preview, and to an answer of the search: FastAPI and MDN.

Run as ``python -m bench preview``. Each collection is copied once, indexed and built, and then served as by
``noctule serve --watch``; pages are written to one after the other. A round is measured while the build that
follows the last one runs, as it does for somebody who keeps on writing.
"""

from __future__ import annotations

import http.client
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from bench.corpora import cache_folder, corpus, settings_file

FASTAPI = "fastapi-site"
_ROUNDS = 15
_START_LIMIT_S = 3600.0
_PAUSE_S = 0.02


def measure() -> None:
    """Print the seconds from a save to its page and to its search, p50 and worst."""
    for name in (FASTAPI, "mdn"):
        folder = cache_folder() / f"preview-{name}"
        folder.mkdir(exist_ok=True)
        measure_folder(*_copied(name, folder), folder)


def measure_folder(settings: Path, root: Path, folder: Path) -> None:
    """Measure a collection described by a settings file; its store and site are made in ``folder``."""
    files = sorted(root.rglob("*.md"))
    chosen = files[:: max(1, len(files) // _ROUNDS)][:_ROUNDS]
    with _served(settings, folder) as port:
        times = [_round(port, file, file.relative_to(root).as_posix()) for file in chosen]
    for place, what in enumerate(("page", "search")):
        seconds = sorted(each[place] for each in times)
        shown = f"{statistics.median(seconds):.2f} s p50, {seconds[-1]:.2f} s worst of {len(seconds)}"
        print(f"{settings.parent.name}: save to {what}: {shown}", flush=True)


def _round(port: int, file: Path, path: str) -> tuple[float, float]:
    """Return the seconds until the page and the search have a new word of this file."""
    word, before = f"zq{time.time_ns()}", file.read_text()
    page = f"{path.removesuffix('.md')}.html"
    if page.rpartition("/")[2].lower() in {"index.html", "readme.html", "_index.html"}:
        page = f"{page.rpartition('/')[0]}/index.html".lstrip("/")
    try:
        start = time.perf_counter()
        file.write_text(f"{before}\n\nA new word: {word}.\n")
        shown = _until(port, f"/{quote(page)}", word, start)
        return shown, _until(port, f"/_live/search?q={word}", page.rpartition("/")[2], start)
    finally:
        file.write_text(before)
        _until(port, f"/{quote(page)}", word, time.perf_counter(), gone=True)


def _until(port: int, path: str, wanted: str, start: float, *, gone: bool = False) -> float:
    while (wanted.encode() in _get(port, path)) == gone:
        if time.perf_counter() - start > 60:
            raise TimeoutError(f"{path} never held {wanted}")
        time.sleep(_PAUSE_S)
    return time.perf_counter() - start


def _get(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    finally:
        connection.close()


@contextmanager
def _served(settings: Path, folder: Path) -> Iterator[int]:
    """Serve the collection; yield the port once the first build is done."""
    command = ["serve", "--watch", "--port", "0", "--config", str(settings)]
    command += ["--store", str(folder / "store"), "--out", str(folder / "site")]
    process = subprocess.Popen(
        [sys.executable, "-m", "noctule.flows.cli.main", *command], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().rpartition(" at ")[2].split()[0]
        port = int(address.rstrip("/").rpartition(":")[2])
        _wait_until_built(port)
        yield port
    finally:
        process.terminate()
        process.wait()


def _wait_until_built(port: int) -> None:
    """Read events until the build that the start begins has ended."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_START_LIMIT_S)
    connection.request("GET", "/_live/events")
    answer, was_building = connection.getresponse(), False
    while line := answer.readline():
        if line.startswith(b"data: "):
            state = json.loads(line.removeprefix(b"data: "))
            if was_building and not state["building"]:
                break
            was_building = was_building or state["building"]
    connection.close()
    time.sleep(2.0)


def _copied(name: str, folder: Path) -> tuple[Path, Path]:
    """Return settings for a copy of the collection, whose pages are written to, and the copy's folder."""
    kept, copy = corpus(name), folder / "source"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(kept.parents[2] if name == FASTAPI else kept, copy)
    root = copy / kept.relative_to(kept.parents[2]) if name == FASTAPI else copy
    text = settings_file(name).read_text().replace(str(kept), str(root))
    settings = folder / "noctule.toml"
    settings.write_text(f"{text}snippet_folders = [{json.dumps(str(copy))}]\n" if name == FASTAPI else text)
    return settings, root
