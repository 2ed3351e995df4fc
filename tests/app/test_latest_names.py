"""The newest verdicts as a list, and names that are like one that is not there."""

from __future__ import annotations

import pytest

from tests.app.lake_of_verdicts import healthy, lake_with, verdict
from throttlescope.app.queries.latest import LatestFilter, check_known, read_troubled
from throttlescope.ingest.core.errors import InputError


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    rows = [
        verdict(0),
        verdict(0, partition=4, backlog_entries=9.0),
        verdict(0, "slow_consumers", None, subscription="audit", backlog_entries=70_000.0),
        healthy(0, subscription="idle"),
        verdict(0, namespace="other/ns", topic="persistent://other/ns/clicks", partition=-1, cluster="west"),
    ]
    return lake_with(tmp_path_factory.mktemp("latest") / "lake", rows)


@pytest.mark.long
def test_troubled_are_sorted_by_backlog(lake):
    rows = read_troubled(lake, LatestFilter())
    assert [row["subscription"] for row in rows] == ["audit", "billing", "billing", "billing"]
    assert [row["partition"] for row in rows] == [3, 3, -1, 4]
    assert [row["cluster"] for row in read_troubled(lake, LatestFilter(cluster="west"))] == ["west"]
    assert len(read_troubled(lake, LatestFilter(namespace="acme/shop", cause="throttled"))) == 2
    with pytest.raises(InputError, match="expected prod, west"):
        read_troubled(lake, LatestFilter(cluster="east"))


def test_known_name_passes(lake):
    check_known(lake, "persistent://acme/shop/orders#billing", None)
    check_known(lake, "persistent://acme/shop/orders-partition-4#billing", "prod")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("persistent://acme/shop/orders-partition-3#biling", "orders-partition-3#billing (cluster prod)"),
        ("persistent://acme/shop/order#audit", "orders-partition-3#audit (cluster prod)"),
        ("persistent://other/ns/click#billing", "other/ns/clicks#billing (cluster west)"),
        ("persistent://acme/shop/orders-partition-7#billing", "orders-partition-3#billing"),
    ],
)
def test_unknown_name_is_answered_with_similar_ones(lake, name, first):
    with pytest.raises(InputError, match="There is no such subscription") as caught:
        check_known(lake, name, None)
    assert caught.value.fix.partition(",")[0].endswith(first) or first in caught.value.fix.partition(",")[0]


def test_empty_lake_has_no_subscriptions(tmp_path):
    from throttlescope.ingest.lake import Lake

    with pytest.raises(InputError, match="no verdicts in this lake"):
        check_known(Lake(tmp_path), "persistent://a/b/c#d", None)
