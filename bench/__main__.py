"""``python -m bench [index] [encoding] [search] [determinism] [relevance] [peers] [million]``: by default all but the last."""

from __future__ import annotations

import sys

from bench import determinism, encoding, index, million, peers, relevance, search

MEASUREMENTS = {
    "index": index.measure,
    "encoding": encoding.measure,
    "search": search.measure,
    "determinism": determinism.measure,
    "relevance": relevance.measure,
    "peers": peers.measure,
    "million": million.measure,
}
ON_REQUEST = {"million"}

if __name__ == "__main__":
    wanted = sys.argv[1:] or [name for name in MEASUREMENTS if name not in ON_REQUEST]
    unknown = sorted(set(wanted) - set(MEASUREMENTS))
    if unknown:
        sys.exit(f"no measurement {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}")
    for chosen in wanted:
        MEASUREMENTS[chosen]()
