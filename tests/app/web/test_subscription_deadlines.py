"""Deadlines, as forecast for the selected window: losses first, old forecasts marked, nothing invented."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.app.web.components import find
from tests.app.web.sample_lake import END_MS, START_MS, Phase, Sample, key, write_sample_lake
from tests.app.web.test_pages import address, read
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.data.outlook import StoredOutlook, outlook
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.subscription import page as subscription
from throttlescope.app.web.pages.subscription.content import read_view
from throttlescope.app.web.pages.subscription.deadlines import deadlines
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS, date_of

VERDICT = {"window_end_ms": END_MS, "cause": "throttled"}
BILLING = SubscriptionPartition("sample-east", "persistent://shop/checkout/orders", -1, "billing")


def forecast(kind="ttl", state="expected", minutes=120, made_at_ms=END_MS, **more) -> dict:
    expected = state == "expected"
    return {
        "kind": kind,
        "state": state,
        "method": "trend",
        "made_at_ms": made_at_ms,
        "predicted_ms": made_at_ms + minutes * MINUTE_MS if expected else None,
        "low_ms": made_at_ms + (minutes - 20) * MINUTE_MS if expected else None,
        "high_ms": made_at_ms + (minutes + 30) * MINUTE_MS if expected else None,
        "probability": 0.83,
        "consequence": "The broker drops them.",
        "basis": "of 12 points",
    } | more


def deadlines_text(*rows, verdict=VERDICT, **more) -> str:
    return read(deadlines(StoredOutlook(tuple(rows), are_stored=True, **more), verdict))


def test_loss_shows_time_interval_consequence_probability():
    assert deadlines_text(forecast()) == (
        "Deadlines, if nothing changes Messages expire (TTL) in 2 h, at 05:00:00 UTC , 90 %: 04:40:00 to 05:30:00. "
        "83 % likely before it is drained. The broker drops them."
    )


def test_losses_come_before_drain():
    """What is not expected comes last."""
    tree = deadlines(
        StoredOutlook(
            (forecast("quota_age", "never"), forecast("drain", minutes=20), forecast(minutes=90)), True
        ),
        VERDICT,
    )
    rows = [read(row) for row in find(tree, "Li")]
    assert rows[0].startswith("Messages expire (TTL) in 1 h 30 m")
    assert rows[1] == "Drained in 20 m, at 03:20:00 UTC , 90 %: 03:00:00 to 03:50:00."
    assert rows[2] == "The backlog quota by age is not reached at the current rate."
    assert [getattr(row, "className", None) for row in find(tree, "Li")] == ["loss", None, None]


def test_missing_trend_gives_no_time():
    assert "No forecast yet of when the backlog is drained." in deadlines_text(forecast("drain", "unknown"))
    never = deadlines_text(forecast("drain", "never", low_ms=END_MS + 60 * MINUTE_MS))
    assert (
        "At the current rate the backlog will not drain. In 9 of 10 cases not before 2026-11-20 04:00:00 UTC."
        in never
    )


def test_intervals_show_open_ends_and_days():
    words = deadlines_text(forecast("drain", minutes=20, high_ms=None))
    assert "90 %: 03:00:00 to open." in words
    tomorrow = deadlines_text(forecast("drain", minutes=22 * 60))
    assert "90 %: 11-21 00:40" in tomorrow or "90 %: 00:40:00 to" in tomorrow


def test_only_old_forecasts_are_marked():
    assert "Outdated: computed 1 h before this window's end." in deadlines_text(
        forecast(made_at_ms=END_MS - 60 * MINUTE_MS)
    )
    assert "Outdated" not in deadlines_text(forecast(made_at_ms=END_MS - 15 * MINUTE_MS))


def test_passed_deadline_is_shown_as_past():
    words = deadlines_text(forecast(made_at_ms=END_MS - 25 * MINUTE_MS, minutes=20))
    assert "at 02:55:00 UTC, 5 m before this window's end" in words


@pytest.mark.parametrize(
    ("found", "verdict", "words"),
    [
        (StoredOutlook(), VERDICT, "The lake has no forecasts."),
        (StoredOutlook(are_stored=True), VERDICT | {"cause": "healthy"}, "No backlog to forecast."),
        (
            StoredOutlook(are_stored=True),
            VERDICT,
            "No forecast was made for it in the day before this window.",
        ),
    ],
)
def test_each_empty_state_has_its_text(found, verdict, words):
    assert words in read(deadlines(found, verdict))


@pytest.mark.long
def test_newest_forecast_up_to_window_counts(reader):
    at_the_end = outlook(reader, BILLING, END_MS - 5 * MINUTE_MS, END_MS).forecasts
    assert [(row["kind"], row["made_at_ms"]) for row in at_the_end] == [("ttl", END_MS), ("drain", END_MS)]
    before = outlook(reader, BILLING, END_MS - 15 * MINUTE_MS, END_MS - 10 * MINUTE_MS).forecasts
    assert [(row["kind"], row["made_at_ms"]) for row in before] == [("ttl", END_MS - 15 * MINUTE_MS)]
    assert outlook(reader, BILLING, START_MS, START_MS + MINUTE_MS).forecasts == ()


@pytest.mark.long
def test_deadlines_are_on_the_card(reader):
    top, _, _ = read(subscription.page(read_view(reader, address("billing")))).partition("Verdict over time")
    assert "Deadlines, if nothing changes Messages expire (TTL) in 2 h 14 m, at 05:14:00 UTC" in top
    assert "Drained in 20 m" in top


@pytest.mark.long
def test_lake_without_forecasts_is_recognized(tmp_path):
    sample = Sample("persistent://a/b/c", "bare", (Phase(0),))
    lake = write_sample_lake(tmp_path, (sample,))
    bare = LakeReader(lake.root)
    found = outlook(bare, SubscriptionPartition(sample.cluster, sample.topic, -1, "bare"), START_MS, END_MS)
    assert not found.are_stored
    row = key(sample) | forecast() | {"unit": "s", "method_version": "0", "date": date_of(END_MS)}
    lake.upsert(
        "forecasts", pa.Table.from_pylist([row], schema=TABLES["forecasts"].loose_schema), run_id="late"
    )
    assert outlook(
        bare, SubscriptionPartition(sample.cluster, sample.topic, -1, "bare"), START_MS, END_MS
    ).are_stored
