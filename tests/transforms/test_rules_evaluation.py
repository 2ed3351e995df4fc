"""Rules over series in memory: two ways of evaluation compared, failures, alerts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.transforms.rules_in_memory import results_of, scheduled, series_of
from tests.transforms.test_rules_promtool import END_MS, INTERVAL_MS, RULES, random_series
from throttlescope.transforms.rules.order import schedule
from throttlescope.transforms.rules.rule_file import RuleFileError, read_rule_file

MINUTE_MS = 60_000


def rules_of(tmp_path, *lines, interval_ms=MINUTE_MS, group="name: g"):
    """Rules of one group, a line of YAML each."""
    path = tmp_path / "some.rules.yml"
    path.write_text(
        f"groups:\n- {group}\n  rules:\n" + "".join(f"  - {{{line}}}\n" for line in lines), encoding="utf-8"
    )
    return scheduled(path, interval_ms)


def plain(results):
    """Results as plain values, in an order of their own."""
    return sorted(
        (sorted(one.labels.items()), one.timestamps_ms.tolist(), one.values.tolist(), one.stale_ms.tolist())
        for one in results
    )


def minutes(results, **labels):
    """Minutes of the samples and of the markers of the one series that has these labels."""
    (one,) = [one for one in results if labels.items() <= one.labels.items()]
    return (
        dict(zip((one.timestamps_ms // MINUTE_MS).tolist(), one.values.tolist(), strict=True)),
        (one.stale_ms // MINUTE_MS).tolist(),
    )


def gauge(values, **labels):
    """A sample a minute; None is a staleness marker, a blank nothing."""
    known = [(n * MINUTE_MS, value) for n, value in enumerate(values) if value != " "]
    return series_of(
        {"__name__": "m", **labels}, [time_ms for time_ms, _ in known], [value for _, value in known]
    )


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_range_evaluation_equals_single_moments(tmp_path, seed):
    path = tmp_path / "some.rules.yml"
    path.write_text(RULES)
    rules = scheduled(path, INTERVAL_MS)
    assert {rule.rule.name for rule in rules if rule.stepped} == {
        "r:behind", "r:count", "r:peak", "r:ahead", "r:end",
    }  # fmt: skip
    series = random_series(seed)
    at_once, evaluation = results_of(rules, series, 0, END_MS)
    stepped = [replace(rule, stepped=True) for rule in rules]
    step_by_step, other = results_of(stepped, series, 0, END_MS)
    assert plain(at_once) == plain(step_by_step)
    assert evaluation.outcomes == other.outcomes
    # Two instances of a job get the same labels; where only one of them is there it is written.
    failing = next(rule.number for rule in rules if rule.rule.name == "r:name")
    assert 0 < evaluation.outcomes[failing].failures < evaluation.outcomes[failing].evaluations


@pytest.mark.long
@pytest.mark.parametrize("spans", [[30_000], [100_000, 105_000, 420_000, 777_000], [1_200_001]])
def test_spans_do_not_show(tmp_path, spans):
    path = tmp_path / "some.rules.yml"
    path.write_text(RULES)
    rules = scheduled(path, INTERVAL_MS)
    series = random_series(5)
    whole, evaluation = results_of(rules, series, 0, END_MS)
    cut, other = results_of(rules, series, 0, END_MS, spans)
    assert plain(whole) == plain(cut)
    assert evaluation.outcomes == other.outcomes


def test_a_failed_evaluation_leaves_the_others_alone(tmp_path):
    rules = rules_of(
        tmp_path,
        "record: joined, expr: m * on (job) n",
        "alert: A, expr: m * on (job) n > 0, for: 3m, keep_firing_for: 1m",
    )
    left = gauge([1] * 8, job="a")
    # Two partners from minute 2 to 3, none from 5 to 6.
    one = replace(
        gauge([1, 1, 1, 1, 1, None, None, 1], job="a", i="1"), labels={"__name__": "n", "job": "a", "i": "1"}
    )
    two = replace(
        gauge([" ", " ", 2, 2, None, " ", " ", " "], job="a", i="2"),
        labels={"__name__": "n", "job": "a", "i": "2"},
    )
    results, evaluation = results_of(rules, [left, one, two], 0, 8 * MINUTE_MS)
    samples, stale = minutes(results, __name__="joined")
    assert (sorted(samples), stale) == ([0, 1, 4, 7], [5])
    # The alert is pending from minute 0 on, through the failures, and so fires at 4 (3 failed), until 5.
    assert minutes(results, alertstate="pending") == ({0: 1.0, 1: 1.0, 7: 1.0}, [4])
    assert minutes(results, alertstate="firing") == ({4: 1.0, 5: 1.0}, [6])
    outcome = evaluation.outcomes[0]
    assert (outcome.evaluations, outcome.failures) == (8, 2)
    assert outcome.first_error.startswith("1970-01-01T00:02:00Z: ")


def test_equal_labels_fail_where_they_meet(tmp_path):
    rules = rules_of(tmp_path, "record: r, expr: m, labels: {i: ''}", "alert: A, expr: m, labels: {i: x}")
    series = [gauge([1, 1, None, None], i="1"), gauge([" ", 2, 2, 2], i="2")]
    results, evaluation = results_of(rules, series, 0, 4 * MINUTE_MS)
    assert minutes(results, __name__="r") == ({0: 1.0, 2: 2.0, 3: 2.0}, [])
    assert minutes(results, __name__="ALERTS") == ({0: 1.0, 2: 1.0, 3: 1.0}, [])
    assert [outcome.failures for outcome in evaluation.outcomes.values()] == [1, 1]
    assert "same labelset after applying rule labels" in evaluation.outcomes[0].first_error
    assert "same labelset after applying alert labels" in evaluation.outcomes[1].first_error


def test_a_limit(tmp_path):
    rules = rules_of(
        tmp_path, "record: r, expr: m", "alert: A, expr: m, for: 1m", group="name: g\n  limit: 1"
    )
    series = [gauge([1] * 5, i="1"), gauge([" ", " ", 2, None, " "], i="2")]
    results, evaluation = results_of(rules, series, 0, 5 * MINUTE_MS)
    assert minutes(results, __name__="r") == ({0: 1.0, 1: 1.0, 3: 1.0, 4: 1.0}, [])
    # All alerts are forgotten when there are too many; what was written before goes stale when there are few again.
    assert minutes(results, alertstate="pending") == ({0: 1.0, 3: 1.0}, [1, 4])
    assert minutes(results, alertstate="firing") == ({1: 1.0, 4: 1.0}, [3])
    assert evaluation.outcomes[0].first_error.endswith("exceeded limit of 1 with 2 series")
    assert evaluation.outcomes[1].first_error.endswith("exceeded limit of 1 with 2 alerts")


def test_the_life_of_an_alert(tmp_path):
    rules = rules_of(
        tmp_path,
        "alert: Slow, expr: m > 0, for: 2m",
        "alert: Kept, expr: m > 0, keep_firing_for: 2m",
        # Neither 0 nor NaN ends an alert: only an element that is gone does.
        "alert: Any, expr: m",
    )
    series = gauge([1, 1, 1, 1, 0, 0, 1, 0, 0, float("nan"), None])
    results, _ = results_of(rules, [series], 0, 11 * MINUTE_MS)

    def of(name, state):
        samples, stale = minutes(results, alertname=name, alertstate=state)
        return sorted(samples), stale

    assert of("Slow", "pending") == ([0, 1, 6], [2, 7])
    assert of("Slow", "firing") == ([2, 3], [4])
    # Gone at 4: on until 2 minutes have passed.
    assert of("Kept", "firing") == ([0, 1, 2, 3, 4, 5, 6, 7, 8], [9])
    assert of("Any", "firing") == ([*range(10)], [10])
    since, stale = minutes(results, alertname="Slow", __name__="ALERTS_FOR_STATE")
    assert since == {0: 0, 1: 0, 2: 0, 3: 0, 6: 360}
    assert stale == [4, 7]


def test_first_of_two_equal_series_wins(tmp_path):
    rules = rules_of(
        tmp_path,
        "record: r, expr: m > 1",
        "record: r, expr: m * 10, labels: {i: '1'}",
        "record: seen, expr: r",
    )
    results, _ = results_of(rules, [gauge([1, 2, 3, 1], i="1")], 0, 4 * MINUTE_MS)
    # At minute 3 the first rule has nothing left and writes a marker, which is kept.
    assert minutes(results, __name__="r") == ({0: 10.0, 1: 2.0, 2: 3.0}, [3])
    assert minutes(results, __name__="seen") == ({0: 10.0, 1: 2.0, 2: 3.0}, [3])


def test_a_scalar_is_a_series_without_labels(tmp_path):
    results, _ = results_of(rules_of(tmp_path, "record: r, expr: time()"), [], 0, 2 * MINUTE_MS)
    assert [one.labels for one in results] == [{"__name__": "r"}]
    assert results[0].values.tolist() == [0.0, 60.0]


def test_groups_are_ordered_by_dependency(tmp_path):
    path = tmp_path / "some.rules.yml"
    path.write_text(
        "groups:\n"
        "- {name: last, interval: 2m, rules: [{record: c, expr: b + 1}]}\n"
        "- {name: middle, rules: [{record: b, expr: a + 1}]}\n"
        "- {name: first, interval: 30s, rules: [{record: a, expr: time()}]}\n"
    )
    rules = schedule([read_rule_file(path)], MINUTE_MS)
    assert [rule.rule.name for rule in rules] == ["a", "b", "c"]
    results, _ = results_of(rules, [], 0, 5 * MINUTE_MS)
    assert minutes(results, __name__="c") == ({0: 2.0, 2: 122.0, 4: 242.0}, [])
    one = next(one for one in results if one.labels["__name__"] == "a")
    assert np.diff(one.timestamps_ms).tolist() == [30_000] * 9


def test_a_cycle_across_files_is_refused(tmp_path):
    files = []
    for name, record, expr in (("one", "a", "b"), ("two", "b", "a")):
        path = tmp_path / f"{name}.yml"
        path.write_text(f"groups: [{{name: {name}, rules: [{{record: {record}, expr: {expr}}}]}}]")
        files.append(read_rule_file(path))
    with pytest.raises(RuleFileError, match=r"one.yml.*one reads two reads one"):
        schedule(files, MINUTE_MS)
