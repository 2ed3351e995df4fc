"""What is read of one topic from the admin API: everything, as much as the deadline allows, or nothing."""

from __future__ import annotations

import json
import time

import pytest

from tests.app.http_server import answering
from tests.app.now.recorded import Recorded
from tests.app.now.recorded_admin import RecordedAdmin
from throttlescope.app.services.diagnose_now import CancelledError, Deadline
from throttlescope.app.services.diagnose_now.admin import CALLS_PER_S, DeadlineAdmin, read_topic_admin
from throttlescope.ingest.core.errors import SourceError

NAME = "partition-hot-msg"


@pytest.fixture
def recorded() -> Recorded:
    return Recorded(NAME)


@pytest.fixture
def admin(recorded):
    return RecordedAdmin(recorded, recorded.state("first")[1])


def admin_within(
    url: str, deadline: Deadline, share: float = 1.0, calls_per_s: float = 1000.0
) -> DeadlineAdmin:
    return DeadlineAdmin([url], calls_per_s=calls_per_s).within(deadline, share)


@pytest.mark.long
def test_limits_and_consumers_are_read_per_partition(recorded, admin):
    with answering(admin) as url:
        admin_data = read_topic_admin(admin_within(url, Deadline(60)), recorded.topic)
    assert admin_data.failures == ()
    assert admin_data.requests == len(admin.requested)
    assert {(one.partition, one.subscription) for one in admin_data.consumers} == {
        (n, "billing") for n in range(4)
    }
    assert len(admin_data.consumers) == 12
    assert all(one.address for one in admin_data.consumers)
    limits, stats = admin_data.of_cluster("prod")
    assert {row["cluster"] for row in [*limits.to_pylist(), *stats.to_pylist()]} == {"prod"}
    of_subscription = [row for row in limits.to_pylist() if row["level"] == "subscription"]
    assert {(row["partition"], row["rate_msg"], row["set_by"]) for row in of_subscription} == {
        (n, 100, "topic_policy") for n in range(4)
    }


class CallCountDeadline(Deadline):
    """A clock of calls: each takes its share of a second, however fast the machine is."""

    @property
    def passed_s(self) -> float:
        return self.cancelled.requested() / CALLS_PER_S


def test_requests_after_the_deadline_stay_unknown(recorded, admin):
    def no_cancel() -> bool:
        return False

    no_cancel.requested = lambda: len(admin.requested)
    with answering(admin) as url:
        # Fifty calls a second: of some thirty questions about half a second's worth is asked.
        deadline = CallCountDeadline(0.3, no_cancel)
        admin_data = read_topic_admin(admin_within(url, deadline, calls_per_s=CALLS_PER_S), recorded.topic)
    assert 0 < admin_data.requests == len(admin.requested) < 30
    assert {one.reason for one in admin_data.failures} == {"not requested: the deadline had passed"}
    limits, _ = admin_data.of_cluster("prod")
    assert "subscription" not in {row["level"] for row in limits.to_pylist()}


def test_cancel_stops_further_requests(recorded, admin):
    with answering(admin) as url, pytest.raises(CancelledError):
        read_topic_admin(admin_within(url, Deadline(60, lambda: len(admin.requested) > 3)), recorded.topic)
    assert len(admin.requested) == 4


def test_admin_api_refusing_everything_is_an_error(recorded):
    started_s = time.monotonic()
    with (
        answering(lambda *_: (500, "text/plain", b"out of order")) as url,
        pytest.raises(SourceError, match="answers no request"),
    ):
        read_topic_admin(admin_within(url, Deadline(60)), recorded.topic)
    assert time.monotonic() - started_s < 30


def configurations(admin) -> list[str]:
    return [path for path in admin.requested if path.endswith("/configuration/runtime")]


@pytest.mark.long
def test_only_owner_brokers_are_read(recorded, admin):
    (owner,) = json.loads(admin.answers["/admin/v2/brokers"])
    with answering(admin) as url:
        plain, _ = read_topic_admin(admin_within(url, Deadline(60)), recorded.topic).of_cluster("prod")
    assert len(configurations(admin)) == 1
    admin.answers["/admin/v2/brokers"] = json.dumps([owner, *(f"10.0.0.{n}:8080" for n in range(40))])
    admin.requested.clear()
    with answering(admin) as url:
        admin_data = read_topic_admin(admin_within(url, Deadline(60)), recorded.topic)
    assert (len(configurations(admin)), admin_data.failures) == (1, ())
    lookups = [path for path in admin.requested if path.startswith("/lookup/")]
    assert len(lookups) == len(set(lookups)) == 4
    many, _ = admin_data.of_cluster("prod")
    without_time = [name for name in plain.column_names if name not in ("observed_ms", "answered_ms", "date")]
    assert many.select(without_time).to_pylist() == plain.select(without_time).to_pylist()


@pytest.mark.long
def test_unknown_owner_reads_all_brokers(recorded, admin):
    admin.answers["/admin/v2/brokers"] = json.dumps([f"127.0.0.{n}:9" for n in range(2, 8)])
    with answering(admin) as url:
        admin_data = read_topic_admin(admin_within(url, Deadline(60)), recorded.topic)
    requested = [one.key for one in admin_data.failures if one.scope == "broker_configuration_runtime"]
    assert len(requested) == 6


def test_empty_admin_data_has_no_rows():
    from throttlescope.app.services.diagnose_now.admin import TopicAdminData

    limits, stats = TopicAdminData().of_cluster("prod")
    assert (limits.num_rows, stats.num_rows) == (0, 0)
