"""The operation that records what was shown and opened, and what it takes; nothing says who asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..problems import HttpProblem
from .calls import Call, Reply, json_reply
from .parameters import WHOLE, Parameters, SnapshotId, Text, text_field

PATH = "/v1/events"
_Session = Annotated[str, Field(
    pattern="^[0-9a-f]{16}$", description="A random number that lives as long as the page it was made in.",
)]  # fmt: skip
_Search = Annotated[
    int, Field(ge=0, le=1_000_000, description="The number of the search in its session."), WHOLE
]
_Hit = Annotated[Text, Field(min_length=1, max_length=1_000)]
_Snapshot = Annotated[SnapshotId, Field(description="The snapshot that was searched.")]


class _ToldEvent(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    session: _Session
    search: _Search


class ShownHits(_ToldEvent):
    """A search that found something."""

    kind: Literal["search"]
    hits: Annotated[
        tuple[_Hit, ...],
        Field(min_length=1, max_length=50, description="What was shown: documents, or pages of the site."),
    ]
    query: Text = text_field(300, "What was asked; recorded if the settings allow it.", default="")
    sure: bool = Field(default=True, description="Whether a hit is likely, as the answer says.")
    snapshot: _Snapshot = ""


class NothingFound(_ToldEvent):
    """A search that found nothing."""

    kind: Literal["zero"]
    query: Text = text_field(300, "What was asked; recorded if the settings allow it.", default="")
    snapshot: _Snapshot = ""


class OpenedHit(_ToldEvent):
    """A hit that was opened."""

    kind: Literal["click"]
    hit: _Hit
    rank: Annotated[int, Field(ge=1, le=1_000, description="Its place among the hits, from 1."), WHOLE]


_KINDS: dict[str, type[BaseModel]] = {"search": ShownHits, "zero": NothingFound, "click": OpenedHit}


class EventParameters(Parameters):
    """What happened with searches."""

    events: tuple[Annotated[ShownHits | NothingFound | OpenedHit, Field(discriminator="kind")], ...] = Field(
        min_length=1, max_length=20
    )

    @classmethod
    def owner(cls, location: Sequence[int | str]) -> type[BaseModel]:
        """Return the model of an event of the kind that is wrong."""
        kind = str(location[2]) if len(location) > 2 else ""
        return _KINDS.get(kind, cls)


def record(call: Call[EventParameters]) -> Reply:
    """Record events; raise ``HttpProblem`` if none are recorded here, or enough were today."""
    if call.events is None:
        raise HttpProblem("events-off", "The settings serve.events can switch it on.")
    lines = [_line(each) for each in call.parameters.events]
    if not call.events.record(lines):
        detail = "No more is recorded until tomorrow (serve.events.max_day_bytes)."
        raise HttpProblem("events-full", detail, headers={"Retry-After": "3600"})
    call.metrics.events.inc(len(lines))
    return json_reply({"recorded": len(lines)}, kept=False)


def _line(event: Any) -> dict[str, Any]:
    """Return an event as it is recorded, without what is empty."""
    given = event.model_dump(mode="json")
    if not isinstance(event, OpenedHit):
        given["shown"] = len(given.get("hits", ()))
    return {name: value for name, value in given.items() if value != ""}
