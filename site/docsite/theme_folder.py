"""The locations of the theme and of the client's scripts."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
THEME = HERE / "theme"
CLIENT = HERE / "client"
# The client's scripts as `make bundle` makes them of their modules.
SCRIPTS = CLIENT / "bundles"
