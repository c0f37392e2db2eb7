"""Token buckets: how many requests a client may send at once, and how many a second after that."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

from cachetools import TTLCache

# Of so many clients the level is known; of more, those not seen for longest begin anew.
_MOST_CLIENTS = 65_536


class TokenBuckets:
    """A bucket for each client that holds ``burst`` and gains ``per_second``; with 0 there is no limit."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._gain, self._burst, self._clock, self._lock = per_second, burst, clock, threading.Lock()
        # A bucket is full after so long, and a full one need not be kept.
        full_after = burst / per_second if per_second else 1.0
        self._levels: TTLCache[str, tuple[float, float]] = TTLCache(_MOST_CLIENTS, full_after + 1, clock)

    def take(self, client: str, amount: int = 1) -> float:
        """Take from the client's bucket and return 0; or take nothing, and return the seconds to wait."""
        if not self._gain:
            return 0.0
        now = self._clock()
        with self._lock:
            level, at = self._levels.get(client, (float(self._burst), now))
            level = min(float(self._burst), level + (now - at) * self._gain)
            if level >= amount:
                self._levels[client] = level - amount, now
                return 0.0
            # More than a bucket holds is let through when it is full.
            if amount > self._burst and level >= self._burst:
                self._levels[client] = 0.0, now
                return 0.0
            self._levels[client] = level, now
            return (min(amount, self._burst) - level) / self._gain


def retry_after(seconds: float) -> dict[str, str]:
    """Return the header that says when to try again."""
    return {"Retry-After": str(max(1, math.ceil(seconds)))}


def bucket_of(address: str) -> str:
    """Return whose bucket a peer's address takes from: of IPv6 all of one network's, as one has many."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return f"{found.exploded[:19]}::/64"
