"""One target under atheris, which looks for inputs that reach new branches: ``tests.fuzz.run`` starts it."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(
    include=[
        "noctule.pipeline",
        "noctule.artifacts.query",
        "noctule.docsite",
        "markdown_it",
        "mdit_py_plugins",
    ]
):
    from tests.fuzz.targets import TARGETS

if __name__ == "__main__":
    target = TARGETS[sys.argv.pop(1)]
    target(bytes(8))  # what it has to build first, even for a whole forgery, is not on the first input's time
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()
