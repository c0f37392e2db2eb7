"""The build that follows an edit: a process of its own that stays warm, and gives way to the preview.

It reads one request a line from standard input, and answers each with a line: an empty object, or the error.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from ...pipeline.errors import NoctuleError
from ..graph import context_of
from ..job import run_job
from ..report.result import require_whole
from ..run.memory import collect_seldom
from ..run.plain import PlainDriver
from ..run.request import IndexRequest
from ..run.signals import die_with_parent, leave_now, stop_on_signals
from ..run.stage import Silent
from .problems import PreviewProblem, problem_in

# A person waits for the first build, and after it for the preview alone.
_NICE = 5


class Builder:
    """Builds the snapshot and then the site in ``out``, one build at a time, in a process that it starts."""

    def __init__(self, request: IndexRequest, out: Path) -> None:
        own = {"store": str(request.store), "config": str(request.config or ""), "engine": request.engine}
        named = {
            "sources": list(request.sources),
            "collection": request.collection,
            "out": str(out),
            "drafts": request.drafts,
        }
        self._request = json.dumps(own | named).encode() + b"\n"
        self._process: asyncio.subprocess.Process | None = None

    async def build(self) -> PreviewProblem | None:
        """Build what changed; return why that failed, if it did."""
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", __name__),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the server, which ends this
            )
        answer = b""
        with suppress(BrokenPipeError, ConnectionResetError):
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(self._request)
            await self._process.stdin.drain()
            answer = await self._process.stdout.readline()
        if not answer:
            return PreviewProblem(
                "the build ended without an answer", "", 0, "Run noctule nightly to see why."
            )
        found = json.loads(answer)
        return PreviewProblem(**found) if found else None

    def close(self) -> None:
        """End the process at once; a build that it has begun leaves the store and the site as they were."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()


def _answer(line: str) -> dict[str, object]:
    given = json.loads(line)
    config = Path(given["config"]) if given["config"] else None
    store, sources = Path(given["store"]), tuple(given["sources"])
    request = IndexRequest(
        store, config, sources, given["collection"], given["engine"], drafts=given["drafts"]
    )
    try:
        done = run_job(context_of(request, Path(given["out"])), PlainDriver(), Silent(), publish=False)
        assert done.build is not None
        require_whole(done.build)
    except NoctuleError as error:
        return asdict(problem_in(error))
    except Exception as error:  # the next file saved may do better
        what = f"the build failed: {type(error).__name__}: {error}"
        return asdict(PreviewProblem(what, "", 0, "Run noctule nightly --debug to see where."))
    return {}


def main() -> None:
    """Answer requests until the server hangs up."""
    die_with_parent()
    stop_on_signals()
    collect_seldom()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer
    for line in sys.stdin:
        answers.write(json.dumps(_answer(line)) + "\n")
        answers.flush()
        os.nice(_NICE if os.nice(0) < _NICE else 0)
    leave_now(0)


if __name__ == "__main__":
    main()
