"""Rules over time compared with promtool: ``promtool test rules`` evaluates the same rules over the same samples.

Compared at every evaluation are what can be seen of the results, what was written at that very moment, and which alerts
fire.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest

from tests.transforms.rules_in_memory import promtool_objections, results_of, scheduled, series_of

pytestmark = pytest.mark.prometheus

SEEDS = range(int(os.environ.get("THROTTLESCOPE_RULES_SEEDS", "4")))
INTERVAL_MS, DATA_INTERVAL_MS, SCRAPES = 30_000, 15_000, 80
# Past the last sample: look-backs run out, alerts end.
END_MS = SCRAPES * DATA_INTERVAL_MS + 600_000

RULES = """
groups:
- name: chain
  labels: {team: core}
  rules:
  - {record: r:total, expr: "sum by (job) (m)", labels: {kind: sum, team: ""}}
  - {record: r:rate, expr: "rate(c[2m])"}
  - {record: r:chain, expr: "r:total * 2 + on(job) group_left() sum by (job) (r:rate)"}
  # The next three are seen as they were one evaluation ago: two by themselves, one by a rule before it.
  - {record: r:behind, expr: "r:late * 10"}
  - {record: r:count, expr: "(sum(r:count offset 1m) or vector(0)) + 1"}
  - {record: r:peak, expr: "max_over_time(r:peak[2m]) > ignoring (team) m or m"}
  - {record: r:window, expr: "count_over_time(r:total[5m])"}
  - {record: r:late, expr: "m > 3"}
  - {record: r:name, expr: "m", labels: {job: ""}, }
  - {alert: High, expr: "r:total > 12", for: 1m, labels: {severity: page, who: "{{ $labels.job }}!", of: "{{ $labels.no }}"}}
  - {alert: Keep, expr: "m > 8", for: 30s, keep_firing_for: 90s}
  - {alert: Now, expr: "r:chain or m * 0"}
  - {record: r:firing, expr: 'count by (alertname) (ALERTS{alertstate="firing", alertname!="Late"})'}
  - {record: r:since, expr: 'time() - ALERTS_FOR_STATE{alertname="High"}'}
  - {record: r:ahead, expr: "m offset -1m"}
  - {record: r:end, expr: "max_over_time((m @ end())[2m:])"}
  - {record: r:sub, expr: "avg_over_time(r:total[2m:])"}
- name: late
  query_offset: 1m
  rules:
  - {record: q:m, expr: "m"}
  - {record: q:total, expr: "r:total"}
  - {alert: Late, expr: "m > 5", for: 1m}
"""


def random_series(seed):
    numbers = random.Random(seed)  # noqa: S311
    series = []
    for job in "ab":
        for instance in "01":
            times, values = [], []
            for scrape in range(SCRAPES):
                odd = numbers.random()
                if odd >= 0.15:
                    times.append(scrape * DATA_INTERVAL_MS)
                    values.append(None if odd < 0.25 else float(numbers.randint(0, 10)))
            series.append(series_of({"__name__": "m", "job": job, "i": instance}, times, values))
        times = [n * DATA_INTERVAL_MS for n in range(SCRAPES) if numbers.random() < 0.9]
        count, values = 0.0, []
        for _ in times:
            count = count + numbers.randint(0, 5) if numbers.random() < 0.95 else 0.0
            values.append(count)
        series.append(series_of({"__name__": "c", "job": job}, times, values))
    return series


# r:name gives two series the same labels whenever two instances are there; promtool stops at an evaluation that fails.
WITHOUT_FAILURES = "\n".join(line for line in RULES.splitlines() if "r:name" not in line)


@pytest.fixture
def rules_file(tmp_path):
    path = tmp_path / "some.rules.yml"
    path.write_text(WITHOUT_FAILURES)
    return path


def objections(folder, path, rules, series, results):
    times_ms = list(range(0, END_MS, INTERVAL_MS))
    groups = ["chain", "late"]
    return promtool_objections(folder, path, rules, series, DATA_INTERVAL_MS, results, times_ms, groups)


@pytest.mark.parametrize("seed", SEEDS)
def test_promtool_agrees(tmp_path, rules_file, seed):
    rules = scheduled(rules_file, INTERVAL_MS)
    series = random_series(seed)
    results, evaluation = results_of(rules, series, 0, END_MS)
    assert all(outcome.samples for outcome in evaluation.outcomes.values()), seed
    assert not any(outcome.failures for outcome in evaluation.outcomes.values()), seed
    assert objections(tmp_path, rules_file, rules, series, results) == "", seed


def test_promtool_would_object(tmp_path, rules_file):
    rules = scheduled(rules_file, INTERVAL_MS)
    series = random_series(0)
    results, _ = results_of(rules, series, 0, END_MS)
    firing = next(n for n, one in enumerate(results) if one.labels.get("alertstate") == "firing")
    marked = next(n for n, one in enumerate(results) if len(one.stale_ms))
    without_sample = replace(
        results[firing], timestamps_ms=results[firing].timestamps_ms[1:], values=results[firing].values[1:]
    )
    without_marker = replace(results[marked], stale_ms=results[marked].stale_ms[1:])
    for number, wrong in ((firing, without_sample), (marked, without_marker)):
        tampered = [*results[:number], wrong, *results[number + 1 :]]
        assert "FAILED" in objections(tmp_path, rules_file, rules, series, tampered)
