"""Retention: whole hours go, and what is still needed stays."""

import random
import time

import pytest

from tests.ingest.lake.upkeep.made import BLOCK_MS, FIVE, HOUR, add, limit, rows_of, sample, table_of, verdict
from tests.naive import lake_upkeep as naive
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.lake.lake import ConflictError
from throttlescope.ingest.lake.upkeep import expire as retention
from throttlescope.ingest.lake.upkeep.expire import expirable_tables, expire


def gone_of(lake, before_ms, **options):
    return {one.table: one for one in expire(lake, before_ms, run_id="expire", **options)}


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_rows_of_unfinished_hours_stay(tmp_path, seed):
    rng, lake = random.Random(seed), Lake(tmp_path)  # noqa: S311
    for hour in range(6):
        starts = [HOUR + hour * BLOCK_MS + i * FIVE for i in rng.sample(range(12), 3)]
        add(lake, "verdicts", [verdict(0, start_ms=start) for start in sorted(starts)])
        add(lake, "samples", [sample(block=HOUR + hour * BLOCK_MS)])
    before_ms = HOUR + rng.randint(0, 6 * BLOCK_MS)
    wanted = {
        table: sorted(map(repr, naive.rows_since(lake.read(table).to_pylist(), table, before_ms)))
        for table in ("verdicts", "samples")
    }
    planned = gone_of(lake, before_ms, dry_run=True)
    assert (lake.version("verdicts"), lake.version("samples")) == (5, 5)
    assert gone_of(lake, before_ms) == planned
    assert {table: rows_of(lake, table) for table in wanted} == wanted
    assert lake.version("verdicts") == (6 if "verdicts" in planned else 5)
    assert gone_of(lake, before_ms) == {}


def test_samples_expire_with_their_series(tmp_path):
    """Samples can expire before verdicts."""
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)])
    add(lake, "samples", [sample("a" * 32)], [sample("b" * 32, HOUR + BLOCK_MS)])
    catalogue = [
        {"series_id": letter * 32, "metric_name": "up", "cluster": "c", "labels": [], "shard": 3, "first_ms": HOUR,
         "last_ms": last_ms}
        for letter, last_ms in (("a", HOUR + 15_000), ("b", HOUR + BLOCK_MS + 15_000))
    ]  # fmt: skip
    lake.upsert("series", table_of("series", catalogue), run_id="made")
    gone = gone_of(lake, HOUR + BLOCK_MS, tables=["samples"])
    assert (gone["samples"].rows, gone["series"].series) == (1, 1)
    assert lake.read("series")["series_id"].to_pylist() == ["b" * 32]
    assert lake.read("verdicts").num_rows == 1


def test_newest_limits_before_age_are_kept(tmp_path):
    """The newest snapshot of each cluster before the age."""
    lake = Lake(tmp_path)
    days = [HOUR + day * DAY_MS for day in range(5)]
    rows = [limit(day) for day in days] + [limit(days[0], "d"), limit(days[1], "e"), limit(days[4], "e")]
    lake.upsert("limits", table_of("limits", rows), run_id="made")
    gone_of(lake, days[3], tables=["limits"])
    left = {(row["cluster"], row["observed_ms"]) for row in lake.read("limits").to_pylist()}
    # Day 0 is needed by d, day 1 by e; c would do with day 2.
    assert left == {("c", days[0]), ("d", days[0]), ("c", days[1]), ("e", days[1])} | {
        ("c", day) for day in days[2:]
    } | {("e", days[4])}
    assert gone_of(lake, days[4], tables=["limits"])["limits"].rows == 1


def test_an_episode_that_has_not_ended_stays(tmp_path, monkeypatch):
    lake = Lake(tmp_path)
    contract = TABLES["truth"]
    rows = [truth("over", 0, DAY_MS), truth("long", 0, 9 * DAY_MS)]
    for row in rows:
        lake.commit("truth", [write_data_file(lake.root, "truth", table_of("truth", [row]))], run_id="made")
    # The one small table with an end that can be made by hand; it never expires by itself.
    assert "end_ms" in {column.name for column in contract.columns}
    monkeypatch.setattr(retention, "_NEVER", ())
    gone_of(lake, 3 * DAY_MS, tables=["truth"])
    assert [row["subscription"] for row in lake.read("truth").to_pylist()] == ["long"]


def truth(subscription, start_ms, end_ms):
    return dict(
        cluster="c", namespace="t/n", topic="persistent://t/n/x", partition=-1, subscription=subscription,
        start_ms=start_ms, end_ms=end_ms, side="neither", cause="healthy", limiter=None, family="f", recording="c",
        kept_aside=False,
    )  # fmt: skip


def test_what_has_no_age_is_refused(tmp_path):
    assert {"samples", "signals", "verdicts", "episodes", "ingest_runs", "quality"} <= set(expirable_tables())
    with pytest.raises(InputError, match="Rows of this table have no age; got verdict_latest"):
        expire(Lake(tmp_path), HOUR, run_id="r", tables=["verdict_latest"])


@pytest.mark.parametrize("races", [1, 99])
def test_hour_being_written_is_checked_again(tmp_path, monkeypatch, races):
    lake, commit, lost = Lake(tmp_path), Lake.commit, []
    add(lake, "verdicts", [verdict(0)])

    def meanwhile(self, table, new, old=(), **options):
        if not new and len(lost) < races:
            lost.append(time.time())
            mine = write_data_file(
                lake.root, table, table_of(table, [verdict(0, backlog_entries=float(len(lost)))])
            )
            commit(lake, table, [mine], lake.files(table), run_id="other")
        return commit(self, table, new, old, **options)

    monkeypatch.setattr(Lake, "commit", meanwhile)
    if races == 1:
        assert gone_of(lake, HOUR + DAY_MS)["verdicts"].rows == 1
        assert lake.read("verdicts").num_rows == 0
    else:
        with pytest.raises(ConflictError, match="Old hours of verdicts are being written all the time"):
            gone_of(lake, HOUR + DAY_MS)
