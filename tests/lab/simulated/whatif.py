"""What ``whatif`` predicts of the shipped recordings, compared with what was measured. In: a demo's lake. Out: a page's tables.

``python -m tests.lab.simulated.whatif [LAKE]`` recomputes ``docs/accuracy/whatif.md`` and the example of ``docs/guides/what-if.md``;
without a lake it makes one of the shipped recordings with ``throttlescope run``.

A recording's intervention becomes the words of ``--set``. The window is the ten minutes before it, the history all that was recorded
until then. Nothing after the intervention is read.
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.sets import HELD_OUT, RECORDINGS, REPOSITORY, SETS, title
from tests.lab.simulated.page import renewed
from tests.lab.simulated.recorded import scenario_of
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.replay import (
    Forecast,
    Ground,
    ReplayAnswer,
    parse_change,
    read_observed,
    replay,
)
from throttlescope.models.throttling.scenario import LiftLimit, Scenario, SetConsumers, SetLimit

PAGE = REPOSITORY / "docs" / "accuracy" / "whatif.md"
GUIDE = REPOSITORY / "docs" / "guides" / "what-if.md"
#: The guide's example: a recording, and the settings that are tried just before its limit is lifted.
EXAMPLE, EXAMPLE_SETTINGS = "sub-msg-large", ("subscription.msg=none", "processing_ms=1.5")
_LAKE_BEGIN, _LAKE_END = "<!-- lake:", "<!-- end of lake -->"
WINDOW_MS = 600_000


@dataclass(frozen=True)
class Drain:
    """A subscription that an intervention drained: what was done, as words of ``--set``, and how long it took."""

    recording: str
    cluster: str
    selector: str
    subscription: str
    kept_aside: bool
    scrape_s: float
    start_ms: int
    at_ms: int
    below_entries: int
    settings: tuple[str, ...]
    processing_ms: float
    nominal_msg_per_s: float
    measured_s: float


@dataclass(frozen=True)
class Row:
    """A drain and its predictions; ``with_time`` is None if the change itself sets the processing time."""

    drain: Drain
    alone: ReplayAnswer
    with_time: ReplayAnswer | None

    @property
    def drained_at_msg_per_s(self) -> float:
        """What was worked off while it drained: the backlog, and what came in the meantime."""
        observed = self.alone.observed
        backlog_msg = self.alone.backlog_entries * observed.messages_per_entry
        return backlog_msg / self.drain.measured_s + self.alone.arrivals.msg_per_s


def drains(folder: Path) -> list[Drain]:
    """Every subscription of a recording that was seen to drain after an intervention."""
    scenario, about = scenario_of(folder), json.loads((folder / "recording.json").read_text())
    starts_ms = {state["name"]: state["start_ms"] for state in about["states"]}
    found = []
    for check in about["confirmed"]:
        if check["check"] != "drains" or not check["ok"]:
            continue
        subscription = scenario.subscription(check["subscription"])
        state = next(item for item in scenario.timeline if item.name == check["state"])
        now = next((step for step in state.interventions if isinstance(step, SetConsumers) and step.subscription == subscription.name), None)  # fmt: skip
        consumers = now.consumers if now is not None and now.consumers is not None else subscription.consumers
        took_ms = (
            now.processing_ms
            if now is not None and now.processing_ms is not None
            else subscription.processing_ms
        )
        active = consumers if subscription.type in ("Shared", "Key_Shared") else 1
        found.append(
            Drain(
                recording=folder.name,
                cluster=scenario.name,
                selector=f"persistent://{scenario.namespace}/{subscription.reads[0]}#{subscription.name}",
                subscription=subscription.name,
                kept_aside=scenario.kept_aside,
                scrape_s=about["scrape_interval_s"],
                start_ms=about["start_ms"],
                at_ms=starts_ms[check["state"]],
                below_entries=check["below_entries"],
                settings=settings(scenario, state.interventions, subscription.name),
                processing_ms=took_ms,
                nominal_msg_per_s=1000 * active / took_ms,
                measured_s=check["seen"]["drained_s"],
            )
        )
    return found


def settings(scenario: Scenario, steps: Iterable, subscription: str) -> tuple[str, ...]:
    """Interventions as the words of ``--set``.

    Raises
    ------
    ValueError
        One of them cannot be said so.
    """
    words = []
    for step in steps:
        if isinstance(step, LiftLimit):
            units = {
                unit
                for item in scenario.limits
                if item.level == step.level
                for unit in ("msg", "bytes")
                if getattr(item, unit)
            }
            words += [f"{step.level}.{unit}=none" for unit in sorted(units, reverse=True)]
        elif isinstance(step, SetLimit):
            words += [
                f"{step.level}.{unit}={getattr(step, unit)}"
                for unit in ("msg", "bytes")
                if getattr(step, unit)
            ]
        elif isinstance(step, SetConsumers) and step.subscription == subscription:
            fields = ("consumers", "processing_ms")
            words += [f"{name}={getattr(step, name):g}" for name in fields if getattr(step, name) is not None]
        else:
            raise ValueError(f"{scenario.name}: {step} cannot be said with --set")
    return tuple(words)  # fmt: skip


def predicted(lake: Lake, drain: Drain) -> Row:
    """Run what-if on what was in the lake when the intervention came, without and with the processing time."""
    start_ms = max(drain.start_ms, drain.at_ms - WINDOW_MS)
    window = read_observed(lake, drain.selector, start_ms, drain.at_ms, drain.cluster)
    history = read_observed(lake, drain.selector, drain.start_ms, drain.at_ms, drain.cluster)
    ground = Ground(window, history, with_bursts=True)

    def answer(words: Sequence[str]) -> ReplayAnswer:
        change = parse_change(words)
        return replay(window, change, ground=ground, drained_below_entries=drain.below_entries)

    with_time = (
        None
        if any(word.startswith("processing_ms=") for word in drain.settings)
        else answer((*drain.settings, f"processing_ms={drain.processing_ms:g}"))
    )
    return Row(drain, answer(drain.settings), with_time)


def rows_of(lake: Lake, folders: Iterable[Path] | None = None) -> list[Row]:
    """All drains of the default set."""
    found = SETS["default"].folders if folders is None else folders
    return [predicted(lake, drain) for folder in found for drain in drains(folder)]


# -- the guide -------------------------------------------------------------------------------------------


def example_arguments(lake: str) -> tuple[str, ...]:
    """The guide's example as arguments of the command."""
    (drain,) = drains(RECORDINGS / EXAMPLE)
    words = [word for setting in EXAMPLE_SETTINGS for word in ("--set", setting)]
    at = format_time(drain.at_ms)
    return ("whatif", "--lake", lake, "--subscription", drain.selector, "--at", at, "--window", "10m", *words)


def guide_page(page: str, lake: str) -> str:
    """The guide with its example run again."""
    done = subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", *example_arguments(lake), "--quiet"],
        capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "110"},
    )  # fmt: skip
    command = shlex.join(("throttlescope", *example_arguments("./lake")))
    answer = "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())
    text = f"```\n{command}\n```\n\n```\n{answer}\n```"
    start, stop = page.index(_LAKE_BEGIN), page.index(_LAKE_END)
    return f"{page[: page.index(chr(10), start) + 1]}{text}\n{page[stop:]}"


# -- the page --------------------------------------------------------------------------------------------


def parts(rows: Sequence[Row]) -> dict[str, str]:
    """The page's tables by the names of their marks."""
    return {"summary": summary(rows), "drains": table(rows)}


def summary(rows: Sequence[Row]) -> str:
    """Medians of all recordings, of those that the model was tuned on, and of the held-out ones."""
    groups = {
        "all": rows,
        "tuned": [row for row in rows if not row.drain.kept_aside],
        title(HELD_OUT): [row for row in rows if row.drain.kept_aside],
    }
    lines = [f"| figure | {' | '.join(groups)} |", "|---|" + "---|" * len(groups)]

    def line(name: str, show) -> None:
        lines.append(f"| {name} | {' | '.join(show(list(group)) for group in groups.values())} |")

    line("drains", lambda group: f"{len(group)}")
    line(
        "with `processing_ms`, median error",
        lambda group: _median(map(_error_with_time, group)),
    )
    line("of these, off by no more than one scrape", lambda group: _count(group, _within_scrape))
    line("consumers while it drained, over nominal, median", lambda group: _ratio(group))
    line(
        "samples alone, a time can be given",
        lambda group: _count(group, lambda row: row.alone.changed.fitted is not None),
    )
    line("median error of these", lambda group: _median(_error(row, row.alone.changed) for row in group))
    line("of these, the interval contains the measured time", lambda group: _count(_timed(group), _contains))
    line("of these, capacity estimated from bursts", lambda group: _count(_timed(group), _from_bursts))
    line(
        "median error of those",
        lambda group: _median(_error(row, row.alone.changed) for row in group if _from_bursts(row)),
    )
    line(
        "of those, the interval contains the measured time",
        lambda group: _count([row for row in group if _from_bursts(row)], _contains),
    )
    line(
        "samples alone, only the earliest time is known",
        lambda group: _count(group, lambda row: row.alone.changed.fitted is None),
    )
    line(
        "of these, measured was not earlier",
        lambda group: _count([row for row in group if row.alone.changed.fitted is None], _not_earlier),
    )
    line(
        "as it is, seen to be never",
        lambda group: _count(group, lambda row: row.alone.as_is.latest_s is None),
    )
    line(
        "replayed window off by, median share of its peak",
        lambda group: _median(row.alone.speed.error_share for row in group),
    )
    return "\n".join(lines)  # fmt: skip


def table(rows: Sequence[Row]) -> str:
    """One line per drain."""
    lines = [
        "| recording | subscription | part | change | scrape s | measured s | samples alone s | with `processing_ms` s | error |"
        " limited by | nominal msg/s | drained at msg/s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        drain, with_time = row.drain, row.with_time
        answer = with_time or row.alone
        error = _error_with_time(row)
        cells = (
            drain.recording,
            drain.subscription,
            title(HELD_OUT) if drain.kept_aside else "tuned",
            f"`{' '.join(drain.settings)}`",
            f"{drain.scrape_s:g}",
            f"{drain.measured_s:.0f}",
            _times(row.alone.changed),
            "in the change"
            if with_time is None
            else f"{drain.processing_ms:g} ms: {_times(with_time.changed)}",
            "-" if error is None else f"{100 * error:+.0f} %",
            answer.changed.all[0].held_by,
            f"{drain.nominal_msg_per_s:,.0f}",
            f"{row.drained_at_msg_per_s:,.0f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _times(forecast: Forecast) -> str:
    if forecast.fitted is None:
        return "never" if forecast.best.drain_s is None else f"at the earliest {forecast.best.drain_s:.0f}"
    if forecast.fitted.drain_s is None:
        return "never"
    first, last = forecast.earliest_s, forecast.latest_s
    between = "" if first == last else f" ({first:.0f} to {'never' if last is None else f'{last:.0f}'})"
    return f"{forecast.fitted.drain_s:.0f}{between}"


def _error(row: Row, forecast: Forecast) -> float | None:
    if forecast.fitted is None or forecast.fitted.drain_s is None:
        return None
    return forecast.fitted.drain_s / row.drain.measured_s - 1


def _error_with_time(row: Row) -> float | None:
    return _error(row, (row.with_time or row.alone).changed)


def _within_scrape(row: Row) -> bool:
    error = _error_with_time(row)
    return error is not None and abs(error) * row.drain.measured_s <= row.drain.scrape_s


def _timed(group: Sequence[Row]) -> list[Row]:
    return [row for row in group if row.alone.changed.fitted is not None]


def _from_bursts(row: Row) -> bool:
    return row.alone.capacity.seen == "bursts"


def _contains(row: Row) -> bool:
    """Whether the backlog fell below the threshold within the interval: some time in the scrape's span that ends when it was measured."""
    earliest, latest = row.alone.changed.earliest_s, row.alone.changed.latest_s
    began = earliest is not None and earliest <= row.drain.measured_s
    return began and (latest is None or latest >= row.drain.measured_s - row.drain.scrape_s)


def _not_earlier(row: Row) -> bool:
    earliest = row.alone.changed.earliest_s
    return earliest is not None and earliest <= row.drain.measured_s


def _count(group: Sequence[Row], holds) -> str:
    return f"{sum(map(holds, group))} of {len(group)}"


def _median(errors: Iterable[float | None]) -> str:
    known = [abs(error) for error in errors if error is not None]
    return f"{100 * statistics.median(known):.1f} %" if known else "-"


def _ratio(group: Sequence[Row]) -> str:
    """Of the drains that are limited by consumers in the prediction."""
    shares = [
        row.drained_at_msg_per_s / row.drain.nominal_msg_per_s
        for row in group
        if (row.with_time or row.alone).changed.all[0].held_by == "consumers"
    ]
    return f"{statistics.median(shares):.2f} of {len(shares)}" if shares else "-"


def main(arguments: Sequence[str]) -> None:
    """Write the page."""
    with tempfile.TemporaryDirectory() as folder:
        lake = arguments[0] if arguments else folder
        if not arguments:
            command = [
                sys.executable,
                "-m",
                "throttlescope.app.cli",
                "run",
                *(word for one in SETS["default"].folders for word in ("--recording", str(one))),
                "--quiet",
                "--lake",
                lake,
            ]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        PAGE.write_text(renewed(PAGE.read_text(), parts(rows_of(Lake(lake)))))
        GUIDE.write_text(guide_page(GUIDE.read_text(), lake))


def picture(lake: str, to: str) -> None:
    """Draw the guide's example."""
    command = [
        sys.executable,
        "-m",
        "throttlescope.app.cli",
        *example_arguments(lake),
        "--quiet",
        "--plot",
        to,
    ]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["picture"]:
        picture(*sys.argv[2:])
    else:
        main(sys.argv[1:])
