"""``make fuzz``: requests that schemathesis makes of the OpenAPI document, to a server on a small library.

    python -m tests.fuzz.service_api --seconds 60

Each answer must have a status and a body that the document names, a wrong request must be refused, and a
right one answered. What breaks that is printed, and ends with code 1. So does an event that was recorded and
cannot be read again.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from noctule.artifacts.events.event_log import read_events
from noctule.pipeline.settings.reading import parse
from noctule.server.app import service_app
from noctule.server.run import listener
from noctule.server.service import SearchService
from tests.library_builder import build_library

# A request that keeps to the document may name what is not there, or a place past the end; and of several
# searches each is answered by itself.
_EXCEPTIONS = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", 404, 410]

[[operations]]
include-path = "/v1/documents/{doc_id}"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-path = "/v1/multi-search"
checks.negative_data_rejection.enabled = false
"""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Yield the address of a server that nothing slows down, and everybody may ask."""
    events = {"enabled": True, "queries": True, "folder": str(folder / "events")}
    serve = {"requests_per_second": 0, "deadline_s": 30, "events": events}
    settings = parse({"serve": serve}, where="fuzz")
    service = SearchService(build_library(folder), settings)
    service.current.refresh()
    app = service_app(service)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
    with listener("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(30)


def main() -> int:
    """Ask for so many seconds; return 1 once an answer is not as described."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seconds", type=int, default=60)
    seconds = reader.parse_args().seconds
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    schemathesis = shutil.which("schemathesis", path=beside)
    if schemathesis is None:
        print("schemathesis is not installed: the service is not fuzzed (extra fuzz)", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder, _served(Path(folder)) as address:
        settings = Path(folder) / "schemathesis.toml"
        settings.write_text(_EXCEPTIONS)
        asking = ["--phases", "coverage,fuzzing", "--max-time", str(seconds), "--generation-database", "none"]
        command = [schemathesis, "--config-file", str(settings), "run", f"{address}/openapi.json", *asking]
        done = subprocess.run(command, check=False, cwd=folder)  # it keeps files where it runs
        told = read_events(Path(folder) / "events")
        print(f"{len(told.events):,} events recorded, {told.unreadable} of them cannot be read")
        return done.returncode or int(not told.events or told.unreadable > 0)


if __name__ == "__main__":
    sys.exit(main())
