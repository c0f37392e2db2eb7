"""``python -m bench [index] [encoding] [search] [determinism]``: all of them by default."""

from __future__ import annotations

import sys

from bench import determinism, encoding, index, search

MEASUREMENTS = {
    "index": index.measure,
    "encoding": encoding.measure,
    "search": search.measure,
    "determinism": determinism.measure,
}

if __name__ == "__main__":
    wanted = sys.argv[1:] or list(MEASUREMENTS)
    unknown = sorted(set(wanted) - set(MEASUREMENTS))
    if unknown:
        sys.exit(f"no measurement {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}")
    for chosen in wanted:
        MEASUREMENTS[chosen]()
