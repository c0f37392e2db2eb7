"""The table of stages, drawn as text for a terminal, as Mermaid for a page, or as rows for a program."""

from __future__ import annotations

from collections.abc import Sequence

from ..run.stage import Lane, Stage, makers


def needed_stages(stage: Stage, stages: Sequence[Stage]) -> tuple[str, ...]:
    """Return the names of the stages that this one waits for."""
    known = makers(stages)
    return tuple(dict.fromkeys(known[need].name for need in stage.needs if need in known))


def as_rows(stages: Sequence[Stage]) -> list[dict[str, object]]:
    """Return one row per stage, in the order of the table, which is that of execution."""
    return [
        {
            "stage": stage.name,
            "function": f"{stage.function.__module__}.{stage.function.__name__}",
            "needs": list(stage.needs),
            "makes": list(stage.makes),
            "after": list(needed_stages(stage, stages)),
            "lane": stage.lane.value,
            "fan_out": stage.fan_out,
            "redo": stage.redo,
        }
        for stage in stages
    ]


def as_text(stages: Sequence[Stage]) -> str:
    """Return the stages in the order of the table, each with those that it waits for."""
    width = max(len(stage.name) for stage in stages)
    return "\n".join(_line(stage, stages, width) for stage in stages)


def _line(stage: Stage, stages: Sequence[Stage], width: int) -> str:
    notes = [] if stage.lane is Lane.MAIN else [f"in a separate {stage.lane.value}"]
    notes += ["in batches"] if stage.fan_out else []
    needed = ", ".join(needed_stages(stage, stages))
    begins = f"after {needed}" if needed else "at the start"
    return f"{stage.name:<{width}}  {begins}" + (f"  ({', '.join(notes)})" if notes else "")


def as_mermaid(stages: Sequence[Stage]) -> str:
    """Return a flowchart; round boxes run beside the main thread, double ones fan out over an engine."""
    ids = {stage.name: f"s{number}" for number, stage in enumerate(stages)}
    lines = [f"  {ids[stage.name]}{_box(stage)}" for stage in stages]
    lines += [
        f"  {ids[need]} --> {ids[stage.name]}" for stage in stages for need in needed_stages(stage, stages)
    ]
    return "\n".join(["flowchart TD", *lines])


def _box(stage: Stage) -> str:
    if stage.fan_out:
        return f"[[{stage.name}]]"
    return f"[{stage.name}]" if stage.lane is Lane.MAIN else f"({stage.name})"
