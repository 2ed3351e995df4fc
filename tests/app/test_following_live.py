"""Following as it is used: a process of its own beside a Prometheus that goes on scraping, `/metrics` of what it writes, its end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.app.server.metrics.exposition import Exposition
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake

pytestmark = [pytest.mark.prometheus, pytest.mark.study, pytest.mark.timeout(900)]

SCRAPE_S = 5
#: Counters count from here: a time of day would make them fall at midnight.
BEGAN_S = time.time() - 3600
SUBSCRIPTIONS = ("billing", "audit", "search")


def scrape(at_ms):
    """What a broker would show at a moment: one subscription behind, two that keep up."""
    s = at_ms / 1000 - BEGAN_S
    for number, name in enumerate(SUBSCRIPTIONS):
        labels = {
            "cluster": "live", "namespace": "t/n", "topic": "persistent://t/n/orders", "subscription": name,
            "instance": "broker:8080", "job": "pulsar",
        }  # fmt: skip
        backlog = 20_000.0 + 30.0 * s if number == 0 else 0.0
        for metric, value in (
            ("pulsar_subscription_back_log", backlog),
            ("pulsar_subscription_back_log_no_delayed", backlog),
            ("pulsar_subscription_consumers_count", 2.0),
            ("pulsar_out_messages_total", (70.0 if number == 0 else 100.0) * s),
        ):
            yield {"__name__": metric, **labels}, value
    topic = {name: value for name, value in labels.items() if name != "subscription"}
    yield {"__name__": "pulsar_in_messages_total", **topic}, 100.0 * s


def write(url, times_ms):
    by_labels = {}
    for at_ms in times_ms:
        for labels, value in scrape(at_ms):
            by_labels.setdefault(tuple(labels.items()), []).append((at_ms, value))
    write_series(url, [(dict(labels), samples) for labels, samples in by_labels.items()])


class Scraping(threading.Thread):
    """Goes on writing a scrape every five seconds."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.url, self.stopped = url, threading.Event()
        now_ms = int(time.time()) // SCRAPE_S * SCRAPE_S * 1000
        write(url, range(now_ms - 30 * MINUTE_MS, now_ms + 1, SCRAPE_S * 1000))
        self.next_ms = now_ms + SCRAPE_S * 1000

    def run(self):
        while not self.stopped.wait(max(0.0, self.next_ms / 1000 - time.time())):
            write(self.url, [self.next_ms])
            self.next_ms += SCRAPE_S * 1000


def start_following(url, lake, cycles, *options):
    """Start following and give the events of its first cycles; the process goes on."""
    command = [
        sys.executable, "-m", "throttlescope.app.cli", "run", "--prometheus", url, "--lake", str(lake), "--format", "json",
        *options,
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    events = []
    for line in process.stdout:
        events.append(json.loads(line))
        if sum(event["event"] == "cycle" and not event["behind"] for event in events) >= cycles:
            break
    return process, events


def test_followed_lake_is_fresh_and_complete(tmp_path):
    """It also feeds the metrics, and holds every sample when the process ends."""
    lake = Lake(tmp_path / "lake")
    with running_prometheus() as server:
        scraping = Scraping(server.url)
        scraping.start()
        try:
            process, events = start_following(server.url, lake.root, 3, "--follow", "10s", "--start", "-20m")
            try:
                cycles = [event for event in events if event["event"] == "cycle" and not event["behind"]]
                ends_ms = [cycle["newest_verdict_ms"] for cycle in cycles]
                assert ends_ms == sorted(set(ends_ms))
                # The first cycle loads compiled code and reads an hour, and the second may begin late by that; then the promise holds, also
                # just before the next.
                assert max(cycle["age_s"] + 60 for cycle in cycles[2:]) < 120
                assert all(cycle["newest_sample_ms"] < cycle["until_ms"] for cycle in cycles)
                until = events.index(cycles[0]) + 1
                caught_up = sum(event["samples"] for event in events[:until] if event["event"] == "cycle")
                assert cycles[-1]["samples"] < caught_up / 2
                # What `serve` answers a scrape with.
                text = Exposition(lake).text().decode()
                shown = re.findall(
                    r"^throttlescope_verdict_timestamp_seconds\{.*\} (\S+)$", text, re.MULTILINE
                )
                assert len(shown) == len(SUBSCRIPTIONS)
                assert all(float(end_s) >= ends_ms[-1] / 1000 for end_s in shown)
                assert 'throttlescope_verdict{cluster="live"' in text
                process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=120)
            finally:
                process.kill()
                process.wait()
        finally:
            scraping.stopped.set()
            scraping.join()
    assert (process.returncode, err) == (0, "")
    last = json.loads(out.splitlines()[-1])
    assert last["event"] == "end"
    newest_ms = max(times[-1] for times in lake.read("samples").column("timestamps_ms").to_pylist())
    assert newest_ms >= ends_ms[-1] - SCRAPE_S * 1000
    (row,) = lake.read("ingest_runs").to_pylist()
    assert (row["status"], row["command"]) == ("done", "run")
    assert row["samples_written"] == last["sources"][0]["samples_written"] > 0
    (billing,) = {
        row["cause"] for row in lake.read("verdicts").to_pylist() if row["subscription"] == "billing"
    }
    assert billing != "healthy"
