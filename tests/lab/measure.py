"""What the broker did, in numbers: in, recordings; out, one row per recording, subscription partition and truth range.

``python -m tests.lab.measure [DIR...]`` prints the table of ``docs/background/real-broker.md``; ``make docs`` writes it into that page,
from all committed recordings.
"""

from __future__ import annotations

import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.lab.readback import Series
from tests.lab.recording import read_samples
from tests.lab.sets import SETS
from throttlescope.models.throttling.scenario import LiftLimit, Limit, Scenario, SetLimit

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "background" / "real-broker.md"
BEGIN_MARK, END_MARK = "<!-- measured: begin -->", "<!-- measured: end -->"
FOLDERS = SETS["default"].places


@dataclass(frozen=True)
class Measurement:
    """One subscription partition during one truth range; rates per second of the range."""

    recording: str
    subscription: str
    partition: int
    cause: str
    limiter: str | None
    limit: str
    over_s: float
    in_msg: float
    out_msg: float
    out_bytes: float
    rho: float | None
    events: dict[str, float]
    backlog_first: float
    backlog_last: float
    permits_median: float | None
    permits_dry_share: float | None
    unacked_median: float | None
    queue_msg: int


def measure(folder: Path) -> list[Measurement]:
    """Measure every truth range of a recording."""
    scenario = Scenario.model_validate(yaml.safe_load((folder / "scenario.yaml").read_text()))
    truth = json.loads((folder / "truth.json").read_text())["rows"]
    about = json.loads((folder / "recording.json").read_text())
    series = [with_partition(item) for item in read_samples(folder)]
    return [_measure(scenario, about, series, row) for row in truth]


def measure_all(folders: tuple[Path, ...] = FOLDERS) -> list[Measurement]:
    """Measure every recording below the folders."""
    found = [path.parent for folder in folders for path in folder.glob("*/scenario.yaml")]
    return [row for folder in sorted(found, key=lambda one: one.name) for row in measure(folder)]


def with_partition(series: Series) -> Series:
    # Without split labels the partition is the end of the topic's name.
    topic = series.labels.get("topic", "")
    if "partition" not in series.labels and topic:
        name, mark, number = topic.rpartition("-partition-")
        series.labels["topic"], series.labels["partition"] = (name, number) if mark else (topic, "-1")
    return series


def _measure(
    scenario: Scenario, about: dict[str, Any], series: list[Series], row: dict[str, Any]
) -> Measurement:
    start_ms, end_ms = row["start_ms"], row["end_ms"]
    spec = scenario.subscription(row["subscription"])

    def find(name: str, per_consumer: bool = False, **labels: str) -> list[Series]:
        wanted = {"__name__": name, "topic": row["topic"], "partition": str(row["partition"]), **labels}
        return [
            item
            for item in series
            if all(item.labels.get(key) == value for key, value in wanted.items())
            and ("consumer_name" in item.labels) == per_consumer
        ]

    mine = {"subscription": row["subscription"]}
    out_msg = rate(find("pulsar_out_messages_total", **mine), start_ms, end_ms)
    out_bytes = rate(find("pulsar_out_bytes_total", **mine), start_ms, end_ms)
    events = {}
    for unit in ("msg", "bytes"):
        for reason in ("broker", "topic", "subscription"):
            name = f"pulsar_subscription_dispatch_throttled_{unit}_events"
            per_s = rate(find(name, reason=reason, **mine), start_ms, end_ms)
            if per_s:
                events[f"{reason}.{unit}"] = per_s
    backlog = values(find("pulsar_subscription_back_log", **mine), start_ms, end_ms)
    permits = values(find("pulsar_consumer_available_permits", per_consumer=True, **mine), start_ms, end_ms)
    unacked = values(find("pulsar_subscription_unacked_messages", **mine), start_ms, end_ms)
    limit = _limit_in_force(scenario, about, row)
    return Measurement(
        row["recording"],
        row["subscription"],
        row["partition"],
        row["cause"],
        row["limiter"],
        _limit_text(limit),
        (end_ms - start_ms) / 1000,
        rate(find("pulsar_in_messages_total"), start_ms, end_ms),
        out_msg,
        out_bytes,
        _rho(limit, _used(scenario, series, row, limit, out_msg, out_bytes)) if limit else None,
        events,
        backlog[0] if backlog else float("nan"),
        backlog[-1] if backlog else float("nan"),
        statistics.median(permits) if permits else None,
        sum(1 for value in permits if value <= 0) / len(permits) if permits else None,
        statistics.median(unacked) if unacked else None,
        spec.receiver_queue,
    )


def _used(
    scenario: Scenario,
    series: list[Series],
    row: dict[str, Any],
    limit: Limit | None,
    out_msg: float,
    out_bytes: float,
) -> tuple[float, float]:
    """Return messages and bytes per second that were taken from the limiter, siblings included."""
    if limit is None or limit.level == "subscription":
        return out_msg, out_bytes
    used = [0.0, 0.0]
    for spec in scenario.subscriptions:
        topic = f"persistent://{scenario.namespace}/{spec.topic}"
        if limit.level == "topic" and topic != row["topic"]:
            continue
        for index, name in enumerate(("pulsar_out_messages_total", "pulsar_out_bytes_total")):
            found = [
                item
                for item in series
                if item.labels.get("__name__") == name
                and item.labels.get("topic") == topic
                and item.labels.get("subscription") == spec.name
                and "consumer_name" not in item.labels
                and (limit.level == "broker" or item.labels.get("partition") == str(row["partition"]))
            ]
            used[index] += rate(found, row["start_ms"], row["end_ms"])
    return used[0], used[1]


def _limit_in_force(scenario: Scenario, about: dict[str, Any], row: dict[str, Any]) -> Limit | None:
    limits = list(scenario.limits)
    for state, span in zip(scenario.timeline, about["states"], strict=True):
        if span["start_ms"] >= row["end_ms"]:
            break
        for step in state.interventions:
            # No scenario has several limits that change.
            if isinstance(step, (LiftLimit, SetLimit)):
                limits = [step] if isinstance(step, SetLimit) else []
    return limits[0] if limits else None


def _limit_text(limit: Limit | None) -> str:
    if limit is None:
        return "none"
    words = [f"{limit.msg} msg" if limit.msg else "", f"{limit.bytes} B" if limit.bytes else ""]
    period = "s" if limit.period_s == 1 else f"{limit.period_s} s"
    return f"{limit.level}: {' and '.join(word for word in words if word)} per {period}"


def _rho(limit: Limit, used: tuple[float, float]) -> float:
    shares = []
    if limit.msg:
        shares.append(used[0] / (limit.msg / limit.period_s))
    if limit.bytes:
        shares.append(used[1] / (limit.bytes / limit.period_s))
    return max(shares)


def values(series: list[Series], start_ms: int, end_ms: int) -> list[float]:
    points = [
        (time_ms, value)
        for item in series
        for time_ms, value in zip(item.timestamps_ms, item.values, strict=True)
        if start_ms <= time_ms < end_ms
    ]
    return [value for _, value in sorted(points)]


def rate(series: list[Series], start_ms: int, end_ms: int) -> float:
    """Return increase over time between the first and the last sample of the range; a restart counts from 0."""
    total, first_ms, last_ms = 0.0, end_ms, start_ms
    for item in series:
        before = None
        for time_ms, value in zip(item.timestamps_ms, item.values, strict=True):
            if not start_ms <= time_ms < end_ms:
                continue
            if before is not None:
                total += value - before if value >= before else value
            before = value
            first_ms, last_ms = min(first_ms, time_ms), max(last_ms, time_ms)
    return 1000 * total / (last_ms - first_ms) if last_ms > first_ms else 0.0


def markdown(rows: list[Measurement]) -> str:
    """Render the measurements as one Markdown table."""
    head = (
        "recording", "subscription", "cause", "limit", "in msg/s", "out msg/s", "rho", "events/s", "backlog",
        "permits", "permits <= 0", "unacked",
    )  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        name = row.subscription if row.partition < 0 else f"{row.subscription} (partition {row.partition})"
        events = ", ".join(f"{key} {per_s:.2f}" for key, per_s in row.events.items()) or "0"
        cells = (
            row.recording,
            name,
            row.cause,
            row.limit,
            f"{row.in_msg:.1f}",
            f"{row.out_msg:.1f}",
            "" if row.rho is None else f"{row.rho:.3f}",
            events,
            f"{row.backlog_first:.0f} to {row.backlog_last:.0f}",
            "" if row.permits_median is None else f"{row.permits_median:.0f} of {row.queue_msg}",
            "" if row.permits_dry_share is None else f"{row.permits_dry_share:.0%}",
            "" if row.unacked_median is None else f"{row.unacked_median:.0f}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def renewed(page: str, table: str, marks: tuple[str, str] = (BEGIN_MARK, END_MARK)) -> str:
    """Return the page with the table between its two marks replaced."""
    begin, end = marks
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    if not after:
        raise ValueError(f"{PAGE.name}: the marks {begin} and {end} are missing")
    return f"{before}{begin}\n{table}\n{end}{after}"


def main(arguments: list[str]) -> None:
    """Print the table of the recordings below the given folders."""
    print(markdown(measure_all(tuple(Path(item) for item in arguments) or FOLDERS)))


if __name__ == "__main__":
    main(sys.argv[1:])
