"""Continuation of an earlier run. In: the lake's rows before the range. Out: the series and alerts at its start.

A run that begins where another ended gives the results of one run over both ranges. After a pause longer than the look-back
nothing is continued, as after a long stop of a server.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from throttlescope.ingest.core.selector import metric_selector
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.promql.source import SampleSource, Series
from throttlescope.transforms.rules.alerts import Alert
from throttlescope.transforms.rules.instants import answers_at
from throttlescope.transforms.rules.order import Scheduled
from throttlescope.transforms.rules.outputs import alert_labels, alert_of, may_write, metric_names
from throttlescope.transforms.rules.result_series import by_labels
from throttlescope.transforms.rules.rule_file import (
    ALERT_STATE,
    ALERTS,
    ALERTS_FOR_STATE,
    FIRING,
    AlertingRule,
)
from throttlescope.transforms.rules.rule_source import RuleSource
from throttlescope.transforms.rules.span_evaluation import RuleState, moments


def carried_ms(rule: Scheduled, lookback_ms: int) -> int:
    """How far before the start of a range something of a rule is looked at, its evaluations included."""
    kept_ms = rule.rule.keep_firing_for_ms if isinstance(rule.rule, AlertingRule) else 0
    return max(lookback_ms, 2 * rule.interval_ms, kept_ms + 2 * rule.interval_ms) + rule.offset_ms


def resumed(
    rules: Sequence[Scheduled], samples: SampleSource, start_ms: int, lookback_ms: int
) -> dict[int, RuleState]:
    """What each rule knows at the start of a range.

    Parameters
    ----------
    samples : SampleSource
        The lake: the rules' own metrics, and what their expressions read, from :func:`carried_ms` before the start on.
    """
    rule_source = RuleSource(samples, rules, {}, start_ms)
    states = {}
    for rule in rules:
        states[rule.number] = state = RuleState()
        before = dict(_current(rule, samples, start_ms, lookback_ms))
        state.current = set(before)
        if isinstance(rule.rule, AlertingRule):
            state.alerts = _alerts(rule, list(before.values()))
            if rule.rule.keep_firing_for_ms and any(alert.firing for alert in state.alerts.values()):
                _find_gone(rule, rule_source, state, start_ms, lookback_ms)
    return states


def _current(
    rule: Scheduled, samples: SampleSource, start_ms: int, lookback_ms: int
) -> Iterator[tuple[Labels, Series]]:
    """A rule's series that end with a sample, not long before the start."""
    end_ms = start_ms - rule.offset_ms
    oldest_ms = end_ms - max(lookback_ms, 2 * rule.interval_ms)
    for metric in metric_names(rule.rule):
        for series in samples.select(metric_selector(metric), oldest_ms, end_ms):
            times, stale = series.timestamps_ms, series.stale_ms
            ended = len(stale) and (not len(times) or stale[-1] > times[-1])
            if not ended and may_write(rule.rule, series.labels):
                yield tuple(sorted(series.labels.items())), series


def _alerts(rule: Scheduled, current: Sequence[Series]) -> dict[Labels, Alert]:
    since_s = {
        alert_of(rule.rule, series.labels): float(series.values[-1])
        for series in current
        if series.labels["__name__"] == ALERTS_FOR_STATE
    }
    alerts = {}
    for series in current:
        alert = alert_of(rule.rule, series.labels)
        if series.labels["__name__"] == ALERTS and alert in since_s:
            # Written are whole seconds; an alert begins at an evaluation.
            written_ms = round(since_s[alert]) * 1000
            active_ms = int(moments(rule.interval_ms, written_ms, written_ms + rule.interval_ms)[0])
            alerts[alert] = Alert(active_ms, series.labels.get(ALERT_STATE) == FIRING)
    return alerts


def _find_gone(
    rule: Scheduled, rule_source: RuleSource, state: RuleState, start_ms: int, lookback_ms: int
) -> None:
    """Find since when firing alerts go on without their element: that is not written anywhere."""
    first_ms = start_ms - rule.rule.keep_firing_for_ms - 2 * rule.interval_ms
    times_ms = moments(rule.interval_ms, first_ms, start_ms)
    seen_ms: dict[Labels, int] = {}
    succeeded: list[int] = []
    for some in times_ms[:, np.newaxis] if rule.stepped else [times_ms]:
        source = rule_source.at(int(some[0]), rule) if rule.stepped else rule_source
        steps = Steps(int(some[0]) - rule.offset_ms, int(some[-1]) - rule.offset_ms, rule.interval_ms)
        answers = answers_at(rule.plan, source, steps, lookback_ms)
        vectors, met = by_labels(
            (alert_labels(rule.rule, element) for element in answers.labels), answers.values, answers.present
        )
        good = answers.succeeded & ~met
        succeeded += some[good].tolist()
        for labels, present in zip(vectors.labels, vectors.present & good, strict=True):
            if present.any():
                seen_ms[labels] = int(some[np.flatnonzero(present)[-1]])
    for labels, alert in state.alerts.items():
        if alert.firing:
            since = [moment for moment in succeeded if moment > seen_ms.get(labels, first_ms - 1)]
            state.alerts[labels] = Alert(alert.active_ms, True, since[0] if since else None)
