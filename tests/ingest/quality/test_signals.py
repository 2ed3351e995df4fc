"""The gate of minutes: what cannot be true in ``signals`` is found and weighed."""

import pyarrow as pa
import pytest

from tests.ingest.quality.rows import HOUR, failures, hold, signal
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality import check_signals


def checked(rows):
    table = pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)
    return check_signals(None, table, ["c"], HOUR, HOUR + BLOCK_MS, "run-1")


@pytest.mark.long
def test_good_signals_pass():
    result = checked([signal(m, out_msg_delta=5.0, rho_topic_msg=0.5) for m in range(5)])
    assert result.failures() == []
    assert result.rows["observed"][0].as_py() == "1 subscription hours"


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("check", "stops", "rows"),
    [
        ("minute_key_unique", True, [signal(31), signal(31)]),
        ("minute_on_grid", True, [signal(minute_ms=HOUR + 31 * MINUTE_MS + 1)]),
        ("deltas_not_negative", True, [signal(31, out_msg_delta=-1.0)]),
        ("deltas_not_negative", True, [signal(31, in_bytes_delta=float("nan"))]),
        ("counter_rates_not_negative", True, [signal(31, in_msg_rate_5m=-0.5)]),
        ("use_not_negative", True, [signal(31, rho_broker_bytes=-0.1)]),
        ("limits_above_zero", True, [signal(31, limit_topic_msg=0)]),
        ("limits_above_zero", True, [signal(31, limit_topic_period_s=0)]),
        ("minutes_complete", False, [signal(33)]),
        ("coverage_is_share", False, [signal(31, coverage_share=1.25)]),
        ("shares_are_shares", False, [signal(31, permits_exhausted_share=-0.5)]),
        ("ages_not_negative", False, [signal(31, last_ack_age_s=-30.0)]),
    ],
)
def test_impossible_signals_are_found(check, stops, rows):
    result = checked([signal(30), *rows])
    assert set(failures(result)) == {check}
    assert result.stopped is stops


@pytest.mark.long
def test_signals_are_read_from_the_lake(tmp_path):
    lake = hold(Lake(tmp_path), "signals", [signal(0), signal(1, rho_topic_msg=-1.0)])
    result = check_signals(None, lake, ["c"], HOUR, HOUR + BLOCK_MS, "run-1")
    assert set(failures(result)) == {"use_not_negative"}
    before = check_signals(None, lake, ["c"], HOUR, HOUR + MINUTE_MS, "run-1")
    assert before.failures() == []
    other = check_signals(None, lake, ["other"], HOUR, HOUR + BLOCK_MS, "run-1")
    assert set(failures(other)) == {"rows_present"}
