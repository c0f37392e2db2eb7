"""A parser that takes all its memory: in a module that each worker process of a test imports quickly."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

import pyarrow as pa

from noctule.flows.run.workers import Begin
from noctule.flows.stages.parse_batch import FileBatch, parse_files
from noctule.pipeline import parse as parser


def parse_files_greedily(batch: FileBatch, begin: Begin) -> pa.Table:
    """Understand a batch; one document takes all the memory that its process may have, and for another the
    kernel ends the process, as at the limit of a container.
    """
    really = parser.decoded

    def decoded(content: bytes, where: str, encoding: str = "") -> str:
        if b"HOARD" in content:
            _hoard()
        if b"KILLED" in content:
            signal.raise_signal(signal.SIGKILL)
        return really(content, where, encoding)

    parser.decoded = decoded  # type: ignore[attr-defined]
    return parse_files(batch, begin)


def _hoard() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (256 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    hoard = list[bytearray]()
    while True:
        hoard.append(bytearray(16 << 20))
