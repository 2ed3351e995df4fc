"""``throttlescope forecast``: what it prints of a small lake, how it judges history, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.app.commands import throttlescope
from tests.models.diagnosis.test_apply import fill
from tests.models.forecast.minutes import HOUR_MS, TOPIC, end_ms, rows_of, table_of
from tests.models.forecast.policies import policies, quota
from tests.models.forecast.test_apply import fill_policies
from tests.transforms.lakes import lake_of
from throttlescope.app.services.forecast import forecasts
from throttlescope.app.services.forecast.forecasts import forecast_lake
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.spark import pieces
from throttlescope.models.forecast.apply import forecasts_of
from throttlescope.transforms.promql.source import Series

#: Grows for 20 minutes, then falls by 2,000 entries a minute until it is gone in the 40th.
BACKLOG = [max(20.0, 2000.0 * min(n, 40 - n)) for n in range(50)]
NOW = format_time(end_ms(30))
#: Of a broker that keeps no policies of topics: what the namespace says holds for all.
EVERYWHERE = {"topicLevelPoliciesEnabled": "false"}
#: What is left 10 minutes before it is gone.
LEFT = 22_000


def series_of(every_s: int = 15) -> list[Series]:
    """The same, scraped."""
    times_ms = HOUR_MS + np.arange(0, 50 * 60, every_s, dtype=np.int64) * 1000
    minutes = (times_ms - HOUR_MS) / 60_000
    labels = {
        "cluster": "prod",
        "namespace": "acme/shop",
        "topic": TOPIC,
        "partition": "-1",
        "instance": "b:8080",
    }
    backlog = np.interp(minutes, np.arange(1, 51), BACKLOG)
    return [
        Series(
            {"__name__": "pulsar_subscription_back_log", "subscription": "billing", **labels},
            times_ms,
            backlog,
        ),
        Series({"__name__": "pulsar_in_messages_total", **labels}, times_ms, minutes * 6000),
    ]


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    lake = lake_of(tmp_path_factory.mktemp("forecast"), series_of())
    fill(lake, rows_of(BACKLOG, storage_backlog_bytes=[v * 1000 for v in BACKLOG]))
    fill_policies(
        lake,
        policies(
            topic_message_ttl=7200,
            topic_backlog_quotas={"destination_storage": quota(size=30_000_000, policy="producer_exception")},
        ),
    )
    return lake


def run_forecast(lake: Lake, *arguments: object) -> list[dict]:
    done = throttlescope("forecast", "--lake", lake.root, "--format", "json", *arguments)
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


@pytest.mark.long
def test_json_has_the_tables_columns(lake) -> None:
    rows = run_forecast(lake, "--at", NOW)
    assert [row["kind"] for row in rows] == ["drain", "ttl", "quota_size"]
    wanted = [
        column.name for column in TABLES["forecasts"].columns if column.name not in ("date", "messages")
    ]
    assert all(sorted(row) == sorted(wanted) for row in rows)
    drain, ttl, size = rows
    assert (drain["state"], ttl["state"], size["state"]) == ("expected", "never", "never")
    assert drain["predicted_ms"] - end_ms(30) == pytest.approx(LEFT / 2000 * 60_000, rel=0.1)


def test_growing_backlog_forecasts_the_quota(lake) -> None:
    drain, _, size = run_forecast(lake, "--at", format_time(end_ms(12)), "--subscription", f"{TOPIC}#billing")
    assert drain["state"] == "never"
    # 22 MB of 30, and 2 MB more every minute.
    assert (size["state"], size["set_by"]) == ("expected", "topic_policy")
    assert size["low_ms"] < end_ms(16) < size["high_ms"]


def test_table_explains_each_forecast(lake) -> None:
    done = throttlescope("forecast", "--lake", lake.root, "--at", format_time(end_ms(12)))
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "3 forecasts"
    assert "never" in next(line for line in lines if "drained" in line)
    assert "refuses those that connect again" in done.out
    assert "A line through" in done.out


@pytest.mark.long
def test_no_backlog_is_not_an_error(lake) -> None:
    done = throttlescope("forecast", "--lake", lake.root)
    assert (done.code, done.out.splitlines()[0]) == (0, "No backlog to forecast")
    assert run_forecast(lake, "--subscription", f"{TOPIC}#billing") == []


@pytest.mark.long
def test_the_back_test_finds_the_drain(lake) -> None:
    done = throttlescope("forecast", "--lake", lake.root, "--back-test", "--format", "json", "--quiet")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["made"] == found["expected"] + found["never"] + found["unknown"]
    assert found["never"] >= 18
    assert found["expected"] >= 15
    assert found["drained_although_never"] > 0
    decided = found["all"]
    assert decided["inside"] >= 0.8 * decided["decided"] > 0
    assert decided["median_error_share"] < 0.1
    assert list(found["causes"]) == ["no verdict"]
    assert found["seen_by_calibration"] == []
    table = throttlescope("forecast", "--lake", lake.root, "--back-test", "--every", "5m", "--quiet")
    assert table.code == 0
    assert "every 5 min" in table.out


@pytest.mark.long
def test_back_test_range_can_be_limited(lake) -> None:
    late = throttlescope(
        "forecast",
        "--lake",
        lake.root,
        "--back-test",
        "--start",
        format_time(end_ms(25)),
        "--format",
        "json",
        "-q",
    )
    assert json.loads(late.out)["never"] == 0


@pytest.mark.long
def test_stored_forecasts_are_judged_unchanged(tmp_path) -> None:
    lake = lake_of(tmp_path, series_of())
    expired = [None] * 40 + [500.0] + [0.0] * 9
    rows = rows_of(BACKLOG, expired_msg_delta=expired)
    fill(lake, rows)
    made = forecasts_of(table_of(rows), policies(topic_message_ttl=700), [end_ms(n) for n in range(5, 40)])
    lake.upsert("forecasts", made, run_id="test")
    done = throttlescope(
        "forecast", "--lake", lake.root, "--back-test", "--stored", "--format", "json", "--quiet"
    )
    found = json.loads(done.out)
    kinds = [(row["kind"], row["state"]) for row in made.to_pylist()]
    assert found["made"] == sum(kind == "drain" for kind, _ in kinds) == 35
    assert found["expected"] == kinds.count(("drain", "expected")) > 10
    assert found["all"]["inside"] >= 0.8 * found["all"]["decided"] > 0
    assert found["expiries"] == sum(kind == "ttl" for kind, _ in kinds) > 0
    assert found["expiries_decided"] == kinds.count(("ttl", "expected")) > 0
    assert (
        "as stored"
        in throttlescope("forecast", "--lake", lake.root, "--back-test", "--stored", "--quiet").out
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--start", "-1h"], "--start, --end and --stored go with --back-test"),
        (["--back-test", "--at", "now"], "--back-test is of the whole history"),
        (["--stored"], "--start, --end and --stored go with --back-test"),
        (["--back-test", "--stored"], "no stored forecast of this range"),
        (["--back-test", "--every", "0s"], "--every must be more than 0"),
        (["--back-test", "--start", "2030-01-01"], "There is no forecast to judge"),
        (["--replay"], "--replay takes seconds for each subscription"),
        (["--at", "2001-01-01"], "There are no signals at this time"),
        (["--cluster", "other"], "There are no signals of this cluster"),
        (["--subscription", "orders"], "A subscription cannot be read"),
        (["--subscription", f"{TOPIC}#billling"], f"did you mean {TOPIC}#billing?"),
    ],
)
def test_invalid_options_are_refused(lake, arguments, message) -> None:
    done = throttlescope("forecast", "--lake", lake.root, "--quiet", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.line


@pytest.mark.long
def test_fleet_is_read_in_topic_batches(tmp_path, monkeypatch) -> None:
    lake = Lake(tmp_path)
    topics = [f"persistent://acme/shop/orders-{number}" for number in range(3)]
    rows = [row | {"topic": topic} for topic in topics for row in rows_of(BACKLOG)]
    fill(lake, rows)
    at_once, _ = forecast_lake(lake, at_ms=end_ms(30))
    assert {row["topic"] for row in at_once} == set(topics)
    sizes = []
    monkeypatch.setattr(pieces, "_TASK_ROWS", 1)
    monkeypatch.setattr(
        forecasts,
        "forecasts_of",
        lambda signals, *rest: sizes.append(signals.num_rows) or forecasts_of(signals, *rest),
    )
    assert forecast_lake(lake, at_ms=end_ms(30))[0] == at_once
    assert sizes == [len(BACKLOG)] * 3


@pytest.mark.long
@pytest.mark.parametrize(
    "answers", [[], policies(runtime=EVERYWHERE, namespace={"message_ttl_in_seconds": 60})]
)
def test_topics_without_forecast_are_not_read(tmp_path, monkeypatch, answers) -> None:
    lake = Lake(tmp_path)
    backlogs = {
        "falls": BACKLOG,
        "little": [3.0] * 50,
        "nothing": [0.0] * 50,
        "drained": [5000.0] * 20 + [0.0] * 30,
        "unseen": [5000.0] * 20 + [None] * 30,
        "odd": [5000.0] * 20 + [1e300] * 30,
        "delayed": BACKLOG,
    }
    rows = []
    for name, backlog in backlogs.items():
        ready = [0.0] * 50 if name == "delayed" else backlog
        for subscription in ("billing", "audit"):
            mine = backlog if subscription == "billing" else [0.0] * 50
            made = rows_of(mine, subscription, backlog_ready_entries=ready if mine is backlog else mine)
            rows += [row | {"topic": f"{TOPIC}-{name}"} for row in made]
    fill(lake, rows)
    fill_policies(lake, answers)
    read = set()

    def counted(signals, *rest):
        read.update(signals["topic"].to_pylist())
        return forecasts_of(signals, *rest)

    monkeypatch.setattr(forecasts, "forecasts_of", counted)
    # Also between two minutes: the one that is not over yet is not known.
    for at_ms in (end_ms(12), end_ms(30), end_ms(21) - 1, end_ms(50)):
        read.clear()
        expected = forecasts_of(table_of(rows), answers, [at_ms]).to_pylist()
        assert expected
        assert forecast_lake(lake, at_ms=at_ms)[0] == expected
    assert f"{TOPIC}-nothing" not in read
    assert {f"{TOPIC}-unseen", f"{TOPIC}-odd"} <= read
    assert (f"{TOPIC}-little" in read) == bool(answers)


@pytest.mark.long
def test_an_empty_lake_is_refused(tmp_path) -> None:
    for arguments in ([], ["--back-test"]):
        done = throttlescope("forecast", "--lake", tmp_path, "--quiet", *arguments)
        assert (done.code, done.out) == (2, "")
        assert "There are no signals in this lake" in done.line
