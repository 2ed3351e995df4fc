"""Late samples, gaps, kills and chunks on a real Prometheus: in the end the lake equals one that is made in one run."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.app import incremental as scene
from tests.app.commands import throttlescope
from tests.app.incremental import SCRAPES, differences, hour, put, request, run
from tests.ingest.lake.small_disk import filled, small_disk
from tests.ingest.proxy import Reply, proxy
from tests.lab.prometheus import running_prometheus
from throttlescope.app.cli.library_errors import wrapped_error
from throttlescope.app.pipeline.backfill import catch_up
from throttlescope.app.pipeline.backfill.chunks import chunks_of
from throttlescope.app.pipeline.backfill.finished_chunks import left_of
from throttlescope.app.pipeline.backfill.run_chunks import run_chunks
from throttlescope.app.pipeline.stages import Stages
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.gaps import gap_table
from throttlescope.ingest.lake import ConflictError, Lake
from throttlescope.ingest.lake.storage import LocalStorage
from throttlescope.ingest.lake.upkeep.check import check
from throttlescope.ingest.lake.write_errors import FullDiskError
from throttlescope.ingest.pull.staging import Staging
from throttlescope.ingest.pull.watermarks import OVERLAP_MS
from throttlescope.models.messages.units import minute_text

pytestmark = [pytest.mark.spark, pytest.mark.prometheus, pytest.mark.study]

HOURS = 4
#: Ten minutes in the middle of the second hour that come late.
LATE = range(SCRAPES + SCRAPES // 2, SCRAPES + SCRAPES // 2 + 40)


VERDICTS_AGAIN, FORECASTS_AGAIN, RESULTS_AGAIN = (0, 1, 2, 3), (1, 2, 3), (1, 2)


def computed_by(lake, rows_before=()) -> dict[str, set[int]]:
    """Hours of each stage that were written down since, as those that are computed or come out the same are."""
    found: dict[str, set[int]] = {}
    known = {(row["stage"], row["block_start_ms"], row["run_id"]) for row in rows_before}
    for row in Lake(lake).read("computed").to_pylist():
        if (row["stage"], row["block_start_ms"], row["run_id"]) not in known:
            found.setdefault(row["stage"], set()).add(row["block_start_ms"])
    return found


@pytest.fixture(scope="module")
def server():
    with running_prometheus() as found:
        put(found.url, 0, HOURS, skip=LATE)
        yield found


@pytest.fixture(scope="module")
def repaired(server, tmp_path_factory):
    """A lake to which samples came late, the result of each of its runs, and a lake made in one run; all of them in this process."""
    lake, fresh = tmp_path_factory.mktemp("mended") / "lake", tmp_path_factory.mktemp("anew") / "lake"
    results = {"first": run(None, lake, server.url, 0, HOURS)}
    results["repeated"] = run(None, lake, server.url, 0, HOURS)
    results["gaps before"] = Lake(lake).read("gaps").to_pylist()
    put(server.url, 0, HOURS, only=LATE)
    results["ingested"] = run(None, lake, server.url, 1, 2, command="ingest")
    books = Lake(lake).read("computed").to_pylist()
    with pytest.MonkeyPatch.context() as patch:
        # Killed between signals and verdicts.
        patch.setattr(Stages, "build_verdicts", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(None, lake, None, HOURS - 1, HOURS, command="diagnose")
    results["computed when killed"] = computed_by(lake, books)
    books = Lake(lake).read("computed").to_pylist()
    results["mended"] = run(None, lake, None, HOURS - 1, HOURS, command="diagnose")
    results["computed when mended"] = computed_by(lake, books)
    results["anew"] = run(None, fresh, server.url, 0, HOURS)
    return lake, fresh, results


def test_unchanged_hours_are_not_recomputed(repaired):
    _, _, results = repaired
    every = {"signals": HOURS, "verdicts": HOURS, "forecasts": HOURS, "results": HOURS}
    assert results["first"].hours_computed == every
    assert results["repeated"].hours_computed == dict.fromkeys(every, 0)
    assert results["repeated"].verdicts == results["first"].verdicts


def test_late_samples_are_computed_after_a_kill(repaired):
    lake, fresh, results = repaired
    assert results["ingested"].sources[0].samples_written > 0
    # The signals were there when it was killed: of them nothing was left to do.
    assert results["mended"].hours_computed["signals"] == 0
    assert differences(lake, fresh) == {}
    assert Lake(fresh).read("verdicts").num_rows > 0


def test_late_samples_recompute_only_affected_hours(repaired):
    _, _, results = repaired
    # The hour that came late, and the one that looks back to it, before the kill; nothing of what follows.
    assert results["computed when killed"] == {"signals": {hour(1), hour(2)}}
    # Verdicts and forecasts look back to signals for a day, and the last window of the hour before reaches into them; results do neither.
    assert results["computed when mended"] == {
        "verdicts": {hour(n) for n in VERDICTS_AGAIN},
        "forecasts": {hour(n) for n in FORECASTS_AGAIN},
        "results": {hour(n) for n in RESULTS_AGAIN},
    }
    assert results["mended"].hours_computed == {
        "signals": 0,
        "verdicts": len(VERDICTS_AGAIN),
        "forecasts": len(FORECASTS_AGAIN),
        # The signals of the second of them came out the same, and only that is written down.
        "results": 1,
    }


def test_gap_closes_when_samples_arrive(repaired):
    lake, _, results = repaired
    (before,) = results["gaps before"]
    assert (before["state"], before["metric_name"], before["reason"]) == ("open", "*", "no_samples")
    assert abs(before["end_ms"] - before["start_ms"] - 600_000) <= 15_000
    (after,) = Lake(lake).read("gaps").to_pylist()
    assert after["state"] == "closed"
    assert results["ingested"].sources[0].details["gaps_closed"] == 1
    quality = [row for row in Lake(lake).read("quality").to_pylist() if row["check"] == "source_has_no_gap"]
    assert quality


def test_killed_backfill_with_conflicts_gives_same_lake(spark, server, repaired, tmp_path, monkeypatch):
    _, fresh, _ = repaired
    requested = request(tmp_path / "lake", server.url, 0, HOURS, command="backfill")
    chunks = chunks_of(requested.start_ms, requested.end_ms, BLOCK_MS)
    lake = Lake(tmp_path / "lake")
    assert left_of(lake, requested, chunks) == chunks

    def stop():
        if len(left_of(lake, requested, chunks)) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_chunks(requested, chunks, session=spark, after=stop)
    left = left_of(lake, requested, chunks)
    assert left == chunks[2:]
    conflicting = conflict_once(monkeypatch, "signals", "verdicts", "forecasts", "anomalies")
    found = run_chunks(requested, left, before=2, session=spark)
    assert conflicting == []
    # Verdicts of an hour are computed again when the next one comes: its last window reaches into that.
    assert found.hours_computed == {"signals": 2, "verdicts": 4, "forecasts": 2}
    assert (found.chunks, found.chunks_before, found.idle) == (2, 2, 0)
    assert left_of(lake, requested, chunks) == []
    assert differences(lake.root, fresh) == {}


def test_backfill_killed_before_last_step_resumes(spark, server, repaired, tmp_path):
    """All chunks are in the lake, and nobody has looked at days and weeks yet."""
    _, fresh, _ = repaired
    requested = request(tmp_path / "lake", server.url, 0, HOURS, command="backfill")
    chunks = chunks_of(requested.start_ms, requested.end_ms, HOURS * BLOCK_MS)
    lake = Lake(tmp_path / "lake")

    def stop():
        if not left_of(lake, requested, chunks):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_chunks(requested, chunks, session=spark, after=stop)
    assert set(differences(lake.root, fresh)) & {"episodes", "anomalies"}
    run_chunks(requested, [], before=len(chunks), session=spark)
    assert differences(lake.root, fresh) == {}


def conflict_once(monkeypatch, *tables: str) -> list[str]:
    """Once per table another run seems to have written the rows that are about to be committed; those of which it did not happen yet."""
    commit, left = Lake.commit, list(tables)

    def conflicting(self, table, *arguments, **options):
        if table in left:
            left.remove(table)
            raise ConflictError(
                f"Another run replaced blocks of {table} meanwhile", fix="run the command again"
            )
        return commit(self, table, *arguments, **options)

    monkeypatch.setattr(Lake, "commit", conflicting)
    return left


def test_catch_up_reads_oldest_hours_first(spark, server, repaired, tmp_path, monkeypatch):
    _, fresh, _ = repaired
    lake = tmp_path / "lake"
    run(spark, lake, server.url, 0, 1)
    # Chunks of an hour, or all that was missed here would be one.
    monkeypatch.setattr(catch_up, "chunks_of", partial(chunks_of, chunk_ms=BLOCK_MS))
    monkeypatch.setattr(catch_up, "CHUNK_MS", BLOCK_MS, raising=False)
    requested, chunks = catch_up.chunks_since_watermark(
        request(lake, server.url, 0, HOURS, since_watermark=True)
    )
    # From a quarter of an hour before the watermark, by whole hours; nothing is left out and nothing comes twice.
    assert [(chunk.start_ms, chunk.end_ms) for chunk in chunks] == [
        (hour(n), hour(n + 1)) for n in range(HOURS)
    ]
    found = run_chunks(requested, chunks, session=spark)
    assert (found.chunks, found.idle) == (HOURS, 0)
    # What was read before was there, and none of it was computed again.
    again = HOURS - 1
    assert found.hours_computed == {"signals": again, "verdicts": 2 * again, "forecasts": again}
    runs = [row for row in Lake(lake).read("ingest_runs").to_pylist() if row["command"] == "run"]
    runs = sorted(runs, key=lambda row: row["started_ms"])[1:]
    assert len(runs) == HOURS
    assert [row["start_ms"] for row in runs] == [chunk.start_ms for chunk in chunks]
    assert differences(lake, fresh) == {}


def test_partial_read_is_diagnosed_next_hour(spark, server, repaired, tmp_path, monkeypatch):
    """The two hourly commands of a schedule, whose read of three missed hours is refused at the last of them."""
    _, fresh, _ = repaired
    lake = Lake(tmp_path / "lake")
    monkeypatch.setattr(catch_up, "chunks_of", partial(chunks_of, chunk_ms=BLOCK_MS))
    monkeypatch.setattr(catch_up, "CHUNK_MS", BLOCK_MS)
    refuses = [True]

    def refused(path: str, reply: Reply) -> Reply | None:
        done = [row for row in lake.read("ingest_runs").to_pylist() if row["status"] == "done"]
        # The first hour, that hour once more for its overlap, and the second one are there.
        return Reply(403, {}, b"") if refuses[0] and path.endswith("/read") and len(done) == 3 else None

    def diagnosed():
        done = throttlescope(
            "diagnose", "--missed", "--start", hour(HOURS - 1) / 1000, "--end", hour(HOURS) / 1000, "--lake", lake.root,
            "--format", "json", "--quiet",
        )  # fmt: skip
        assert done.code == 0, done.err
        return json.loads(done.out)

    with proxy(server.url, refused) as between:
        run(spark, lake.root, between.url, 0, 1, command="ingest")

        def ingested() -> int:
            requested = request(lake.root, between.url, 0, HOURS, command="ingest", since_watermark=True)
            requested, chunks = catch_up.chunks_since_watermark(requested)
            run_chunks(requested, chunks, session=spark)
            return requested.start_ms

        with pytest.raises(SourceError, match="403"):
            ingested()
        assert {file.minimum["block_start_ms"] for file in lake.files("samples")} == {hour(0), hour(1)}
        refuses[0] = False
        # The next try begins behind what is there, and says no more than that.
        assert ingested() == hour(2) - OVERLAP_MS
    also = diagnosed()["missed"]
    assert [(one["start_ms"], one["end_ms"]) for one in also["results"]] == [(hour(0), hour(3))]
    assert differences(lake.root, fresh) == {}
    again = diagnosed()
    assert again["missed"] == {"results": [], "hours_left": 0}
    assert set(again["hours_computed"].values()) == {0}


def test_run_computes_hours_left_by_interruption(spark, server, repaired, tmp_path, monkeypatch):
    _, fresh, _ = repaired
    lake = tmp_path / "lake"
    with monkeypatch.context() as patch:
        patch.setattr(Stages, "build_signals", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(spark, lake, server.url, 0, HOURS - 1)
    assert Lake(lake).version("signals") is None
    given = ["--prometheus", server.url, "--end", hour(HOURS) / 1000, "--lake", lake, "--quiet"]
    done = throttlescope("run", "--since-watermark", *given)
    assert done.code == 0, done.err
    reported = f"{minute_text(hour(0))} to {minute_text(hour(HOURS - 2))} of prod"
    assert f"Also diagnosed, because no run had diagnosed it: {reported}." in done.out
    assert differences(lake, fresh) == {}


def test_concurrent_read_of_same_range_is_reported(spark, server, tmp_path):
    """The other run is the lock that it holds."""
    lake, folders = tmp_path / "lake", set()

    def look(path: str, reply: Reply) -> None:
        folders.update(folder.name for folder in lake.glob("_staging-*"))

    with proxy(server.url, look) as between:
        given = [
            "--prometheus",
            between.url,
            "--start",
            hour(0) / 1000,
            "--end",
            hour(1) / 1000,
            "--lake",
            lake,
        ]
        alone = throttlescope("ingest", *given)
        (folder,) = folders
        with Staging(str(lake), folder).owned() as other:
            assert other.beside is None
            beside = throttlescope("ingest", *given)
    assert (alone.code, beside.code) == (0, 0), alone.err + beside.err
    note = "; read again, because the same is being read by another run of this machine, or of one that shares the folder"
    assert "read again" not in alone.err
    (line,) = [line for line in beside.err.splitlines() if "read again" in line]
    assert note in line
    assert ", 0 of them new; " in line


def test_run_recovers_from_a_full_disk(spark, server, repaired, tmp_path, monkeypatch):
    """In whatever stage the disk fills up, the error is one line and the repeated run gives the same lake."""
    _, fresh, _ = repaired
    with small_disk(tmp_path / "disk", "64m") as disk:
        lake = disk / "lake"
        run(spark, lake, server.url, 0, HOURS, command="ingest")
        for stage in (
            "resolve_limits",
            "build_signals",
            "build_verdicts",
            "build_results",
            "build_forecasts",
        ):
            with monkeypatch.context() as patch:
                whole = getattr(Stages, stage)

                def full(self, *arguments, whole=whole):
                    with filled(disk):
                        return whole(self, *arguments)

                patch.setattr(Stages, stage, full)
                with pytest.raises(Exception, match=r"disk is full|No space left") as caught:
                    run(spark, lake, None, 0, HOURS, command="diagnose")
            reported = wrapped_error(caught.value) or caught.value
            assert type(caught.value) is FullDiskError or wrapped_error(caught.value), stage
            assert (
                reported.exit_code,
                str(reported).startswith(f"The disk is full; got {lake}. Fix: make room"),
            ) == (1, True)
            # Tasks may have written files of a table whose first commit found no room: no reader knows of them.
            assert [fault for fault in check(Lake(lake)) if Lake(lake).version(fault.table) is not None] == []
        run(spark, lake, None, 0, HOURS, command="diagnose")
        assert check(Lake(lake)) == []
        assert differences(lake, fresh) == {}


def test_repeated_run_completes_a_failed_write(spark, server, repaired, tmp_path, monkeypatch):
    _, fresh, _ = repaired
    lake, write, failed = tmp_path / "lake", LocalStorage._write, []
    # What an earlier try has written is not written again: a later one comes further.
    for number in (1, 5, 9, 13):
        calls = iter(range(1, 1_000_000))

        def full(self, *arguments, calls=calls, number=number, **options):
            if next(calls) >= number:
                raise OSError(28, "No space left on device")
            return write(self, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(LocalStorage, "_write", full)
            try:
                run(spark, lake, server.url, 0, HOURS)
            except FullDiskError as error:
                failed.append((str(error), Lake(lake).version("samples") is not None))
    assert all(f"got {lake}. Fix: make room" in message for message, _ in failed)
    # Before the samples were there, and behind them.
    assert {is_read for _, is_read in failed} == {False, True}
    run(spark, lake, server.url, 0, HOURS)
    assert check(Lake(lake)) == []
    assert differences(lake, fresh) == {}


def test_hour_filled_later_is_computed(spark, tmp_path, monkeypatch):
    # At once, not half an hour later.
    monkeypatch.setattr(gap_table, "FIRST_RETRY_MS", 0)
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
        repaired = run(spark, lake, server.url, 3, 4)
        assert {row["state"] for row in Lake(lake).read("gaps").to_pylist()} == {"closed"}
        # The hour itself, the one behind it, and the one that was asked for.
        assert repaired.hours_computed["signals"] == 3
        run(spark, tmp_path / "anew", server.url, 0, 4)
    assert differences(lake, tmp_path / "anew") == {}


def test_compared_tables_are_not_empty(repaired):
    _, fresh, _ = repaired
    empty = [table for table in scene.DATA if not scene.rows_of(fresh, table)]
    assert set(empty) <= {"limits", "incidents"}
