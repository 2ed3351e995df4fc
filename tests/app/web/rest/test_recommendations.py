"""Recommendations: the facts of ``throttlescope recommend``, computed in bounded time, or the reason why not."""

from __future__ import annotations

import pytest

from tests.app.web.lab_lake import BILLING, write_lab_lake
from tests.app.web.rest.contract import CheckedClient
from throttlescope.app.server.app import create_app
from throttlescope.ingest.core.subscription_name import subscription_text

SELECTOR = subscription_text(BILLING.topic, BILLING.partition, BILLING.subscription)


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> CheckedClient:
    """600 msg/s under a limit of 500."""
    lake = write_lab_lake(tmp_path_factory.mktemp("lab") / "lake")
    return CheckedClient(create_app(lake.root).server.test_client())


@pytest.mark.long
def test_throttled_subscription_gets_a_higher_limit(lab):
    first = lab.get("recommendations", {"selector": SELECTOR})
    assert first.status_code == 200, first.text
    page = first.get_json()
    assert (page["selector"], page["cluster"], page["target_s"]) == (SELECTOR, BILLING.cluster, 1800)
    assert page["primary_lever"] == "limiter"
    assert page["backlog_entries"] > 0
    (limit, *_) = [one for one in page["items"] if one["lever"] == "limit"]
    assert limit["change"].startswith("subscription.msg=")
    assert float(limit["change"].partition("=")[2]) > 500
    assert limit["earliest_drain_s"] <= 1800
    levers = {one["lever"]: one["limiter"] for one in page["counterfactuals"]}
    assert levers["limiter"] == "subscription.msg"
    again = lab.get(
        "recommendations", {"selector": SELECTOR}, headers={"If-None-Match": first.headers["ETag"]}
    )
    assert again.status_code == 304


@pytest.mark.long
def test_moment_without_samples_is_422(lab):
    problem = lab.problem("recommendations", {"selector": SELECTOR, "at_ms": 86_400_000})
    assert (problem["status"], problem["type"].rpartition(":")[2]) == (422, "not-computable")
