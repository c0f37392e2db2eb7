"""Nothing that is read from a disk can run code: no pickle, no loader that would take one, no code out of a
model.
"""

from __future__ import annotations

import ast

import pytest

from tests.conventions.test_style import MODULES, REPOSITORY, name_of

BENCH = sorted((REPOSITORY / "bench").rglob("*.py"))
_LOADERS = {"torch.load", "pd.read_pickle", "joblib.load", "faiss.deserialize_index"}
_RUN = {"eval", "exec", "compile", "__import__"}
# The last is derived from a safe one: tags it does not know are plain values.
_SAFE_YAML = {"SafeLoader", "CSafeLoader", "_Loader", "_Tolerant"}


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def dangers(code: str) -> list[str]:
    """What in a module would read or run what a file says."""
    found = []
    for call in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)):
        name, given = _dotted(call.func), {each.arg: each.value for each in call.keywords}
        is_true = {
            key
            for key, value in given.items()
            if not (isinstance(value, ast.Constant) and value.value is False)
        }
        if name in _LOADERS and not (name == "torch.load" and "weights_only" in is_true):
            found.append(name)
        if "allow_pickle" in is_true or "trust_remote_code" in is_true:
            found.append(f"{name} with allow_pickle or trust_remote_code")
        if name in _RUN and not (name == "compile" and given):
            found.append(name)
        loader = given.get("Loader")
        if name == "yaml.load" and (loader is None or _dotted(loader) not in _SAFE_YAML):
            found.append("yaml.load")
        if name.startswith("yaml.") and name.rpartition(".")[2] in ("unsafe_load", "full_load"):
            found.append(name)
    return found


def test_nothing_read_from_a_file_is_run() -> None:
    found = {name_of(path): dangers(path.read_text("utf-8")) for path in (*MODULES, *BENCH)}
    assert {name: dangerous for name, dangerous in found.items() if dangerous} == {}


@pytest.mark.parametrize(
    "code",
    [
        "np.load(f, allow_pickle=True)",
        "torch.load(f)",
        "torch.load(f, weights_only=False)",
        "yaml.load(text)",
        "yaml.unsafe_load(text)",
        "SentenceTransformer(m, trust_remote_code=True)",
        "exec(text)",
        "eval(text)",
    ],
)
def test_the_scan_itself_notices(code: str) -> None:
    assert dangers(code)


def test_only_pipes_between_our_own_processes_carry_pickles() -> None:
    """``multiprocessing`` pickles what it sends from a process to its child, Dask and Ray what they send to a
    worker.

    Both are the same program of the same user, who trusts them anyway; results come back as Arrow files.
    """
    users = {name_of(path) for path in MODULES if "multiprocessing" in path.read_text("utf-8")}
    assert {user for user in users if not user.startswith("flows/engines/")} <= {
        "flows/run/workers.py",
        "flows/run/signals.py",
    }
