"""Rules over a range of a lake. In: a lake, rules files, a range. Out: the rules' series in the lake, and a summary.

The range is evaluated in spans of a UTC day at most, shorter where a day would not fit in memory, each committed before
the next begins. A span reads what the one before has written from the lake like any other series.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, check_range, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.manifest import new_run_id
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC
from throttlescope.transforms.promql.semantics import LOOKBACK_MS
from throttlescope.transforms.promql.shards.work import LakeView
from throttlescope.transforms.rules.order import Scheduled, schedule
from throttlescope.transforms.rules.outputs import metric_names
from throttlescope.transforms.rules.result_series import RuleSeries
from throttlescope.transforms.rules.resume import carried_ms, resumed
from throttlescope.transforms.rules.rule_file import AlertingRule, RuleFile
from throttlescope.transforms.rules.rule_inputs import samples_of, source_of
from throttlescope.transforms.rules.span_evaluation import RuleEvaluation, RuleOutcome
from throttlescope.transforms.rules.template import fills_in
from throttlescope.transforms.rules.write import ResultWriter, RulePart

#: Samples that a span reads at most, unless an hour has more: 16 bytes each, and as much again while they are cut.
SPAN_SAMPLES = 10_000_000
#: Evaluations of a rule in a span at most, unless an hour has more.
SPAN_MOMENTS = 5_000
_SPAN_HOURS = (24, 12, 8, 6, 4, 3, 2, 1)


@dataclass(frozen=True)
class RunProgress:
    """How far a run is.

    Attributes
    ----------
    share : float
        Of the work, from 0 to 1.
    at_ms : int
        Start of the span that is evaluated.
    samples : int
        Written so far.
    """

    share: float
    at_ms: int
    samples: int


@dataclass(frozen=True)
class RuleResult:
    """How one rule did.

    Attributes
    ----------
    kind : str
        ``recording`` or ``alerting``.
    place : str
        File, line, group and rule.
    """

    name: str
    kind: str
    place: str
    outcome: RuleOutcome


@dataclass
class RulesResult:
    """What a run did."""

    run_id: str
    start_ms: int
    end_ms: int
    spans: int = 0
    rules: list[RuleResult] = field(default_factory=list)

    @property
    def failures(self) -> int:
        """Evaluations that failed."""
        return sum(rule.outcome.failures for rule in self.rules)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON can hold it."""
        return {
            "run_id": self.run_id,
            "start": format_time(self.start_ms),
            "end": format_time(self.end_ms),
            "spans": self.spans,
            "evaluations": sum(rule.outcome.evaluations for rule in self.rules),
            "failures": self.failures,
            "samples": sum(rule.outcome.samples for rule in self.rules),
            "markers": sum(rule.outcome.markers for rule in self.rules),
            "rules": [
                {"name": rule.name, "kind": rule.kind, "place": rule.place, **vars(rule.outcome)}
                for rule in self.rules
            ],
        }


def run_rules(
    lake: Lake,
    files: Sequence[RuleFile],
    start_ms: int,
    end_ms: int,
    *,
    evaluation_interval_ms: int = MINUTE_MS,
    lookback_ms: int = LOOKBACK_MS,
    progress: Callable[[RunProgress], None] | None = None,
) -> RulesResult:
    """Evaluate rules at every multiple of their interval in [start, end) and write their series into the lake.

    Parameters
    ----------
    evaluation_interval_ms : int
        Interval of groups that name none (``evaluation_interval`` of a server).
    lookback_ms : int
        How long a sample is current.
    progress : callable, optional
        Called after each rule of each span.

    Raises
    ------
    InputError
        The range is empty, the rules read one another, or a rule cannot be written.
    ConflictError
        Another run wrote the same blocks meanwhile. Spans before are in the lake; the run can be repeated.
    """
    check_range(start_ms, end_ms)
    rules = schedule(files, evaluation_interval_ms)
    for rule in rules:
        check_writable(rule)
    run = _RulesRun(lake, rules, start_ms, end_ms, lookback_ms, progress)
    first_ms = start_ms
    while first_ms < end_ms:
        first_ms = run.span(first_ms)
    return run.result()


class _RulesRun:
    def __init__(
        self,
        lake: Lake,
        rules: Sequence[Scheduled],
        start_ms: int,
        end_ms: int,
        lookback_ms: int,
        progress: Callable[[RunProgress], None] | None,
    ) -> None:
        self.lake, self.rules, self.start_ms, self.end_ms = lake, rules, start_ms, end_ms
        self.lookback_ms, self.progress = lookback_ms, progress
        self.run_id = new_run_id()
        self.evaluation = RuleEvaluation(rules, lookback_ms=lookback_ms)
        self.spans = 0

    def span(self, first_ms: int) -> int:
        """Evaluate and commit one span; where the next one begins."""
        view = LakeView(self.lake)
        if first_ms == self.start_ms:
            self._resume(view)
        after_ms = _span_end(view, self.rules, first_ms, self.end_ms, self.lookback_ms)
        writer = ResultWriter(self.lake, self.run_id)
        collect = _Collector(self.rules, writer, first_ms, after_ms)

        def finished(rule: Scheduled, written: RuleSeries) -> None:
            collect.take(rule, written)
            self._report(first_ms, after_ms, collect.taken)

        source = source_of(self.lake, view, self.rules, first_ms, after_ms, self.lookback_ms)
        self.evaluation.span(source, first_ms, after_ms, finished=finished)
        writer.commit()
        self.spans += 1
        return after_ms

    def result(self) -> RulesResult:
        outcomes = self.evaluation.outcomes
        rules = [
            RuleResult(
                rule.rule.name,
                "alerting" if isinstance(rule.rule, AlertingRule) else "recording",
                rule.rule.place,
                outcomes[rule.number],
            )
            for rule in sorted(self.rules, key=lambda rule: rule.number)
        ]
        return RulesResult(self.run_id, self.start_ms, self.end_ms, self.spans, rules)

    def _resume(self, view: LakeView) -> None:
        earlier_ms = self.start_ms - max(
            (carried_ms(rule, self.lookback_ms) for rule in self.rules), default=0
        )
        own = {
            metric: (earlier_ms, self.start_ms) for rule in self.rules for metric in metric_names(rule.rule)
        }
        keeping = [
            rule
            for rule in self.rules
            if isinstance(rule.rule, AlertingRule) and rule.rule.keep_firing_for_ms
        ]
        before = source_of(self.lake, view, keeping, earlier_ms, self.start_ms, self.lookback_ms, own)
        self.evaluation.states = resumed(self.rules, before, self.start_ms, self.lookback_ms)

    def _report(self, first_ms: int, after_ms: int, rules_done: int) -> None:
        if self.progress is not None:
            done = (first_ms - self.start_ms) + (after_ms - first_ms) * rules_done / len(self.rules)
            samples = sum(outcome.samples for outcome in self.evaluation.outcomes.values())
            self.progress(RunProgress(done / (self.end_ms - self.start_ms), first_ms, samples))


def check_writable(rule: Scheduled) -> None:
    """Refuse a rule whose series cannot be written: a label that needs Go, or a metric that is read from the source."""
    if isinstance(rule.rule, AlertingRule):
        for name, text in rule.rule.labels.items():
            if not fills_in(text):
                raise InputError(
                    f"{rule.rule.place}: the label {name} needs Go's templates, which are not executed here",
                    got=repr(text),
                    expected="text, and {{ $labels.name }} in it",
                )
    elif rule.rule.name in METRICS or rule.rule.name == LIMIT_METRIC:
        raise InputError(
            f"{rule.rule.place}: the rule would replace a metric that is read from the source or from the limits",
            got=rule.rule.name,
            fix="record another name",
        )


class _Collector:
    """Hands each metric to the writer as soon as all its rules are done."""

    def __init__(self, rules: Sequence[Scheduled], writer: ResultWriter, start_ms: int, end_ms: int) -> None:
        self.writer, self.start_ms, self.end_ms, self.taken = writer, start_ms, end_ms, 0
        self._waiting: dict[str, set[int]] = {}
        self._parts: dict[str, dict[int, RulePart]] = {}
        for rule in rules:
            for metric in metric_names(rule.rule):
                self._waiting.setdefault(metric, set()).add(rule.number)

    def take(self, rule: Scheduled, written: RuleSeries) -> None:
        self.taken += 1
        part = RulePart(rule.rule, written, self.start_ms - rule.offset_ms, self.end_ms - rule.offset_ms)
        for metric in metric_names(rule.rule):
            self._parts.setdefault(metric, {})[rule.number] = part
            self._waiting[metric].discard(rule.number)
            if not self._waiting[metric]:
                parts = self._parts.pop(metric)
                self.writer.write(metric, [parts[number] for number in sorted(parts)])


def _span_end(
    view: LakeView, rules: Sequence[Scheduled], start_ms: int, end_ms: int, lookback_ms: int
) -> int:
    """Where a span ends that begins at ``start_ms``: on a whole part of the UTC day."""
    day_ms = start_ms - start_ms % DAY_MS
    shortest_ms = min((rule.interval_ms for rule in rules), default=MINUTE_MS)
    samples = samples_of(view, rules, day_ms, day_ms + DAY_MS, lookback_ms)
    for hours in _SPAN_HOURS:
        span_ms = hours * BLOCK_MS
        if samples * hours / 24 <= SPAN_SAMPLES and span_ms / shortest_ms <= SPAN_MOMENTS:
            break
    return min(end_ms, start_ms - start_ms % span_ms + span_ms)
