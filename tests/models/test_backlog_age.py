"""Age of a backlog: the broker's own first, else an estimate from the publish history, else why there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.backlog_age import BacklogAge, backlog_age, reported_age

NAN = math.nan
#: Ten minutes at one entry per second, scraped every 15 s; acknowledged in order.
EVEN = {
    "in_msg_delta": [60.0] * 10,
    "in_span_ms": [60_000.0] * 10,
    "messages_per_entry": [1.0] * 10,
    "scrape_interval_ms": [15_000.0] * 10,
    "delayed_entries": [0.0] * 10,
    "mark_delete_age_s": [2.0] * 10,
    "last_ack_age_s": [2.0] * 10,
    "ack_msg_rate": [0.5] * 10,
}


def minutes(backlog: float, **changes) -> dict[str, np.ndarray]:
    columns = EVEN | changes
    count = len(columns["in_msg_delta"])
    found = {name: np.array(values[:count], np.float64) for name, values in columns.items()}
    return found | {
        "minute_ms": np.arange(count, dtype=np.float64) * MINUTE_MS,
        "backlog_entries": np.array([NAN] * (count - 1) + [backlog]),
    }


def nine_then(last: float) -> list[float]:
    return [NAN] * 9 + [last]


@pytest.mark.parametrize(
    ("metric_s", "admin_s", "age"),
    [
        (90.0, 80.0, BacklogAge(90.0, 90.0, 90.0, "metric")),
        (NAN, 80.0, BacklogAge(80.0, 80.0, 80.0, "admin_api")),
        (-1.0, None, None),
    ],
)
def test_metric_precedes_admin_answer(metric_s, admin_s, age):
    assert reported_age(metric_s, admin_s) == age


def test_reported_age_wins_over_the_estimate():
    found = backlog_age(minutes(300, subscription_backlog_age_s=nine_then(1234.0)))
    assert (found.source, found.age_s, found.low_s, found.high_s) == ("metric", 1234.0, 1234.0, 1234.0)


def test_even_publishing_gives_the_age():
    found = backlog_age(minutes(300))
    # The newest scrape is on average half an interval old.
    assert found.source == "publish_history"
    assert found.age_s == pytest.approx(307.5)
    assert found.low_s <= 300 * 0.98 + 1e-6
    assert found.high_s >= 300 * 1.02 + 15 - 1e-6


@pytest.mark.parametrize(("size", "backlog"), [(10.0, 30.0), (2.0, 150.0)])
def test_entries_are_batches(size, backlog):
    found = backlog_age(minutes(backlog, messages_per_entry=[size] * 10))
    assert found.age_s == pytest.approx(307.5)
    assert found.high_s - found.low_s > backlog_age(minutes(300)).high_s - backlog_age(minutes(300)).low_s


def test_written_entries_follow_changing_batch_sizes():
    """Batches of 5 and then of 20 at the same rate of messages: the broker writes fewer entries."""
    written = [12 / 60] * 5 + [3 / 60] * 5
    found = backlog_age(minutes(15 + 24, write_entry_rate=written))
    assert found.age_s == pytest.approx(5 * 60 + 2 * 60 + 7.5)


def test_rates_of_other_minutes_do_not_make_batches():
    """The broker's rate is renewed once a minute: with uneven publishing it is that of a minute before."""
    came = [60.0, 120.0, 60.0, 60.0, 30.0, 60.0, 60.0, 60.0, 60.0, 60.0]
    late = [value / 60 for value in [60.0, *came[:-1]]]
    found = backlog_age(minutes(300, in_msg_delta=came, write_entry_rate=late))
    assert found.age_s == pytest.approx(307.5)


def test_rate_that_is_not_computed_yet_is_no_pause():
    written = [0.0, 0.0] + [6 / 60] * 8
    found = backlog_age(minutes(54, write_entry_rate=written))
    assert found.age_s == pytest.approx(8 * 60 + 60 + 7.5)


def test_pause_in_publishing_makes_it_older():
    pause = [60.0] * 5 + [0.0] * 3 + [60.0] * 2
    assert backlog_age(minutes(180, in_msg_delta=pause)).age_s == pytest.approx(180 + 180 + 7.5)
    # The oldest came after the pause.
    assert backlog_age(minutes(120, in_msg_delta=pause)).age_s == pytest.approx(127.5)


def test_missed_scrape_is_bridged_by_its_span():
    came, spans = [60.0] * 10, [60_000.0] * 10
    came[6], spans[6] = NAN, NAN
    came[7], spans[7] = 120.0, 120_000.0
    found = backlog_age(minutes(300, in_msg_delta=came, in_span_ms=spans))
    assert found.age_s == pytest.approx(307.5)


def test_restart_ends_the_history():
    came = [60.0] * 10
    came[6] = NAN
    found = backlog_age(minutes(300, in_msg_delta=came))
    assert (found.unknown, found.source, found.low_s) == ("history_short", None, 180.0)
    assert backlog_age(minutes(100, in_msg_delta=came)).age_s == pytest.approx(107.5)


def test_longer_backlog_than_history_is_a_lower_bound():
    found = backlog_age(minutes(5000))
    assert (found.age_s, found.low_s, found.high_s, found.unknown) == (None, 600.0, None, "history_short")


def test_missing_row_ends_the_history():
    rows = minutes(300)
    keep = np.array([True] * 6 + [False] + [True] * 3)
    found = backlog_age({name: values[keep] for name, values in rows.items()})
    assert (found.unknown, found.low_s) == ("history_short", 180.0)


@pytest.mark.parametrize(
    ("changes", "unknown"),
    [
        ({"delayed_entries": nine_then(1.0)}, "delayed"),
        ({"filter_rejected_entry_rate_5m": nine_then(0.1)}, "filtered"),
        ({"expired_msg_delta": [0.0] * 8 + [3.0, 0.0]}, "expired"),
        ({"quota_evictions_5m": nine_then(1.0)}, "expired"),
        ({"messages_per_entry": [NAN] * 10}, "batch_size_unknown"),
        # Acknowledged for two minutes while the oldest one is not.
        ({"mark_delete_age_s": nine_then(122.0), "ack_msg_rate": [1.0] * 10}, "out_of_order"),
        ({"mark_delete_age_s": nine_then(NAN)}, "out_of_order"),
    ],
)
def test_unsound_estimates_are_not_made(changes, unknown):
    found = backlog_age(minutes(300, **changes))
    assert (found.age_s, found.source, found.unknown) == (None, None, unknown)


def test_expiry_before_the_backlog_does_not_matter():
    assert backlog_age(minutes(120, expired_msg_delta=[9.0] + [0.0] * 9)).source == "publish_history"


def test_short_gap_widens_the_interval_upwards():
    still = {"mark_delete_age_s": nine_then(32.0), "ack_msg_rate": [1.0] * 10}
    found, steady = backlog_age(minutes(300, **still)), backlog_age(minutes(300))
    assert found.low_s == steady.low_s
    assert found.high_s == pytest.approx(steady.high_s + 30, abs=1)


def test_nothing_acknowledged_yet_is_in_order():
    never = {name: nine_then(NAN) for name in ("mark_delete_age_s", "last_ack_age_s", "ack_msg_rate")}
    assert backlog_age(minutes(300, **never)).source == "publish_history"


@pytest.mark.parametrize(("backlog", "unknown"), [(NAN, "not_measured"), (0.0, "no_backlog")])
def test_no_backlog_has_no_age(backlog, unknown):
    assert backlog_age(minutes(backlog)) == BacklogAge(unknown=unknown)


def test_no_minutes_have_no_age():
    assert backlog_age({}).unknown == "not_measured"


def test_estimate_follows_single_messages():
    """A queue that moves every message: the truth lies in the interval at every minute."""
    random = np.random.default_rng(20261126)
    count, scrape_ms = 60, 15_000
    rates = random.uniform(0.5, 4.0, count).repeat(60)
    came_s = np.flatnonzero(random.random(count * 60) < rates / 4) + random.random()
    served = 0.6 * len(came_s) / count / 60
    came = np.histogram(came_s, np.arange(count + 1) * 60)[0].astype(float)
    inside = 0
    for end in range(10, count + 1):
        now_s = end * 60.0
        gone = int(served * now_s)
        waiting = came_s[gone:][came_s[gone:] < now_s]
        found = backlog_age(
            {
                "minute_ms": np.arange(end) * 60_000.0,
                "backlog_entries": np.array([NAN] * (end - 1) + [float(len(waiting))]),
                "in_msg_delta": came[:end],
                "in_span_ms": np.full(end, 60_000.0),
                "messages_per_entry": np.ones(end),
                "scrape_interval_ms": np.full(end, float(scrape_ms)),
            }
        )
        inside += found.low_s <= now_s - waiting[0] <= found.high_s
    assert inside >= 0.9 * (count - 9)
