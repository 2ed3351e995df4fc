"""A past verdict: with the minutes of then, also when rules and minutes have changed since."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

from tests.models.diagnosis.test_apply import BLOCK_MS, HOUR_MS, SLOW, THROTTLED, fill, minutes
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.models.diagnosis.reopen import reopen
from throttlescope.models.diagnosis.verdict import RULES_VERSION
from throttlescope.models.diagnosis.window import SubscriptionKey

KEY = SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", 0, "billing")


def write(lake: Lake, rows: pa.Table) -> None:
    rows = rows.cast(TABLES["verdicts"].loose_schema)
    lake.commit(
        "verdicts", [write_data_file(lake.root, "verdicts", rows)], lake.files("verdicts"), run_id="v"
    )


def judged(lake: Lake, **other) -> pa.Table:
    """The verdicts of the lake's hour, with some columns as earlier rules would have written them."""
    rows = verdicts_of(lake.read("signals"), HOUR_MS, HOUR_MS + BLOCK_MS)
    for name, value in other.items():
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(
            at, rows.schema.field(at), pa.array([value] * rows.num_rows, rows.schema.field(at).type)
        )
    return rows


@pytest.fixture
def lake(tmp_path) -> Lake:
    lake = Lake(tmp_path / "lake")
    fill(lake, minutes("billing", 60, **THROTTLED))
    return lake


@pytest.mark.long
def test_same_minutes_give_the_same_verdict(lake):
    """With the same rules."""
    write(lake, judged(lake))
    found = reopen(lake, KEY, HOUR_MS + 600_000)
    assert found.differences == {}
    assert not found.repaired
    assert found.again.to_row() == {**found.stored, "date": found.again.to_row()["date"]}
    assert [row["minute_ms"] for row in found.minutes] == [HOUR_MS + (10 + i) * MINUTE_MS for i in range(5)]


def test_verdict_of_older_rules_is_judged_again(lake):
    old = judged(lake, rules_version="0", cause="slow_consumers", side="consumer_capacity", why=None)
    write(lake, old)
    found = reopen(lake, KEY, HOUR_MS)
    assert found.stored["rules_version"] == "0"
    assert found.differences == {
        "side": ("consumer_capacity", "throttle"),
        "cause": ("slow_consumers", "throttled"),
        "rules_version": ("0", RULES_VERSION),
    }


@pytest.mark.long
def test_repaired_minutes_are_read_as_before(lake):
    write(lake, judged(lake))
    made_ms = lake.files("verdicts")[0].committed_ms
    time.sleep(0.01)
    stood_ms = int(time.time() * 1000)
    time.sleep(0.01)
    old = lake.files("signals")
    new = pa.Table.from_pylist(minutes("billing", 60, **SLOW), schema=TABLES["signals"].loose_schema)
    lake.commit("signals", [write_data_file(lake.root, "signals", new)], old, run_id="repair")
    found = reopen(lake, KEY, HOUR_MS)
    assert found.repaired
    assert (found.made_ms, found.signals_version) == (made_ms, 0)
    assert found.again.cause == found.stored["cause"] == "throttled"
    # The next run judges the repaired minutes; what stood before can still be opened.
    write(lake, judged(lake))
    assert reopen(lake, KEY, HOUR_MS).stored["cause"] == "slow_consumers"
    before = reopen(lake, KEY, HOUR_MS, as_of_ms=stood_ms)
    assert (before.stored["cause"], before.again.cause) == ("throttled", "throttled")


def test_what_is_not_there_is_said(lake):
    write(lake, judged(lake))
    with pytest.raises(InputError, match="no such verdict"):
        reopen(lake, KEY, HOUR_MS + 1)
    with pytest.raises(InputError, match="no such verdict"):
        reopen(lake, KEY._replace(subscription="other"), HOUR_MS)
    with pytest.raises(InputError, match="no verdicts yet"):
        reopen(lake, KEY, HOUR_MS, as_of_ms=HOUR_MS)
