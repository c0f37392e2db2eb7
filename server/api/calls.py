"""One call of an operation, and the reply to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ...artifacts.events.event_log import EventLog
from ...artifacts.query.answer import Answer
from ...pipeline.printable import json_printable
from ..guard.tokens import Client
from ..observe.metrics import Metrics
from ..served import ServedSnapshot
from .parameters import Parameters

JSON = "application/json"
MARKDOWN = "text/markdown"
TEXT = "text/plain"
P_co = TypeVar("P_co", bound=Parameters, covariant=True)


@dataclass(frozen=True, slots=True)
class Call(Generic[P_co]):
    """What is asked, of which snapshot, by whom, and in which form it is wanted.

    ``target`` is the part of the path that names a document.
    """

    parameters: P_co
    served: ServedSnapshot
    client: Client
    metrics: Metrics
    events: EventLog | None = None
    target: str = ""
    media_type: str = JSON


@dataclass(frozen=True, slots=True)
class Reply:
    """The content of an answer; one that may not be ``kept`` would not come out the same again."""

    content: bytes
    media_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    is_kept: bool = True


def json_reply(
    value: Mapping[str, Any], headers: Mapping[str, str] | None = None, *, kept: bool = True
) -> Reply:
    """Return a value as JSON, as the command line prints it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Reply(json_printable(text).encode(), JSON, headers or {}, kept)


def server_timing(answer: Answer) -> dict[str, str]:
    """Return the header with the milliseconds of an answer's stages."""
    stages = ", ".join(f"{step.stage};dur={step.seconds * 1000:.2f}" for step in answer.steps)
    return {"Server-Timing": stages} if stages else {}
