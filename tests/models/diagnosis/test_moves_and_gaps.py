"""Samples in, verdict out: topics that move and return, scrapes that are missed, brokers whose clock is wrong."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from tests.models.diagnosis.scenes import growing, scene
from tests.transforms.lakes import limit_row, table_of
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.models.diagnosis.verdict import diagnose
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import MemorySource, Series

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
START_MS = 1_700_000_000_000 // HOUR_MS * HOUR_MS
TOPIC = {"cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/x", "partition": "-1"}
SUB = {**TOPIC, "subscription": "s"}
KEY = {**TOPIC, "partition": -1, "subscription": "s"}


class World:
    """One subscription over two hours, second by second, and where its topic is.

    Parameters
    ----------
    published, dispatched : callable
        Messages in a second.
    stays : sequence of (second, instance)
        From when on an instance serves the topic; its counters begin at 0 there.
    """

    def __init__(self, published, dispatched, stays, *, ticks=None):
        self.seconds = np.arange(-3600, 3600)
        self.flows = {
            "in": np.array([float(published(s)) for s in self.seconds]),
            "out": np.array([float(dispatched(s)) for s in self.seconds]),
            "ticks": np.array([float(ticks(s)) if ticks else 0.0 for s in self.seconds]),
        }
        self.stays = stays
        self.backlog = 50_000 + np.cumsum(self.flows["in"] - self.flows["out"])

    def stay(self, s):
        return max((stay for stay in self.stays if stay[0] <= s), key=lambda stay: stay[0])

    def counter(self, name, s):
        began, _ = self.stay(s)
        return self.flows[name][max(0, began + 3600) : s + 3600].sum()

    def series(self, *, every_s=15, missed=(), phase_s=None, names=None, clock_s=0, **target):
        """What Prometheus has of it.

        Parameters
        ----------
        missed : collection of int
            Scrapes (their second) that failed.
        phase_s : dict
            By instance the second of its scrapes.
        names : callable
            How the scraper calls an instance at a second.
        clock_s : float
            By how much the broker's clock is ahead.
        """
        points = {}
        for s in range(-3600, 3600):
            _, instance = self.stay(s)
            if (s - (phase_s or {}).get(instance, 0)) % every_s or s in missed:
                continue
            called = names(s) if names else instance
            now_ms = START_MS + (s + clock_s) * 1000
            flowing = now_ms if self.flows["out"][max(0, s + 3600 - 5) : s + 3600].sum() else now_ms - 600_000
            values = {
                ("pulsar_subscription_back_log", None): self.backlog[s + 3600],
                ("pulsar_subscription_back_log_no_delayed", None): self.backlog[s + 3600],
                ("pulsar_out_messages_total", None): self.counter("out", s),
                ("pulsar_out_bytes_total", None): 1000 * self.counter("out", s),
                ("pulsar_in_messages_total", "topic"): self.counter("in", s),
                ("pulsar_in_bytes_total", "topic"): 1000 * self.counter("in", s),
                ("pulsar_storage_write_rate", "topic"): 100.0,
                ("pulsar_subscription_consumers_count", None): 2.0,
                ("pulsar_subscription_unacked_messages", None): 0.0,
                ("pulsar_subscription_last_consumed_flow_timestamp", None): flowing - 1000,
                ("pulsar_subscription_last_acked_timestamp", None): flowing - 1000,
                ("pulsar_subscription_last_mark_delete_advanced_timestamp", None): flowing - 1000,
            }
            for unit in ("msg", "bytes"):
                for reason in ("broker", "topic", "subscription"):
                    ticks = self.counter("ticks", s) if (unit, reason) == ("msg", "subscription") else 0.0
                    values[f"pulsar_subscription_dispatch_throttled_{unit}_events", reason] = ticks
            for (name, kind), value in values.items():
                points.setdefault((name, kind, called), []).append((START_MS + s * 1000, value))
        return [
            Series(
                {
                    "__name__": name,
                    "instance": called,
                    **target,
                    **(TOPIC if kind == "topic" else SUB),
                    **({"reason": kind} if kind in ("broker", "topic", "subscription") and "throttled" in name else {}),
                },
                np.array([at for at, _ in some], np.int64),
                np.array([value for _, value in some], np.float64),
            )
            for (name, kind, called), some in sorted(points.items(), key=str)
        ]  # fmt: skip


def minutes_of(series, limits=(), stats=()):
    made = minute_rows(
        MemorySource(series), table_of("limits", limits), table_of("topic_stats", stats),
        START_MS, START_MS + HOUR_MS, {"c": START_MS + HOUR_MS},
    )  # fmt: skip
    return signals_of(made)


def verdicts(signals: pa.Table):
    """Verdicts of windows of five minutes, a new one each minute."""
    found = verdicts_of(signals, START_MS, START_MS + HOUR_MS, every_ms=MINUTE_MS)
    return sorted(found.to_pylist(), key=lambda row: row["window_start_ms"])


def sides(found):
    return Counter(row["side"] for row in found)


def limited(msg, level="subscription"):
    """A limit that was read before it all, and nothing on the other levels."""
    return [
        limit_row(one, at_ms=START_MS - HOUR_MS, **({"msg": msg} if one == level else {"set_by": "none"}), **KEY)
        for one in ("broker", "topic", "subscription")
    ]  # fmt: skip


LIMIT = 500
THERE_AND_BACK = [(-7200, "broker-0:8080"), (1000, "broker-1:8080"), (1607, "broker-0:8080")]


def throttled_world(stays, limit=LIMIT):
    """A limit of so many messages a second is used up throughout; clients are away for a second at each move."""
    moved = {began for began, _ in stays}
    return World(
        lambda s: 800,
        lambda s: 0 if s in moved else limit,
        stays,
        ticks=lambda s: 2,
    )


@pytest.mark.long
@pytest.mark.parametrize("every_s", [15, 30, 60])
def test_a_topic_that_returns_stays_throttled(every_s):
    phase_s = {"broker-0:8080": 4, "broker-1:8080": 11}
    series = throttled_world(THERE_AND_BACK).series(every_s=every_s, phase_s=phase_s)
    signals = minutes_of(series, limited(LIMIT))
    found = verdicts(signals)
    assert set(sides(found)) <= {"throttle", "unknown"}
    assert sides(found)["throttle"] >= len(found) - 5
    # No minute has a use that belongs to another time.
    assert min(rho for rho in signals["rho_subscription_msg"].to_pylist() if rho is not None) > 0.9


@pytest.mark.long
@pytest.mark.parametrize("began", [988, 700])
@pytest.mark.parametrize("returned_s", [1601, 1607, 1613])
def test_counter_that_returns_higher_is_new(began, returned_s):
    """It may have just begun at the first broker when the topic left it, so that it comes back above its old value."""
    stays = [
        (-7200, "broker-2:8080"),
        (began, "broker-0:8080"),
        (1000, "broker-1:8080"),
        (returned_s, "broker-0:8080"),
    ]
    found = verdicts(minutes_of(throttled_world(stays).series(), limited(LIMIT)))
    assert set(sides(found)) <= {"throttle", "unknown"}
    assert sides(found)["throttle"] >= len(found) - 10


@pytest.mark.parametrize("every_s", [15, 60])
def test_a_rolling_restart_names_no_other_side(every_s):
    stays = [(-7200, "b0"), (600, "b1"), (690, "b2"), (780, "b0"), (870, "b0"), (1500, "b0"), (1560, "b1")]
    phase_s = {"b0": 4, "b1": 9, "b2": 13}
    found = verdicts(
        minutes_of(throttled_world(stays).series(every_s=every_s, phase_s=phase_s), limited(LIMIT))
    )
    assert set(sides(found)) <= {"throttle", "unknown"}


def slow_world(rate_before=1000, rate=900, change_s=1230):
    """A thousand messages a second are published; the consumers do nine hundred from a moment on."""
    world = World(
        lambda s: 1000, lambda s: rate if s >= change_s else rate_before, [(-7200, "broker-0:8080")]
    )
    world.backlog = world.backlog - 50_000
    return world


def test_missed_scrapes_make_no_burst():
    missed = {1080, 1200}
    signals = minutes_of(slow_world().series(every_s=60, missed=missed), limited(5000))
    found = verdicts(signals)
    assert not [row for row in found if row["cause"] == "publish_burst"]
    late = [row for row in found if row["window_start_ms"] >= START_MS + 1260 * 1000]
    assert {row["cause"] for row in late} == {"slow_consumers"}


def test_minute_after_outage_is_unknown():
    """After a long outage of Prometheus."""
    missed = set(range(1100, 1900))
    signals = minutes_of(slow_world(change_s=1850).series(missed=missed), limited(1000))
    rates = {
        (row["minute_ms"] - START_MS) // MINUTE_MS: row["rho_subscription_msg"] for row in signals.to_pylist()
    }
    assert rates[31] is None
    assert rates[32] == pytest.approx(0.9)


@pytest.mark.long
def test_second_scrape_job_changes_no_verdict():
    # The limit is below a read's batch: its counter ticks on every read.
    world = World(lambda s: 80, lambda s: 45, [(-7200, "broker-0:8080")], ticks=lambda s: 5)
    once = world.series(job="brokers")
    again = world.series(job="pods", phase_s={"broker-0:8080": 6}, names=lambda s: "10.0.0.7:8080")
    alone = verdicts(minutes_of(once, limited(90)))
    both = verdicts(minutes_of(once + again, limited(90)))
    assert [row["cause"] for row in both] == [row["cause"] for row in alone]
    assert {row["cause"] for row in both} == {"slow_consumers"}


@pytest.mark.long
@pytest.mark.parametrize("clock_s", [-300, -120, 120, 300, 86_400])
def test_wrong_broker_clock_changes_no_side(clock_s):
    for limit, rate, side in ((LIMIT, LIMIT, "throttle"), (5000, 450, "consumer_capacity")):
        world = World(
            lambda s: 800,
            lambda s, rate=rate: rate,
            [(-7200, "broker-0:8080")],
            ticks=lambda s, limit=limit: 2 if limit == LIMIT else 0,
        )
        found = verdicts(minutes_of(world.series(clock_s=clock_s), limited(limit)))
        assert set(sides(found)) <= {side, "unknown"}, clock_s


@pytest.mark.parametrize("every_s", [15, 60])
def test_new_instance_name_at_restart_is_handled(every_s):
    stays = [(-7200, "10.0.0.1"), (600, "10.0.0.2"), (1500, "10.0.0.3"), (1800, "10.0.0.4")]
    found = verdicts(minutes_of(throttled_world(stays).series(every_s=every_s), limited(LIMIT)))
    assert set(sides(found)) <= {"throttle", "unknown"}
    assert sides(found)["throttle"] >= len(found) - 5


def test_renamed_instance_is_no_burst():
    world = throttled_world([(-7200, "broker-0:8080")])
    series = world.series(names=lambda s: "broker-0:8080" if s < 1200 else "10.0.0.7:8080")
    found = verdicts(minutes_of(series, limited(LIMIT)))
    assert set(sides(found)) == {"throttle"}


def test_clusters_of_one_name_never_mislead():
    """Their verdicts are unknown or right."""
    one = throttled_world([(-7200, "east-0:8080")])
    other = World(lambda s: 200, lambda s: 200, [(-7200, "west-0:8080")])
    other.backlog = other.backlog * 0
    found = verdicts(minutes_of(one.series() + other.series(phase_s={"west-0:8080": 7}), limited(LIMIT)))
    assert set(sides(found)) <= {"throttle", "unknown"}


@pytest.mark.parametrize(("refill", "cause"), [(100.0, "hung_consumers"), (4000.0, "slow_consumers")])
def test_hung_consumers_take_one_queue_more(refill, cause):
    """After a move of the topic."""
    hanging = {
        "in_rate": 37.0, "backlog": growing(1000, 37), "permits": [0.0, 0.0, 0.0, 50.0, 0.0], "starved": 1.0, "unacked": 1000.0,
        "ack_rate": 0.0, "ack_age_s": [300.0, 360.0, 420.0, None, None], "flow_age_s": [300.0, 360.0, 420.0, 30.0, 90.0],
        "out_rate": [0.0, 0.0, 0.0, refill / 60, 0.0], "moved": [False, False, False, True, False],
    }  # fmt: skip
    assert diagnose(scene(**hanging)).cause == cause
