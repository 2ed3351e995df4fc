"""Following a real Prometheus: the same signals and verdicts as a run afterwards, late scrapes and a source that was away included."""

import pytest

from tests.app.following import Feed
from tests.app.test_run import THROTTLED, rows_of, run
from tests.lab.prometheus import running_prometheus
from throttlescope.app.pipeline.follow.follower import Follower
from throttlescope.app.pipeline.sources.prometheus import ClusterSource
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.prometheus import open_prometheus
from throttlescope.ingest.sources.recording import list_shipped, read_recording
from throttlescope.transforms.limits import resolve_limits

pytestmark = [pytest.mark.spark, pytest.mark.prometheus, pytest.mark.study, pytest.mark.usefixtures("spark")]


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


@pytest.mark.parametrize("reader", ["remote_read", pytest.param("api", marks=pytest.mark.study)])
def test_following_equals_a_later_run(tmp_path, reader):
    recording = read_recording(list_shipped()[THROTTLED])
    lake = lake_with_limits(tmp_path / "followed", recording)
    clock = Clock(recording.start_ms)
    ages_s = []
    with running_prometheus() as server:
        feed = Feed(server, recording.folder, late=reader == "remote_read")
        source = ClusterSource(open_prometheus(server.url, reader=reader), None, [], None, 0, 0)
        follower = Follower(
            lake,
            source,
            recording.start_ms,
            "follow",
            window_ms=300_000,
            every_ms=60_000,
            forecast_every_ms=900_000,
            now_ms=clock,
        )
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
