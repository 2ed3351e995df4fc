"""Dispatch limits as a metric: in each place that answers PromQL they are what a slow reading of ``limits`` says."""

from __future__ import annotations

import os
import pickle
import random

import numpy as np
import pytest

from tests.examples import seeds
from tests.naive.limits import limits_at, samples_of
from tests.promql.compare import answer_of, difference
from tests.transforms.lakes import lake_of, limit_row, table_of
from throttlescope.app.services.promql.lake_queries import LakeQueries
from throttlescope.ingest.core.selector import Matcher, Selector
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.catalogue import Catalogue
from throttlescope.transforms.promql.engine import Engine
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC, LimitSeries
from throttlescope.transforms.promql.limit_snapshots import (
    COLUMNS,
    compacted,
    limit_series,
    read_limit_series,
)
from throttlescope.transforms.promql.query import range_query
from throttlescope.transforms.promql.series_index import SeriesIndex, with_limits
from throttlescope.transforms.promql.shards.work import plan_work
from throttlescope.transforms.promql.source import MemorySource, Series

SEEDS = range(int(os.environ.get("THROTTLESCOPE_LIMITS_SEEDS", "12")))
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
START_MS = 1_700_000_000_000 - 1_700_000_000_000 % DAY_MS


def key(subscription="billing", topic="orders", partition=0, cluster="prod"):
    return {
        "cluster": cluster,
        "namespace": "acme/shop",
        "topic": f"persistent://acme/shop/{topic}",
        "partition": partition,
        "subscription": subscription,
    }


def random_rows(seed: int, spreads=(20 * MINUTE_MS, 3 * HOUR_MS, 20 * DAY_MS)) -> list[dict]:
    """Snapshots of a few subscriptions over an hour or over weeks: levels come and go, records change or stay."""
    numbers = random.Random(seed)  # noqa: S311
    spread_ms = numbers.choice(spreads)
    rows = []
    for subscription in ("billing", "audit", "")[: numbers.randint(1, 3)]:
        for partition in (-1, 0, 1)[: numbers.randint(1, 3)]:
            record: dict[str, dict] = {}
            for at_ms in sorted(
                {START_MS + numbers.randrange(spread_ms) for _ in range(numbers.randint(1, 6))}
            ):
                for level in ("broker", "topic", "subscription"):
                    if level not in record or numbers.random() < 0.4:
                        record[level] = {
                            "msg": numbers.choice((None, 50, 100, 1000)),
                            "size": numbers.choice((None, 1_000_000, 5_242_880)),
                            "period_s": numbers.choice((1, 10)),
                            "set_by": numbers.choice(("topic_policy", "namespace_policy")),
                            "counts": numbers.choice(("messages", "entries")),
                            "relative_to_publish": numbers.random() < 0.2,
                        }
                    if numbers.random() < 0.9:
                        rows.append(
                            limit_row(
                                level, at_ms=at_ms, **record[level], **key(subscription, partition=partition)
                            )
                        )
    numbers.shuffle(rows)
    return rows


def as_samples(limits: LimitSeries, start_ms: int, end_ms: int) -> dict[tuple, dict]:
    ids = limits.rows.column("series_id").to_pylist()
    labels = [tuple(sorted(pairs)) for pairs in limits.rows.column("labels").to_pylist()]
    (times_ms, values, bounds, stale_ms, stale_bounds), here = limits.cut(ids, start_ms, end_ms)
    found = {}
    for n, one in enumerate(one for one, there in zip(labels, here, strict=True) if there):
        mine, stale = slice(bounds[n], bounds[n + 1]), slice(stale_bounds[n], stale_bounds[n + 1])
        samples = list(zip(times_ms[mine].tolist(), values[mine].tolist(), strict=True))
        found[one] = {"samples": samples, "stale_ms": stale_ms[stale].tolist()}
    assert len(labels) == len(set(labels))
    return found


def ranges_of(rows, seed):
    """Around snapshots, and around the ends of what they say."""
    numbers = random.Random(seed)  # noqa: S311
    times_ms = sorted({row["observed_ms"] for row in rows})
    for at_ms in {times_ms[0], times_ms[-1], numbers.choice(times_ms)}:
        for shift_ms in (-7 * DAY_MS, 0, 7 * DAY_MS):
            start_ms = at_ms + shift_ms - numbers.randrange(10 * MINUTE_MS)
            yield start_ms, start_ms + numbers.randrange(1, 25 * MINUTE_MS)


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_samples_are_what_a_slow_reading_says(seed):
    rows = random_rows(seed)
    limits = limit_series(table_of("limits", rows))
    seen = 0
    for start_ms, end_ms in ranges_of(rows, seed):
        wanted = samples_of(rows, start_ms, end_ms)
        assert as_samples(limits, start_ms, end_ms) == wanted, seed
        part = pickle.loads(pickle.dumps(limits.within(start_ms, end_ms)))  # noqa: S301
        assert as_samples(part, start_ms, end_ms) == wanted, seed
        assert part.count(start_ms, end_ms) == sum(len(one["samples"]) for one in wanted.values())
        seen += len(wanted)
    assert seen, seed


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_compressed_snapshots_give_equal_series(seed):
    rows = random_rows(seed, (20 * MINUTE_MS, 3 * HOUR_MS))
    # Repeated every few minutes, as a run that follows does.
    times_ms = {row["observed_ms"] for row in rows}
    rows += [
        row | {"observed_ms": row["observed_ms"] + n}
        for row in rows
        for n in (1, 2)
        if row["observed_ms"] + n not in times_ms
    ]
    table = table_of("limits", rows)
    less = compacted(table.select(COLUMNS))
    assert less.num_rows < table.num_rows
    whole, small = limit_series(table), limit_series(less)
    assert whole.rows.equals(small.rows)
    for name in ("bounds", "from_ms", "until_ms", "values"):
        assert np.array_equal(getattr(whole, name), getattr(small, name)), name


# -- in the places that answer PromQL ---------------------------------------------------------

END_MS = START_MS + 2 * DAY_MS
ROWS = [
    limit_row("subscription", at_ms=START_MS + HOUR_MS + 5, msg=500, set_by="subscription_policy", **key()),
    limit_row("subscription", at_ms=START_MS + 25 * HOUR_MS, msg=800, set_by="subscription_policy", **key()),
    limit_row("subscription", at_ms=START_MS + 30 * HOUR_MS, msg=800, set_by="topic_policy", **key()),
    *(
        limit_row(
            "topic", at_ms=START_MS + HOUR_MS, msg=9000, size=10_485_760, period_s=10, **key(name, topic)
        )
        for topic in ("orders", "clicks", "views", "carts")
        for name in ("audit", "search")
    ),
    limit_row("broker", at_ms=START_MS + HOUR_MS, set_by="none", **key("audit")),
]


def _backlogs() -> list[Series]:
    times = np.arange(START_MS, END_MS, MINUTE_MS)
    return [
        Series(
            {
                "__name__": "pulsar_subscription_back_log",
                "instance": "b",
                **{n: str(v) for n, v in row.items()},
            },
            times,
            np.arange(len(times)) % 977 + 1.0,
        )
        for row in (key(), key("audit"), key("search"), key("audit", "clicks"))
    ]


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return lake_of(tmp_path_factory.mktemp("limits") / "lake", _backlogs(), limits=ROWS)


@pytest.fixture(scope="module")
def naive_source():
    """All series in memory, the limits read slowly."""
    found = samples_of(ROWS, START_MS - HOUR_MS, END_MS)
    limits = [
        Series(
            {"__name__": LIMIT_METRIC, **dict(labels)},
            np.array([t for t, _ in one["samples"]], np.int64),
            np.array([v for _, v in one["samples"]]),
            np.array(one["stale_ms"], np.int64),
        )
        for labels, one in found.items()
    ]
    return MemorySource([*limits, *_backlogs()])


QUERIES = [
    "throttlescope_dispatch_limit",
    'throttlescope_dispatch_limit{unit="msg",level="subscription"}',
    'count by (level, unit, set_by) (throttlescope_dispatch_limit{topic=~".*/(orders|carts)"})',
    "sum(throttlescope_dispatch_limit < Inf)",
    "avg by (cluster) (throttlescope_dispatch_limit < Inf)",
    "pulsar_subscription_back_log / on (cluster, namespace, topic, partition, subscription) "
    'group_right () throttlescope_dispatch_limit{level="topic"}',
    "count_over_time(throttlescope_dispatch_limit[10m])",
    "changes(throttlescope_dispatch_limit[1h])",
    "timestamp(throttlescope_dispatch_limit)",
    'count({__name__=~"throttlescope.*|pulsar_subscription_back_log"})',
    'absent(throttlescope_dispatch_limit{subscription="nobody"})',
    "throttlescope_dispatch_limit offset 30m",
    "throttlescope_dispatch_limit @ end()",
    # Not cut into shards: computed over all of them at once.
    "predict_linear(throttlescope_dispatch_limit[30m], scalar(count(pulsar_subscription_back_log)))",
]
TIMES = (START_MS + 30 * MINUTE_MS, END_MS - MINUTE_MS, 7 * MINUTE_MS + 1)


@pytest.mark.long
@pytest.mark.parametrize("text", QUERIES)
def test_here_as_in_one_slow_evaluation(lake, naive_source, text):
    found = Engine(lake).range(text, *TIMES)
    wanted = range_query(text, naive_source, *TIMES)
    answers = [answer_of(one.value, one.steps) for one in (found, wanted)]
    assert difference(*answers, 1e-12) is None
    assert any(answers[1].values())


@pytest.mark.parametrize("text", [QUERIES[0], QUERIES[2], QUERIES[5], QUERIES[9]])
def test_on_spark_as_here(lake, spark, text):
    engine = Engine(lake, lambda: spark)
    here, there = (engine.range(text, *TIMES, place=place) for place in ("local", "spark"))
    assert there.stats["place"] == "spark"
    assert difference(*(answer_of(one.value, one.steps) for one in (here, there)), 0) is None
    assert any(answer_of(here.value, here.steps).values())


def test_pieces_carry_only_the_limits_that_match(lake):
    engine = Engine(lake)
    view = engine.view()

    def work(text):
        from throttlescope.transforms.promql.evaluate import plan_query
        from throttlescope.transforms.promql.matrix import Steps
        from throttlescope.transforms.promql.plan import settled

        start_ms, end_ms, step_ms = TIMES
        plan = settled(plan_query(text, MINUTE_MS), start_ms, end_ms)
        return plan_work(text, plan, Steps(start_ms, end_ms, step_ms), view, 300_000)

    def carried(text):
        return sum(len(piece.limits) for piece in work(text).pieces if piece.limits is not None)

    assert carried("pulsar_subscription_back_log") == 0
    everything = carried("throttlescope_dispatch_limit")
    one = work('throttlescope_dispatch_limit{topic="persistent://acme/shop/carts",unit="msg"}')
    assert 0 < sum(len(piece.limits) for piece in one.pieces) < everything / 4
    assert {piece.shard for piece in one.pieces} == {one.pieces[0].shard}
    assert not any(piece.files for piece in one.pieces)


def test_the_catalogue_knows_limits_and_when(lake):
    catalogue = Catalogue.of(lake)
    name = Selector((Matcher("__name__", "=", LIMIT_METRIC),))
    assert LIMIT_METRIC in catalogue.metric_names
    assert catalogue.label_values("level", [name]) == ["broker", "subscription", "topic"]
    assert {"set_by", "period_s", "events_informative"} < set(catalogue.label_names([name]))
    # A limit speaks for a week; the lake is as new as its samples.
    assert catalogue.newest_ms == END_MS - MINUTE_MS
    weeks = [START_MS + n * 7 * DAY_MS for n in (-2, -1, 0, 1, 2)]
    counts = [len(catalogue.series([name], at_ms, at_ms + DAY_MS)) for at_ms in weeks]
    assert counts[0] == counts[4] == 0 < min(counts[1:4])
    moment_ms = START_MS + 26 * HOUR_MS
    there = [
        tuple(sorted((n, v) for n, v in labels.items() if n != "__name__"))
        for labels in catalogue.series([name], moment_ms, moment_ms)
    ]
    assert sorted(there) == sorted(limits_at(ROWS, moment_ms))


@pytest.mark.long
def test_a_new_snapshot_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("throttlescope.transforms.promql.engine._BELIEVED_S", 0)
    lake_of(tmp_path / "lake", _backlogs()[:1], limits=ROWS[:1])
    queries = LakeQueries(tmp_path / "lake")
    count = "count(throttlescope_dispatch_limit)"
    assert queries.instant(count, END_MS).value.values.tolist() == [[2.0]]
    assert len(queries.catalogue().label_values("topic")) == 1
    lake = Lake(tmp_path / "lake")
    lake.upsert("limits", table_of("limits", ROWS), run_id="later")
    assert queries.instant(count, END_MS).value.values.tolist() == [[len(limits_at(ROWS, END_MS)) * 1.0]]
    assert len(queries.catalogue().label_values("topic")) == 4


def test_lake_with_and_without_limits(tmp_path):
    lake = Lake(tmp_path / "lake")
    assert len(read_limit_series(lake)) == 0
    lake.upsert("limits", table_of("limits", ROWS), run_id="test")
    assert Catalogue.of(lake).newest_ms is None
    found = Engine(lake).instant("count(throttlescope_dispatch_limit)", END_MS)
    assert found.value.values.tolist() == [[len(limits_at(ROWS, END_MS)) * 1.0]]


def test_scraped_series_of_same_name_stays(lake, tmp_path):
    limits = read_limit_series(lake)
    times = np.arange(START_MS, START_MS + DAY_MS, MINUTE_MS)
    scraped = [
        Series({"__name__": LIMIT_METRIC, "cluster": "a", "job": "serve"}, times, np.full(len(times), 7.0)),
        Series({"__name__": LIMIT_METRIC, "cluster": "z", "job": "serve"}, times, np.full(len(times), 9.0)),
    ]
    other = lake_of(tmp_path / "lake", scraped)
    rows = with_limits(other.read("series").select(["series_id", "metric_name", "labels"]), limits)
    source = LakeSampleSource(other.files("samples"), SeriesIndex(rows), limits=limits)
    name = Selector((Matcher("__name__", "=", LIMIT_METRIC),))
    found = source.select(name, START_MS + 2 * HOUR_MS, START_MS + 3 * HOUR_MS)
    labels = [tuple(sorted(one.labels.items())) for one in found]
    assert labels == sorted(labels)
    assert [found[0].values[0], found[-1].values[0]] == [7.0, 9.0]
    assert all(len(one.timestamps_ms) == 60 for one in found)
    values = {dict(one.labels).get("level"): set(one.values.tolist()) for one in found}
    assert values["broker"] == {float("inf")}
