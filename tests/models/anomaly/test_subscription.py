"""From rows of signals to rows of anomalies: every column, marks, masks, and what a subscription has not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.models.anomaly.lakes import Subscription, minute_ms, signals, verdicts
from tests.models.anomaly.traffic import DAY
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.anomaly import Range, anomalies_of, subscription
from throttlescope.models.anomaly.baseline_rows import baselines_in, rows_of
from throttlescope.models.anomaly.minutes import MinutesTable
from throttlescope.models.anomaly.subscription import baselines_of, covered_minutes, judged_by
from throttlescope.models.anomaly.verdicts import incident_windows, with_verdicts

LAST = 35
SPIKE = slice(LAST * DAY + 600, LAST * DAY + 640)


def judge(*subscriptions, start=LAST, end=LAST + 1, **more):
    return anomalies_of(signals(*subscriptions), Range.of(minute_ms(start), minute_ms(end)), **more)


@pytest.fixture
def spiked():
    one = Subscription()
    one.arrived[SPIKE] *= 4
    return one


@pytest.mark.long
def test_row_has_signal_place_and_neighbours(spiked):
    rows = judge(spiked)
    assert [(row["signal"], row["direction"], row["state"]) for row in rows] == [
        ("in_msg_rate", "up", "closed"),
        ("out_msg_rate", "up", "closed"),
    ]
    row = rows[0]
    assert (
        tuple(row[name] for name in ("cluster", "namespace", "topic", "partition", "subscription"))
        == spiked.key
    )
    assert abs(row["start_ms"] - minute_ms(LAST, 600)) <= 60_000
    assert row["start_ms"] < row["detected_ms"] <= row["start_ms"] + 10 * 60_000
    # Messages per second, not per minute.
    assert row["value"] == pytest.approx(spiked.arrived[SPIKE].max() / 60, rel=0.2)
    assert row["low"] < row["expected"] < row["high"] < row["value"]
    assert row["expected"] == pytest.approx(row["value"] / 4, rel=0.15)
    assert row["baseline_end_ms"] == minute_ms(LAST)
    assert row["baseline_start_ms"] == minute_ms(LAST - 28)
    assert row["baseline_points"] == 28 * DAY
    assert (row["masked_share"], row["broker"], row["zone"]) == (0.0, "broker-0:8080", "UTC")
    assert row["score"] > 1
    names = {column.name for column in TABLES["anomalies"].columns}
    assert set(row) | {"group_id", "group_rows"} == names
    contract = TABLES["anomalies"]
    contract.conform(pa.Table.from_pylist(rows, schema=contract.loose_schema))


@pytest.mark.long
def test_row_order_does_not_change_answer(spiked):
    other = Subscription("audit", seed=2)
    table = signals(spiked, other)
    mixed = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    judged = Range.of(minute_ms(LAST), minute_ms(LAST + 1))
    assert anomalies_of(mixed, judged) == anomalies_of(table, judged)
    assert {row["subscription"] for row in anomalies_of(mixed, judged)} == {"billing"}


@pytest.mark.long
def test_only_larger_backlog_is_an_anomaly():
    one = Subscription()
    one.backlog[:] += 1000
    one.backlog[LAST * DAY + 100 : LAST * DAY + 200] = 0
    assert judge(one) == []
    one.backlog[LAST * DAY + 600 : LAST * DAY + 700] = 50_000
    (row,) = judge(one)
    assert (row["signal"], row["value"]) == ("backlog_ready_entries", 50_000)


@pytest.mark.long
def test_throttle_events_out_of_nowhere():
    one = Subscription()
    one.events[LAST * DAY + 600 : LAST * DAY + 700] = 120
    (row,) = judge(one)
    assert (row["signal"], row["direction"], row["value"], row["expected"]) == (
        "throttled_events",
        "up",
        120.0,
        0.0,
    )


@pytest.mark.long
def test_a_counters_restart_is_a_mark():
    one = Subscription()
    one.arrived[LAST * DAY + 600 : LAST * DAY + 605] = 0
    assert {row["signal"] for row in judge(one)} == {"in_msg_rate", "out_msg_rate"}
    one.resets[LAST * DAY + 600] = True
    assert judge(one) == []


def test_carried_over_minute_is_not_measured(spiked):
    rows = signals(spiked)
    place = rows.column_names.index("coverage_share")
    zero = pa.array(np.where(np.arange(rows.num_rows) >= SPIKE.start, 0.0, 1.0))
    table = rows.set_column(place, "coverage_share", zero)
    judged = Range.of(minute_ms(LAST), minute_ms(LAST + 1))
    covered = {"prod": rows.column("minute_ms").to_numpy()}
    (row,) = anomalies_of(table, judged, covered=covered)
    assert (row["signal"], row["direction"]) == ("samples", "silence")


@pytest.mark.long
def test_silence_beside_a_subscription_that_is_heard():
    silent, heard = Subscription(), Subscription("audit", seed=2)
    silent.present[LAST * DAY + 600 : LAST * DAY + 660] = False
    (row,) = judge(silent, heard)
    assert (row["subscription"], row["signal"], row["direction"]) == ("billing", "samples", "silence")
    assert row["end_ms"] - row["start_ms"] == 60 * 60_000
    assert row["value"] is None
    heard.present[LAST * DAY + 600 : LAST * DAY + 660] = False
    assert judge(silent, heard) == []


@pytest.mark.long
def test_learning_is_said_once_with_its_end():
    new = Subscription()
    new.present[: 30 * DAY] = False
    (row,) = judge(new, Subscription("audit", seed=2))
    assert (row["state"], row["signal"], row["direction"], row["score"]) == (
        "learning",
        "samples",
        None,
        None,
    )
    assert (row["start_ms"], row["end_ms"]) == (minute_ms(LAST), minute_ms(LAST + 1))
    assert row["learning_until_ms"] == minute_ms(30 + 14)
    assert row["baseline_end_ms"] is None


@pytest.mark.long
def test_learning_series_has_no_baseline_yet(monkeypatch):
    """Most of a run's time would go into them where a cluster is read for the first time."""
    new = Subscription()
    new.present[: 30 * DAY] = False
    monkeypatch.setattr(subscription, "baseline_of", None)
    assert [row["state"] for row in judge(new)] == ["learning"]


@pytest.mark.long
def test_later_signal_has_own_history():
    one = Subscription()
    one.events[: 30 * DAY] = np.nan
    (row,) = judge(one)
    assert (row["state"], row["signal"]) == ("learning", "throttled_events")
    one.events[:] = np.nan
    assert judge(one) == []


@pytest.mark.long
def test_only_what_touches_the_range_is_told(spiked):
    assert judge(spiked, start=LAST - 1, end=LAST) == []
    half = anomalies_of(signals(spiked), Range.of(minute_ms(LAST), minute_ms(LAST, 620)))
    assert {row["state"] for row in half} == {"open"}
    assert {row["end_ms"] for row in half} == {minute_ms(LAST, 620)}


@pytest.mark.long
def test_incidents_of_the_diagnosis_are_masked(spiked):
    windows = verdicts(spiked, minute_ms(20, 600), minute_ms(20, 1200), "throttled", "subscription.msg")
    calm = verdicts(spiked, minute_ms(21), minute_ms(22), "healthy")
    found = incident_windows(pa.concat_tables([windows, calm]))
    assert found == {spiked.key: [(minute_ms(20, 600), minute_ms(20, 1200))]}
    rows = judge(spiked, incidents=found)
    assert rows[0]["masked_share"] == pytest.approx(600 / (28 * DAY))
    assert {row["baseline_points"] for row in rows} == {28 * DAY - 600}


@pytest.mark.long
def test_row_has_verdict_of_worst_minute(spiked):
    rows = judge(spiked)
    said = verdicts(spiked, minute_ms(LAST, 600), minute_ms(LAST, 700), "throttled", "broker.msg")
    for row in with_verdicts(rows, said):
        assert (row["verdict_cause"], row["verdict_limiter"]) == ("throttled", "broker.msg")
    elsewhere = verdicts(Subscription("audit"), minute_ms(LAST, 600), minute_ms(LAST, 700), "throttled")
    for other in (elsewhere, said.slice(0, 0), verdicts(spiked, minute_ms(2), minute_ms(3), "throttled")):
        assert {row["verdict_cause"] for row in with_verdicts(rows, other)} == {None}


@pytest.mark.long
@pytest.mark.parametrize("name", ["ordinary", "few messages", "stops", "unload", "gone", "new", "level"])
def test_baseline_and_judgement_need_no_common_minutes(name):
    """Baselines of what lies before the last midnight and minutes of the judged days are enough: the same rows as of everything."""
    random = np.random.default_rng(len(name))
    one, other = Subscription(days=LAST + 1, seed=3), Subscription("audit", days=LAST + 1, seed=4)
    midnight = (LAST - 2) * DAY
    if name == "few messages":
        one.arrived = random.poisson(0.7, len(one.arrived)).astype(float)
        one.arrived[midnight - 300 : midnight + 500] = 0
    elif name == "stops":
        one.arrived[LAST * DAY - 40 : LAST * DAY + 50] = 0
    elif name == "unload":
        one.resets[midnight - 2] = True
        one.present[midnight - 1 : midnight + 12] = False
        one.arrived[midnight - 2 : midnight + 20] = 0
    elif name == "gone":
        one.present[(LAST - 6) * DAY + 100 :] = False
    elif name == "new":
        one.present[: (LAST - 9) * DAY] = False
        other.present[: LAST * DAY + 100] = False
    elif name == "level":
        one.arrived[(LAST - 1) * DAY - 300 :] *= 3
    one.arrived[SPIKE] *= 4
    judged = Range.of(minute_ms(LAST), minute_ms(LAST, 900), "Europe/Berlin")
    table = signals(one, other)
    incidents = {
        one.key: [
            (minute_ms(20, 600), minute_ms(20, 1200)),
            (judged.begin_ms - 600_000, judged.begin_ms + 600_000),
        ]
    }
    whole = anomalies_of(table, judged, incidents=incidents)
    starts_ms = table.column("minute_ms").to_numpy()
    before = table.filter(pa.array(starts_ms < judged.known_ms))
    recent = table.filter(pa.array(starts_ms >= judged.read_ms))
    covered = covered_minutes(before)
    baselines = baselines_of(MinutesTable.of(before), judged, incidents=incidents, covered=covered)
    assert baselines.keys() == {one.key, other.key} - ({other.key} if name == "new" else set())
    # As they are kept from one run to the next.
    said = {"known_ms": judged.known_ms, "inputs": "these", "share": 0, "shares": 1}
    stored = TABLES["baselines"].conform(rows_of(baselines, said))
    kept = baselines_in(stored)
    minutes, covered = MinutesTable.of(recent), covered_minutes(recent)
    for usual in (baselines, kept):
        assert judged_by(usual, minutes, judged, incidents=incidents, covered=covered) == whole
    # NaN, which equals nothing, is written as such.
    assert all(
        column.combine_chunks().values.null_count == 0
        for column in stored.columns
        if pa.types.is_list(column.type)
    )
    assert repr(rows_of(kept, said).to_pylist()) == repr(stored.to_pylist())
    assert whole


def test_an_empty_table_has_no_anomalies():
    table = TABLES["signals"].loose_schema.empty_table()
    assert anomalies_of(table, Range.of(minute_ms(LAST), minute_ms(LAST + 1))) == []


def test_an_empty_range_is_refused():
    with pytest.raises(InputError, match="start is not before the end"):
        Range.of(minute_ms(LAST), minute_ms(LAST))
