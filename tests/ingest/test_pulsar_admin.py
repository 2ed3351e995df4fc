"""The admin API: a real broker's recorded answers served again, partial failures, several brokers, gentleness."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from tests.app.http_server import answering, html, unauthorised
from tests.ingest.task_threads import TaskThreads
from tests.transforms.lakes import lake_of
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.admin import pull_admin, topics_with_backlog
from throttlescope.ingest.pull.recordings import ingest_recordings
from throttlescope.ingest.sources import pulsar_admin
from throttlescope.ingest.sources.access import Access
from throttlescope.ingest.sources.pulsar_admin import AdminTopic, PulsarAdmin
from throttlescope.ingest.sources.recording import list_shipped
from throttlescope.transforms.promql.source import Series

RECORDING = "sub-msg-large"
TOPIC = "persistent://lab/sub-msg-large/orders"
FAST = 1000.0

_PATHS = {
    "broker_configuration_runtime": "/admin/v2/brokers/configuration/runtime",
    "broker_dynamic_configuration": "/admin/v2/brokers/configuration/values",
    "broker_version": "/admin/v2/brokers/version",
    "namespace": "/admin/v2/namespaces/{key}",
    "topic_dispatch_rate": "/admin/v2/persistent/{topic}/dispatchRate",
    "topic_subscription_dispatch_rate": "/admin/v2/persistent/{topic}/subscriptionDispatchRate",
    "global_topic_dispatch_rate": "/admin/v2/persistent/{topic}/dispatchRate?isGlobal=true",
    "global_topic_subscription_dispatch_rate": "/admin/v2/persistent/{topic}/subscriptionDispatchRate?isGlobal=true",
    "topic_message_ttl": "/admin/v2/persistent/{topic}/messageTTL",
    "global_topic_message_ttl": "/admin/v2/persistent/{topic}/messageTTL?isGlobal=true",
    "topic_backlog_quotas": "/admin/v2/persistent/{topic}/backlogQuotaMap",
    "global_topic_backlog_quotas": "/admin/v2/persistent/{topic}/backlogQuotaMap?isGlobal=true",
    "topic_retention": "/admin/v2/persistent/{topic}/retention",
    "global_topic_retention": "/admin/v2/persistent/{topic}/retention?isGlobal=true",
    "topic_publish_rate": "/admin/v2/persistent/{topic}/publishRate",
    "global_topic_publish_rate": "/admin/v2/persistent/{topic}/publishRate?isGlobal=true",
    "partition_count": "/admin/v2/persistent/{topic}/partitions",
    "topic_subscriptions": "/admin/v2/persistent/{topic}/subscriptions",
    "topic_owner": "/lookup/v2/topic/persistent/{topic}",
    "subscription_dispatch_rate": "/admin/v2/persistent/{topic}/{sub}/dispatchRate",
}
#: Asked since, and not in the recording.
NOT_RECORDED = tuple(
    scope
    for scope in _PATHS
    if scope.endswith(("_message_ttl", "_backlog_quotas", "_retention", "_publish_rate"))
)


def recorded(name: str) -> list[dict]:
    return [json.loads(line) for line in (list_shipped()[RECORDING] / name).read_text().splitlines()]


def path_of(row: dict) -> str:
    topic, _, sub = row["key"].removeprefix("persistent://").partition("#")
    return _PATHS[row["scope"]].format(key=row["key"], topic=topic, sub=sub)


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    """Path to body, as the broker of the recording gave it first."""
    found: dict[str, str] = {}
    for row in recorded("policies.jsonl"):
        found.setdefault(path_of(row), row["body"] or "")
        broker = row["broker"]
    # The recording is older than these questions; its topic had no such policies, which a broker answers with nothing.
    for scope in NOT_RECORDED:
        found.setdefault(path_of({"scope": scope, "key": TOPIC}), "")
    for row in recorded("topic_stats.jsonl"):
        path = f"/admin/v2/persistent/lab/sub-msg-large/orders-partition-{row['partition']}/stats?getPreciseBacklog=true"
        for asked in (path, f"{path}&getEarliestTimeInBacklog=true"):
            found.setdefault(asked, row["body"])
    found["/admin/v2/brokers"] = json.dumps([broker])
    return found


def serve(
    answers: dict[str, str],
    refuse: dict[str, int] | None = None,
    seen: list | None = None,
    slow_s: dict[str, float] | None = None,
):
    def answer(method: str, path: str, headers: dict[str, str]):
        assert method == "GET"
        if seen is not None:
            seen.append((time.monotonic(), path, headers))
        time.sleep(sum(seconds for part, seconds in (slow_s or {}).items() if part in path))
        for part, status in (refuse or {}).items():
            if part in path:
                return status, "application/json", json.dumps({"reason": f"no {part}"}).encode()
        if path not in answers:
            return 404, "application/json", b'{"reason": "Topic not found"}'
        return 200, "application/json", answers[path].encode()

    return answering(answer)


BOTH_PARTITIONS = (AdminTopic(TOPIC, (0, 1)),)


def collected(url: str, topics=BOTH_PARTITIONS, **options):
    return PulsarAdmin([url], calls_per_s=FAST, **options).collect("prod", topics)


def test_a_real_brokers_answers(answers) -> None:
    with serve(answers) as url:
        snapshot = collected(url)
    assert snapshot.failures == []
    rows = {(row["scope"], row["key"]): row for row in snapshot.policies.to_pylist()}
    expected = {(row["scope"], row["key"]): row for row in recorded("policies.jsonl")}
    assert json.loads(rows.pop(("brokers", url.split("//")[1]))["body"]) == json.loads(
        answers["/admin/v2/brokers"]
    )
    assert rows.keys() == expected.keys() | {(scope, TOPIC) for scope in NOT_RECORDED}
    for (scope, key), row in rows.items():
        body = answers[path_of({"scope": scope, "key": key})]
        if scope == "broker_configuration_runtime":
            assert json.loads(row["body"]).keys() == json.loads(body).keys()
            assert row["broker"] == row["key"]
        else:
            assert row["body"] == (body or "null")
    stats = snapshot.topic_stats.to_pylist()
    assert [(row["topic"], row["partition"], row["subscription"]) for row in stats] == [
        (TOPIC, 0, "billing"),
        (TOPIC, 1, "billing"),
    ]
    assert snapshot.requests == len(rows) + 2 + 1
    assert snapshot.bytes > 10_000


def test_partial_failure_keeps_the_rest(answers) -> None:
    """It is reported."""
    refuse = {"/brokers/configuration/": 403, "dispatchRate?isGlobal": 404, "partition-1/stats": 500}
    with serve(answers, refuse) as url:
        snapshot = collected(url)
    failed = Counter(failure.scope for failure in snapshot.failures)
    assert failed == {
        "broker_configuration_runtime": 1,
        "broker_dynamic_configuration": 1,
        "global_topic_dispatch_rate": 1,
        "topic_stats": 1,
    }
    scopes = {row["scope"] for row in snapshot.policies.to_pylist()}
    # What was not answered has no row: it is unknown, not unset.
    assert not scopes & (failed.keys() - {"topic_stats"})
    assert {"namespace", "topic_dispatch_rate", "topic_owner", "broker_version"} <= scopes
    assert "no dispatchRate?isGlobal" in next(
        f.reason for f in snapshot.failures if f.scope.startswith("global")
    )
    assert snapshot.topic_stats.num_rows == 1


def test_deleted_topic_hides_no_other(answers) -> None:
    with serve(answers) as url:
        snapshot = collected(url, [AdminTopic("persistent://lab/gone/x", (-1,)), AdminTopic(TOPIC, (0,))])
    assert {failure.key for failure in snapshot.failures} == {"lab/gone", "persistent://lab/gone/x"}
    assert snapshot.topic_stats.num_rows == 1


@pytest.mark.long
def test_each_of_several_brokers_gets_requests(answers) -> None:
    seen: list = []
    other = dict(answers)
    with serve(other, seen=seen) as second, serve(answers, seen=seen) as first:
        names = [urlsplit(url).netloc for url in (first, second)]
        answers = answers | {"/admin/v2/brokers": json.dumps([*names, "127.0.0.1:1"])}
        with serve(answers) as entry:
            snapshot = collected(entry, [])
    runtime = {
        row["key"]: row["broker"]
        for row in snapshot.policies.to_pylist()
        if row["scope"] == "broker_configuration_runtime"
    }
    assert runtime == dict(zip(names, names, strict=True))
    assert [(failure.scope, failure.key) for failure in snapshot.failures] == [
        ("broker_configuration_runtime", "127.0.0.1:1")
    ]
    assert sum(row["scope"] == "broker_dynamic_configuration" for row in snapshot.policies.to_pylist()) == 1


def test_second_address_replaces_silent_first(answers) -> None:
    with serve(answers) as url:
        admin = PulsarAdmin(["http://127.0.0.1:1", url], Access(timeout_s=5), calls_per_s=FAST)
        assert admin.collect("prod", [AdminTopic(TOPIC, (0,))]).topic_stats.num_rows == 1


@pytest.mark.long
def test_silent_broker_delays_no_other(answers) -> None:
    """Half an hour of topics, each question of which would wait for its whole time."""
    topics, seen = [AdminTopic(f"persistent://lab/silent/t{i}", (0,)) for i in range(50)], []
    begun_s = time.monotonic()
    with serve(answers, seen=seen, slow_s={"lab/silent": 6}) as url:
        # Long enough for the topic that is answered, also where the machine is busy.
        snapshot = collected(url, [AdminTopic(TOPIC, (0,)), *topics], access=Access(timeout_s=2))
    assert time.monotonic() - begun_s < 2 * len(topics)
    # The namespace, before the topic that is answered, and three in a row.
    assert sum("lab/silent" in path for _, path, _ in seen) == 4
    assert snapshot.topic_stats.num_rows == 1
    reasons = Counter(failure.reason.partition(" of ")[0] for failure in snapshot.failures)
    assert reasons["nothing for 2 s"] == 4
    assert reasons["no answer"] == len(snapshot.failures) - 4 - sum(
        failure.key == TOPIC for failure in snapshot.failures
    )


@pytest.mark.long
def test_silent_owner_blocks_no_other(answers) -> None:
    """Questions that are sent on to a dead broker are given up, and those of the others come."""
    gone = AdminTopic("persistent://lab/gone/t", (0,))
    with serve(answers) as healthy, redirecting("http://127.0.0.1:1", healthy, "lab/gone") as url:
        begun_s = time.monotonic()
        snapshot = collected(url, [gone, AdminTopic(TOPIC, (0, 1))])
    assert snapshot.topic_stats.num_rows == 2
    assert {failure.key.partition("-")[0] for failure in snapshot.failures} == {"lab/gone", gone.name}
    assert sum("no answer of http://127.0.0.1:1 " in failure.reason for failure in snapshot.failures) > 8
    assert time.monotonic() - begun_s < 15


@pytest.mark.long
def test_slow_api_has_a_deadline(answers, monkeypatch) -> None:
    monkeypatch.setattr(pulsar_admin, "_WAIT_S", 0.5)
    monkeypatch.setattr(pulsar_admin, "_WAIT_PER_REQUEST_S", 0.0)
    others = [AdminTopic(f"persistent://lab/sub-msg-large/t{i}", (0,)) for i in range(20)]
    with serve(answers, slow_s={"": 0.05}) as url:
        snapshot = collected(url, [AdminTopic(TOPIC, (0,)), *others])
    assert snapshot.topic_stats.num_rows == 1
    left = [failure for failure in snapshot.failures if failure.scope == "topic"]
    assert [failure.key for failure in left] == [topic.name for topic in others[-len(left) :]]
    assert len(left) > 10
    assert all("too slow to continue" in failure.reason for failure in left)


def test_silent_brokers_are_awaited_together(answers, monkeypatch) -> None:
    monkeypatch.setattr(pulsar_admin, "_WAIT_S", 0.5)
    monkeypatch.setattr(pulsar_admin, "_WAIT_PER_REQUEST_S", 0.0)
    with contextlib.ExitStack() as stack:
        # Connections are taken, and nobody answers.
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(40)]
        names = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
        with serve(answers | {"/admin/v2/brokers": json.dumps(names)}) as entry:
            snapshot = collected(entry, [AdminTopic(TOPIC, (0,))], access=Access(timeout_s=0.2))
    left = [failure for failure in snapshot.failures if failure.scope == "broker"]
    assert len(left) > 20
    assert all("too slow to continue" in failure.reason for failure in left)
    # What was asked for all the same, by the address that answers.
    assert "broker_dynamic_configuration" in {row["scope"] for row in snapshot.policies.to_pylist()}


def test_secrets_of_a_brokers_configuration_stay_there(answers) -> None:
    path = "/admin/v2/brokers/configuration/runtime"
    runtime = json.loads(answers[path]) | {
        "brokerClientAuthenticationParameters": "token:s3cret",
        "tlsKeyStorePassword": "s3cret",
        "brokerClientTlsTrustStorePassword": "",
        "saslJaasServerRoleTokenSignerSecretPath": "/etc/where",
        "dispatchThrottlingRateInMsg": "7",
    }
    with serve(answers | {path: json.dumps(runtime)}) as url:
        snapshot = collected(url, [])
    (row,) = [r for r in snapshot.policies.to_pylist() if r["scope"] == "broker_configuration_runtime"]
    body = json.loads(row["body"])
    assert "s3cret" not in row["body"]
    assert body["tlsKeyStorePassword"] == "(hidden)"
    assert body["brokerClientTlsTrustStorePassword"] == ""
    assert body["saslJaasServerRoleTokenSignerSecretPath"] == "/etc/where"
    assert body["dispatchThrottlingRateInMsg"] == "7"


def test_secrets_in_answers_are_not_stored(answers) -> None:
    told = answers | {"/admin/v2/brokers/version": "4.0.0 for Bearer s3cret-token"}
    with serve(told) as url:
        snapshot = collected(url, access=Access(token="s3cret-token"))  # noqa: S106
    (version,) = (row["body"] for row in snapshot.policies.to_pylist() if row["scope"] == "broker_version")
    assert version == '"4.0.0 for Bearer (hidden)"'


@pytest.mark.long
def test_no_more_calls_than_allowed(answers) -> None:
    seen: list = []
    with serve(answers, seen=seen) as url:
        PulsarAdmin([url], calls_per_s=20).collect("prod", [AdminTopic(TOPIC, (0,))])
    times = [at for at, _, _ in seen]
    assert len(times) == 23
    for i in range(len(times) - 11):
        assert times[i + 11] - times[i] >= 0.45, (
            "eleven calls take half a second, or a little less by the clock"
        )


def test_topic_owner_gets_same_credentials(answers) -> None:
    """A broker sends topic questions on to the owner, whose address is another one."""
    seen: list = []
    with serve(answers, seen=seen) as owner, redirecting(owner, owner) as url:
        snapshot = collected(url, access=Access(token="s3cret"))  # noqa: S106
    assert snapshot.failures == []
    assert {headers.get("Authorization") for _, _, headers in seen} == {"Bearer s3cret"}


def test_paused_producers_name_their_consumers(answers) -> None:
    """Two calls more for each topic, and for one that nobody waits on only who publishes, and its limits."""
    path = "/admin/v2/persistent/lab/sub-msg-large/orders-partition-0/stats?getPreciseBacklog=true"
    stats = json.loads(answers[path])
    shared = stats["subscriptions"]["billing"]["consumers"][0]["address"]
    count = len(stats["subscriptions"]["billing"]["consumers"])
    loud = stats | {"publishRateLimitedTimes": 77, "publishers": [{"address": shared, "msgRateIn": 5.0}]}
    other = "/admin/v2/persistent/lab/other/imports"
    told = answers | {
        f"{other}/stats?getPreciseBacklog=true": json.dumps(loud),
        f"{other}/publishRate": '{"publishThrottlingRateInMsg": 20, "publishThrottlingRateInByte": -1}',
        f"{other}/publishRate?isGlobal=true": "",
        "/admin/v2/namespaces/lab/other": '{"resource_group_name": "small"}',
        "/admin/v2/resourcegroups/small": '{"publishRateInMsgs": 100, "publishRateInBytes": null}',
    }
    imports, seen = AdminTopic("persistent://lab/other/imports", (-1,)), []
    with serve(told, seen=seen) as url:
        admin = PulsarAdmin([url], calls_per_s=FAST)
        snapshot = admin.collect("prod", [AdminTopic(TOPIC, (0,))], publishers=[imports])
    assert snapshot.failures == []
    (row,) = snapshot.topic_stats.to_pylist()
    of_one_address = sum(one["address"] == shared for one in stats["subscriptions"]["billing"]["consumers"])
    assert 1 <= of_one_address <= count
    assert (row["consumers_paused"], row["connection_pauses"]) == (of_one_address, 77)
    assert row["pausing_topic"] == imports.name
    scopes = {(one["scope"], one["key"]) for one in snapshot.policies.to_pylist()}
    assert {("resource_group", "small"), ("topic_publish_rate", imports.name)} <= scopes
    assert len(seen) == 23 + 5


def test_nobody_is_paused_where_none_was(answers) -> None:
    topics = [AdminTopic(TOPIC, (0,))]
    with serve(answers) as url:
        admin = PulsarAdmin([url], calls_per_s=FAST)
        asked = admin.collect("prod", topics, publishers=[]).topic_stats.to_pylist()
        not_asked = admin.collect("prod", topics).topic_stats.to_pylist()
    assert [row["consumers_paused"] for row in asked] == [0]
    assert [row["consumers_paused"] for row in not_asked] == [None]


def redirecting(target: str, other: str, of: str = ""):
    """A server that sends every question on: those with a part in their path to one server, all else to another."""
    return answering(
        lambda method, path, headers: (307, "text/plain", f"{target if of in path else other}{path}".encode())
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (unauthorised, ["401", "answers no request"]),
        (html, ["web page", "answers no request"]),
        (lambda *_: (404, "text/plain", b"not found"), ["answers no request", "8080"]),
    ],
)
def test_a_server_that_refuses_everything(answer, words: list[str]) -> None:
    with answering(answer) as url, pytest.raises(SourceError) as caught:
        collected(url, access=Access(token="s3cret"))  # noqa: S106
    text = str(caught.value)
    assert "\n" not in text
    assert "s3cret" not in text
    assert all(word in text for word in words[1:]), text


def test_unreachable_or_missing_address() -> None:
    with pytest.raises(SourceError, match="cannot be reached"):
        collected("http://127.0.0.1:1", access=Access(timeout_s=5))
    with pytest.raises(InputError):
        PulsarAdmin([])
    with pytest.raises(InputError, match="pulsar://"):
        PulsarAdmin(["pulsar://broker:6650"])


def test_odd_names_are_one_path_segment_each() -> None:
    topic = AdminTopic("persistent://t/n/a b/../c?x#y%2F")
    assert topic.namespace == "t/n"
    assert topic.path == "persistent/t/n/a%20b%2F..%2Fc%3Fx%23y%252F"
    assert topic.physical(3).name.endswith("y%2F-partition-3")
    assert dict(parse_qsl(urlsplit("http://x/" + topic.path).query)) == {}


# -- into the lake -------------------------------------------------------------------------


@pytest.mark.long
def test_topics_with_a_backlog_are_requested(answers, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    ingest_recordings(TaskThreads(), lake, [list_shipped()[RECORDING]], "run")
    rows = lake.read("samples", columns=["block_start_ms"])["block_start_ms"].to_pylist()
    start_ms, end_ms = min(rows), max(rows) + 3_600_000
    assert topics_with_backlog(lake, RECORDING, start_ms, end_ms) == [AdminTopic(TOPIC, (0, 1))]
    assert topics_with_backlog(lake, RECORDING, start_ms - 10**9, start_ms - 10**8) == []
    assert topics_with_backlog(lake, "other", start_ms, end_ms) == []
    before = lake.read("policies").num_rows, lake.read("topic_stats").num_rows
    with serve(answers) as url:
        admin = PulsarAdmin([url], calls_per_s=FAST)
        snapshot = pull_admin(lake, admin, RECORDING, start_ms, end_ms, "run")
        assert lake.read("policies").num_rows == before[0] + snapshot.policies.num_rows
        assert lake.read("topic_stats").num_rows == before[1] + 2
        left = pull_admin(lake, admin, RECORDING, start_ms, end_ms, "run", max_topics=0)
    assert left.failures[-1].reason == "not read: more than 0"


def sampled(url: str, topics=BOTH_PARTITIONS, **bounds):
    bounds = {"rounds": 3, "pause_s": 0.0, "max_calls": 60, "within_s": 60.0} | bounds
    return PulsarAdmin([url], calls_per_s=FAST).sample("prod", topics, **bounds)


def test_sampling_asks_for_stats_alone(answers) -> None:
    seen: list = []
    with serve(answers, seen=seen) as url:
        found = sampled(url)
    assert found.failures == []
    assert found.requests == len(seen) == 6
    assert all("/stats?" in path for _, path, _ in seen)
    rows = found.topic_stats.to_pylist()
    assert Counter(row["partition"] for row in rows) == {0: 3, 1: 3}
    assert len({(row["partition"], row["observed_ms"]) for row in rows}) == 6
    assert all(row["consumers_without_permits"] is not None for row in rows)


def test_sampling_leaves_out_what_is_over_budget(answers) -> None:
    with serve(answers) as url:
        found = sampled(url, max_calls=5)
        assert sampled(url, within_s=0.0).requests == 0
    assert {row["partition"] for row in found.topic_stats.to_pylist()} == {0}
    assert found.requests == 3


def test_sampling_asks_a_silent_partition_once(answers) -> None:
    with serve(answers, {"partition-1/stats": 500}) as url:
        found = sampled(url)
    assert len(found.failures) == 1
    assert Counter(row["partition"] for row in found.topic_stats.to_pylist()) == {0: 3}


@pytest.mark.long
@pytest.mark.parametrize(
    ("age_ms", "scraped", "samples"), [(0, False, 4), (0, True, 0), (3_600_000, False, 0)]
)
def test_run_samples_stats_of_a_fresh_range(answers, tmp_path, age_ms, scraped, samples) -> None:
    """Where permits are scraped, or the range ended long ago, one snapshot is as good as five."""
    end_ms = round(time.time() * 1000) - age_ms
    labels = {"cluster": "prod", "namespace": "lab/sub-msg-large", "topic": TOPIC, "partition": "0", "subscription": "billing"}  # fmt: skip
    names = ["pulsar_subscription_back_log", *(["pulsar_consumer_available_permits"] if scraped else [])]
    times_ms = np.array([end_ms - 30_000, end_ms - 15_000], np.int64)
    series = [Series({"__name__": name, **labels}, times_ms, np.array([9.0, 9.0])) for name in names]
    lake = lake_of(tmp_path, series)
    with serve(answers) as url:
        admin = PulsarAdmin([url], calls_per_s=FAST)
        other = pull_admin(lake, admin, "prod", end_ms - 60_000, end_ms, "run")
        # These answers are of cluster "lab": only a user's name for it makes them this one's.
        assert "belong to cluster lab" in other.failures[-1].reason
        assert lake.read("policies").num_rows == lake.read("topic_stats").num_rows == 0
        admin.requests = 0
        snapshot = pull_admin(lake, admin, "prod", end_ms - 60_000, end_ms, "run", named_by_user=True)
    assert snapshot.topic_stats.num_rows == 1 + samples
    assert lake.read("topic_stats").num_rows == 1 + samples
    assert snapshot.requests == admin.requests


LAYOUT = {"segments": {"0": {"hashRange": {"start": 0, "end": 32767}, "state": "SEALED"}}}
STATS = {
    "segments": {"0": {"name": "segment://acme/shop/orders/0000-7fff-0", "state": "SEALED"}},
    "subscriptions": {},
}


def scalable(answers: dict[str, str], layout: object = LAYOUT, stats: object = STATS) -> dict[str, str]:
    path = "/admin/v2/scalable/acme/shop/orders"
    return {
        **answers,
        "/admin/v2/namespaces/acme/shop": "{}",
        path: json.dumps(layout),
        f"{path}/stats": json.dumps(stats),
    }


def test_scalable_topic_has_no_policies_to_request(answers: dict[str, str]) -> None:
    seen: list = []
    with serve(scalable(answers), seen=seen) as url:
        found = collected(url, [AdminTopic("topic://acme/shop/orders", (0,))])
    scopes = {
        row["scope"]: row["key"] for row in found.policies.to_pylist() if row["key"].startswith("topic://")
    }
    assert scopes == {
        "scalable_layout": "topic://acme/shop/orders",
        "scalable_stats": "topic://acme/shop/orders",
    }
    assert found.failures == []
    assert not [path for _, path, _ in seen if "persistent" in path or "lookup" in path]


def test_segment_without_owner_makes_totals_incomplete(answers: dict[str, str]) -> None:
    segments = {"0": {"ownerBroker": "b:8080"}, "1": {"ownerBroker": None}}
    with serve(scalable(answers, stats={"segments": segments})) as url:
        found = collected(url, [AdminTopic("topic://acme/shop/orders", (0,))])
    (failure,) = found.failures
    assert failure.scope == "scalable_stats"
    assert failure.reason == "no owner of 1: totals over the segments are incomplete"


@pytest.mark.parametrize(
    "segment",
    [
        {"state": "ACTIVE"},
        {"hashRange": {"start": 5}},
        {"hashRange": {"start": 9, "end": 5}},
        {"hashRange": {"start": 0, "end": 65536}},
    ],
)
def test_layout_with_a_wrong_hash_range_is_refused(answers: dict[str, str], segment: dict) -> None:
    with serve(scalable(answers, layout={"segments": {"7": segment}})) as url:
        found = collected(url, [AdminTopic("topic://acme/shop/orders", (0,))])
    (refused,) = found.refused
    assert refused.reason == "policy_unreadable"
    assert "segment 7 has" in found.failures[0].reason
    assert "scalable_layout" not in {row["scope"] for row in found.policies.to_pylist()}
