"""Ages of backlogs next to verdicts: reported ones first, estimates only for verdicts with a cause, and the objective that uses them."""

from __future__ import annotations

import pytest

from tests.app.lake_of_verdicts import FIVE, HOUR, healthy, lake_with, verdict
from tests.models.episodes.scenes import fill
from tests.models.episodes.scenes import minutes as rows_of
from throttlescope.app.presentation.verdicts import exported, exported_columns, print_windows
from throttlescope.app.queries.backlog_ages import COLUMNS
from throttlescope.app.queries.verdicts import VerdictFilter
from throttlescope.app.services.verdict_listing import list_verdicts
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.window import SubscriptionKey

KEY = SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", 3, "billing")
MINUTES = 30


@pytest.fixture
def lake(tmp_path):
    """Half an hour at one entry per second; the newest window waits for ten minutes of them, the one before is healthy."""
    rows = [healthy(4), verdict(5, backlog_entries=600.0)]
    lake = lake_with(tmp_path / "lake", rows)
    signals = rows_of(
        [600.0] * MINUTES, key=KEY, start_ms=HOUR, in_msg_delta=60.0, in_span_ms=60_000, messages_per_entry=1.0,
        scrape_interval_ms=15_000, backlog_age_s=5000.0, backlog_entries=600.0,
    )  # fmt: skip
    fill(lake, "signals", signals, "minute_ms")
    return lake


def listed(lake, shape="windows", **wanted):
    return list_verdicts(lake, VerdictFilter(**wanted), shape).rows


@pytest.mark.long
def test_age_is_estimated_for_a_cause_only(lake):
    well, throttled = listed(lake)
    assert [well[name] for name in COLUMNS] == [None, None, None, None, "no_backlog"]
    assert throttled["oldest_age_source"] == "publish_history"
    assert throttled["oldest_age_s"] == pytest.approx(607.5)
    assert throttled["oldest_age_low_s"] < 600 < throttled["oldest_age_high_s"]


@pytest.mark.long
def test_summary_has_the_age_too(lake):
    (row,) = listed(lake, "summary")
    assert (row["to_ms"], row["oldest_age_source"]) == (HOUR + 6 * FIVE, "publish_history")


@pytest.mark.long
def test_export_carries_age_and_reason(lake):
    assert set(COLUMNS) <= set(exported_columns())
    assert exported(listed(lake)[0])["oldest_age_unknown"] == "no_backlog"


def test_reported_age_needs_no_history(tmp_path):
    lake = lake_with(tmp_path / "lake", [verdict(0, backlog_entries=600.0)])
    signals = rows_of([600.0] * 5, key=KEY, start_ms=HOUR, subscription_backlog_age_s={4: 42.0})
    fill(lake, "signals", signals, "minute_ms")
    (row,) = listed(lake)
    assert (row["oldest_age_s"], row["oldest_age_source"]) == (42.0, "metric")


def test_lake_without_minutes_has_no_age(tmp_path):
    (row,) = listed(lake_with(tmp_path / "lake", [verdict(0)]))
    assert (row["oldest_age_s"], row["oldest_age_unknown"]) == (None, "not_measured")


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "age about 10 min 7 s > 5 min"),
        ({"oldest_age_source": "metric"}, "age 10 min 7 s > 5 min"),
        ({"oldest_age_s": None, "oldest_age_low_s": 400.0}, "age at least 6 min 40 s > 5 min"),
        ({"oldest_age_s": None, "oldest_age_low_s": None}, "age of the topic 1 h 23 min > 5 min"),
        ({"oldest_age_s": 100.0}, None),
    ],
)
def test_objective_marks_the_own_age(lake, capsys, changes, text):
    class Objectives:
        backlog_entries, backlog_age_s = None, 300.0

    row = listed(lake)[1] | changes
    print_windows([row], Objectives(), now_ms=HOUR + MINUTES * MINUTE_MS)
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert (text in said) if text else ("> 5 min" not in said)
