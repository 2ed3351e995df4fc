"""Anomalies: groups, filters, each kind of nothing, and one opened with its band; rows are those that the method really found."""

from __future__ import annotations

import pytest

from tests.app.web import lake_of_anomalies
from tests.app.web.components import find, text_of, walk
from tests.app.web.lake_of_anomalies import END_MS, HOSTILE, START_MS
from tests.app.web.test_format import plain
from tests.models.anomaly.lakes import minute_ms
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.anomalies import AnomaliesAddress, Opened
from throttlescope.app.web.data import anomalies as stored
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.anomalies import page, text
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake

TODAY = lake_of_anomalies.TODAY


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return lake_of_anomalies.write(tmp_path_factory.mktemp("anomalies") / "lake")


@pytest.fixture(scope="module")
def rows(lake) -> list[dict]:
    return [row for row in lake.read("anomalies").to_pylist() if row["state"] != "learning"]


@pytest.fixture
def reader(lake) -> LakeReader:
    return LakeReader(lake.root)


def read(part) -> str:
    return " ".join(plain(text_of(part)).split())


def page_text(reader, address: AnomaliesAddress) -> str:
    return read(page.page_parts(reader, address)[0])


def row_and_address(rows: list[dict], name: str, signal: str) -> tuple[dict, AnomaliesAddress]:
    row = next(row for row in rows if row["subscription"] == name and row["signal"] == signal)
    return row, AnomaliesAddress().to_open(row)


# -- the address ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        AnomaliesAddress(),
        AnomaliesAddress("a b", ("x", "y&z"), ("samples", "in_msg_rate"), ("up",), "open", START_MS, END_MS, page=4),
        AnomaliesAddress(group="12ab", opened=Opened(SubscriptionPartition("c", "t#u?", 3, HOSTILE), "throttled_events", START_MS)),
    ],
)  # fmt: skip
def test_address_round_trip(address):
    assert AnomaliesAddress.parse(address.href().partition("?")[2]) == address


@pytest.mark.parametrize(
    "query",
    ["signal=x", "direction=left", "state=learning", "from=2026-01-02&to=2026-01-01", "page=-1",
     "cluster=c&topic=t&subscription=s", "cluster=c&topic=t&subscription=s&of=x&at=2026-01-01"],
)  # fmt: skip
def test_broken_address_is_an_error(query):
    with pytest.raises(InputError):
        AnomaliesAddress.parse(query)


# -- the list ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_anomalies_that_began_together_are_one_group(reader, rows):
    found = stored.groups(reader, AnomaliesAddress(), START_MS, END_MS)
    assert found.anomalies == len(rows)
    assert found.total == len({(row["cluster"], row["group_id"]) for row in rows})
    for group in found.groups:
        mine = [row for row in rows if row["group_id"] == group["group_id"]]
        assert group["subscriptions"] == len({row["subscription"] for row in mine})
        assert (group["start_ms"], group["end_ms"]) == (
            min(row["start_ms"] for row in mine), max(row["end_ms"] for row in mine),
        )  # fmt: skip
        assert len(found.rows[group["cluster"], group["group_id"]]) == min(len(mine), stored.MOST_OF_EACH)
    assert [group["start_ms"] for group in found.groups] == sorted(
        (group["start_ms"] for group in found.groups), reverse=True
    )


@pytest.mark.long
def test_list_shows_signal_time_value_and_subscription(reader):
    said = page_text(reader, AnomaliesAddress())
    assert (
        "Messages in and messages out of 2 subscriptions, sharing the topic persistent://acme/shop/orders"
        in said
    )
    assert "▲ messages in above usual audit acme/shop/orders, partition 0 10-09 10:04 40 m" in said
    assert "▼ messages in fell to zero export" in said
    assert "◌ no samples arrived search acme/shop/clicks 10-09 15:00 1 h unknown samples every minute" in said
    assert "▲ Throttled topic.msg" in said
    assert (
        "Not enough history yet for 1 subscription partition (14 d needed); it is judged from 2026-10-17 00:00:00 UTC on."
        in said
    )
    assert HOSTILE in said


@pytest.mark.long
def test_filters_select_matching_anomalies(reader, rows):
    for address, kept in (
        (AnomaliesAddress(signals=("samples",)), lambda row: row["signal"] == "samples"),
        (AnomaliesAddress(directions=("down",)), lambda row: row["direction"] == "down"),
        (AnomaliesAddress(search="ORDERS aud"), lambda row: row["subscription"] == "audit"),
        (AnomaliesAddress(state="open"), lambda row: row["state"] == "open"),
        (AnomaliesAddress(start_ms=minute_ms(TODAY, 890), end_ms=minute_ms(TODAY, 970)), lambda row: row["subscription"] == "search"),
    ):  # fmt: skip
        start_ms, end_ms = address.start_ms or START_MS, address.end_ms or END_MS
        found = stored.groups(reader, address, start_ms, end_ms)
        assert found.anomalies == sum(map(kept, rows)), address


@pytest.mark.long
def test_counts_of_a_filter_ignore_that_filter(reader, rows):
    counted = stored.counts(reader, AnomaliesAddress(signals=("samples",)), START_MS, END_MS)
    assert counted["signal"] == {
        signal: sum(row["signal"] == signal for row in rows) for signal in {row["signal"] for row in rows}
    }
    assert counted["direction"] == {"silence": 1}


@pytest.mark.long
def test_one_group_is_shown_whole(reader, rows):
    group_id = next(row["group_id"] for row in rows if row["subscription"] == "audit")
    said = page_text(reader, AnomaliesAddress(group=group_id))
    assert "4 anomalies in 1 group" in said
    assert "search" not in said


@pytest.mark.long
def test_links_open_subscription_at_that_time(reader, rows):
    tree = page.page_parts(reader, AnomaliesAddress())[0]
    links = [link for link in find(tree, "Link") if link.href.startswith("/subscription?")]
    assert len(links) == len(rows)
    for link in links:
        there = SubscriptionAddress.parse(link.href.partition("?")[2])
        assert any(
            there.start_ms < row["start_ms"] and row["end_ms"] < there.end_ms
            for row in rows
            if row["subscription"] == there.subscription.subscription
        )


# -- nothing ----------------------------------------------------------------------------------------


@pytest.mark.long
def test_each_empty_state_has_its_text(reader, tmp_path, sample_lake):
    assert "No anomaly matches these filters." in page_text(reader, AnomaliesAddress(search="nobody"))
    before = AnomaliesAddress(start_ms=START_MS - 12 * DAY_MS, end_ms=START_MS - 11 * DAY_MS)
    assert "Nothing is stored of this range. The oldest row is of" in page_text(reader, before)
    calm = stored.JudgedAnomalies(True, END_MS, 0, None, START_MS)
    assert "Nothing was unusual." in read(page.nothing_found(AnomaliesAddress(), calm, 0, END_MS))
    young = page_text(reader, AnomaliesAddress(start_ms=minute_ms(TODAY, 0), end_ms=minute_ms(TODAY, 200)))
    assert "More history is needed." in young
    assert "less than 14 d of history" in young
    assert "Anomalies were never computed in this lake." in page_text(
        LakeReader(sample_lake), AnomaliesAddress()
    )
    assert "No data yet." in page_text(LakeReader(tmp_path), AnomaliesAddress())


# -- one opened -------------------------------------------------------------------------------------


@pytest.mark.long
def test_chart_shows_the_stored_band(reader, rows):
    row, address = row_and_address(rows, "billing", "in_msg_rate")
    tree = page.opened_part(reader, address)
    (graph,) = find(tree, "Graph")
    lines = {trace.name: trace for trace in graph.figure.data}
    at = list(lines["expected"].x).index(row["worst_ms"] + MINUTE_MS)
    assert lines["messages in, msg/s"].y[at] == pytest.approx(row["value"])
    assert lines["expected"].y[at] == pytest.approx(row["expected"])
    assert lines["usual (3 sigmas)"].y[at] == pytest.approx(row["high"])
    assert lines["band, low"].y[at] == pytest.approx(row["low"])
    bar = lines["usual as stored, worst minute"]
    assert bar.y[0] + bar.error_y.array[0] == pytest.approx(row["high"])
    (shade,) = [shape for shape in graph.figure.layout.shapes if shape.type == "rect"]
    assert (shade.x0, shade.x1) == (row["start_ms"], row["end_ms"])
    assert graph.config["showSendToCloud"] is False
    assert "usual there 14.6 to 20 msg/s" in read(tree)


@pytest.mark.long
def test_silence_differs_from_zero(reader, rows):
    silent = page.opened_part(reader, row_and_address(rows, "search", "samples")[1])
    assert "That is not a zero" in read(silent)
    (graph,) = find(silent, "Graph")
    gap = [y for x, y in zip(graph.figure.data[0].x, graph.figure.data[0].y, strict=True) if minute_ms(TODAY, 905) < x <= minute_ms(TODAY, 955)]  # fmt: skip
    assert gap, "the silent minutes are on the axis"
    assert set(gap) == {None}
    zero = read(page.opened_part(reader, row_and_address(rows, "export", "in_msg_rate")[1]))
    assert "Samples arrived and were zero" in zero
    assert "worst 0 msg/s" in zero


@pytest.mark.long
def test_too_many_files_show_stored_values_only(reader, rows, monkeypatch):
    monkeypatch.setattr(stored, "MOST_FILES", 3)
    row, address = row_and_address(rows, "billing", "in_msg_rate")
    tree = page.opened_part(reader, address)
    assert "Only what was stored" in read(tree)
    names = [trace.name for trace in find(tree, "Graph")[0].figure.data]
    assert names == ["messages in, msg/s", "usual as stored, worst minute"]
    value = find(tree, "Graph")[0].figure.data[0]
    assert value.y[list(value.x).index(row["worst_ms"] + MINUTE_MS)] == pytest.approx(row["value"])


def test_link_to_removed_anomaly_is_explained(reader):
    wanted = Opened(
        SubscriptionPartition("prod", "persistent://acme/shop/orders", 0, "billing"), "in_msg_rate", START_MS
    )
    assert "not in the lake any longer" in read(page.opened_part(reader, AnomaliesAddress(opened=wanted)))


@pytest.mark.long
def test_names_are_text_and_links_internal(reader, rows):
    _, address = row_and_address(rows, HOSTILE, "in_msg_rate")
    for part in walk([page.page_parts(reader, AnomaliesAddress()), page.opened_part(reader, address)]):
        assert type(part).__name__ not in ("Markdown", "DangerouslySetInnerHTML", "Script", "Iframe")
        # The looks of the chart's key are drawn here; no name goes into them.
        assert type(part).__name__ != "Img" or part.src.startswith("data:image/svg+xml;base64,")
        target = getattr(part, "href", None)
        assert target is None or (target.startswith("/") and "<" not in target)
    for graph in find(page.opened_part(reader, address), "Graph"):
        assert "onerror" not in str(graph.figure)


@pytest.mark.parametrize("signal", text.signal_words())
def test_every_signal_and_direction_has_text(signal):
    for direction in text.direction_words():
        row = {"signal": signal, "direction": direction, "value": 3.0, "high": 2.0, "low": 1.0}
        assert text.what(row)
        assert text.usual(row)
