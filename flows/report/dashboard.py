"""The report's pictures: trends, changes by folder, link health, topics before and now, times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...docsite.charts.figure import Figure, plain, shown
from ...docsite.charts.rows import Bar, Shift, bars_figure, moves_figure
from ...docsite.charts.treemap import Cell, treemap_figure
from ...docsite.pages.report import ReportSheet
from ...pipeline.printable import counted
from .trends import Nights, trend_figures

Night = Mapping[str, Any]


def dashboard(night: Night, nights: Nights) -> tuple[ReportSheet, ...]:
    """Return what stands above the tables; a part with nothing to show is left out."""
    trends = trend_figures(nights)
    dates = " to ".join(dict.fromkeys((nights.dates[0], nights.dates[-1]))) if trends else ""
    said = f"{counted(len(nights.dates), 'night')}, {dates}." if trends else ""
    folders = night.get("folders", ())
    sheets = [
        ReportSheet("Trends", said, figures=trends),
        ReportSheet("What changed", "", figures=_some(_tree(folders))),
        ReportSheet(
            "Links, topics and time",
            "",
            figures=_some(_link_health(folders), _topics(night["topics"]), _times(night)),
        ),
    ]
    return tuple(each for each in sheets if each.figures)


def _some(*figures: Figure | None) -> tuple[Figure, ...]:
    return tuple(each for each in figures if each is not None)


def _tree(folders: Sequence[Night]) -> Figure | None:
    names = _names(folders)
    cells = [
        Cell(name, each["documents"], each["added"], each["changed"], each["removed"])
        for name, each in zip(names, folders, strict=True)
    ]
    changed = sum(1 for each in cells if each.signs)
    sentence = f"Each folder as large as its number of documents; changes in {changed:,} of {len(cells):,}."
    return treemap_figure("Documents by folder", sentence, cells)


def _names(folders: Sequence[Night]) -> list[str]:
    """Return the folders' names, without the collection where there is only one."""
    named = [_name(each) for each in folders]
    own = {name.partition(":")[0] for name, each in zip(named, folders, strict=True) if not each["others"]}
    return [name.partition(":")[2] or name for name in named] if len(own) == 1 else named


def _name(folder: Night) -> str:
    return f"{folder['others']:,} other folders" if folder["others"] else plain(folder["name"])


def _link_health(folders: Sequence[Night]) -> Figure | None:
    rows = [(name, each) for name, each in zip(_names(folders), folders, strict=True) if each["broken"]]
    rows.sort(key=lambda row: (-row[1]["broken"], row[0]))
    links, broken = (sum(each[kind] for each in folders) for kind in ("links", "broken"))
    bars = [
        Bar(name, each["broken"], note=f"{each['broken']:,} of {each['links']:,}", kind="removed")
        for name, each in rows
    ]
    share = f" ({broken / links:.1%})" if links else ""
    return bars_figure("Broken links by folder", f"{broken:,} of {links:,} links are broken{share}.", bars)


def _topics(found: Night) -> Figure | None:
    moves = [Shift(each["label"], each["before"], each["now"], note) for each, note in _moved(found)]
    moves.sort(key=lambda each: (-abs(each.now - each.before), each.name))
    return moves_figure(
        "Topics that moved", f"{found['moved']:,} documents are in another topic than before.", moves
    )


def _moved(found: Night) -> Iterable[tuple[Night, str]]:
    """Yield each topic that changed, once, with what happened to it besides its size."""
    renamed = {each["label"]: f"was {each['label_before']}" for each in found["renamed"]}
    yield from ((each, "new") for each in found["new"])
    yield from ((each, "gone") for each in found["gone"])
    yield from ((each, renamed.get(each["label"], "")) for each in found["grown"])


def _times(night: Night) -> Figure | None:
    stages = sorted(night["stages"], key=lambda each: (-each["seconds"], each["stage"]))
    runs = night["runs"]
    bars = [Bar(each["stage"], each["seconds"], each["usual"] if runs else None) for each in stages]
    usual = f" The mark is the median of the last {runs} runs." if runs else ""
    sentence = f"{shown(night['seconds'], 'seconds')} for the snapshot.{usual}"
    return bars_figure("Tonight by stage", sentence, [each for each in bars if each.value], "seconds")
