"""Where the theme lies."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
THEME = HERE / "theme"
CLIENT = HERE / "client"
