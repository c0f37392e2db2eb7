"""Where the theme and the client's scripts lie."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
THEME = HERE / "theme"
CLIENT = HERE / "client"
# The client's scripts as `make bundle` makes them of their modules.
SCRIPTS = CLIENT / "bundles"
