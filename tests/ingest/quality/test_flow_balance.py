"""The balance of flows: what moves a backlog otherwise is seen, what is only read late is not, and where it does not apply it says so."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.ingest.quality.rows import HOUR, failures, signal
from tests.naive.flow_balance import naive_flow_balance
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.quality import check_signals, flow_balance
from throttlescope.ingest.quality.frames import counted_from

PER_MINUTE = 600


def minutes(count=60, *, jump_at=None, jump=0, **changes):
    """A shared subscription whose consumers take half of what is published; at one minute its backlog jumps."""
    rows = []
    for minute in range(count):
        jumped = jump if jump_at is not None and minute >= jump_at else 0
        rows.append(
            signal(
                minute, backlog_entries=1000.0 + minute * PER_MINUTE / 2 + jumped, in_msg_delta=float(PER_MINUTE),
                ack_msg_rate=PER_MINUTE / 2 / 60, expired_msg_delta=0.0, messages_per_entry=1.0, subscription_type="Shared",
            )
            | changes
        )  # fmt: skip
    return rows


def checked(rows):
    table = pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)
    result = check_signals(None, table, ["c"], HOUR, HOUR + BLOCK_MS, "run-1")
    (row,) = [row for row in result.rows.to_pylist() if row["check"] == "flow_balance"]
    return row


@pytest.mark.long
def test_balanced_backlog_passes():
    assert checked(minutes())["success"]
    assert checked(minutes())["observed"] is None


@pytest.mark.long
@pytest.mark.parametrize("jump", [5000, -5000])
def test_seek_and_drift_are_found(jump):
    """In both directions."""
    row = checked(minutes(jump_at=30, jump=jump))
    assert (row["success"], row["severity"]) == (False, "warning")
    assert json.loads(row["example"])["unbalanced_entries"] == 5000


@pytest.mark.long
def test_three_minutes_of_flow_are_tolerated():
    assert checked(minutes(jump_at=30, jump=3 * PER_MINUTE + 4))["success"]
    assert not checked(minutes(jump_at=30, jump=3 * PER_MINUTE + 5))["success"]


def test_lagging_ack_rate_is_no_fault():
    """The consumers stop in the middle: the backlog says so at once, the gauge a minute later."""
    rows = minutes()
    for row in rows[31:]:
        row["backlog_entries"] += (row["minute_ms"] - rows[30]["minute_ms"]) / 60_000 * PER_MINUTE / 2
    for row in rows[32:]:
        row["ack_msg_rate"] = 0.0
    assert checked(rows)["success"]


@pytest.mark.long
def test_expiry_and_first_minute_are_counted():
    rows = minutes(in_msg_delta=0.0, ack_msg_rate=0.0)
    for row in rows:
        row["backlog_entries"] = 9000.0 if row["minute_ms"] < HOUR + BLOCK_MS // 2 else 0.0
    rows[0]["in_msg_delta"] = 50_000.0
    assert (
        naive_flow_balance(rows)[0] == 0
    )  # the peak of the first minute is within the tolerance of its own size
    rows[0]["in_msg_delta"] = 0.0
    assert not checked(rows)["success"]
    rows[30]["expired_msg_delta"] = 9000.0
    assert checked(rows)["success"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (minutes(14, jump_at=5, jump=9999), "shorter than 15 minutes"),
        (minutes(jump_at=5, jump=9999)[:20] + minutes()[21:], "with minutes or values missing"),
        (minutes(jump_at=5, jump=9999, subscription_type="Failover"), "that may acknowledge cumulatively"),
        (minutes(jump_at=5, jump=9999, subscription_type=None), "that may acknowledge cumulatively"),
        (minutes(jump_at=5, jump=9999, messages_per_entry=20.0), "in batches, or not known not to be"),
        (minutes(jump_at=5, jump=9999, messages_per_entry=None), "in batches, or not known not to be"),
        (minutes(jump_at=5, jump=9999, counter_resets=1), "moved, evicted or filtered"),
        (minutes(jump_at=5, jump=9999, quota_evictions_5m=1.0), "moved, evicted or filtered"),
    ],
)
def test_inapplicable_check_gives_reason(rows, words):
    row = checked(rows)
    assert row["success"]
    assert row["observed"] == f"0 of 1 subscription hours judged; not judged: 1 {words}"


@pytest.mark.long
def test_unacked_messages_reveal_shared_subscription():
    """Without the admin API."""
    assert not checked(minutes(jump_at=30, jump=9999, subscription_type=None, unacked_msg=3.0))["success"]


_maybe = st.sampled_from([None, 0.0, 1.0])
_minute = st.fixed_dictionaries(
    {
        "backlog_entries": st.one_of(
            st.integers(0, 5000).map(float), st.integers(0, 5000).map(float), st.none()
        ),
        "in_msg_delta": st.integers(0, 50).map(float),
        "ack_msg_rate": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        "expired_msg_delta": st.sampled_from([None, 0.0, 10.0]),
        "messages_per_entry": st.just(1.0),
    }
)


@pytest.mark.long
@examples(30)
@given(
    st.lists(_minute, min_size=13, max_size=25),
    st.sampled_from(["Shared", "Key_Shared", "Exclusive", None]),
    st.sets(st.integers(0, 24), max_size=1),
    st.sampled_from([{}, {}, {}, {"counter_resets": 1}, {"messages_per_entry": 1.2}, {"in_msg_delta": None}]),
)
def test_equals_the_slow_twin(drawn, kind, left_out, special):
    rows = [signal(at, subscription_type=kind, **one) for at, one in enumerate(drawn) if at not in left_out]
    rows[0] |= special
    own = pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)
    select = f"SELECT {flow_balance.JUDGED} FROM (SELECT {flow_balance.MEASURES} FROM {{signals}}) AS h"  # noqa: S608
    (found,) = counted_from(None, {"signals": own}, select).table.to_pylist()
    entries, reason = naive_flow_balance(rows)
    assert found["unbalanced_entries"] == entries
    assert [name for name, value in found.items() if name.startswith("flow_not_judged") and value] == (
        [reason] if reason else []
    )


def test_the_check_is_part_of_the_gate():
    assert "flow_balance" not in failures(
        check_signals(
            None,
            pa.Table.from_pylist(minutes(), schema=TABLES["signals"].loose_schema),
            ["c"],
            HOUR,
            HOUR + BLOCK_MS,
            "r",
        )
    )
