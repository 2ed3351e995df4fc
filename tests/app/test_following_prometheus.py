"""Following a real Prometheus: the same signals and verdicts as a run afterwards, late scrapes and a source that was away included."""

from __future__ import annotations

import time

import pytest

from tests.app.following import Feed
from tests.app.notifications.test_followed import SCRAPE_MS, write
from tests.app.test_run import THROTTLED, rows_of, run
from tests.lab.prometheus import running_prometheus
from throttlescope.app.pipeline.follow.follower import Follower
from throttlescope.app.pipeline.sources.prometheus import ClusterSource
from throttlescope.ingest.core.errors import EmptyRangeError, SourceError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.prometheus import open_prometheus
from throttlescope.ingest.sources.recording import list_shipped, read_recording
from throttlescope.transforms.limits import resolve_limits

pytestmark = [pytest.mark.prometheus, pytest.mark.long]


class Clock:
    """Stands still until it is set."""

    def __init__(self, now_ms):
        self.now_ms = now_ms

    def __call__(self):
        return self.now_ms


def lake_with_limits(root, recording):
    """A lake that knows what the admin API said; here only the way of the samples differs."""
    lake = Lake(root)
    for table in ("policies", "topic_stats"):
        lake.upsert(table, getattr(recording, table), run_id="by hand")
    resolve_limits(lake, [recording.name], recording.start_ms, recording.end_ms, run_id="by hand")
    return lake


def follower_of(lake, server, first_ms, clock, reader="auto"):
    source = ClusterSource(open_prometheus(server.url, reader=reader), None, [], None, 0, 0)
    return Follower(
        lake, source, first_ms, "follow",
        window_ms=5 * MINUTE_MS, every_ms=MINUTE_MS, forecast_every_ms=15 * MINUTE_MS, now_ms=clock,
    )  # fmt: skip


@pytest.mark.study
@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("reader", ["remote_read", "api"])
def test_following_equals_a_later_run(tmp_path, reader):
    recording = read_recording(list_shipped()[THROTTLED])
    lake = lake_with_limits(tmp_path / "followed", recording)
    clock = Clock(recording.start_ms)
    ages_s = []
    with running_prometheus() as server:
        feed = Feed(server, recording.folder, late=reader == "remote_read")
        follower = follower_of(lake, server, recording.start_ms, clock, reader)
        away = follower.tail.read
        first_ms = recording.start_ms - recording.start_ms % MINUTE_MS + 2 * MINUTE_MS
        times = list(range(first_ms, recording.end_ms + 2 * MINUTE_MS, 2 * MINUTE_MS))
        for number, at_ms in enumerate(times):
            feed.until(at_ms)
            clock.now_ms = at_ms + 6_000
            if number == len(times) // 2:

                def broken(until_ms):
                    raise SourceError("away")

                follower.tail.read = broken
                with pytest.raises(SourceError):
                    follower.cycle()
                follower.tail.read = away
                continue
            done = follower.cycle()
            assert done is not None
            if done.age_s is not None and at_ms <= recording.end_ms:
                ages_s.append(done.age_s)
        # Whatever was held back comes before the hour is closed.
        feed.rest()
        last_ms = block_start(recording.end_ms) + BLOCK_MS
        for at_ms in (last_ms, last_ms + 11 * MINUTE_MS):
            clock.now_ms = at_ms + 6_000
            while (done := follower.cycle()) is not None and done.behind:
                pass
        follower.store()
        follower.update_latest()
        other = lake_with_limits(tmp_path / "run", recording)
        run(
            other.root, "--prometheus", server.url, "--start", recording.start_ms / 1000, "--end",
            recording.end_ms / 1000, "--reader", reader, "--every", "1m",
        )  # fmt: skip
    assert ages_s
    assert max(ages_s) < 120
    for table in ("series", "samples", "signals", "verdicts", "verdict_latest"):
        followed = rows_of(lake.root, table)
        assert followed
        assert followed == rows_of(other.root, table), table
    assert "throttled" in {row["cause"] for row in lake.read("verdicts").to_pylist()}
    assert lake.read("episodes").num_rows


def test_hour_without_scrapes_is_a_gap(tmp_path):
    """The server answers, but nothing was scraped since before the hour began: what was read is judged, and what comes is read."""
    hour_ms = block_start(round(time.time() * 1000)) - 4 * BLOCK_MS
    lake, clock = Lake(tmp_path / "lake"), Clock(hour_ms + 25 * BLOCK_MS // 10)
    with running_prometheus() as server:
        write(
            server.url, hour_ms - BLOCK_MS, hour_ms - 7 * MINUTE_MS, backlog_begins_ms=hour_ms - 2 * BLOCK_MS
        )
        follower = follower_of(lake, server, hour_ms - BLOCK_MS, clock)
        while (done := follower.cycle()).behind:
            assert done.episodes is None
        newest_ms = hour_ms - 7 * MINUTE_MS - SCRAPE_MS
        assert (done.newest_sample_ms, done.samples) == (newest_ms, 0)
        (episode,) = lake.read("episodes").to_pylist()
        assert episode["start_ms"] < hour_ms
        forecast_ms = set(lake.read("forecasts")["made_at_ms"].to_pylist())
        assert {hour_ms - number * 15 * MINUTE_MS for number in (2, 3)} <= forecast_ms
        write(server.url, clock.now_ms - clock.now_ms % SCRAPE_MS, clock.now_ms + 5 * MINUTE_MS)
        clock.now_ms += 6 * MINUTE_MS
        assert follower.cycle().newest_sample_ms > hour_ms + BLOCK_MS


def test_source_that_never_had_a_metric_is_refused(tmp_path):
    with running_prometheus() as server:
        follower = follower_of(
            Lake(tmp_path / "lake"),
            server,
            hour_ms := block_start(round(time.time() * 1000)) - BLOCK_MS,
            Clock(hour_ms + BLOCK_MS),
        )
        with pytest.raises(EmptyRangeError, match="no Pulsar metric"):
            follower.cycle()
