"""Retries for a file system, here or elsewhere, that is temporarily unavailable."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from ...pipeline.errors import SourceError, SourceUnavailable, is_transient

T = TypeVar("T")
_PAUSES_S = (0.2, 1.0)


def with_retries(function: Callable[[], T]) -> T:
    """Return what the function returns; call it again, after a pause, while its error may be temporary."""
    for pause_s in _PAUSES_S:
        try:
            return function()
        except SourceError as error:
            if not (isinstance(error, SourceUnavailable) or is_transient(error.__cause__)):
                raise
        time.sleep(pause_s)
    return function()
