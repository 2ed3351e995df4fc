"""Limits that are old, shared or not applied, from samples and answers of the admin API to the verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from tests.transforms.lakes import limit_row, table_of
from throttlescope.models.diagnosis.verdict import Verdict, diagnose
from throttlescope.models.diagnosis.window import MinuteColumns, Window, by_subscription
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import MemorySource, Series

HOUR_MS, DAY_MS, SCRAPE_S = 3_600_000, 86_400_000, 15
START_MS = 1_700_000_000_000 // HOUR_MS * HOUR_MS
#: The window that is judged: five minutes, half an hour into the samples.
WINDOW_MS = (START_MS + 30 * 60_000, START_MS + 35 * 60_000)
LEVELS = ("broker", "topic", "subscription")


@dataclass(frozen=True)
class Flow:
    """A subscription with an Exclusive consumer, nothing but the broker's default metrics.

    Attributes
    ----------
    events_per_s : dict
        Throttled reads by level, of messages.
    """

    topic: str = "persistent://acme/shop/orders"
    subscription: str = "billing"
    in_per_s: float = 1100.0
    out_per_s: float = 1000.0
    backlog: float = 5000.0
    events_per_s: tuple[tuple[str, float], ...] = ()

    @property
    def labels(self) -> dict[str, str]:
        namespace = "/".join(self.topic.split("://")[1].split("/")[:2])
        return {"cluster": "prod", "namespace": namespace, "topic": self.topic, "partition": "-1"}

    @property
    def key(self) -> dict:
        return {**self.labels, "partition": -1, "subscription": self.subscription}

    def series(self) -> list[Series]:
        of_sub = {**self.labels, "subscription": self.subscription}
        grows = self.in_per_s - self.out_per_s
        backlog = [
            gauge(f"pulsar_subscription_back_log{kind}", of_sub, self.backlog, grows)
            for kind in ("", "_no_delayed")
        ]
        events = dict.fromkeys(LEVELS, 0.0) | dict(self.events_per_s)
        return [
            *backlog,
            gauge("pulsar_subscription_consumers_count", of_sub, 1.0),
            gauge("pulsar_out_messages_total", of_sub, 1e6, self.out_per_s),
            gauge("pulsar_in_messages_total", self.labels, 1e6, self.in_per_s),
            gauge("pulsar_storage_write_rate", self.labels, self.in_per_s),
            *(
                gauge("pulsar_subscription_dispatch_throttled_msg_events", {**of_sub, "reason": level}, 0.0, per_s)
                for level, per_s in events.items()
            ),
            *(
                gauge("pulsar_subscription_dispatch_throttled_bytes_events", {**of_sub, "reason": level}, 0.0)
                for level in LEVELS
            ),
        ]  # fmt: skip

    def limits(self, at_ms: int, **more) -> list[dict]:
        """A snapshot: no limit at any level but those that ``more`` gives, as ``subscription=1000``."""
        facts = {name: value for name, value in more.items() if name not in LEVELS}
        return [
            limit_row(
                level, at_ms=at_ms, msg=more.get(level), set_by="topic_policy" if more.get(level) else "none",
                **self.key, **facts,
            )
            for level in LEVELS
        ]  # fmt: skip


def gauge(
    name: str, labels: dict[str, str], first: float, per_s: float = 0.0, instance: str = "b1:8080"
) -> Series:
    seconds = np.arange(-300, 45 * 60, SCRAPE_S)
    return Series(
        {"__name__": name, "instance": instance, **labels},
        START_MS + seconds * 1000,
        first + per_s * np.maximum(seconds, -300.0) + 300 * per_s,
        np.empty(0, np.int64),
    )


def broker_rate(per_s: float) -> Series:
    return gauge("pulsar_broker_rate_out", {"cluster": "prod"}, per_s)


def judged(flows: list[Flow], limits: list[dict], *more: Series) -> dict[str, Verdict]:
    """Verdicts of one window by subscription."""
    series = [one for flow in flows for one in flow.series()] + list(more)
    minutes = minute_rows(
        MemorySource(series), table_of("limits", limits), table_of("topic_stats", []),
        START_MS, START_MS + HOUR_MS, {"prod": START_MS + 45 * 60_000},
    )  # fmt: skip
    rows = signals_of(minutes)
    inside = pa.array([WINDOW_MS[0] <= ms < WINDOW_MS[1] for ms in rows["minute_ms"].to_pylist()])
    return {
        key.subscription: diagnose(Window(key, *WINDOW_MS, MinuteColumns(part), 0, part.num_rows))
        for key, part in by_subscription(rows.filter(inside))
    }


def missing(verdict: Verdict) -> str:
    return "; ".join(one.what for one in verdict.missing_evidence)


THROTTLED = Flow(events_per_s=(("subscription", 1.0),))


@pytest.mark.long
def test_six_day_old_limit_is_not_current():
    verdict = judged([THROTTLED], THROTTLED.limits(START_MS - 6 * DAY_MS, subscription=5000))["billing"]
    assert (verdict.cause, verdict.limiter) == ("throttled", "subscription.msg")
    assert "they were read 6 d before the window's end" in missing(verdict)


def test_answer_after_window_replaces_old_one():
    """The older one is of the last incident."""
    limits = [
        *THROTTLED.limits(START_MS - 6 * DAY_MS, subscription=5000),
        *THROTTLED.limits(START_MS + 50 * 60_000, subscription=1000),
    ]
    verdict = judged([THROTTLED], limits)["billing"]
    assert (verdict.cause, verdict.limiter) == ("throttled", "subscription.msg")
    at_limit = next(row for row in verdict.evidence if row.symptom == "limiter_at_limit")
    assert at_limit.weight == "for"
    assert "1,000 msg/s" in at_limit.text


BILLING = Flow(in_per_s=500.0, out_per_s=400.0, events_per_s=(("broker", 1.0),))


def test_partly_read_broker_leaves_use_unknown():
    """Only one of its namespaces was read."""
    # 3,600 of the 4,000 msg/s go to a namespace that was not matched.
    verdict = judged([BILLING], BILLING.limits(START_MS, broker=4000), broker_rate(4000.0))["billing"]
    assert verdict.side in ("throttle", "unknown")
    assert "only part of this broker's traffic was read: 10 %" in missing(verdict)
    assert verdict.limiter in ("broker.msg", None)


def test_events_of_partly_read_broker_are_unknown():
    few = Flow(in_per_s=20.0, out_per_s=10.0, events_per_s=(("broker", 2.0),))
    verdict = judged([few], few.limits(START_MS, broker=90), broker_rate(90.0))["billing"]
    assert verdict.side == "unknown"
    assert verdict.why.startswith("only part of this broker's traffic was read")


def test_fully_read_broker_keeps_its_use():
    neighbour = Flow("persistent://acme/other/logs", "audit", in_per_s=3600.0, out_per_s=3600.0, backlog=0.0)
    limits = [*BILLING.limits(START_MS, broker=4000), *neighbour.limits(START_MS, broker=4000)]
    verdict = judged([BILLING, neighbour], limits, broker_rate(4000.0))["billing"]
    assert (verdict.cause, verdict.limiter) == ("throttled", "broker.msg")
    assert verdict.confidence > 0.7
    assert "traffic was read" not in missing(verdict)
    # A neighbour that takes little leaves the limit far, and its use is believed: events of a far limit are few here.
    quiet = Flow(in_per_s=500.0, out_per_s=400.0)
    verdict = judged([quiet], quiet.limits(START_MS, broker=4000), broker_rate(400.0))["billing"]
    assert verdict.cause == "slow_consumers"


def test_broker_use_needs_its_own_rate():
    verdict = judged([BILLING], BILLING.limits(START_MS, broker=4000))["billing"]
    assert verdict.side in ("throttle", "unknown")
    assert "pulsar_broker_rate_out" in missing(verdict)


def test_partly_read_topic_leaves_use_unknown():
    """Only one of its subscriptions was read."""
    few = Flow(in_per_s=20.0, out_per_s=10.0, events_per_s=(("topic", 2.0),))
    other = Flow(subscription="audit", in_per_s=20.0, out_per_s=50.0)
    limits = [*few.limits(START_MS, topic=60), *other.limits(START_MS, topic=60)]
    part = judged([few], limits)["billing"]
    assert part.side == "unknown"
    assert part.why.startswith("only part of this topic's traffic was read")
    assert "50 % of its subscriptions" in missing(part)
    assert judged([few, other], limits)["billing"].cause == "throttled"


def test_exempt_traffic_is_no_shared_use():
    # The neighbour is caught up and exempt: its 950 msg/s are not counted by the topic's limit of 1,000.
    slow = Flow(in_per_s=100.0, out_per_s=50.0, events_per_s=(("topic", 1.0),))
    fast = Flow(subscription="audit", in_per_s=950.0, out_per_s=950.0, backlog=10.0)
    counted = [*slow.limits(START_MS, topic=1000), *fast.limits(START_MS, topic=1000)]
    exempt = [row | {"exempt_caught_up": True} for row in counted]
    assert judged([slow, fast], counted)["billing"].cause == "throttled"
    assert judged([slow, fast], exempt)["billing"].side != "throttle"


def test_own_limit_is_ignored_while_caught_up():
    # 300 entries wait and no limiter is applied to so few, although 100 of 100 msg/s are used.
    caught_up = Flow(in_per_s=100.4, out_per_s=100.0, backlog=300.0 - 0.4 * 33 * 60)
    limits = [row | {"exempt_caught_up": True} for row in caught_up.limits(START_MS, subscription=100)]
    verdict = judged([caught_up], limits)["billing"]
    assert next(one for one in verdict.symptoms.limiters if one.name == "subscription.msg").rho is None
    assert verdict.side != "throttle"


def test_two_clusters_under_one_label_are_unknown():
    # The same names in both: here the consumers of one are slow, there a limit binds.
    here = Flow(in_per_s=500.0, out_per_s=400.0)
    there = [
        Series({**one.labels, "instance": "c2-b1:8080"}, one.timestamps_ms + 4_000, one.values, one.stale_ms)
        for one in THROTTLED.series()
    ]
    verdict = judged([here], here.limits(START_MS, subscription=1000), *there)["billing"]
    assert verdict.side == "unknown"
    assert verdict.why == "several brokers show the subscription at the same time"
    assert "--cluster NAME" in "; ".join(one.fix for one in verdict.missing_evidence)
