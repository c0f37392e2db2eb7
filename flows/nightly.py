"""The Prefect flow ``nightly``: the index, then the site of it."""

from __future__ import annotations

from prefect import flow

from flows.index import index
from flows.site import site
from flows.work import Night


@flow(name="nightly", persist_result=False)
def nightly(
    config: str | None = None,
    store: str = ".noctule",
    out: str = "public",
    allow_empty: bool = False,
    accept_drop: bool = False,
    accept_shrink: bool = False,
    engine: str | None = None,
) -> Night:
    """Indexes what the settings describe and builds the site; a failed index leaves the site as it was."""
    built = index(
        config=config,
        store=store,
        allow_empty=allow_empty,
        accept_drop=accept_drop,
        accept_shrink=accept_shrink,
        engine=engine,
    )
    return Night(built, site(config=config, store=store, out=out))
