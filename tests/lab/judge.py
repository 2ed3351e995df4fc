"""From a finished scenario to its outcome: in, what was scraped, asked and counted; out, a recording, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.lab.checks import Span
from tests.lab.confirm import confirm, truth_rows
from tests.lab.readback import EQUAL, REGEX, Series, read_series
from tests.lab.recording import Recording, write_recording
from tests.lab.soundness import void_reasons
from throttlescope.models.throttling.scenario import Scenario

BROKER_SERIES = "pulsar_broker_.*|pulsar_version_info|up|scrape_.*"


@dataclass
class Outcome:
    """What became of a scenario: ``kept``, ``dropped`` (effect not seen) or ``voided`` (unsound machinery)."""

    scenario: Scenario
    status: str
    reasons: list[str] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    folder: Path | None = None


@dataclass
class Evidence:
    """What a scenario left behind while it ran."""

    scenario: Scenario
    scenario_yaml: str
    policies: list[dict[str, Any]] = field(default_factory=list)
    topic_stats: list[dict[str, Any]] = field(default_factory=list)
    interventions: list[dict[str, Any]] = field(default_factory=list)
    #: State, and when its interventions began and had been applied.
    changes: list[tuple[str, int, int]] = field(default_factory=list)
    failure: str | None = None
    report: dict[str, Any] = field(default_factory=dict)


def read_back(prometheus_url: str, scenario: Scenario, start_ms: int, end_ms: int) -> list[Series]:
    """Read the series of the scenario's namespace and those of the broker."""
    own = read_series(prometheus_url, [(EQUAL, "namespace", scenario.namespace)], start_ms, end_ms)
    broker = read_series(prometheus_url, [(REGEX, "__name__", BROKER_SERIES)], start_ms, end_ms)
    return [*own, *broker]


def judge(
    evidence: Evidence,
    series: list[Series],
    pressure: list[dict[str, Any]],
    about: dict[str, Any],
    start_ms: int,
    end_ms: int,
    out_dir: Path,
    *,
    count_cpu: bool = True,
) -> Outcome:
    """Decide whether a scenario counts, and write its recording if it does.

    Parameters
    ----------
    evidence, series
        What the run noted, and what Prometheus scraped.
    pressure
        CPU waits of the processes that the scenario depended on.
    about
        Facts of the run for ``recording.json``.
    start_ms, end_ms
        The scenario's range.
    out_dir
        Where recordings go.
    count_cpu
        Whether processes that waited for a CPU make the recording void.
    """
    scenario = evidence.scenario
    if evidence.failure:
        return Outcome(scenario, "voided", [evidence.failure])
    spans = _spans(evidence.changes, end_ms)
    rows = [row for row in pressure if start_ms <= int(row["at_ms"]) <= end_ms]
    reasons, measured = void_reasons(scenario, spans, series, rows, evidence.report, count_cpu=count_cpu)
    confirmation = confirm(scenario, spans, series)
    if reasons:
        return Outcome(scenario, "voided", reasons, confirmation.seen)
    if confirmation.failures:
        return Outcome(scenario, "dropped", confirmation.failures, confirmation.seen)
    states = [
        {
            "name": span.name,
            "start_ms": span.start_ms,
            "end_ms": span.end_ms,
            "drained_ms": confirmation.drained_ms.get(span.name),
            "first_loss_ms": confirmation.first_loss_ms.get(span.name),
        }
        for span in spans
    ]
    recording = Recording(
        scenario.name,
        {
            **about,
            "profile": scenario.profile,
            "family": scenario.family,
            "size": scenario.size,
            "kept_aside": scenario.kept_aside,
            "scrape_interval_s": scenario.scrape_interval_s,
            "start_ms": start_ms,
            "end_ms": end_ms,
            "states": states,
            "confirmed": confirmation.seen,
            "measured": measured,
        },
        series,
        evidence.policies,
        evidence.topic_stats,
        evidence.interventions,
        truth_rows(scenario, spans, confirmation.drained_ms, confirmation.first_loss_ms),
        evidence.scenario_yaml,
    )
    return Outcome(scenario, "kept", [], confirmation.seen, write_recording(recording, out_dir))


def _spans(changes: list[tuple[str, int, int]], end_ms: int) -> list[Span]:
    ends = [begin_ms for _, begin_ms, _ in changes[1:]] + [end_ms]
    return [Span(name, applied_ms, end) for (name, _, applied_ms), end in zip(changes, ends, strict=True)]
