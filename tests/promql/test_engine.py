"""Queries of a lake: pieces of shards and spans put together give what one evaluation over all series gives."""

from __future__ import annotations

import numpy as np
import pytest

from tests.promql.compare import answer_of, difference
from tests.transforms.lakes import lake_of
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql.answer import data_json
from throttlescope.transforms.promql.engine import Engine
from throttlescope.transforms.promql.errors import (
    QueryError,
    QueryTimeoutError,
    TooManySamplesError,
    UnsupportedPromQLError,
)
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.query import Options, instant_query, range_query
from throttlescope.transforms.promql.shards.work import _spans
from throttlescope.transforms.promql.source import MemorySource, Series

# 22:00 UTC, so that four hours cross into another day.
START_MS = 1_700_000_000_000 - 1_700_000_000_000 % 86_400_000 + 22 * 3_600_000
END_MS = START_MS + 4 * 3_600_000
STEP_MS = 120_000

_TOPIC = ("cluster", "namespace", "topic")
_SUBSCRIPTION = (*_TOPIC, "subscription")


def _series() -> list[Series]:
    rng = np.random.default_rng(7)
    found = []

    def add(name, **labels):
        times = np.arange(START_MS - 600_000, END_MS, 30_000) + int(rng.integers(0, 30_000))
        times = times[rng.random(len(times)) > 0.1]
        if name.endswith("_total"):
            values = np.cumsum(rng.integers(0, 50, len(times))).astype(float)
            values[len(values) // 2 :] -= values[len(values) // 2]
        else:
            values = np.round(rng.normal(1000, 700, len(times)), 1)
        if rng.random() < 0.3:
            # Some live on one day only.
            times, values = times[: len(times) // 2], values[: len(values) // 2]
        stale = times[-1:] + 1 if rng.random() < 0.5 else times[:0]
        found.append(Series({"__name__": name, "cluster": "c", **labels}, times, values, stale))

    for topic in range(9):
        of_topic = {"namespace": f"t/n{topic % 2}", "topic": f"persistent://t/n{topic % 2}/{topic}"}
        add("pulsar_in_messages_total", **of_topic, instance=f"b{topic % 2}")
        for subscription in ("s1", "s2")[: 1 + topic % 2]:
            labels = {**of_topic, "subscription": subscription, "instance": f"b{topic % 2}"}
            add("pulsar_subscription_back_log", **labels)
            for reason in ("topic", "subscription"):
                add("pulsar_throttled_total", **labels, reason=reason)
    for instance in ("b0", "b1"):
        add("pulsar_broker_rate_out", instance=instance)
    return found


SERIES = _series()

QUERIES = [
    "pulsar_subscription_back_log",
    "sum(pulsar_subscription_back_log)",
    "avg by (namespace) (rate(pulsar_throttled_total[5m]))",
    "count by (subscription) (pulsar_subscription_back_log > 900)",
    "min without (instance) (pulsar_subscription_back_log) - 1",
    "max by (cluster, namespace, topic) (pulsar_subscription_back_log)",
    "group(pulsar_broker_rate_out)",
    "stddev by (namespace) (pulsar_subscription_back_log)",
    "topk(3, pulsar_subscription_back_log)",
    "bottomk by (namespace) (1, pulsar_subscription_back_log)",
    "quantile(0.9, pulsar_subscription_back_log)",
    'count_values("v", ceil(pulsar_subscription_back_log / 500))',
    "sum by (cluster, namespace, topic, subscription) (rate(pulsar_throttled_total[5m])) > 0.1",
    "pulsar_subscription_back_log > 800 unless on (cluster, namespace, topic, subscription) "
    "(sum by (cluster, namespace, topic, subscription) (rate(pulsar_throttled_total[5m])) > 1)",
    "pulsar_subscription_back_log and on (subscription) (pulsar_subscription_back_log > 2500)",
    "pulsar_subscription_back_log * on (cluster, instance) group_left () pulsar_broker_rate_out",
    "pulsar_in_messages_total or pulsar_broker_rate_out",
    "sum(pulsar_subscription_back_log) / scalar(sum(pulsar_broker_rate_out))",
    "pulsar_subscription_back_log > scalar(avg(pulsar_subscription_back_log))",
    "max_over_time(sum(rate(pulsar_in_messages_total[5m]))[30m:5m])",
    "avg_over_time(sum by (topic, namespace, cluster) (pulsar_subscription_back_log)[20m:1m] offset 10m)",
    "sum_over_time(pulsar_subscription_back_log[1h] @ end())",
    "pulsar_subscription_back_log offset 1h - pulsar_subscription_back_log @ start()",
    "absent(pulsar_nothing)",
    "absent(pulsar_broker_rate_out)",
    "absent_over_time(pulsar_broker_rate_out[1m])",
    "count({__name__=~'pulsar_.*'}) by (__name__)",
    "timestamp(pulsar_broker_rate_out)",
    "label_replace(pulsar_broker_rate_out, 'topic', 'x$1', 'instance', '(.*)')",
    "sum by (topic) (label_replace(pulsar_in_messages_total, 'topic', '$1', 'topic', 'persistent://t/(.*)'))",
    "label_join(pulsar_subscription_back_log, 'both', '/', 'namespace', 'subscription')",
    "histogram_quantile(2, pulsar_nothing)",
    "quantile(scalar(pulsar_broker_rate_out{instance='b0'}) / 1000, pulsar_subscription_back_log)",
    "topk(scalar(count(pulsar_broker_rate_out @ start()) or vector(7)), pulsar_subscription_back_log @ start())",
    "sort_desc(pulsar_broker_rate_out)",
    "limitk(2, pulsar_subscription_back_log)",
    "vector(time()) + 1",
    "1 + 1",
    "time() - max(timestamp(pulsar_subscription_back_log))",
    "pulsar_nothing",
    "predict_linear(pulsar_subscription_back_log[30m], scalar(count(pulsar_in_messages_total)))",
]
EMPTY = ("pulsar_nothing", "absent(pulsar_broker_rate_out)", "histogram_quantile(2, pulsar_nothing)")


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return lake_of(tmp_path_factory.mktemp("engine") / "lake", SERIES)


@pytest.fixture(scope="module")
def engine(lake):
    return Engine(lake)


def _whole_source() -> MemorySource:
    """The series as the lake knows them, with the partition that ingest adds."""
    return MemorySource(
        Series({**one.labels, **({"partition": "-1"} if "topic" in one.labels else {})}, *_arrays(one))
        for one in SERIES
    )


def _arrays(one: Series):
    return one.timestamps_ms, one.values, one.stale_ms


@pytest.mark.parametrize("text", QUERIES)
def test_shards_and_spans_equal_one_evaluation(engine, text):
    found = engine.range(text, START_MS, END_MS, STEP_MS)
    wanted = range_query(text, _whole_source(), START_MS, END_MS, STEP_MS)
    answers = [answer_of(one.value, one.steps) for one in (found, wanted)]
    assert difference(*answers, 1e-12) is None
    # Empty answers agree too easily.
    if text not in EMPTY:
        assert any(answers[1].values())
    assert (found.warnings, found.infos) == (wanted.warnings, wanted.infos)
    instant, wanted = (
        engine.instant(text, END_MS - 60_000),
        instant_query(text, _whole_source(), END_MS - 60_000),
    )
    assert instant.kind == wanted.kind
    assert (
        difference(answer_of(instant.value, instant.steps), answer_of(wanted.value, wanted.steps), 1e-12)
        is None
    )


def test_ranges_and_strings_as_results(engine):
    text = "pulsar_broker_rate_out[10m]"
    at_ms = START_MS + 600_000
    ours, whole = engine.instant(text, at_ms), instant_query(text, _whole_source(), at_ms)
    assert data_json(ours) == data_json(whole)
    assert len(ours.value) == 2
    text = "max by (namespace) (pulsar_subscription_back_log)[10m:1m]"
    assert data_json(engine.instant(text, END_MS)) == data_json(instant_query(text, _whole_source(), END_MS))
    assert engine.instant("'text'", END_MS).value == "text"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", QUERIES[::3])
def test_spark_gives_the_same_bytes(lake, spark, text):
    engine = Engine(lake, lambda: spark)
    here = engine.range(text, START_MS, END_MS, STEP_MS, place="local")
    there = engine.range(text, START_MS, END_MS, STEP_MS, place="spark")
    assert there.stats["place"] == "spark"
    assert data_json(here) == data_json(there)
    assert here.stats["samples"] == there.stats["samples"]


def test_spark_passes_errors_and_notes_on(lake, spark):
    engine = Engine(lake, lambda: spark)
    text = "pulsar_throttled_total + on (cluster, namespace, topic, subscription) pulsar_throttled_total"
    with pytest.raises(QueryError) as here:
        engine.range(text, START_MS, END_MS, STEP_MS, place="local")
    with pytest.raises(QueryError) as there:
        engine.range(text, START_MS, END_MS, STEP_MS, place="spark")
    assert str(here.value) == str(there.value)
    noted = [
        engine.range("rate(pulsar_subscription_back_log[5m])", START_MS, END_MS, STEP_MS, place=place)
        for place in ("local", "spark")
    ]
    assert noted[0].infos == noted[1].infos != ()


def test_too_large_or_slow_query_is_refused(engine, lake, spark):
    small = Options(max_samples=1000)
    with pytest.raises(TooManySamplesError, match="1,000"):
        engine.range("pulsar_subscription_back_log", START_MS, END_MS, STEP_MS, small)
    with pytest.raises(QueryTimeoutError):
        engine.range("pulsar_subscription_back_log", START_MS, END_MS, STEP_MS, Options(timeout_s=0))
    with pytest.raises(QueryTimeoutError):
        Engine(lake, lambda: spark).range(
            "pulsar_subscription_back_log", START_MS, END_MS, STEP_MS, Options(timeout_s=0), place="spark"
        )
    with pytest.raises(InputError, match="11,000"):
        engine.range("1", START_MS, END_MS, 1000)
    with pytest.raises(UnsupportedPromQLError):
        engine.instant("info(pulsar_broker_rate_out)", END_MS)
    # And goes on.
    assert engine.instant("1", END_MS).value[0] == 1


def test_engine_is_chosen_by_sample_count(lake, spark, monkeypatch):
    engine = Engine(lake, lambda: spark)
    assert engine.instant("count(pulsar_subscription_back_log)", END_MS).stats["place"] == "local"
    monkeypatch.setattr("throttlescope.transforms.promql.engine.LOCAL_SAMPLES", 100)
    assert engine.instant("count(pulsar_subscription_back_log)", END_MS).stats["place"] == "spark"
    assert Engine(lake).instant("count(pulsar_subscription_back_log)", END_MS).stats["place"] == "local"


def test_explain_names_pruning_shards_and_stages(engine):
    text = engine.explain(
        "sum(rate(pulsar_throttled_total[5m])) / count(pulsar_broker_rate_out)", START_MS, END_MS, STEP_MS
    )
    assert "cluster, namespace, topic" in text
    assert "+   Aggregation op=sum" in text
    assert "|     ApplyRangeFunction function=rate pulsar_throttled_total range=300s" in text
    assert "spans of time 2" in text
    assert "shares of 2 aggregations, rows of 0 parts" in text
    files = {line.split("  ")[1].strip(): line for line in text.splitlines() if line.startswith("  ")}
    assert int(files["read"].split()[1]) < int(files["in the lake"].split()[-1])


@pytest.mark.long
def test_new_lake_version_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("throttlescope.transforms.promql.engine._BELIEVED_S", 0)
    engine = Engine(lake_of(tmp_path / "lake", SERIES[:5]))
    before = engine.instant("count({__name__!=''})", START_MS + 600_000).value.values[0, 0]
    lake_of(tmp_path / "lake", SERIES[5:])
    after = engine.instant("count({__name__!=''})", START_MS + 600_000).value.values[0, 0]
    assert after > before


def test_spans_are_days_without_short_rest():
    day_ms = 86_400_000
    for start_ms, length_ms, wanted in (
        (0, day_ms, 1),
        (0, day_ms + day_ms // 4, 2),
        (day_ms // 2, day_ms, 2),
        (day_ms - 60_000, day_ms, 2),
        (0, 30 * day_ms, 30),
    ):
        steps = Steps(start_ms, start_ms + length_ms, 60_000)
        spans = _spans(steps, day_ms)
        assert len(spans) == wanted
        assert np.array_equal(np.concatenate([span.times_ms for span in spans]), steps.times_ms)
