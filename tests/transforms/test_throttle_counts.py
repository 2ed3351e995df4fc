"""Counts of the admin API against the six series: recorded ones agree, altered ones are found."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.transforms.lakes import lake_of, stats_row
from tests.transforms.recorded import recording_folder, unmoved_series
from throttlescope.ingest.sources.recording import read_recording
from throttlescope.transforms.promql.source import MemorySource, Series
from throttlescope.transforms.throttle_counts import check_throttle_counts, disagreements

T = 1_700_000_000_000
LABELS = {
    "cluster": "c",
    "namespace": "t/n",
    "topic": "persistent://t/n/x",
    "partition": "0",
    "subscription": "s",
}
KEY = {**LABELS, "partition": 0}
COUNT = "throttled_msg_events_topic"


def events(points, instance="i1"):
    labels = {
        **LABELS,
        "__name__": "pulsar_subscription_dispatch_throttled_msg_events",
        "reason": "topic",
        "instance": instance,
    }
    return Series(
        labels, np.array([T + s * 1000 for s, _ in points], np.int64), np.array([float(v) for _, v in points])
    )


@pytest.mark.parametrize(
    ("points", "count", "compared", "apart"),
    [
        ([(-15, 10), (15, 20)], 10, 1, 0),
        ([(-15, 10), (15, 20)], 20, 1, 0),
        ([(-15, 10), (15, 20)], 21, 1, 1),
        ([(-15, 10), (15, 20)], 9, 1, 1),
        # A scrape at the same moment does not tell which came first.
        ([(-15, 10), (1, 12), (15, 20)], 14, 1, 0),
        # A restart in between, no scrape behind, or none near: nothing is said.
        ([(-15, 10), (15, 3)], 99, 0, 0),
        ([(-15, 10)], 99, 0, 0),
        ([(-290, 10), (15, 20)], 99, 0, 0),
        ([], 99, 0, 0),
    ],
)
def test_count_lies_between_surrounding_scrapes(points, count, compared, apart):
    source = MemorySource([events(points)] if points else [])
    found, wrong = disagreements([stats_row(at_ms=T, **{COUNT: count}, **KEY)], source)
    assert (found, len(wrong)) == (compared, apart)


def test_one_of_two_instances_has_to_agree():
    source = MemorySource([events([(-15, 500), (15, 500)]), events([(-15, 1), (15, 5)], "i2")])
    assert disagreements([stats_row(at_ms=T, **{COUNT: 3}, **KEY)], source) == (1, [])


def test_the_widest_disagreement_is_the_example(tmp_path):
    stats = [stats_row(at_ms=T, **{COUNT: 25}, **KEY), stats_row(at_ms=T + 30_000, **{COUNT: 90}, **KEY)]
    lake = lake_of(tmp_path, [events([(-15, 10), (15, 20), (45, 30)])], stats=stats)
    (row,) = check_throttle_counts(lake, ["c"], T - 1, T + 60_000, run_id="r", now_ms=T).to_pylist()
    assert (row["success"], row["severity"], row["rows"]) == (False, "warning", 2)
    assert row["observed"] == "2 of 2 counts of the admin API lie outside the scrapes around them"
    example = json.loads(row["example"])
    assert (example["admin_api"], example["scrape_after"], example["apart"]) == (90, 30.0, 60.0)
    # Outside the range nothing is compared.
    assert check_throttle_counts(lake, ["c"], T + 60_000, T + 90_000, run_id="r", now_ms=T).num_rows == 0


@pytest.mark.parametrize("name", ["sub-msg-small", "topic-greedy-small", "healthy-bytes-1m"])
def test_a_real_broker_s_two_ways_agree(name):
    recording = read_recording(recording_folder(name))
    series = unmoved_series(name)
    compared, apart = disagreements(recording.topic_stats.to_pylist(), MemorySource(series))
    assert compared > 100
    assert apart == []
