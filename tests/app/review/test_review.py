"""``throttlescope review``: its counts beside slow twins on random lakes, what it prints, and what it refuses."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pytest

from tests.app import test_forecast_cli as forecasts
from tests.app.commands import throttlescope
from tests.app.lake_of_verdicts import FIVE, HOUR, healthy, lake_with, verdict
from tests.models.diagnosis.test_apply import fill
from tests.models.forecast.minutes import end_ms, rows_of, table_of
from tests.naive import review as naive
from tests.transforms.lakes import lake_of
from throttlescope.app.services.review import review_lake
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.models.forecast.apply import forecasts_of

TOPIC = "persistent://acme/shop/orders"
RANGE = ("--start", format_time(HOUR), "--end", format_time(HOUR + 2 * BLOCK_MS))


def minute(index, **changed):
    (row,) = rows_of([100.0])
    at_ms = HOUR + index * MINUTE_MS
    return row | {"minute_ms": at_ms, "date": date_of(at_ms), "partition": 3, "topic": TOPIC} | changed


def episode(index, agrees, **changed):
    row = dict.fromkeys(TABLES["episodes"].schema.names)
    start_ms = HOUR + index * FIVE
    answer = None
    if agrees != "not asked":
        answer = {
            "verdict_lever": "limiter", "primary": "limiter" if agrees else "consumers", "agrees": agrees,
            "gain_low_entries": 10.0 * index, "gain_likely_entries": None, "failed": None,
        }  # fmt: skip
        if agrees is None:
            answer = {"failed": "the window holds a gap"}
    return row | {
        "cluster": "prod", "namespace": "acme/shop", "topic": TOPIC, "partition": 3, "subscription": "billing",
        "episode_id": f"e{index}", "start_ms": start_ms, "end_ms": start_ms + FIVE, "state": "drained", "since_ms": start_ms,
        "since_method": "change_point", "start_entries": 1.0, "peak_entries": 2.0, "peak_ms": start_ms, "last_entries": 0.0,
        "known_until_ms": start_ms, "over_until_ms": start_ms, "backlog": [], "backlog_step_ms": 60_000, "worst_ms": start_ms,
        "cause": "both", "side": "both", "confidence": 0.5, "named_ms": 1, "causes": [], "limiters": [], "marks": [],
        "judged_until_ms": start_ms, "date": date_of(start_ms), "counterfactual": answer,
    } | changed  # fmt: skip


def with_episodes(lake, rows):
    table = pa.Table.from_pylist(rows, schema=TABLES["episodes"].loose_schema)
    lake.upsert("episodes", table, run_id="by hand")
    return lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    rows = [verdict(0), verdict(1), healthy(2), verdict(3), verdict(4), healthy(5), healthy(6), healthy(8)]
    lake = lake_with(tmp_path_factory.mktemp("review"), rows)
    used = {
        "limit_subscription_msg": 800,
        "limit_subscription_period_s": 1,
        "limit_subscription_set_by": "topic_policy",
    }
    free = {"limit_topic_bytes": 5000, "limit_topic_period_s": 10, "rho_topic_bytes": 0.1}
    unknown = {"limit_broker_msg": 9, "limit_broker_period_s": 1, "broker": "b:1"}
    fill(
        lake,
        [
            *(minute(n, rho_subscription_msg=0.95, **used, **free, **unknown) for n in range(5)),
            minute(5, rho_subscription_msg=0.2, **used, **free, **unknown),
            # Lifted: what comes after says nothing of the limit that was.
            minute(6, limit_subscription_set_by="none"),
        ],
    )
    return with_episodes(
        lake,
        [episode(0, True), episode(1, False), episode(2, False), episode(3, None), episode(4, "not asked")],
    )


def run_review(lake, *arguments):
    done = throttlescope("review", "--lake", lake.root, *RANGE, "--format", "json", "--quiet", *arguments)
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


@pytest.mark.long
def test_flips_with_and_without_hysteresis(lake):
    flips = run_review(lake)["flips"]
    assert (flips["windows"], flips["subscription_partitions"]) == (8, 1)
    # A hole parts the last window from the others: seven windows, six times five minutes between their ends.
    assert flips["hours"] == pytest.approx(0.5)
    assert (flips["flips"], flips["steady_flips"]) == (3, 1)
    assert flips["per_hour"] == pytest.approx(6)
    assert flips["between"] == {"throttled -> healthy": 2, "healthy -> throttled": 1}
    assert flips["most"][0]["subscription"] == "billing"


@pytest.mark.long
def test_agreement_counts_replayed_episodes(lake):
    found = run_review(lake)["agreement"]
    assert (found["episodes"], found["asked"], found["failed"]) == (5, 4, 1)
    assert (found["agree"], found["compared"]) == (1, 3)
    assert 0 < found["wilson"][0] < 1 / 3 < found["wilson"][1] < 1
    assert [one["episode_id"] for one in found["disagreements"]] == ["e2", "e1"]


@pytest.mark.long
def test_binding_and_unused_limits_are_listed(lake):
    found = run_review(lake)["limits"]
    assert (found["limiters"], found["bound"], found["never"], found["unknown"]) == (3, 1, 1, 1)
    (bound,), (never,) = found["most"], found["least"]
    assert (bound["limiter"], bound["owner"]) == ("subscription.msg", f"{TOPIC}-partition-3#billing")
    assert (bound["rate"], bound["period_s"], bound["set_by"]) == (800, 1, "topic_policy")
    assert (bound["held_h"], bound["near_minutes"], bound["minutes"]) == (
        pytest.approx(4 * FIVE / BLOCK_MS),
        5,
        6,
    )
    assert bound["most_share"] == 0.95
    assert (never["limiter"], never["owner"], never["period_s"]) == (
        "topic.bytes",
        f"{TOPIC}-partition-3",
        10,
    )


@pytest.mark.long
def test_missing_forecasts_are_reported(lake):
    found = run_review(lake)
    assert found["forecasts"] is None
    assert "no forecast" in found["no_forecasts"]


@pytest.mark.long
def test_stored_forecasts_match_the_back_test(tmp_path):
    lake = lake_of(tmp_path, forecasts.series_of())
    rows = rows_of(forecasts.BACKLOG)
    fill(lake, rows)
    # Another topic of which nothing was forecast: not read, so it changes nothing.
    fill(lake, rows_of(forecasts.BACKLOG, topic="persistent://acme/shop/others"))
    made = forecasts_of(table_of(rows), forecasts.policies(), [end_ms(n) for n in range(5, 40)])
    lake.upsert("forecasts", made, run_id="by hand")
    table = pa.Table.from_pylist([healthy(0)], schema=TABLES["verdicts"].schema)
    lake.upsert("verdicts", table, run_id="by hand")
    span = (
        "--lake",
        lake.root,
        "--quiet",
        "--format",
        "json",
        "--start",
        format_time(end_ms(0)),
        "--end",
        format_time(end_ms(49)),
    )
    found = json.loads(throttlescope("review", *span).out)["forecasts"]
    assert found["made"] == 35
    assert found == json.loads(throttlescope("forecast", "--back-test", "--stored", *span).out)
    assert found["all"]["decided"] > 10


@pytest.mark.long
def test_lists_have_the_requested_length(lake):
    assert len(run_review(lake, "--most", 1)["agreement"]["disagreements"]) == 1
    assert run_review(lake, "--most", 1)["flips"]["between"] == {"throttled -> healthy": 2}


@pytest.mark.long
def test_text_table_shows_the_figures(lake):
    done = throttlescope("review", "--lake", lake.root, *RANGE, "--quiet")
    assert (done.code, done.err) == (0, "")
    for text in (
        "6.000 (3)",
        "33 % (1/3)",
        "Limits that bind most (1)",
        "800 msg / 1 s",
        "topic_policy",
        "Most frequent:",
    ):
        assert text in done.out, text


@pytest.mark.long
def test_range_without_verdicts_succeeds(lake):
    done = throttlescope(
        "review",
        "--lake",
        lake.root,
        "--start",
        "2020-01-01T00:00:00Z",
        "--end",
        "2020-01-08T00:00:00Z",
        "--quiet",
    )
    assert (done.code, done.err) == (0, "")
    assert "none with verdicts" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--start", "now", "--end", "-1d"), "start is not before the end"),
        (("--cluster", "other"), "no verdicts of this cluster"),
        (("--most", "0"), "most"),
    ],
)
def test_invalid_options_are_refused(lake, arguments, message):
    done = throttlescope("review", "--lake", lake.root, "--quiet", *arguments)
    assert done.code == 2
    assert message in done.line


def test_lake_without_verdicts_is_an_error(tmp_path):
    done = throttlescope("review", "--lake", tmp_path, "--quiet")
    assert done.code == 2
    assert "There are no verdicts in this lake" in done.line


def random_lake(folder: Path, seed: int) -> Lake:
    """Two clusters, shared topics, a topic that moves, windows that overlap, limits that come and go."""
    dice = random.Random(seed)  # noqa: S311
    verdicts, signals = [], []
    for cluster, topic, partition, subscription in [
        (c, f"persistent://a/b/t{t}", p, s) for c in "xy" for t in range(2) for p in (-1, 2) for s in "uv"
    ]:
        key = {
            "cluster": cluster,
            "namespace": "a/b",
            "topic": topic,
            "partition": partition,
            "subscription": subscription,
        }
        for n in range(24):
            if dice.random() < 0.15:
                continue
            cause = dice.choice(("throttled", "throttled", "healthy", "both", "slow_consumers"))
            limiter = dice.choice(LIMITERS) if cause in ("throttled", "both") else None
            length_ms = dice.choice((1, 1, 2)) * FIVE
            side = {"throttled": "throttle", "both": "both", "healthy": "neither"}.get(
                cause, "consumer_capacity"
            )
            start_ms = HOUR + n * FIVE // 2
            verdicts.append(
                verdict(
                    0, cause, limiter, start_ms=start_ms, window_end_ms=start_ms + length_ms, side=side, **key
                )
            )
        limits = {f"limit_{one.replace('.', '_')}": dice.choice((None, 100, 200)) for one in LIMITERS}
        for n in range(70):
            now = {name: value if dice.random() < 0.7 else None for name, value in limits.items()}
            rho = {
                f"rho_{name.removeprefix('limit_')}": None if value is None else round(dice.random() * 1.2, 3)
                for name, value in now.items()
            }
            broker = dice.choice((None, "b:1", "b:2")) if n % 10 == 0 else "b:1"
            signals.append(minute(n, broker=broker, **key, **now, **rho))
    lake = lake_with(folder, verdicts)
    fill_clusters(lake, signals)
    return lake


def fill_clusters(lake, rows):
    for cluster in sorted({row["cluster"] for row in rows}):
        fill(lake, [row for row in rows if row["cluster"] == cluster])


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_counts_match_the_naive_implementation(tmp_path, seed):
    lake = random_lake(tmp_path, seed)
    found = review_lake(lake, HOUR, HOUR + 2 * BLOCK_MS, most=1000)
    verdicts, signals = lake.read("verdicts").to_pylist(), lake.read("signals").to_pylist()
    flips, length_ms = naive.flips(verdicts)
    assert flips > 50
    assert (found.flips.flips, found.flips.hours) == (flips, pytest.approx(length_ms / BLOCK_MS))
    assert sum(found.flips.between.values()) == flips
    expected = naive.limit_uses(signals, verdicts)
    rows = [*found.limits.most, *found.limits.least]
    assert len(rows) == found.limits.bound + found.limits.never
    counted = {
        (row.cluster, row.limiter, row.owner): (
            row.rate, row.shared_by, pytest.approx(row.held_h * BLOCK_MS), row.near_minutes, row.minutes, row.most_share,
        )
        for row in rows
    }  # fmt: skip
    assert len(counted) > 20
    known = {name: use for name, use in expected.items() if use[2] or use[4]}
    assert set(counted) == set(known)
    for name, use in known.items():
        # Which of two equal minutes is the newest nobody says.
        assert counted[name][1:] == use[1:], name
