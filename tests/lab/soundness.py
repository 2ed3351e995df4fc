"""May a recording count? In, what was measured about the machinery; out, the reasons to void it (none is sound)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from tests.lab.checks import Span
from tests.lab.readback import Series
from tests.lab.recording import Recording, write_recording
from throttlescope.models.throttling.scenario import Scenario, SetRate

#: A machine with idle CPU shows about 0.05 ms; above this the experiment shares its CPU with something else.
WAIT_MS_PER_SLICE_MAX = 1.0
WAIT_ROWS_SUSTAINED = 3
#: No message goes through it, and it runs for a few ms of a second: what it waits for says nothing of the brokers.
_OFF_THE_PATH = ("zookeeper",)
#: No figure rests on a smoke, and its test shares the machine.
_MAY_WAIT = ("smoke",)
#: The broker itself gives the ages that these are judged by, however late it is scraped and however slow producers are.
_JUDGED_BY_BROKER = ("backlog_age",)
PRODUCER_SHORT_MAX = 0.05
#: Of the truths that a script names so many have to be seen for a recording to count.
CONFIRMED_LEAST = 0.5


class RecordingVoid(RuntimeError):  # noqa: N818 - reads as what it says
    """What was played does not count; the message says why."""


def in_truth(
    pressure: list[dict[str, Any]], truth: list[dict[str, Any]], every_s: float, *, count_cpu: bool
) -> tuple[list[str], dict[str, Any]]:
    """Why waits for a CPU void a recording, and what was measured: fresh JVMs fill every CPU for a minute, and what no truth speaks of voids nothing.

    Parameters
    ----------
    every_s
        Seconds that a row of ``pressure`` covers, up to its ``at_ms``.
    """

    def is_covered(row: dict[str, Any]) -> bool:
        end_ms = int(row["at_ms"])
        return any(one["start_ms"] < end_ms and end_ms - 1000 * every_s < one["end_ms"] for one in truth)

    covered = waits([row for row in pressure if is_covered(row)])
    reasons = cpu_reasons(covered)
    return reasons if count_cpu else [], {
        "cpu": waits(pressure),
        "cpu_in_truth": covered,
        "cpu_reasons": reasons,
    }


def short_of_schedule(producers: dict[str, dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """Why producers void a recording, and what each sent; they come by topic, with what was scheduled and what was persisted."""
    found = {}
    for topic, row in producers.items():
        short = max(0.0, 1 - row["persisted"] / max(1, row["scheduled"]))
        found[topic] = {**row, "short_share": round(short, 5)}
    reasons = [
        f"the producer of {topic} was {row['short_share']:.1%} below its schedule"
        for topic, row in found.items()
        if row["short_share"] > PRODUCER_SHORT_MAX
    ]
    return reasons, found


def seen_of(confirmed: list[dict[str, Any]]) -> list[str]:
    """Why too few effects void a recording."""
    seen = sum(check["ok"] for check in confirmed)
    if seen >= CONFIRMED_LEAST * len(confirmed):
        return []
    return [f"{seen} of {len(confirmed)} effects were seen"]


def write_sound(recording: Recording, reasons: list[str], out_dir: Path, scratch_dir: Path) -> Path:
    """Write a recording and return its folder; one that is void goes into ``scratch_dir/void``.

    Raises
    ------
    RecordingVoid
        There are reasons.
    """
    if reasons:
        write_recording(recording, scratch_dir / "void")
        raise RecordingVoid("; ".join(reasons))
    return write_recording(recording, out_dir)


def void_reasons(
    scenario: Scenario,
    spans: list[Span],
    series: list[Series],
    pressure: list[dict[str, Any]],
    report: dict[str, Any],
    *,
    count_cpu: bool = True,
) -> tuple[list[str], dict[str, Any]]:
    """Return why a recording is void, and what was measured; what processes waited for a CPU is measured in any case."""
    reasons: list[str] = []
    scrapes = _scrapes(scenario, series)
    interval_s = scenario.scrape_interval_s
    if scrapes["worst_gap_s"] > 1.5 * interval_s:
        reasons.append(
            f"a scrape came late: gap of {scrapes['worst_gap_s']} s at an interval of {interval_s} s"
        )
    if scrapes["worst_duration_s"] > 0.5 * interval_s:
        reasons.append(f"a scrape took {scrapes['worst_duration_s']} s at an interval of {interval_s} s")
    if scrapes["failed"]:
        reasons.append(f"{scrapes['failed']} scrapes failed")
    cpu = waits(pressure)
    if count_cpu and scenario.family not in _MAY_WAIT:
        reasons += cpu_reasons(cpu)
    producers = _producers(scenario, spans, report)
    for topic, row in producers.items():
        # A publish limit slows the producer down; that is the experiment.
        limited = scenario.topic(topic).publish_rate is not None
        if row["short_share"] > PRODUCER_SHORT_MAX and not limited:
            reasons.append(f"the producer of {topic} was {row['short_share']:.1%} below its schedule")
    consumers = {
        name: {**row, "mean_late_ms": round(1000 * row["late_s"] / max(1, row["acked"]), 3)}
        for name, row in report["subscriptions"].items()
    }
    if scenario.family in _JUDGED_BY_BROKER:
        reasons = []
    return reasons, {"scrapes": scrapes, "cpu": cpu, "producers": producers, "consumers": consumers}


def _scrapes(scenario: Scenario, series: list[Series]) -> dict[str, Any]:
    times: list[int] = []
    failed, duration_s = 0, 0.0
    for item in series:
        name = item.labels.get("__name__")
        if name == "up":
            times.extend(item.timestamps_ms)
            failed += sum(1 for value in item.values if value != 1)
        elif name == "scrape_duration_seconds":
            duration_s = max(duration_s, max(item.values, default=0.0))
    times.sort()
    gaps = [(after - before) / 1000 for before, after in itertools.pairwise(times)]
    expected = scenario.duration_s / scenario.scrape_interval_s
    return {
        "count": len(times),
        "expected": round(expected, 1),
        "failed": failed,
        "worst_gap_s": max(gaps, default=float("inf")),
        "worst_duration_s": round(duration_s, 3),
    }


def cpu_reasons(measured: dict[str, dict[str, float]], *, at_the_end: bool = True) -> list[str]:
    """Return which processes waited so long for a CPU that what they did says little; before the end a mean can still fall."""
    return [
        f"{process} waited for a CPU: mean {wait['mean_wait_ms']} ms per time slice, "
        f"{wait['longest_above']} minutes in a row above {WAIT_MS_PER_SLICE_MAX} ms"
        for process, wait in measured.items()
        if process not in _OFF_THE_PATH and _saturated(wait, at_the_end)
    ]


def waits(pressure: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Sum up by process how long it waited."""
    result: dict[str, dict[str, float]] = {}
    for process in dict.fromkeys(row["process"] for row in pressure):
        rows = [row for row in pressure if row["process"] == process]
        longest = current = 0
        for row in rows:
            current = current + 1 if row["wait_ms_per_slice"] > WAIT_MS_PER_SLICE_MAX else 0
            longest = max(longest, current)
        result[process] = {
            "mean_run_share": round(sum(row["run_share"] for row in rows) / len(rows), 4),
            "mean_wait_ms": round(sum(row["wait_ms_per_slice"] for row in rows) / len(rows), 4),
            "worst_wait_ms": max(row["wait_ms_per_slice"] for row in rows),
            "mean_busiest_wait_share": round(sum(row["busiest_wait_share"] for row in rows) / len(rows), 4),
            "longest_above": longest,
            "minutes": len(rows),
        }
    return result


def _saturated(wait: dict[str, float], at_the_end: bool) -> bool:
    # A short run is over before a wait could be called sustained; its producers and scrapes still tell.
    mean_counts = at_the_end and wait["minutes"] >= WAIT_ROWS_SUSTAINED
    return wait["longest_above"] >= WAIT_ROWS_SUSTAINED or (
        mean_counts and wait["mean_wait_ms"] > WAIT_MS_PER_SLICE_MAX
    )


def _producers(scenario: Scenario, spans: list[Span], report: dict[str, Any]) -> dict[str, dict[str, float]]:
    result = {}
    for producer in scenario.producers:
        expected = _expected_messages(scenario, producer.topic, spans)
        row = report["producers"][producer.topic]
        short = 0.0 if expected == 0 else max(0.0, 1 - row["persisted"] / expected)
        result[producer.topic] = {**row, "expected": round(expected), "short_share": round(short, 5)}
    return result


def _expected_messages(scenario: Scenario, topic: str, spans: list[Span]) -> float:
    producer = next(item for item in scenario.producers if item.topic == topic)
    start_ms, rate, total = spans[0].start_ms, producer.rate_msg, 0.0
    for span, state in zip(spans, scenario.timeline, strict=True):
        for step in state.interventions:
            if isinstance(step, SetRate) and step.topic == topic:
                rate = step.rate_msg
        factors = [
            (start_ms + round(at_s * 1000), value) for at_s, value in producer.factors(scenario.duration_s)
        ]
        cuts = {span.start_ms, span.end_ms, *(at_ms for at_ms, _ in factors)}
        inside = sorted(cut for cut in cuts if span.start_ms <= cut <= span.end_ms)
        for begin, end in itertools.pairwise(inside):
            factor = [value for at_ms, value in factors if at_ms <= begin][-1]
            total += rate * factor * (end - begin) / 1000
    return total
