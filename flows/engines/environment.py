"""What every worker must have in common with the driver, or the snapshot would depend on who computed it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ... import artifacts, flows, pipeline
from ...artifacts.disk import durable
from ...pipeline.errors import EngineUnavailable
from ...pipeline.identity import combined_hash
from ..run.versions import sources_hash

# What decides how a document is cut, counted or encoded.
_DECIDING = (
    "beautifulsoup4", "docutils", "linkify-it-py", "markdown-it-py", "mdit-py-plugins", "nh3", "numpy",
    "pyarrow", "PyStemmer", "PyYAML", "sentence-transformers", "tokenizers", "torch", "transformers",
)  # fmt: skip
_SIGN = "sign"


@dataclass(frozen=True, slots=True)
class DriverEnvironment:
    """The code and versions of the driver, and the exchange folder with the token in it."""

    versions: Mapping[str, str]
    folder: Path
    token: str

    def require_same(self) -> None:
        """Raise ``EngineUnavailable``, saying what differs, if this machine is not like the driver's."""
        mine, host = versions(), socket.gethostname()
        differing = [
            f"{name} {mine.get(name, 'none')} instead of {theirs}"
            for name, theirs in self.versions.items()
            if mine.get(name) != theirs
        ]
        if differing:
            raise EngineUnavailable(
                f"a worker does not match this machine: {', '.join(differing)}",
                where=host,
                hint="Install the same versions there, and start the worker again.",
            )
        if _read(self.folder / _SIGN) != self.token:
            raise EngineUnavailable(
                f"a worker cannot access the folder {self.folder}",
                where=host,
                hint="Put the store on a file system that all machines share, or set engine.shared to one.",
            )


def driver_environment(folder: Path, token: str) -> DriverEnvironment:
    """Return the environment of this process, and put the token into the folder."""
    durable.write_file(folder / _SIGN, token.encode())
    return DriverEnvironment(versions(), folder, token)


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return versions of Python and of what matters, and a hash of noctule's code as first used here."""
    found = {"Python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    for name in _DECIDING:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found | {"noctule": f"{pipeline.__version__} ({_code()})"}


def _code() -> str:
    """Return a hash of the source of the packages that workers run."""
    return combined_hash(sources_hash(Path(each.__path__[0])) for each in (artifacts, flows, pipeline))[:12]


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii")
    except (OSError, ValueError):
        return ""
