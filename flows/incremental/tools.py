"""What makes a snapshot, and in which version."""

from __future__ import annotations

from importlib.metadata import version

from ...pipeline import __version__

TOOLS = (
    "faiss-cpu",
    "markdown-it-py",
    "networkx",
    "numpy",
    "pyarrow",
    "PyStemmer",
    "python-louvain",
    "torch",
)


def tools() -> dict[str, str]:
    """The versions of noctule and of the libraries that decide what a snapshot holds."""
    return {"noctule": __version__} | {name: version(name) for name in TOOLS}
