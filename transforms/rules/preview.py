"""Alerts on history. In: a lake, alerting rules, a range. Out: when each alert would have fired; nothing is written.

Rules are evaluated in memory, from so long before the range on that the range begins as it would have in a Prometheus that had
been running all along: what rules look back on, through the rules that they read, and ``for``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, check_range
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.plan import needed_samples, settled
from throttlescope.transforms.promql.query import DEFAULTS
from throttlescope.transforms.promql.semantics import LOOKBACK_MS, Labels
from throttlescope.transforms.promql.shards.work import LakeView
from throttlescope.transforms.rules.needs import samples_of, source_of
from throttlescope.transforms.rules.order import Scheduled, schedule
from throttlescope.transforms.rules.outputs import alert_series, may_read
from throttlescope.transforms.rules.recording_run import check_writable
from throttlescope.transforms.rules.rule_file import (
    ALERT_STATE,
    ALERTS,
    ALERTS_FOR_STATE,
    FIRING,
    AlertingRule,
    Group,
    RecordingRule,
    RuleFile,
)
from throttlescope.transforms.rules.span_evaluation import RuleEvaluation, RuleOutcome
from throttlescope.transforms.rules.written import Written, WrittenSeries

#: Samples that a preview holds at once, and evaluations of a rule: what a page's process can spare.
MOST_SAMPLES = 10_000_000
#: Series of a rule times its evaluations.
MOST_CELLS = 5_000_000
MOST_MOMENTS = DEFAULTS.max_points
#: A chain of rules that looks further back than this begins cold.
LONGEST_BEFORE_MS = DAY_MS


@dataclass(frozen=True)
class Firing:
    """One alert from the moment at which it fired.

    Attributes
    ----------
    rule : AlertingRule
    labels : dict
        Of the alert, ``alertname`` among them.
    active_ms : int
        When its condition became true.
    start_ms : int
        When it fired; before the range where it fired already.
    end_ms : int or None
        The first evaluation at which it no longer fired; None: it still did at the range's end.
    """

    rule: AlertingRule
    labels: dict[str, str]
    active_ms: int
    start_ms: int
    end_ms: int | None


@dataclass(frozen=True)
class PreviewPlan:
    """What a preview would evaluate.

    Attributes
    ----------
    rules : tuple of Scheduled
        The alerts, and the rules that they read.
    before_ms : int
        How long before the range it begins.
    moments : int
        Evaluations of a rule.
    samples : int
        About how many are read.
    """

    rules: tuple[Scheduled, ...]
    start_ms: int
    end_ms: int
    before_ms: int
    moments: int
    samples: int


@dataclass
class Preview:
    """What a preview found.

    Attributes
    ----------
    firings : list of Firing
        Those that touch the range, by their start.
    outcomes : dict
        Of each rule by its name; evaluations that failed among them.
    """

    firings: list[Firing] = field(default_factory=list)
    outcomes: list[tuple[Scheduled, RuleOutcome]] = field(default_factory=list)


def plan_preview(
    lake: Lake,
    previewed: RuleFile,
    library: RuleFile | None,
    start_ms: int,
    end_ms: int,
    *,
    evaluation_interval_ms: int = MINUTE_MS,
    lookback_ms: int = LOOKBACK_MS,
) -> PreviewPlan:
    """The plan of a preview of the alerts of ``previewed`` over [start, end).

    Parameters
    ----------
    library : RuleFile, optional
        Recording rules that alerts may read; unused ones, and those that ``previewed`` has itself, are left out.

    Raises
    ------
    InputError
        No alert, rules that read one another, a label that cannot be filled in, or more than a preview may take.
    """
    check_range(start_ms, end_ms)
    if not any(isinstance(rule, AlertingRule) for rule in previewed.rules):
        raise InputError("There is no alerting rule to preview", expected="a rule with alert: and expr:")
    rules = _needed(schedule([previewed, *_without(library, previewed)], evaluation_interval_ms), previewed)
    for rule in rules:
        check_writable(rule)
    interval_ms = min(rule.interval_ms for rule in rules)
    before_ms = min(_before(rules, lookback_ms), LONGEST_BEFORE_MS)
    before_ms += -before_ms % MINUTE_MS
    moments = (end_ms - start_ms + before_ms) // interval_ms + 1
    if moments > MOST_MOMENTS:
        raise InputError(
            "The range is too long for a preview",
            got=f"{moments:,} evaluations",
            expected=f"at most {MOST_MOMENTS:,}, {before_ms // MINUTE_MS} minutes before the range among them",
            fix="choose a shorter range, or use throttlescope rules run",
        )
    samples = samples_of(LakeView(lake), rules, start_ms - before_ms, end_ms, lookback_ms)
    if samples > MOST_SAMPLES:
        raise InputError(
            "The preview would read too many samples",
            got=f"about {samples:,}",
            expected=f"at most {MOST_SAMPLES:,}",
            fix="choose a shorter range or a rule of fewer series, or use throttlescope rules run",
        )
    return PreviewPlan(tuple(rules), start_ms, end_ms, before_ms, moments, samples)


def run_preview(
    lake: Lake, plan: PreviewPlan, *, lookback_ms: int = LOOKBACK_MS, budget: Budget | None = None
) -> Preview:
    """Evaluate a plan.

    Raises
    ------
    QueryTimeoutError, QueryCancelledError
        Of the budget.
    """
    first_ms = plan.start_ms - plan.before_ms
    source = source_of(lake, LakeView(lake), plan.rules, first_ms, plan.end_ms, lookback_ms)
    evaluation = RuleEvaluation(plan.rules, lookback_ms=lookback_ms, budget=budget)
    found = Preview()

    def finished(rule: Scheduled, written: Written) -> None:
        if budget is not None:
            budget.check_time()
        if isinstance(rule.rule, AlertingRule):
            found.firings += [
                one
                for one in _firings(rule, written)
                if one.start_ms < plan.end_ms and (one.end_ms is None or one.end_ms > plan.start_ms)
            ]

    evaluation.span(source, first_ms, plan.end_ms, finished=finished)
    found.firings.sort(key=lambda one: (one.start_ms, sorted(one.labels.items())))
    found.outcomes = [(rule, evaluation.outcomes[rule.number]) for rule in plan.rules]
    return found


def _firings(rule: Scheduled, written: Written) -> Iterable[Firing]:
    """From samples and markers: a marker ends a firing, an evaluation that failed does not."""
    for labels, series in written.series.items():
        named = dict(labels)
        if named.get("__name__") != ALERTS or named.get(ALERT_STATE) != FIRING:
            continue
        own: Labels = tuple(pair for pair in labels if pair[0] not in ("__name__", ALERT_STATE))
        since = written.series[alert_series(rule.rule, own, ALERTS_FOR_STATE, None)]
        for start_ms, end_ms in _stretches(series):
            at = bisect_right(since.times_ms, start_ms) - 1
            yield Firing(
                rule.rule,
                dict(own),
                round(since.values[at]) * 1000,
                start_ms + rule.offset_ms,
                None if end_ms is None else end_ms + rule.offset_ms,
            )


def _stretches(series: WrittenSeries) -> Iterable[tuple[int, int | None]]:
    start_ms: int | None = None
    ends = iter(series.stale_ms)
    end_ms = next(ends, None)
    for time_ms in series.times_ms:
        while end_ms is not None and end_ms <= time_ms:
            if start_ms is not None:
                yield start_ms, end_ms
                start_ms = None
            end_ms = next(ends, None)
        if start_ms is None:
            start_ms = time_ms
    if start_ms is not None:
        yield start_ms, end_ms


def _without(library: RuleFile | None, previewed: RuleFile) -> list[RuleFile]:
    """The library without the previewed rules."""
    if library is None:
        return []
    own = {rule.name for rule in previewed.rules if isinstance(rule, RecordingRule)}
    groups = tuple(
        Group(
            group.name,
            tuple(rule for rule in group.rules if isinstance(rule, RecordingRule) and rule.name not in own),
            group.interval_ms,
            group.query_offset_ms,
        )
        for group in library.groups
    )
    return [RuleFile(library.name, groups)]


def _needed(rules: Sequence[Scheduled], previewed: RuleFile) -> list[Scheduled]:
    """The previewed alerts and all rules that they read, in the order of their computation."""
    by_number = {rule.number: rule for rule in rules}
    mine = {id(rule) for rule in previewed.rules if isinstance(rule, AlertingRule)}
    waiting = [rule.number for rule in rules if id(rule.rule) in mine]
    reached: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting += by_number[number].reads
    return [rule for rule in rules if rule.number in reached]


def _before(rules: Sequence[Scheduled], lookback_ms: int) -> int:
    """How far back what is seen at a moment reaches, through the rules that are read."""
    reach: dict[int, int] = {}
    by_number = {rule.number: rule for rule in rules}
    # Rules come after those that they read.
    for rule in rules:
        longest = 0
        plan = settled(rule.plan, 0, 0)
        for selector, (low_ms, _) in needed_samples([plan], Steps.at(0), lookback_ms).items():
            behind = [
                reach.get(number, 0)
                for number in rule.reads
                if number in by_number and may_read(selector, by_number[number].rule)
            ]
            # An instant selector of a rule sees its newest result, which is an interval old at most.
            longest = max(longest, max(0, -low_ms) + max(behind, default=0))
        if isinstance(rule.rule, AlertingRule):
            longest += rule.rule.for_ms + rule.rule.keep_firing_for_ms
        reach[rule.number] = longest + rule.interval_ms + rule.offset_ms
    return max(reach.values(), default=0)
