"""What the tests of settings in scripts share."""

from __future__ import annotations

from typing import Any

from noctule.pipeline.navigation.script_imports import Script


def exported(source: str) -> Any:
    """Return the value that a script exports by default (``export default`` or ``module.exports =``)."""
    return Script(source, "").value
