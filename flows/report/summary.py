"""The summary of a build, as lines for a log, markdown for a page and rows for a table."""

from __future__ import annotations

from dataclasses import asdict

from ...pipeline.directives import is_fault
from ...pipeline.printable import counted
from ...pipeline.settings.settings import Settings
from ..quality import gate_lines
from ..run.stage import seconds_by_stage
from .result import TOTALS, BuildResult

MAX_REJECTED_ROWS = 200


def lines(result: BuildResult) -> tuple[str, ...]:
    """Return what is published, how long it took, what was left out, how judged queries are answered."""
    state = "published" if result.changed else "unchanged"
    encoded = f"{counted(result.encoded, 'text')} encoded, {result.reused:,} reused"
    found = [
        f"snapshot {result.snapshot} {state}: {_size(result)}",
        f"{counted(result.parsed, 'file')} parsed, {encoded}, {result.seconds:.1f} s",
    ]
    found += [
        f"collection {name} failed; its documents are unchanged: {what}"
        for name, what in result.failed.items()
    ]
    if result.rejections:
        left_out = f"{counted(result.skipped, 'file')} skipped, {result.quarantined:,} quarantined"
        found.append(left_out + (f", {counted(result.remarks, 'remark')}" if result.remarks else ""))
    if left := sum(is_fault(each.reason) for each in result.rejections):
        found.append(
            f"{left:,} directives are shown as text or name a missing file; noctule report lists them"
        )
    if result.relevance:
        found.extend(gate_lines.figures(result.relevance))
    return tuple(found)


def as_json(result: BuildResult) -> dict[str, object]:
    """Return the object that ``index --json`` prints; seconds of a repeated stage are added up."""
    return {
        "snapshot": result.snapshot,
        **{name: getattr(result, name) for name in TOTALS},
        "seconds": round(result.seconds, 3),
        "changed": result.changed,
        "generation": result.generation,
        "parsed": result.parsed,
        "failed": dict(result.failed),
        "encoded": result.encoded,
        "reused": result.reused,
        "stages": seconds_by_stage(result.times),
        "relevance": asdict(result.relevance) if result.relevance else None,
    }


def markdown(result: BuildResult) -> str:
    """Return the summary as a page."""
    rows = "\n".join(f"| {name} | {value} |" for name, value in _facts(result))
    return f"# Snapshot {result.snapshot}\n\n| | |\n| --- | --- |\n{rows}\n"


def lineage(result: BuildResult, settings: Settings) -> str:
    """Return a page with the snapshot and the folders it was made from."""
    rows = "\n".join(
        f"| {name} | `{collection.root}` | {_tonight(name, result)} |"
        for name, collection in sorted(settings.collections.items())
    )
    state = _size(result)
    head = f"# Snapshot {result.snapshot}\n\ngeneration {result.generation}, {state}\n\n"
    return f"{head}| collection | folder | tonight |\n| --- | --- | --- |\n{rows}\n"


def _tonight(name: str, result: BuildResult) -> str:
    return f"kept from before: {result.failed[name]}" if name in result.failed else "read"


def _facts(result: BuildResult) -> tuple[tuple[str, str], ...]:
    return (
        ("published", "yes" if result.changed else "no, the content is that of the current snapshot"),
        ("generation", str(result.generation)),
        ("documents", f"{result.documents:,}"),
        ("passages", f"{result.passages:,}"),
        ("files parsed", f"{result.parsed:,}"),
        ("texts encoded", f"{result.encoded:,}"),
        ("texts reused", f"{result.reused:,}"),
        ("files skipped", f"{result.skipped:,}"),
        ("files quarantined", f"{result.quarantined:,}"),
        ("collections that failed", ", ".join(result.failed) or "none"),
        ("seconds", f"{result.seconds:.1f}"),
    )


def stage_rows(result: BuildResult) -> list[dict[str, str | float]]:
    """Return rows of each stage's seconds, then of each table's row count."""
    stages: list[dict[str, str | float]] = [
        {"stage": time.stage, "amount": round(time.seconds, 3), "unit": "seconds"} for time in result.times
    ]
    return stages + [
        {"stage": f"table {name}", "amount": float(rows), "unit": "rows"}
        for name, rows in sorted(result.counts.items())
    ]


def rejected_rows(result: BuildResult) -> list[dict[str, str]]:
    """Return the first files left out, each with its reason; a last row says how many more there are."""
    rejected = sorted(result.rejections, key=lambda each: (each.collection, each.path, each.kind))
    rows = [
        {"collection": each.collection, "path": each.path, "kind": each.kind, "reason": each.reason}
        for each in rejected[:MAX_REJECTED_ROWS]
    ]
    more = len(rejected) - len(rows)
    if more:
        rows.append({"collection": "", "path": f"and {more:,} more", "kind": "", "reason": "noctule report"})
    return rows


def _size(result: BuildResult) -> str:
    return f"{counted(result.documents, 'document')}, {counted(result.passages, 'passage')}"
