"""The Prefect flow ``nightly``: the index, the site of it, and the snapshot at its targets."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from noctule.flows.index import PrefectSteps, index
from noctule.flows.run.request import IndexRequest
from noctule.flows.run.result import require_whole
from noctule.flows.run.signals import heeding_signals
from noctule.flows.run.work import Night, only_night, publish_as_set, site_beside
from noctule.flows.site import site


@flow(name="nightly", persist_result=False)
def nightly(  # noqa: PLR0913, PLR0917  # parameters of a deployment
    config: str | None = None,
    store: str = ".noctule",
    out: str = "public",
    allow_empty: bool = False,
    accept_drop: bool = False,
    accept_shrink: bool = False,
    engine: str | None = None,
    allow_partial: bool = False,
) -> Night:
    """Indexes what the settings describe, builds the site, and sends the snapshot to its targets, in this order.

    After all that a run in which a collection failed raises ``PartialFailure``, unless ``allow_partial``.
    """
    request = IndexRequest(Path(store), None if config is None else Path(config))
    with heeding_signals(), only_night(Path(store)):
        with site_beside(request, Path(out)):
            built = index(
                config=config,
                store=store,
                allow_empty=allow_empty,
                accept_drop=accept_drop,
                accept_shrink=accept_shrink,
                engine=engine,
                publish=False,
                allow_partial=True,
            )
            night = Night(built, site(config=config, store=store, out=out))
        publish_as_set(request, built, PrefectSteps())
        if not allow_partial:
            require_whole(built)
        return night
