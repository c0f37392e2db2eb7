"""Which of several forms a client prefers, by its ``Accept`` header (RFC 9110, 12.5.1)."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_RANGES = 32


def preferred(accept: str, offers: Sequence[str]) -> str | None:
    """Return the offer that the header likes best, of equals the first; ``None`` if it likes none.

    An empty header likes all.
    """
    if not accept.strip():
        return offers[0]
    ranges = [_parsed(each) for each in accept.lower().split(",")[:_MOST_RANGES]]
    liked = [(_quality(offer, ranges), -at, offer) for at, offer in enumerate(offers)]
    quality, _, best = max(liked)
    return best if quality > 0 else None


def _parsed(given: str) -> tuple[str, float]:
    """Return a media range and its quality; a quality that is none counts as 0."""
    name, *parameters = (part.strip() for part in given.split(";"))
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                return name, min(max(float(value), 0.0), 1.0)
            except ValueError:
                return name, 0.0
    return name, 1.0


def _quality(offer: str, ranges: Sequence[tuple[str, float]]) -> float:
    """Return the quality that the most specific range gives an offer."""
    found = dict(reversed(ranges))
    for name in (offer, f"{offer.partition('/')[0]}/*", "*/*"):
        if name in found:
            return found[name]
    return 0.0
