"""States of alerts over time. In: the times at which each element of an alert's expression had a value. Out: ``ALERTS`` and ``ALERTS_FOR_STATE``.

As in ``rules/alerting.go`` of Prometheus 3.5: pending from the first moment, firing once ``for`` has passed; an
element that is gone ends a pending alert at once and a firing one after ``keep_firing_for``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.rules.outputs import alert_series
from throttlescope.transforms.rules.result_series import Vectors
from throttlescope.transforms.rules.rule_file import ALERTS, ALERTS_FOR_STATE, FIRING, PENDING, AlertingRule

_NEVER = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Alert:
    """One alert between two evaluations.

    Attributes
    ----------
    active_ms : int
        When its element appeared.
    firing : bool
    gone_ms : int or None
        Since when a firing alert goes on without its element.
    """

    active_ms: int
    firing: bool = False
    gone_ms: int | None = None


def advance_alerts(
    rule: AlertingRule, limit: int, elements: Vectors, times_ms: np.ndarray, before: Mapping[Labels, Alert]
) -> tuple[Vectors, dict[Labels, Alert], np.ndarray]:
    """Advance the states of a rule's alerts through evaluations that succeeded.

    Parameters
    ----------
    limit : int
        Most alerts at one moment; 0: no limit. If there are more, all alerts are dropped, as in Prometheus.
    elements : Vectors
        Rows are alerts (:func:`outputs.alert_labels`).
    times_ms : ndarray
        The moments of the evaluations.
    before : mapping
        Alerts as the evaluation before the first one left them.

    Returns
    -------
    Vectors
        Series of ``ALERTS`` and ``ALERTS_FOR_STATE``.
    dict
        Alerts after the last evaluation.
    ndarray
        Number of alerts at each moment that was over the limit, 0 at the others.
    """
    labels = tuple(dict.fromkeys((*elements.labels, *before)))
    state = _State(labels, before)
    count, times = len(labels), len(times_ms)
    present = np.zeros((count, times), bool)
    present[: len(elements.labels)] = elements.present
    pending, firing = np.zeros((count, times), bool), np.zeros((count, times), bool)
    since_s = np.zeros((count, times))
    over = np.zeros(times, np.int64)
    for column, now_ms in enumerate(times_ms.tolist()):
        state.step(present[:, column], now_ms, rule.for_ms, rule.keep_firing_for_ms)
        if 0 < limit < state.active.sum():
            over[column] = state.active.sum()
            state = _State(labels, {})
            continue
        firing[:, column] = state.firing
        pending[:, column] = state.active & ~state.firing
        since_s[:, column] = state.active_ms // 1000
    return _series(rule, labels, pending, firing, since_s), state.alerts(), over


class _State:
    """All alerts of a rule as arrays."""

    def __init__(self, labels: tuple[Labels, ...], alerts: Mapping[Labels, Alert]) -> None:
        self.labels = labels
        known = [alerts.get(one) for one in labels]
        self.active = np.array([one is not None for one in known], bool)
        self.firing = np.array([one is not None and one.firing for one in known], bool)
        self.active_ms = np.array([0 if one is None else one.active_ms for one in known], np.int64)
        gone = [None if one is None else one.gone_ms for one in known]
        self.gone_ms = np.array([_NEVER if one is None else one for one in gone], np.int64)

    def step(self, present: np.ndarray, now_ms: int, for_ms: int, keep_firing_for_ms: int) -> None:
        """One evaluation."""
        new = present & ~self.active
        self.active_ms[new] = now_ms
        self.active |= present
        self.gone_ms[present] = _NEVER
        missing = self.active & ~present
        self.gone_ms[missing & self.firing & (self.gone_ms == _NEVER)] = now_ms
        still_firing = missing & self.firing
        if still_firing.any():
            still_firing[still_firing] = now_ms - self.gone_ms[still_firing] < keep_firing_for_ms
        ended = missing & ~still_firing
        self.active[ended] = self.firing[ended] = False
        self.gone_ms[ended] = _NEVER
        self.firing |= self.active & (now_ms - self.active_ms >= for_ms)

    def alerts(self) -> dict[Labels, Alert]:
        return {
            self.labels[row]: Alert(
                int(self.active_ms[row]),
                bool(self.firing[row]),
                None if self.gone_ms[row] == _NEVER else int(self.gone_ms[row]),
            )
            for row in np.flatnonzero(self.active).tolist()
        }


def _series(
    rule: AlertingRule,
    alerts: tuple[Labels, ...],
    pending: np.ndarray,
    firing: np.ndarray,
    since_s: np.ndarray,
) -> Vectors:
    kinds = ((ALERTS, PENDING, pending), (ALERTS, FIRING, firing), (ALERTS_FOR_STATE, None, pending | firing))
    labels = tuple(alert_series(rule, alert, metric, state) for metric, state, _ in kinds for alert in alerts)
    present = np.concatenate([here for _, _, here in kinds])
    ones = np.ones((2 * len(alerts), pending.shape[1]))
    return Vectors(labels, np.concatenate([ones, since_s]), present)
