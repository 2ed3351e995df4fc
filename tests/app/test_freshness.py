"""``throttlescope freshness``: late, fresh and idle, of a lake and of a real Prometheus, and the exit code of each."""

import json
import time

import pyarrow as pa
import pytest

from tests.app.commands import throttlescope
from tests.app.http_server import answering, html
from tests.app.lake_of_verdicts import FIVE, HOUR, healthy, lake_with, verdict
from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS, format_time

BACKLOG = "pulsar_subscription_back_log"
WEEK_MIN = 7 * 24 * 60


def with_series(lake, **last_ms):
    rows = [
        {"series_id": f"{n:032x}", "metric_name": BACKLOG, "cluster": cluster, "labels": [("topic", "t")], "shard": 0,
         "first_ms": HOUR, "last_ms": last}
        for n, (cluster, last) in enumerate(last_ms.items())
    ]  # fmt: skip
    lake.upsert("series", pa.Table.from_pylist(rows, schema=TABLES["series"].schema), run_id="by hand")
    return lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    rows = [verdict(0), verdict(1), healthy(0, cluster="old", start_ms=HOUR - 100 * FIVE)]
    lake = lake_with(tmp_path_factory.mktemp("lake"), rows)
    return with_series(lake, prod=HOUR + 2 * FIVE - 5_000, old=HOUR - 99 * FIVE)


def run_freshness(*arguments):
    return throttlescope("freshness", *arguments)


def test_fresh_data_exits_with_code_0(lake):
    done = run_freshness(
        "--lake", lake.root, "--cluster", "prod", "--at", format_time(HOUR + 3 * FIVE), "--max-age", "5m"
    )
    assert (done.code, done.err) == (0, "")
    assert "2026-11-20 08:10" in done.out


def test_late_data_exits_with_code_3(lake):
    at = format_time(HOUR + 2 * FIVE + 5 * MINUTE_MS + 1000)
    done = run_freshness("--lake", lake.root, "--at", at, "--max-age", "5m", "--format", "json")
    assert done.code == 3
    assert "verdicts are late" in done.line
    # The worst is named, the other counted.
    assert "old: up to 2026-11-19 23:45" in done.line
    assert "1 more" in done.line
    by_cluster = {row["cluster"]: row for row in json.loads(done.out)}
    assert by_cluster["prod"]["age_ms"] == 5 * MINUTE_MS + 1000
    assert [row["late"] for row in by_cluster.values()] == [True, True]


def test_data_newer_than_moment_is_fresh(lake):
    done = run_freshness(
        "--lake", lake.root, "--cluster", "prod", "--at", format_time(HOUR), "--format", "json"
    )
    assert (done.code, json.loads(done.out)[0]["age_ms"]) == (0, 0)


@pytest.mark.long
def test_samples_have_their_own_freshness(lake):
    at = format_time(HOUR + 2 * FIVE)
    arguments = ("--lake", lake.root, "--cluster", "prod", "--at", at, "--format", "json")
    (row,) = json.loads(run_freshness(*arguments, "--table", "samples").out)
    assert (row["of"], row["age_ms"]) == ("samples", 5_000)
    done = run_freshness(*arguments, "--table", "signals")
    assert (done.code, json.loads(done.out)[0]["newest_ms"]) == (3, None)


def set_watermark(lake, until_ms):
    row = {
        "source": "http://p:9090", "selectors": "", "cluster": "prod", "metric_name": "*", "since_ms": HOUR,
        "complete_until_ms": until_ms, "read_ms": until_ms, "run_id": "by hand",
    }  # fmt: skip
    lake.upsert(
        "watermarks", pa.Table.from_pylist([row], schema=TABLES["watermarks"].schema), run_id="by hand"
    )


@pytest.mark.long
def test_idle_source_is_not_late(tmp_path):
    """A source that was read and had nothing is idle; it is late once it is not read any more."""
    lake = with_series(lake_with(tmp_path, [verdict(0)]), prod=HOUR + FIVE)
    at_ms = HOUR + 13 * FIVE
    arguments = ("--lake", lake.root, "--max-age", "10m", "--at", format_time(at_ms))
    assert run_freshness(*arguments).code == 3
    set_watermark(lake, at_ms - 9 * MINUTE_MS)
    done = run_freshness(*arguments)
    assert done.code == 0
    assert "idle" in done.out
    set_watermark(lake, at_ms - 11 * MINUTE_MS)
    assert run_freshness(*arguments).code == 3
    # Samples that nobody judged are late, however far the source was read.
    set_watermark(lake, at_ms)
    with_series(lake, prod=at_ms)
    assert run_freshness(*arguments).code == 3


def test_missing_lake_is_a_usage_error(tmp_path):
    done = run_freshness("--lake", tmp_path / "nowhere")
    assert done.code == 2
    assert "There is no lake" in done.line


def test_never_seen_cluster_is_late(lake, tmp_path):
    config = tmp_path / "ts.toml"
    config.write_text(f'lake = "{lake.root}"\n[clusters.new.prometheus]\nurl = "http://p:9090"\n')
    done = run_freshness("--config", config, "--at", format_time(HOUR))
    assert done.code == 3
    assert "new: none" in done.line


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--max-age", "0s"), "--max-age"),
        (("--max-age", "soon"), "duration"),
        (("--recording", "x", "--prometheus", "http://p:1"), "recording"),
        (("--source",), "No Prometheus"),
    ],
)
def test_invalid_options_are_refused(tmp_path, arguments, expected):
    done = run_freshness("--lake", tmp_path, *arguments)
    assert done.code == 2
    assert expected in done.line


@pytest.mark.prometheus
def test_freshness_of_a_real_prometheus(tmp_path):
    now_ms = int(time.time() * 1000)

    def backlog(cluster, ages_min, name=BACKLOG):
        return (
            {"__name__": name, "cluster": cluster, "namespace": "a/b", "topic": "t", "instance": "b:1"},
            [(now_ms - age * MINUTE_MS, 1.0) for age in ages_min],
        )

    with running_prometheus() as server:
        write_series(
            server.url,
            [
                backlog("fresh", (3, 2, 1)),
                backlog("stopped", (90, 89, 88)),
                backlog("idle", (300, 299)),
                backlog("idle", (3, 2, 1), "pulsar_version_info"),
                backlog("gap", (200, 199, 2, 1)),
                backlog("past", (WEEK_MIN + 1, WEEK_MIN)),
            ],
        )

        def source(cluster, *arguments):
            config = tmp_path / f"{cluster}.toml"
            config.write_text(
                f'[clusters.{cluster}]\nmatch = [\'{{cluster="{cluster}", topic="t"}}\']\n'
                f'[clusters.{cluster}.prometheus]\nurl = "{server.url}"\n'
            )
            return run_freshness(
                "--source", "--config", config, "--max-age", "10m", "--format", "json", *arguments
            )

        (row,) = json.loads(source("fresh").out)
        assert (row["cluster"], row["late"], row["newest_ms"]) == ("fresh", False, now_ms - MINUTE_MS)
        late = source("stopped")
        assert late.code == 3
        assert "stopped" in late.line
        assert json.loads(late.out)[0]["newest_ms"] == pytest.approx(
            now_ms - 88 * MINUTE_MS, abs=5 * MINUTE_MS
        )
        # As of an hour that ended while it was still there, it is fresh.
        assert source("stopped", "--at", format_time(now_ms - 86 * MINUTE_MS)).code == 0
        idle = source("idle")
        assert (idle.code, json.loads(idle.out)[0]["late"]) == (0, False)
        assert "idle" in json.loads(idle.out)[0]["note"]
        # An hour in a hole: what comes later shows that the source is there, so that hour can be read.
        assert source("gap", "--at", format_time(now_ms - 100 * MINUTE_MS)).code == 0
        # So it does where what comes later is days old itself; a day before all of it is none of that.
        for hours, code in ((4, 0), (30, 3), (-1, 3)):
            at_ms = now_ms - (WEEK_MIN + hours * 60) * MINUTE_MS
            assert source("past", "--at", format_time(at_ms)).code == code, hours
        assert source("past").code == 3
        assert source("never").code == 3
        assert run_freshness("--prometheus", server.url, "--max-age", "10m").code == 0


def test_non_prometheus_source_is_unreachable():
    with answering(html) as url:
        assert run_freshness("--prometheus", url).code == 4


@pytest.mark.long
def test_recording_freshness_counts_from_its_end(tmp_path):
    from throttlescope.ingest.sources.recording import list_shipped, read_recording

    name, folder = next(iter(list_shipped().items()))
    end_ms = read_recording(folder).end_ms
    at = ("--recording", name, "--max-age", "1m", "--at")
    assert run_freshness(*at, format_time(end_ms + MINUTE_MS)).code == 0
    assert run_freshness(*at, format_time(end_ms + MINUTE_MS + 1000)).code == 3
