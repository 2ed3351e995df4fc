"""Use of a cluster's specification: which alert fires at which share, on made-up topics, here and in promtool."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.app.commands import throttlescope
from tests.app.live_rules import MINUTE_MS
from tests.app.test_rules_export import promtool_test
from tests.app.test_rules_export_scenes import (
    AT_LIMIT,
    END_MS,
    INFORMATIVE,
    STEP_MS,
    TICKING,
    TOPIC,
    fired,
    scene,
)
from tests.transforms.rules_in_memory import results_of, scheduled
from throttlescope.app.config import load_settings
from throttlescope.app.rules_export import alert_rules as a
from throttlescope.app.rules_export.export import RULES_NAME, export_rules
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.specification import SPECIFICATION_NEARLY_USED, Specified, specified
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.rules import read_rule_file

#: The scenes' cluster publishes 100 msg/s and 100 kB/s a topic.
FIGURES = (
    Specified("cluster", "publish", "msg", "c", 240.0),
    Specified("cluster", "dispatch", "msg", "c", 300.0),
    Specified("cluster", "publish", "bytes", "c", 1e6),
    Specified("topic_partition", "publish", "msg", "c", 120.0),
    Specified("topic_partition", "dispatch", "bytes", "c", 150_000.0),
)
CONFIG = """
[clusters.c.specification]
publish_msg_rate = 240
dispatch_msg_rate = 300
publish_bytes_rate = 1000000
[clusters.c.specification.topic_partition]
publish_msg_rate = 120
dispatch_bytes_rate = 150000
"""


def rules_with(folder, figures=FIGURES, **more):
    (written, _) = export_rules(folder, ExportOptions(scrape_interval_ms=STEP_MS, specified=figures, **more))
    return written.path


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    return scheduled(rules_with(tmp_path_factory.mktemp("rules")), MINUTE_MS)


def two_topics(**changed):
    """Two caught-up topics, the second one's rate changed."""
    quiet = {"start": 0.0, "permits": 900.0}
    second = {"published": 100.0, "dispatched": 100.0} | changed
    there = scene(**quiet | second)
    return [
        *scene(published=100.0, dispatched=100.0, **quiet),
        *(
            Series({**one.labels, "topic": "persistent://t/n/clicks"}, one.timestamps_ms, one.values)
            for one in there
        ),
    ]


def firing_for(rules, series) -> set[tuple]:
    """What fires at the end about specifications: scope, flow, unit and topic."""
    results, evaluation = results_of(rules, series, 0, END_MS)
    assert not any(outcome.failures for outcome in evaluation.outcomes.values())
    return {
        (*(one.labels.get(name) for name in ("scope", "flow", "unit")), one.labels.get("topic", "")[-6:])
        for one in results
        if one.labels["__name__"] == "ALERTS"
        and one.labels["alertname"] == SPECIFICATION_NEARLY_USED
        and one.labels["alertstate"] == "firing"
        and one.timestamps_ms[-1] >= END_MS - MINUTE_MS
    }


#: The second topic, and what fires: 200 of 240 published (83 %), 200 of 300 dispatched; 100 of 120 in each partition.
CASES = [
    (
        {},
        {
            ("cluster", "publish", "msg", ""),
            ("topic_partition", "publish", "msg", "orders"),
            ("topic_partition", "publish", "msg", "clicks"),
        },
    ),
    ({"published": 90.0, "dispatched": 90.0}, {("topic_partition", "publish", "msg", "orders")}),
    (
        # Caught up after an hour: more goes out than comes in.
        {"published": 50.0, "dispatched": 145.0, "grows": 0.0},
        {
            ("cluster", "dispatch", "msg", ""),
            ("topic_partition", "dispatch", "bytes", "clicks"),
            ("topic_partition", "publish", "msg", "orders"),
        },
    ),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("changed", "wanted"), CASES)
def test_80_percent_of_specification_alerts(rules, changed, wanted):
    assert firing_for(rules, two_topics(**changed)) == wanted


@pytest.mark.long
def test_second_subscription_counts_as_consumption_only(rules):
    more = [
        one
        for one in scene("second", published=100.0, dispatched=70.0, grows=0.0, start=0.0, permits=900.0)
        if one.labels.get("subscription") == "second"
    ]
    found = firing_for(rules, [*two_topics(), *more])
    assert ("cluster", "dispatch", "msg", "") in found
    # 170 of 150 kB/s leave the partition; 100 msg/s come as before.
    assert ("topic_partition", "dispatch", "bytes", "orders") in found
    assert ("topic_partition", "publish", "msg", "orders") in found


def test_another_clusters_topics_do_not_count(rules):
    elsewhere = [
        Series({**one.labels, "cluster": "d"}, one.timestamps_ms, one.values)
        for one in two_topics(published=1000.0, dispatched=1000.0)
    ]
    assert firing_for(rules, elsewhere) == set()


@pytest.mark.long
def test_joined_partition_and_renamed_cluster_match(tmp_path):
    path = rules_with(tmp_path, cluster_label="pulsar_cluster")
    joined = []
    for one in scene(published=110.0, dispatched=110.0, start=0.0):
        labels = {name: value for name, value in one.labels.items() if name not in ("partition", "cluster")}
        labels |= {"pulsar_cluster": "c", "topic": f"{TOPIC['topic']}-partition-7"}
        joined.append(Series(labels, one.timestamps_ms, one.values))
    found = firing_for(scheduled(path, MINUTE_MS), joined)
    assert found == {("topic_partition", "publish", "msg", "orders")}


@pytest.mark.long
def test_no_figures_give_no_rules(tmp_path):
    text = rules_with(tmp_path, ()).read_text()
    assert "specification" not in text
    assert "flow_rate" not in text


@pytest.mark.long
def test_figures_come_from_the_configuration(tmp_path):
    (tmp_path / "throttlescope.toml").write_text(CONFIG)
    settings = load_settings(tmp_path / "throttlescope.toml")
    assert set(specified(settings.clusters)) == set(FIGURES)
    done = throttlescope(
        "rules", "export", "--out", tmp_path / "out", "--config", tmp_path / "throttlescope.toml"
    )
    assert done.code == 0, done.err
    names = [rule.name for rule in read_rule_file(tmp_path / "out" / RULES_NAME).rules]
    assert names.count("throttlescope:specification") == len(FIGURES)
    assert names.count(SPECIFICATION_NEARLY_USED) == 2


@pytest.mark.prometheus
def test_promtool_raises_the_specification_alert(tmp_path):
    path = rules_with(tmp_path, FIGURES[:1])
    found = SimpleNamespace(series=two_topics(), step_ms=STEP_MS)
    at = f"{END_MS // 1000 - 60}s"
    wanted = (
        'scope="cluster"', 'flow="publish"', 'unit="msg"', 'severity="warning"', 'cluster="c"',
        "Production of c is at 83.33% of its specification",
        "Production is at 83.33% of the messages per second in the configuration.",
        "check the throttle counts as well.",
    )  # fmt: skip
    test = {"eval_time": at, "alertname": SPECIFICATION_NEARLY_USED, "exp_alerts": []}
    output = promtool_test(tmp_path, path, found, {"alert_rule_test": [test]})
    # It objects with what it got: one alert, with these labels and words.
    for text in wanted:
        assert text in output.replace('\\"', '"'), text
    assert output.count("alertname=") == 1
    before = {"eval_time": "600s", "alertname": SPECIFICATION_NEARLY_USED, "exp_alerts": []}
    assert promtool_test(tmp_path, path, found, {"alert_rule_test": [before]}) == ""


# -- throttle counts --------------------------------------------------------------------------


@pytest.mark.long
def test_only_informative_throttle_counts_alert(rules):
    quiet = {"published": 60.0, "dispatched": 60.0, "start": 0.0, "events": {"subscription.msg": 0.1}}
    assert a.DISPATCH_THROTTLED in fired(rules, *scene(subscription_msg=(500.0, INFORMATIVE), **quiet))
    assert a.DISPATCH_THROTTLED not in fired(rules, *scene(subscription_msg=(90.0, TICKING), **quiet))
    silent = quiet | {"events": {}}
    assert a.DISPATCH_THROTTLED not in fired(rules, *scene(subscription_msg=(500.0, INFORMATIVE), **silent))
    assert a.DISPATCH_THROTTLED not in fired(rules, *scene(**AT_LIMIT))
