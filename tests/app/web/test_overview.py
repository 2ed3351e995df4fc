"""The first page: what a person reads on it, of a full lake, an empty one, and one that was never judged further."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.app.web.components import find
from tests.app.web.sample_lake import END_MS, SAMPLES, START_MS, Phase, Sample, write_sample_lake
from tests.app.web.test_pages import read
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.components.shared_incident import shared_link
from throttlescope.app.web.data import newest
from throttlescope.app.web.data import overview as queries
from throttlescope.app.web.data.overview import LastRun
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages import overview
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake


@pytest.mark.long
def test_the_whole_page_reads_in_order(reader):
    said = read(overview.page(reader))
    for words in (
        "Overview",
        "data up to 2026-11-20 03:00:00 UTC",
        "demo done at",
        "Throttled",
        "Open backlogs",
    ):
        assert words in said
    assert said.index("Upcoming message loss") < said.index("Shared incidents") < said.index("Open backlogs")


def test_next_loss_is_first(reader):
    """Only the newest forecast counts."""
    rows = queries.next_losses(reader)
    assert [(row["subscription"], row["kind"]) for row in rows] == [
        ("thumbnails", "quota_size"),
        ("billing", "ttl"),
    ]
    assert rows[1]["predicted_ms"] == END_MS + 134 * MINUTE_MS
    assert rows[1]["cause"] == "throttled"
    said = read(overview.losses(rows, newest.freshness(reader), is_forecast=True))
    assert "billing shop/checkout/orders ▲ Throttled subscription.msg messages expire in 2 h 14 m" in said
    assert "11-20 05:09 or later" in said


def test_each_empty_state_has_its_text(reader):
    freshness = newest.freshness(reader)
    assert "No forecasts yet." in read(overview.losses([], freshness, is_forecast=False))
    assert "No loss is expected" in read(overview.losses([], freshness, is_forecast=True))
    assert "No episodes yet." in read(overview.incidents([], freshness, are_judged=False))
    assert "No limiter or broker affects several" in read(overview.incidents([], freshness, are_judged=True))
    assert "Every backlog is drained." in read(overview.backlogs([], 0, freshness, are_judged=True))


def test_empty_lake_shows_how_to_start(tmp_path):
    said = read(overview.page(LakeReader(tmp_path)))
    assert "No verdicts yet." in said
    assert "throttlescope run" in said


@pytest.mark.long
def test_largest_backlogs_come_from_episodes(reader):
    rows, total = queries.open_episodes(reader, most=2)
    everything, _ = queries.open_episodes(reader, most=1000)
    assert len(rows) == 2 < total == len(everything)
    sizes = [row["last_entries"] for row in everything]
    assert sizes == sorted(sizes, reverse=True)
    assert "the largest 2 of" in read(
        overview.backlogs(rows, total, newest.freshness(reader), are_judged=True)
    )
    links = find(overview.backlogs(everything, total, newest.freshness(reader), are_judged=True), "Link")
    assert all(link.href.startswith("/subscription?cluster=") for link in links)


@pytest.mark.long
def test_backlog_at_its_floor_is_not_listed(tmp_path):
    """Its episode stays open."""
    lake = write_sample_lake(tmp_path, SAMPLES[:3])
    rows, total = queries.open_episodes(LakeReader(tmp_path))
    (open_row,) = (
        row for row in lake.read("episodes").to_pylist() if row["subscription"] == rows[0]["subscription"]
    )
    rest = open_row | {"over_until_ms": open_row["known_until_ms"] - 2 * MINUTE_MS, "last_entries": 3.0}
    lake.upsert(
        "episodes", pa.Table.from_pylist([rest], schema=TABLES["episodes"].loose_schema), run_id="later"
    )
    left, count = queries.open_episodes(LakeReader(tmp_path))
    assert count == total - 1
    assert left == rows[1:]


@pytest.mark.long
def test_counts_are_compared_with_a_day_before(tmp_path):
    lake = write_sample_lake(tmp_path, SAMPLES[:3])
    assert queries.counts_a_day_before(LakeReader(tmp_path)) is None
    verdicts = lake.read("verdicts").to_pylist()
    # A day earlier all were healthy but the first, and two minutes later none was judged.
    earlier = [
        row
        | {
            "window_start_ms": row["window_start_ms"] - DAY_MS,
            "window_end_ms": row["window_end_ms"] - DAY_MS,
            "cause": "throttled" if row["subscription"] == "billing" else "healthy",
            "date": date_of(row["window_start_ms"] - DAY_MS),
        }
        for row in verdicts
    ]
    lake.upsert(
        "verdicts", pa.Table.from_pylist(earlier, schema=TABLES["verdicts"].loose_schema), run_id="earlier"
    )
    reader = LakeReader(tmp_path)
    assert queries.counts_a_day_before(reader) == {"throttled": 1, "healthy": 2}
    said = read(overview.page(reader))
    # Now: billing is throttled, ledger has slow consumers, audit is healthy.
    assert "▲ Throttled 1 no change" in said
    assert "● Slow consumers 1 +1" in said
    assert "✓ Healthy 1 -1" in said
    assert "compared with 24 h earlier" in said


def test_failed_run_is_shown():
    failed = overview.run_line(LastRun("run", "failed", END_MS, START_MS))
    assert read(failed[0]) == ("run failed at 2026-11-20 03:00:00 UTC; last success 2026-11-20 00:00:00 UTC")
    assert failed[0].className == "run-failed"
    assert "no run has succeeded" in read(overview.run_line(LastRun("run", "gated", END_MS, None))[0])
    assert overview.run_line(None) == []


@pytest.mark.long
def test_shared_incidents_name_what_is_shared(tmp_path):
    throttled = Phase(60, "throttled", "throttle", "topic.msg", in_msg=100.0, out_msg=20.0,
                      limits={"topic": (60, None, 1, "topic_policy")})  # fmt: skip
    topic = "persistent://shop/web/feed"
    samples = tuple(
        Sample(topic, name, (Phase(0), throttled), every_minutes=1) for name in ("one", "two", "three")
    )
    lake = write_sample_lake(tmp_path, samples)
    assert isinstance(lake, Lake)
    reader = LakeReader(tmp_path)
    rows = queries.open_incidents(reader)
    assert [(row["kind"], row["shared_with"], row["subscriptions"]) for row in rows] == [
        ("topic_limiter", topic, 3)
    ]
    shown = overview.incidents(rows, newest.freshness(reader), are_judged=True)
    (link,) = find(shown, "Link")
    opened = RollupsAddress.parse(link.href.partition("?")[2])
    assert (opened.by, opened.name) == ("topic", topic)
    broker = shared_link(
        {"kind": "broker_limiter", "shared_with": "b:8080", "cluster": "c"}, START_MS, END_MS
    )
    opened = RollupsAddress.parse(broker.href.partition("?")[2])
    assert opened == RollupsAddress(
        "broker", clusters=("c",), name="b:8080", start_ms=START_MS, end_ms=END_MS
    )
    said = read(shown)
    assert "the topic's limit shop/web/feed" in said
    assert "3 on 1 topic" in said
