"""What would have drained an episode: on simulated brokers, compared with one replay by itself, and where there is no answer."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.models.episodes.scenes import verdicts
from tests.models.throttling.replay.samples import SELECTOR, START_MS, key, scenario, simulated_lake
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, date_of
from throttlescope.ingest.spark.task_executor import InProcessExecutor, SparkPoolExecutor
from throttlescope.models.diagnosis.causes import CAUSE_OF
from throttlescope.models.diagnosis.counterfactual import counterfactuals
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.episodes.levers import lifted
from throttlescope.models.episodes.levers.apply import build_counterfactuals
from throttlescope.models.episodes.levers.question import questions
from throttlescope.models.throttling.replay import read_observed

KEY = SubscriptionKey(**key())
GONE = KEY._replace(topic="persistent://acme/shop/gone")
WINDOW_S = 600
AT_MS = START_MS + WINDOW_S * 1000


def says(letters, **more):
    """Verdicts of windows of two minutes from the start on."""
    return verdicts(letters, **({"key": KEY, "start_ms": START_MS, "window": 2, "every": 2} | more))


def episode(cause="throttled", limiter="subscription.msg", *, of=KEY, start_ms=START_MS, peak_ms=AT_MS):
    """A row of ``episodes``; what no test looks at is the same in all."""
    return {
        **of._asdict(), "episode_id": f"{of.topic[-4:]}-{start_ms}", "start_ms": start_ms, "end_ms": peak_ms + MINUTE_MS,
        "state": "drained", "since_ms": start_ms, "since_method": "start_of_data", "start_entries": 200.0,
        "peak_entries": 60_000.0, "peak_ms": peak_ms, "last_entries": 60_000.0, "known_until_ms": peak_ms + MINUTE_MS,
        "over_until_ms": peak_ms + MINUTE_MS, "backlog": [], "backlog_step_ms": MINUTE_MS, "worst_ms": peak_ms,
        "worst_age_s": None, "cause": cause, "side": CAUSE_OF[cause].side,
        "limiter": limiter, "confidence": 0.9, "named_ms": 600_000, "causes": [], "limiters": [],
        "flips_before_per_h": None, "flips_after_per_h": None, "marks": [], "broker": None, "rules_version": "2",
        "judged_until_ms": peak_ms + BLOCK_MS, "counterfactual": None, "date": date_of(start_ms),
    }  # fmt: skip


def lake_with(folder, *episodes, letters="TTS", **fields):
    """A simulated throttled subscription, its episodes, and verdicts that blame both sides."""
    lake = simulated_lake(folder / "lake", scenario(**{"duration_s": WINDOW_S} | fields), WINDOW_S)
    lake.upsert(
        "episodes", pa.Table.from_pylist(list(episodes), schema=TABLES["episodes"].loose_schema), run_id="e"
    )
    for of in {SubscriptionKey(*(row[name] for name in KEY._fields)) for row in episodes}:
        rows = says(letters, key=of)
        lake.upsert(
            "verdicts", pa.Table.from_pylist(rows, schema=TABLES["verdicts"].loose_schema), run_id="v"
        )
    return lake


def build(lake, executor=None):
    return build_counterfactuals(
        executor or InProcessExecutor(), lake, ["prod"], START_MS - DAY_MS, START_MS + DAY_MS, "run"
    )


def answers(lake):
    return {row["topic"][-4:]: row["counterfactual"] for row in lake.read("episodes").to_pylist()}


# -- who asks ---------------------------------------------------------------------------------


def test_only_what_leaves_two_levers_open_asks():
    row = episode()
    assert questions([row], says("TTTTT")) == {}
    assert questions([row], says("hhuCC")) == {}
    (one,) = questions([row], says("TPTS")).values()
    assert (one.at_ms, one.limiters, one.verdict_lever) == (
        AT_MS,
        ("subscription.msg", "topic.msg"),
        "limiter",
    )
    # Both are blamed by one verdict.
    contributing = [{"cause": "slow_consumers", "limiter": None}]
    both = [said | {"contributing": contributing} for said in says("T")]
    assert len(questions([row], both)) == 1


def test_unrelated_verdicts_do_not_count():
    """Those of other times and subscriptions."""
    row = episode(start_ms=START_MS + 10 * MINUTE_MS, peak_ms=AT_MS + 10 * MINUTE_MS)
    early = says("TS")
    others = says("S", key=KEY._replace(subscription="audit"), start_ms=START_MS + 10 * MINUTE_MS)
    mine = says("T", start_ms=START_MS + 10 * MINUTE_MS)
    assert questions([row], early + others + mine) == {}


# -- what is answered -------------------------------------------------------------------------


@pytest.mark.long
def test_answer_equals_a_single_replay(tmp_path):
    lake = lake_with(tmp_path, episode())
    assert build(lake).needed == 1
    found = answers(lake)["ders"]
    window = read_observed(lake, SELECTOR, AT_MS - 1_800_000, AT_MS)
    alone = counterfactuals(window, ("subscription.msg",), history=window)
    assert (found["primary"], found["limiter"], found["agrees"]) == ("limiter", "subscription.msg", True)
    assert [(one["lever"], one["gain_low_entries"], one["gain_high_entries"]) for one in found["tried"]] == [
        (row.lever, row.gain_entries.low, row.gain_entries.high) for row in alone.rows
    ]
    assert found["gain_high_entries"] == alone.row_of("limiter").gain_entries.high > 0
    assert found["error_share"] == alone.error_share
    assert (found["capacity_msg_rate"], found["capacity_age_s"]) == (None, None)
    assert found["capacity_at_least_msg_rate"] == alone.capacity.low_msg_per_s > 400
    assert (found["horizon_s"], found["failed"]) == (1_800, None)


@pytest.mark.long
def test_other_cause_keeps_the_answer(tmp_path):
    lake = lake_with(tmp_path, episode("slow_consumers", None))
    build(lake)
    (row,) = lake.read("episodes").to_pylist()
    assert row["cause"] == "slow_consumers"
    assert (row["counterfactual"]["primary"], row["counterfactual"]["agrees"]) == ("limiter", False)


@pytest.mark.long
def test_episode_without_samples_affects_no_other(tmp_path):
    lake = lake_with(tmp_path, episode(), episode(of=GONE))
    done = build(lake)
    assert (done.needed, done.known, done.failed) == (2, 0, 1)
    found = answers(lake)
    assert "Too few samples" in found["gone"]["failed"]
    assert found["gone"]["primary"] is None
    assert found["ders"]["primary"] == "limiter"
    # What was answered is not replayed again; what failed is. The table is the same.
    version = lake.version("episodes")
    again = build(lake)
    assert (again.needed, again.known, again.failed) == (2, 1, 1)
    assert (answers(lake), lake.version("episodes")) == (found, version)


@pytest.mark.long
def test_settled_episode_loses_its_answer(tmp_path):
    lake = lake_with(tmp_path, episode())
    build(lake)
    assert answers(lake)["ders"] is not None
    settled = says("TTT")
    lake.upsert("verdicts", pa.Table.from_pylist(settled, schema=TABLES["verdicts"].loose_schema), run_id="v")
    assert build(lake).needed == 0
    assert answers(lake)["ders"] is None


@pytest.mark.long
def test_long_replays_are_shortened_or_skipped(tmp_path, monkeypatch):
    lake = lake_with(tmp_path, episode())
    window = read_observed(lake, SELECTOR, AT_MS - 600_000, AT_MS)
    few = lifted.simulated_entries(window, 1, 600)
    monkeypatch.setattr(lifted, "MOST_ENTRIES", few)
    build(lake)
    found = answers(lake)["ders"]
    assert (found["window_s"], found["horizon_s"], found["failed"]) == (600, 600, None)
    other = lake_with(tmp_path / "other", episode())
    monkeypatch.setattr(lifted, "MOST_ENTRIES", 1)
    build(other)
    assert "would take too long" in answers(other)["ders"]["failed"]


@pytest.mark.study
@pytest.mark.spark
def test_spark_answers_equal_in_process(spark, tmp_path):
    """They are kept when episodes are recomputed."""
    lake, here = (lake_with(tmp_path / name, episode(), episode(of=GONE)) for name in ("spark", "here"))
    assert build(lake, SparkPoolExecutor(spark)) == build(here)
    assert answers(lake) == answers(here)


def test_a_day_without_episodes_asks_nothing(tmp_path):
    from throttlescope.ingest.lake import Lake

    assert build(Lake(tmp_path / "empty")).needed == 0
