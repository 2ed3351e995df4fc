"""Compaction: the same rows in fewer files, no file over two hours, and a concurrent writer wins."""

import json
import random
from dataclasses import replace

import pytest
from deltalake import DeltaTable

from tests.ingest.lake.upkeep.made import BLOCK_MS, FIVE, HOUR, add, rows_of, sample, verdict
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.ages import span_of
from throttlescope.ingest.lake.upkeep.compact import compact

LATER = 4_000_000_000_000  # everything has settled by then


def compacted(lake, table="verdicts", **options):
    return compact(lake, table, **{"run_id": "compact", "now_ms": LATER, **options})


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_rows_stay_and_places_have_one_file(tmp_path, seed):
    rng, lake = random.Random(seed), Lake(tmp_path)  # noqa: S311
    for hour in range(3):
        for cluster in ("c", "d"):
            for part in range(rng.randint(1, 4)):
                rows = [
                    verdict(
                        0,
                        start_ms=HOUR + hour * BLOCK_MS + i * FIVE,
                        cluster=cluster,
                        subscription=f"s{part}",
                    )
                    for i in rng.sample(range(12), rng.randint(1, 5))
                ]
                add(lake, "verdicts", rows, run_id=f"run-{hour}-{part}")
    before, files = rows_of(lake, "verdicts"), lake.files("verdicts")
    version = lake.version("verdicts")
    done = compacted(lake)
    assert rows_of(lake, "verdicts") == before
    assert rows_of(lake, "verdicts", version=version) == before
    after = lake.files("verdicts")
    assert (
        len(after)
        == 6
        == len({(file.partition["cluster"], file.minimum["window_start_ms"] // BLOCK_MS) for file in after})
    )
    assert all(
        end - start == BLOCK_MS for start, end in (span_of(TABLES["verdicts"], file) for file in after)
    )
    assert done.files_before - done.files_after == len(files) - 6
    assert done.rows == sum(
        file.rows for file in after if file.relative_path not in {f.relative_path for f in files}
    )
    again = compacted(lake)
    assert (again.files_before, lake.version("verdicts")) == (0, version + (1 if done.files_before else 0))


def test_compaction_is_no_data_change(tmp_path):
    """Delta's log says so, and rows keep the time at which they were written."""
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)], run_id="r1")
    add(lake, "verdicts", [verdict(1)], run_id="r2")
    came = max(file.committed_ms for file in lake.files("verdicts"))
    compacted(lake)
    (file,) = lake.files("verdicts")
    assert file.committed_ms == came
    log = (tmp_path / "verdicts" / "_delta_log" / f"{2:020d}.json").read_text().splitlines()
    actions = [
        action for line in log for kind, action in json.loads(line).items() if kind in ("add", "remove")
    ]
    assert [action["dataChange"] for action in actions] == [False] * 3
    assert DeltaTable(str(tmp_path / "verdicts")).history(1)[0]["run_id"] == "compact"


def test_sample_blocks_are_merged_separately(tmp_path):
    lake = Lake(tmp_path)
    series = iter(f"{number:032x}" for number in range(9))
    files = [
        [sample(next(series), block, shard=shard)] for block in (HOUR, HOUR + BLOCK_MS) for shard in (3, 3, 4)
    ]
    add(lake, "samples", *files)
    before = rows_of(lake, "samples")
    compacted(lake, "samples")
    assert rows_of(lake, "samples") == before
    assert sorted((f.minimum["block_start_ms"], f.maximum["block_start_ms"], f.minimum["shard"], f.maximum["shard"], f.rows)
                  for f in lake.files("samples")) == [
        (HOUR, HOUR, 3, 3, 2), (HOUR, HOUR, 4, 4, 1),
        (HOUR + BLOCK_MS, HOUR + BLOCK_MS, 3, 3, 2), (HOUR + BLOCK_MS, HOUR + BLOCK_MS, 4, 4, 1),
    ]  # fmt: skip


def test_file_over_two_hours_is_unchanged(tmp_path):
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0), verdict(12)])
    add(lake, "verdicts", [verdict(1)])
    assert compacted(lake).files_before == 0


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        ({"now_ms": HOUR + BLOCK_MS + 1}, 0),  # the files have only just come, by the machine's clock
        ({"start_ms": HOUR + 1}, 0),
        ({"end_ms": HOUR + BLOCK_MS - 1}, 0),
        ({"start_ms": HOUR, "end_ms": HOUR + BLOCK_MS}, 2),
        ({"dry_run": True}, 2),
    ],
)
def test_only_settled_hours_are_compacted(tmp_path, options, taken):
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)], [verdict(1)])
    assert compacted(lake, **options).files_before == taken
    assert len(lake.files("verdicts")) == (1 if taken and "dry_run" not in options else 2)


@pytest.mark.long
@pytest.mark.parametrize("always", [False, True])
def test_concurrent_writer_wins_without_loss(tmp_path, monkeypatch, always):
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)], [verdict(1)])
    add(lake, "verdicts", [verdict(12)], [verdict(13)])
    commit, written = Lake.commit, []

    def meanwhile(self, table, new, old, **options):
        if options.get("moved_ms") is not None and (always or not written):
            # Another run judges the first hour again before the compaction commits.
            first = [file for file in lake.files(table) if file.minimum["window_start_ms"] < HOUR + BLOCK_MS]
            written.append(len(written))
            rows = [verdict(0, cause="healthy", limiter=None, backlog_entries=float(len(written)))]
            mine = [add_file(lake, rows), add_file(lake, [verdict(1, backlog_entries=float(len(written)))])]
            commit(lake, table, mine, first, run_id="other")
        return commit(self, table, new, old, **options)

    monkeypatch.setattr(Lake, "commit", meanwhile)
    done = compacted(lake)
    rows = lake.read("verdicts").to_pylist()
    assert sorted(row["window_start_ms"] for row in rows) == [
        HOUR,
        HOUR + FIVE,
        HOUR + BLOCK_MS,
        HOUR + BLOCK_MS + FIVE,
    ]
    assert {row["backlog_entries"] for row in rows if row["window_start_ms"] < HOUR + BLOCK_MS} == {
        float(len(written))
    }
    assert written
    assert (done.places_left > 0) == always


def add_file(lake, rows):
    from tests.ingest.lake.upkeep.made import table_of
    from throttlescope.ingest.lake import write_data_file

    return write_data_file(lake.root, "verdicts", table_of("verdicts", rows))


@pytest.mark.long
def test_files_without_new_column_are_unchanged(tmp_path, monkeypatch):
    lake, known = Lake(tmp_path), TABLES["verdicts"]
    with monkeypatch.context() as before:
        columns = tuple(column for column in known.columns if column.name != "variant")
        before.setitem(TABLES, "verdicts", replace(known, columns=columns))
        rows = [
            {name: value for name, value in verdict(index).items() if name != "variant"} for index in range(2)
        ]
        add(lake, "verdicts", *([row] for row in rows))
    add(lake, "verdicts", [verdict(2, variant="expired")], [verdict(3)])
    add(lake, "verdicts", *([verdict(index)] for index in (12, 13)))
    compacted(lake)
    # DuckDB looks for missing columns where the oldest file lacks one: that must stay true.
    assert len(lake.files("verdicts")) == 5
    assert lake.duckdb().sql("SELECT count(*), count(variant) FROM verdicts").fetchall() == [(6, 1)]
