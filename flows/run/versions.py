"""The versions that a snapshot depends on besides files and settings: noctule, libraries and our own code."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from platform import python_version

from ... import artifacts, flows, pipeline
from ...pipeline import __version__
from ...pipeline.embedding.model_files import find
from ...pipeline.identity import combined_hash, installed_version, sha256_hex
from ...pipeline.settings.settings import Settings

TOOLS = (
    "faiss-cpu", "imagesize", "markdown-it-py", "networkx", "numpy", "pyarrow", "PyStemmer", "python-louvain",
    "torch",
)  # fmt: skip
# Libraries that decide what a document is understood to say.
_PARSERS = (
    "beautifulsoup4", "docutils", "griffelib", "linkify-it-py", "markdown-it-py", "mdit-py-plugins", "nh3",
    "PyStemmer", "pyyaml", "tokenizers",
)  # fmt: skip
# Without one of these, what only it reads is quarantined.
_OPTIONAL_PARSERS = ("mammoth", "pypdfium2")


def tools() -> dict[str, str]:
    """Return the versions of noctule and of the libraries that affect a snapshot's content."""
    return {"noctule": __version__} | {name: installed_version(name) for name in TOOLS}


def parse_fingerprints(settings: Settings) -> dict[str, str]:
    """Return for each collection a hash of everything, except its files, that affects how they are parsed."""
    shared = (
        sources_hash(Path(pipeline.__file__).parent),
        sources_hash(Path(artifacts.__file__).parent),
        python_version(),  # its html.parser and its tables of Unicode
        *(installed_version(name) for name in _PARSERS),
        *(_version_if_installed(name) for name in _OPTIONAL_PARSERS),
        settings.chunk.model_dump_json(),
        str(settings.limits.parse_timeout_s),  # which documents it costs is remembered
        find(settings.embed).sha256,
    )
    return {
        name: combined_hash([name, collection.model_dump_json(exclude={"root"}), *shared])
        for name, collection in settings.collections.items()
    }


def _version_if_installed(name: str) -> str:
    try:
        return installed_version(name)
    except PackageNotFoundError:
        return ""


@lru_cache(maxsize=4)
def sources_hash(folder: Path) -> str:
    """Return a hash of a package's own code."""
    return combined_hash(sha256_hex(path.read_bytes()) for path in sorted(folder.rglob("*.py")))


def code_version() -> str:
    """Return a hash of all code that makes snapshots."""
    packages = (artifacts, flows, pipeline)
    return combined_hash([sources_hash(Path(each.__file__ or "").parent) for each in packages])
