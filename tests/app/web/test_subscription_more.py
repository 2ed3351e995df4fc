"""Who shares the limit, which consumers are slow, what a policy change did: each only where there is something to say."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.app.web.components import find
from tests.app.web.sample_lake import (
    END_MS,
    SAMPLES,
    START_MS,
    Phase,
    Sample,
    key,
    write_sample_lake,
)
from tests.app.web.test_pages import address, read
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.data import context as stored
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.subscription import context
from throttlescope.app.web.pages.subscription.content import read_view
from throttlescope.app.web.pages.subscription.page_state import PageState, state_of
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS, date_of
from throttlescope.models.diagnosis.single_consumers import Consumer
from throttlescope.models.diagnosis.slowest import SlowConsumers
from throttlescope.models.messages.catalogue import message

WINDOW = (END_MS - 5 * MINUTE_MS, END_MS)
FEED = SubscriptionPartition("sample-east", "persistent://shop/web/feed", -1, "search-index")


def page_of(reader, name: str) -> PageState:
    return PageState.of(state_of(read_view(reader, address(name))))


def with_deltas(tmp_path):
    """A lake with the counters that tell who used what; two subscriptions of one topic, and one of another."""
    chosen = [
        sample for sample in SAMPLES if sample.subscription in ("greedy-export", "search-index", "billing")
    ]
    lake = write_sample_lake(tmp_path, tuple(chosen))
    rows = lake.read("signals")
    span = pa.array([MINUTE_MS] * rows.num_rows, pa.int64())
    rows = rows.set_column(rows.column_names.index("delta_span_ms"), rows.schema.field("delta_span_ms"), span)
    lake.upsert("signals", rows, run_id="spans")
    return LakeReader(lake.root)


@pytest.mark.long
def test_neighbours_of_topic_limit_share_its_partition(tmp_path):
    """The largest use comes first."""
    uses = stored.neighbours(with_deltas(tmp_path), FEED, "topic.msg", *WINDOW)
    assert [(use.key.subscription, use.is_selected) for use in uses] == [
        ("greedy-export", False),
        ("search-index", True),
    ]
    assert sum(use.share for use in uses) == pytest.approx(1)
    assert uses[0].use_per_s == pytest.approx(440, rel=0.01)


@pytest.mark.long
def test_neighbours_of_broker_limit_share_its_broker(tmp_path):
    uses = stored.neighbours(with_deltas(tmp_path), FEED, "broker.msg", *WINDOW)
    assert {use.key.subscription for use in uses} == {"greedy-export", "search-index", "billing"}


@pytest.mark.long
def test_subscription_limit_has_no_neighbours(reader):
    assert stored.neighbours(reader, FEED, "subscription.msg", *WINDOW) == []
    assert stored.neighbours(reader, FEED, None, *WINDOW) == []
    assert context.neighbours([], {"limiter": None}, page_of(reader, "billing")) == []


@pytest.mark.long
def test_neighbours_link_to_same_moment(tmp_path):
    own = with_deltas(tmp_path)
    page = page_of(own, "search-index")
    tree = context.more(own, page)
    said = read(tree)
    assert (
        "Who shares the limit the topic message limit in the selected window: 2 subscriptions, highest use first"
        in said
    )
    assert "this one search-index" in said
    assert "88 %" in said
    (other,) = [link for link in find(tree, "Link") if "greedy-export" in read(link)]
    parsed = SubscriptionAddress.parse(other.href.partition("?")[2])
    assert (parsed.subscription.subscription, parsed.at_ms) == ("greedy-export", page.window_ms[1])


def consumer(name: str, slow: bool | None, **more_) -> Consumer:
    import dataclasses

    values = {field.name: None for field in dataclasses.fields(Consumer)}
    return Consumer(**(values | {"name": name, "consumer_id": name, "slow": slow} | more_))


ONE_SLOW = message("slowest.one_slow", count=2, named="b", fastest=24.7)


def test_slow_consumers_are_marked_with_text():
    listed = (
        consumer("<b>a</b>", True, ack_msg_rate=0.5, permits=0.0),
        consumer("b", False, ack_msg_rate=24.7),
    )
    found = SlowConsumers(None, *WINDOW, listed, 1, 1, 2, "metrics", ONE_SLOW)
    said = read(context.consumers(found))
    assert ONE_SLOW.text in said
    assert "▲ slow" in said
    assert "24.7" in said
    assert context.consumers(None) == []


@pytest.mark.long
def test_unmeasured_consumers_are_explained(reader):
    page = page_of(reader, "billing")
    found = stored.consumers(reader, page.address.subscription, "throttled", *WINDOW)
    said = read(context.consumers(found))
    assert context.consumers(found, are_blamed=False) == [], "a limit holds it: they do not matter"
    assert "exposeConsumerLevelMetricsInPrometheus=true" in said
    assert stored.consumers(reader, page.address.subscription, "healthy", *WINDOW) is None


def limit(sample: Sample, at_minute: int, rate: int | None) -> dict:
    at_ms = START_MS + at_minute * MINUTE_MS
    return key(sample) | {
        "level": "subscription",
        "rate_msg": rate,
        "rate_bytes": None,
        "period_s": 1,
        "counts": "messages",
        "relative_to_publish": False,
        "exempt_caught_up": False,
        "read_batch_entries": 100,
        "read_size_bytes": 5 * 2**20,
        "set_by": "subscription_policy" if rate else "none",
        "observed_ms": at_ms,
        "date": date_of(at_ms),
    }


@pytest.mark.long
def test_change_of_limit_shows_before_and_after(tmp_path):
    limited = {"subscription": (50, None, 1, "subscription_policy")}
    phases = (Phase(0, in_msg=40.0, limits=limited), Phase(90, "healthy", in_msg=80.0, out_msg=200.0))
    sample = Sample("persistent://a/b/c", "changed", phases)
    lake = write_sample_lake(tmp_path, (sample,))
    rows = [limit(sample, 60, 50), limit(sample, 89, 50), limit(sample, 91, None)]
    lake.upsert("limits", pa.Table.from_pylist(rows, schema=TABLES["limits"].loose_schema), run_id="limits")
    own = LakeReader(lake.root)
    subscription = SubscriptionPartition(sample.cluster, sample.topic, -1, "changed")
    found = stored.changes(own, subscription, START_MS, END_MS)
    assert [(one.change.kind, one.change.new_from_ms) for one in found] == [
        ("removed", START_MS + 91 * MINUTE_MS)
    ]
    said = read(context.changes(found))
    assert "The subscription message limit was removed : 50 msg/s to none" in said
    assert "Seen at 2026-11-20 01:31:00 UTC, changed since 01:29:00 UTC." in said
    assert "Published, msg/s" in said
    assert stored.changes(own, subscription, START_MS, START_MS + 91 * MINUTE_MS) == []
    assert context.changes([]) == []
