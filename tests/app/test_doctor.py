"""The doctor: what it finds in a real Prometheus and in an admin API, and the fix that it names for each."""

import json
import time

import pytest

from tests.app.http_server import answering, html, unauthorised
from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.app.config import load_settings
from throttlescope.app.services.doctor.admin_checks import has_throttle_counters
from throttlescope.app.services.doctor.check import FAILED, OK, SKIPPED, WARNING
from throttlescope.app.services.doctor.doctor import examine, exit_code
from throttlescope.app.services.doctor.spark_checks import examine_spark
from throttlescope.ingest.core.errors import EXIT_INPUT, EXIT_UNREACHABLE, SourceError

RUNTIME = {
    "clusterName": "prod",
    "exposeTopicLevelMetricsInPrometheus": "true",
    "exposeConsumerLevelMetricsInPrometheus": "true",
    "exposePreciseBacklogInPrometheus": "true",
    "metricsBufferResponse": "false",
    "topicLevelPoliciesEnabled": "true",
    "statsUpdateFrequencyInSecs": "60",
}
SUBSCRIPTION_METRICS = (
    "pulsar_subscription_back_log", "pulsar_subscription_back_log_no_delayed", "pulsar_out_messages_total",
    "pulsar_out_bytes_total", "pulsar_subscription_msg_ack_rate", "pulsar_subscription_consumers_count",
    "pulsar_subscription_unacked_messages", "pulsar_subscription_dispatch_throttled_msg_events",
    "pulsar_subscription_dispatch_throttled_bytes_events", "pulsar_subscription_storage_backlog_age_seconds",
)  # fmt: skip
TOPIC_METRICS = ("pulsar_in_messages_total", "pulsar_in_bytes_total", "pulsar_storage_write_rate")


@pytest.fixture(scope="module")
def prometheus():
    with running_prometheus() as server:
        yield server


def series(cluster, names, *, interval_s=15, **labels):
    """Ten minutes of samples up to now; ``cluster`` keeps the tests apart in one server."""
    now_ms = int(time.time() * 1000)
    times = range(now_ms - 600_000, now_ms + 1, interval_s * 1000)
    common = {
        "cluster": cluster,
        "namespace": "acme/shop",
        "topic": "persistent://acme/shop/orders-partition-3",
    }
    common |= {"instance": "broker-0:8080"}
    return [({"__name__": name, **common, **labels}, [(t, 7.0) for t in times]) for name in names]


def complete_broker(cluster, **changed):
    return (
        series(cluster, SUBSCRIPTION_METRICS, subscription="billing", **changed)
        + series(cluster, TOPIC_METRICS, **changed)
        + series(
            cluster,
            ("pulsar_consumer_available_permits",),
            subscription="billing",
            consumer_id="1",
            **changed,
        )
        + series(cluster, ("pulsar_broker_topics_count", "pulsar_broker_rate_out"), **changed)
    )


def settings(cluster, url, admin=None, **more):
    sources = {"prometheus": {"url": url}} | ({"pulsar_admin": {"urls": [admin]}} if admin else {}) | more
    return load_settings(None, {"clusters": {cluster: sources}})


def by_check(checks, area="prometheus"):
    return {check.check: check for check in checks if check.area == area}


def admin_api(runtime=RUNTIME, version="4.2.4", refuse=(), brokers=1):
    def answer(method, path, headers):
        path = path.removeprefix("/admin/v2/")
        if any(path.startswith(start) for start in refuse):
            return 403, "application/json", b'{"reason":"no"}'
        if path == "brokers/version":
            return 200, "text/plain", version.encode()
        known = {
            "brokers/configuration/runtime": runtime,
            "clusters": ["prod"],
            "brokers": [f"broker-{number}:8080" for number in range(brokers)],
            "namespaces/acme/shop": {"policies": {}},
            "persistent/acme/shop/orders-partition-3/stats": {
                "subscriptions": {"billing": {"dispatchThrottledMsgEventsBySubscriptionLimit": 0}}
            },
        }
        if path not in known:
            return 404, "application/json", b"{}"
        return 200, "application/json", json.dumps(known[path]).encode()

    return answering(answer)


@pytest.mark.prometheus
def test_empty_prometheus_differs_from_unreachable(prometheus):
    with running_prometheus() as empty:
        checks = examine(settings("prod", empty.url), None)
        assert by_check(checks)["reachable"].status == OK
        assert "3.5" in by_check(checks)["reachable"].found
        assert by_check(checks)["remote read"].status == OK
        assert by_check(checks)["Pulsar metrics"].status == FAILED
        assert "/metrics/" in by_check(checks)["Pulsar metrics"].fix
        assert exit_code(checks) == EXIT_INPUT
    gone = examine(settings("prod", empty.url), None)
    assert by_check(gone)["reachable"].status == FAILED
    assert "cannot be reached" in by_check(gone)["reachable"].found
    assert exit_code(gone) == EXIT_UNREACHABLE


@pytest.mark.prometheus
def test_complete_broker_passes_every_check(prometheus):
    write_series(prometheus.url, complete_broker("prod"))
    with admin_api() as admin:
        checks = examine(settings("prod", prometheus.url, admin), None)
    assert {check.status for check in checks} == {OK}, [c for c in checks if c.status != OK]
    found = by_check(checks)
    assert found["scrape interval"].found == "15 s"
    assert found["label shape"].found.startswith("joined")
    assert exit_code(checks) == 0
    # What was asked of the admin API followed from the labels that Prometheus showed.
    assert "orders-partition-3" in by_check(checks, "pulsar_admin")["topic stats"].found


@pytest.mark.prometheus
def test_unscraped_brokers_are_counted(prometheus):
    write_series(prometheus.url, complete_broker("prod"))
    with admin_api(brokers=3) as admin:
        checks = by_check(examine(settings("prod", prometheus.url, admin), None), "pulsar_admin")
    assert (checks["brokers"].status, checks["brokers"].found) == (WARNING, "1 of 3 brokers are scraped")


@pytest.mark.prometheus
def test_missing_topic_metrics_name_the_setting():
    with running_prometheus() as server:
        write_series(server.url, series("prod", ("pulsar_broker_topics_count", "pulsar_msg_backlog")))
        checks = examine(settings("prod", server.url), None)
    topic_level = by_check(checks)["topic level"]
    assert (topic_level.status, exit_code(checks)) == (FAILED, EXIT_INPUT)
    assert "exposeTopicLevelMetricsInPrometheus=true" in topic_level.fix


@pytest.mark.prometheus
def test_missing_metrics_are_warnings_with_fixes():
    with running_prometheus() as server:
        names = [
            name for name in SUBSCRIPTION_METRICS if "throttled" not in name and "age" not in name.split("_")
        ]
        renamed = {"namespace": "monitoring", "exported_namespace": "acme/shop"}
        shape = {"topic": "persistent://acme/shop/orders", "partition": "3"}
        write_series(server.url, series("prod", names, subscription="s", interval_s=120, **renamed, **shape))
        write_series(
            server.url, series("prod", names, subscription="s", instance="other", **renamed, **shape)
        )
        write_series(server.url, series("prod", ("pulsar_version_info",), version="3.0.9"))
        write_series(server.url, series("prod", ("pulsar_broker_topics_count",), interval_s=120))
        checks = examine(settings("wrong", server.url), None)
        mapped = settings("prod", server.url, labels={"namespace": "exported_namespace"})
        assert by_check(examine(mapped, None))["namespace label"].status == OK
    found = by_check(checks)
    assert (found["throttle counters"].status, found["consumer metrics"].status) == (WARNING, WARNING)
    assert "3.0.9" in found["throttle counters"].found
    assert "4.0.4" in found["throttle counters"].fix
    assert "exposeConsumerLevelMetricsInPrometheus=true" in found["consumer metrics"].fix
    assert found["backlog age"].status == SKIPPED
    assert "exposeSubscriptionBacklogAgeInPrometheus=true" in found["backlog age"].fix
    assert found["label shape"].found.startswith("split")
    assert found["namespace label"].status == FAILED
    assert 'namespace = "exported_namespace"' in found["namespace label"].fix
    assert (found["cluster label"].status, found["scrape interval"].status) == (WARNING, WARNING)
    assert found["scrape interval"].found.startswith("120 s")
    assert found["one series each"].status == WARNING
    assert "2 series" in found["one series each"].found


@pytest.mark.prometheus
def test_use_near_the_specification_is_a_warning(prometheus):
    write_series(prometheus.url, complete_broker("prod"))
    wanted = settings("prod", prometheus.url, specification={"dispatch_msg_rate": 8.0})
    check = by_check(examine(wanted, None))["specification"]
    assert (check.status, check.found) == (WARNING, "brokers dispatch 7 of 8 messages/s (88 %)")
    wanted = settings("prod", prometheus.url, specification={"dispatch_msg_rate": 100.0})
    assert by_check(examine(wanted, None))["specification"].status == OK


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (html, "web page"),
        (unauthorised, "wants authentication"),
        (lambda *_: (403, "text/plain", b"no"), "refuses us"),
        (lambda *_: (200, "application/json", b'{"hello": 1}'), "something else"),
        (lambda *_: (200, "application/json", b"{"), "something else"),
        (
            lambda *_: (
                200,
                "application/json",
                b'{"status": "success", "data": {"resultType": "vector", "result": []}}',
            ),
            "something else",
        ),
        (lambda *_: (404, "text/plain", b"not found"), "is not at"),
    ],
)
def test_non_prometheus_address_is_explained(answer, words):
    with answering(answer) as url:
        checks = examine(settings("prod", url), None)
    check = by_check(checks)["reachable"]
    assert check.status == FAILED
    assert words in check.found
    assert check.fix
    assert exit_code(checks) == EXIT_UNREACHABLE


def test_credentials_are_sent_and_never_shown(monkeypatch):
    monkeypatch.setenv("TOKEN", "hunter2")
    seen = []

    def answer(method, path, headers):
        seen.append(headers.get("Authorization"))
        return unauthorised()

    with answering(answer) as url:
        wanted = load_settings(
            None, {"clusters": {"prod": {"prometheus": {"url": url, "token_env": "TOKEN"}}}}
        )
        checks = examine(wanted, None)
    assert seen[0] == "Bearer hunter2"
    assert "hunter2" not in repr(checks)


def test_broker_settings_and_missing_rights_are_reported():
    runtime = RUNTIME | {
        "exposeConsumerLevelMetricsInPrometheus": "false",
        "exposePreciseBacklogInPrometheus": "false",
    }
    with admin_api(runtime, version="3.3.7", refuse=("tenants",)) as admin:
        wanted = load_settings(None, {"clusters": {"prod": {"pulsar_admin": {"urls": [admin]}}}})
        checks = by_check(examine(wanted, None), "pulsar_admin")
    for name in ("exposeConsumerLevelMetricsInPrometheus", "exposePreciseBacklogInPrometheus"):
        assert checks[name].status == WARNING
        assert f"{name}=true" in checks[name].fix
    assert checks["version"].status == WARNING
    assert checks["policies"].status == WARNING
    assert "403" in checks["policies"].found


@pytest.mark.parametrize("answer", [html, unauthorised])
def test_refusing_admin_api_is_unreachable(answer):
    with answering(answer) as url:
        checks = examine(load_settings(None, {"clusters": {"prod": {"pulsar_admin": {"urls": [url]}}}}), None)
    assert exit_code(checks) == EXIT_UNREACHABLE


@pytest.mark.long
def test_second_admin_address_replaces_unreachable_first():
    with answering(html) as gone:
        pass
    with admin_api() as admin:
        wanted = load_settings(None, {"clusters": {"prod": {"pulsar_admin": {"urls": [gone, admin]}}}})
        assert by_check(examine(wanted, None), "pulsar_admin")["reachable"].status == OK


def test_missing_source_or_secret_fails(tmp_path):
    assert exit_code(examine(load_settings(None), None)) == EXIT_INPUT
    access = {"url": "http://prometheus.example:9090", "token_file": str(tmp_path / "none")}
    checks = examine(load_settings(None, {"clusters": {"prod": {"prometheus": access}}}), None)
    found = by_check(checks, "configuration")
    assert found["secrets of prometheus"].status == FAILED
    assert found["prometheus.url"].status == WARNING
    assert "TLS" in found["prometheus.url"].found


@pytest.mark.parametrize(
    ("master", "subscriptions", "status", "words"),
    [
        (None, 0, None, ""),
        (None, 2_000, OK, "starts no Spark: 2,000"),
        (None, 2_001, FAILED, "needs Java"),
        ("local[2]", 3, FAILED, "needs Java"),
        ("sc://user@connect:15002", 3, OK, "starts Spark on connect:15002"),
        ("nonsense", 3, FAILED, "no such master"),
    ],
)
def test_java_is_demanded_where_spark_starts(monkeypatch, master, subscriptions, status, words):
    def no_java():
        raise SourceError("Spark needs Java and none was found", got="no java in PATH", fix="install one")

    monkeypatch.setattr("throttlescope.app.services.doctor.spark_checks.find_java", no_java)
    checks = examine_spark(load_settings(None, {"spark": {"master": master}}), subscriptions)
    assert [check.status for check in checks] == ([] if status is None else [status])
    for check in checks:
        assert words in check.found
        assert bool(check.fix) == (status == FAILED)
        assert not check.unreachable


@pytest.mark.parametrize(
    ("version", "has"),
    [("3.3.9", False), ("4.0.3", False), ("4.0.4", True), ("4.0.12", True), ("4.1.0", True), ("5.0.0-SNAPSHOT", True),
     ("4.1", True), ("unknown", False)],
)  # fmt: skip
def test_throttle_counters_depend_on_the_release(version, has):
    assert has_throttle_counters(version) is has


def test_doctor_reports_compiled_code(tmp_path, monkeypatch):
    monkeypatch.setattr("throttlescope.ingest.core.compilation.CompiledFunction.is_compiled", False)
    monkeypatch.setenv("THROTTLESCOPE_CACHE", str(tmp_path / "cache"))
    (check,) = [one for one in examine(load_settings(None), None) if one.area == "machine"]
    assert check.status == OK
    assert "functions are not compiled yet" in check.found
    assert "compile_ahead" in check.fix
    monkeypatch.setattr("throttlescope.ingest.core.compilation.CompiledFunction.is_compiled", True)
    (check,) = [one for one in examine(load_settings(None), None) if one.area == "machine"]
    assert (check.status, check.fix) == (OK, "")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("THROTTLESCOPE_CACHE", str(tmp_path / "file"))
    (check,) = [one for one in examine(load_settings(None), None) if one.area == "machine"]
    assert check.status == WARNING
    assert "THROTTLESCOPE_CACHE" in check.fix
