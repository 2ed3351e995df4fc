"""Evaluation of rules, span by span. In: scheduled rules and samples. Out: the results of each rule in the span, and failures.

Spans follow each other; state that continues across a span's end (previous series, alerts) is stored here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from throttlescope.ingest.core.times import format_time
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.semantics import LOOKBACK_MS, Labels
from throttlescope.transforms.promql.source import SampleSource
from throttlescope.transforms.rules.alerts import Alert, advance_alerts
from throttlescope.transforms.rules.instants import answers_at
from throttlescope.transforms.rules.order import Scheduled
from throttlescope.transforms.rules.outputs import alert_labels, recorded_labels
from throttlescope.transforms.rules.result_series import RuleSeries, by_labels
from throttlescope.transforms.rules.rule_file import AlertingRule
from throttlescope.transforms.rules.rule_source import RuleSource


@dataclass
class RuleOutcome:
    """How a rule's evaluations went, over all spans so far.

    Attributes
    ----------
    evaluations, failures : int
    first_error : str or None
        With its moment.
    samples, markers : int
        Written, staleness markers counted apart.
    """

    evaluations: int = 0
    failures: int = 0
    first_error: str | None = None
    samples: int = 0
    markers: int = 0

    def failed(self, times_ms: np.ndarray, errors: dict[int, str]) -> None:
        self.failures += len(errors)
        if errors and self.first_error is None:
            column = min(errors)
            self.first_error = f"{format_time(int(times_ms[column]))}: {errors[column]}"


@dataclass
class RuleState:
    """What a rule knows from the evaluation before."""

    current: set[Labels] = field(default_factory=set)
    alerts: dict[Labels, Alert] = field(default_factory=dict)


class RuleEvaluation:
    """All rules, span after span.

    Parameters
    ----------
    rules : sequence of Scheduled
        In the order of :func:`order.schedule`.
    lookback_ms : int
        How long a sample is current.
    budget : Budget, optional
        What all evaluations together may take.
    """

    def __init__(
        self,
        rules: Sequence[Scheduled],
        *,
        lookback_ms: int = LOOKBACK_MS,
        budget: Budget | None = None,
    ) -> None:
        self.rules, self.lookback_ms, self.budget = list(rules), lookback_ms, budget
        self.states = {rule.number: RuleState() for rule in rules}
        self.outcomes = {rule.number: RuleOutcome() for rule in rules}
        self._last_reader: dict[int, int] = {}
        for place, rule in enumerate(self.rules):
            self._last_reader |= dict.fromkeys((rule.number, *rule.reads), place)

    def span(
        self,
        samples: SampleSource,
        start_ms: int,
        end_ms: int,
        *,
        finished: Callable[[Scheduled, RuleSeries], None],
    ) -> None:
        """Evaluate all rules at the multiples of their intervals in [start, end).

        Parameters
        ----------
        samples : SampleSource
            The other samples; they reach back as far as the rules look.
        finished : callable
            Takes a rule and what it wrote in the span, as soon as it is complete.
        """
        written: dict[int, RuleSeries] = {}
        rule_source = RuleSource(samples, self.rules, written, start_ms)
        for place, rule in enumerate(self.rules):
            state = self.states[rule.number]
            written[rule.number] = results = RuleSeries(state.current)
            times_ms = moments(rule.interval_ms, start_ms, end_ms)
            if len(times_ms):
                if rule.stepped:
                    for moment_ms in times_ms.tolist():
                        self._evaluate(rule, rule_source.at(moment_ms, rule), np.array([moment_ms]), results)
                else:
                    self._evaluate(rule, rule_source, times_ms, results)
            state.current = results.current
            outcome = self.outcomes[rule.number]
            outcome.samples += results.samples
            outcome.markers += results.markers
            finished(rule, results)
            # Results that no later rule reads are not kept.
            for number in [number for number in written if self._last_reader[number] <= place]:
                del written[number]

    def _evaluate(
        self, rule: Scheduled, source: SampleSource, times_ms: np.ndarray, results: RuleSeries
    ) -> None:
        outcome, state = self.outcomes[rule.number], self.states[rule.number]
        first_ms, last_ms = int(times_ms[0]) - rule.offset_ms, int(times_ms[-1]) - rule.offset_ms
        steps = Steps(first_ms, last_ms, rule.interval_ms)
        answers = answers_at(rule.plan, source, steps, self.lookback_ms, self.budget)
        errors = answers.errors
        outcome.evaluations += len(times_ms)
        labels_of_element = alert_labels if isinstance(rule.rule, AlertingRule) else recorded_labels
        vectors, met = by_labels(
            (labels_of_element(rule.rule, element) for element in answers.labels),
            answers.values,
            answers.present,
        )
        kind = "alert" if isinstance(rule.rule, AlertingRule) else "rule"
        for column in np.flatnonzero(met).tolist():
            errors[column] = f"vector contains metrics with the same labelset after applying {kind} labels"
        if isinstance(rule.rule, AlertingRule):
            kept = np.flatnonzero(answers.succeeded)
            vectors, state.alerts, over = advance_alerts(
                rule.rule, rule.limit, vectors.at(kept), times_ms[kept], state.alerts
            )
            for column in np.flatnonzero(over).tolist():
                errors[int(kept[column])] = f"exceeded limit of {rule.limit} with {over[column]} alerts"
            vectors, kept = vectors.at(np.flatnonzero(over == 0)), kept[over == 0]
        else:
            if rule.limit:
                for column, count in enumerate(vectors.present.sum(axis=0).tolist()):
                    if count > rule.limit and column not in errors:
                        errors[column] = f"exceeded limit of {rule.limit} with {count} series"
            kept = np.flatnonzero(answers.succeeded)
            vectors = vectors.at(kept)
        outcome.failed(times_ms, errors)
        results.add(vectors, times_ms[kept] - rule.offset_ms)


def moments(interval_ms: int, start_ms: int, end_ms: int) -> np.ndarray:
    """Multiples of an interval in [start, end)."""
    first = start_ms + -start_ms % interval_ms
    return np.arange(first, end_ms, interval_ms, dtype=np.int64)
