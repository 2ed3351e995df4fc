"""Forecasts of a topic at a time: drains and deadlines whose moment is known by arithmetic."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.models.forecast.minutes import HOUR_MS, TOPIC, end_ms, rows_of, table_of
from tests.models.forecast.policies import NOT_ASKED, policies, quota
from throttlescope.ingest.contracts import TABLES
from throttlescope.models.forecast.apply import forecasts_of

SIZE, AGE = "destination_storage", "message_age"
MINUTE_MS = 60_000


def made(rows: list[dict], at_ms: int, answers: list[dict] | None = None) -> dict[tuple[str, str], dict]:
    """Forecasts at a time by subscription and kind."""
    found = forecasts_of(table_of(rows), policies() if answers is None else answers, [at_ms])
    TABLES["forecasts"].conform(found)
    return {(row["subscription"], row["kind"]): row for row in found.to_pylist()}


def one(rows: list[dict], at_ms: int, kind: str, answers: list[dict] | None = None) -> dict:
    return made(rows, at_ms, answers)["billing", kind]


GROWING = [1000.0 * n for n in range(1, 31)]
#: 4,000 entries less every minute, 80,200 left when 30 minutes are over; 12,000 and fewer are none (2 s of arrivals: 200).
FALLING = [80_200.0 + 4000 * (29 - n) for n in range(30)]


def test_line_is_extrapolated_to_zero() -> None:
    row = one(rows_of(FALLING), end_ms(30), "drain")
    assert (row["state"], row["now"], row["threshold"], row["unit"]) == (
        "expected",
        80_200.0,
        200.0,
        "entries",
    )
    assert row["change_per_s"] == pytest.approx(-4000 / 60)
    # 20 minutes, and half a minute until a sample shows it; the calibration moves it by a few per cent.
    assert row["predicted_ms"] - end_ms(30) == pytest.approx(20.5 * MINUTE_MS, rel=0.05)
    assert row["low_ms"] < row["predicted_ms"] < row["high_ms"]
    assert 0.9 < row["probability"] <= 1
    assert (row["points"], row["window_start_ms"]) == (30, end_ms(1))


def test_later_samples_are_not_read() -> None:
    rows = rows_of([*FALLING, *[500_000.0] * 5])
    assert one(rows, end_ms(30), "drain") == one(rows_of(FALLING), end_ms(30), "drain")
    assert one(rows, end_ms(35), "drain")["state"] == "never"


@pytest.mark.parametrize(
    ("backlogs", "state", "change"),
    [(GROWING, "never", 1000 / 60), ([5000.0] * 30, "never", 0.0), (GROWING[:2], "unknown", None)],
)
def test_backlog_not_falling_never_drains(backlogs, state, change) -> None:
    row = one(rows_of(backlogs), end_ms(len(backlogs)), "drain")
    assert row["state"] == state
    assert row["predicted_ms"] is row["low_ms"] is row["high_ms"] is row["probability"] is None
    assert row["change_per_s"] == (None if change is None else pytest.approx(change))


@pytest.mark.parametrize(("rise", "state"), [(500.0, "expected"), (1500.0, "unknown")])
def test_risen_newest_sample_contradicts_line(rise: float, state: str) -> None:
    # Uneven enough that one point bends no line.
    uneven = [value + 3000 * (n % 2) for n, value in enumerate(FALLING)]
    row = one(rows_of([*uneven, uneven[-1] + rise]), end_ms(31), "drain")
    assert row["state"] == state
    assert (row["predicted_ms"] is None) == (state == "unknown")
    assert ("the newest sample rose" in row["basis"]) == (state == "unknown")


@pytest.mark.parametrize(("off", "state"), [(1000.0, "expected"), (20_000.0, "unknown")])
def test_curved_stretch_gives_no_forecast(off: float, state: str) -> None:
    """Every third point lies below the line that falls by 116,000 in 29 minutes."""
    uneven = [value - off * (n % 3 == 1) for n, value in enumerate(FALLING)]
    row = one(rows_of(uneven), end_ms(30), "drain")
    assert row["state"] == state
    assert ("not in a straight line" in row["basis"]) == (state == "unknown")


def test_old_minutes_say_nothing_about_now() -> None:
    row = one(rows_of(FALLING), end_ms(30) + 10 * MINUTE_MS, "drain")
    assert row["state"] == "unknown"


def test_no_backlog_has_no_forecast() -> None:
    assert made(rows_of([50.0] * 20), end_ms(20)) == {}
    assert made(rows_of([None] * 20), end_ms(20)) == {}
    assert made(rows_of([0.0] * 20), end_ms(20), policies(topic_message_ttl=60)) == {}


def test_gaps_and_missing_arrivals_are_no_zeroes() -> None:
    backlogs = [*FALLING[:10], *[None] * 5, *FALLING[15:]]
    row = one(rows_of(backlogs, in_msg_delta=None), end_ms(30), "drain")
    assert row["change_per_s"] == pytest.approx(-4000 / 60)
    assert row["threshold"] == 100


def test_few_unconsumed_messages_are_lost_too() -> None:
    rows = made(
        rows_of([40.0] * 20, in_msg_delta=[40.0] + [0.0] * 19, consumers=0.0),
        end_ms(20),
        policies(topic_message_ttl=3600),
    )
    assert list(rows) == [("billing", "ttl")]
    # With the same entries always new, nothing is said.
    assert made(rows_of([40.0] * 20), end_ms(20), policies(topic_message_ttl=3600)) == {}


#: Nothing is consumed: 6,000 entries come each minute and all of them stay.
STALLED = [6000.0 * n for n in range(1, 31)]
TTL = policies(topic_message_ttl=3600)


def test_stalled_backlog_expires_with_oldest_message() -> None:
    row = one(rows_of(STALLED, consumers=0.0), end_ms(30), "ttl", TTL)
    # The first minute's came before the first sample; they are taken to have come like the others.
    assert (row["state"], row["unit"], row["threshold"], row["set_by"]) == (
        "expected",
        "s",
        3600.0,
        "topic_policy",
    )
    assert row["now"] == pytest.approx(30 * 60)
    # A minute may hide when it came.
    assert row["low_ms"] == end_ms(30) + 1800_000 - MINUTE_MS


def test_loss_comes_at_first_later_check() -> None:
    backlogs = [100.0] * 10 + [100.0 + 6000.0 * n for n in range(1, 21)]
    row = one(rows_of(backlogs, consumers=0.0), end_ms(30), "ttl", TTL)
    crossed_ms = end_ms(10) + 3600_000
    assert row["low_ms"] == pytest.approx(crossed_ms - MINUTE_MS, abs=1500)
    assert row["high_ms"] == pytest.approx(crossed_ms + 300_000, abs=1500)
    assert row["predicted_ms"] == pytest.approx(crossed_ms + 150_000, abs=1500)
    assert row["check_interval_ms"] == 300_000
    assert "older than 1 h" in row["consequence"]
    assert "No retention keeps them" in row["consequence"]


def test_fast_enough_consumers_prevent_loss() -> None:
    # Arrivals 100/s, consumed 99/s: what waits is a minute old at most.
    backlogs = [3000.0 + 60 * n for n in range(30)]
    row = one(rows_of(backlogs), end_ms(30), "ttl", policies(topic_message_ttl=86_400))
    # One second more for every hundred: a day is reached after some hundred days, but it is reached.
    assert row["state"] == "expected"
    assert row["low_ms"] - end_ms(30) > 30 * 86_400_000
    steady = one(rows_of([3000.0] * 30), end_ms(30), "ttl", policies(topic_message_ttl=3600))
    assert steady["state"] == "never"
    assert steady["now"] == pytest.approx(30)


def test_small_consumed_backlog_has_longer_ttl() -> None:
    """1.5 times as long."""
    few = [10.0] * 10 + [10.0 + 45 * n for n in range(1, 21)]
    kept = one(rows_of(few, in_msg_delta=45.0), end_ms(30), "ttl", TTL)
    alone = one(rows_of(few, in_msg_delta=45.0, consumers=0.0), end_ms(30), "ttl", TTL)
    assert (kept["threshold"], alone["threshold"]) == (5400.0, 3600.0)


def test_backlog_older_than_history_is_unknown() -> None:
    row = one(rows_of([10**6] * 30), end_ms(30), "ttl", TTL)
    assert (row["state"], row["now"], row["low_ms"]) == ("unknown", None, None)


BYTES = [1e6 * n for n in range(1, 31)]


def test_a_quota_by_size() -> None:
    answers = policies(topic_backlog_quotas={SIZE: quota(size=50_000_000, policy="producer_exception")})
    row = one(rows_of(STALLED, storage_backlog_bytes=BYTES), end_ms(30), "quota_size", answers)
    assert (row["state"], row["now"], row["threshold"], row["unit"]) == ("expected", 3e7, 5e7, "bytes")
    assert row["predicted_ms"] - end_ms(30) == pytest.approx(20.5 * MINUTE_MS, rel=0.05)
    assert row["low_ms"] < row["predicted_ms"] < row["high_ms"]
    assert "refuses" in row["consequence"]
    assert "sending fails" in row["consequence"]


def test_exceeded_quota_acts_at_next_check() -> None:
    answers = policies(topic_backlog_quotas={SIZE: quota(size=10_000_000)})
    row = one(rows_of(STALLED, storage_backlog_bytes=BYTES), end_ms(30), "quota_size", answers)
    assert (row["low_ms"], row["predicted_ms"], row["high_ms"]) == (
        end_ms(30),
        end_ms(30) + 30_000,
        end_ms(30) + 60_000,
    )


def test_falling_backlog_never_meets_quota() -> None:
    answers = policies(topic_backlog_quotas={SIZE: quota(size=10**9)})
    row = one(rows_of(FALLING, storage_backlog_bytes=BYTES[::-1]), end_ms(30), "quota_size", answers)
    assert row["state"] == "never"


def test_quota_is_reported_for_slowest_subscription() -> None:
    answers = policies(topic_backlog_quotas={SIZE: quota(size=10**9)}, topic_message_ttl=3600)
    rows = rows_of(STALLED, storage_backlog_bytes=BYTES) + rows_of(
        [v / 2 for v in STALLED], "audit", storage_backlog_bytes=BYTES
    )
    assert set(made(rows, end_ms(30), answers)) == {
        ("billing", "drain"), ("billing", "ttl"), ("billing", "quota_size"), ("audit", "drain"), ("audit", "ttl"),
    }  # fmt: skip


def test_age_quota_counts_from_ledger_end() -> None:
    """Unless the check is precise."""
    answers = policies(topic_backlog_quotas={AGE: quota(time=1800)})
    rows = rows_of(STALLED, backlog_age_s=[None] * 10 + [60.0 * n for n in range(20)])
    row = one(rows, end_ms(30), "quota_age", answers)
    # The ledger was closed 19 minutes ago.
    assert row["now"] == 19 * 60
    assert row["low_ms"] == end_ms(30) + 11 * MINUTE_MS
    assert row["high_ms"] == end_ms(30) + 12 * MINUTE_MS
    assert "every ledger that was closed" in row["consequence"]
    unknown = one(rows_of(STALLED, backlog_age_s=-1.0), end_ms(30), "quota_age", answers)
    assert (unknown["state"], unknown["predicted_ms"], unknown["low_ms"]) == (
        "unknown",
        None,
        end_ms(30) + 1800_000,
    )
    precise = policies(
        topic_backlog_quotas={AGE: quota(time=1800)}, runtime={"preciseTimeBasedBacklogQuotaCheck": "true"}
    )
    backlogs = [100.0] * 10 + [100.0 + 6000.0 * n for n in range(1, 21)]
    row = one(rows_of(backlogs, consumers=0.0), end_ms(30), "quota_age", precise)
    assert row["low_ms"] == pytest.approx(end_ms(10) + 1800_000 - MINUTE_MS, abs=1500)


def test_retention_is_told_where_messages_are_lost() -> None:
    kept = {"topic_retention": {"retentionTimeInMinutes": 120, "retentionSizeInMB": -1}}
    row = one(rows_of(STALLED), end_ms(30), "ttl", policies(topic_message_ttl=7200, **kept))
    assert "Retention keeps them on disk for 2 h" in row["consequence"]
    row = one(
        rows_of(STALLED), end_ms(30), "ttl", policies(topic_message_ttl=7200, topic_retention=NOT_ASKED)
    )
    assert "not known" in row["consequence"]


def test_loss_probability_is_that_of_later_drain() -> None:
    near, far = (
        one(
            rows_of(FALLING, storage_backlog_bytes=[40e6 + 1e5 * n for n in range(30)]),
            end_ms(30),
            "quota_size",
            policies(topic_backlog_quotas={SIZE: quota(size=size)}),
        )["probability"]
        for size in (43_000_000, 60_000_000)
    )
    assert near >= 0.95
    assert far <= 0.051


def test_what_is_not_known_is_not_forecast() -> None:
    assert set(made(rows_of(STALLED), end_ms(30), [])) == {("billing", "drain")}
    assert set(made(rows_of(STALLED), end_ms(30), policies(topic_message_ttl=NOT_ASKED))) == {
        ("billing", "drain")
    }


def test_policies_that_were_observed_later_are_told() -> None:
    row = one(rows_of(STALLED), end_ms(30), "ttl", policies(topic_message_ttl=3600, observed_ms=end_ms(60)))
    assert "observed later" in row["basis"]


def test_no_signals_no_forecasts() -> None:
    assert forecasts_of(table_of([]), policies(), [HOUR_MS]).num_rows == 0
    assert isinstance(forecasts_of(table_of(rows_of(GROWING)), [], []), pa.Table)
    assert TOPIC.endswith("orders")
