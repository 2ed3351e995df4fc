"""The pull from a real Prometheus into a lake: what arrives, twice, interrupted, from another source, with faults."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.ingest.proxy import Reply, proxy
from tests.ingest.pulsar_series import (
    HOUR_MS,
    SCRAPES_PER_HOUR,
    START_MS,
    STEP_MS,
    TARGET,
    broker,
    scrapes,
)
from tests.ingest.task_threads import TaskThreads
from tests.lab.prometheus import STALE, running_prometheus, write_series
from throttlescope.ingest.core.errors import EmptyRangeError, InputError, SourceError, ThrottlescopeError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.core.selector import parse_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull import pull as pull_module
from throttlescope.ingest.pull.item import plain_error
from throttlescope.ingest.pull.plan import count_subscriptions, widened
from throttlescope.ingest.pull.pull import PullResult, pull
from throttlescope.ingest.pull.wanted_metrics import _LACKS
from throttlescope.ingest.sources.access import Access, BrokenStreamError
from throttlescope.ingest.sources.prometheus import open_prometheus
from throttlescope.ingest.sources.prometheus_api import PrometheusApi

pytestmark = pytest.mark.prometheus

END_MS = START_MS + 3 * HOUR_MS


@pytest.fixture(scope="module")
def prometheus():
    with running_prometheus() as server:
        write_series(server.url, broker(3))
        yield server


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def pulled(
    lake: Lake,
    url: str,
    *,
    match=(),
    start_ms=START_MS,
    end_ms=END_MS,
    mapping=None,
    reader="auto",
    **options,
):
    source = open_prometheus(url, reader=reader, mapping=mapping)
    selectors = [parse_selector(text) for text in match]
    return pull(
        TaskThreads(), lake, source, selectors, start_ms, end_ms, options.pop("run_id", "run"), **options
    )


def content(lake: Lake) -> dict:
    """Everything of samples that a reader sees, with the labels of the catalogue."""
    labels = {row["series_id"]: tuple(row["labels"]) for row in lake.read("series").to_pylist()}
    return {
        (row["metric_name"], labels[row["series_id"]], row["block_start_ms"]): (
            row["timestamps_ms"],
            row["values"],
            row["stale_ms"],
        )
        for row in lake.read("samples").to_pylist()
    }


def versions(lake: Lake) -> dict[str, int | None]:
    return {table: lake.version(table) for table in ("series", "samples")}


def leftovers(lake: Lake) -> list[str]:
    return sorted(
        name for name in os.listdir(lake.root) if name not in ("series", "samples", "quality", "quarantine")
    )


# -- what arrives --------------------------------------------------------------------------


def test_everything_arrives(lake: Lake, prometheus) -> None:
    result = pulled(lake, prometheus.url)
    written = broker(3)
    found = content(lake)
    assert len(found) == len(written) * 3
    for labels, samples in written:
        rest = {k: v for k, v in labels.items() if k != "__name__"}
        rest = tuple(sorted(({"cluster": "prod"} | rest).items()))
        times, values = [], []
        for hour in range(3):
            row = found[labels["__name__"], rest, START_MS + hour * HOUR_MS]
            times += row[0]
            values += row[1]
        assert list(zip(times, values, strict=True)) == samples
    assert result.samples == result.samples_written == len(written) * 3 * SCRAPES_PER_HOUR
    assert result.series == len(written)
    assert result.clusters == ("prod",)
    assert result.rows_quarantined == 0
    assert result.repairs == {}
    assert "pulsar_subscription_delayed" in result.missing_metrics
    assert result.source == f"prometheus_remote_read {prometheus.url}"
    assert leftovers(lake) == []
    json.dumps(result.details())


def test_files_keep_the_layout(lake: Lake, prometheus) -> None:
    pulled(lake, prometheus.url)
    blocks = set()
    for file in lake.files("samples"):
        low, high = file.minimum, file.maximum
        for name in ("block_start_ms", "shard", "cluster"):
            assert low[name] == high[name]
        blocks.add((file.partition["metric_name"], low["cluster"], low["block_start_ms"], low["shard"]))
    assert len(blocks) == len(lake.files("samples")), "one file per metric, cluster, hour and shard"


def test_the_range_is_widened_to_whole_hours(lake: Lake, prometheus) -> None:
    result = pulled(lake, prometheus.url, start_ms=START_MS + 90_000, end_ms=START_MS + HOUR_MS + 1)
    assert (result.start_ms, result.end_ms) == (START_MS, START_MS + 2 * HOUR_MS)
    assert {key[2] for key in content(lake)} == {START_MS, START_MS + HOUR_MS}
    now_ms = START_MS + 5 * HOUR_MS + 17
    assert widened(START_MS + 1, now_ms + 10**9, now_ms) == (START_MS, now_ms)


def test_both_label_shapes_come_out_the_same(tmp_path: Path) -> None:
    with running_prometheus() as joined:
        write_series(joined.url, broker(1, split=False))
        with running_prometheus() as split:
            write_series(split.url, broker(1, split=True))
            one, two = Lake(tmp_path / "one"), Lake(tmp_path / "two")
            pulled(one, joined.url, end_ms=START_MS + HOUR_MS)
            pulled(two, split.url, end_ms=START_MS + HOUR_MS)
    assert content(one) == content(two)
    assert {f.relative_path for f in one.files("samples")} == {f.relative_path for f in two.files("samples")}


def test_mapped_labels_and_a_missing_cluster(lake: Lake) -> None:
    with running_prometheus() as server:
        write_series(server.url, broker(1, cluster=None, namespace_label="exported_namespace"))
        mapping = LabelMapping({"exported_namespace": "namespace"}, cluster="mine")
        result = pulled(lake, server.url, mapping=mapping, end_ms=START_MS + HOUR_MS)
        assert result.clusters == ("mine",)
        assert result.rows_quarantined == 0
        labels = [dict(row["labels"]) for row in lake.read("series").to_pylist()]
        assert {row.get("namespace") for row in labels} == {"acme/shop", None}
        with pytest.raises(InputError, match=r"no name.*--cluster"):
            pulled(lake, server.url)


def test_matchers_narrow_what_has_their_labels(lake: Lake, prometheus) -> None:
    """One subscription: its own series, the input of its topic, the output of its broker, the targets."""
    pulled(lake, prometheus.url, match=['{subscription="billing",topic=~".*orders-1"}'])
    found = {
        (row["metric_name"], *(dict(row["labels"]).get(k) for k in ("topic", "subscription")))
        for row in lake.read("series").to_pylist()
    }
    topic = "persistent://acme/shop/orders-1"
    assert found == {
        ("pulsar_subscription_back_log", topic, "billing"),
        ("pulsar_subscription_msg_rate_out", topic, "billing"),
        ("pulsar_out_messages_total", topic, "billing"),
        ("pulsar_rate_in", topic, None),
        ("pulsar_broker_rate_out", None, None),
        ("pulsar_version_info", None, None),
        ("up", None, None),
    }


def test_source_counts_subscriptions_before_reading(prometheus) -> None:
    """Three topics of two partitions, each with two subscriptions; of a server that does not answer it is not known."""
    api, meter = open_prometheus(prometheus.url).api, Meter()
    assert count_subscriptions(api, [], START_MS, END_MS, meter) == 3 * 2 * 2
    assert meter.requests == 2
    narrow = [parse_selector('pulsar_rate_in{topic=~".*orders-1"}')]
    assert count_subscriptions(api, narrow, START_MS, END_MS, meter) == 2 * 2
    assert count_subscriptions(api, [], START_MS - 10 * HOUR_MS, START_MS - HOUR_MS, meter) == 0
    assert count_subscriptions(PrometheusApi("http://127.0.0.1:9"), [], START_MS, END_MS, meter) is None


def test_overlapping_selectors_bring_a_series_once(lake: Lake, prometheus) -> None:
    match = ['pulsar_rate_in{partition="0"}', 'pulsar_rate_in{topic=~".*-1"}']
    result = pulled(lake, prometheus.url, match=match)
    assert result.series == 3 + 1
    assert result.repairs == {}
    assert result.metrics == ("pulsar_rate_in",)


def test_staleness_markers_arrive(lake: Lake) -> None:
    samples = scrapes(1)
    samples[100] = (samples[100][0], STALE)
    with running_prometheus() as server:
        write_series(
            server.url,
            [*broker(1), ({"__name__": "pulsar_version_info", "cluster": "prod", "x": "1"}, samples)],
        )
        pulled(lake, server.url, end_ms=START_MS + HOUR_MS)
    ((times, _, stale),) = [row for key, row in content(lake).items() if ("x", "1") in key[1]]
    assert stale == [START_MS + 100 * STEP_MS]
    assert len(times) == SCRAPES_PER_HOUR - 1


def test_the_json_api_brings_the_same(lake: Lake, tmp_path: Path, prometheus) -> None:
    other = Lake(tmp_path / "api")
    pulled(lake, prometheus.url)
    result = pulled(other, prometheus.url, reader="api")
    assert result.stale_is_inferred
    assert result.details()["staleness"] == "inferred"
    assert content(lake) == content(other)


def test_external_labels_come_through_both_readers(lake: Lake, tmp_path: Path) -> None:
    """Remote read adds them to every series, the JSON API to none: a cluster that is named only there must not get lost."""
    with running_prometheus() as server:
        config = yaml.safe_load(server.config_file.read_text())
        config["global"]["external_labels"] = {"cluster": "outside", "region": "north", "job": "never"}
        server.config_file.write_text(yaml.safe_dump(config))
        os.kill(server.pid, signal.SIGHUP)
        write_series(server.url, broker(1, cluster=None))
        deadline = time.monotonic() + 20
        while not open_prometheus(server.url).mapping.external:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        other = Lake(tmp_path / "api")
        result = pulled(lake, server.url, end_ms=START_MS + HOUR_MS)
        pulled(other, server.url, end_ms=START_MS + HOUR_MS, reader="api")
    assert result.clusters == ("outside",)
    assert content(lake) == content(other)
    labels = [dict(row["labels"]) for row in lake.read("series").to_pylist()]
    assert {(row["region"], row["job"]) for row in labels} == {("north", "broker")}


def test_bad_series_go_to_quarantine(lake: Lake) -> None:
    odd = {"__name__": "pulsar_rate_in", "cluster": "prod", "namespace": "a/b", "topic": "persistent://a/b/c"}
    with running_prometheus() as server:
        write_series(
            server.url,
            [
                *broker(1),
                ({**odd, "partition": "x"}, scrapes(1)),
                (
                    {"__name__": "pulsar_subscription_back_log", "cluster": "prod", "namespace": "a/b"},
                    scrapes(0.5),
                ),
                ({**odd, "partition": "0", "topic": 'persistent://a/b/../../"quo\nte'}, scrapes(1)),
            ],
        )
        result = pulled(lake, server.url, end_ms=START_MS + HOUR_MS)
    rows = {row["reason"]: row for row in lake.read("quarantine").to_pylist()}
    assert rows.keys() == {"invalid_partition", "missing_key_label"}
    assert rows["invalid_partition"]["rows"] == SCRAPES_PER_HOUR
    assert rows["missing_key_label"]["rows"] == SCRAPES_PER_HOUR // 2
    assert rows["missing_key_label"]["cluster"] == "prod"
    assert json.loads(rows["invalid_partition"]["row"])["labels"]["partition"] == "x"
    assert result.rows_quarantined == SCRAPES_PER_HOUR * 3 // 2
    assert any(dict(key[1]).get("topic") == 'persistent://a/b/../../"quo\nte' for key in content(lake))
    assert all("etc" not in name and "quo" not in name for name in os.listdir(lake.root))


# -- twice, later, less --------------------------------------------------------------------


def test_twice_changes_nothing(lake: Lake, prometheus) -> None:
    pulled(lake, prometheus.url)
    before, files = versions(lake), sorted(p for p in Path(lake.root).rglob("*") if p.is_file())
    again = pulled(lake, prometheus.url, run_id="again")
    assert again.samples_written == 0
    assert again.samples > 0
    assert versions(lake) == before
    assert sorted(p for p in Path(lake.root).rglob("*") if p.is_file()) == files


def test_overlapping_ranges_meet(lake: Lake, tmp_path: Path, prometheus) -> None:
    whole = Lake(tmp_path / "whole")
    pulled(whole, prometheus.url)
    pulled(lake, prometheus.url, end_ms=START_MS + 2 * HOUR_MS)
    pulled(lake, prometheus.url, start_ms=START_MS + HOUR_MS)
    assert content(lake) == content(whole)
    assert {
        row["series_id"]: (row["first_ms"], row["last_ms"]) for row in lake.read("series").to_pylist()
    } == {row["series_id"]: (row["first_ms"], row["last_ms"]) for row in whole.read("series").to_pylist()}


def test_an_hour_grows_until_it_is_over(lake: Lake) -> None:
    with running_prometheus() as server:
        write_series(server.url, broker(0.5))
        pulled(lake, server.url, end_ms=START_MS + HOUR_MS)
        write_series(server.url, broker(0.5, start_ms=START_MS + HOUR_MS // 2))
        result = pulled(lake, server.url, end_ms=START_MS + HOUR_MS)
    assert result.series_kept == 0
    assert all(len(row[0]) == SCRAPES_PER_HOUR for row in content(lake).values())
    assert len(lake.files("samples")) == len(
        {(f.partition["metric_name"], f.minimum["shard"]) for f in lake.files("samples")}
    )


def test_samples_beyond_retention_are_kept(lake: Lake) -> None:
    """The first hour is gone at the source, half of the second, and one series altogether."""
    with running_prometheus() as server:
        write_series(server.url, broker(3))
        pulled(lake, server.url)
    before = content(lake)
    with running_prometheus() as server:
        write_series(server.url, broker(1.5, start_ms=START_MS + HOUR_MS * 3 // 2, topics=2))
        write_series(
            server.url,
            [
                (
                    {
                        "__name__": "pulsar_rate_in",
                        "cluster": "prod",
                        "namespace": "new/ns",
                        "topic": "persistent://new/ns/t",
                    },
                    scrapes(1, START_MS + 2 * HOUR_MS),
                )
            ],
        )
        result = pulled(lake, server.url, run_id="later")
    after = content(lake)
    new = {key: row for key, row in after.items() if key not in before}
    assert [dict(key[1])["namespace"] for key in new] == ["new/ns"]
    assert all(len(after[key][0]) == len(before[key][0]) for key in before)
    (row,) = lake.read("quality").to_pylist()
    assert (row["severity"], row["gate"], row["cluster"], row["success"]) == (
        "warning",
        "door",
        "prod",
        False,
    )
    kept_series = 1 + 2 + 4 * (1 + 2 * 3)
    gone_series = 1 + 2 + 6 * (1 + 2 * 3)
    assert row["rows"] == result.series_kept == kept_series + gone_series
    assert json.loads(row["example"])["in_the_lake"] > json.loads(row["example"])["in_the_answer"]


def test_narrow_pull_after_wide_has_no_warning(lake: Lake, prometheus) -> None:
    pulled(lake, prometheus.url)
    before = content(lake)
    result = pulled(lake, prometheus.url, match=['{subscription="billing"}'], run_id="narrow")
    assert result.series_kept == 0
    assert result.samples_written == 0
    assert content(lake) == before


def test_inferred_markers_do_not_replace_real_ones(lake: Lake) -> None:
    """The same samples through the JSON API leave a block as remote read has written it."""
    samples = scrapes(1)
    samples[100] = (samples[100][0], STALE)
    lonely = {"__name__": "pulsar_version_info", "cluster": "prod", "x": "1"}
    with running_prometheus() as server:
        write_series(server.url, [*broker(1), (lonely, samples)])
        pulled(lake, server.url, end_ms=START_MS + HOUR_MS)
        before = versions(lake)
        pulled(lake, server.url, end_ms=START_MS + HOUR_MS, reader="api")
    assert versions(lake) == before


def test_clusters_and_sources_do_not_mix(lake: Lake) -> None:
    for cluster in ("one", "two"):
        with running_prometheus() as server:
            write_series(server.url, broker(1, cluster=cluster))
            result = pulled(lake, server.url, end_ms=START_MS + HOUR_MS)
            assert result.clusters == (cluster,)
    assert {row["cluster"] for row in lake.read("samples", columns=["cluster"]).to_pylist()} == {"one", "two"}
    assert lake.version("quality") is None


# -- stopped in the middle -----------------------------------------------------------------


def test_pull_continues_after_source_failure(lake: Lake, tmp_path: Path, prometheus) -> None:
    reads = 0
    failing = True

    def spoil(path: str, reply: Reply) -> Reply | None:
        nonlocal reads
        if path.endswith("/read"):
            reads += 1
            if failing and reads > 4:
                return Reply(400, {"Content-Type": "text/plain"}, b"exceeded sample limit")
        return None

    with proxy(prometheus.url, spoil) as between:
        with pytest.raises(SourceError, match="exceeded sample limit"):
            pulled(lake, between.url)
        assert lake.version("samples") is None
        assert [name.split("-")[0] for name in leftovers(lake)] == ["_staging"]
        failing, done = False, reads
        result = pulled(lake, between.url)
    assert 0 < result.items_resumed < result.items
    assert reads - done == 1 + result.items - result.items_resumed, "a probe, and what was missing"
    whole = Lake(tmp_path / "whole")
    pulled(whole, prometheus.url)
    assert content(lake) == content(whole)
    assert leftovers(lake) == []


def test_nothing_is_left_where_nothing_was_read(lake: Lake, prometheus) -> None:
    def spoil(path: str, reply: Reply) -> Reply | None:
        probe = len(reply.body) < 10
        return Reply(400, {}, b"no") if path.endswith("/read") and not probe else None

    with proxy(prometheus.url, spoil) as between, pytest.raises(SourceError):
        pulled(lake, between.url)
    assert not Path(lake.root).exists()


@pytest.mark.parametrize("fault", ["cut", "flip"])
def test_a_damaged_stream_is_read_again_once(lake: Lake, prometheus, fault: str) -> None:
    damaged = 0
    times = 1

    def spoil(path: str, reply: Reply) -> Reply | None:
        nonlocal damaged
        if path.endswith("/read") and len(reply.body) > 100 and damaged < times:
            damaged += 1
            if fault == "cut":
                return Reply(200, reply.headers, reply.body, cut=50)
            return Reply(200, reply.headers, reply.body[:60] + b"!" + reply.body[61:])
        return None

    with proxy(prometheus.url, spoil) as between:
        result = pulled(lake, between.url)
        assert result.repairs == {"streams_read_again": 1}
        assert all(len(row[0]) == SCRAPES_PER_HOUR for row in content(lake).values())
        damaged, times = 0, 10**9
        before = versions(lake)
        with pytest.raises(SourceError, match="again"):
            pulled(lake, between.url)
        assert versions(lake) == before


def test_unknown_chunks_are_requested_as_samples(lake: Lake, prometheus) -> None:
    """A server that keeps XOR2 chunks: the pull asks again for plain samples."""

    def spoil(path: str, reply: Reply) -> Reply | None:
        if path.endswith("/read") and "streamed" in reply.headers["Content-Type"] and len(reply.body) > 100:
            return Reply(200, reply.headers, with_chunk_kind(reply.body, 4))
        return None

    with proxy(prometheus.url, spoil) as between:
        pulled(lake, between.url)
    assert all(len(row[0]) == SCRAPES_PER_HOUR for row in content(lake).values())


def with_chunk_kind(body: bytes, kind: int) -> bytes:
    """The stream with the first chunk of its first message called another kind, and the checksum to it."""
    from tests.lab.wire import read_varint, varint
    from tests.naive.xor import crc32c

    size, at = read_varint(body, 0)
    message = bytearray(body[at + 4 : at + 4 + size])
    place = message.index(b"\x18\x01\x22")
    message[place + 1] = kind
    return varint(size) + crc32c(bytes(message)).to_bytes(4, "big") + bytes(message) + body[at + 4 + size :]


def test_ctrl_c_keeps_what_is_done(lake: Lake, prometheus) -> None:
    executor = TaskThreads()

    def stop(progress) -> None:
        if progress.items_done >= 2:
            raise KeyboardInterrupt

    def slow(path: str, reply: Reply) -> None:
        time.sleep(0.4)

    with proxy(prometheus.url, slow) as between:
        source = open_prometheus(between.url)
        with pytest.raises(KeyboardInterrupt):
            pull(executor, lake, source, [], START_MS, END_MS, "run", progress=stop)
        with pytest.raises(RuntimeError, match="after shutdown"):
            executor.submit(print)
        assert lake.version("samples") is None
        assert list(Path(lake.root).rglob("claims/*/*")) == []
        result = pull(TaskThreads(), lake, source, [], START_MS, END_MS, "run")
        assert result.items_resumed >= 2
    assert leftovers(lake) == []


def test_never_more_reads_at_once_than_allowed(lake: Lake, prometheus) -> None:
    def slow(path: str, reply: Reply) -> None:
        time.sleep(0.1)

    for allowed in (1, 2):
        with proxy(prometheus.url, slow) as between:
            pulled(lake, between.url, max_concurrent_reads=allowed, resume=False)
            assert between.most_at_once == allowed


@pytest.mark.parametrize("reader", ["remote_read", "api"])
def test_too_many_series_store_nothing(lake: Lake, prometheus, reader) -> None:
    def asked(most: int) -> PullResult:
        source = open_prometheus(prometheus.url, Access(max_series=most), reader=reader)
        return pull(TaskThreads(), lake, source, [], START_MS, START_MS + HOUR_MS, "run")

    with pytest.raises(SourceError, match=r"too many series; got more than 2\..*max_series"):
        asked(2)
    assert lake.version("samples") is None
    # The largest metric has as many as this.
    largest = max(Counter(labels["__name__"] for labels, _ in broker(3)).values())
    assert largest > 2
    assert asked(largest).samples > 0


def test_notes_of_other_requests_are_ignored(lake: Lake, prometheus, monkeypatch) -> None:
    """Old ones too."""
    monkeypatch.setattr(pull_module, "commit_notes", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        pulled(lake, prometheus.url)
    monkeypatch.undo()
    notes = list(Path(lake.root).rglob("notes/*.json"))
    assert notes
    # Another request has another folder.
    assert pulled(lake, prometheus.url, match=["pulsar_rate_in"]).items_resumed == 0
    long_ago = time.time() - 3 * 24 * 3600
    for note in notes[:3]:
        os.utime(note, (long_ago, long_ago))
    notes[3].write_text(notes[3].read_text()[:-20])
    result = pulled(lake, prometheus.url)
    assert result.items_resumed == result.items - 4


def test_replaced_blocks_are_read_again(lake: Lake, prometheus, monkeypatch) -> None:
    """Notes of a stopped pull do not undo what was committed after it."""
    real = pull_module.commit_notes
    monkeypatch.setattr(pull_module, "commit_notes", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        pulled(lake, prometheus.url)
    monkeypatch.setattr(pull_module, "commit_notes", real)
    # The same blocks, through another request, with one series more.
    extra = (
        {
            "__name__": "pulsar_rate_in",
            "cluster": "prod",
            "namespace": "acme/shop",
            **TARGET,
            "topic": "persistent://acme/shop/orders-0",
            "partition": "9",
        },
        scrapes(3),
    )
    with running_prometheus() as other:
        write_series(other.url, [*broker(3), extra])
        pulled(lake, other.url)
    more = content(lake)
    result = pulled(lake, prometheus.url)
    assert result.items_resumed > 0
    assert content(lake) == more


def test_the_same_pull_twice_at_once(lake: Lake, prometheus) -> None:
    """The second one does not touch what the first one is doing."""
    failures: list[BaseException] = []

    def slow(path: str, reply: Reply) -> None:
        time.sleep(0.05)

    with proxy(prometheus.url, slow) as between:

        def run() -> None:
            try:
                pulled(lake, between.url)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    assert len(content(lake)) == len(broker(3)) * 3
    assert leftovers(lake) == []


def test_two_pulls_at_once_lose_nothing(lake: Lake, prometheus) -> None:
    failures: list[BaseException] = []
    results: list[PullResult] = []

    def run(match: list[str]) -> None:
        try:
            results.append(pulled(lake, prometheus.url, match=match))
        except BaseException as error:
            failures.append(error)

    threads = [
        threading.Thread(target=run, args=(match,))
        for match in (['{subscription="billing"}'], ['{subscription="audit"}'], [])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(content(lake)) == len(broker(3)) * 3
    assert leftovers(lake) == []


# -- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (["pulsar_subscription_backlog"], ["does not know", "did you mean pulsar_subscription_back_log?"]),
        (["zzz"], ["does not know", "doctor"]),
        (['pulsar_rate_in{topic="nope"}'], ["names no series", "loosen"]),
        (['{namespace="nope"}'], ["names no series", "loosen"]),
        (["pulsar_rate_in", "nope_metric"], ["does not know"]),
    ],
)
def test_selectors_that_name_nothing(lake: Lake, prometheus, match: list[str], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        pulled(lake, prometheus.url, match=match)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert not Path(lake.root).exists()


def test_ranges_that_hold_nothing(lake: Lake, prometheus) -> None:
    with pytest.raises(InputError, match="not before the end"):
        pulled(lake, prometheus.url, start_ms=END_MS, end_ms=START_MS)
    future = round(time.time() * 1000) + 2 * HOUR_MS
    with pytest.raises(InputError, match="future"):
        pulled(lake, prometheus.url, start_ms=future, end_ms=future + HOUR_MS)
    with pytest.raises(InputError, match=r"no Pulsar metric.*fix|Fix"):
        pulled(lake, prometheus.url, start_ms=START_MS - 99 * HOUR_MS, end_ms=START_MS - 98 * HOUR_MS)
    now_ms = round(time.time() * 1000)
    with running_prometheus() as server:
        write_series(server.url, broker(0.2, start_ms=now_ms - HOUR_MS // 5))
        with pytest.raises(InputError, match="later --start"):
            pulled(lake, server.url)
        with running_prometheus() as empty, pytest.raises(InputError, match="scrape the brokers"):
            pulled(lake, empty.url)
    assert not Path(lake.root).exists()


def test_a_lake_that_cannot_be_written(prometheus, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written.*--lake"):
        pulled(Lake(tmp_path / "file" / "lake"), prometheus.url)


def test_full_disk_is_one_line(lake: Lake, prometheus, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("throttlescope.ingest.pull.item.write_data_file", full)
    with pytest.raises(ThrottlescopeError, match=r"could not write.*No space left.*room") as caught:
        pulled(lake, prometheus.url)
    assert caught.value.exit_code == 1
    assert not Path(lake.root).exists()


def test_all_refused_is_no_success(lake: Lake) -> None:
    with running_prometheus() as server:
        write_series(
            server.url, [({"__name__": "pulsar_rate_in", "cluster": "c", "namespace": "a/b"}, scrapes(1))]
        )
        with pytest.raises(InputError, match=r"no samples.*refused"):
            pulled(lake, server.url, match=["pulsar_rate_in"])
    assert lake.version("samples") is None


def test_errors_of_tasks_keep_their_exit_code() -> None:
    """And no more: a pull repeats no error that a task has repeated already."""
    for raised, kind, code in (
        (InputError, InputError, 2),
        (EmptyRangeError, InputError, 2),
        (SourceError, SourceError, 4),
        (BrokenStreamError, SourceError, 4),
        (ThrottlescopeError, ThrottlescopeError, 1),
    ):
        error = plain_error(raised("w", got="g", fix="f"))
        assert (type(error), error.exit_code, str(error)) == (kind, code, "w; got g. Fix: f")
        assert not error.is_transient


def test_each_level_says_which_labels_it_lacks():
    assert {metric.level for metric in METRICS.values()} == set(_LACKS)
