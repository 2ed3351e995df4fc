"""Which verdicts are shown: filters, runs of one cause, and what held a subscription longest."""

import pytest

from tests.app.lake_of_verdicts import FIVE, HOUR, healthy, lake_with, verdict
from throttlescope.app.queries.verdicts import AGES, VerdictFilter, read_summary, read_verdicts
from throttlescope.app.services.verdict_listing import list_verdicts
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError

STORY = [healthy(0), *(verdict(i) for i in range(1, 4)), verdict(4, "slow_consumers", None), healthy(5)]


@pytest.fixture
def lake(tmp_path):
    other = [verdict(i, cluster="test", subscription="audit", partition=-1) for i in range(6)]
    return lake_with(tmp_path / "lake", STORY + other)


def test_windows_have_start_of_their_run(lake):
    rows = read_verdicts(lake, VerdictFilter(cluster="prod"))
    assert [row["window_start_ms"] for row in rows] == [HOUR + i * FIVE for i in range(6)]
    assert [(row["since_ms"] - HOUR) // FIVE for row in rows] == [0, 1, 1, 1, 4, 5]
    assert set(rows[0]) == {c.name for c in TABLES["verdicts"].columns} - {"date"} | {
        "since_ms",
        *AGES,
    }


def test_gap_or_limiter_change_ends_run(tmp_path):
    rows = [verdict(0), verdict(1), verdict(3), verdict(4, limiter="topic.msg")]
    found = read_verdicts(lake_with(tmp_path, rows), VerdictFilter())
    assert [(row["since_ms"] - HOUR) // FIVE for row in found] == [0, 0, 3, 4]


def test_sliding_windows_are_one_run(tmp_path):
    rows = [verdict(0, start_ms=HOUR + i * 60_000) for i in range(10)]
    assert {row["since_ms"] for row in read_verdicts(lake_with(tmp_path, rows), VerdictFilter())} == {HOUR}


@pytest.mark.long
def test_latest_selects_newest_window_per_subscription(lake):
    rows = read_verdicts(lake, VerdictFilter(latest=True))
    assert [(row["cluster"], row["cause"]) for row in rows] == [("prod", "healthy"), ("test", "throttled")]
    # The cause is asked of the newest windows, not of the newest window with that cause.
    assert [row["cluster"] for row in read_verdicts(lake, VerdictFilter(latest=True, cause="throttled"))] == [
        "test"
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("wanted", "windows"),
    [
        (VerdictFilter(cause="slow_consumers"), 1),
        (VerdictFilter(subscription="persistent://acme/shop/orders#billing"), 6),
        (VerdictFilter(subscription="persistent://acme/shop/orders-partition-3#billing"), 6),
        (VerdictFilter(subscription="persistent://acme/shop/orders-partition-4#billing"), 0),
        (VerdictFilter(cluster="prod", start_ms=HOUR + 2 * FIVE, end_ms=HOUR + 3 * FIVE), 1),
        (VerdictFilter(cluster="prod", start_ms=HOUR + 2 * FIVE - 1, end_ms=HOUR + 3 * FIVE + 1), 3),
        (VerdictFilter(cluster="x' OR '1'='1"), 0),
    ],
)
def test_filters_select_matching_windows(lake, wanted, windows):
    assert len(read_verdicts(lake, wanted)) == windows


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (VerdictFilter(cause="throtled"), "did you mean throttled"),
        (VerdictFilter(subscription="orders#billing"), r"expected \[persistent://"),
        (VerdictFilter(subscription="persistent://acme/shop/orders"), r"expected \[persistent://"),
    ],
)
def test_invalid_filter_is_refused(lake, wanted, words):
    with pytest.raises(InputError, match=words):
        read_verdicts(lake, wanted)


@pytest.mark.long
@pytest.mark.parametrize("shape", ["summary", "windows", "partitions"])
@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("acme/shop/orders#biling", "did you mean persistent://acme/shop/orders#billing"),
        ("acme/shop/orders-partition-4#billing", "did you mean persistent://acme/shop/orders-partition-3#billing"),
        ("else/where/entirely#x", "see throttlescope verdicts"),
    ],
)  # fmt: skip
def test_unknown_subscription_names_the_nearest(lake, shape, name, fix):
    with pytest.raises(InputError, match=f"No backlog of this subscription .* Fix: {fix}"):
        list_verdicts(lake, VerdictFilter(subscription=name), shape)


@pytest.mark.long
@pytest.mark.parametrize("other", [{"cause": "unknown"}, {"end_ms": HOUR}, {"cluster": "elsewhere"}])
def test_known_subscription_may_have_no_row(lake, other):
    wanted = VerdictFilter(subscription="persistent://acme/shop/orders#billing", **other)
    assert list_verdicts(lake, wanted, "summary").rows == []


def test_lake_without_verdicts_suggests_a_run(tmp_path):
    with pytest.raises(InputError, match="throttlescope run"):
        read_verdicts(lake_with(tmp_path, []), VerdictFilter())


@pytest.mark.long
def test_summary_has_main_and_newest_cause(lake):
    prod, test = read_summary(lake, VerdictFilter())
    assert (prod["cause"], prod["limiter"], prod["held_ms"]) == ("throttled", "subscription.msg", 3 * FIVE)
    assert (prod["from_ms"], prod["to_ms"]) == (HOUR + FIVE, HOUR + 4 * FIVE)
    assert (prod["backlog_entries"], prod["naive_side"]) == (5000, "throttle")
    assert (prod["cause_now"], prod["end_ms"]) == ("healthy", HOUR + 6 * FIVE)
    assert (test["cluster"], test["held_ms"]) == ("test", 6 * FIVE)


def test_the_summary_counts_overlapping_windows_once(tmp_path):
    rows = [verdict(0, start_ms=HOUR + i * 60_000) for i in range(10)]
    (row,) = read_summary(lake_with(tmp_path, rows), VerdictFilter())
    assert row["held_ms"] == FIVE + 9 * 60_000


@pytest.mark.long
def test_summary_prefers_trouble_over_health(tmp_path):
    rows = [*(healthy(i) for i in range(9)), verdict(9, "unknown", None), verdict(10)]
    (row,) = read_summary(lake_with(tmp_path, rows), VerdictFilter())
    assert row["cause"] == "throttled"
