"""The only reader: sorted, filtered and paged by the server, always from one whole version."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.app.web.sample_lake import (
    END_MS,
    HOSTILE_NAME,
    SAMPLES,
    START_MS,
    Phase,
    Sample,
    write_sample_lake,
)
from throttlescope.app.presentation.causes import ORDER
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.data import history, newest
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.lake import Lake

BILLING = SubscriptionPartition("sample-east", "persistent://shop/checkout/orders", -1, "billing")


def names(reader, address=None, **options):
    rows, _ = newest.subscriptions(reader, address or SubscriptionsAddress(), **options)
    return [row["subscription"] for row in rows]


@pytest.mark.long
def test_every_subscription_has_one_row(reader):
    rows, total = newest.subscriptions(reader, SubscriptionsAddress(), end=1000)
    assert total == len(rows) == len(SAMPLES)
    assert len({(row["cluster"], row["topic"], row["subscription"]) for row in rows}) == total


@pytest.mark.long
def test_troubled_subscriptions_come_first(reader):
    rows, _ = newest.subscriptions(reader, SubscriptionsAddress(), end=1000)
    healthy = [row["cause"] == "healthy" for row in rows]
    assert healthy == sorted(healthy)
    waiting = [row["backlog_entries"] for row in rows if row["cause"] != "healthy"]
    assert waiting == sorted(waiting, reverse=True)
    # The first healthy one is the one whose main cause differs.
    assert rows[healthy.index(True)]["subscription"] == "recommendations"


@pytest.mark.long
def test_pages_join_to_all_rows(reader):
    whole = names(reader, end=1000)
    paged = [name for start in range(0, len(whole), 7) for name in names(reader, start=start, end=start + 7)]
    assert paged == whole


@pytest.mark.long
@pytest.mark.parametrize(
    ("view", "column", "field"),
    [
        ("now", "backlog", "backlog_entries"),
        ("now", "confidence", "confidence"),
        ("now", "topic", "topic"),
        ("now", "cause", "cause_rank"),
        ("now", "other", "main_rank"),
        ("now", "naive", "naive_side"),
        ("recent", "backlog", "main_peak_entries"),
        ("recent", "cause", "main_rank"),
        ("recent", "held", "main_held_ms"),
        ("recent", "when", "main_from_ms"),
        ("recent", "other", "cause_rank"),
    ],
)
def test_sorting_follows_what_the_view_shows(reader, view, column, field):
    address = SubscriptionsAddress(view=view)
    up, _ = newest.subscriptions(reader, address, sort=[(column, False)], end=1000)
    down, _ = newest.subscriptions(reader, address, sort=[(column, True)], end=1000)
    values = [row[field] for row in up]
    assert values == sorted(values)
    assert len(set(values)) > 1
    assert [row[field] for row in down] == values[::-1]


@pytest.mark.long
def test_unknown_sort_column_is_ignored(reader):
    """It never becomes SQL."""
    assert names(reader, sort=[("cause; DROP TABLE latest", True)], end=5) == names(reader, end=5)
    assert names(reader, end=5)


@pytest.mark.long
@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("billing", {"billing"}),
        ("BILL", {"billing"}),
        ("persistent://shop/checkout/orders#billing", {"billing"}),
        ("payments-partition-2#ledger", {"ledger"}),
        ("sample-west lifted", {"recommendations"}),
        ("shop %", {HOSTILE_NAME}),
        ("' OR 1=1 --", set()),
        ("_illing", set()),
        (HOSTILE_NAME, {HOSTILE_NAME}),
    ],
)
def test_search_finds_all_words_in_the_names(reader, search, expected):
    assert set(names(reader, SubscriptionsAddress(search=search), end=1000)) == expected


@pytest.mark.long
def test_filters_by_cause_follow_the_view(reader):
    throttled = {"billing", "thumbnails", "search-index", "greedy-export", HOSTILE_NAME}
    assert set(names(reader, SubscriptionsAddress(causes=("throttled",), view="now"))) == throttled
    assert set(names(reader, SubscriptionsAddress(causes=("throttled",), view="recent"))) == throttled | {
        "recommendations"
    }
    west = SubscriptionsAddress(clusters=("sample-west",), causes=("throttled",), view="recent")
    assert names(reader, west) == ["recommendations"]


@pytest.mark.long
def test_counts_agree_with_rows(reader):
    counts = {count.cause: count for count in newest.cause_counts(reader, SubscriptionsAddress())}
    rows, total = newest.subscriptions(reader, SubscriptionsAddress(), end=1000)
    assert (
        sum(count.now for count in counts.values()) == sum(count.recent for count in counts.values()) == total
    )
    for cause, count in counts.items():
        assert count.now == sum(row["cause"] == cause for row in rows)
        assert count.recent == sum(row["main_cause"] == cause for row in rows)
    assert [count.cause for count in newest.cause_counts(reader, SubscriptionsAddress())] == [
        c for c in ORDER if c in counts
    ]


@pytest.mark.long
def test_healthy_system_topics_are_hidden(tmp_path):
    samples = (
        Sample("persistent://a/b/c", "mine", (Phase(0),)),
        Sample("persistent://a/b/__change_events", "quiet", (Phase(0),)),
        Sample("persistent://a/__b/c", "not a topic of its own", (Phase(0),)),
        Sample(
            "persistent://a/b/__transaction_log",
            "stuck",
            (Phase(0), Phase(100, "no_consumers", "consumer_capacity")),
        ),
    )
    write_sample_lake(tmp_path, samples)
    reader = LakeReader(tmp_path)
    assert set(names(reader)) == {"mine", "stuck", "not a topic of its own"}
    assert set(names(reader, SubscriptionsAddress(own_topics=True))) == {
        sample.subscription for sample in samples
    }
    assert newest.freshness(reader).own_topics == 1


def test_freshness_names_the_source(reader):
    freshness = newest.freshness(reader)
    assert freshness.data_up_to_ms == END_MS
    assert freshness.clusters == ("sample-east", "sample-west")
    assert freshness.is_recording


@pytest.mark.long
def test_subscription_history_is_complete_and_ordered(reader):
    assert history.span(reader, BILLING) == (START_MS, END_MS)
    minutes = history.signals(reader, BILLING, START_MS, END_MS)
    assert minutes["minute_ms"].tolist() == list(range(START_MS, END_MS, 60_000))
    verdicts = history.verdicts(reader, BILLING, START_MS, END_MS)
    assert [row["window_end_ms"] for row in verdicts] == list(range(START_MS + 300_000, END_MS + 1, 60_000))
    assert verdicts[-1]["evidence"][0]["symptom"] == "rho_subscription_msg"
    causes = history.causes(reader, BILLING, START_MS, END_MS)
    assert [(row["window_end_ms"], row["cause"]) for row in causes] == [
        (row["window_end_ms"], row["cause"]) for row in verdicts
    ]


@pytest.mark.long
def test_ranges_are_half_open(reader):
    middle = START_MS + 90 * 60_000
    assert history.signals(reader, BILLING, START_MS, middle)["minute_ms"].max() == middle - 60_000
    assert history.verdicts(reader, BILLING, START_MS, middle)[-1]["window_end_ms"] == middle
    assert history.verdicts(reader, BILLING, middle, END_MS)[0]["window_end_ms"] == middle + 60_000


@pytest.mark.long
def test_unknown_subscription_has_no_span(reader):
    assert (
        history.span(
            reader, SubscriptionPartition("sample-east", "persistent://shop/checkout/orders", 0, "billing")
        )
        is None
    )
    assert history.signals(reader, SubscriptionPartition("x", "y", -1, "z"), 0, END_MS).empty


@pytest.mark.long
def test_only_recordings_have_truth(reader):
    lifted = SubscriptionPartition("sample-west", "persistent://shop/web/lifted", -1, "recommendations")
    assert [row["cause"] for row in history.truth(reader, lifted, START_MS, END_MS)] == [
        "healthy",
        "throttled",
        "healthy",
    ]
    assert history.truth(reader, BILLING, START_MS, END_MS) == []


def test_empty_lake_gives_no_rows(tmp_path):
    reader = LakeReader(tmp_path / "none")
    assert newest.freshness(reader).data_up_to_ms is None
    assert newest.cause_counts(reader, SubscriptionsAddress()) == []
    assert newest.subscriptions(reader, SubscriptionsAddress()) == ([], 0)
    assert history.span(reader, BILLING) is None
    assert not (tmp_path / "none").exists(), "reading creates nothing"


@pytest.mark.long
def test_next_request_sees_a_commit(tmp_path):
    one = Sample("persistent://a/b/c", "one", (Phase(0),))
    two = Sample("persistent://a/b/c", "two", (Phase(0),))
    write_sample_lake(tmp_path / "lake", (one,))
    reader = LakeReader(tmp_path / "lake")
    assert names(reader) == ["one"]
    write_sample_lake(tmp_path / "lake", (two,))
    assert sorted(names(reader)) == ["one", "two"]


@pytest.mark.long
def test_reader_survives_vacuumed_files(tmp_path):
    """The old snapshot's files go away between two requests: the reader takes the newest version."""
    sample = Sample("persistent://a/b/c", "one", (Phase(0),))
    lake = write_sample_lake(tmp_path / "lake", (sample,))
    reader = LakeReader(tmp_path / "lake")
    key = SubscriptionPartition("sample-east", "persistent://a/b/c", -1, "one")
    assert len(history.signals(reader, key, START_MS, END_MS)) == 180
    stale = reader._snapshot
    write_sample_lake(tmp_path / "lake", (Sample("persistent://a/b/c", "two", (Phase(0),)),))
    kept = {
        file.path for table in ("signals", "verdicts", "ingest_runs") for file in Lake(lake.root).files(table)
    }
    for path in Path(lake.root).glob("*/data/**/*.parquet"):
        if str(path) not in kept:
            path.unlink()
    # A request that still holds the old list, as one that began before the commit.
    reader._current = iter([stale, type(reader)(lake.root)._current()]).__next__
    assert len(history.signals(reader, key, START_MS, END_MS)) == 180


@pytest.mark.long
def test_deleted_lake_reads_as_empty(tmp_path):
    write_sample_lake(tmp_path / "lake", SAMPLES[:1])
    reader = LakeReader(tmp_path / "lake")
    assert names(reader)
    shutil.rmtree(tmp_path / "lake")
    assert names(reader) == []
