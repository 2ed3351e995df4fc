"""Previews: firings as the slow twin has them, a range that begins as if rules had always run, bounds, and nothing written."""

from __future__ import annotations

import numpy as np
import pytest

from tests.naive.alert_firings import firings as naive_firings
from tests.transforms.lakes import lake_of
from tests.transforms.rules_in_memory import series_of
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.errors import QueryCancelledError, QueryTimeoutError, TooManySamplesError
from throttlescope.transforms.rules import preview as module
from throttlescope.transforms.rules.preview import plan_preview, run_preview
from throttlescope.transforms.rules.rule_file import read_rule_text

START_MS = 1_800_000_000_000
END_MS = START_MS + 240 * MINUTE_MS


def rule(*lines: str, name="mine", interval="1m"):
    rules = "".join(f"  - {{{line}}}\n" for line in lines)
    return read_rule_text(f"groups:\n- name: {name}\n  interval: {interval}\n  rules:\n{rules}", name)


def presence(seed: int) -> np.ndarray:
    """Stretches of being there and not, some a minute long, some long."""
    random = np.random.default_rng(seed)
    flips = random.random(240) < random.choice([0.05, 0.3])
    return np.cumsum(flips) % 2 == 1


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    times_ms = START_MS + np.arange(240) * MINUTE_MS
    series = [
        series_of(
            {"__name__": "m", "cluster": "c", "topic": f"t{seed}", "subscription": "s"},
            times_ms.tolist(),
            np.where(presence(seed), 1.0, 0.0).tolist(),
        )
        for seed in range(6)
    ]
    return lake_of(tmp_path_factory.mktemp("preview") / "lake", series)


def previewed(lake, file, start_ms=START_MS, end_ms=END_MS, library=None, budget=None):
    return run_preview(lake, plan_preview(lake, file, library, start_ms, end_ms), budget=budget)


def plain(found):
    return sorted((one.labels["topic"], one.active_ms, one.start_ms, one.end_ms) for one in found.firings)


@pytest.mark.parametrize("hold", ["0s", "1m", "5m"])
@pytest.mark.parametrize("keep", ["0s", "3m"])
def test_firings_are_those_of_the_slow_twin(lake, hold, keep):
    found = previewed(lake, rule(f"alert: A, expr: m == 1, for: {hold}, keep_firing_for: {keep}"))
    minutes = {text: int(text[:-1]) for text in (hold, keep)}
    expected = sorted(
        (f"t{seed}", *one)
        for seed in range(6)
        for one in naive_firings(
            presence(seed).tolist(),
            interval_ms=MINUTE_MS,
            start_ms=START_MS,
            for_ms=minutes[hold] * MINUTE_MS,
            keep_firing_for_ms=minutes[keep] * MINUTE_MS,
        )
    )
    assert plain(found) == expected
    assert len(expected) > 10
    assert found.firings[0].labels.keys() == {"alertname", "cluster", "topic", "subscription"}


def test_range_start_does_not_change_results(lake):
    """Through recorded rules that look back: a range inside gives what the whole gives there."""
    file = rule(
        "record: lately, expr: 'max_over_time(m[7m]) * 1'",
        "record: before, expr: lately offset 4m",
        "alert: A, expr: 'before == 1 and min_over_time(lately[3m]) >= 0', for: 6m",
    )
    start_ms, end_ms = START_MS + 100 * MINUTE_MS, START_MS + 170 * MINUTE_MS
    whole, inside = previewed(lake, file), previewed(lake, file, start_ms, end_ms)
    expected = [
        (topic, active, start, end if end is not None and end < end_ms else None)
        for topic, active, start, end in plain(whole)
        if start < end_ms and (end is None or end > start_ms)
    ]
    assert plain(inside) == expected
    assert expected
    assert any(start < start_ms for _, _, start, _ in expected), "none fired already when the range begins"


def test_alerts_evaluate_only_needed_library_rules(lake):
    library = rule("record: doubled, expr: 2 * m", "record: unread, expr: m * 3", name="library")
    file = rule("alert: A, expr: doubled == 2, for: 2m")
    plan = plan_preview(lake, file, library, START_MS, END_MS)
    assert [one.rule.name for one in plan.rules] == ["doubled", "A"]
    assert plain(run_preview(lake, plan)) == plain(previewed(lake, rule("alert: A, expr: m == 1, for: 2m")))
    # A rule of one's own of the same name wins.
    own = rule("record: doubled, expr: 0 * m", "alert: A, expr: doubled == 2, for: 2m")
    assert previewed(lake, own, library=library).firings == []


def test_failed_evaluation_keeps_firings_and_is_counted(tmp_path):
    times_ms = [START_MS + n * MINUTE_MS for n in range(10)]
    one = {"__name__": "n", "cluster": "c"}
    series = [
        series_of({"__name__": "m", "cluster": "c", "topic": "t"}, times_ms, [1.0] * 10),
        series_of({**one, "i": "1"}, times_ms, [1.0] * 10),
        series_of({**one, "i": "2"}, times_ms[4:7], [1.0, 1.0, None]),
    ]
    lake = lake_of(tmp_path, series)
    file = rule("alert: A, expr: m * on (cluster) n > 0, for: 2m")
    found = previewed(lake, file, end_ms=START_MS + 10 * MINUTE_MS)
    assert [(firing.start_ms, firing.end_ms) for firing in found.firings] == [
        (START_MS + 2 * MINUTE_MS, None)
    ]
    assert [outcome.failures for _, outcome in found.outcomes] == [2]


def test_nothing_is_written(lake):
    before = {table: lake.version(table) for table in ("samples", "series")}
    previewed(lake, rule("alert: A, expr: m == 1"))
    assert {table: lake.version(table) for table in ("samples", "series")} == before


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["record: r, expr: m"], "no alerting rule"),
        (["alert: A, expr: m, labels: {x: '{{ $value }}'}"], "needs Go's templates"),
        (["record: a, expr: b", "record: b, expr: a", "alert: A, expr: b"], "read one another"),
    ],
)
def test_unsupported_preview_has_a_reason(lake, lines, says):
    with pytest.raises(InputError, match=says):
        plan_preview(lake, rule(*lines), None, START_MS, END_MS)


def test_too_large_preview_is_refused_first(lake, monkeypatch):
    file = rule("alert: A, expr: m == 1", interval="1s")
    with pytest.raises(InputError, match="too long for a preview"):
        plan_preview(lake, file, None, START_MS, END_MS)
    monkeypatch.setattr(module, "MOST_SAMPLES", 100)
    with pytest.raises(InputError, match="too many samples"):
        plan_preview(lake, rule("alert: A, expr: m == 1"), None, START_MS, END_MS)


def test_a_budget_ends_it(lake):
    file = rule("alert: A, expr: m == 1")
    with pytest.raises(QueryTimeoutError):
        previewed(lake, file, budget=Budget(timeout_s=0))
    with pytest.raises(QueryCancelledError):
        previewed(lake, file, budget=Budget(is_cancelled=lambda: True))
    with pytest.raises(TooManySamplesError):
        previewed(lake, file, budget=Budget(max_samples=1_000))
