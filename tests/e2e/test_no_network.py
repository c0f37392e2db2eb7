"""Everything a user does, in processes in which a connection beyond this machine is an error: none is
tried.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import CommandLine, write_vault

# In every Python process of every command, workers too. What is refused is also written down: it may be
# swallowed.
_FENCE = """
import os, sys
_LOCAL = ("127.", "::1", "localhost", "0.0.0.0")
def _refuse(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        address = arguments[:1]
    else:
        return
    # What is no tuple is a name in the file system, or a kernel's number.
    host = address[0] if isinstance(address, tuple) else None
    if not isinstance(host, str) or host == "" or host.startswith(_LOCAL):
        return
    fd = os.open(os.environ["FENCE_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, f"{event} {host} {sys.argv}\\n".encode())
    os.close(fd)
    raise PermissionError(f"the fence: {event} to {host}")
sys.addaudithook(_refuse)
"""


@pytest.fixture(scope="module")
def fenced(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    folder = tmp_path_factory.mktemp("fenced")
    (folder / "fence").mkdir()
    (folder / "fence" / "sitecustomize.py").write_text(_FENCE)
    write_vault(folder / "vault")
    extra = {"PYTHONPATH": str(folder / "fence"), "FENCE_LOG": str(folder / "tried")}
    return CommandLine(folder, folder / "store", extra)


def tried(fenced: CommandLine) -> str:
    log = Path(fenced.extra["FENCE_LOG"])
    return log.read_text() if log.exists() else ""


@pytest.mark.parametrize(
    "code", ["socket.create_connection(('192.0.2.1', 9), 1)", "socket.getaddrinfo('example.org', 80)"]
)
def test_the_fence_holds(fenced: CommandLine, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import socket; {code}"],
        env=fenced.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "the fence" in done.stderr
    assert tried(fenced)
    Path(fenced.extra["FENCE_LOG"]).unlink()


# One interpreter for those that do not load Prefect: each of its own would import the libraries again.
_COMMANDS = """
import json, sys
from noctule.flows.cli.main import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["noctule", *arguments]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"{arguments} ended with {ended.code}")
"""


def test_index_search_and_site_try_no_connection_beyond_this_machine(fenced: CommandLine) -> None:
    # ``test_prefect_flow.py`` watches a run through Prefect.
    commands = [
        ("index", "vault", "--no-prefect", "--json"),
        ("search", "how do I cancel a request", "--json"),
        ("search", "abort controller", "--mode", "keyword", "--json"),
        ("site", "--out", "public", "--no-prefect", "--json"),
        ("check", "--deep", "--json"),
        ("report", "--json"),
        ("sql", "select count(*) from passages", "--json"),
    ]
    done = fenced.run_program(_COMMANDS, json.dumps(commands), timeout_s=600)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) >= len(commands)
    assert tried(fenced) == ""


def test_a_model_that_is_not_here_is_not_asked_for_elsewhere(fenced: CommandLine) -> None:
    (fenced.folder / "other.toml").write_text(
        '[collections.vault]\nroot = "vault"\n[embed]\nmodel = "nobody/no-such-model"\n'
    )
    done = fenced.run("index", "--config", "other.toml", "--no-prefect", "--json")
    assert (done.code, done.error["kind"]) == (2, "ModelUnavailable")
    assert tried(fenced) == ""


def test_no_file_of_a_store_is_a_pickle(fenced: CommandLine) -> None:
    files = [path for path in fenced.store.rglob("*") if path.is_file()]
    assert len(files) > 20
    starts = {path.name: path.read_bytes()[:2] for path in files}
    assert [
        name for name, start in starts.items() if start[:1] == b"\x80" or name.endswith((".pkl", ".npy"))
    ] == []
