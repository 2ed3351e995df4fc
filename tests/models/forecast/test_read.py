"""Traces out of samples: entries and messages, delayed entries, brokers that change, and whose they are."""

from __future__ import annotations

import numpy as np
import pytest

from throttlescope.models.forecast.read import traces_of, views_of_samples
from throttlescope.transforms.promql.source import MemorySource, Series

TIMES_MS = np.arange(0, 600_000, 15_000, dtype=np.int64)
TOPIC = "persistent://acme/shop/orders"
PLACE = {"cluster": "prod", "namespace": "acme/shop", "topic": TOPIC, "partition": "0"}


def series(metric: str, values, *, times_ms=TIMES_MS, **labels) -> Series:
    return Series(
        {"__name__": metric, "instance": "a:8080", **PLACE, **labels},
        np.asarray(times_ms, np.int64),
        np.broadcast_to(np.asarray(values, np.float64), len(times_ms)).copy(),
    )


def of_one(*more: Series, limits=()):
    billing = {"subscription": "billing"}
    items = [
        series("pulsar_subscription_back_log", 5000 + TIMES_MS / 1000, **billing),
        series("pulsar_subscription_delayed", 100, **billing),
        series("pulsar_in_messages_total", TIMES_MS / 1000 * 200),
        series("pulsar_storage_write_rate", 20),
        *more,
    ]
    return traces_of(MemorySource(items), limits, 0, 10**9), items


def test_trace_counts_backlog_and_arrivals_in_entries() -> None:
    traces, _ = of_one()
    ((key, trace),) = traces.items()
    assert key == ("prod", "acme/shop", TOPIC, 0, "billing")
    assert trace.backlog_entries.tolist() == (5000 + TIMES_MS / 1000).tolist()
    assert trace.ready_entries.tolist() == (4900 + TIMES_MS / 1000).tolist()
    # 200 messages per second in 20 entries: 3,000 messages or 300 entries between two scrapes.
    assert trace.in_entries[1:] == pytest.approx(np.full(len(TIMES_MS) - 1, 300.0), rel=0.01)
    assert (trace.step_s, trace.period_s) == (15.0, 1.0)
    assert trace.drained_below_entries == 100


def test_what_two_jobs_scraped_came_once() -> None:
    _, items = of_one()
    again = [Series({**one.labels, "job": "pods"}, one.timestamps_ms + 4000, one.values + 1) for one in items]
    (trace,) = traces_of(MemorySource([*items, *again]), (), 0, 10**9).values()
    assert trace.in_entries[1:].max() == pytest.approx(300.0, rel=0.02)


def test_longest_limit_period_decides_drained() -> None:
    row = {
        "cluster": "prod",
        "namespace": "acme/shop",
        "topic": TOPIC,
        "partition": 0,
        "subscription": "billing",
    }
    limits = [
        {**row, "rate_msg": 500, "rate_bytes": None, "period_s": 10},
        {**row, "rate_msg": None, "rate_bytes": None, "period_s": 60},
        {**row, "subscription": "audit", "rate_msg": 1, "rate_bytes": None, "period_s": 90},
    ]
    (trace,) = of_one(limits=limits)[0].values()
    assert trace.period_s == 10
    assert trace.drained_below_entries == pytest.approx(2 * 10 * 20, abs=2)


def test_system_topics_and_subscriptions_stay_separate() -> None:
    traces, _ = of_one(
        series("pulsar_subscription_back_log", 7, subscription="audit"),
        series(
            "pulsar_subscription_back_log",
            7,
            subscription="x",
            topic="persistent://acme/shop/__change_events",
        ),
    )
    assert [key.subscription for key in traces] == ["audit", "billing"]
    assert traces[next(iter(traces))].ready_entries.max() == 7


def test_moved_topic_continues_at_next_broker() -> None:
    half = len(TIMES_MS) // 2
    items = [
        series("pulsar_subscription_back_log", 1000, times_ms=TIMES_MS[:half], subscription="billing"),
        series(
            "pulsar_subscription_back_log",
            2000,
            times_ms=TIMES_MS[half:],
            subscription="billing",
            instance="b:1",
        ),
    ]
    (trace,) = traces_of(MemorySource(items), [], 0, 10**9).values()
    assert len(trace.times_ms) == len(TIMES_MS)
    assert trace.backlog_entries[half - 1 : half + 1].tolist() == [1000, 2000]
    # What came was not counted.
    assert np.isnan(trace.in_entries).all()
    assert trace.in_entries_per_s is None


def test_view_has_bytes_age_and_consumers() -> None:
    _, items = of_one()
    items += [
        series("pulsar_storage_backlog_size", 5e6, times_ms=TIMES_MS[4:]),
        series("pulsar_storage_backlog_age_seconds", -1),
        series("pulsar_subscription_consumers_count", 3, subscription="billing"),
        series("pulsar_subscription_consumers_count", 9, subscription="audit"),
    ]
    (view,) = views_of_samples(MemorySource(items), [], 0, 10**9)
    assert np.isnan(view.storage_bytes[:4]).all()
    assert (view.storage_bytes[4:] == 5e6).all()
    assert (view.topic_age_s, view.consumers) == (None, 3)
    (bare,) = views_of_samples(MemorySource(of_one()[1]), [], 0, 10**9)
    assert bare.consumers is None
    assert np.isnan(bare.storage_bytes).all()
