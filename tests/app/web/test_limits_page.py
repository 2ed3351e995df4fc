"""Limits and policies: one row per limiter, which policy applies, what changed, and which kind of nothing it is when there is nothing."""

from __future__ import annotations

from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from tests.app.web.components import find, text_of
from tests.app.web.lake_of_limits import OTHER, write_lake_of_limits
from tests.app.web.sample_lake import END_MS, HOSTILE_NAME, START_MS
from tests.app.web.test_format import plain
from tests.app.web.test_pages import read
from tests.transforms.test_limits import CLUSTER, NAMESPACE, SUB, TOPIC
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.queries.limit_changes import read_changes
from throttlescope.app.queries.verdicts import VerdictFilter
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.data.limit_changes import changes
from throttlescope.app.web.data.limit_subject import subject
from throttlescope.app.web.data.limiters import NEAR_SHARE, known, limiters
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.limits.limits_table import columns, grid_row
from throttlescope.app.web.pages.limits.page import changes_part, page_parts
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, date_of
from throttlescope.ingest.lake import Lake

KEY = SubscriptionPartition(CLUSTER, TOPIC, -1, SUB)
SUBJECT = LimitsAddress(subject=KEY)


@pytest.fixture(scope="module")
def limits_lake(tmp_path_factory) -> str:
    return write_lake_of_limits(tmp_path_factory.mktemp("limits") / "lake").root


@pytest.fixture
def limits_reader(limits_lake) -> LakeReader:
    return LakeReader(limits_lake)


# -- the table --------------------------------------------------------------------------------------


@pytest.mark.long
def test_shared_limiter_is_one_row(limits_reader):
    rows, total = limiters(limits_reader, LimitsAddress())
    expected = {
        (row["limiter"], row["topic"], row["subscription"]): (row["r"]["rate"], row["shared_by"])
        for row in rows
    }
    assert expected == {
        ("broker.msg", None, None): (5000, 2),
        ("topic.msg", TOPIC, None): (120, 2),
        ("subscription.msg", TOPIC, SUB): (500, 1),
        ("subscription.msg", TOPIC, OTHER): (500, 1),
    }
    assert total == 4
    everything, total = limiters(limits_reader, LimitsAddress(without=True))
    assert total == 8, "each in bytes as well"
    assert sum(row["r"]["rate"] is None for row in everything) == 4


@pytest.mark.long
def test_rows_show_the_newest_answers(limits_reader, limits_lake):
    newest = {}
    for row in Lake(limits_lake).read("limits").to_pylist():
        key = (row["subscription"], row["level"])
        newest[key] = max(row, newest.get(key, row), key=lambda one: one["observed_ms"])
    rows, _ = limiters(limits_reader, LimitsAddress(without=True))
    for row in rows:
        level, unit = row["limiter"].split(".")
        expected = newest[(row["member"]["subscription"], level)]
        assert row["r"]["rate"] == expected[f"rate_{unit}"]
        assert (row["r"]["set_by"], row["r"]["period_s"]) == (expected["set_by"], expected["period_s"])
        assert row["observed_ms"] == expected["observed_ms"]


@pytest.mark.long
def test_use_matches_the_single_minutes(limits_reader, limits_lake):
    shares = [
        row["rho_topic_msg"]
        for row in Lake(limits_lake).read("signals").to_pylist()
        if row["subscription"] == SUB and row["rho_topic_msg"] is not None
    ]
    topic = next(row for row in limiters(limits_reader, LimitsAddress())[0] if row["limiter"] == "topic.msg")
    assert topic["share"] == pytest.approx(max(shares))
    assert topic["near_minutes"] == sum(share >= NEAR_SHARE for share in shares)
    assert 0 < topic["near_minutes"] < topic["minutes"] == len(shares)


@pytest.mark.long
def test_filters_by_use_select_limits(limits_reader):
    often, _ = limiters(limits_reader, LimitsAddress(use="often"))
    assert [row["limiter"] for row in often] == ["topic.msg"]
    never, total = limiters(limits_reader, LimitsAddress(use="never"))
    assert (never, total) == ([], 0), "of the others no use is known, which is not the same"


@pytest.mark.long
def test_filters_and_order_of_rows(limits_reader):
    def named(address, **how):
        return [row["limiter"] for row in limiters(limits_reader, address, **how)[0]]

    assert named(LimitsAddress(levels=("broker", "topic"))) == ["topic.msg", "broker.msg"]
    assert named(LimitsAddress(set_by=("broker_file",))) == ["broker.msg"]
    assert named(LimitsAddress(search=f"{OTHER} {CLUSTER}")) == ["subscription.msg"]
    assert named(LimitsAddress(namespaces=("no/such",))) == []
    assert len(named(LimitsAddress(namespaces=(NAMESPACE,)))) == 4, "the broker's holds there as well"
    assert named(LimitsAddress(clusters=("elsewhere",))) == []
    rates = [
        row["per_s"]
        for row in limiters(limits_reader, LimitsAddress(), sort=[("rate", True), ("none", False)])[0]
    ]
    assert rates == [5000, 120, 50, 50]
    assert named(LimitsAddress(), sort=[("rate", True)], start=1, end=2) == ["topic.msg"]


@pytest.mark.long
def test_row_shows_unit_period_and_proof(limits_reader):
    rows = {
        row["limiter"] + (row["subscription"] or ""): row
        for row in limiters(limits_reader, LimitsAddress())[0]
    }
    shown = {name: {key: plain(value) for key, value in grid_row(row).items()} for name, row in rows.items()}
    topic = shown["topic.msg"]
    assert {column["field"] for column in columns(known(limits_reader))} <= topic.keys()
    assert topic["owner"] == "t/n/x"
    assert (topic["rate"], topic["rate_tip"]) == ("120 msg per 1 s", "120 msg/s")
    assert topic["set_by"] == "topic policy"
    assert topic["proof"] == "✓ evidence"
    assert topic["near"].endswith(" of 180 m")
    subscription = shown[f"subscription.msg{SUB}"]
    assert (subscription["rate"], subscription["rate_tip"]) == ("500 msg per 10 s", "50 msg/s")
    assert subscription["proof"] == "✓ evidence", "what counts is the period, not the second"
    assert subscription["share"] == "\N{EN DASH}"
    assert LimitsAddress.parse(urlsplit(subscription["href"]).query) == SUBJECT


@pytest.mark.long
def test_freshness_and_unknown_limits_are_shown(limits_reader, reader):
    found = known(limits_reader)
    assert found.observed_ms >= START_MS + 2 * BLOCK_MS
    assert (found.subscriptions, found.unknown) == (2, {"broker": 0, "topic": 0, "subscription": 0})
    below, hidden, fresh, status, *_ = page_parts(limits_reader, LimitsAddress())
    assert hidden is False
    assert "policies read up to 2026-11-20 02:00:00 UTC" in read(fresh)
    assert "data up to 2026-11-20 03:00:00 UTC" in read(fresh)
    assert read(status).startswith("4 limiters.")
    assert "Not known" not in read(below)
    # The sample lake has signals with limits, and no answers of the admin API.
    below, _, fresh, status, *_ = page_parts(reader, LimitsAddress())
    assert "policies: never read" in read(fresh)
    assert "No limits were read yet." in read(status)
    assert known(reader).unknown == {"broker": 34, "topic": 34, "subscription": 34}


@pytest.mark.long
def test_each_empty_state_has_its_text(limits_reader, tmp_path):
    assert "No verdicts yet." in read(page_parts(LakeReader(tmp_path), LimitsAddress())[3])
    said = page_parts(limits_reader, LimitsAddress(search="nobody"))[3]
    assert "4 limits are known; none matches the search" in read(said)
    assert find(said, "Link")[0].href == "/limits"
    assert "at least half used" in read(page_parts(limits_reader, LimitsAddress(use="never"))[3])


# -- the address ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        LimitsAddress(),
        LimitsAddress("a b", ("c",), ("t/n", "t/m"), ("broker",), ("none", "topic_policy"), "often", True),
        SUBJECT,
        LimitsAddress(
            subject=SubscriptionPartition("c", "persistent://t/n/x", 3, HOSTILE_NAME),
            start_ms=START_MS,
            end_ms=END_MS,
        ),
    ],
)
def test_address_round_trip(address):
    assert LimitsAddress.parse(urlsplit(address.href()).query) == address


@pytest.mark.parametrize(
    "query",
    [
        "?level=tenant",
        "?set_by=me",
        "?use=sometimes",
        "?subscription=s",
        "?from=now",
        "?topic=x&cluster=c&subscription=s&partition=x",
    ],
)
def test_unreadable_address_is_an_error(query):
    with pytest.raises(InputError):
        LimitsAddress.parse(query)


# -- one subscription -------------------------------------------------------------------------------


@pytest.mark.long
def test_records_show_winner_and_hidden_ones(limits_reader):
    said = read(page_parts(limits_reader, SUBJECT)[0])
    for words in (
        "Limits of s topic persistent://t/n/x · not partitioned · cluster recorded",
        "broker.msg 5 000 msg per 1 s",
        "subscription.bytes none not set by the topic policy, which applies as a whole",
        "topic policy 500 msg per 10 s; bytes not limited ✓ applies",
        "namespace policy 9 000 B (8.79 KiB) per 1 s; messages not limited overridden by the topic policy",
        "broker's configuration file nothing (both rates 0 or less count as not set) not set",
        "Answers of the admin API",
        "topic_dispatch_rate of persistent://t/n/x",
        '"dispatchThrottlingRateInMsg": 120',
        "subscription_dispatch_rate of persistent://t/n/x#s · nothing is set",
    ):
        assert words in said, words


@pytest.mark.long
def test_winning_records_are_limits_in_force(limits_reader):
    found = subject(limits_reader, KEY)
    winners = {rung.level: rung for rung in found.ladder if rung.wins}
    assert set(winners) == {"broker", "topic", "subscription"}
    for level, rung in winners.items():
        row = found.levels[level]
        assert (rung.set_by, rung.rate_msg, rung.rate_bytes) == (
            row["set_by"],
            row["rate_msg"],
            row["rate_bytes"],
        )


@pytest.mark.long
def test_subscription_without_limits_read_is_explained(limits_reader):
    address = LimitsAddress(subject=SubscriptionPartition(CLUSTER, "persistent://t/other/y", 2, "gone"))
    said = read(page_parts(limits_reader, address)[0])
    assert "No limit of this subscription was read." in said
    assert "An unknown limit is not the absence of one." in said
    assert "None was seen." in read(changes_part(limits_reader, address))


def test_admin_answers_are_shown_as_text(tmp_path):
    lake = Lake(tmp_path)
    hostile = '{"x": "</pre><script>alert(1)</script>\\u202e", "y": ['
    rows = [
        {"cluster": CLUSTER, "scope": "namespace", "key": NAMESPACE, "body": hostile, "broker": None,
         "observed_ms": START_MS, "date": date_of(START_MS)}
    ]  # fmt: skip
    lake.upsert("policies", pa.Table.from_pylist(rows, schema=TABLES["policies"].loose_schema), run_id="r")
    page = page_parts(LakeReader(tmp_path), SUBJECT)[0]
    assert "The answers cannot be read." in read(page)
    pre = find(page, "Pre")[0]
    assert "</pre><script>" in pre.children, "a string among children, which React escapes"
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text_of(page)


# -- changes ----------------------------------------------------------------------------------------


@pytest.mark.long
def test_changes_match_the_command(limits_reader, limits_lake):
    found = changes(limits_reader, LimitsAddress(), START_MS, END_MS)
    expected = read_changes(Lake(limits_lake), VerdictFilter(start_ms=START_MS, end_ms=END_MS))
    assert found.total == 1
    assert found.is_whole
    event = found.events[0]
    assert [one.to_row() for one in event.event.changes] == [one.change.to_row() for one in expected]
    assert len(expected) == 2, "one for each subscription of the topic"
    assert event.compared.to_row() in [one.to_row() for one in expected]
    assert event.compared.before.rho > 0.9 > event.compared.after.rho


@pytest.mark.long
def test_changes_follow_range_and_filters(limits_reader):
    raised_ms = changes(limits_reader, LimitsAddress(), START_MS, END_MS).events[0].event.new_from_ms
    assert changes(limits_reader, LimitsAddress(), START_MS, raised_ms).total == 0
    assert changes(limits_reader, LimitsAddress(), raised_ms, raised_ms + 1).total == 1
    for address, number in (
        (SUBJECT, 1),
        (LimitsAddress(namespaces=("no/such",)), 0),
        (LimitsAddress(search="TAIL"), 1),
        (LimitsAddress(levels=("broker",)), 0),
    ):
        assert changes(limits_reader, address, START_MS, END_MS).total == number
    below = changes_part(
        limits_reader, LimitsAddress.parse("?from=2026-11-20T02:30:00Z&to=2026-11-20T03:00:00Z")
    )
    assert "None was seen." in read(below)
    said = read(changes_part(limits_reader, SUBJECT))
    assert "topic.msg ▲ raised 60 msg/s now 120 msg/s 1 on 1 topic s t/n/x" in said
    assert "A comparison is not a proof" in said


@pytest.mark.long
def test_links_shift_the_range(limits_reader):
    below = changes_part(limits_reader, LimitsAddress.parse("?level=topic"))
    links = {link.className: link.href for link in find(below, "Link") if getattr(link, "className", None)}
    earlier = LimitsAddress.parse(urlsplit(links["range-link shift-earlier"]).query)
    assert earlier.levels == ("topic",)
    assert (earlier.start_ms, earlier.end_ms) == (END_MS - 2 * DAY_MS, END_MS - DAY_MS)
    assert "2026-11-19 03:00:00 to 2026-11-20 03:00:00 UTC" in read(below)
