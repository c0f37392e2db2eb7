"""The size of a group of files: what parsing and joining groups costs, and what MDN's nights parse again."""

from __future__ import annotations

import time

from bench.corpora import settings_file
from bench.nights import archives, read_night
from noctule.artifacts.cache.parsed_corpus import joined
from noctule.flows.run.versions import parse_fingerprints
from noctule.flows.stages.groups import grouped
from noctule.flows.stages.parse_batch import FileBatch, parse_files
from noctule.flows.stages.sources import list_sources
from noctule.pipeline.settings.reading import load

_SAMPLE = slice(3_000, 3_800)
_MEANS = (8, 4, 2, 1)


def measure() -> None:
    """Print, by files per group, CPU seconds for 800 files (warm) and files parsed in all nights."""
    settings = load(settings_file("mdn"))
    files, fingerprints = list_sources(settings, rules=()).files, parse_fingerprints(settings)
    nights = [read_night(archive).files for archive in archives()]
    parse_files(FileBatch(tuple(grouped(files[_SAMPLE])), settings, fingerprints))
    for mean in _MEANS:
        start = time.process_time()
        rows = parse_files(FileBatch(tuple(grouped(files[_SAMPLE], mean)), settings, fingerprints))
        parsing_ended = time.process_time()
        joined(rows)
        end = time.process_time()
        groups = grouped(files, mean)
        parsed = sum(
            len(group)
            for changed in nights
            for group in groups
            if any(each.path in changed for each in group)
        )
        print(
            f"{mean} files a group: {parsing_ended - start:.1f} s parsing, {end - parsing_ended:.2f} s "
            f"joining, {parsed} files parsed"
        )
    print(f"{sum(map(len, nights))} files changed in all nights")
