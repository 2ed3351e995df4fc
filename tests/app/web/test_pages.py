"""Pages as component trees: what a person reads, and which kind of nothing it is when there is nothing."""

from __future__ import annotations

import dataclasses
from urllib.parse import urlsplit

import pytest

from tests.app.web.components import find, text_of, walk
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
from throttlescope.app.pipeline.sources.synthetic_history import CLUSTER as SYNTHETIC
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components import grid, now_or_recent, shell
from throttlescope.app.web.components.parts import synthetic_badge
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.subscription import page as subscription
from throttlescope.app.web.pages.subscription import windows
from throttlescope.app.web.pages.subscription.content import LONGEST_MS, chosen_range, read_view
from throttlescope.app.web.pages.subscription.page_state import state_of
from throttlescope.app.web.pages.subscriptions import subscriptions_table as table
from throttlescope.app.web.pages.subscriptions import summary
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS


def address(name: str, **parts) -> SubscriptionAddress:
    sample = next(sample for sample in SAMPLES if sample.subscription == name)
    return SubscriptionAddress(
        SubscriptionPartition(sample.cluster, sample.topic, sample.partition, name), **parts
    )


@pytest.fixture
def page(reader):
    def build(name, **parts):
        return subscription.page(read_view(reader, address(name, **parts)))

    return build


def read(part) -> str:
    return " ".join(plain(text_of(part)).split())


# -- subscriptions ----------------------------------------------------------------------------------


@pytest.mark.long
def test_cards_show_counts_and_toggle_causes(reader):
    counts = newest.cause_counts(reader, SubscriptionsAddress())
    cards = find(summary.cards(counts, SubscriptionsAddress(search="x", view="now")), "Link")
    assert read(cards[0]) == "▲ Throttled 5 now 6 in 6 h"
    assert read(cards[-1]) == "✓ Healthy 26 now 25 in 6 h"
    assert cards[0].href == "/subscriptions?q=x&cause=throttled&view=now"
    recent = find(summary.cards(counts, SubscriptionsAddress(causes=("throttled",), view="recent")), "Link")
    assert read(recent[0]) == "▲ Throttled 6 in 6 h 5 now"
    assert [card.className for card in recent][:2] == ["card chosen", "card"]
    assert recent[0].href == "/subscriptions?view=recent"


def row_of(reader, search: str, view: str) -> dict:
    rows, total = newest.subscriptions(reader, SubscriptionsAddress(search=search, view=view))
    assert total == 1
    return {key: plain(value) for key, value in table.grid_row(rows[0], view).items()}


@pytest.mark.long
def test_row_holds_formatted_text(reader):
    row = row_of(reader, "billing", "now")
    assert row["cause"] == "Throttled"
    assert row["cause_mark"] == CAUSES["throttled"].mark
    assert row["cause_extra"] == "subscription.msg"
    assert row["confidence"] == "93 %"
    assert row["backlog"] == "214 k"
    assert row["backlog_exact"] == "213 998"
    assert row["growth"] == "+7.76 k"
    assert row["held"] == "1 h 58 m"
    assert row["topic"] == "shop/checkout/orders"
    assert row["naive"] == "", "the naive rule agrees"
    assert row["other"] == "", "the same as now"


@pytest.mark.long
def test_row_of_now_links_to_main_cause(reader):
    row = row_of(reader, "recommendations", "now")
    assert row["cause"] == "Healthy"
    assert row["other"] == "Throttled, 1 h 10 m"
    assert "at=2026-11-20T01%3A50%3A00Z" in row["other_href"]
    assert "at=" not in row["href"]


@pytest.mark.long
def test_row_of_recent_view_links_to_now(reader):
    """A click opens the window that the row is about."""
    row = row_of(reader, "recommendations", "recent")
    assert (row["cause"], row["cause_extra"], row["held"]) == ("Throttled", "subscription.msg", "1 h 10 m")
    assert row["when"] == "00:40 to 01:50"
    assert row["backlog"] == "126 k"
    assert "at=2026-11-20T01%3A50%3A00Z" in row["href"]
    assert row["other"] == "Healthy"
    assert "at=" not in row["other_href"]
    steady = row_of(reader, "billing", "recent")
    assert "at=" not in steady["href"], "its main cause is its cause now"


@pytest.mark.long
def test_both_views_fill_all_their_columns(reader):
    for view in ("now", "recent"):
        rows, _ = newest.subscriptions(reader, SubscriptionsAddress(view=view), end=1000)
        for row in rows:
            shown = table.grid_row(row, view)
            assert {column["field"] for column in table.columns(view)} <= shown.keys()
            assert all(isinstance(value, str) for value in shown.values())


@pytest.mark.long
def test_recordings_default_to_recent_view(reader, tmp_path):
    """What limited them longest, not what they end with."""
    assert now_or_recent.with_view(SubscriptionsAddress(), newest.freshness(reader)).view == "recent"
    assert now_or_recent.with_view(SubscriptionsAddress(view="now"), newest.freshness(reader)).view == "now"
    assert (
        now_or_recent.with_view(SubscriptionsAddress(), newest.freshness(LakeReader(tmp_path))).view == "now"
    )


@pytest.mark.long
def test_differing_naive_rule_is_shown(reader):
    assert row_of(reader, "features", "now")["naive"] == "● the consumers"


@pytest.mark.long
def test_row_links_open_the_same_subscription(reader):
    rows, _ = newest.subscriptions(reader, SubscriptionsAddress(), end=1000)
    for row in rows:
        parsed = SubscriptionAddress.parse(urlsplit(table.grid_row(row, "recent")["href"]).query)
        assert parsed.subscription.subscription == row["subscription"]
        assert parsed.subscription.topic == row["topic"]


@pytest.mark.long
def test_each_empty_state_has_its_text(reader, tmp_path):
    empty = LakeReader(tmp_path)
    said = read(summary.status(SubscriptionsAddress(), newest.freshness(empty), 0, empty.lake_path))
    assert "No verdicts yet." in said
    assert "throttlescope run" in said
    hidden = summary.status(SubscriptionsAddress(search="nobody"), newest.freshness(reader), 0, "lake")
    assert "No subscription matches these filters. 34 subscriptions are in the lake" in read(hidden)
    assert find(hidden, "Link")[0].href == "/subscriptions"
    quiet = dataclasses.replace(newest.freshness(reader), own_topics=7)
    assert "7 healthy subscriptions of Pulsar's own topics are hidden" in read(
        summary.status(SubscriptionsAddress(), quiet, 34, "lake")
    )
    assert read(summary.status(SubscriptionsAddress(), newest.freshness(reader), 34, "lake")).startswith(
        "34 subscriptions, worst first"
    )
    assert read(
        summary.status(SubscriptionsAddress(search="a"), newest.freshness(reader), 3, "lake")
    ).startswith("3 of 34")


@pytest.mark.long
def test_recordings_are_marked_as_demo(reader):
    said = read(shell.freshness_line(newest.freshness(reader)))
    assert said == "demo: recordings data up to 2026-11-20 03:00:00 UTC"


@pytest.mark.long
def test_a_synthetic_cluster_is_marked(reader):
    mixed = dataclasses.replace(newest.freshness(reader), clusters=("prod", SYNTHETIC))
    marked = f"{SYNTHETIC} is simulated data, not measurements"
    assert marked in read(shell.freshness_line(mixed))
    assert marked not in read(shell.freshness_line(newest.freshness(reader)))
    assert [read(one) for one in synthetic_badge(SYNTHETIC)] == ["synthetic: made by the simulator"]
    assert synthetic_badge("prod") == []


@pytest.mark.long
def test_ended_subscription_is_marked(tmp_path):
    samples = (
        Sample("persistent://a/b/c", "gone", (Phase(0),)),
        Sample("persistent://a/b/c", "here", (Phase(0),)),
    )
    write_sample_lake(tmp_path, samples)
    rows, _ = newest.subscriptions(LakeReader(tmp_path), SubscriptionsAddress())
    assert not any(row["stale"] for row in rows)
    old = rows[0] | {"stale": True, "window_end_ms": END_MS - BLOCK_MS}
    shown = table.grid_row(old, "now")
    assert shown["cause"] == "Healthy (ended)"
    assert "last seen 2026-11-20 02:00:00 UTC" in shown["cause_tip"]


# -- subscription ------------------------------------------------------------------------------


@pytest.mark.long
def test_the_answer_comes_before_everything_else(page):
    said = read(page("billing"))
    top, _, rest = said.partition("Verdict over time")
    assert "▲ Throttled 93 % confidence" in top
    assert (
        "The subscription message limit (50 msg per 1 s, set by subscription policy) throttles this subscription."
        in top
    )
    assert "Since 2026-11-20 01:02:00 UTC, for 1 h 58 m. 214 k entries wait; trend: +7.76 k per 5 m." in top
    assert "Dispatch runs at 99 % of the subscription message limit." in top
    assert "Caution: Do not add consumers: they would share the same limit." in top
    assert "The naive rule says: ▲ a limit (agrees)" in top
    assert "data up to 2026-11-20 03:00:00 UTC" in top
    assert "Its throttle events prove nothing" in rest


@pytest.mark.long
def test_evidence_shows_value_threshold_time_query(page):
    tree = page("billing")
    said = read(tree)
    assert "rho_subscription_msg · 99 % · threshold 90 % · at 02:30:00 UTC" in said
    assert "permits_min · 400 msg · threshold 0 msg" in said
    copies = [button.value for button in find(tree, "CopyButton")]
    assert copies[0].startswith("sum by (topic, subscription) (rate(pulsar_out_messages_total{")
    meanings = [
        part.to_plotly_json()["props"]["aria-label"]
        for part in find(tree, "Span")
        if "weight" in (getattr(part, "className", "") or "")
    ]
    assert meanings == ["speaks for it"] * 3 + ["neither", "speaks against it"]


@pytest.mark.long
def test_missing_evidence_comes_with_its_fix(page):
    said = read(page("features"))
    assert "The evidence does not decide." in said
    assert (
        "Permits of consumers are not scraped. Fix: set exposeConsumerLevelMetricsInPrometheus=true on the brokers"
        in said
    )
    assert "Not observed: no limit of this subscription was read from the admin API." in said
    assert "The naive rule says: ● the consumers (differs)" in said


@pytest.mark.long
def test_only_charts_with_data_appear(page):
    def charts(name):
        return [graph.id["panel"] for graph in find(page(name), "Graph")]

    assert charts("billing") == ["verdict", "rates", "backlog", "events", "holding"]
    assert charts("thumbnails") == ["verdict", "rates", "bytes", "backlog", "events", "holding"]
    assert charts("features") == ["verdict", "rates", "backlog"]
    assert "Throttle events None in this range." in read(page("ledger"))


@pytest.mark.long
def test_charts_have_no_cloud_button(page):
    for graph in find(page("billing"), "Graph"):
        assert graph.config["showSendToCloud"] is False


@pytest.mark.long
def test_past_window_is_shown_by_address(page):
    past = page("billing", at_ms=START_MS + 30 * MINUTE_MS)
    said = read(past)
    assert "No problem was found with this subscription." in said
    assert "not the newest; newest: ▲ Throttled subscription.msg" in said
    assert "window 2026-11-20 00:25:00 to 00:30:00 UTC" in said
    assert "▲ Throttled subscription.msg 01:02:00 to 03:00:00 UTC, 1 h 58 m" in said


@pytest.mark.long
def test_limit_removed_in_window_is_shown(tmp_path):
    limited = next(sample for sample in SAMPLES if sample.subscription == "recommendations").phases[1]
    phases = (dataclasses.replace(limited, from_minute=0), Phase(177, in_msg=10.0))
    sample = Sample("persistent://a/b/c", "lifted", phases)
    write_sample_lake(tmp_path, (sample,))
    key = SubscriptionAddress(SubscriptionPartition(sample.cluster, sample.topic, -1, "lifted"))
    view = read_view(LakeReader(tmp_path), key)
    # The window's middle is still limited, its end is not.
    verdict = view.verdict | {"cause": "throttled", "limiter": "subscription.msg"}
    said = read(subscription.page(dataclasses.replace(view, verdict=verdict)))
    assert (
        "Until 02:57:00 UTC the subscription message limit (50 msg per 1 s, set by subscription policy) "
        "throttled this subscription."
    ) in said
    assert "subscription message limit : 50 msg per 1 s" in said
    assert "lifted at 02:57:00 UTC" in said


@pytest.mark.long
def test_unknown_cause_has_no_confidence(reader, tmp_path):
    sample = Sample("persistent://a/b/c", "open", (Phase(0, "unknown", "unknown", confidence=0.0),))
    write_sample_lake(tmp_path, (sample,))
    own = LakeReader(tmp_path)
    key = SubscriptionAddress(SubscriptionPartition(sample.cluster, sample.topic, -1, "open"))
    assert "? Unknown no cause is named" in read(subscription.page(read_view(own, key)))
    assert (
        table.grid_row(newest.subscriptions(own, SubscriptionsAddress())[0][0], "now")["confidence"]
        == grid.NONE
    )


@pytest.mark.long
def test_past_trouble_is_linked(page):
    tree = page("recommendations")
    links = [link for link in find(tree, "Link") if getattr(link, "className", "") == "earlier-link"]
    assert len(links) == 1
    assert SubscriptionAddress.parse(urlsplit(links[0].href).query).at_ms == START_MS + 110 * MINUTE_MS


@pytest.mark.long
def test_range_links_carry_absolute_times(page):
    """They keep the subscription."""
    tree = page("billing")
    for link in find(tree, "Link"):
        if (getattr(link, "className", "") or "").startswith("range-link"):
            parsed = SubscriptionAddress.parse(urlsplit(link.href).query)
            assert parsed.subscription == address("billing").subscription
            assert parsed.start_ms is not None
            assert parsed.end_ms is not None
    earlier = next(
        link for link in find(tree, "Link") if "shift-earlier" in (getattr(link, "className", "") or "")
    )
    parsed = SubscriptionAddress.parse(urlsplit(earlier.href).query)
    assert (parsed.start_ms, parsed.end_ms) == (START_MS - 3 * BLOCK_MS, START_MS)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, (START_MS, END_MS)),
        ({"start_ms": START_MS, "end_ms": START_MS + BLOCK_MS}, (START_MS, START_MS + BLOCK_MS)),
        ({"start_ms": END_MS - BLOCK_MS}, (END_MS - BLOCK_MS, END_MS)),
        ({"end_ms": END_MS - BLOCK_MS}, (START_MS, END_MS - BLOCK_MS)),
        ({"end_ms": START_MS - BLOCK_MS}, (START_MS - 7 * BLOCK_MS, START_MS - BLOCK_MS)),
        ({"start_ms": END_MS + BLOCK_MS}, (END_MS + BLOCK_MS, END_MS + BLOCK_MS + MINUTE_MS)),
    ],
)
def test_range_comes_from_address_or_data(parts, expected):
    assert chosen_range(address("billing", **parts), (START_MS, END_MS)) == (*expected, False)


def test_long_span_shows_hours_around_requested_window():
    """Without a requested window it shows the newest hours."""
    span = (END_MS - 100 * BLOCK_MS, END_MS)
    assert chosen_range(address("billing"), span)[:2] == (END_MS - 6 * BLOCK_MS, END_MS)
    at_ms = END_MS - 50 * BLOCK_MS
    start_ms, end_ms, _ = chosen_range(address("billing", at_ms=at_ms), span)
    assert start_ms < at_ms < end_ms
    assert end_ms - start_ms == 6 * BLOCK_MS


def test_download_links_keep_the_filters():
    links = find(summary.exports(SubscriptionsAddress(search="a b", causes=("throttled",))), "A")
    assert [link.href for link in links] == [
        "/export/subscriptions.csv?q=a%20b&cause=throttled",
        "/export/subscriptions.parquet?q=a%20b&cause=throttled",
    ]


def test_too_long_range_keeps_its_end():
    start_ms, end_ms, was_cut = chosen_range(address("billing", start_ms=0, end_ms=END_MS), (0, END_MS))
    assert was_cut
    assert (end_ms, end_ms - start_ms) == (END_MS, LONGEST_MS)


@pytest.mark.long
def test_empty_range_names_available_data(page):
    said = read(page("billing", start_ms=START_MS - BLOCK_MS, end_ms=START_MS))
    assert "No verdict in this range." in said
    assert (
        "The lake has data of this subscription from 2026-11-20 00:00:00 UTC to 2026-11-20 03:00:00 UTC."
        in said
    )
    assert "No minutes in this range." in said


@pytest.mark.long
def test_unknown_subscription_is_explained(reader):
    stranger = SubscriptionAddress(SubscriptionPartition("c", "persistent://t/n/x", -1, "nobody"))
    assert read_view(reader, stranger) is None
    said = read(subscription.never_seen(stranger))
    assert "The lake has no data of this subscription." in said
    assert "unloaded" in said


@pytest.mark.long
def test_windows_are_listed_newest_first(reader):
    data = state_of(read_view(reader, address("billing")))
    rows, total = windows.window_rows(reader, data, 0, 100)
    assert (len(rows), total) == (100, 176)
    assert plain(rows[0]["window"]) == "2026-11-20 02:55:00 to 03:00:00 UTC"
    assert SubscriptionAddress.parse(urlsplit(rows[3]["href"]).query).at_ms == END_MS - 3 * MINUTE_MS
    assert rows[0]["reason"] == "Dispatch runs at 99 % of the subscription message limit."
    rest, _ = windows.window_rows(reader, data, 100, 200)
    assert len({row["window"] for row in [*rows, *rest]}) == 176


@pytest.mark.long
def test_hostile_names_are_shown_as_text(page):
    tree = page(HOSTILE_NAME)
    assert "</script><img src=x onerror=alert(1)>" in text_of(tree)
    for part in walk(tree):
        assert type(part).__name__ not in ("Markdown", "DangerouslySetInnerHTML", "Script", "Iframe")
        for name in ("href", "src"):
            target = getattr(part, name, None)
            safe = ("/", "data:image/svg+xml;base64,") if name == "src" else "/"
            assert target is None or (target.startswith(safe) and "<" not in target and '"' not in target)
    for graph in find(tree, "Graph"):
        assert "onerror" not in str(graph.figure)


@pytest.mark.long
def test_the_same_view_gives_the_same_page(reader):
    view = read_view(reader, address("billing"))
    assert subscription.page(view).to_plotly_json().keys() == subscription.page(view).to_plotly_json().keys()
    assert str(subscription.page(view)) == str(subscription.page(view))
