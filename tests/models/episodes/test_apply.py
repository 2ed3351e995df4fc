"""Episodes of a lake: on Spark as in-process, run after run, and what is stored."""

from __future__ import annotations

import pytest

from tests.models.episodes.scenes import DAY, KEY, fill, minutes, verdicts
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.spark.task_executor import InProcessExecutor, SparkPoolExecutor
from throttlescope.models.episodes import apply
from throttlescope.models.episodes.apply import build_episodes, write_incidents
from throttlescope.models.episodes.find import find_episodes
from throttlescope.models.episodes.incidents import incidents_of

UP = [50 * i for i in range(1, 61)]
BUSY = [*[5] * 20, *UP, 1500, 5, 5, 5, 5, 5, *[5] * 34]
AUDIT = KEY._replace(subscription="audit")
QUIET = KEY._replace(subscription="quiet", topic="persistent://acme/shop/clicks")


def two_hours(letters="hhhhPPPPPPPPPPPPPhhhhhhh"):
    rows = minutes(BUSY) + minutes(BUSY, key=AUDIT) + minutes([5] * 120, key=QUIET)
    said = verdicts(letters) + verdicts(letters, key=AUDIT) + verdicts("h" * 24, key=QUIET)
    return rows, said


def lake_of(folder, rows, said):
    lake = Lake(folder)
    fill(lake, "signals", rows, "minute_ms")
    fill(lake, "verdicts", said, "window_start_ms")
    return lake


def stored(lake, table="episodes"):
    rows = lake.read(table).to_pylist()
    return sorted(rows, key=lambda row: (row.get("subscription", ""), row["start_ms"]))


@pytest.mark.long
def test_episodes_on_spark_are_those_in_process(spark, tmp_path):
    rows, said = two_hours()
    lake = lake_of(tmp_path / "lake", rows, said)
    assert build_episodes(SparkPoolExecutor(spark), lake, ["prod"], DAY, DAY + 2 * BLOCK_MS, "one") == 2
    found = stored(lake)
    assert [row["subscription"] for row in found] == ["audit", "billing"]
    assert found == sorted(find_episodes(lake), key=lambda row: row["subscription"])
    (incident,) = stored(lake, "incidents")
    assert (incident["kind"], len(incident["members"])) == ("topic_limiter", 2)
    # A second time changes nothing, not even the version.
    before = (lake.version("episodes"), lake.version("incidents"))
    build_episodes(SparkPoolExecutor(spark), lake, ["prod"], DAY, DAY + 2 * BLOCK_MS, "again")
    assert stored(lake) == found
    assert (lake.version("episodes"), lake.version("incidents")) == before


@pytest.mark.long
def test_next_run_continues_open_episode(spark, tmp_path):
    rows, said = two_hours()
    first = DAY + BLOCK_MS
    lake = lake_of(
        tmp_path / "lake",
        [row for row in rows if row["minute_ms"] < first],
        [row for row in said if row["window_end_ms"] <= first],
    )
    build_episodes(SparkPoolExecutor(spark), lake, ["prod"], DAY, first, "one")
    (audit, _) = stored(lake)
    assert (audit["state"], audit["end_ms"]) == ("open", None)
    fill(lake, "signals", [row for row in rows if row["minute_ms"] >= first], "minute_ms")
    fill(lake, "verdicts", [row for row in said if row["window_end_ms"] > first], "window_start_ms")
    build_episodes(SparkPoolExecutor(spark), lake, ["prod"], first, first + BLOCK_MS, "two")
    (now, _) = stored(lake)
    assert (now["episode_id"], now["state"]) == (audit["episode_id"], "drained")
    assert stored(lake) == sorted(find_episodes(lake), key=lambda row: row["subscription"])
    # A run over the first hour alone loses nothing of the second.
    build_episodes(SparkPoolExecutor(spark), lake, ["prod"], DAY, first, "one again")
    assert [row["state"] for row in stored(lake)] == ["drained", "drained"]


@pytest.mark.study
@pytest.mark.long
def test_long_episode_continues_from_midnight(spark, tmp_path):
    entries = [5] * (20 * 60) + [100 + i for i in range(1, 32 * 60)] + [5] * 121
    said = verdicts("h" * 240 + "N" * 384 + "h" * 24)
    rows = minutes(entries) + minutes([5] * len(entries), key=QUIET)
    lake = Lake(tmp_path / "lake")
    for low, high in ((0, 24), (24, 50), (50, 54)):
        start_ms, end_ms = DAY + low * BLOCK_MS, DAY + high * BLOCK_MS
        fill(lake, "signals", [row for row in rows if start_ms <= row["minute_ms"] < end_ms], "minute_ms")
        new = [row for row in said if start_ms <= row["window_start_ms"] < end_ms]
        fill(lake, "verdicts", new, "window_start_ms")
        build_episodes(SparkPoolExecutor(spark), lake, ["prod"], start_ms, end_ms, f"to {high}")
    (one,) = stored(lake)
    assert (one["state"], (one["end_ms"] - one["start_ms"]) // MINUTE_MS) == ("drained", 32 * 60 - 1)
    (once,) = find_episodes(lake)
    assert one == once


@pytest.mark.long
def test_range_narrows_in_process_reads(tmp_path):
    rows, said = two_hours()
    lake = lake_of(tmp_path / "lake", rows, said)
    (one,) = find_episodes(lake, topic=KEY.topic, partition=0, subscription="billing")
    assert (one["start_ms"] - DAY) // MINUTE_MS == 22
    assert find_episodes(lake, start_ms=DAY + 90 * MINUTE_MS) == []
    (early, _) = find_episodes(lake, end_ms=DAY + 50 * MINUTE_MS)
    assert early["state"] == "open"


def test_a_lake_without_signals_says_so(tmp_path):
    with pytest.raises(InputError, match="no signals"):
        find_episodes(Lake(tmp_path / "nothing"))


@pytest.mark.long
@pytest.mark.parametrize("when", ["behind the look", "before the commit"])
def test_incidents_include_concurrently_written_episodes(tmp_path, monkeypatch, when):
    rows, said = two_hours()
    lake, letters = lake_of(tmp_path / "lake", rows, said), "hhhhPPPPPPPPPPPPPhhhhhhh"
    late, came = KEY._replace(subscription="late"), []

    def other_run():
        """Once: one more subscription, its episode, and the incident with all three."""
        if not came:
            came.append(when)
            fill(lake, "signals", minutes(BUSY, key=late), "minute_ms")
            fill(lake, "verdicts", verdicts(letters, key=late), "window_start_ms")
            build_episodes(InProcessExecutor(), Lake(lake.root), ["prod"], DAY, DAY + 2 * BLOCK_MS, "other")
            (incident,) = stored(lake, "incidents")
            assert len(incident["members"]) == 3

    def looked(episodes):
        found = incidents_of(episodes)
        other_run()
        return found

    def committed(self, table, *arguments, commit=Lake.commit, **options):
        if table == "incidents":
            other_run()
        return commit(self, table, *arguments, **options)

    if when == "behind the look":
        monkeypatch.setattr(apply, "incidents_of", looked)
    else:
        monkeypatch.setattr(Lake, "commit", committed)
    build_episodes(InProcessExecutor(), lake, ["prod"], DAY, DAY + 2 * BLOCK_MS, "one")
    assert came
    (incident,) = stored(lake, "incidents")
    assert [member["subscription"] for member in incident["members"]] == ["audit", "billing", "late"]


def test_lake_without_episodes_has_no_incidents(tmp_path):
    lake = Lake(tmp_path / "lake")
    assert write_incidents(lake, "prod", "run") == 0
    assert lake.version("incidents") is None
