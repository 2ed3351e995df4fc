"""Roll-ups: places counted and named by their worst, one place opened, and its limits over time against the slow twin."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.app.web.components import find, text_of
from tests.app.web.sample_lake import (
    END_MS,
    HOSTILE_NAME,
    SAMPLES,
    START_MS,
    Phase,
    Sample,
    write_sample_lake,
)
from tests.app.web.test_format import plain
from tests.app.web.test_pages import read
from tests.naive.limit_lanes import limit_lanes as slow_lanes
from throttlescope.app.presentation import figures
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.data import limit_use
from throttlescope.app.web.data import rollup as stored
from throttlescope.app.web.data.lanes import MOST_CELLS, limit_lanes, step_of
from throttlescope.app.web.data.newest import NOW, RECENT
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.data.rollups import places, share_view
from throttlescope.app.web.pages.rollups.details import rollup_page
from throttlescope.app.web.pages.rollups.page import _parts as parts
from throttlescope.app.web.pages.rollups.rollups_table import columns, grid_row
from throttlescope.app.web.pages.rollups.view import read_rollup
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake

EAST = "sample-east"
FEED = RollupsAddress("topic").opened(EAST, "persistent://shop/web/feed")
PLACES = (
    FEED,
    RollupsAddress("topic").opened(EAST, "persistent://shop/checkout/payments"),
    RollupsAddress("namespace").opened(EAST, "shop/web"),
    RollupsAddress("broker").opened(EAST, "127.0.0.1:8080"),
    RollupsAddress("broker").opened("sample-west", "<b>127.0.0.1:8081</b>"),
)


def newest_verdicts(lake: str, until_ms: int = END_MS) -> list[dict]:
    newest: dict[tuple, dict] = {}
    for row in Lake(lake).read("verdicts").to_pylist():
        key = (row["cluster"], row["topic"], row["partition"], row["subscription"])
        if row["window_end_ms"] <= until_ms and row["window_end_ms"] > newest.get(key, {}).get(
            "window_end_ms", 0
        ):
            newest[key] = row
    return list(newest.values())


def brokers(lake: str) -> dict[tuple, str]:
    rows = sorted(Lake(lake).read("signals").to_pylist(), key=lambda row: row["minute_ms"])
    return {
        (row["cluster"], row["topic"], row["partition"], row["subscription"]): row["broker"] for row in rows
    }


def name_of(row: dict, by: str, owners: dict) -> str:
    if by == "broker":
        return owners[(row["cluster"], row["topic"], row["partition"], row["subscription"])]
    return row[by]


# -- the table --------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("by", ["topic", "namespace", "broker"])
def test_rollups_count_the_newest_verdicts(reader, sample_lake, by):
    owners, groups = brokers(sample_lake), {}
    for row in newest_verdicts(sample_lake):
        groups.setdefault((row["cluster"], name_of(row, by, owners)), []).append(row)
    found, total = places(reader, RollupsAddress(by, view=NOW), end=1000)
    assert total == len(groups) == len(found)
    for row in found:
        rows = groups[(row["cluster"], row["name"])]
        causes = [one["cause"] for one in rows]
        assert row["subscriptions"] == len(rows)
        assert row["causes"] == {cause: causes.count(cause) for cause in set(causes)}
        assert row["troubled"] == sum(cause != "healthy" for cause in causes)
        assert row["backlog_entries"] == pytest.approx(sum(one["backlog_entries"] for one in rows))
        troubled = [one for one in rows if one["cause"] != "healthy"]
        if troubled:
            worst = max(troubled, key=lambda one: one["backlog_entries"])
            assert row["worst"]["subscription"] == worst["subscription"]
            assert row["worst"]["cause"] == worst["cause"]
        else:
            assert row["worst"] is None


@pytest.mark.long
def test_fullest_limit_has_largest_minute_share(reader, sample_lake):
    rows = [row for row in Lake(sample_lake).read("signals").to_pylist() if row["topic"] == FEED.name]
    found, _ = places(reader, RollupsAddress("topic", view=NOW), end=1000)
    feed = next(row for row in found if row["name"] == FEED.name)
    newest = [row for row in rows if row["minute_ms"] >= END_MS - limit_use.NOW_MS]
    assert feed["limiter"] == "topic.msg"
    assert feed["share"] == pytest.approx(max(row["rho_topic_msg"] for row in newest))
    recent, _ = places(reader, RollupsAddress("topic", view=RECENT), end=1000)
    feed = next(row for row in recent if row["name"] == FEED.name)
    assert feed["share"] == pytest.approx(max(row["rho_topic_msg"] for row in rows))
    without, _ = places(reader, RollupsAddress("topic", search="sessions", view=NOW))
    assert (without[0]["share"], without[0]["limiter"]) == (None, None), "its limits were not observed"


@pytest.mark.long
def test_too_many_minutes_show_current_use(sample_lake, monkeypatch):
    monkeypatch.setattr(limit_use, "MOST_MINUTES", 100)
    reader = LakeReader(sample_lake)
    found, _ = places(reader, RollupsAddress("topic", search="web/feed", view=RECENT))
    assert found[0]["limiter"] == "topic.msg"
    assert share_view(RECENT, recent_is_read=False) == NOW
    heads = {column["field"]: column for column in columns(RollupsAddress(view=RECENT), NOW)}
    assert "newest 5 m" in plain(heads["share"]["headerTooltip"])


@pytest.mark.long
def test_rollups_sort_worst_first_by_default(reader):
    """Any column sorts them."""
    found, _ = places(reader, RollupsAddress("topic", view=NOW), end=1000)
    troubled = [row["worst"] is not None for row in found]
    assert troubled == sorted(troubled, reverse=True)
    backlogs = [row["worst"]["backlog_entries"] for row in found if row["worst"]]
    assert backlogs == sorted(backlogs, reverse=True)
    by_name, _ = places(
        reader, RollupsAddress("topic", view=NOW), sort=[("name", True), ("no such", False)], end=1000
    )
    assert [row["name"] for row in by_name] == sorted((row["name"] for row in found), reverse=True)
    second, total = places(reader, RollupsAddress("topic", view=NOW), start=5, end=8)
    assert [row["name"] for row in second] == [row["name"] for row in found[5:8]]
    assert total == len(found)


@pytest.mark.long
def test_row_has_text_and_links(reader):
    """The links lead to the roll-up and to its worst subscription."""
    address = RollupsAddress("topic", search="web/feed", view=NOW)
    rows, total = places(reader, address)
    assert total == 1
    row = grid_row(rows[0], address)
    assert {column["field"] for column in columns(address, NOW)} <= row.keys()
    assert row["name"] == "shop/web/feed"
    assert (row["worst"], row["worst_extra"]) == ("Throttled", "topic.msg")
    assert row["causes"] == [
        {
            "mark": CAUSES["throttled"].mark,
            "colour": CAUSES["throttled"].colour,
            "label": "Throttled",
            "count": "2",
        }
    ]
    assert plain(row["share"]) == "100 % of topic.msg"
    assert RollupsAddress.parse(urlsplit(row["href"]).query) == FEED
    opened = SubscriptionAddress.parse(urlsplit(row["worst_href"]).query)
    assert opened.subscription.topic == FEED.name


def test_unnamed_broker_stays_in_table():
    row = {
        "cluster": "c", "name": None, "subscriptions": 1, "topics": 1, "causes": {"healthy": 1}, "worst": None,
        "backlog_entries": None, "measured": 0, "share": None, "limiter": None,
    }  # fmt: skip
    address = RollupsAddress("broker", view=NOW)
    shown = grid_row(row, address)
    assert shown["name"] == "not known (no scrape named it)"
    assert shown["href"] == address.href()
    assert shown["backlog"] == shown["share"] == "\N{EN DASH}", "absent is not zero"


@pytest.mark.long
def test_each_empty_state_has_its_text(reader, tmp_path):
    said = read(list(parts(LakeReader(tmp_path), RollupsAddress("broker"))[3:4]))
    assert "No verdicts yet." in said
    assert "throttlescope run" in said
    nothing = parts(reader, RollupsAddress("namespace", search="nobody"))
    assert (
        "No roll-up matches these filters. 34 subscription partitions are in the lake; no namespace matches"
        in read(nothing[3])
    )
    assert find(nothing[3], "Link")[0].href == "/rollups?by=namespace&view=recent"


# -- the address ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        RollupsAddress(),
        RollupsAddress("broker", "a b", ("x", "y&z"), NOW),
        FEED,
        RollupsAddress("topic", clusters=("c",), name=HOSTILE_NAME, start_ms=START_MS, end_ms=END_MS),
    ],
)
def test_address_round_trip(address):
    assert RollupsAddress.parse(urlsplit(address.href()).query) == address


@pytest.mark.parametrize(
    "query",
    ["?by=tenant", "?view=later", "?name=x", "?name=x&cluster=a&cluster=b", "?from=-6h",
     "?from=2026-11-20T03:00:00Z&to=2026-11-20T02:00:00Z"],
)  # fmt: skip
def test_unreadable_address_is_an_error(query):
    with pytest.raises(InputError):
        RollupsAddress.parse(query)


# -- limits over time -------------------------------------------------------------------------------


def cells(lanes) -> dict:
    return {
        (lane.limiter, lane.broker, lane.topic, lane.partition, lane.subscription): {
            cell.start_ms: (None if cell.share is None else pytest.approx(cell.share), cell.bound)
            for cell in lane.cells
        }
        for lane in lanes.lanes
    }


@pytest.mark.sampled(5)
@pytest.mark.long
@pytest.mark.parametrize("address", PLACES, ids=lambda address: f"{address.by} {address.name}")
@pytest.mark.parametrize(
    ("start_ms", "length_ms"),
    [(START_MS, 3 * BLOCK_MS), (START_MS + 7 * MINUTE_MS, 2 * BLOCK_MS), (START_MS, 40 * BLOCK_MS)],
)
def test_lanes_match_naive_implementation(reader, sample_lake, address, start_ms, length_ms):
    lake, owners = Lake(sample_lake), brokers(sample_lake)
    minutes, verdicts = lake.read("signals").to_pylist(), lake.read("verdicts").to_pylist()
    end_ms = start_ms + length_ms

    def belongs(row):
        if row["cluster"] != address.cluster:
            return False
        if address.by == "broker":
            # Minutes say whose they are, verdicts are those of the broker's members.
            return (row["broker"] if "broker" in row else name_of(row, "broker", owners)) == address.name
        return row[address.by] == address.name

    expected = slow_lanes(minutes, verdicts, belongs, start_ms, end_ms, step_of(start_ms, end_ms))
    found = limit_lanes(reader, address, start_ms, end_ms)
    assert found.total == len(expected) == len(found.lanes)
    assert cells(found) == expected
    assert expected or "8081" in address.name, "there is something to compare"


@pytest.mark.long
def test_limiting_lanes_come_first(reader):
    lanes = limit_lanes(reader, PLACES[3], START_MS, END_MS).lanes
    bound = [lane.bound_cells for lane in lanes]
    assert bound[0] > 0
    assert bound == sorted(bound, reverse=True)


@pytest.mark.long
def test_large_rollup_reads_limiting_topics_only(reader):
    whole = limit_lanes(reader, PLACES[2], START_MS, END_MS)
    some = limit_lanes(reader, PLACES[2], START_MS, END_MS, most_minutes=1)
    assert whole.topics_read is None
    # Both topics of the namespace that have limits are among the fullest now; the one without has none to show.
    assert some.topics_read == 2
    assert cells(some) == cells(whole)


@pytest.mark.parametrize("length_ms", [5 * MINUTE_MS, 6 * BLOCK_MS, DAY_MS, 7 * DAY_MS, 60 * DAY_MS])
def test_number_of_cells_is_bounded(length_ms):
    step = step_of(START_MS, START_MS + length_ms)
    assert step % (5 * MINUTE_MS) == 0
    assert length_ms // step <= MOST_CELLS


@pytest.mark.long
def test_figure_shows_cells_and_limiting_periods(reader):
    found = limit_lanes(reader, FEED, START_MS, END_MS)
    figure = figures.lanes_figure(found.lanes, found.step_ms, start_ms=START_MS, end_ms=END_MS)
    strip = figure.data[0]
    assert strip.type == "heatmap"
    assert len(strip.z[0]) == 36
    assert strip.x[0] == START_MS
    assert strip.x[-1] == END_MS
    by_start = {cell.start_ms: cell.share for cell in found.lanes[0].cells}
    assert list(strip.z[0]) == [by_start[at] for at in strip.x[:-1]]
    line = figure.data[1]
    assert list(line.x) == [START_MS + 80 * MINUTE_MS, END_MS], "throttled from minute 80 on"
    assert list(line.customdata) == [2, 2], "both subscriptions share the limit"
    label = plain(figure.layout.annotations[0].text)
    assert label == "▲ <b>up to 100 %</b>  topic.msg of shop/web/feed"
    assert figure.layout.xaxis.title.text == "UTC, 2026-11-20"
    assert figures.lanes_figure((), 1, start_ms=0, end_ms=1) is None


@pytest.mark.long
def test_names_in_a_figure_are_text(reader):
    address = RollupsAddress("topic").opened(EAST, "persistent://shop/odd/names")
    found = limit_lanes(reader, address, START_MS, END_MS)
    figure = figures.lanes_figure(found.lanes, found.step_ms, start_ms=START_MS, end_ms=END_MS)
    said = figure.to_json()
    assert "&lt;img src=x" in figure.layout.annotations[0].text
    assert "<img" not in said
    assert "\\u003cimg" not in said


# -- one place --------------------------------------------------------------------------------------


@pytest.mark.long
def test_rollup_page_reads_in_order(reader):
    said = read(rollup_page(read_rollup(reader, FEED)))
    parts_in_order = (
        "Topic shop/web/feed",
        "cluster sample-east · 2 subscription partitions on 1 topic · namespace shop/web · broker 127.0.0.1:8080",
        "▲ Throttled 2",
        "no verdicts from 24 h earlier to compare with",
        "ready entries (batches)",
        "data up to 2026-11-20 03:00:00 UTC",
        "Use of its limits over time",
        "90 % and more",
        "Subscriptions now",
        "greedy-export",
        "Backlogs in this range",
        "Time by cause",
        "Shared incidents",
        "the topic's limit",
        "Not seen here",
    )
    at = [said.find(words) for words in parts_in_order]
    assert -1 not in at, parts_in_order[at.index(-1)]
    assert at == sorted(at)


@pytest.mark.long
def test_range_links_keep_the_rollup(reader):
    links = {
        link.className: link.href
        for link in find(rollup_page(read_rollup(reader, FEED)), "Link")
        if getattr(link, "className", None)
    }
    earlier = RollupsAddress.parse(urlsplit(links["range-link shift-earlier"]).query)
    later = RollupsAddress.parse(urlsplit(links["range-link shift-later"]).query)
    assert (earlier.name, earlier.by, earlier.clusters) == (FEED.name, "topic", (EAST,))
    assert (earlier.start_ms, earlier.end_ms) == (END_MS - 6 * BLOCK_MS, END_MS - 3 * BLOCK_MS), (
        "as long as there is data"
    )
    assert later.start_ms == END_MS


@pytest.mark.long
def test_counts_are_compared_with_day_before(tmp_path, monkeypatch):
    from tests.app.web import sample_lake as made

    old = Sample(FEED.name, "search-index", (Phase(0),), cluster=EAST)
    new = Sample(FEED.name, "search-index", SAMPLES[5].phases, cluster=EAST)
    monkeypatch.setattr(made, "END_MS", END_MS - DAY_MS)
    monkeypatch.setattr(made, "START_MS", START_MS - DAY_MS)
    write_sample_lake(tmp_path / "lake", (old,), truth=False)
    monkeypatch.undo()
    write_sample_lake(tmp_path / "lake", (new,), truth=False)
    found = stored.place(LakeReader(tmp_path / "lake"), FEED)
    assert found.now.causes == {"throttled": 1}
    assert found.before.causes == {"healthy": 1}
    assert found.before.subscriptions == 1
    said = read(rollup_page(read_rollup(LakeReader(tmp_path / "lake"), FEED)))
    assert "▲ Throttled 1 +1" in said
    assert "✓ Healthy 0 -1" in said
    assert "compared with 24 h earlier" in said


@pytest.mark.long
def test_rollup_without_recent_verdicts_is_explained(reader):
    gone = read(
        rollup_page(read_rollup(reader, RollupsAddress("topic").opened(EAST, "persistent://shop/web/gone")))
    )
    assert "Nothing of this topic was judged in the last day of its cluster." in gone
    assert "No limit is known in this range." in gone
    assert read_rollup(reader, RollupsAddress("topic").opened("nowhere", "x")) is None
    shown, hidden, *_ = parts(reader, RollupsAddress("topic").opened("nowhere", "x"))
    assert hidden is True
    assert "The lake has no verdicts of the cluster nowhere." in read(shown)


@pytest.mark.long
def test_lake_without_episodes_is_explained(tmp_path):
    lake = write_sample_lake(tmp_path / "lake", SAMPLES[:1], truth=False)
    import shutil

    for table in ("episodes", "incidents"):
        shutil.rmtree(f"{lake.root}/{table}", ignore_errors=True)
    address = RollupsAddress("topic").opened(EAST, SAMPLES[0].topic)
    said = read(rollup_page(read_rollup(LakeReader(lake.root), address)))
    assert "No episodes yet." in said


@pytest.mark.long
def test_hostile_names_are_shown_as_text(reader):
    page = rollup_page(read_rollup(reader, RollupsAddress("namespace").opened(EAST, "shop/odd")))
    said = text_of(page)
    assert "⟨U+202E⟩" in said
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in said
