"""The command line as a user runs it: a process of its own, on folders that a test made."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.forked import run_command

REPOSITORY = Path(__file__).resolve().parents[1]
MARK = "NOCTULE_TEST_RUN"
# A program that starts the private Prefect API of the store that it is given, and ends it.
PREFECT_ALONE = """
import sys
from pathlib import Path
from noctule.flows.prefect_server.private import prefect_api
with prefect_api(Path(sys.argv[1])):
    pass
"""
_INLINE = ("--engine", "inline")


def _builds(arguments: Sequence[str]) -> bool:
    return arguments[:1] in (("index",), ("nightly",)) and "--engine" not in arguments


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON object and nothing else."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """The last line of standard error as the one shape of an error."""
        error = json.loads(self.err.strip().split("\n")[-1])["error"]
        assert set(error) == {"kind", "what", "where", "hint"}
        assert error["what"]
        return dict(error)


@dataclass(frozen=True)
class CommandLine:
    """Runs commands in a folder, with a store of its own, an empty home and no Prefect settings."""

    folder: Path
    store: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PREFECT", "NOCTULE")) or name == "NOCTULE_MODELS"
        }
        home = self.folder / ".home"
        home.mkdir(exist_ok=True)
        path = os.pathsep.join(
            [*self.extra.get("PYTHONPATH", "").split(os.pathsep), str(REPOSITORY), str(REPOSITORY / "site")]
        )
        own = {"HOME": str(home), "NOCTULE_STORE": str(self.store), "COLUMNS": "200"}
        return kept | own | dict(self.extra) | {"PYTHONPATH": path.strip(os.pathsep)}

    def run(self, *arguments: str, timeout_s: float = 150) -> Outcome:
        """How a command ended; it encodes and parses in its own process unless it names an engine.

        It is forked with the slow imports done, but where the path of Python's modules is a test's own.
        """
        if "PYTHONPATH" in self.extra:
            return self.run_in_new_interpreter(*arguments, timeout_s=timeout_s)
        given = [*arguments, *_INLINE] if _builds(arguments) else arguments
        return Outcome(*run_command(given, self.folder, self.environment, timeout_s))

    def run_in_new_interpreter(self, *arguments: str, timeout_s: float = 150) -> Outcome:
        """How a command ended that a new interpreter ran, as a user's shell starts it."""
        return self._ended(("-m", "noctule.flows.cli.main", *arguments), timeout_s)

    def run_program(self, program: str, *arguments: str, timeout_s: float = 150) -> Outcome:
        """How a program in Python ended that a new interpreter ran."""
        return self._ended(("-c", program, *arguments), timeout_s)

    def _ended(self, arguments: Sequence[str], timeout_s: float) -> Outcome:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def run_and_list_modules(self, *arguments: str) -> tuple[Outcome, frozenset[str]]:
        """How a command ended, and what it had imported by then."""
        program = (
            "import sys\n"
            f"sys.argv = {['noctule', *arguments]!r}\n"
            "from noctule.flows.cli.main import main\n"
            "try:\n"
            "    main()\n"
            "finally:\n"
            "    print(*sys.modules, file=sys.stderr)\n"
        )
        done = self.run_program(program)
        said, _, modules = done.err.rstrip("\n").rpartition("\n")
        return replace(done, err=said), frozenset(modules.split())

    def start(self, *arguments: str, program: str = "") -> Started:
        """Start a command, or with the same arguments a program that calls it."""
        how = ["-c", program] if program else ["-m", "noctule.flows.cli.main"]
        mark = uuid4().hex
        log = self.folder / f".stderr-{mark}"
        with log.open("wb") as err:
            process = subprocess.Popen(
                [sys.executable, *how, *arguments],
                cwd=self.folder,
                env=self.environment | {MARK: mark},
                stdout=subprocess.DEVNULL,
                stderr=err,
                start_new_session=True,
                preexec_fn=heed_signals,  # noqa: PLW1509  # no threads here
            )
        return Started(process, mark, log)


def heed_signals() -> None:
    """A shell's background job ignores Ctrl-C, one under nohup a hang-up, and so would all that it starts."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def marked(mark: str) -> dict[int, str]:
    """Living processes with this mark in their environment, by number, and their command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
    return found


@dataclass(frozen=True)
class Started:
    """A command that is running; its descendants are known by a mark in their environment, whoever adopts
    them.
    """

    process: subprocess.Popen[bytes]
    mark: str
    log: Path

    def said(self) -> str:
        return self.log.read_text()

    def wait_for(self, text: str, limit_s: float = 90) -> None:
        wait_until(lambda: text in self.said() or self.process.poll() is not None, limit_s, f"no {text!r}")
        assert text in self.said(), f"it ended with {self.process.returncode}: {self.said()}"

    def family(self) -> dict[int, str]:
        """Every living process that this command started, and itself, by number."""
        return marked(self.mark)

    def end(self) -> None:
        """Whatever is left is killed, so that a failed test leaves nothing."""
        for number in self.family():
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait(10)


def wait_until(condition: Any, limit_s: float, complaint: str) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"{complaint} within {limit_s} s"
        time.sleep(0.1)


def write_vault(folder: Path) -> Path:
    """A small vault: links between notes, code, a tag, one broken link and one file that is not text."""
    notes = {
        "index.md": "---\ntitle: Home\ntags: [start]\n---\n# Home\n\n"
        "Begin with [[install]], then read [[missing note]].\n",
        "install.md": "# Install\n\nRun the installer, then set `PATH`.\n\n```python\nimport noctua\n```\n",
        "guide/cancel.md": "# Cancel a request\n\nAn abort controller cancels a request that is under "
        "way.\n\nSee [home](../index.md).\n",
        "guide/owls.md": "# Owls\n\nThe little owl hunts at dusk and nests in old fruit trees.\n",
    }
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "broken.md").write_bytes(b"\x00\xff\xfe not text \x00")
    return folder
