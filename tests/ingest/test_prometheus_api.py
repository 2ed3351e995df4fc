"""The JSON API against remote read on the same real Prometheus; inferred markers against real ones; and its traps."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import unquote_plus

import numpy as np
import pytest

from tests.app.http_server import answering, html, unauthorised
from tests.ingest.proxy import Reply, proxy
from tests.lab.prometheus import STALE, running_prometheus, write_series
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.selector import Matcher, metric_selector, parse_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.sources import prometheus_api
from throttlescope.ingest.sources.access import Access, clean_url, public_url
from throttlescope.ingest.sources.prometheus import open_prometheus
from throttlescope.ingest.sources.prometheus_api import PrometheusApi, QueryTooLargeError
from throttlescope.ingest.sources.remote_read import RemoteRead, RemoteReadMissing

pytestmark = pytest.mark.prometheus

START_MS = 1_760_000_400_000
STEP_MS = 15_000
SCRAPES = 200
END_MS = START_MS + SCRAPES * STEP_MS
ODD = 'quo"te\nnew\\line ../'


def scrape_ms(number: int) -> int:
    """Scrapes jitter by a few milliseconds, as real ones do."""
    return START_MS + number * STEP_MS + (number * 7) % 5


def written() -> list:
    """Two targets; what a Prometheus stores when a series vanishes, a scrape fails, a series is born late."""
    alive = range(SCRAPES)
    series = []
    for target in ("a", "b"):
        where = {"job": "broker", "instance": f"{target}:8080"}
        failed = set(range(100, 104)) if target == "b" else set()
        series.append(
            ({"__name__": "up", **where}, [(scrape_ms(i), 0.0 if i in failed else 1.0) for i in alive])
        )
        for name, there in {
            "always": set(alive),
            "hole": set(alive) - set(range(20, 30)),
            "ends": set(range(40)),
            "late": set(range(150, SCRAPES)),
            "once": {70},
        }.items():
            samples = []
            for i in alive:
                if i in there - failed:
                    samples.append((scrape_ms(i), float(i)))
                elif i - 1 in there - failed:
                    samples.append((scrape_ms(i), STALE))
            series.append(({"__name__": "m", "kind": name, "odd": ODD, **where}, samples))
    # Of a target without up: a regular series with a hole.
    lonely = [(START_MS + i * 60_000, float(i)) for i in range(50) if i not in (20, 21)]
    series.append(({"__name__": "m", "kind": "lonely"}, [*lonely, (START_MS + 20 * 60_000, STALE)]))
    values = [0.1, -0.0, float("inf"), float("-inf"), float("nan"), 1e-7, 1e21, 123456789.123456789]
    series.append(({"__name__": "special"}, [(scrape_ms(i), v) for i, v in enumerate(values)]))
    return series


@pytest.fixture(scope="module")
def prometheus():
    with running_prometheus() as server:
        write_series(server.url, written())
        yield server


def read(source, text: str, start_ms: int = START_MS, end_ms: int = END_MS):
    found: dict = {}
    meter = Meter()
    for batch in source.read(parse_selector(text), start_ms, end_ms, meter):
        for one in batch:
            times, values, stale = found.setdefault(one.labels, ([], [], []))
            times += one.timestamps_ms.tolist()
            values += one.values.tolist()
            stale += one.stale_ms.tolist()
    return {labels: (t, v, sorted(s)) for labels, (t, v, s) in found.items()}, meter


@pytest.mark.parametrize("window_ms", [60_000, 600_000, 10**8])
@pytest.mark.parametrize(
    ("start", "end"), [(0, SCRAPES), (25, 60), (20, 21), (19, 20), (30, 31), (40, 41), (103, 105), (71, 72)]
)
def test_samples_and_markers_equal_remote_read(
    prometheus, monkeypatch, window_ms: int, start: int, end: int
) -> None:
    """Wherever the range begins and ends, and however it is cut into windows."""
    monkeypatch.setattr(prometheus_api, "_FIRST_WINDOW_MS", window_ms)
    monkeypatch.setattr(prometheus_api, "_next_window_ms", lambda samples, window: window_ms)
    low, high = scrape_ms(start), scrape_ms(end)
    selector = 'm{kind!="lonely"}'
    expected, _ = read(RemoteRead(prometheus.url), selector, low, high)
    found, meter = read(PrometheusApi(prometheus.url), selector, low, high)
    assert found.keys() == {k for k, v in expected.items() if v[0] or v[2]}
    assert found == {k: v for k, v in expected.items() if v[0] or v[2]}
    assert meter.requests >= 2
    assert meter.bytes > 0


def test_only_own_jobs_are_requested(prometheus) -> None:
    with proxy(prometheus.url) as between:
        read(PrometheusApi(between.url), 'm{kind="always"}')
        asked = [unquote_plus(path) for path in between.paths if "query=up" in path]
        assert asked
        assert all('up{job=~"broker"}' in path for path in asked)
        between.paths.clear()
        read(PrometheusApi(between.url), 'm{kind="lonely"}')
        assert not [path for path in between.paths if "query=up" in path]


def test_without_up_a_gap_is_a_marker(prometheus) -> None:
    selector = 'm{kind="lonely"}'
    expected, _ = read(RemoteRead(prometheus.url), selector)
    found, _ = read(PrometheusApi(prometheus.url), selector)
    ((times, values, stale),) = found.values()
    ((real_times, real_values, real_stale),) = expected.values()
    assert (times, values) == (real_times, real_values)
    # The hole is found; the end as well, because the server's clock is years ahead of it.
    assert stale == [*real_stale, START_MS + 50 * 60_000][: len(stale)]
    assert real_stale[0] in stale


def test_special_values(prometheus) -> None:
    expected, _ = read(RemoteRead(prometheus.url), "special")
    found, _ = read(PrometheusApi(prometheus.url), "special")
    ((times, values, _),) = found.values()
    ((real_times, real_values, _),) = expected.values()
    assert times == real_times
    same = np.array(values).view(np.int64) == np.array(real_values).view(np.int64)
    assert same.sum() == len(values) - 1, "all bits but those of NaN, of which JSON says only that it is one"
    assert np.isnan(values).tolist() == np.isnan(real_values).tolist()


def test_odd_label_values_are_quoted(prometheus) -> None:
    selector = metric_selector("m", [Matcher("odd", "=", ODD), Matcher("kind", "=", "once")])
    found, _ = read(PrometheusApi(prometheus.url), str(selector))
    assert len(found) == 2


def test_facts(prometheus) -> None:
    api = PrometheusApi(prometheus.url)
    assert api.build_info()["version"].startswith("3.")
    assert api.metric_names([parse_selector("m"), parse_selector("up")], START_MS, END_MS) == ["m", "up"]
    assert api.label_values("kind", [parse_selector('m{kind=~"o.*|l.*"}')], START_MS, END_MS) == [
        "late",
        "lonely",
        "once",
    ]
    assert len(api.series(parse_selector("up"), START_MS, END_MS)) == 2
    assert api.scrape_interval_ms(parse_selector("up"), START_MS, END_MS) == pytest.approx(STEP_MS, rel=0.03)
    assert api.scrape_interval_ms(parse_selector("nothing"), START_MS, END_MS) is None
    assert api.targets() == []


def test_too_large_window_is_split(prometheus) -> None:
    """A server that loads few samples at once gets requests for shorter windows until it answers or refuses."""
    longest_ms = 200_000

    def spoil(path: str, reply: Reply) -> Reply | None:
        window = re.search(r"%5B(\d+)ms%5D", path)
        if "always" in path and window and int(window.group(1)) > longest_ms:
            words = "query processing would load too many samples into memory in query execution"
            body = json.dumps({"status": "error", "errorType": "execution", "error": words}).encode()
            return Reply(422, {"Content-Type": "application/json"}, body)
        return None

    expected, _ = read(RemoteRead(prometheus.url), "m{kind='always'}")
    with proxy(prometheus.url, spoil) as between:
        found, _ = read(PrometheusApi(between.url), "m{kind='always'}")
        assert found == expected
        longest_ms = 50_000
        with pytest.raises(QueryTooLargeError, match="max-samples"):
            read(PrometheusApi(between.url), "m{kind='always'}")


# -- choosing how to read ------------------------------------------------------------------


def test_remote_read_is_taken_where_it_is(prometheus) -> None:
    source = open_prometheus(prometheus.url + "/")
    assert (source.samples.name, source.why_not_remote_read) == ("prometheus_remote_read", None)
    assert source.version.startswith("3.")
    assert open_prometheus(prometheus.url, reader="api").samples.name == "prometheus_api"
    with pytest.raises(InputError, match="reader"):
        open_prometheus(prometheus.url, reader="fast")


@pytest.mark.parametrize("status", [404, 405, 501, 200])
def test_api_is_used_without_remote_read(prometheus, status: int) -> None:
    def without(path: str, reply: Reply) -> Reply | None:
        if path.startswith("/api/v1/read"):
            return Reply(
                status, {"Content-Type": "text/html" if status == 200 else "text/plain"}, b"<p>no such page"
            )
        return None

    with proxy(prometheus.url, without) as between:
        source = open_prometheus(between.url)
        assert source.samples.name == "prometheus_api"
        assert str(status) in source.why_not_remote_read
        with pytest.raises(RemoteReadMissing):
            open_prometheus(between.url, reader="remote_read")


@pytest.mark.parametrize("status", [403, 404, 500])
def test_server_without_status_api_is_read(prometheus, status: int) -> None:
    def hide(path: str, reply: Reply) -> Reply | None:
        return Reply(status, {"Content-Type": "text/html"}, b"<p>no") if "/status/" in path else None

    with proxy(prometheus.url, hide) as between:
        source = open_prometheus(between.url)
        assert source.version is None
        assert source.mapping.external == {}
        assert source.samples.name == "prometheus_remote_read"


# -- what refuses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (unauthorised, ["401", "token"]),
        (lambda *_: (403, "text/plain", b"tenant?"), ["403", "tenant header"]),
        (html, ["web page", "/graph"]),
        (lambda *_: (200, "application/json", b"{}"), ["something else", "JSON"]),
        (lambda *_: (200, "application/json", b"not json"), ["something else", "JSON"]),
        (lambda *_: (200, "application/json", b'{"status":"success","data":[]}'), ["something else"]),
        (lambda *_: (404, "text/plain", b"404 page not found"), ["404", "prefix"]),
        (lambda *_: (500, "text/plain", b"boom"), ["500", "boom"]),
        (lambda *_: (502, "text/html", b"<html>bad gateway"), ["web page"]),
    ],
)
def test_refusals_are_one_line_with_a_fix(answer, words: list[str]) -> None:
    with answering(answer) as url, pytest.raises(SourceError) as caught:
        open_prometheus(url, Access(token="s3cret"))  # noqa: S106
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert "\n" not in text
    assert "s3cret" not in text
    assert caught.value.exit_code == 4


def test_unreachable_server_fails_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(SourceError, match="cannot be reached"):
        open_prometheus("http://127.0.0.1:1", Access(timeout_s=120))
    assert time.monotonic() - began < 60


def test_an_overloaded_server_is_not_stormed() -> None:
    """The client's own retries would send four requests; ours send three, and only where a retry can help."""
    asked: list[str] = []

    def busy(method: str, path: str, headers: dict[str, str]):
        asked.append(path)
        body = {"status": "error", "errorType": "timeout", "error": "query timed out"}
        return 503, "application/json", json.dumps(body).encode()

    with answering(busy) as url:
        with pytest.raises(QueryTooLargeError, match="query timed out"):
            PrometheusApi(url).query("up", 0)
        assert len(asked) == 3
        asked.clear()
    with (
        answering(lambda *a: (asked.append("x"), (500, "text/plain", b"no"))[1]) as broken,
        pytest.raises(SourceError),
    ):
        PrometheusApi(broken).query("up", 0)
    assert len(asked) == 1


def test_a_faulty_query_shows_the_servers_words(prometheus) -> None:
    with pytest.raises(SourceError, match="parse error"):
        PrometheusApi(prometheus.url).query("up{", 0)


def test_warnings_of_a_partial_answer_are_counted() -> None:
    body = b'{"status":"success","warnings":["store 1 is gone"],"data":{"resultType":"vector","result":[]}}'
    meter = Meter()
    with answering(lambda *_: (200, "application/json", body)) as url:
        assert PrometheusApi(url).query("up", 0, meter) == []
    assert meter.repairs["answers_with_warnings"] == 1


@pytest.mark.parametrize(
    "url", ["prometheus:9090", "ftp://x", "http://", "http://x:99999", "http://u:p4ss@x:9090", ""]
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(InputError) as caught:
        open_prometheus(url)
    assert "p4ss" not in str(caught.value)


def test_addresses_are_shown_without_secrets() -> None:
    assert public_url("https://u:p4ss@host:9090/prom?token=x#y") == "https://host:9090/prom"
    assert clean_url("http://host:9090/prom/?x=1") == "http://host:9090/prom"
