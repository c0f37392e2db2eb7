"""Settings of the search service: where it listens, who may ask, and how much at a time."""

from __future__ import annotations

import re
from ipaddress import ip_network

from pydantic import Field, field_validator

from .search import Table
from .shard_choice import ShardChoice

_HOST = r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9][A-Za-z0-9.-]{0,252})"
_BACKEND = re.compile(rf"https?://{_HOST}(:[0-9]{{1,5}})?(/[^?# ]*)?")
_NAME = re.compile(r"\*|\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?")
_ORIGIN = re.compile(r"\*|null|https?://(\[[0-9a-f:.]+\]|[a-z0-9][a-z0-9.-]{0,252})(:[0-9]{1,5})?")


class EventSettings(Table):
    """What searches the service records for ``noctule feedback``, and for how long."""

    enabled: bool = False
    queries: bool = Field(default=False, description="also what was asked, and which hits were shown")
    anonymous: bool = Field(default=False, description="no token is needed to tell an event")
    days: int = Field(default=30, ge=1, le=3650, description="older days are deleted")
    max_day_bytes: int = Field(default=50_000_000, ge=1_000, description="no more is recorded of a day")
    folder: str = Field(default="", description="empty: events, in the store")


class RouterSettings(Table):
    """A server that asks others, which hold some shards of a set each, and merges what they find."""

    backends: tuple[str, ...] = Field(default=(), strict=False, description="addresses of those servers")
    token: str = Field(default="", description="a file with the token to ask them with")
    timeout_s: float = Field(default=1.0, gt=0, le=60, strict=False)
    hedge_quantile: float = Field(
        default=0.95, gt=0, le=1, strict=False, description="of times, after which another is asked; 1: never"
    )

    @field_validator("backends")
    @classmethod
    def _are_addresses(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        given = tuple(each.strip().rstrip("/") for each in given)
        wrong = [each for each in given if not _BACKEND.fullmatch(each)]
        if wrong or len(set(given)) < len(given):
            shown = ", ".join(wrong or given)
            raise ValueError(f"not addresses such as http://10.0.0.5:8001, each once: {shown}")
        return given


class Serve(Table):
    """The search service; the limits are those of one process."""

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535, description="0: a free one")
    workers: int = Field(default=1, ge=1, le=64, description="processes")
    tokens: str = Field(default="", description="a file of tokens; empty: nobody needs one")
    hosts: tuple[str, ...] = Field(default=(), strict=False, description="names that lead here")
    origins: tuple[str, ...] = Field(default=(), strict=False, description="sites whose scripts may ask")
    proxies: tuple[str, ...] = Field(default=(), strict=False, description="whose X-Forwarded-For counts")
    requests_per_second: float = Field(default=20.0, ge=0, strict=False, description="0: no limit")
    burst: int = Field(default=40, ge=1)
    threads: int = Field(default=0, ge=0, le=256, description="0: two per core")
    queue: int = Field(default=64, ge=0)
    deadline_s: float = Field(default=2.0, gt=0, le=60, strict=False)
    max_body_bytes: int = Field(default=65_536, ge=1_024)
    poll_s: float = Field(default=1.0, gt=0, strict=False)
    # A stopped process has seven seconds in all (flows/run/signals.py).
    drain_s: float = Field(default=5.0, ge=0, le=6, strict=False)
    log_queries: bool = False
    events: EventSettings = EventSettings()
    shards: str = Field(default="", description="of a set: those to open, as 0,1,4-7 or 1/2; empty: all")
    router: RouterSettings = RouterSettings()

    @property
    def is_router(self) -> bool:
        """Return whether other servers are asked in place of a store."""
        return bool(self.router.backends) and not self.shards

    @field_validator("shards")
    @classmethod
    def _is_choice(cls, given: str) -> str:
        return str(ShardChoice.parse(given)) if given else ""

    @field_validator("hosts")
    @classmethod
    def _are_names(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return _all_match(_NAME, given, "a host's name without a port")

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return _all_match(_ORIGIN, given, 'an origin such as "https://docs.example.org"')

    @field_validator("proxies")
    @classmethod
    def _are_networks(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for each in given:
            ip_network(each)  # its ValueError says what is wrong
        return given


def _all_match(pattern: re.Pattern[str], given: tuple[str, ...], what: str) -> tuple[str, ...]:
    names = tuple(each.lower() for each in given)
    wrong = [each for each in names if not pattern.fullmatch(each)]
    if wrong:
        raise ValueError(f"not {what}: {', '.join(wrong)}")
    return names
