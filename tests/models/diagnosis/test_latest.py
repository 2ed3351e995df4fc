"""What holds every subscription now: equal to a plain walk over its verdicts, replaced whole, and the same however it is cut."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tests.naive import latest as naive
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.hour_files import replace_hours
from throttlescope.models.diagnosis.latest import build_latest, latest_of

END_MS = 1_795_132_800_000
CAUSES = (
    ("healthy", "neither", None),
    ("throttled", "throttle", "subscription.msg"),
    ("throttled", "throttle", "topic.msg"),
    ("slow_consumers", "consumer_capacity", None),
    ("unknown", "unknown", None),
)
COLUMNS = [column.name for column in TABLES["verdict_latest"].columns]


def verdict(cluster, number, start_ms, end_ms, said, *, backlog=None, confidence=0.9, naive_side="neither"):
    cause, side, limiter = said
    row = dict.fromkeys(column.name for column in TABLES["verdicts"].columns)
    return row | {
        "cluster": cluster,
        "namespace": "acme/shop",
        "topic": f"persistent://acme/shop/it's-{number // 2:03d}",
        "partition": number % 3 - 1,
        "subscription": f"service-{number}",
        "window_start_ms": start_ms,
        "window_end_ms": end_ms,
        "side": side,
        "cause": cause,
        "limiter": limiter,
        "confidence": confidence,
        "evidence": [],
        "missing_evidence": [],
        "naive_side": naive_side,
        "rules_version": "test",
        "backlog_entries": backlog,
        "backlog_growth_entries": None if backlog is None else backlog / 7,
        "date": date_of(start_ms),
    }


def random_verdicts(seed: int) -> list[dict]:
    """Stretches of causes with gaps; windows that overlap, that touch, of two lengths, and some with one end."""
    rng, rows = random.Random(seed), []  # noqa: S311
    for cluster in ("east", "west"):
        cluster_end_ms = END_MS - rng.randrange(3) * 7 * MINUTE_MS
        for number in range(9):
            every = rng.choice((1, 5, 5, 10)) * MINUTE_MS
            length = rng.choice((5, 5, 10)) * MINUTE_MS
            start_ms = cluster_end_ms - rng.choice((1, 5, 7, 23, 26)) * BLOCK_MS
            end_ms = cluster_end_ms - (0 if number == 0 else rng.choice((0, 0, 5, 90, 1600)) * MINUTE_MS)
            said = rng.choice(CAUSES)
            for at_ms in range(start_ms, end_ms - length + 1, every):
                if rng.random() < 0.04:
                    said = rng.choice(CAUSES)
                if rng.random() < 0.02:
                    continue
                facts = {
                    "backlog": rng.choice((None, 0.0, float(rng.randrange(90_000)))),
                    "confidence": rng.choice((0.5, 0.7, 0.91)),
                    "naive_side": rng.choice(("neither", "throttle", "consumer_capacity")),
                }
                rows.append(verdict(cluster, number, at_ms, at_ms + length, said, **facts))
                if rng.random() < 0.01:
                    other = rng.choice(CAUSES)
                    rows.append(
                        verdict(cluster, number, at_ms - MINUTE_MS, at_ms + length, other, backlog=3.0)
                    )
    return rows


def write(lake: Lake, rows: list[dict]) -> None:
    table = pa.Table.from_pylist(rows, schema=TABLES["verdicts"].loose_schema)
    starts = [row["window_start_ms"] for row in rows]
    clusters = {row["cluster"] for row in rows}
    bounds = {"start_ms": min(starts), "end_ms": max(starts) + 1}
    replace_hours(
        lake, table, "verdicts", run_id="t", time_column="window_start_ms", clusters=clusters, **bounds
    )


def stored(lake: Lake) -> list[dict]:
    by = [(name, "ascending") for name in TABLES["verdict_latest"].key]
    return lake.read("verdict_latest", columns=COLUMNS).sort_by(by).to_pylist()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_latest_equals_walk_over_verdicts(tmp_path, seed):
    rows, lake = random_verdicts(seed), Lake(tmp_path)
    write(lake, rows)
    assert build_latest(lake, ["east", "west"], "run") == len(stored(lake))
    expected = naive.latest(rows)
    assert len(expected) > 10
    assert len({row["cause"] for row in expected}) > 2
    assert any(row["since_at_least"] for row in expected)
    assert not all(row["since_at_least"] for row in expected)
    assert stored(lake) == expected


@pytest.mark.long
def test_rows_do_not_depend_on_split(tmp_path):
    lake = Lake(tmp_path)
    write(lake, random_verdicts(7))
    files = lake.files("verdicts", partition={"cluster": ["east"]})
    whole = latest_of(files)
    assert whole.num_rows > 5
    for rows_at_once in (1, 100, 700):
        assert latest_of(files, rows_at_once=rows_at_once).equals(whole)


@pytest.mark.long
def test_only_a_clusters_own_rows_are_replaced(tmp_path):
    lake = Lake(tmp_path)
    write(lake, [verdict(c, 0, END_MS - 300_000, END_MS, CAUSES[0]) for c in ("east", "west")])
    build_latest(lake, ["east", "west"], "one")
    # A day later one of the two subscriptions of east is new and the old one has not been seen.
    later_ms = END_MS + DAY_MS
    write(lake, [verdict("east", 2, later_ms - 300_000, later_ms, CAUSES[1])])
    version = lake.version("verdict_latest")
    build_latest(lake, ["east"], "two")
    assert [(row["cluster"], row["subscription"], row["cause"]) for row in stored(lake)] == [
        ("east", "service-2", "throttled"),
        ("west", "service-0", "healthy"),
    ]
    assert lake.version("verdict_latest") == version + 1
    # Nothing changed since: nothing is committed.
    build_latest(lake, ["east", "west"], "three")
    assert lake.version("verdict_latest") == version + 1


def test_without_verdicts_there_is_no_table(tmp_path):
    lake = Lake(tmp_path)
    assert build_latest(lake, ["east"], "run") == 0
    assert lake.version("verdict_latest") is None
    assert latest_of([]).num_rows == 0
