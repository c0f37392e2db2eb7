"""A stored night's report as sheets for a page, and as markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...docsite.pages.report import ReportSheet
from ...pipeline.printable import counted
from ..run.progress import size

_MOST_MARKDOWN_ROWS = 50
_KINDS = ("added", "changed", "moved", "removed")


def sheets(night: Mapping[str, Any]) -> tuple[ReportSheet, ...]:
    """Return the report's parts in order; those with nothing to report are short."""
    return (
        _summary(night),
        _documents(night["documents"]),
        _refused(night["refused"]),
        _links(night["links"]),
        _topics(night["topics"]),
        _rising(night["rising"]),
        _sizes(night["sizes"]),
        _times(night),
        _relevance(night["relevance"]),
    )


def _summary(night: Mapping[str, Any]) -> ReportSheet:
    since = f"since {night['previous']}" if night["previous"] else "the first, or the first that can be read"
    counts = ", ".join(f"{night['documents'][kind]['count']:,} {kind}" for kind in _KINDS)
    rows = [
        ("snapshot", night["snapshot"]),
        ("compared", since),
        ("finished", night["finished"]),
        ("documents", counts),
        ("texts", f"{night['encoded']:,} encoded, {night['reused']:,} reused"),
        *(("rebuilt", reason) for reason in night["rebuilt"]),
        *(
            (f"failed: {name}", f"keeps the documents it had: {why}")
            for name, why in night.get("failed", {}).items()
        ),
    ]
    if healed := night.get("healed", 0):
        rows.append(("site", f"{healed:,} damaged files were rebuilt"))
    return ReportSheet("The night", "", ("what", "figures"), tuple(rows))


def _documents(found: Mapping[str, Any]) -> ReportSheet:
    rows = [
        (_now(name), kind if kind != "moved" else f"moved from {name.partition(' -> ')[0]}")
        for kind in ("changed", "added", "moved", "removed")
        for name in found[kind]["names"]
    ]
    said = "; ".join(f"{found[kind]['count']:,} {kind}" for kind in _KINDS)
    return ReportSheet("Documents", f"{said}.", ("document", "what happened"), tuple(rows), documents=True)


def _now(name: str) -> str:
    return name.rpartition(" -> ")[2]


def _refused(found: Mapping[str, Any]) -> ReportSheet:
    usable = f"{found['mended']['count']:,} usable again"
    said = f"{found['count']:,} files newly left out; {usable}."
    rows = [(name, reason) for name, reason in found["first"]]
    rows += [(name, "can be used again, or is gone") for name in found["mended"]["names"]]
    return ReportSheet("Left out", said, ("file", "why"), tuple(rows), documents=True)


def _links(found: Mapping[str, Any]) -> ReportSheet:
    said = f"{counted(found['broken'], 'link')} broke; {found['mended']:,} repaired."
    rows = [(each["source"], each["target"], f"broken: {each['fate']}") for each in found["first_broken"]]
    rows += [(each["source"], each["target"], f"repaired: {each['fate']}") for each in found["first_mended"]]
    return ReportSheet(
        "Links", said, ("on the page", "leads to", "what happened"), tuple(rows), documents=True
    )


def _topics(found: Mapping[str, Any]) -> ReportSheet:
    said = f"{counted(found['moved'], 'document')} moved to another community."
    rows = [(each["label"], "new", _grew(each)) for each in found["new"]]
    rows += [(each["label"], "gone", _grew(each)) for each in found["gone"]]
    rows += [(each["label"], f"was {each['label_before']}", _grew(each)) for each in found["renamed"]]
    rows += [
        (each["label"], "grew" if each["now"] > each["before"] else "shrank", _grew(each))
        for each in found["grown"]
    ]
    return ReportSheet("Communities", said, ("community", "what happened", "documents"), tuple(rows))


def _grew(each: Mapping[str, int]) -> str:
    return f"{each['before']:,} to {each['now']:,}"


def _rising(found: Sequence[Mapping[str, Any]]) -> ReportSheet:
    rows = tuple((each["term"], f"{each['before']:,}", f"{each['now']:,}") for each in found)
    said = (
        "Terms that occur in more passages than before."
        if rows
        else "No term occurs in more passages than before."
    )
    return ReportSheet("Rising terms", said, ("term", "passages before", "now"), rows)


def _sizes(found: Iterable[Mapping[str, Any]]) -> ReportSheet:
    rows = []
    for each in found:
        before, now = each["before"], each["now"]
        shown = (size(before), size(now)) if each["what"] == "bytes" else (f"{before:,}", f"{now:,}")
        rows.append((each["what"], *shown, f"{(now - before) / before:+.1%}" if before else ""))
    return ReportSheet("Size", "", ("what", "before", "now", "change"), tuple(rows))


def _times(night: Mapping[str, Any]) -> ReportSheet:
    rows = tuple(
        (each["stage"], f"{each['seconds']:.2f}", f"{each['usual']:.2f}") for each in night["stages"]
    )
    said = f"{night['seconds']:.1f} s for the snapshot."
    if night["runs"]:
        said += f" The median of the last {night['runs']} runs: {night['usual_seconds']:.1f} s."
    return ReportSheet("Times", said, ("stage", "seconds", "usual"), rows)


def _relevance(lines: Sequence[str]) -> ReportSheet:
    said = "" if lines else "There is no gate: no judged queries in the settings."
    return ReportSheet("Relevance", said, ("figures",) if lines else (), tuple((line,) for line in lines))


def markdown(night: Mapping[str, Any]) -> str:
    """Return the report as a page of markdown."""
    return "\n".join(["# Nightly report\n", *(_markdown(each) for each in sheets(night))])


def _markdown(sheet: ReportSheet) -> str:
    lines = [f"## {sheet.heading}\n"]
    if sheet.sentence:
        lines.append(f"{_cell(sheet.sentence)}\n")
    if sheet.rows:
        lines += [_line(sheet.columns), _line("---" for _ in sheet.columns)]
        lines += [_line(map(_cell, row)) for row in sheet.rows[:_MOST_MARKDOWN_ROWS]]
        if len(sheet.rows) > _MOST_MARKDOWN_ROWS:
            lines.append(f"\nand {len(sheet.rows) - _MOST_MARKDOWN_ROWS:,} more: `noctule report --json`")
        lines.append("")
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Return text of documents for a table cell, with its markup escaped."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace("<", "&lt;")
    for mark in "|`*_[]":
        plain = plain.replace(mark, f"\\{mark}")
    return plain
