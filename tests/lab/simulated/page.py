"""The page ``docs/accuracy/simulator.md``. In: rows of the comparison; out: its tables, and the page with them between its marks."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.lab.sets import HELD_OUT, REPOSITORY, title
from tests.lab.simulated.compare import Errors
from tests.lab.simulated.evidence import cached, late_reads
from tests.lab.simulated.fit import GRID
from tests.lab.simulated.plots import Panel, picture
from tests.lab.simulated.table import TARGETS, Figures, Judged, Row, medians
from throttlescope.models.throttling.machine import LAB

PAGE = REPOSITORY / "docs" / "accuracy" / "simulator.md"
MEASURED = REPOSITORY / "models" / "throttling" / "measured.json"
WITHIN = 3


def parts(found: list[Judged]) -> dict[str, str]:
    """The page's tables by the names of their marks."""
    rows = [item.row for item in found]
    tuned = [item for item in found if not item.row.kept_aside]
    return {
        "summary": summary(rows),
        "missed": missed(rows),
        "late": late_reads(tuned),
        "cached": cached(tuned),
        "latencies": latencies(),
        "families": families(rows),
        "recordings": recordings(rows),
    }


def renewed(page: str, tables: dict[str, str]) -> str:
    """Put tables between their marks.

    Raises
    ------
    ValueError
        A mark is missing.
    """
    for name, table in tables.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, found, rest = page.partition(begin)
        _, also, after = rest.partition(end)
        if not found or not also:
            raise ValueError(f"{PAGE.name}: the marks {begin} and {end} are missing")
        page = f"{before}{begin}\n{table}\n{end}{after}"
    return page


def plots(found: list[Judged]) -> dict[Path, str]:
    """One picture per family: every subscription of its recordings, with what both models say."""
    panels: dict[str, list[Panel]] = {}
    for item in found:
        scenario = item.recorded.scenario
        held_out = f" ({title(HELD_OUT)})" if scenario.kept_aside else ""
        for key, track in item.recorded.tracks.items():
            lines = {
                "recorded": track,
                "min(limit, capacity, arrivals)": item.line[key],
                "simulated": item.ours[key],
            }
            heading = f"{scenario.name}, {key[2]}{held_out}"
            panels.setdefault(scenario.family, []).append(Panel(heading, item.recorded, lines))
    return {plot_of(family): picture(items) for family, items in panels.items()}


def plot_of(family: str) -> Path:
    """Where a family's picture is."""
    return PAGE.parent / "simulator" / f"{family.replace('_', '-')}.svg"


def summary(rows: list[Row]) -> str:
    """Targets against medians."""
    tuned, held_out = _split(rows)
    ours, theirs = (medians(tuned), medians(held_out)), (medians(tuned, "line"), medians(held_out, "line"))
    lines = _head(
        "target, median over scenarios",
        f"tuned ({len(tuned)} recordings)",
        f"{title(HELD_OUT)} ({len(held_out)} recordings)",
        "met?",
    )
    said = {
        "dispatched": "dispatched messages per minute within 2 %",
        "backlog": "backlog at every scrape within 3 % of its peak",
        "drain": "drain time within 5 %",
        "events": "events per minute within 10 % or 5 events (error in multiples of that)",
    }
    for name, text in said.items():
        value = getattr(ours[1], name)
        cells = [_figure(name, getattr(item, name)) for item in ours]
        lines.append(_line(text, *cells, _met(value is not None and value <= TARGETS[name])))
    counted = [[row.same_events for row in part if row.same_events is not None] for part in (tuned, held_out)]
    lines.append(
        _line(
            "right reason and unit, and no other",
            *(f"{sum(part)} of {len(part)}" for part in counted),
            _met(all(counted[1])),
        )
    )
    far = [_far(part) for part in (tuned, held_out)]
    lines.append(
        _line(
            f"no family above {WITHIN} times a target",
            *("<br>".join(part) or "none above" for part in far),
            _met(not far[1]),
        )
    )
    for name, what in (("backlog", "backlog"), ("drain", "drain time")):
        cells = [
            f"{_figure(name, getattr(line, name))} against {_figure(name, getattr(our, name))}"
            for line, our in zip(theirs, ours, strict=True)
        ]
        beaten = getattr(ours[1], name) < getattr(theirs[1], name)
        lines.append(_line(f"one-line model beaten on {what}", *cells, _met(beaten)))
    return "\n".join(lines)


def figures(rows: list[Row]) -> dict[str, Any]:
    """What ``models/throttling/measured.json`` holds: targets, and medians over all and by family, of both models."""
    tuned, held_out = _split(rows)
    return {
        "page": "docs/accuracy/simulator.md",
        "targets": {name: {"wanted": wanted} for name, wanted in TARGETS.items()},
        "within": WITHIN,
        "parts": {
            name: {
                "recordings": len(part),
                "ours": _medians(part, "ours"),
                "line": _medians(part, "line"),
                "right_reason": sum(row.same_events for row in part if row.same_events is not None),
                "with_events": sum(row.same_events is not None for row in part),
                "families_too_far": _far(part),
            }
            for name, part in ((HELD_OUT, held_out), ("tuned", tuned))
        },
        "families": [
            {
                "family": family,
                "engines": sorted({row.engine for row in mine}),
                "part": name,
                "recordings": len(mine),
                "ours": _medians(mine, "ours"),
                "line": _medians(mine, "line"),
            }
            for family in sorted({row.family for row in rows})
            for name, part in (("tuned", tuned), (HELD_OUT, held_out))
            if (mine := [row for row in part if row.family == family])
        ],
    }


def _medians(rows: list[Row], model: str) -> dict[str, float | str | None]:
    """Medians, six digits; ``never`` where what was recorded never came in the simulation."""
    found = medians(rows, model)
    values = {name: getattr(found, name) for name in TARGETS}
    return {
        name: None if value is None else "never" if math.isinf(value) else round(value, 6)
        for name, value in values.items()
    }


def missed(rows: list[Row]) -> str:
    """Every target that the held-out scenarios miss, and by how much."""
    _, held_out = _split(rows)
    ours = medians(held_out)
    over = [("all", name, 1, getattr(ours, name)) for name in TARGETS]
    for family in sorted({row.family for row in held_out}):
        mine = medians(row for row in held_out if row.family == family)
        over += [(family, name, WITHIN, getattr(mine, name)) for name in TARGETS]
    lines = _head("held-out scenarios", "figure", "allowed", "reached", "times what is allowed")
    for who, name, times, value in over:
        allowed = times * TARGETS[name]
        if value is not None and value > allowed:
            cells = [_figure(name, item) for item in (allowed, value)]
            lines.append(_line(who, name, *cells, f"{value / allowed:.1f}"))
    return "\n".join(lines)


def latencies() -> str:
    """The fit's grid, and what was taken."""
    lines = _head("latency", "tried, ms", "taken, ms")
    for name, tried in GRID.items():
        cells = [f"{value / 1000:g}" for value in (*tried, getattr(LAB, name))]
        lines.append(_line(f"`{name.removesuffix('_us')}`", ", ".join(cells[:-1]), cells[-1]))
    return "\n".join(lines)


def families(rows: list[Row]) -> str:
    """Medians per family, of tuned and of held-out recordings."""
    lines = _head(
        "family",
        "engine",
        "part",
        "recordings",
        "dispatched",
        "backlog",
        "drain",
        "events",
        "backlog, one line",
        "drain, one line",
    )
    for family in sorted({row.family for row in rows}):
        mine = [row for row in rows if row.family == family]
        engines = ", ".join(sorted({row.engine for row in mine}))
        for name, part in zip(("tuned", title(HELD_OUT)), _split(mine), strict=True):
            if part:
                ours, line = medians(part), medians(part, "line")
                lines.append(
                    _line(
                        f"[{family}]({plot_of(family).relative_to(PAGE.parent)})",
                        engines,
                        name,
                        str(len(part)),
                        *_figures(ours),
                        _figure("backlog", line.backlog),
                        _figure("drain", line.drain),
                    )
                )
    return "\n".join(lines)


def recordings(rows: list[Row]) -> str:
    """Every recording, its subscriptions' drains and events written out."""
    lines = _head(
        "recording",
        title(HELD_OUT),
        "dispatched",
        "backlog",
        "drain",
        "events",
        "drain in s, recorded and simulated",
        "events per minute, recorded and simulated",
        "backlog, one line",
        "drain, one line",
    )
    for row in rows:
        lines.append(
            _line(
                row.name,
                "yes" if row.kept_aside else "",
                *_figures(row.ours),
                _each(row, _drain),
                _each(row, _events),
                _figure("backlog", row.line.backlog),
                _figure("drain", row.line.drain),
            )
        )
    return "\n".join(lines)


def _far(rows: list[Row]) -> list[str]:
    """Families whose own median is further off than allowed, with the figure that is."""
    found = []
    for family in sorted({row.family for row in rows}):
        ours = medians(row for row in rows if row.family == family)
        for name, target in TARGETS.items():
            value = getattr(ours, name)
            if value is not None and value > WITHIN * target:
                found.append(f"{family} ({name} {_figure(name, value)})")
    return found


def _split(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    return [row for row in rows if not row.kept_aside], [row for row in rows if row.kept_aside]


def _figures(found: Figures) -> list[str]:
    return [_figure(name, getattr(found, name)) for name in TARGETS]


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    if math.isinf(value):
        return "never"
    return f"{value:.2f}" if name == "events" else f"{100 * value:.1f} %"


def _drain(errors: Errors) -> str:
    if errors.drain is None:
        return "-"
    ours = errors.drain.simulated_s
    return f"{errors.drain.recorded_s:.1f}, {'never' if ours is None else f'{ours:.1f}'}"


def _events(errors: Errors) -> str:
    if errors.events is None:
        return "-"
    each = (
        f"{level}.{unit} {broker:.0f}, {model:.0f}"
        for (level, unit), (broker, model) in errors.per_minute.items()
    )
    return "; ".join(each) or "none"


def _each(row: Row, show: Callable[[Errors], str]) -> str:
    if len(row.errors) == 1:
        return show(next(iter(row.errors.values())))
    return "<br>".join(f"{name}: {show(item)}" for name, item in row.errors.items())


def _met(met: bool) -> str:
    return "yes" if met else "**no**"


def _head(*names: str) -> list[str]:
    return [_line(*names), "|" + "---|" * len(names)]


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
