"""Folders of documents as a verified snapshot: indexed at night, searched without a server.

    import noctule

    noctule.index("docs")
    with noctule.open(".noctule") as searcher:
        for hit in searcher.search("how do I cancel a request").hits:
            print(hit.score, hit.breadcrumb, hit.url)
    noctule.build_site("public")

Names are imported when they are first used: ``import noctule`` by itself loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .pipeline import __version__

if TYPE_CHECKING:
    from .artifacts.query import Answer, Hit, Searcher, open
    from .artifacts.store.store import Store
    from .flows.api import build_site, index
    from .flows.report.trace import trace
    from .pipeline import errors
    from .pipeline.errors import NoctuleError
    from .pipeline.settings.settings import Settings

__all__ = [
    "Answer", "Hit", "NoctuleError", "Searcher", "Settings", "Store", "__version__", "build_site", "errors",
    "index", "open", "trace",
]  # fmt: skip

_HOMES = {
    "Answer": "artifacts.query",
    "Hit": "artifacts.query",
    "NoctuleError": "pipeline.errors",
    "Searcher": "artifacts.query",
    "Settings": "pipeline.settings.settings",
    "Store": "artifacts.store.store",
    "build_site": "flows.api",
    "index": "flows.api",
    "open": "artifacts.query",
    "trace": "flows.report.trace",
}


def __getattr__(name: str) -> object:
    if name == "errors":
        return import_module(".pipeline.errors", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
