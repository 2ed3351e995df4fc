"""``throttlescope anomalies``: what it prints, what it refuses, and how a row is shown."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pytest

from tests.app.commands import throttlescope
from tests.models.anomaly.lakes import Subscription, fill, minute_ms, signals
from tests.models.anomaly.traffic import DAY
from throttlescope.app.presentation.anomalies import exported_columns
from throttlescope.app.queries.anomalies import AnomalyFilter, judge_anomalies, read_anomalies
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import EXIT_INPUT
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import Lake

TODAY = 18
BILLING = "persistent://acme/shop/orders-partition-0#billing"


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    """No throttlescope.toml and no ./lake of the machine is met by accident."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A burst today in billing; audit, with a name that would steer a terminal, is new."""
    billing = Subscription(days=TODAY + 1)
    billing.arrived[TODAY * DAY + 600 : TODAY * DAY + 640] *= 4
    audit = Subscription("audit\x1b[2J", days=TODAY + 1, seed=2)
    audit.present[: 12 * DAY] = False
    folder = tmp_path_factory.mktemp("anomalies") / "lake"
    fill(Lake(folder), "signals", signals(billing, audit))
    return folder


@pytest.mark.long
def test_table_shows_anomalies_and_learning_state(folder):
    outcome = throttlescope("anomalies", "--lake", folder, "--zone", "Europe/Berlin")
    assert outcome.code == 0
    assert "2 anomalies in 1 incident" in outcome.out
    assert "acme/shop/orders-partition-0#billing" in outcome.out
    assert "in_msg_rate up" in outcome.out
    assert "msg/s" in outcome.out
    assert f"{format_time(minute_ms(TODAY, 600))[:16].replace('T', ' ')}" in outcome.out
    until = format_time(minute_ms(12 + 14))[:16].replace("T", " ")
    assert f"Learning: 1 subscription partition, the first until {until} UTC." in outcome.out
    assert "Weeks of Europe/Berlin" in outcome.out
    assert "\x1b" not in outcome.out
    assert "Comparing with the weeks before" in outcome.err


@pytest.mark.long
def test_json_and_csv_have_every_column(folder):
    rows = json.loads(throttlescope("anomalies", "--lake", folder, "--format", "json", "--quiet").out)
    assert {(row["subscription"], row["state"]) for row in rows} == {
        ("billing", "closed"),
        ("audit\x1b[2J", "learning"),
    }
    assert {tuple(row) for row in rows} == {tuple(exported_columns())}
    table = throttlescope("anomalies", "--lake", folder, "--format", "csv", "--quiet").out
    cells = list(csv.DictReader(io.StringIO(table)))
    assert [row["signal"] for row in cells] == [row["signal"] for row in rows]


@pytest.mark.long
def test_selector_and_range_filter_rows(folder):
    command = ("anomalies", "--lake", folder, "--format", "json", "--quiet", "--subscription", BILLING)
    assert len(json.loads(throttlescope(*command).out)) == 2
    before = (*command, "--start", format_time(minute_ms(TODAY - 1)), "--end", format_time(minute_ms(TODAY)))
    assert json.loads(throttlescope(*before).out) == []


@pytest.mark.long
def test_no_anomalies_is_a_success(folder):
    outcome = throttlescope(
        "anomalies",
        "--lake",
        folder,
        "--subscription",
        BILLING,
        "--end",
        format_time(minute_ms(TODAY)),
        "--quiet",
    )
    assert outcome.code == 0
    assert "0 anomalies in 0 incidents" in outcome.out
    assert outcome.err == ""


@pytest.mark.long
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--zone", "Berlin"], "no such time zone"),
        (["--subscription", "orders"], "expected [persistent://]"),
        (["--subscription", BILLING.replace("billing", "nobody")], "no signals of it"),
        (["--cluster", "nowhere"], "no signals in this lake of nowhere"),
        (["--start", "yesterday"], "time cannot be read"),
        (["--start", "2030-01-01", "--end", "2029-01-01"], "start is not before the end"),
        (["--stored"], "--store"),
        (["--store", "--stored"], "leave one of them out"),
        (["--store", "--subscription", BILLING], "leave one of them out"),
    ],
)
def test_bad_input_is_one_line(folder, flags, words):
    outcome = throttlescope("anomalies", "--lake", folder, "--quiet", *flags)
    assert outcome.code == EXIT_INPUT
    assert words in outcome.line
    assert outcome.out == ""


def test_lake_without_signals_suggests_a_run(tmp_path):
    outcome = throttlescope("anomalies", "--lake", tmp_path / "nothing")
    assert (outcome.code, "throttlescope run" in outcome.line) == (EXIT_INPUT, True)


@pytest.mark.long
def test_stored_anomalies_are_read_back(folder, tmp_path):
    found = judge_anomalies(Lake(folder), AnomalyFilter())
    lake = Lake(tmp_path / "copy")
    schema = TABLES["anomalies"].schema
    lake.upsert("anomalies", pa.Table.from_pylist(found.rows, schema=schema), run_id="by hand")
    day = {"start_ms": found.start_ms, "end_ms": found.end_ms}
    assert read_anomalies(lake, AnomalyFilter(**day)).rows == sorted(
        found.rows, key=lambda row: (row["subscription"], row["start_ms"], row["signal"])
    )
    assert len(read_anomalies(lake, AnomalyFilter(subscription=BILLING, **day)).rows) == 2
    assert read_anomalies(lake, AnomalyFilter(cluster="other", **day)).rows == []
    early = AnomalyFilter(start_ms=found.start_ms - 10_000_000, end_ms=found.start_ms)
    assert read_anomalies(lake, early).rows == []


@pytest.mark.spark
@pytest.mark.study
def test_stored_anomalies_print_as_computed(spark, folder):
    stored = throttlescope("anomalies", "--lake", folder, "--store", "--format", "json", "--quiet")
    assert stored.code == 0
    again = throttlescope("anomalies", "--lake", folder, "--stored", "--format", "json", "--quiet")
    assert json.loads(again.out) == json.loads(stored.out)
    assert {row["state"] for row in json.loads(stored.out)} == {"closed", "learning"}
