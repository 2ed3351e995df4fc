"""Late samples, gaps, kills and chunks on a real Prometheus: in the end the lake is the one that is made anew in one go."""

from __future__ import annotations

import pytest

from tests.app import incremental as scene
from tests.app.incremental import SCRAPES, differences, hour, put, request, run
from tests.lab.prometheus import running_prometheus
from throttlescope.app.backfill.chunks import chunks_of
from throttlescope.app.backfill.done import left_of
from throttlescope.app.backfill.run import run_chunks
from throttlescope.app.pipeline_stages import Stages
from throttlescope.ingest.gaps import book
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.times import BLOCK_MS

pytestmark = [pytest.mark.spark, pytest.mark.prometheus, pytest.mark.long]

HOURS = 4
#: Ten minutes in the middle of the second hour that come late.
LATE = range(SCRAPES + SCRAPES // 2, SCRAPES + SCRAPES // 2 + 40)


@pytest.fixture(scope="module")
def server():
    with running_prometheus() as found:
        put(found.url, 0, HOURS, skip=LATE)
        yield found


@pytest.fixture(scope="module")
def mended(_spark_session, server, tmp_path_factory):
    """A lake to which samples came late, what each of its runs said, and the lake made anew."""
    lake, anew = tmp_path_factory.mktemp("mended") / "lake", tmp_path_factory.mktemp("anew") / "lake"
    said = {"first": run(_spark_session, lake, server.url, 0, HOURS)}
    said["repeated"] = run(_spark_session, lake, server.url, 0, HOURS)
    said["gaps before"] = Lake(lake).read("gaps").to_pylist()
    put(server.url, 0, HOURS, only=LATE)
    said["ingested"] = run(_spark_session, lake, server.url, 1, 2, command="ingest")
    with pytest.MonkeyPatch.context() as patch:
        # Killed between signals and verdicts.
        patch.setattr(Stages, "build_verdicts", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(_spark_session, lake, None, HOURS - 1, HOURS, command="diagnose")
    said["mended"] = run(_spark_session, lake, None, HOURS - 1, HOURS, command="diagnose")
    said["anew"] = run(_spark_session, anew, server.url, 0, HOURS)
    return lake, anew, said


def test_what_has_not_changed_is_not_computed_again(mended):
    _, _, said = mended
    every = {"signals": HOURS, "verdicts": HOURS, "forecasts": HOURS, "results": HOURS}
    assert said["first"].hours_computed == every
    assert said["repeated"].hours_computed == dict.fromkeys(every, 0)
    assert said["repeated"].verdicts == said["first"].verdicts


def test_late_samples_compute_what_they_reach_even_after_a_kill(mended):
    lake, anew, said = mended
    assert said["ingested"].sources[0].samples_written > 0
    # The signals were there when it was killed: of them nothing was left to do.
    assert said["mended"].hours_computed["signals"] == 0
    assert said["mended"].hours_computed["verdicts"] > 0
    assert differences(lake, anew) == {}
    assert Lake(anew).read("verdicts").num_rows > 0
    # The hour that came late, and the one that looks back to it.
    rows = [row for row in Lake(lake).read("computed").to_pylist() if row["stage"] == "signals"]
    last = max(row["computed_ms"] for row in rows)
    assert [row["block_start_ms"] for row in sorted(rows, key=lambda row: row["block_start_ms"]) if row["computed_ms"] == last] == [
        hour(1), hour(2),
    ]  # fmt: skip


def test_the_hole_was_a_gap_and_is_closed(mended):
    lake, _, said = mended
    (before,) = said["gaps before"]
    assert (before["state"], before["metric_name"], before["reason"]) == ("open", "*", "no_samples")
    assert abs(before["end_ms"] - before["start_ms"] - 600_000) <= 15_000
    (after,) = Lake(lake).read("gaps").to_pylist()
    assert after["state"] == "closed"
    assert said["ingested"].sources[0].details["gaps_closed"] == 1
    quality = [row for row in Lake(lake).read("quality").to_pylist() if row["check"] == "source_has_no_gap"]
    assert quality


def test_a_backfill_that_was_killed_goes_on_and_gives_the_same_lake(spark, server, mended, tmp_path):
    _, anew, _ = mended
    asked = request(tmp_path / "lake", server.url, 0, HOURS, command="backfill")
    chunks = chunks_of(asked.start_ms, asked.end_ms, BLOCK_MS)
    lake = Lake(tmp_path / "lake")
    assert left_of(lake, asked, chunks) == chunks

    def stop():
        if len(left_of(lake, asked, chunks)) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_chunks(asked, chunks, quiet=True, session=spark, after=stop)
    left = left_of(lake, asked, chunks)
    assert left == chunks[2:]
    found = run_chunks(asked, left, before=2, quiet=True, session=spark)
    assert (found.chunks, found.chunks_before, found.idle) == (2, 2, 0)
    assert left_of(lake, asked, chunks) == []
    assert differences(lake.root, anew) == {}


def test_an_hour_that_the_source_gets_later_is_tried_again_and_computed(spark, tmp_path, monkeypatch):
    # At once, not half an hour later.
    monkeypatch.setattr(book, "FIRST_RETRY_MS", 0)
    lake = tmp_path / "lake"
    with running_prometheus() as server:
        put(server.url, 0, 1)
        put(server.url, 2, 4)
        run(spark, lake, server.url, 0, 1)
        missed = run(spark, lake, server.url, 1, 2)
        assert (missed.idle, missed.status) == (True, "done")
        (gap,) = Lake(lake).read("gaps").to_pylist()
        assert (gap["state"], gap["start_ms"], gap["end_ms"]) == ("open", hour(1), hour(2))
        run(spark, lake, server.url, 2, 3)
        put(server.url, 1, 2)
        mended = run(spark, lake, server.url, 3, 4)
        assert {row["state"] for row in Lake(lake).read("gaps").to_pylist()} == {"closed"}
        # The hour itself, the one behind it, and the one that was asked for.
        assert mended.hours_computed["signals"] == 3
        run(spark, tmp_path / "anew", server.url, 0, 4)
    assert differences(lake, tmp_path / "anew") == {}


def test_the_scene_has_something_to_compare(mended):
    _, anew, _ = mended
    empty = [table for table in scene.DATA if not scene.rows_of(anew, table)]
    assert set(empty) <= {"limits", "incidents"}
