"""The two engines that are compared. In: series, a text, times in milliseconds. Out: :class:`Outcome`."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterable, Iterator
from typing import Protocol

import requests

from tests.lab.prometheus import STALE, running_prometheus, write_series
from tests.naive.promql import NaiveSeries
from tests.promql.compare import source_of
from tests.promql.conformance.outcome import CRASH, Outcome, our_outcome, server_outcome
from throttlescope.transforms.promql.query import Options, instant_query, range_query
from throttlescope.transforms.promql.semantics import LOOKBACK_MS
from throttlescope.transforms.promql.source import SampleSource

EXPERIMENTAL = "--enable-feature=promql-experimental-functions"


class Target(Protocol):
    """Something that answers queries; ``step_ms`` 0 is an instant query at ``start_ms``."""

    def query(
        self, text: str, start_ms: int, end_ms: int, step_ms: int, lookback_ms: int = LOOKBACK_MS
    ) -> Outcome: ...


class Ours:
    """Our evaluator in this process.

    Parameters
    ----------
    source : SampleSource
    timeout_s : float
        A query that takes longer counts as a crash.
    """

    def __init__(self, source: SampleSource, timeout_s: float = 300) -> None:
        self._source, self._timeout_s = source, timeout_s

    @classmethod
    def over(cls, series: Iterable[NaiveSeries], timeout_s: float = 300) -> Ours:
        return cls(source_of(series), timeout_s)

    def query(
        self, text: str, start_ms: int, end_ms: int, step_ms: int, lookback_ms: int = LOOKBACK_MS
    ) -> Outcome:
        options = Options(lookback_ms=lookback_ms)

        def run():
            if step_ms:
                return range_query(text, self._source, start_ms, end_ms, step_ms, options)
            return instant_query(text, self._source, start_ms, options)

        try:
            with alarm(self._timeout_s):
                return our_outcome(run)
        except TooLongError:
            return Outcome(error=CRASH, message=f"no answer within {self._timeout_s:.0f} s")


class TooLongError(BaseException):
    """A query took too long. Not an Exception, so that nothing below takes it for its own."""


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raises :class:`TooLongError` when the time is up."""

    def ring(*_):
        raise TooLongError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Server:
    """A running Prometheus."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._session = requests.Session()

    def query(
        self, text: str, start_ms: int, end_ms: int, step_ms: int, lookback_ms: int = LOOKBACK_MS
    ) -> Outcome:
        if step_ms:
            path, times = (
                "query_range",
                {"start": _seconds(start_ms), "end": _seconds(end_ms), "step": _seconds(step_ms)},
            )
        else:
            path, times = "query", {"time": _seconds(start_ms)}
        asked = {"query": text, **times}
        if lookback_ms != LOOKBACK_MS:
            asked["lookback_delta"] = f"{lookback_ms}ms"
        answer = self._session.post(f"{self.url}/api/v1/{path}", data=asked, timeout=120)
        return server_outcome(answer.json())

    def write(self, series: Iterable[NaiveSeries]) -> None:
        """Write samples and staleness markers."""
        write_series(
            self.url,
            [
                (one.labels, sorted([*one.samples, *((t, STALE) for t in one.stale_ms)], key=lambda s: s[0]))
                for one in series
            ],
        )

    def version(self) -> str:
        return self._session.get(f"{self.url}/api/v1/status/buildinfo", timeout=10).json()["data"]["version"]


def _seconds(time_ms: int) -> str:
    sign, size = ("-" if time_ms < 0 else ""), abs(time_ms)
    return f"{sign}{size // 1000}.{size % 1000:03d}"


@contextlib.contextmanager
def server(max_lifetime_s: float = 7200) -> Iterator[Server]:
    """A Prometheus 3.5 of its own with the experimental functions on and everything else as it comes."""
    with running_prometheus(extra_flags=[EXPERIMENTAL], max_lifetime_s=max_lifetime_s) as running:
        yield Server(running.url)
