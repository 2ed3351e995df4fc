"""The first page: what a person reads on it, of a full lake, an empty one, and one that was never judged further."""

from __future__ import annotations

import dataclasses
import itertools

import pyarrow as pa
import pytest

from tests.app.web.components import find
from tests.app.web.sample_lake import END_MS, SAMPLES, START_MS, Phase, Sample, write_sample_lake
from tests.app.web.test_pages import read
from tests.naive.timeline import fullest_moments
from throttlescope.app.presentation.causes import CAUSES, GROUPS
from throttlescope.app.presentation.figures.sparkline import WIDTH_PX, backlog_path, trend_path
from throttlescope.app.presentation.figures.timeline import timeline_figure
from throttlescope.app.web.address.overview import LENGTHS_MS, OverviewAddress
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.shared_incident import shared_link
from throttlescope.app.web.components.treemap import squarified
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.backlogs import recent_backlogs
from throttlescope.app.web.data.overview import LastRun, overview, version
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.data.timeline import MOST_BINS, STEPS_MS, step_of
from throttlescope.app.web.pages.overview import page as overview_page
from throttlescope.app.web.pages.overview.over_time import over_time
from throttlescope.app.web.pages.overview.panels import deadlines, incidents, limits
from throttlescope.app.web.pages.overview.places import places
from throttlescope.app.web.pages.overview.state import state
from throttlescope.app.web.pages.overview.worst import worst
from throttlescope.app.web.pages.subscriptions.subscriptions_table import grid_row
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake


@pytest.fixture(scope="module")
def reader(sample_lake):
    """One for all: a snapshot takes longer than most of these tests."""
    return LakeReader(sample_lake)


@pytest.fixture(scope="module")
def view(reader):
    return overview(reader, OverviewAddress())


@pytest.mark.long
def test_the_whole_page_reads_in_order(reader):
    said = read(overview_page.page(reader))
    parts = (
        "data up to 2026-11-20 03:00:00 UTC", "demo done at", "8 of 34 subscriptions have a problem", "Worst: search-index",
        "Rate limiter", "Subscriptions with a problem over time", "Backlog by", "Largest backlogs with a problem",
        "Limits close to exhaustion", "Deadlines", "Open incidents",
    )  # fmt: skip
    places_of = [said.index(words) for words in parts]
    assert places_of == sorted(places_of)


def test_state_counts_groups_of_causes(view):
    assert view.counts.judged == 34
    assert {group: view.counts.of(causes) for group, causes in GROUPS.items()} == {
        "limiter": 5,
        "consumers": 2,
        "other": 0,
        "unknown": 1,
    }
    assert view.counts.troubled == 8
    # An hour before, the hostile name was healthy.
    assert dict(view.before)[BLOCK_MS].causes["throttled"] == 4
    assert "Rate limiter 5 +1 in 1 h" in read(state(view))


def test_every_cause_is_in_one_group():
    of_groups = list(itertools.chain(*GROUPS.values()))
    assert sorted(of_groups) == sorted(word for word in CAUSES if word != "healthy")


def test_worst_subscription_is_one_link_away(view):
    """The headline's link is that of the first row."""
    (link,) = [one for one in find(state(view), "Link") if one.className == "worst-link"]
    first = next(one for one in find(worst(view), "Link") if one.className == "row-link")
    assert link.href == first.href
    assert link.href.startswith("/subscription?cluster=sample-east")
    entries = [row["backlog_entries"] for row in view.worst]
    assert entries == sorted(entries, reverse=True)


def test_filter_lists_its_causes_alone(reader, view):
    filtered = overview(reader, OverviewAddress(causes=GROUPS["consumers"]))
    assert {row["subscription"] for row in filtered.worst} == {"ledger", "archive"}
    assert filtered.worst_of_all["subscription"] == view.worst[0]["subscription"]
    assert filtered.counts == view.counts
    said = read(worst(filtered))
    assert "Largest backlogs: consumers" in said
    assert "Show all causes" in said
    assert OverviewAddress(causes=GROUPS["consumers"]).toggled(*GROUPS["consumers"]).causes == ()


def test_timeline_equals_its_slow_twin(view, sample_lake):
    rows = Lake(sample_lake).read("verdicts").to_pylist()
    wanted = fullest_moments(rows, view.start_ms, view.end_ms, view.timeline.step_ms)
    found = {one.start_ms: (one.at_ms, one.causes) for one in view.timeline.bins if one.at_ms is not None}
    assert len(found) > 20
    assert found == wanted
    assert all(one.was_judged for one in view.timeline.bins)


def test_newest_range_begins_with_first_verdict(view, reader):
    """Six hours are the default, and the lake has three."""
    assert (view.start_ms, view.end_ms) == (START_MS, END_MS)
    pinned = overview(reader, OverviewAddress(start_ms=START_MS - 2 * BLOCK_MS, end_ms=END_MS))
    assert pinned.start_ms == START_MS - 2 * BLOCK_MS
    unjudged = [one for one in pinned.timeline.bins if not one.was_judged]
    assert unjudged
    assert max(one.start_ms for one in unjudged) < START_MS
    assert "grey: no verdicts" in read(over_time(pinned))


@pytest.mark.parametrize("length_ms", LENGTHS_MS.values())
def test_bins_of_any_range_are_few(length_ms):
    step_ms = step_of(0, length_ms)
    assert step_ms in STEPS_MS
    assert length_ms / step_ms <= MOST_BINS


def test_moment_of_the_past_is_shown(reader, view):
    """At half past one ledger was fine, and its verdict of now does not count."""
    at_ms = START_MS + 90 * MINUTE_MS
    past = overview(reader, OverviewAddress(at_ms=at_ms))
    assert not past.is_now
    assert past.counts.at_ms == at_ms
    assert "ledger" not in {row["subscription"] for row in past.worst}
    assert "recommendations" in {row["subscription"] for row in past.worst}
    assert "recommendations" not in {row["subscription"] for row in view.worst}
    said = read(state(past))
    assert "at 01:30:00 UTC" in said
    assert "back to the newest" in said
    assert "at=2026-11-20T01%3A30%3A00Z" in find(worst(past), "Link")[-1].href
    # Forecasts that were made later are not known yet.
    assert (past.losses, past.drains) == ([], [])


def test_places_add_up_to_the_backlog(reader, view):
    assert view.places[0]["name"] == "shop/web"
    assert view.places_entries == pytest.approx(sum(row["entries"] for row in view.places))
    first = next(one for one in find(places(view), "Link") if one.className == "tile-inside")
    opened = RollupsAddress.parse(first.href.partition("?")[2])
    assert (opened.by, opened.name, opened.clusters) == (
        "namespace",
        view.places[0]["name"],
        ("sample-east",),
    )
    by_broker = overview(reader, OverviewAddress(by="broker"))
    assert by_broker.places_entries == pytest.approx(view.places_entries)
    assert "127.0.0.1:8080" in {row["name"] for row in by_broker.places}


def test_tiles_fill_the_box_by_size():
    sizes = [40.0, 25.0, 12.0, 9.0, 5.0, 5.0, 3.0, 0.6, 0.4]
    boxes = squarified(sizes, 2.0, 1.0)
    for size, (left, top, width, height) in zip(sizes, boxes, strict=True):
        assert width * height == pytest.approx(2.0 * size / sum(sizes))
        assert min(left, top) >= -1e-9
        assert max(left + width - 2.0, top + height - 1.0) <= 1e-9
    for one, other in itertools.combinations(boxes, 2):
        across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
        down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
        assert across < 1e-9 or down < 1e-9
    # No large tile is a strip.
    assert all(max(width / height, height / width) < 3 for _, _, width, height in boxes[:4])
    assert squarified([], 1.0, 1.0) == []


def test_next_loss_is_first(view):
    """Only the newest forecast counts."""
    assert [(row["subscription"], row["kind"]) for row in view.losses] == [
        ("thumbnails", "quota_size"),
        ("billing", "ttl"),
    ]
    assert view.losses[1]["predicted_ms"] == END_MS + 134 * MINUTE_MS
    said = read(deadlines(view))
    assert "billing shop/checkout/orders messages expire in 2 h 14 m 11-20 05:09 or later" in said
    # Its drain is forecast too, and comes after the loss.
    assert "billing" not in [row["subscription"] for row in view.drains]


def test_limits_close_to_exhaustion_are_shared(view):
    """A topic's limit is one row, however many it limits; what is lightly used is none."""
    shown = {(row["limiter"], row["subscription"] or row["topic"]): row for row in view.limits}
    feed = shown["topic.msg", "persistent://shop/web/feed"]
    assert feed["share"] >= 0.99
    assert feed["per_s"] == 500
    assert ("subscription.msg", "billing") in shown
    assert all(row["share"] >= 0.8 for row in view.limits)
    assert [row["share"] for row in view.limits] == sorted(
        (row["share"] for row in view.limits), reverse=True
    )
    assert not any(row["limiter"].startswith("broker") for row in view.limits)
    assert "topic.msg 500 msg/s" in read(limits(view))


def test_each_empty_state_has_its_text(view):
    nothing = dataclasses.replace(
        view, losses=[], drains=[], incidents=[], limits=[], limits_total=0, worst=[], worst_total=0, places=[],
        computed=frozenset(("forecasts", "episodes")),
    )  # fmt: skip
    never = dataclasses.replace(nothing, computed=frozenset())
    assert "No forecasts yet." in read(deadlines(never))
    assert "No loss is expected" in read(deadlines(nothing))
    assert "No episodes yet." in read(incidents(never))
    assert "No limiter or broker affects several" in read(incidents(nothing))
    assert "No limit is used above 80 % at 03:00:00 UTC." in read(limits(nothing))
    assert "No subscription has a problem at 03:00:00 UTC." in read(worst(nothing))
    assert "No ready backlog at 03:00:00 UTC." in read(places(nothing))
    healthy = dataclasses.replace(view.counts, causes={"healthy": 34}, backlog_entries=None)
    said = read(state(dataclasses.replace(nothing, counts=healthy, worst_of_all=None)))
    assert said.startswith("✓ No subscription has a problem")


def test_empty_lake_shows_how_to_start(tmp_path):
    said = read(overview_page.page(LakeReader(tmp_path)))
    assert "No verdicts yet." in said
    assert "throttlescope run" in said


@pytest.mark.long
def test_unknown_cluster_is_explained(reader):
    said = read(overview_page.page(reader, OverviewAddress(clusters=("nowhere",))))
    assert "The lake has no verdicts of these clusters." in said
    west = overview(reader, OverviewAddress(clusters=("sample-west",)))
    assert west.counts.judged == 25
    assert west.counts.troubled == 0
    assert "No subscription has a problem" in read(state(west))


def test_address_round_trips():
    address = OverviewAddress(
        ("a&b", "c"), "24h", START_MS, END_MS, END_MS - MINUTE_MS, ("throttled", "unknown"), "broker"
    )
    assert OverviewAddress.parse(address.href().partition("?")[2]) == address
    assert OverviewAddress().href() == "/"
    with pytest.raises(InputError, match="length that does not exist"):
        OverviewAddress.parse("?last=2y")
    with pytest.raises(InputError, match="place that does not exist"):
        OverviewAddress.parse("?by=moon")


def test_timeline_figure_stacks_causes(view):
    figure = timeline_figure(
        view.timeline.bins,
        view.timeline.step_ms,
        start_ms=view.start_ms,
        end_ms=view.end_ms,
        at_ms=END_MS - BLOCK_MS,
    )
    tallest = max(one.total for one in view.timeline.bins)
    drawn = {trace.name for trace in figure.data}
    assert drawn == {
        f"{CAUSES[word].mark} {CAUSES[word].label}" for one in view.timeline.bins for word in one.causes
    }
    assert figure.layout.yaxis.range[1] > tallest
    heights = {}
    for trace in figure.data:
        for x, y in zip(trace.x, trace.y, strict=True):
            heights[x] = heights.get(x, 0) + y
    assert max(heights.values()) == tallest
    assert any(shape.x0 == END_MS - BLOCK_MS for shape in figure.layout.shapes)
    alone = timeline_figure(
        view.timeline.bins,
        view.timeline.step_ms,
        start_ms=view.start_ms,
        end_ms=view.end_ms,
        causes=("unknown",),
    )
    assert [trace.name for trace in alone.data] == ["? Unknown"]


def test_sparkline_of_episodes_breaks_between_them():
    def episode(start: int, *entries: float) -> dict:
        points = [{"at_ms": (start + n) * MINUTE_MS, "entries": value} for n, value in enumerate(entries)]
        return {
            "backlog": points,
            "backlog_step_ms": MINUTE_MS,
            "known_until_ms": (start + len(entries)) * MINUTE_MS,
        }

    path, high = backlog_path([episode(1, 5, 50, 20), episode(8, 10, 25)], start_ms=0, end_ms=10 * MINUTE_MS)
    assert high == 50
    assert path.count("M") == 2
    assert path.endswith(f"L{WIDTH_PX} 13")
    # What is not in the range is not drawn, and does not press what is.
    assert (
        backlog_path(
            [episode(1, 5, 50, 20), episode(8, 10, 25)], start_ms=6 * MINUTE_MS, end_ms=10 * MINUTE_MS
        )[1]
        == 25
    )
    assert backlog_path([episode(1, 5)], start_ms=5 * MINUTE_MS, end_ms=10 * MINUTE_MS) is None
    assert backlog_path([episode(1, 5)], start_ms=0, end_ms=10 * MINUTE_MS)[0].endswith("h0")
    assert trend_path([1.0, None, 3.0, 4.0]).count("M") == 2
    assert trend_path([None, 4.0]) is None


def test_table_of_subscriptions_has_sparklines(reader):
    rows, _ = newest.subscriptions(reader, SubscriptionsAddress(), end=40)
    shown = [
        grid_row(row, "now", backlog)
        for row, backlog in zip(rows, recent_backlogs(reader, rows), strict=True)
    ]
    by_name = {row["subscription"]: row for row in shown}
    assert by_name["billing"]["trend"].startswith("M")
    assert "backlog since 2026-11-20 00:00:00 UTC: at most" in by_name["billing"]["trend_words"]
    assert by_name["audit"]["trend"] == ""
    assert by_name["audit"]["trend_words"] == "no backlog above its floor"
    assert recent_backlogs(reader, []) == []


@pytest.mark.long
def test_counts_are_compared_with_a_day_before(tmp_path):
    lake = write_sample_lake(tmp_path, SAMPLES[:3])
    before = dict(overview(LakeReader(tmp_path), OverviewAddress()).before)
    assert before[DAY_MS] is None
    first_version = version(LakeReader(tmp_path))
    verdicts = lake.read("verdicts").to_pylist()
    # A day earlier all were healthy but the first.
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
    assert version(reader) != first_version
    view = overview(reader, OverviewAddress())
    assert dict(view.before)[DAY_MS].causes == {"throttled": 1, "healthy": 2}
    said = read(state(view))
    # Now: billing is throttled, ledger has slow consumers, audit is healthy.
    assert "Rate limiter 1 ±0 in 1 h ±0 in 1 d" in said
    assert "Consumers 1 ±0 in 1 h +1 in 1 d" in said
    # The same comparison, made for a moment that is not the newest.
    past = overview(reader, OverviewAddress(at_ms=END_MS - 10 * MINUTE_MS))
    assert dict(past.before)[DAY_MS].causes == {"throttled": 1, "healthy": 2}


@pytest.mark.long
def test_part_of_a_fleet_is_not_compared(tmp_path):
    """A cluster that was not judged an hour ago would make everything look worse than then."""
    lake = write_sample_lake(tmp_path, SAMPLES[:3])
    assert dict(overview(LakeReader(tmp_path), OverviewAddress()).before)[BLOCK_MS] is not None
    late = [
        row | {"cluster": "sample-new"}
        for row in lake.read("verdicts").to_pylist()
        if row["window_end_ms"] > END_MS - 30 * MINUTE_MS
    ]
    lake.upsert("verdicts", pa.Table.from_pylist(late, schema=TABLES["verdicts"].loose_schema), run_id="new")
    view = overview(LakeReader(tmp_path), OverviewAddress())
    assert dict(view.before)[BLOCK_MS] is None
    assert "since 00:" in read(state(view))
    old = overview(LakeReader(tmp_path), OverviewAddress(clusters=("sample-east",)))
    assert dict(old.before)[BLOCK_MS] is not None


def test_failed_run_is_shown():
    failed = overview_page.run_line(LastRun("run", "failed", END_MS, START_MS))
    assert read(failed[0]) == ("run failed at 2026-11-20 03:00:00 UTC; last success 2026-11-20 00:00:00 UTC")
    assert failed[0].className == "run-failed"
    assert "no run has succeeded" in read(overview_page.run_line(LastRun("run", "gated", END_MS, None))[0])
    assert overview_page.run_line(None) == []


@pytest.mark.long
def test_shared_incidents_name_what_is_shared(tmp_path):
    throttled = Phase(60, "throttled", "throttle", "topic.msg", in_msg=100.0, out_msg=20.0,
                      limits={"topic": (60, None, 1, "topic_policy")})  # fmt: skip
    topic = "persistent://shop/web/feed"
    samples = tuple(
        Sample(topic, name, (Phase(0), throttled), every_minutes=1) for name in ("one", "two", "three")
    )
    write_sample_lake(tmp_path, samples)
    view = overview(LakeReader(tmp_path), OverviewAddress())
    assert [(row["kind"], row["shared_with"], row["subscriptions"]) for row in view.incidents] == [
        ("topic_limiter", topic, 3)
    ]
    shown = incidents(view)
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
    # Before it began there was none.
    early = overview(LakeReader(tmp_path), OverviewAddress(at_ms=START_MS + 30 * MINUTE_MS))
    assert early.incidents == []
