"""Prometheus' JSON API, through ``prometheus-api-client``: checks and metadata, and samples where remote read is missing.

In: an address, and for samples a selector and a range. Out: facts about the server, or the same batches as remote read.
The client's traps are met here once: queries are quoted by us, its adapter and its missing timeout are replaced, its
answers are checked before it parses them, and raw samples come from instant queries of ranges, never from resampling.

JSON answers carry no staleness markers; they are inferred. Where ``up`` of a series' target is there, a marker belongs
at the first scrape that no longer had the series, which is where Prometheus itself put it. Elsewhere a gap of more
than one and a half intervals of the series is taken for one.
"""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import requests
from prometheus_api_client import PrometheusConnect
from prometheus_api_client.exceptions import PrometheusApiClientException

from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.labels import Labels
from throttlescope.ingest.core.selector import NAME_LABEL, REGEX, Matcher, Selector, metric_selector
from throttlescope.ingest.core.series import DecodedSeries, Meter, SampleBatch, batch_of
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.sources.access import (
    TRANSPORT_ERRORS,
    Access,
    check_answer,
    explain,
    is_html,
    public_url,
    refuse_html,
    too_many_series,
)
from throttlescope.ingest.sources.external_labels import configured_external_labels
from throttlescope.ingest.sources.json_shapes import (
    STRANGE_JSON,
    label_set,
    list_of,
    matrix_of,
    number_of,
    text_list,
    vector_of,
)

_WHAT = "Prometheus' API"
#: Samples of one answer: as Python objects they take 260 to 290 bytes each.
_SAMPLES_AT_ONCE = 200_000
_SHORTEST_WINDOW_MS = MINUTE_MS
_FIRST_WINDOW_MS = 10 * MINUTE_MS
#: How far beyond the range is looked to see whether a series went on: Prometheus' own look-back.
_MARGIN_MS = 5 * MINUTE_MS
_GAP = 1.5
#: Prometheus writes the smallest double in 326 characters where it writes no exponent.
_LONGEST_NUMBER = 400


class QueryTooLargeError(SourceError):
    """The server refuses a query for its size or time; a shorter window may pass."""


@dataclass
class PrometheusApi:
    """A Prometheus that is read through ``/api/v1``. Pickled into tasks; connects where it is used."""

    url: str
    access: Access = field(default_factory=Access)

    name = "prometheus_api"
    stale_is_inferred = True

    @property
    def address(self) -> str:
        return public_url(self.url)

    def __getstate__(self) -> dict:
        return {key: value for key, value in self.__dict__.items() if key != "_connected"}

    # -- facts about the server ------------------------------------------------------------

    def query(self, promql: str, time_ms: int, meter: Meter | None = None) -> list[dict]:
        """Result list of an instant query; values are ``[seconds, text]`` pairs as Prometheus sends them.

        Raises
        ------
        SourceError
        """
        params = {"time": f"{time_ms / 1000:.3f}"}
        with self._explained(meter):
            found = self._client.custom_query(promql, params=params)
            # The answer to a range selector is a matrix.
            return matrix_of(found) if promql.endswith("]") else vector_of(found)

    def label_values(
        self,
        label: str,
        selectors: Iterable[Selector],
        start_ms: int,
        end_ms: int,
        meter: Meter | None = None,
    ) -> list[str]:
        """Values of a label among the series that any of the selectors names in the range."""
        params = {
            "match[]": [str(selector) for selector in selectors],
            "start": f"{start_ms / 1000:.3f}",
            "end": f"{end_ms / 1000:.3f}",
        }
        with self._explained(meter):
            return text_list(self._client.get_label_values(label, params=params))

    def metric_names(
        self, selectors: Iterable[Selector], start_ms: int, end_ms: int, meter: Meter | None = None
    ) -> list[str]:
        """Names of the metrics that any of the selectors names in the range."""
        return self.label_values(NAME_LABEL, selectors, start_ms, end_ms, meter)

    def series(
        self, selector: Selector, start_ms: int, end_ms: int, meter: Meter | None = None
    ) -> list[dict]:
        """Label sets of the selector's series in the range."""
        start, end = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (start_ms, end_ms))
        with self._explained(meter):
            found = self._client.get_series(start, end, params={"match[]": [str(selector)]})
            return [label_set(one) for one in list_of(found)]

    def build_info(self, meter: Meter | None = None) -> dict[str, str]:
        """``/api/v1/status/buildinfo``: version and the like; empty where a server has none."""
        return self._optional("/api/v1/status/buildinfo", meter)

    def runtime_info(self, meter: Meter | None = None) -> dict[str, str]:
        """``/api/v1/status/runtimeinfo``: retention and the like; empty where a server has none."""
        return self._optional("/api/v1/status/runtimeinfo", meter)

    def external_labels(self, meter: Meter | None = None) -> dict[str, str]:
        """``external_labels`` of the server's configuration; empty where a server does not show it."""
        text = self._optional("/api/v1/status/config", meter).get("yaml", "")
        return configured_external_labels(text) if isinstance(text, str) else {}

    def targets(self, meter: Meter | None = None) -> list[dict]:
        """Active scrape targets as ``/api/v1/targets`` gives them; empty where a server has none."""
        found = self._optional("/api/v1/targets?state=active", meter).get("activeTargets", [])
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def scrape_interval_ms(
        self, selector: Selector, start_ms: int, end_ms: int, meter: Meter | None = None
    ) -> int | None:
        """Median distance of the samples of a few series that the selector names, at the end of the range."""
        window_ms = min(10 * MINUTE_MS, end_ms - start_ms)
        found = self.query(f"count_over_time({selector}[{window_ms}ms])", end_ms - 1, meter)
        counts = [number_of(item) for item in found]
        counts = [count for count in counts if 1 < count < math.inf]
        return round(window_ms / float(np.median(counts))) if counts else None

    # -- samples ---------------------------------------------------------------------------

    def read(self, selector: Selector, start_ms: int, end_ms: int, meter: Meter) -> Iterator[SampleBatch]:
        """See :class:`throttlescope.ingest.core.series.SampleSource`. Staleness markers are inferred."""
        low_ms = start_ms - _MARGIN_MS
        high_ms = min(end_ms + _MARGIN_MS, max(end_ms, round(time.time() * 1000)))
        up = self._up_of(selector, low_ms, high_ms, meter)
        markers = _Markers(start_ms, end_ms, high_ms)
        at_ms, window_ms = low_ms, _FIRST_WINDOW_MS
        while at_ms < high_ms:
            until_ms = min(at_ms + window_ms, high_ms)
            window = f"[{until_ms - at_ms}ms]"
            try:
                scrapes = self.query(f"{up}{window}", until_ms - 1, meter) if up else []
                found = self.query(f"{selector}{window}", until_ms - 1, meter)
            except QueryTooLargeError:
                if window_ms <= _SHORTEST_WINDOW_MS:
                    raise
                window_ms = max(window_ms // 2, _SHORTEST_WINDOW_MS)
                continue
            try:
                markers.add_scrapes(scrapes)
                series, samples = [], 0
                for item in found:
                    one = _decode(item, at_ms, until_ms)
                    samples += len(one.timestamps_ms)
                    marked = markers.mark(one)
                    if len(marked.timestamps_ms) or len(marked.stale_ms):
                        series.append(marked)
            except (*STRANGE_JSON, OverflowError) as error:
                raise self._strange(error) from error
            if markers.series > self.access.max_series:
                raise too_many_series(self.address, self.access.max_series)
            yield batch_of(series)
            window_ms = _next_window_ms(samples, until_ms - at_ms)
            at_ms = until_ms
        yield batch_of(list(markers.endings()))

    def _up_of(self, selector: Selector, start_ms: int, end_ms: int, meter: Meter) -> Selector | None:
        """``up`` of the jobs that the selector's series come from: the server may scrape much else."""
        if selector.metric_name == "up":
            return None
        jobs = self.label_values("job", [selector], start_ms, end_ms, meter)
        if not jobs:
            return None
        return metric_selector("up", [Matcher("job", REGEX, "|".join(re.escape(job) for job in jobs))])

    # -- the client ------------------------------------------------------------------------

    @property
    def _client(self) -> PrometheusConnect:
        if "_connected" not in self.__dict__:
            session = self.access.session()
            client = PrometheusConnect(self.url, session=session, timeout=self.access.timeout)
            # The constructor has put an adapter of its own before ours, with retries of every 5xx.
            self.access.mount(session, retries=2)
            session.hooks["response"].append(_check)
            self._connected = client
        return self._connected

    def _optional(self, path: str, meter: Meter | None) -> dict:
        """An endpoint that the client does not know and that a server need not show us; empty where it does not."""
        try:
            with self._explained(meter):
                answer = self._client._session.get(self.url + path, timeout=self.access.timeout)
                found = answer.json()["data"]
                return found if isinstance(found, dict) else {}
        except SourceError as error:
            if isinstance(error.__cause__, TRANSPORT_ERRORS):
                raise
            return {}

    @contextlib.contextmanager
    def _explained(self, meter: Meter | None) -> Iterator[None]:
        """Count the request and its answer; what goes wrong is one line."""
        meter = Meter() if meter is None else meter
        meter.requests += 1
        client = self._client
        received: list[requests.Response] = []
        client._session.hooks["response"].append(lambda answer, **_: received.append(answer))
        try:
            with self.access.hiding(), self._reporting_errors():
                yield
        finally:
            client._session.hooks["response"].pop()
            for answer in received:
                meter.bytes += len(answer.content)
                # Thanos and its like send a part with a warning; the client drops the warning.
                if b'"warnings":[' in answer.content[-4000:] or b'"warnings":[' in answer.content[:4000]:
                    meter.repairs["answers_with_warnings"] += 1

    def _strange(self, error: Exception) -> SourceError:
        return SourceError(
            f"{_WHAT} at {self.address} answers with something else",
            got=type(error).__name__,
            expected="JSON with a status and data",
            fix="give the address of the Prometheus itself",
        )

    @contextlib.contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        """Turn what the client raises into one line."""
        try:
            yield
        except (SourceError, InputError):
            raise
        except PrometheusApiClientException as error:
            raise SourceError(f"{_WHAT} at {self.address} failed", got=str(error)) from error
        except requests.exceptions.JSONDecodeError as error:
            raise self._strange(error) from error
        except TRANSPORT_ERRORS as error:
            raise explain(error, _WHAT, self.url, self.access) from error
        except STRANGE_JSON as error:
            raise self._strange(error) from error


def _check(answer: requests.Response, **_: object) -> None:
    """Judge an answer before the client parses it."""
    if answer.is_redirect:
        return
    check_answer(answer, _WHAT)
    if answer.status_code == 200 and not is_html(answer):
        return
    url = public_url(answer.url)
    if answer.status_code == 404 and not is_html(answer):
        raise SourceError(
            f"{_WHAT} is not at {url}",
            got="404 Not Found",
            fix="give the address without /api/v1, and with the path prefix if Prometheus has one",
        )
    refuse_html(answer, _WHAT)
    try:
        said = answer.json()
        kind, words = str(said["errorType"]), " ".join(str(said["error"])[:300].split())
    except STRANGE_JSON:
        kind, words = "", " ".join(answer.text[:300].split())
    if answer.status_code in (413, 422, 503, 504) and kind in ("execution", "timeout", "canceled", ""):
        raise QueryTooLargeError(
            f"{_WHAT} at {url} gave up on a query",
            got=f"{answer.status_code} {words}",
            fix="request a shorter range or fewer series, or raise query.max-samples and query.timeout",
        )
    raise SourceError(
        f"{_WHAT} at {url} refused a query", got=f"{answer.status_code} {words or answer.reason}"
    )


def _decode(item: dict, start_ms: int, end_ms: int) -> DecodedSeries:
    """One series of a matrix answer, trimmed: Prometheus 2 sends the sample on the left edge, too."""
    pairs = item.get("values", [])  # a series of native histograms alone has none
    seconds, texts = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if max(map(len, texts), default=0) > _LONGEST_NUMBER:
        # As an array every text takes as much as the longest.
        raise ValueError("a value that is no number")
    times = _times_ms(seconds)
    values = np.array(texts, dtype=np.str_).astype(np.float64)
    inside = (times >= start_ms) & (times < end_ms)
    labels: Labels = tuple(sorted(item["metric"].items()))
    return DecodedSeries(labels, times[inside], values[inside], np.empty(0, np.int64))


def _times_ms(seconds: list) -> np.ndarray:
    times = np.rint(np.array(seconds, np.float64) * 1000)
    if not (np.abs(times) < 2.0**62).all():
        raise ValueError("a time that is none")
    return times.astype(np.int64)


def _next_window_ms(samples: int, window_ms: int) -> int:
    if samples == 0:
        return window_ms * 4
    return int(min(max(window_ms * _SAMPLES_AT_ONCE / samples, _SHORTEST_WINDOW_MS), window_ms * 4))


class _Markers:
    """Infers staleness markers of series whose samples come window by window."""

    def __init__(self, start_ms: int, end_ms: int, known_until_ms: int) -> None:
        # Times of the scrapes of every target, by (job, instance).
        self._scrapes: dict[tuple[str, str], np.ndarray] = {}
        self._start_ms, self._end_ms, self._known_until_ms = start_ms, end_ms, known_until_ms
        # Per series: its last sample, and its usual distance of samples once two are known.
        self._last_ms: dict[Labels, int] = {}
        self._interval_ms: dict[Labels, float] = {}

    @property
    def series(self) -> int:
        """Series seen so far."""
        return len(self._last_ms)

    def add_scrapes(self, found: list[dict]) -> None:
        """Take ``up`` of the next window; called before the window's series."""
        for item in found:
            labels = item["metric"]
            key = (labels.get("job", ""), labels.get("instance", ""))
            times = _times_ms([pair[0] for pair in item["values"]])
            self._scrapes[key] = np.union1d(self._scrapes[key], times) if key in self._scrapes else times

    def mark(self, series: DecodedSeries) -> DecodedSeries:
        """The series trimmed to the range, with markers for what ended before its last sample here."""
        times = series.timestamps_ms
        stale = np.empty(0, np.int64)
        if len(times):
            before = self._last_ms.get(series.labels)
            chain = times if before is None else np.concatenate([[before], times])
            self._last_ms[series.labels] = int(times[-1])
            if len(chain) > 1:
                gaps = np.diff(chain)
                self._interval_ms.setdefault(series.labels, float(np.median(gaps)))
                stale = self._missed(series.labels, chain[:-1], chain[1:])
        inside = (times >= self._start_ms) & (times < self._end_ms)
        stale = stale[(stale >= self._start_ms) & (stale < self._end_ms)]
        return DecodedSeries(series.labels, times[inside], series.values[inside], stale)

    def endings(self) -> Iterator[DecodedSeries]:
        """Markers of the series that did not come back."""
        none = np.empty(0, np.int64)
        for labels, last_ms in self._last_ms.items():
            stale = self._missed(labels, np.array([last_ms]), np.array([self._known_until_ms]))
            stale = stale[(stale >= self._start_ms) & (stale < self._end_ms)]
            if len(stale):
                yield DecodedSeries(labels, none, np.empty(0, np.float64), stale)

    def _missed(self, labels: Labels, times: np.ndarray, nexts: np.ndarray) -> np.ndarray:
        """Markers between neighbours: each of ``times`` and the sample, or the end of knowledge, that follows it."""
        named = dict(labels)
        scrapes = self._scrapes.get((named.get("job", ""), named.get("instance", "")))
        if scrapes is not None and named.get(NAME_LABEL) != "up":
            due = np.append(scrapes, np.iinfo(np.int64).max)[np.searchsorted(scrapes, times, side="right")]
            return due[due < nexts]
        interval_ms = self._interval_ms.get(labels)
        if interval_ms is None:
            return np.empty(0, np.int64)
        return (times + round(interval_ms))[nexts - times > _GAP * interval_ms]
