"""Errors of a query over many shards and spans of time: they are those of one evaluation over all series."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.promql.compare import answer_of, difference
from tests.transforms.lakes import lake_of
from throttlescope.ingest.core.labels import LabelMapping, normalise, shard_of
from throttlescope.transforms.promql.engine import Engine
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.query import QueryAnswer, range_query
from throttlescope.transforms.promql.source import MemorySource, Series

HOUR_MS = 3_600_000
START_MS = 1_700_000_000_000 - 1_700_000_000_000 % HOUR_MS
STEP_MS = 60_000
NAMESPACE = "t/n"
_REPEATED = "Several series on the"
_EQUAL = "Several series of the result have the same labels"


def _topic_in(shard: int) -> str:
    """A topic that lies in a shard."""
    names = (f"persistent://{NAMESPACE}/{number}" for number in range(10_000))
    return next(name for name in names if shard_of("c", NAMESPACE, name) == shard)


FIRST, SECOND = _topic_in(3), _topic_in(11)


def series(name: str, topic: str, first_min: int = 0, after_min: int = 30, **labels: str) -> Series:
    """One sample a minute, of value 1."""
    times_ms = START_MS + np.arange(first_min, after_min) * STEP_MS
    labels = {"__name__": name, "cluster": "c", "namespace": NAMESPACE, "topic": topic, **labels}
    return Series(labels, times_ms, np.ones(len(times_ms)), times_ms[-1:] + 1)


def known(found: Sequence[Series]) -> MemorySource:
    """The series under the labels that the lake keeps."""
    return MemorySource(
        Series(
            dict(normalise(tuple(one.labels.items()), LabelMapping()).labels),
            one.timestamps_ms,
            one.values,
            one.stale_ms,
        )
        for one in found
    )


def both(engine: Engine, found: Sequence[Series], text: str, minutes: int = 30) -> tuple:
    """The lake's answer and that of one evaluation, each an :class:`QueryAnswer` or the text of an error."""
    asked = (text, START_MS, START_MS + minutes * STEP_MS, STEP_MS)
    return _tried(lambda: engine.range(*asked)), _tried(lambda: range_query(text, known(found), *asked[1:]))


def _tried(run) -> QueryAnswer | str:
    try:
        return run()
    except QueryError as error:
        return str(error)


def same(ours: QueryAnswer | str, whole: QueryAnswer | str) -> bool:
    """Whether both fail, or answer the same."""
    if isinstance(ours, str) or isinstance(whole, str):
        return isinstance(ours, str) and isinstance(whole, str)
    answers = [answer_of(one.value, one.steps) for one in (ours, whole)]
    return difference(*answers, 1e-12) is None and set(ours.warnings) == set(whole.warnings)


# -- the one side of a match ------------------------------------------------------------------------

#: The first topic has both sides; the second, in another shard, has the right one twice and no left one.
CLASHING = [
    series("pulsar_in_messages_total", FIRST),
    series("pulsar_storage_size", FIRST, instance="b0"),
    series("pulsar_storage_size", SECOND, instance="b0"),
    series("pulsar_storage_size", SECOND, instance="b1"),
]
_ON = "on (cluster, namespace, topic)"


@pytest.fixture(scope="module")
def clashing(tmp_path_factory):
    return Engine(lake_of(tmp_path_factory.mktemp("shards") / "lake", CLASHING))


@pytest.mark.parametrize(
    "text",
    [
        f"pulsar_in_messages_total * {_ON} pulsar_storage_size",
        f"pulsar_in_messages_total * {_ON} group_left () pulsar_storage_size",
        f"pulsar_storage_size - {_ON} group_right () pulsar_in_messages_total",
        f"pulsar_in_messages_total == {_ON} pulsar_storage_size",
        f"pulsar_in_messages_total > bool {_ON} pulsar_storage_size",
        "pulsar_in_messages_total / ignoring (instance) pulsar_storage_size",
        f"sum(pulsar_in_messages_total * {_ON} pulsar_storage_size)",
        f"count by (namespace) (abs(pulsar_in_messages_total * {_ON} pulsar_storage_size))",
        f"max_over_time((pulsar_in_messages_total * {_ON} pulsar_storage_size)[5m:1m])",
        f"pulsar_nothing or pulsar_in_messages_total * {_ON} pulsar_storage_size",
        f"sum(pulsar_in_messages_total) > bool scalar(sum(pulsar_in_messages_total * {_ON} pulsar_storage_size))",
    ],
)
def test_repeated_one_side_fails_in_any_shard(clashing, text):
    ours, whole = both(clashing, CLASHING, text)
    assert isinstance(whole, str)
    assert isinstance(ours, str), "the shards answered"
    assert _REPEATED in ours


@pytest.mark.parametrize(
    "text",
    [
        f"pulsar_in_messages_total and {_ON} pulsar_storage_size",
        f"pulsar_storage_size unless {_ON} pulsar_in_messages_total",
        f"pulsar_in_messages_total or {_ON} pulsar_storage_size",
        f"pulsar_nothing * {_ON} pulsar_storage_size",
        f"pulsar_storage_size * {_ON} pulsar_nothing",
        f"pulsar_storage_size * {_ON} group_left () pulsar_in_messages_total",
    ],
)
def test_unmatched_repeats_are_no_error(clashing, text):
    ours, whole = both(clashing, CLASHING, text)
    assert isinstance(whole, QueryAnswer)
    assert isinstance(ours, QueryAnswer), ours
    assert same(ours, whole)


@pytest.mark.parametrize(("left_until_min", "fails"), [(10, False), (21, True)])
def test_repeated_side_fails_only_while_matched(tmp_path, left_until_min, fails):
    """The left side, in another shard, ends before or after the minute in which the right one is repeated."""
    data = [
        series("pulsar_in_messages_total", FIRST, 0, left_until_min),
        series("pulsar_storage_size", SECOND, 0, 30, instance="b0"),
        series("pulsar_storage_size", SECOND, 20, 30, instance="b1"),
    ]
    engine = Engine(lake_of(tmp_path / "lake", data))
    ours, whole = both(engine, data, f"pulsar_in_messages_total * {_ON} pulsar_storage_size")
    assert isinstance(whole, str) is fails
    assert same(ours, whole)


def test_spark_finds_a_repeated_one_side(tmp_path, spark):
    engine = Engine(lake_of(tmp_path / "lake", CLASHING), lambda: spark)
    asked = (f"pulsar_in_messages_total * {_ON} pulsar_storage_size", START_MS, START_MS + HOUR_MS, STEP_MS)
    errors = []
    for place in ("local", "spark"):
        with pytest.raises(QueryError, match=_REPEATED) as error:
            engine.range(*asked, place=place)
        errors.append(str(error.value))
    assert errors[0] == errors[1]


# -- labels that must differ over all steps -----------------------------------------------------------


@pytest.fixture
def short_spans(monkeypatch):
    """Spans of an hour."""
    monkeypatch.setattr("throttlescope.transforms.promql.shards.work._span_ms", lambda *_: HOUR_MS)


#: The first is gone before the second begins, in another span.
ONE_AFTER_THE_OTHER = [
    series("pulsar_rate_in", FIRST, 0, 40, instance="b0"),
    series("pulsar_rate_out", FIRST, 130, 170, instance="b0"),
    series("pulsar_storage_size", FIRST, 0, 40, instance="b0"),
    series("pulsar_storage_size", FIRST, 130, 170, instance="b1"),
]


@pytest.mark.parametrize(
    "text",
    [
        "rate({__name__=~'pulsar_rate_.*'}[5m])",
        "sum(max_over_time({__name__=~'pulsar_rate_.*'}[5m]))",
        "-{__name__=~'pulsar_rate_.*'}",
        "label_replace(pulsar_storage_size, 'instance', '', 'instance', '.*')",
        "count(label_join(pulsar_storage_size, 'instance', '', 'cluster'))",
        "label_replace(pulsar_storage_size, 'topic', 'x', 'instance', '.*') and on () vector(1) "
        "or label_replace(pulsar_storage_size, 'instance', 'x', 'instance', '.*')",
        "avg_over_time(label_replace(pulsar_storage_size, 'instance', '', 'instance', '.*')[5m:1m])",
        "max_over_time((-{__name__=~'pulsar_rate_.*'})[5m:1m])",
    ],
)
@pytest.mark.usefixtures("short_spans")
def test_equal_labels_fail_in_any_span(tmp_path, text):
    engine = Engine(lake_of(tmp_path / "lake", ONE_AFTER_THE_OTHER))
    ours, whole = both(engine, ONE_AFTER_THE_OTHER, text, minutes=180)
    assert isinstance(whole, str)
    assert isinstance(ours, str), "the spans answered"
    assert _EQUAL in ours


#: They differ by what functions drop together with the name.
TYPED = [
    series("pulsar_rate_in", FIRST, 0, 40),
    series("pulsar_rate_in", FIRST, 130, 170, __type__="gauge"),
    series("pulsar_rate_in", SECOND, 0, 170),
]


@pytest.mark.parametrize(
    "text", ["rate(pulsar_rate_in[5m])", "-pulsar_rate_in", "sum(last_over_time(pulsar_rate_in[10m]))"]
)
@pytest.mark.parametrize("minutes", [180, 30])
@pytest.mark.usefixtures("short_spans")
def test_dropped_types_make_labels_equal(tmp_path, text, minutes):
    engine = Engine(lake_of(tmp_path / "lake", TYPED))
    ours, whole = both(engine, TYPED, text, minutes)
    fails = minutes == 180 and "last_over_time" not in text
    assert isinstance(whole, str) is fails
    assert same(ours, whole), (ours, whole)


def test_dropped_types_can_make_labels_equal():
    data = [series("pulsar_rate_in", FIRST), series("pulsar_rate_in", FIRST, __type__="gauge")]
    with pytest.raises(QueryError, match=_EQUAL):
        range_query("rate(pulsar_rate_in[5m])", known(data), START_MS, START_MS + HOUR_MS, STEP_MS)


@pytest.mark.parametrize(
    "text",
    [
        "abs({__name__=~'pulsar_rate_.*'})",
        "label_replace(pulsar_storage_size, 'other', '$1', 'instance', '(.*)')",
        "rate(pulsar_rate_in[5m]) or rate(pulsar_rate_out[5m])",
        "label_replace(pulsar_storage_size offset 10m, 'instance', '', 'instance', 'b1') "
        "or label_replace(pulsar_storage_size, 'instance', '', 'instance', 'b0')",
    ],
)
@pytest.mark.usefixtures("short_spans")
def test_spans_meet_where_no_labels_are_equal(tmp_path, text):
    engine = Engine(lake_of(tmp_path / "lake", ONE_AFTER_THE_OTHER))
    ours, whole = both(engine, ONE_AFTER_THE_OTHER, text, minutes=180)
    assert isinstance(whole, QueryAnswer)
    assert isinstance(ours, QueryAnswer), ours
    assert same(ours, whole)


def test_spark_finds_equal_labels_of_two_spans(tmp_path, spark):
    data = [
        series("pulsar_storage_size", FIRST, 0, 40, instance="b0"),
        series("pulsar_storage_size", FIRST, 26 * 60, 27 * 60, instance="b1"),
    ]
    engine = Engine(lake_of(tmp_path / "lake", data), lambda: spark)
    text = "label_replace(pulsar_storage_size, 'instance', '', 'instance', '.*')"
    asked = (text, START_MS, START_MS + 28 * HOUR_MS, STEP_MS)
    for place in ("local", "spark"):
        with pytest.raises(QueryError, match=_EQUAL):
            engine.range(*asked, place=place)


@pytest.mark.parametrize(
    "text",
    [
        "histogram_quantile(0.9, pulsar_x_bucket)",
        "max_over_time(histogram_quantile(0.9, pulsar_x_bucket)[90m:1m])",
    ],
)
@pytest.mark.usefixtures("short_spans")
def test_notes_name_metric_at_first_step(tmp_path, text):
    """The buckets fall from the second hour on: a histogram that is not seen for the first time has no name."""
    data = []
    for bound, step in (("1", 0), ("2", -1), ("+Inf", 3)):
        one = series("pulsar_x_bucket", FIRST, 0, 170, le=bound)
        late = np.arange(170) >= 70
        data.append(Series(one.labels, one.timestamps_ms, np.where(late, 5.0 + step, 5.0), one.stale_ms))
    engine = Engine(lake_of(tmp_path / "lake", data))
    ours, whole = both(engine, data, text, minutes=170)
    assert len(whole.infos) == 1
    assert 'metric name ""' in whole.infos[0]
    assert ours.infos == whole.infos


# -- steps and spans --------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["topk", "bottomk", "limitk"])
@pytest.mark.usefixtures("short_spans")
def test_counts_are_judged_over_all_spans(tmp_path, op):
    """A count too small for an int64 is an error only if some step asks for an element: here one of a later span does."""
    data = [series("pulsar_storage_size", FIRST, 0, 170)]
    engine = Engine(lake_of(tmp_path / "lake", data))
    text = f"{op}(1 - 1e20 * (time() < bool {START_MS // 1000 + 7000}), pulsar_storage_size)"
    ours, whole = both(engine, data, text, minutes=160)
    assert isinstance(whole, str)
    assert same(ours, whole), ours


@pytest.mark.usefixtures("short_spans")
def test_subqueries_are_evaluated_between_spans(tmp_path):
    """Prometheus computes a subquery at all its steps, also at those that no window sees."""
    data = [
        series("pulsar_storage_size", FIRST, 0, 300, instance="b0"),
        series("pulsar_storage_size", FIRST, 95, 97, instance="b1"),
    ]
    engine = Engine(lake_of(tmp_path / "lake", data))
    text = "max_over_time((sum without (instance) (pulsar_storage_size) * on (topic) pulsar_storage_size)[5m:1m])"
    step_ms = 100 * STEP_MS
    for end_min in (200, 99):
        asked = (text, START_MS - 20 * STEP_MS, START_MS + end_min * STEP_MS, step_ms)
        with pytest.raises(QueryError):
            range_query(asked[0], known(data), *asked[1:])
        with pytest.raises(QueryError):
            engine.range(*asked)
