"""The private Prefect API as a process of its own: it serves a socket it was handed until its parent is gone.

Run as a script by ``noctule.flows.prefect_server.private`` with the number of the socket and of the parent
process; not to be imported.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import socket
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1
_GRACE_S = 2.0


def main() -> None:
    """Serve until told to stop or until the parent dies."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    _die_with(parent)
    gc.disable()  # looking for cycles among thousands of classes took a quarter of the start
    import uvicorn
    from prefect.server.api.server import create_app

    config = uvicorn.Config(create_app(final=True), log_level="error", timeout_graceful_shutdown=5)
    gc.freeze()
    gc.enable()
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


def _die_with(parent: int) -> None:
    """End this process when its parent dies.

    There are two watches, since each has a gap: the kernel's signal is Linux only, the pipe may be held by a
    fork. The signal is SIGKILL, which ends a server that hangs too: a parent that dies without a word has
    nothing more to record, and the next run marks what it left open.
    """
    threading.Thread(target=_watch_pipe, daemon=True).start()
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent is gone")


def _watch_pipe() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_S)
    os._exit(1)


if __name__ == "__main__":
    main()
