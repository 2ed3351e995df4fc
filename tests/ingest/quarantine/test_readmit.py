"""Readmission of refused rows: through the same validation, in one transaction, once; what still does not fit stays with its new reason."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.ingest.quarantine.rows import BACKLOG, GOOD, HOUR, decoded, hold_refused, refuse, without
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.series import batch_of
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import ConflictError, Lake
from throttlescope.ingest.lake import blocks as blocks_module
from throttlescope.ingest.lake.blocks import BlockBuffer
from throttlescope.ingest.quality import check_ingested, check_samples
from throttlescope.ingest.quarantine.readmit import mark, readmit, remaining_fault
from throttlescope.ingest.quarantine.repairs import known_repair, with_values
from throttlescope.ingest.quarantine.rows import chosen, kept_rows


def repaired(kept, *settings):
    return replace(kept, repaired=json.dumps(with_values(kept.row, settings)))


def samples(lake):
    """What the lake holds: (labels of the series, times, values, markers)."""
    labels = {row["series_id"]: dict(row["labels"]) for row in lake.read("series").to_pylist()}
    return sorted(
        (
            labels[row["series_id"]].get("subscription"),
            [(at - HOUR) // 1000 for at in row["timestamps_ms"]],
            row["values"],
            [(at - HOUR) // 1000 for at in row["stale_ms"]],
        )
        for row in lake.read("samples").to_pylist()
    )


@pytest.mark.long
def test_series_is_readmitted_with_all_samples(tmp_path):
    lake = Lake(tmp_path / "lake")
    series = decoded(without("cluster"), values=(1.0, float("nan"), float("-inf")), stale=(45,))
    (kept,) = refuse(lake, series, tmp_path=tmp_path)
    assert (kept.reason, kept.table, kept.rows, kept.state) == ("missing_key_label", "samples", 3, "open")
    assert remaining_fault(kept).reason == "missing_key_label"

    done = readmit(lake, [repaired(kept, "labels.cluster=prod")], "run-2")
    assert (len(done.taken), done.refused, done.samples) == (1, [], 4)
    assert done.hours == {"prod": {HOUR}}
    ((name, times, values, stale),) = samples(lake)
    assert (name, times, stale) == ("s", [0, 15, 30], [45])
    np.testing.assert_array_equal(values, [1.0, float("nan"), float("-inf")])
    assert kept_rows(lake) == []
    (gone,) = kept_rows(lake, with_readmitted=True)
    assert (gone.id, gone.state, gone.readmitted_run_id) == (kept.id, "readmitted", "run-2")
    assert gone.text == kept.text
    # What came back is as good as what came in.
    assert not check_samples(None, lake, ["prod"], HOUR, HOUR + BLOCK_MS, "r").stopped
    assert not check_ingested(None, lake, ["prod"], HOUR, HOUR + BLOCK_MS, "r").stopped


@pytest.mark.long
def test_twice_is_harmless(tmp_path):
    lake = Lake(tmp_path / "lake")
    (kept,) = refuse(lake, decoded(without("cluster")), tmp_path=tmp_path)
    row = repaired(kept, "labels.cluster=prod")
    readmit(lake, [row], "run-2")
    before = {table: lake.version(table) for table in ("series", "samples", "quarantine")}
    again = readmit(lake, kept_rows(lake, with_readmitted=True), "run-3")
    assert (again.taken, again.refused, again.samples) == ([], [], 0)
    # As after a stop between the samples' commit and the mark.
    refuse(lake, decoded(without("cluster")), tmp_path=tmp_path)
    (open_again,) = kept_rows(lake)
    assert open_again.state == "open"
    mended = readmit(lake, [repaired(open_again, "labels.cluster=prod")], "run-4")
    assert (len(mended.taken), mended.samples) == (1, 0)
    assert lake.version("samples") == before["samples"]
    assert kept_rows(lake) == []


def test_existing_samples_of_series_stay(tmp_path):
    lake = Lake(tmp_path / "lake")
    first, second = refuse(
        lake,
        decoded(without("cluster"), times=(0, 15, 30), values=(1.0, 2.0, 3.0)),
        decoded(without("cluster", extra="x"), times=(15, 45), values=(99.0, 4.0)),
        tmp_path=tmp_path,
    )
    rows = {row.row["labels"].get("extra"): repaired(row, "labels.cluster=prod") for row in (first, second)}
    readmit(lake, [rows[None]], "run-2")
    other = replace(
        rows["x"],
        repaired=json.dumps(json.loads(rows["x"].repaired) | {"labels": GOOD | {"cluster": "prod"}}),
    )
    done = readmit(lake, [other], "run-3")
    assert done.samples == 1
    assert samples(lake) == [("s", [0, 15, 30, 45], [1.0, 2.0, 3.0, 4.0], [])]


def test_rows_are_readmitted_in_one_transaction(tmp_path):
    """Metrics are not mixed."""
    lake = Lake(tmp_path / "lake")
    rows = refuse(
        lake,
        *(decoded(without("cluster", subscription=name)) for name in "ab"),
        decoded(without("cluster", __name__="pulsar_subscription_unacked_messages")),
        tmp_path=tmp_path,
    )
    done = readmit(lake, [repaired(row, "labels.cluster=c") for row in rows], "run-2")
    assert len(done.taken) == 3
    assert lake.version("samples") == 0
    assert {row["metric_name"] for row in lake.read("samples").to_pylist()} == {
        BACKLOG,
        "pulsar_subscription_unacked_messages",
    }
    assert [name for name, *_ in samples(lake)] == ["a", "b", "s"]


def test_still_invalid_row_gets_new_reason(tmp_path):
    lake = Lake(tmp_path / "lake")
    (kept,) = refuse(lake, decoded(without("cluster", partition="x")), tmp_path=tmp_path)
    assert kept.reason == "invalid_partition"
    row = repaired(kept, "labels.partition=3")
    done = readmit(lake, [row], "run-2")
    assert (done.taken, len(done.refused)) == ([], 1)
    (left,) = kept_rows(lake)
    assert (left.id, left.reason, left.state) == (kept.id, "missing_key_label", "refused_again")
    assert "cluster" in left.fault
    assert left.row["labels"]["partition"] == "3"  # the repair is kept, and so is the row as it was
    assert json.loads(left.text)["labels"]["partition"] == "x"
    assert lake.version("samples") is None
    assert len(readmit(lake, [repaired(left, "labels.cluster=c")], "run-3").taken) == 1


def test_repair_alone_moves_no_row(tmp_path):
    lake = Lake(tmp_path / "lake")
    (kept,) = refuse(lake, decoded(without("cluster")), tmp_path=tmp_path)
    mark(lake, [replace(repaired(kept, "labels.cluster=c"), state="repaired")], "run-2")
    (left,) = kept_rows(lake)
    assert (left.state, left.reason, remaining_fault(left)) == ("repaired", "missing_key_label", None)
    assert lake.version("samples") is None


def test_too_many_samples_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks_module, "REFUSED_SAMPLES", 5)
    buffer = BlockBuffer(LabelMapping(), tmp_path)
    long, short = without("cluster"), without("cluster", subscription="short")
    for labels in (long, short, long):
        buffer.add(
            batch_of([decoded(labels)] if labels is long else [decoded(labels, times=(0,), values=(1.0,))])
        )
    rows = {
        json.loads(one.row()["row"])["labels"]["subscription"]: json.loads(one.row()["row"])
        for one in buffer.refused.values()
    }
    assert (rows["s"]["samples"], "held" in rows["s"]) == (6, False)
    assert rows["short"]["held"]["values"] == [1.0]
    lake = Lake(tmp_path / "lake")
    hold_refused(lake, [{"table": "samples", "reason": "missing_key_label", "row": rows["s"]}])
    done = readmit(lake, [repaired(kept_rows(lake)[0], "labels.cluster=c")], "run-2")
    assert done.refused[0].reason == "samples_not_kept"


@pytest.mark.parametrize(
    "row",
    [
        "no JSON {",
        "[1]",
        {"labels": GOOD | {"topic": 5}, "held": {}},
        {"labels": GOOD, "held": {"timestamps_ms": [1], "values": []}},
        {"labels": GOOD, "held": {"timestamps_ms": ["x"], "values": [1]}},
        {"labels": GOOD, "held": {"timestamps_ms": [[1]], "values": [1]}},
        {"labels": GOOD, "held": []},
        {"labels": GOOD, "held": {"timestamps_ms": [], "values": []}},
    ],
)
def test_malformed_rows_write_nothing(tmp_path, row):
    lake = Lake(tmp_path)
    hold_refused(lake, [{"table": "samples", "reason": "missing_key_label", "row": row}])
    done = readmit(lake, kept_rows(lake), "run-2")
    assert [one.reason for one in done.refused] == ["row_unreadable"]
    assert lake.version("samples") is None


ANSWER = {
    "cluster": "c", "scope": "topic_dispatch_rate", "key": "persistent://t/n/x", "body": '{"dispatchThrottlingRateInMsg": 5}',
    "broker": "b:8080", "observed_ms": HOUR,
}  # fmt: skip


def test_admin_answer_is_readmitted(tmp_path):
    lake = Lake(tmp_path)
    hold_refused(
        lake, [{"table": "policies", "reason": "policy_unreadable", "row": ANSWER | {"body": '"<html>"'}}]
    )
    (kept,) = kept_rows(lake)
    assert "a text instead of an object" in remaining_fault(kept).fault
    fixed = replace(kept, repaired=json.dumps(ANSWER))
    done = readmit(lake, [fixed], "run-2")
    assert (len(done.taken), done.samples, done.hours) == (1, 1, {"c": {HOUR}})
    (row,) = lake.read("policies").to_pylist()
    assert row["body"] == ANSWER["body"]


def test_stats_of_a_topic_come_back(tmp_path):
    lake = Lake(tmp_path)
    place = {
        "cluster": "c",
        "namespace": "t/n",
        "topic": "persistent://t/n/x",
        "partition": -1,
        "observed_ms": HOUR,
    }
    hold_refused(
        lake,
        [
            {
                "table": "topic_stats",
                "reason": "stats_unreadable",
                "row": place | {"body": '{"subscriptions": {"s": {}}}'},
            }
        ],
    )
    (kept,) = kept_rows(lake)
    assert remaining_fault(kept).reason == "stats_unreadable"
    counts = {
        f"dispatchThrottled{u}EventsBy{w}Limit": 0
        for u in ("Msg", "Bytes")
        for w in ("Broker", "Topic", "Subscription")
    }
    own = counts | {
        "type": "Shared", "consumers": [], "msgBacklog": 3, "msgDelayed": 0, "unackedMessages": 0,
        "blockedSubscriptionOnUnackedMsgs": False, "msgOutCounter": 1, "bytesOutCounter": 1,
    }  # fmt: skip
    body = json.dumps({"subscriptions": {"s": own}})
    done = readmit(lake, [replace(kept, repaired=json.dumps(place | {"body": body}))], "run-2")
    assert [one.state for one in done.taken] == ["readmitted"]
    assert lake.read("topic_stats")["backlog_entries"].to_pylist() == [3]


def test_commit_conflict_is_retried_without_marks(tmp_path, monkeypatch):
    lake = Lake(tmp_path / "lake")
    (kept,) = refuse(lake, decoded(without("cluster")), tmp_path=tmp_path)

    def lost(table, *arguments, **options):
        if table == "samples":
            raise ConflictError("lost")
        return real(table, *arguments, **options)

    real = lake.commit
    monkeypatch.setattr(lake, "commit", lost)
    with pytest.raises(ConflictError, match="being written all the time"):
        readmit(lake, [repaired(kept, "labels.cluster=c")], "run-2")
    monkeypatch.undo()
    assert [one.state for one in kept_rows(lake)] == ["open"]


@pytest.mark.parametrize(
    ("reason", "labels", "expected"),
    [
        ("missing_key_label", without("namespace"), GOOD),
        ("missing_key_label", without("cluster"), None),
        ("missing_key_label", without("namespace", topic="x"), None),
        ("invalid_partition", GOOD | {"partition": "x"}, GOOD),
        ("label_not_utf8", GOOD | {"note": "a\udcffb"}, GOOD | {"note": "a\N{REPLACEMENT CHARACTER}b"}),
        ("missing_metric_name", without("__name__"), None),
    ],
)
def test_known_repairs_come_from_the_row(reason, labels, expected):
    found = known_repair(reason, {"labels": labels, "samples": 3})
    assert (None if found is None else found[0]) == (
        None if expected is None else {"labels": expected, "samples": 3}
    )


def test_wrong_repair_paths_are_reported():
    """Values are set and removed otherwise."""
    row = {"labels": {"a": "1"}, "samples": 3}
    assert with_values(row, ["labels.b=x=y", "samples=4"], ["labels.a"]) == {
        "labels": {"b": "x=y"},
        "samples": 4,
    }
    assert row["labels"] == {"a": "1"}
    for wrong in (["labels"], ["nowhere.b=1"], ["samples=x"]):
        with pytest.raises(InputError):
            with_values(row, wrong)
    with pytest.raises(InputError, match="nothing to remove"):
        with_values(row, [], ["labels.z"])
    with pytest.raises(InputError, match="no object"):
        with_values([1], ["a=1"])


def test_rows_are_named_by_id_prefix(tmp_path):
    lake = Lake(tmp_path / "lake")
    rows = refuse(lake, *(decoded(without("cluster", subscription=name)) for name in "ab"), tmp_path=tmp_path)
    assert chosen(rows, [rows[0].id[:6]]) == [rows[0]]
    assert chosen(rows, [], reason="missing_key_label") == rows
    assert chosen(rows, [], reason="invalid_partition") == []
    assert chosen(rows, [], run_id="run-1") == chosen(rows, [], everything=True) == rows
    for ids, message in (
        (["ffff" * 4], "names no refused row"),
        ([rows[0].id[:2]], "names no refused row"),
        ([], "No row is named"),
    ):
        with pytest.raises(InputError, match=message):
            chosen(rows, ids)
