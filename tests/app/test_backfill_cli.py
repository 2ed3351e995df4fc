"""The flags that go on from a watermark, and ``backfill``: what they refuse, in one line, and what a dry run says."""

from __future__ import annotations

import json
import time

import pytest

from tests.app.commands import throttlescope
from tests.app.incremental import HOUR_MS, hour, put, request
from tests.lab.processes import free_port
from tests.lab.prometheus import running_prometheus
from throttlescope.app.pipeline.backfill.catch_up import chunks_since_watermark
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.watermarks import OVERLAP_MS, SourceKey, advance, watermark

NOW_MS = round(time.time() * 1000)


def lake_with_watermark(folder, url, since_ms, until_ms):
    """A lake in which a source was read."""
    lake = Lake(folder)
    advance(
        lake,
        SourceKey.of(url, [], "prod"),
        ["pulsar_rate_in"],
        since_ms,
        until_ms,
        now_ms=until_ms,
        run_id="before",
    )
    return lake


@pytest.mark.long
def test_known_source_down_records_a_gap(tmp_path):
    url = f"http://127.0.0.1:{free_port()}"
    given = ["--prometheus", url, "--start", "-2h", "--end", "-1h", "--quiet"]
    assert throttlescope("run", *given, "--lake", tmp_path / "new").code == 4
    assert not (tmp_path / "new").exists()
    lake = lake_with_watermark(tmp_path / "known", url, NOW_MS - 9 * HOUR_MS, NOW_MS - 2 * HOUR_MS)
    assert throttlescope("ingest", *given, "--lake", lake.root).code == 4
    (gap,) = lake.read("gaps").to_pylist()
    assert (gap["cluster"], gap["reason"], gap["state"]) == ("prod", "source_down", "open")
    assert gap["end_ms"] - gap["start_ms"] >= HOUR_MS
    # Nothing was read: the watermark is where it was.
    assert watermark(lake, SourceKey(url, "", "prod")).complete_until_ms == NOW_MS - 2 * HOUR_MS


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "--since-watermark", "--recording", "slow-small"), "leave one of them out"),
        (
            ("run", "--since-watermark", "--follow", "60s", "--prometheus", "http://127.0.0.1:1"),
            "leave one of them out",
        ),
        (("backfill", "--prometheus", "http://127.0.0.1:1"), "--start"),
        (
            ("backfill", "--prometheus", "http://127.0.0.1:1", "--start", "-1d", "--chunk", "90m"),
            "whole hours",
        ),
        (
            ("backfill", "--prometheus", "http://127.0.0.1:1", "--start", "-1h", "--end", "-2h"),
            "not before the end",
        ),
    ],
)
def test_conflicting_flags_are_refused(tmp_path, arguments, words):
    outcome = throttlescope(*arguments, "--lake", tmp_path / "lake", "--quiet")
    assert outcome.code == 2
    assert words in outcome.line
    assert not (tmp_path / "lake").exists()


@pytest.mark.prometheus
@pytest.mark.long
def test_dry_run_plans_and_writes_nothing(tmp_path):
    with running_prometheus() as server:
        put(server.url, 0, 4)
        arguments = [
            "backfill", "--prometheus", server.url, "--start", hour(0) / 1000, "--end", hour(4) / 1000, "--chunk", "1h",
            "--lake", tmp_path / "lake", "--quiet", "--dry-run",
        ]  # fmt: skip
        planned = json.loads(throttlescope(*arguments, "--format", "json").out)
        text = throttlescope(*arguments)
        assert not (tmp_path / "lake").exists()
        # One target, a topic with a counter and a rate, two subscriptions of six metrics.
        assert [(one["series"], one["samples"], one["done"]) for one in planned] == [
            (15, 15 * 240, False)
        ] * 4
        assert all(one["bytes_read"] is None and one["requests"] > 10 for one in planned)
        assert "4 of 4 chunks" in text.out

        # From a watermark: chunks of what was not read, and a quarter of an hour that was.
        lake = lake_with_watermark(tmp_path / "known", server.url, hour(0), hour(3))
        found, chunks = chunks_since_watermark(request(lake.root, server.url, 0, 4, since_watermark=True))
        assert (chunks[0].start_ms, chunks[-1].end_ms) == (hour(2), hour(4))
        # It goes into one, on whichever side of the grid of chunks it lies.
        assert len(chunks) == 1
        assert found.start_ms == hour(3) - OVERLAP_MS

        # A range that was read before is read once more.
        again, _ = chunks_since_watermark(request(lake.root, server.url, 1, 2, since_watermark=True))
        assert again.start_ms == hour(1)

        # Never read, and no start for that.
        given = ["ingest", "--prometheus", server.url, "--since-watermark", "--quiet"]
        refused = throttlescope(*given, "--lake", tmp_path / "new")
        assert (refused.code, "--start" in refused.line) == (2, True)

        # A watermark from the future.
        lake_with_watermark(lake.root, server.url, hour(0), NOW_MS + 5 * HOUR_MS)
        before = lake.read("watermarks").to_pylist()
        ahead = throttlescope(
            "ingest", "--prometheus", server.url, "--start", "-1h", "--lake", lake.root, "--quiet"
        )
        assert ahead.code == 2
        assert "--reset-watermark" in ahead.line
        assert lake.read("watermarks").to_pylist() == before
        assert lake.version("samples") is None
