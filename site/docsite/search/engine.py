"""The engine's sources as one classic script."""

from __future__ import annotations

import re
from pathlib import Path

from ..templates import CLIENT

# The order in which the files stand in one another's scope.
LAYERS = (
    "bytes", "parts", "stem", "analyze", "query", "manifest", "postings", "terms", "meaning", "slots", "fuse", "rank",
    "facets", "boosts", "words", "excerpts", "store", "reader", "pieces", "gather", "engine",
)  # fmt: skip
_COMMENTS = re.compile(r"^[ \t]*(?:/\*\*.*?\*/[ \t]*\n|//[^\n]*\n)", re.DOTALL | re.MULTILINE)
_INDENTS = re.compile(r"^[ \t]+|\n(?=\s*\n)", re.MULTILINE)


def engine(folder: Path = CLIENT / "search") -> bytes:
    """The engine's files in one scope, without comments and indentation; the script defines ``noctule``."""
    sources = [(folder / f"{name}.js").read_text("utf-8") for name in LAYERS]
    stripped = "".join(_INDENTS.sub("", _COMMENTS.sub("", source)) for source in sources)
    return f'var noctule=(function(noctule){{"use strict";\n{stripped}return noctule;}})(self.noctule||{{}});\n'.encode()
