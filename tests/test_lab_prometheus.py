"""A real Prometheus keeps what is written to it, staleness markers included, and it can be read back."""

from __future__ import annotations

import math
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from tests.lab.parts import PartMissing, prometheus_binary
from tests.lab.prometheus import STALE, running_prometheus, write_series
from tests.lab.readback import EQUAL, read_series
from tests.lab.targets import ScrapeTargets

pytestmark = pytest.mark.prometheus


@pytest.fixture(scope="module")
def server():
    try:
        prometheus_binary()
    except PartMissing as missing:
        pytest.skip(str(missing))
    with running_prometheus() as running:
        yield running


def test_write_and_read_back(server) -> None:
    now_ms = round(time.time() * 1000)
    labels = {"__name__": "lab_written", "text": 'a"b\n\\c'}
    samples = [
        (now_ms - 30_000, 1.5),
        (now_ms - 20_000, STALE),
        (now_ms - 10_000, float("nan")),
        (now_ms - 5_000, 0.0),
    ]
    assert write_series(server.url, [(labels, samples)]) == 4
    (series,) = read_series(server.url, [(EQUAL, "__name__", "lab_written")], now_ms - 60_000, now_ms)
    assert series.labels == labels
    assert series.stale_ms == [now_ms - 20_000]
    assert series.timestamps_ms == [now_ms - 30_000, now_ms - 10_000, now_ms - 5_000]
    assert series.values[0] == 1.5
    assert math.isnan(series.values[1])
    assert series.values[2] == 0.0


def test_staleness_marker_ends_a_series(server) -> None:
    now_ms = round(time.time() * 1000)
    write_series(
        server.url, [({"__name__": "lab_ended"}, [(now_ms - 30_000, 1.0), (now_ms - 15_000, STALE)])]
    )
    assert server.query("lab_ended", (now_ms - 20_000) / 1000)
    assert not server.query("lab_ended", (now_ms - 10_000) / 1000)


def test_old_samples_in_any_order(server) -> None:
    year_2001_ms = 978_307_200_000
    write_series(server.url, [({"__name__": "lab_old"}, [(year_2001_ms, 2.0)])])
    write_series(server.url, [({"__name__": "lab_old"}, [(year_2001_ms - 60_000, 1.0)])])
    (row,) = server.query("count_over_time(lab_old[5m])", year_2001_ms / 1000)
    assert row["value"][1] == "2"


def test_refusal_carries_the_servers_words() -> None:
    now_ms = round(time.time() * 1000)
    with running_prometheus(out_of_order_window=None) as strict:
        write_series(strict.url, [({"__name__": "lab_ordered"}, [(now_ms, 1.0)])])
        with pytest.raises(RuntimeError, match="out of order"):
            write_series(strict.url, [({"__name__": "lab_ordered"}, [(now_ms - 5_000, 1.0)])])


def test_a_series_without_a_name_is_refused(server) -> None:
    # The server itself drops such a series without a word.
    with pytest.raises(ValueError, match="__name__"):
        write_series(server.url, [({"job": "lab"}, [(1_000, 1.0)])])


@pytest.fixture
def exporters():
    """Two servers that any Prometheus can scrape."""
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Exporter) for _ in range(2)]
    for each in servers:
        threading.Thread(target=each.serve_forever, daemon=True).start()
    yield [f"127.0.0.1:{each.server_port}" for each in servers]
    for each in servers:
        each.shutdown()
        each.server_close()


class Exporter(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(b"lab_scraped 1\n")

    def log_message(self, *arguments: object) -> None:
        pass


def test_instance_labels_change_while_scraping(exporters: list[str], tmp_path) -> None:
    first, second = exporters
    targets = ScrapeTargets(tmp_path / "targets.json", [first, second])
    with running_prometheus([targets.scrape_config], scrape_interval_s=0.25) as scraping:
        assert instances_until(scraping, {first, second}) == {first, second}
        targets.write({first: "broker-0", second: second})
        assert instances_until(scraping, {"broker-0", second}) == {"broker-0", second}


def test_paused_prometheus_misses_scrapes(exporters: list[str], tmp_path) -> None:
    targets = ScrapeTargets(tmp_path / "targets.json", exporters)
    with running_prometheus([targets.scrape_config], scrape_interval_s=0.25) as scraping:
        instances_until(scraping, set(exporters))
        scraping.pause()
        paused_ms = round(time.time() * 1000)
        time.sleep(2)
        resumed_ms = round(time.time() * 1000)
        scraping.resume()
        time.sleep(1)
        now_ms = round(time.time() * 1000)
        series = list(read_series(scraping.url, [(EQUAL, "__name__", "lab_scraped")], 0, now_ms))
        assert len(series) == 2
        for item in series:
            # A scrape that was under way fails when its server goes on, and is marked at the time at which it began.
            assert [at_ms for at_ms in item.stale_ms if paused_ms < at_ms < resumed_ms] == []
            assert max(np.diff(item.timestamps_ms)) >= 1_500


def instances_until(server, wanted: set[str]) -> set[str]:
    """The instances that have a sample now, asked until they are the wanted ones or 15 s have passed."""
    until = time.monotonic() + 15
    while True:
        found = {row["metric"]["instance"] for row in server.query("lab_scraped")}
        if found == wanted or time.monotonic() > until:
            return found
        time.sleep(0.2)
