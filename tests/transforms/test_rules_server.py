"""Rules compared with a running Prometheus: its rule manager on live samples, ours on the same samples afterwards.

The samples are written ahead of time, so that the server sees at each moment what we see later. Its evaluations lie a
constant span behind the multiples of the interval (a hash of the group); all times are moved by it before ours begin.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace

import numpy as np
import pytest
import requests
import yaml

from tests.lab.prometheus import STALE, running_prometheus, write_series
from tests.transforms.rules_in_memory import results_of, scheduled, series_of
from throttlescope.ingest.core.selector import parse_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.sources.remote_read import RemoteRead

pytestmark = pytest.mark.prometheus

INTERVAL_MS = 1_000
RUNS_S = 25
SEED = 7

RULES = """
groups:
- name: live
  interval: 1s
  rules:
  - {record: r:total, expr: sum by (job) (m), labels: {kind: sum}}
  - {record: r:behind, expr: "r:late + 0"}
  - {record: r:count, expr: (r:count offset 1s or vector(0)) + 1}
  - {record: r:late, expr: "r:total > 8"}
  # Two instances of a job are one too many: such an evaluation fails.
  - {record: r:joined, expr: n * on (job) m}
  - {alert: High, expr: "r:total > 8", for: 2s, labels: {severity: page, where: "{{ $labels.job }}"}}
  - {alert: Kept, expr: "r:total > 12", keep_firing_for: 3s}
  - {alert: Joined, expr: "n * on (job) m > 2", for: 2s}
  - {record: r:firing, expr: 'count by (alertname) (ALERTS{alertstate="firing"})'}
  - {record: r:beat, expr: vector(1)}
"""


def live_samples(start_ms):
    """Two gauges for a minute, half a second apart; instances come and go."""
    numbers = random.Random(SEED)  # noqa: S311
    times_ms = [start_ms + n * 500 for n in range(-20, 2 * RUNS_S + 60)]
    for job in "ab":
        yield series_of(
            {"__name__": "n", "job": job}, times_ms, [float(numbers.randint(0, 3)) for _ in times_ms]
        )
        for instance in "01":
            values, there = [], True
            for _ in times_ms:
                there = there ^ (numbers.random() < 0.2)
                values.append(float(numbers.randint(0, 9)) if there else None)
            yield series_of({"__name__": "m", "job": job, "i": instance}, times_ms, values)


def samples_of(series):
    """Samples and staleness markers as :func:`write_series` takes them."""
    samples = zip(series.timestamps_ms.tolist(), series.values.tolist(), strict=True)
    markers = ((time_ms, STALE) for time_ms in series.stale_ms.tolist())
    return sorted((*samples, *markers), key=lambda pair: pair[0])


def read(url, text, start_ms, end_ms):
    """Series with their staleness markers, which only remote read has."""
    batches = RemoteRead(url).read(parse_selector(text), start_ms, end_ms, Meter())
    return {one.labels: one for batch in batches for one in batch}


def observed(folder):
    """Samples as they were written, what a server made of them, rules that failed there, when it evaluated, and how often without a miss."""
    rules_file = folder / "live.rules.yml"
    rules_file.write_text(RULES)
    flags = ("--web.enable-lifecycle", "--storage.remote.read-sample-limit=0")
    with running_prometheus(extra_flags=flags) as server:
        begin_ms = time.time_ns() // 1_000_000
        series = list(live_samples(begin_ms))
        write_series(server.url, ((one.labels, samples_of(one)) for one in series))
        config = yaml.safe_load(server.config_file.read_text())
        config["rule_files"] = [str(rules_file)]
        server.config_file.write_text(yaml.safe_dump(config))
        requests.post(f"{server.url}/-/reload", timeout=30).raise_for_status()
        time.sleep(RUNS_S + 2)
        end_ms = time.time_ns() // 1_000_000
        theirs = read(server.url, '{__name__=~"r:.*|ALERTS|ALERTS_FOR_STATE"}', begin_ms, end_ms)
        failed = {
            rule["name"]: rule["lastError"]
            for group in requests.get(f"{server.url}/api/v1/rules", timeout=30).json()["data"]["groups"]
            for rule in group["rules"]
            if rule["health"] == "err"
        }
    # The last rule of the group tells when it was evaluated, and that all others were.
    moments = theirs[(("__name__", "r:beat"),)].timestamps_ms
    whole = int(np.flatnonzero(np.append(np.diff(moments), 0) != INTERVAL_MS)[0]) + 1
    return rules_file, series, theirs, failed, moments, whole


def test_a_running_prometheus_writes_the_same(tmp_path):
    # A server that waits for a processor misses an evaluation: all of them are requested once more.
    for attempt in range(4):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        rules_file, series, theirs, failed, moments, whole = observed(folder)
        if whole >= 15:
            break
    assert whole >= 15, "the server missed evaluations four times"
    behind_ms = int(moments[0]) % INTERVAL_MS
    first_ms, after_ms = int(moments[0]), int(moments[whole - 1]) + 1

    rules = scheduled(rules_file, INTERVAL_MS)
    moved = [
        replace(one, timestamps_ms=one.timestamps_ms - behind_ms, stale_ms=one.stale_ms - behind_ms)
        for one in series
    ]
    results, evaluation = results_of(rules, moved, first_ms - behind_ms, after_ms - behind_ms)
    ours = {
        tuple(sorted(one.labels.items())): (
            (one.timestamps_ms + behind_ms).tolist(),
            one.values.tolist(),
            (one.stale_ms + behind_ms).tolist(),
        )
        for one in results
    }
    expected = {}
    for labels, one in theirs.items():
        here = one.timestamps_ms < after_ms
        ended = one.stale_ms[one.stale_ms < after_ms].tolist()
        if here.any() or ended:
            expected[labels] = (one.timestamps_ms[here].tolist(), one.values[here].tolist(), ended)
    assert ours == expected
    seen = {dict(labels).get("alertstate") for labels in ours}
    assert {"pending", "firing"} <= seen
    outcomes = {rule.rule.name: evaluation.outcomes[rule.number] for rule in rules}
    assert 0 < outcomes["r:joined"].failures < outcomes["r:joined"].evaluations
    assert set(failed) <= {name for name, outcome in outcomes.items() if outcome.failures}
