"""The settings of the engine that computes a build's batches: this process, this machine, or a cluster."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from .search import Table

_NAME = re.compile(
    r"inline|processes|(?:dask|ray)(?:://(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5})?", re.ASCII
)


class EngineSettings(Table):
    """The engine; none of it affects a snapshot's content."""

    name: str = "processes"
    shared: str = Field(default="", description="a folder that every worker sees; empty: the store")

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"no engine {name!r}; choose inline, processes, dask, dask://HOST:PORT, ray or ray://HOST:PORT"
            )
        return name

    @property
    def kind(self) -> str:
        """Return the engine's name without an address."""
        return self.name.partition("://")[0]

    @property
    def address(self) -> str:
        """Return ``HOST:PORT`` of a running cluster; empty if one is to be started on this machine."""
        return self.name.partition("://")[2]
