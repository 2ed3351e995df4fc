"""``rules export``: what promtool says of it, and which alerts it raises over recordings of a real broker."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml

from tests.app.commands import throttlescope
from tests.app.live_rules import MINUTE_MS, Recorded, alerts_of, firing, recorded
from tests.lab.parts import promtool_binary
from tests.transforms.lakes import lake_of
from tests.transforms.recorded import recording_folder, unmoved_series
from tests.transforms.rules_in_memory import _values, text_of
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.rules_export import alert_rules as a
from throttlescope.app.rules_export.document import has_condition
from throttlescope.app.rules_export.export import INHIBIT_NAME, RULES_NAME, all_rules, check, export_rules
from throttlescope.app.rules_export.inhibit import inhibit_rules
from throttlescope.app.rules_export.limiter_rules import RHO, _periods
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import Alerting
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.sources.recording import read_recording
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.transforms.limits import effective_limits
from throttlescope.transforms.promql.engine import Engine
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC
from throttlescope.transforms.rules import read_rule_file
from throttlescope.transforms.rules.recording_run import run_rules

URL = "https://scope.example:8443/at"

#: What fires near the end of a settled range, by its cause. Recordings with one limiter, one cause and each label shape.
EXPECTED = {
    "throttled": a.THROTTLED,
    "slow_consumers": a.SLOW,
    "no_consumers": a.NO_CONSUMERS,
    "healthy": None,
}
CAUSES = {a.THROTTLED, a.BOTH, a.NO_CONSUMERS, a.BLOCKED, a.REDELIVERY, a.SLOW, a.DISCONNECTED}
QUICK = ("sub-msg-1000", "slow-limit-bytes", "healthy-msg-50")
OTHERS = (
    "no-consumers-leave", "default-sub-msg-large",
    "broker-msg-large", "broker-msg-small", "default-healthy-msg-50", "default-slow-limit-small", "healthy-bytes-1m",
    "healthy-bytes-200k", "healthy-msg-1000", "healthy-msg-90", "no-consumers-never", "slow-batched", "slow-large",
    "slow-limit-large", "slow-limit-queue", "slow-limit-small", "slow-small", "sub-bytes-large", "sub-bytes-period",
    "sub-bytes-small", "sub-msg-batched", "sub-msg-large", "sub-msg-small", "topic-bytes-large", "topic-bytes-small",
    "topic-greedy-large", "topic-greedy-small", "unload-healthy", "unload-throttled",
)  # fmt: skip


def options_for(found: Recorded, **more) -> ExportOptions:
    return ExportOptions(external_url=URL, scrape_interval_ms=found.step_ms, **more)


def rules_for(folder, found: Recorded, **more):
    (rules, _) = export_rules(folder, options_for(found, **more))
    return rules.path


def moments_of(row) -> list[int]:
    """Evaluations of a settled range at which its alert has to fire, or none may."""
    # A range begins a minute after the change. Rates need a window to forget what was before, an alert its time to fire.
    settled_ms = row["start_ms"] - MINUTE_MS + (5 if row["cause"] == "healthy" else 10) * MINUTE_MS
    first_ms = -(-settled_ms // MINUTE_MS) * MINUTE_MS
    # A scrape of the last minute may show the next state already.
    return list(range(first_ms, row["end_ms"] - MINUTE_MS, MINUTE_MS))


@pytest.mark.long
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(one, marks=pytest.mark.long) for one in OTHERS)])
def test_recorded_cause_raises_only_its_alert(tmp_path, name):
    found = recorded(name)
    results = alerts_of(rules_for(tmp_path, found), found)
    looked = 0
    for row in found.truth:
        wanted = EXPECTED[row["cause"]]
        for time_ms in moments_of(row):
            mine = {
                alert
                for alert, subscription, partition in firing(results, time_ms)
                if (subscription, partition) == (row["subscription"], str(row["partition"]))
                and alert in CAUSES
            }
            assert mine == ({wanted} if wanted else set()), (name, row["cause"], time_ms)
            looked += 1
        if row["limiter"]:
            limiters = {
                f"{one.labels['level']}.{one.labels['unit']}"
                for one in results
                if one.labels.get("alertname") == a.THROTTLED
                and one.labels.get("alertstate") == "firing"
                and moments_of(row)[-1] in one.timestamps_ms
                and one.labels["subscription"] == row["subscription"]
            }
            assert limiters == {row["limiter"]}
    assert looked >= len(found.truth)


@pytest.mark.long
def test_unknown_limits_never_blame_consumers(tmp_path):
    found = recorded("slow-large")
    blind = replace(found, series=[one for one in found.series if one.labels["__name__"] != LIMIT_METRIC])
    results = alerts_of(rules_for(tmp_path, found), blind)
    fired = {
        alert for time_ms in range(0, found.end_ms, MINUTE_MS) for alert, _, _ in firing(results, time_ms)
    }
    assert not fired & CAUSES
    assert a.LIMITS_MISSING in fired


@pytest.mark.long
def test_limit_not_in_force_raises_nothing(tmp_path):
    """The recorded limit, read as half of what it is: use is twice the limit, which no limiter lets through."""
    found = recorded("sub-msg-1000")
    halved = [
        replace(one, values=one.values / 2) if one.labels["__name__"] == LIMIT_METRIC else one
        for one in found.series
    ]
    results = alerts_of(rules_for(tmp_path, found), replace(found, series=halved))
    fired = {
        alert for time_ms in range(0, found.end_ms, MINUTE_MS) for alert, _, _ in firing(results, time_ms)
    }
    assert not fired & {a.THROTTLED, a.BOTH}
    used = [one for one in results if one.labels["__name__"] == RHO and one.labels["level"] == "subscription"]
    assert max(one.values.max() for one in used) > t.RHO_NOT_IN_FORCE


@pytest.mark.long
def test_rules_over_a_lake_match_live(tmp_path):
    found = recorded("default-sub-msg-large")
    rules = rules_for(tmp_path / "rules", found)
    recording = read_recording(recording_folder("default-sub-msg-large"))
    lake = lake_of(
        tmp_path / "lake",
        [one for one in unmoved_series("default-sub-msg-large") if one.labels["__name__"] in METRICS],
        limits=effective_limits(recording.policies.to_pylist(), recording.topic_stats.to_pylist()),
    )
    start_ms = recording.start_ms // MINUTE_MS * MINUTE_MS
    result = run_rules(lake, [read_rule_file(rules)], start_ms, recording.end_ms)
    assert result.failures == 0
    live = alerts_of(rules, found)
    for row in found.truth:
        time_ms = moments_of(row)[-1]
        answer = Engine(lake).instant('ALERTS{alertstate="firing"}', start_ms + time_ms)
        fired = {
            (labels["alertname"], labels.get("subscription", ""), labels.get("partition", ""))
            for labels in map(dict, answer.value.labels)
        }
        assert {one for one in fired if one[0] in CAUSES} == {
            one for one in firing(live, time_ms) if one[0] in CAUSES
        }
        assert ((EXPECTED[row["cause"]], row["subscription"], str(row["partition"])) in fired) == bool(
            row["limiter"]
        )


@pytest.mark.long
def test_alerts_without_condition_read_conditional_series(tmp_path):
    """Their comment in the file says so, and keeps pint from taking them for alerts that always fire."""
    (rules, _) = export_rules(tmp_path, ExportOptions())
    lines = rules.path.read_text().splitlines()
    found = all_rules(ExportOptions())
    recorded_when = {one.record for one in found if not isinstance(one, Alerting) and has_condition(one.expr)}
    silenced = {lines[at + 1].split("alert: ")[1] for at, line in enumerate(lines) if "pint disable" in line}
    assert silenced == {
        one.alert for one in found if isinstance(one, Alerting) and not has_condition(one.expr)
    }
    for one in found:
        if isinstance(one, Alerting) and one.alert in silenced:
            assert set(re.findall(r"throttlescope:[a-z0-9_]+", one.expr)) & recorded_when, one.alert
    assert len(silenced) == 7


# -- promtool ---------------------------------------------------------------------------------


@pytest.mark.prometheus
@pytest.mark.parametrize(
    "options",
    [
        ExportOptions(),
        ExportOptions(
            cluster_label="pulsar_cluster", cluster='od"d', labels={"team": "it's {{ not }} a template"[:4]}
        ),
        ExportOptions(scrape_interval_ms=120_000, interval_ms=30_000, for_ms=90_000, external_url=URL),
    ],
)
def test_promtool_accepts_the_rules(tmp_path, options):
    (rules, _) = export_rules(tmp_path, options)
    done = subprocess.run(
        [str(promtool_binary()), "check", "rules", "--lint=all", "--lint-fatal", str(rules.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(all_rules(options))} rules found" in done.stdout


def promtool_test(folder, rules_path, found: Recorded, tests: dict) -> str:
    content = {
        "rule_files": [str(rules_path)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": f"{found.step_ms // 1000}s",
                "input_series": [
                    {
                        "series": text_of(tuple(sorted(one.labels.items()))),
                        "values": _values(one, found.step_ms),
                    }
                    for one in found.series
                    if len(one.timestamps_ms)
                ],
                **tests,
            }
        ],
    }
    path = folder / "unit-test.yml"
    path.write_text(json.dumps(content).replace("Infinity", ".inf"))
    done = subprocess.run(
        [str(promtool_binary()), "test", "rules", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 0) == ("SUCCESS" in done.stdout), done.stdout + done.stderr
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[:6000]


def firing_test(found: Recorded, row: dict) -> dict:
    """Which alerts of causes fire for a subscription partition near the end of its range, according to promtool."""
    time_ms = moments_of(row)[-1]
    names = "|".join(sorted(CAUSES))
    expr = (
        f'count by (alertname) (ALERTS{{alertname=~"{names}", alertstate="firing", '
        f'subscription="{row["subscription"]}", partition="{row["partition"]}"}})'
    )
    wanted = EXPECTED[row["cause"]]
    samples = [{"labels": f'{{alertname="{wanted}"}}', "value": 1}] if wanted else []
    return {"expr": expr, "eval_time": f"{time_ms // 1000}s", "exp_samples": samples}


@pytest.mark.sampled(5)
@pytest.mark.prometheus
@pytest.mark.parametrize(
    "name",
    [
        "sub-msg-1000",
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in ("slow-limit-bytes", "healthy-msg-50", "no-consumers-never", "default-sub-msg-large")
        ),
    ],
)
def test_promtool_raises_the_same_alerts(tmp_path, name):
    found = recorded(name)
    rules = rules_for(tmp_path, found)
    tests = [firing_test(found, row) for row in found.truth]
    assert promtool_test(tmp_path, rules, found, {"promql_expr_test": tests}) == ""
    # It would object.
    for test in tests:
        test["exp_samples"] = [{"labels": '{alertname="PulsarSubscriptionBlockedOnUnacked"}', "value": 1}]
    assert "FAILED" in promtool_test(tmp_path, rules, found, {"promql_expr_test": tests})


@pytest.mark.prometheus
def test_alert_names_cause_and_links_page(tmp_path):
    found = recorded("sub-msg-1000")
    (row,) = [row for row in found.truth if row["cause"] == "throttled"]
    time_ms = moments_of(row)[-1]
    test = {
        "alert_rule_test": [{"eval_time": f"{time_ms // 1000}s", "alertname": a.THROTTLED, "exp_alerts": []}]
    }
    output = promtool_test(tmp_path, rules_for(tmp_path, found, labels={"team": "messaging"}), found, test)
    labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', output))
    assert {
        "cause": "throttled",
        "severity": "warning",
        "team": "messaging",
        "level": "subscription",
    }.items() <= labels.items()
    assert "is throttled by the subscription's message limit" in labels["summary"]
    assert "Adding consumers will not help." in labels["description"]
    assert re.search(
        r"causes the backlog: 9\d(\.\d+)?% of the subscription's message limit", labels["description"]
    )
    link = labels["link"]
    assert link.startswith(f"{URL}/subscription?")
    query = dict(parse_qsl(urlsplit(link).query))
    hour_s = (time_ms // 1000 - 3600, time_ms // 1000)
    assert (int(query["from"]), int(query["to"])) == hour_s
    # promtool's clock begins in 1970; a page knows no time before.
    moved = link.replace(f"from={hour_s[0]}", f"from={hour_s[0] + 10**9}").replace(
        f"to={hour_s[1]}", f"to={hour_s[1] + 10**9}"
    )
    address = SubscriptionAddress.parse(urlsplit(moved).query)
    assert (address.start_ms, address.end_ms) == tuple((10**9 + one) * 1000 for one in hour_s)
    assert (address.subscription.cluster, address.subscription.topic) == (row["cluster"], row["topic"])
    assert (address.subscription.partition, address.subscription.subscription) == (-1, row["subscription"])


# -- what is written --------------------------------------------------------------------------


def test_alerts_have_text_action_and_link():
    options = ExportOptions(external_url=URL + "/")
    found = [rule for rule in all_rules(options) if isinstance(rule, Alerting)]
    assert {rule.alert for rule in found} >= {
        *CAUSES,
        a.LIMIT_NEARLY_USED,
        a.PUBLISH_THROTTLED,
        a.THROTTLING_AND_GROWING,
    }
    for rule in found:
        assert set(rule.annotations) == {"summary", "description", "first_action", "link"}
        assert rule.labels["severity"] in ("info", "warning", "critical")
        assert rule.annotations["link"].startswith(f"{URL}/")
        filled = re.sub(r"\{\{.*?\}\}", "x", rule.annotations["link"]).replace("x0x", "0")
        path, query = urlsplit(filled).path, urlsplit(filled).query
        if path == "/at/subscription":
            assert {pair.split("=")[0] for pair in query.split("&")} == {
                "cluster",
                "topic",
                "partition",
                "subscription",
                "from",
                "to",
            }
        else:
            assert path == "/at/subscriptions"
            SubscriptionsAddress.parse(query)


def test_rules_use_the_diagnosis_thresholds(monkeypatch):
    before = [rule.expr for rule in all_rules(ExportOptions())]
    for name in (
        "RHO_AT_LIMIT",
        "RHO_NEAR_LIMIT",
        "HELD_S",
        "EVENTS_PER_PERIOD",
        "GROWTH_SHARE",
        "DRAIN_TARGET_S",
    ):
        with monkeypatch.context() as patched:
            patched.setattr(t, name, 0.123)
            changed = [rule.expr for rule in all_rules(ExportOptions())]
        assert changed != before, name
        assert any("0.123" in one for one in changed) or name == "GROWTH_SHARE"


@pytest.mark.long
def test_inhibition_rules_match_existing_alerts(tmp_path):
    (_, inhibit) = export_rules(tmp_path, ExportOptions())
    content = yaml.safe_load(inhibit.path.read_text())
    assert content == {"inhibit_rules": [rule for _, rule in inhibit_rules()]}
    alerts = [rule for rule in all_rules(ExportOptions()) if isinstance(rule, Alerting)]
    for rule in content["inhibit_rules"]:
        assert set(rule) == {"source_matchers", "target_matchers", "equal"}
        for matchers in (rule["source_matchers"], rule["target_matchers"]):
            hit = [one for one in alerts if all(_matches(one, matcher) for matcher in matchers)]
            assert hit, matchers
    throttled = next(one for one in alerts if one.alert == a.THROTTLED)
    slow = next(one for one in alerts if one.alert == a.SLOW)
    first = content["inhibit_rules"][0]
    assert all(_matches(throttled, matcher) for matcher in first["source_matchers"])
    assert all(_matches(slow, matcher) for matcher in first["target_matchers"])
    assert not all(_matches(throttled, matcher) for matcher in first["target_matchers"])


def _matches(rule: Alerting, matcher: str) -> bool:
    name, operator, value = re.fullmatch(r'(\w+)(=~|=)"(.*)"', matcher).groups()
    text = {**rule.labels, "alertname": rule.alert}.get(name, "")
    return bool(re.fullmatch(value, text)) if operator == "=~" else text == value


@pytest.mark.long
def test_windows_follow_the_scrape_interval(tmp_path):
    (rules, _) = export_rules(tmp_path, ExportOptions(scrape_interval_ms=120_000))
    text = rules.path.read_text()
    assert "rate(pulsar_in_messages_total[8m])" in text
    assert "throttlescope:in_msg_rate_8m" in text
    assert "5m]" not in text
    assert "_5m" not in text


@pytest.mark.parametrize("scrape_s", [1, 60, 76, 100, 120, 150])
def test_period_pattern_fits_twice_into_window(scrape_s):
    options = ExportOptions(scrape_interval_ms=scrape_s * 1000)
    pattern = _periods(options)
    for period_s in range(1, 2000):
        assert bool(re.fullmatch(pattern, str(period_s))) == (period_s * 2000 <= options.window_ms), period_s


@pytest.mark.long
def test_cluster_label_can_be_renamed_or_absent(tmp_path):
    found = recorded("sub-msg-1000")
    (row,) = [row for row in found.truth if row["cause"] == "throttled"]

    def renamed(one, label):
        if one.labels["__name__"] == LIMIT_METRIC:
            return one
        labels = dict(one.labels)
        name = labels.pop("cluster")
        return replace(one, labels=labels | ({label: name} if label else {}))

    for label, options in (
        ("pulsar_cluster", {"cluster_label": "pulsar_cluster"}),
        (None, {"cluster": row["cluster"]}),
    ):
        other = replace(found, series=[renamed(one, label) for one in found.series])
        results = alerts_of(rules_for(tmp_path, found, **options), other)
        assert (a.THROTTLED, row["subscription"], "-1") in firing(results, moments_of(row)[-1])
        assert {one.labels["cluster"] for one in results if one.labels["__name__"] == "ALERTS"} == {
            row["cluster"]
        }


# -- the command ------------------------------------------------------------------------------


@pytest.mark.long
def test_command_writes_and_counts_rules(tmp_path):
    outcome = throttlescope(
        "rules", "export", "--out", tmp_path / "new" / "rules", "--format", "json", "--label", "team=core"
    )
    assert (outcome.code, outcome.err) == (0, "")
    rules, inhibit = json.loads(outcome.out)
    assert rules["path"].endswith(RULES_NAME)
    assert inhibit["path"].endswith(INHIBIT_NAME)
    file = read_rule_file(tmp_path / "new" / "rules" / RULES_NAME)
    assert len(list(file.rules)) == rules["recording_rules"] + rules["alerting_rules"]
    assert all(rule.labels["team"] == "core" for rule in file.rules if rule.labels.get("severity"))
    again = throttlescope("rules", "export", "--out", tmp_path / "new" / "rules")
    assert again.code == 0
    assert "2 files are written" in again.out
    assert {path.name for path in (tmp_path / "new" / "rules").iterdir()} == {RULES_NAME, INHIBIT_NAME}


@pytest.mark.sampled(4)
@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "The folder for the rules is missing"),
        (("--external-url", "scope.example"), "--external-url is no web address"),
        (("--external-url", "https://a/?x=1"), "has a query or a fragment"),
        (("--external-url", "https://a/{{ x }}"), "characters that are not allowed in a link"),
        (("--external-url", "https://a:99999"), "--external-url is no address"),
        (("--cluster-label", "pulsar-cluster"), "--cluster-label is not a valid label name"),
        (("--cluster-label", "topic"), "is used for something else"),
        (("--cluster", ""), "--cluster is empty"),
        (("--scrape-interval", "5m"), "--scrape-interval does not work with Prometheus"),
        (("--interval", "0s"), "--interval does not work"),
        (("--for", "soon"), "soon"),
        (("--label", "team"), "--label is no pair"),
        (("--label", "severity=page"), "--label would replace a label"),
        (("--label", "a b=c"), "--label needs a valid label name"),
        (("--label", "team={{ $value"), "template"),
        (("--label", "team={{ $value }}"), "template"),
    ],
)
def test_invalid_options_write_no_rules(tmp_path, arguments, words):
    out = ("--out", tmp_path / "out") if arguments else ()
    outcome = throttlescope("rules", "export", *out, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.line
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_output_path_of_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    outcome = throttlescope("rules", "export", "--out", tmp_path / "file")
    assert outcome.code == 2
    assert "The rules cannot be written" in outcome.line


def test_check_refuses_unsupported_expressions():
    group = "groups: [{{name: g, rules: [{{record: a, expr: '{}'}}]}}]"
    check(group.format("sum(x)"))
    for expr in ("sum(", "limitk(1, x)", "x[5m]"):
        with pytest.raises(InputError):
            check(group.format(expr))
