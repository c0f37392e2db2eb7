"""``noctule serve`` beside txtai's API: the same passages, model, questions and clients, in turn.

Run as ``python -m bench.serve_peer STORE PYTHON``, where PYTHON is an interpreter with ``txtai[api]``. Both
servers are one process and encode each question; txtai searches as its documentation shows for hybrid search,
with its own index of the passages, and returns ten texts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.serve import asked, free_port, questions_of, served, status, tell
from noctule.artifacts.store.store import Store
from noctule.pipeline.chunk.passages import embedded_text
from noctule.pipeline.embedding.model_files import find
from noctule.pipeline.settings.settings import Embed

_REQUESTS, _TURNS = 1_000, 2
_INDEX = """
import json, sys
from txtai.embeddings import Embeddings
texts = json.load(open(sys.argv[1]))
embeddings = Embeddings(path=sys.argv[2], hybrid=True, content=True)
embeddings.index(list(enumerate(texts)))
embeddings.save(sys.argv[3])
"""


def measure_store(store: Path, python: str) -> None:
    """Print the figures of both servers, in turn."""
    questions = questions_of(store, 2 * _TURNS * _REQUESTS)
    with tempfile.TemporaryDirectory() as folder:
        index = _indexed(store, python, Path(folder))
        for turn in range(_TURNS):
            own, others = (questions[at::2][turn * _REQUESTS : (turn + 1) * _REQUESTS] for at in (0, 1))
            with served(store, 1) as (port, ready_s, process):
                asked(port, questions[-20:])
                tell(f"noctule, ready after {ready_s:.2f} s", asked(port, own), process)
            with _txtai(index, python) as (port, ready_s, process):
                asked(port, questions[-20:], "/search?limit=10&query=")
                found = asked(port, others, "/search?limit=10&query=")
                tell(f"txtai, ready after {ready_s:.2f} s", found, process)


def _indexed(store: Path, python: str, folder: Path) -> Path:
    """Return the folder of txtai's index of the store's passages."""
    with Store(store).open() as snapshot:
        rows = snapshot.table("passages", ["breadcrumb", "text"]).to_pylist()
    texts = [embedded_text(str(each["breadcrumb"]), str(each["text"])) for each in rows]
    (folder / "texts.json").write_text(json.dumps(texts))
    given = (folder / "texts.json", find(Embed()).folder, folder / "index")
    start = time.perf_counter()
    subprocess.run([python, "-c", _INDEX, *map(str, given)], check=True)
    print(f"txtai indexed {len(texts):,} passages in {time.perf_counter() - start:.0f} s", flush=True)
    return folder / "index"


@contextmanager
def _txtai(index: Path, python: str) -> Iterator[tuple[int, float, int]]:
    """Yield the port of txtai's server, the seconds until it answered, and its process."""
    port, settings = free_port(), index.with_name("app.yml")
    model = {"path": str(find(Embed()).folder), "hybrid": True, "content": True}  # as it was indexed
    settings.write_text(json.dumps({"path": str(index), "writable": False, "embeddings": model}))
    start = time.perf_counter()
    server = subprocess.Popen(
        [python, "-m", "uvicorn", "txtai.api:app", "--port", str(port), "--log-level", "warning"],
        env={**os.environ, "CONFIG": str(settings)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while status(port, "/count") != 200:
            assert server.poll() is None, "the server has ended"
            time.sleep(0.05)
        yield port, time.perf_counter() - start, server.pid
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    measure_store(Path(sys.argv[1]), sys.argv[2])
