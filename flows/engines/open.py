"""Opens the engine that the settings name, for the duration of a build."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from ...artifacts.disk import durable, folders
from ...artifacts.disk.layout import STAGING_PREFIX
from ...artifacts.store.store import Store
from ...pipeline.embedding.encoder import available_cores
from ...pipeline.settings.settings import Settings
from . import Engine
from .cluster import Cluster, ClusterEngine
from .local import Inline, Processes


@contextmanager
def opened(settings: Settings, store: Store) -> Iterator[Engine]:
    """Yield the engine; the store's lock must be held. A cluster is contacted at its first batch."""
    kind = settings.engine.kind
    if kind == "inline":
        yield Inline()
    elif kind == "processes":
        processes = Processes(settings)
        try:
            yield processes
        finally:
            processes.close()
    else:
        folder = _exchange_folder(settings, store)
        engine = ClusterEngine(settings, folder, _connecting(settings, folder))
        try:
            yield engine
        finally:
            try:
                engine.close()
            finally:
                folders.remove_tree(folder)


def _exchange_folder(settings: Settings, store: Store) -> Path:
    """Return a new folder that every worker sees; what a dead run leaves in a store, the next removes."""
    if not settings.engine.shared:
        return store.stage().path
    folder = Path(settings.engine.shared).expanduser().absolute() / f"{STAGING_PREFIX}{uuid4().hex}"
    durable.make_directory(folder)
    return folder


def _connecting(settings: Settings, folder: Path) -> Callable[[], Cluster]:
    address, workers = settings.engine.address, settings.embed.workers or available_cores()

    def connect() -> Cluster:
        if settings.engine.kind == "dask":
            from .dask import DaskCluster

            return DaskCluster(address, workers, folder)
        from .ray import RayCluster

        return RayCluster(address, workers)

    return connect
