"""The URL is the state: what a page shows survives the way through a link."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.web.sample_lake import HOSTILE_NAME
from throttlescope.app.presentation.causes import ORDER
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.alerts import AlertsAddress
from throttlescope.app.web.address.anomalies import AnomaliesAddress
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.address.method import MethodAddress
from throttlescope.app.web.address.promql import PromqlAddress
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.ingest.core.errors import InputError

_names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60)
_seconds = st.integers(min_value=0, max_value=253_402_300_799)


def query_of(href: str) -> str:
    return "?" + urlsplit(href).query


@pytest.mark.long
@given(
    _names,
    _names,
    st.integers(min_value=-1, max_value=2**31 - 1),
    _names,
    st.none() | st.tuples(_seconds, _seconds).filter(lambda pair: pair[0] < pair[1]),
    st.none() | _seconds,
)
def test_subscription_address_round_trip(cluster, topic, partition, subscription, bounds, at):
    start_ms, end_ms = (None, None) if bounds is None else (bounds[0] * 1000, bounds[1] * 1000)
    address = SubscriptionAddress(
        SubscriptionPartition(cluster, topic, partition, subscription),
        start_ms,
        end_ms,
        None if at is None else at * 1000,
    )
    href = address.href()
    assert SubscriptionAddress.parse(query_of(href)) == address
    assert href.isascii()
    assert not set(href) & set(" \"'<>\n\r\t`{}|\\^")


@pytest.mark.long
@given(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=60),
    st.sets(st.sampled_from(ORDER)),
    st.sets(_names),
)
def test_list_of_subscriptions_address_round_trip(search, causes, clusters):
    address = SubscriptionsAddress(search, tuple(sorted(clusters)), tuple(sorted(causes)))
    assert SubscriptionsAddress.parse(query_of(address.href())) == address


def test_a_hostile_name_stays_inside_its_parameter():
    href = SubscriptionAddress(SubscriptionPartition("c", "persistent://t/n/a", -1, HOSTILE_NAME)).href()
    assert urlsplit(href).path == "/subscription"
    assert urlsplit(href).fragment == ""
    assert SubscriptionAddress.parse(query_of(href)).subscription.subscription == HOSTILE_NAME


def test_links_carry_readable_absolute_times():
    address = SubscriptionAddress(
        SubscriptionPartition("c", "t", 3, "s"), 1_795_132_800_000, 1_795_143_600_000
    )
    assert "from=2026-11-20T00%3A00%3A00Z&to=2026-11-20T03%3A00%3A00Z" in address.href()


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "no cluster, topic, subscription"),
        ("?cluster=c&topic=t", "no subscription"),
        ("?cluster=c&topic=t&subscription=s&partition=two", "not a number"),
        ("?cluster=c&topic=t&subscription=s&partition=99999999999999999999", "does not exist"),
        (
            "?cluster=c&topic=t&subscription=s&from=2026-11-20T03:00:00Z&to=2026-11-20T02:00:00Z",
            "not before the end",
        ),
        ("?cluster=c&topic=t&subscription=s&from=-6h", "relative"),
        ("?cluster=c&topic=t&subscription=s&at=yesterday", "cannot be read"),
        ("?cluster=c&topic=t&subscription=s&at=" + "9" * 400, "out of range"),
        ("?cluster=c&topic=t&subscription=s&at=99999999999999999", "out of range"),
        ("?cluster=c&topic=t&subscription=" + "s" * 20_001, "too long"),
        ("?" + "&".join(["x=1"] * 10_000), "too many parts"),
    ],
)
def test_a_broken_address_is_explained(query, says):
    with pytest.raises(InputError, match=says):
        SubscriptionAddress.parse(query)


def test_an_unknown_cause_is_explained():
    with pytest.raises(InputError, match="does not exist"):
        SubscriptionsAddress.parse("?cause=bad_luck")


def test_cause_filter_is_toggled():
    address = SubscriptionsAddress("x", causes=("throttled",))
    assert address.toggled("healthy").causes == ("throttled", "healthy")
    assert address.toggled("healthy").toggled("healthy") == address


_ADDRESSES = {
    address.__name__: address
    for address in (
        AlertsAddress,
        AnomaliesAddress,
        DataAddress,
        LimitsAddress,
        MethodAddress,
        PromqlAddress,
        RollupsAddress,
        SubscriptionAddress,
        SubscriptionsAddress,
        WhatIfAddress,
    )
}
#: Links that were written for these query strings before fields were declared; null: the query string was refused.
_LINKS = json.loads((Path(__file__).parent / "addresses.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("address", "query", "href"),
    [(_ADDRESSES[page], query, href) for page, links in _LINKS.items() for query, href in links.items()],
)
def test_stored_links_stay_the_same(address, query, href):
    if href is None:
        with pytest.raises(InputError):
            address.parse("?" + query)
        return
    found = address.parse("?" + query)
    assert found.href() == href
    assert address.parse(query_of(href)) == found


@pytest.mark.parametrize("address", _ADDRESSES.values(), ids=list(_ADDRESSES))
def test_query_names_are_unique(address):
    names = [address.query_name(field.name) for field in fields(address)]
    assert len(set(names)) == len(names)
