"""The nightly flow served to a Prefect server: it waits for the schedule, and runs one night at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.flows import Flow
from prefect.schedules import Cron
from prefect.types.entrypoint import EntrypointType

from ..nightly import nightly


@dataclass(frozen=True, slots=True)
class NightlyDeployment:
    """A deployment's name, its times and the parameters of its runs."""

    name: str
    cron: str
    zone: str
    parameters: dict[str, object]


def serve(served: NightlyDeployment) -> None:
    """Serve the schedule until the process is stopped.

    A run that is due while another goes on is cancelled, and so are all but one of those that were missed
    while nothing served. The schedule stays on when this process ends: once it is back, one run makes up for
    those that were missed.
    """
    flow = cast("Flow[..., object]", nightly)
    flow.serve(
        name=served.name,
        schedule=Cron(served.cron, timezone=served.zone or None),
        global_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW),
        limit=1,
        pause_on_shutdown=False,
        parameters=served.parameters,
        print_starting_message=False,
        # By its file, this folder would be searched for modules first, and its site.py is not Python's.
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
