"""Spark's tasks and this process count the same: every gate on one lake with faults in every table, both ways."""

import pyarrow as pa
import pytest

from tests.ingest.quality.rows import HOUR, answer, block, catalogue, hold, limits, signal, stats, verdict
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality import frames, samples
from throttlescope.ingest.quality.checks import GateCheck
from throttlescope.ingest.quality.expectations import failing
from throttlescope.ingest.quality.gates import GATES

OTHER = {"cluster": "other\"'\\{x}"}


def write_lake(folder):
    lake = Lake(folder)
    blocks = [
        block("a"), block("a", values=[7.0] * 240), block("b", values=[-1.0] * 240), block("c", ticks=[*range(100), *range(110, 240)]),
        block("d", "up", values=[0.0] * 240), block("e", ticks=range(0, 240, 2)), block("f", "up", values=[1.0] * 240),
    ]  # fmt: skip
    series = catalogue(blocks[1:]).to_pylist()
    for row in series:
        if row["series_id"][0] in "ef":
            row["labels"] = [("instance", "b:8080"), ("job", "broker")]
    hold(lake, "series", series)
    hold(lake, "samples", blocks)
    hold(lake, "policies", [answer(), answer(body='"<html>"', minute=1)])
    hold(lake, "limits", [*limits(rate_msg=0), *(row | OTHER for row in limits())])
    hold(lake, "topic_stats", [stats(permits_min=9), stats(backlog_entries=-1, subscription="s2")])
    flows = {
        "in_msg_delta": 0.0,
        "ack_msg_rate": 0.0,
        "messages_per_entry": 1.0,
        "subscription_type": "Shared",
    }
    minutes = [signal(m, backlog_entries=float(m == 30), **flows) for m in range(60)]
    minutes += [signal(m, backlog_entries=900.0 * m, subscription="s2", **flows) for m in range(20)]
    # A first minute without a value, one that is missing, and one that cannot be.
    minutes += [
        signal(
            m,
            backlog_entries=900.0 * m,
            subscription="s3",
            **flows | {"in_msg_delta": None if m == 0 else 9.0},
        )
        for m in range(20)
    ]
    minutes += [
        signal(0, subscription="s4"),
        signal(7, subscription="s4", rho_topic_msg=float("nan")),
        signal(0) | OTHER,
    ]
    hold(lake, "signals", minutes)
    hold(
        lake,
        "verdicts",
        [verdict(0, subscription="s2"), verdict(1, limiter=None, subscription="s2"), verdict(0) | OTHER],
    )
    return lake


@pytest.mark.study
@pytest.mark.spark
def test_both_ways_find_the_same(spark, tmp_path, monkeypatch):
    lake = write_lake(tmp_path)
    clusters = ["c", OTHER["cluster"]]

    def found(session):
        rows = {}
        for name, gate in GATES.items():
            result = gate.check(session, lake, clusters, HOUR, HOUR + BLOCK_MS, "run-1")
            rows[name] = [
                {key: value for key, value in row.items() if key not in ("observed_ms", "date")}
                for row in result.rows.to_pylist()
            ]
        return rows

    here = found(None)
    monkeypatch.setattr(frames, "IN_PROCESS_ROWS", -1)
    monkeypatch.setattr(samples, "_IN_PROCESS_BLOCKS", -1)
    there = found(spark)
    assert there == here
    failed = {row["check"] for rows in here.values() for row in rows if not row["success"]}
    assert failed >= {
        "block_key_unique", "backlog_not_negative", "scrapes_complete", "scrapes_as_up", "scrapes_succeed", "answers_readable", "rates_above_zero",
        "permits_in_order", "stats_not_negative", "flow_balance", "use_not_negative", "minutes_complete", "limiter_where_throttled",
        "subscriptions_judged",
    }  # fmt: skip
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


@pytest.mark.spark
def test_spark_counts_each_frame_once(spark, tmp_path):
    """Great Expectations reads a column at a time, and reads it again if it failed: rows are not read for each of them."""

    def faults(number, folder):
        with open(f"{folder}/{number}", "a") as file:
            file.write("read\n")
        yield pa.record_batch(
            [pa.array(["c"]), pa.array([number]), pa.array([0])], names=["cluster", "a", "b"]
        )

    schema = pa.schema([("cluster", pa.string()), ("a", pa.int64()), ("b", pa.int64())])
    tasks = [{"number": number, "folder": str(tmp_path)} for number in range(3)]
    frame = frames.mapped(spark, tasks, faults, schema, rows=10**9)
    checks = [
        GateCheck("a_is_zero", "a", "error", "faults", "none"),
        GateCheck("b_is_zero", "b", "warning", "faults", "none"),
    ]
    assert frame.query("SELECT sum(a) AS a FROM {frame}") == [{"a": 3}]
    assert [check.name for check in failing(frame, checks)] == ["a_is_zero"]
    assert frame.query("SELECT count(*) AS n FROM {frame} WHERE a > 0") == [{"n": 2}]
    frame.close()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        f"{n}": "read\n" for n in range(3)
    }
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0
    assert not [one for one in spark.catalog.listTables() if one.name.startswith("counted_")]
