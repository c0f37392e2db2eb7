"""The installer of the Makefile, with a pip and a uv that write down what they are asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import REPOSITORY

_STUB = """#!{python}
import json, os, sys
if sys.argv[1:3] == ["config", "list"]:
    print({config!r})
    sys.exit()
told = {{name: os.environ[name] for name in os.environ if name.startswith(("UV_", "SSL_"))}}
with open({log!r}, "a") as log:
    log.write(json.dumps([{name!r}, sys.argv[1:], told]) + "\\n")
sys.exit({code})
"""
_MIRROR = """:env:.cert='/etc/ca.pem'
:env:.find-links='/wheels'
global.extra-index-url='file:///a file:///b'
global.find-links='/other'"""


def _stub(folder: Path, name: str, config: str = "", code: int = 0) -> None:
    text = _STUB.format(python=sys.executable, config=config, log=str(folder / "log"), name=name, code=code)
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "bin" / name).write_text(text)
    (folder / "bin" / name).chmod(0o755)


def _asked(folder: Path, *arguments: str) -> tuple[int, list[Any]]:
    without_uv = [each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "uv").exists()]
    environment = {"PATH": os.pathsep.join(without_uv)}
    done = subprocess.run(
        [REPOSITORY / ".ci" / "install", folder, *arguments], env=environment, cwd=folder, check=False
    )
    return done.returncode, [json.loads(line) for line in (folder / "log").read_text().splitlines()]


def test_uv_installs_as_pip_is_configured(tmp_path: Path) -> None:
    _stub(tmp_path, "pip", _MIRROR)
    _stub(tmp_path, "uv")
    code, [(name, arguments, told)] = _asked(tmp_path, "-e", ".[build]")
    assert (code, name, arguments[-4:]) == (0, "uv", ["-c", "constraints.txt", "-e", ".[build]"])
    assert told == {
        "SSL_CERT_FILE": "/etc/ca.pem",
        "UV_FIND_LINKS": "/wheels",
        "UV_INDEX": "file:///a file:///b",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_where_nothing_is_configured_uv_takes_the_build_of_torch_for_this_machine(tmp_path: Path) -> None:
    _stub(tmp_path, "pip")
    _stub(tmp_path, "uv")
    _, [(_, _, told)] = _asked(tmp_path, "torch")
    assert told == {"UV_TORCH_BACKEND": "auto", "UV_INDEX_STRATEGY": "unsafe-best-match"}


@pytest.mark.parametrize("pip_code", [0, 1])
def test_pip_installs_where_uv_cannot(pip_code: int, tmp_path: Path) -> None:
    _stub(tmp_path, "pip", code=pip_code)
    _stub(tmp_path, "uv", code=2)
    code, asked = _asked(tmp_path, "torch")
    assert code == pip_code
    assert [name for name, _, _ in asked] == ["uv", "pip"]
    assert asked[1][1] == ["install", "-q", "-c", "constraints.txt", "torch"]


def test_pip_installs_where_there_is_no_uv(tmp_path: Path) -> None:
    _stub(tmp_path, "pip", code=1)
    code, asked = _asked(tmp_path, "torch")
    assert code == 1
    assert [arguments[-1] for _, arguments, _ in asked] == ["uv", "torch"]
