"""Which limits are known, what they are per second, and whether their events prove anything."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.app.web.test_format import plain
from throttlescope.app.presentation.limits import events_prove, known_limits, limit_lines, shared_use
from throttlescope.ingest.contracts import TABLES


def minutes(*rows: dict) -> pd.DataFrame:
    """Minutes of signals in which everything is missing but what is given."""
    columns = [column.name for column in TABLES["signals"].columns]
    filled = [
        dict.fromkeys(columns) | {"minute_ms": i * 60_000, "coverage_share": 1.0} | row
        for i, row in enumerate(rows)
    ]
    return pd.DataFrame(filled, columns=columns)


def limit_of(level: str, unit: str, frame: pd.DataFrame):
    return next(
        limit for limit in known_limits(frame, "billing") if (limit.level, limit.unit) == (level, unit)
    )


@pytest.mark.parametrize(
    ("limit", "proves"),
    [
        ({"limit_topic_msg": 99}, False),
        ({"limit_topic_msg": 100}, False),  # of Pulsar 5 a read may be 500
        ({"limit_topic_msg": 500}, True),
        ({"limit_topic_msg": 100, "read_batch_entries": 100}, True),
        ({"limit_topic_msg": 100, "read_batch_entries": 200}, False),
        ({"limit_topic_msg": 50, "read_batch_entries": 50}, True),
    ],
)
def test_limit_below_read_batch_proves_nothing(limit, proves):
    frame = minutes(limit | {"limit_topic_period_s": 1, "limit_topic_set_by": "topic_policy"})
    assert limit_of("topic", "msg", frame).events_prove is proves
    assert events_prove(frame, "topic", "msg").tolist() == [proves]


@pytest.mark.parametrize(("rate", "proves"), [(5 * 1024 * 1024 - 1, False), (5 * 1024 * 1024, True)])
def test_limit_below_read_size_proves_nothing(rate, proves):
    frame = minutes(
        {"limit_broker_bytes": rate, "limit_broker_period_s": 1, "limit_broker_set_by": "broker_file"}
    )
    assert limit_of("broker", "bytes", frame).events_prove is proves


def test_period_does_not_change_what_events_prove():
    """It changes the speed."""
    frame = minutes(
        {"limit_topic_msg": 600, "limit_topic_period_s": 60, "limit_topic_set_by": "namespace_policy"}
    )
    limit = limit_of("topic", "msg", frame)
    assert limit.events_prove
    assert limit.per_second == 10
    assert limit_lines(frame, "msg")["topic"].tolist() == [10]


def test_unknown_limit_differs_from_no_limit():
    frame = minutes({}, {"limit_topic_set_by": "none"})
    assert events_prove(frame, "topic", "msg").isna().all()
    assert limit_of("topic", "msg", frame).amount() == "none"
    assert limit_of("broker", "msg", frame).amount() == "not observed"
    assert limit_lines(frame, "msg") == {}


def test_zero_or_less_is_no_limit():
    frame = minutes(
        {
            "limit_topic_msg": 0,
            "limit_topic_bytes": -1,
            "limit_topic_period_s": 1,
            "limit_topic_set_by": "topic_policy",
        }
    )
    assert limit_of("topic", "msg", frame).rate is None
    assert limit_of("topic", "bytes", frame).rate is None
    assert limit_lines(frame, "msg") == {}


def test_limit_in_entries_is_drawn_in_messages():
    """Where messages per entry are known."""
    base = {
        "limit_topic_msg": 10,
        "limit_topic_period_s": 1,
        "limit_topic_set_by": "topic_policy",
        "limit_counts": "entries",
    }
    frame = minutes(base | {"messages_per_entry": 20.0, "rho_topic_msg": 0.5}, base)
    line = limit_lines(frame, "msg")["topic"]
    assert line[0] == 200
    assert pd.isna(line[1])
    assert shared_use(frame, "topic", "msg")[0] == 100
    assert "entries per 1" in limit_of("topic", "msg", frame).amount()


def test_relative_limit_is_drawn_above_publish_rate():
    """Never the broker's: it is not relative."""
    frame = minutes(
        {
            "limit_topic_msg": 10,
            "limit_topic_period_s": 1,
            "limit_broker_msg": 500,
            "limit_broker_period_s": 1,
            "in_msg_rate_5m": 30.0,
            "relative_to_publish": True,
        }
    )
    lines = limit_lines(frame, "msg")
    assert lines["topic"].tolist() == [40]
    assert lines["broker"].tolist() == [500]


def test_change_in_range_is_reported():
    old, new = (
        {"limit_topic_msg": rate, "limit_topic_period_s": 1, "limit_topic_set_by": "topic_policy"}
        for rate in (50, 80)
    )
    assert limit_of("topic", "msg", minutes(old, new)).changed
    assert not limit_of("topic", "msg", minutes(old, old)).changed
    assert limit_of("topic", "msg", minutes(old, new)).rate == 80


def test_decimal_byte_limit_is_shown_exactly():
    frame = minutes(
        {"limit_topic_bytes": 1_000_000, "limit_topic_period_s": 1, "limit_topic_set_by": "topic_policy"}
    )
    assert plain(limit_of("topic", "bytes", frame).amount()) == "1 000 000 B (977 KiB) per 1 s"


def test_no_minutes_no_limits():
    assert known_limits(minutes(), "billing") == []
