"""One scrape. In: a lake, sources and the server's own counters. Out: Prometheus' text format, limited in size and cached for a few seconds.

A source that fails leaves its families out and says so in ``throttlescope_metrics_source_up``; the rest of the scrape is complete.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version

from throttlescope.app.server.metrics.data import DataFamilies
from throttlescope.app.server.metrics.families import Family, Source, described, label_text
from throttlescope.app.server.metrics.limits import LimitFamilies
from throttlescope.app.server.metrics.runs import run_families
from throttlescope.app.server.metrics.verdicts import verdict_families
from throttlescope.ingest.lake import Lake

#: How long a rendered scrape is cached.
KEPT_S = 10.0
#: Series of one family at most. Limits have six for each subscription partition.
MAX_SERIES = 200_000

_log = logging.getLogger(__name__)


def default_sources() -> dict[str, Source]:
    """The sources of ``serve`` by name."""
    return {
        "limits": LimitFamilies(),
        "verdicts": verdict_families,
        "runs": run_families,
        "data": DataFamilies(),
    }


class Exposition:
    """Renders the metrics of one lake. Threads may share it: one of them renders, the others wait for the result.

    Parameters
    ----------
    lake : Lake
    sources : mapping of name to Source, optional
    now_ms : callable, optional
        The clock, in epoch milliseconds.
    of_server : callable, optional
        The server's own counters as text: called at every scrape.
    """

    def __init__(
        self,
        lake: Lake,
        sources: Mapping[str, Source] | None = None,
        *,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        kept_s: float = KEPT_S,
        max_series: int = MAX_SERIES,
        of_server: Callable[[], str] = lambda: "",
    ) -> None:
        self._lake, self._sources, self._now_ms = lake, dict(sources or default_sources()), now_ms
        self._kept_s, self._max_series, self._of_server = kept_s, max_series, of_server
        self._lock = threading.Lock()
        self._rendered: tuple[float, bytes] | None = None
        self._failed: set[str] = set()

    def text(self) -> bytes:
        """The scrape's body."""
        with self._lock:
            now_s = time.monotonic()
            if self._rendered is None or now_s - self._rendered[0] >= self._kept_s:
                self._rendered = (now_s, self._render())
            return self._rendered[1] + self._of_server().encode()

    def _render(self) -> bytes:
        return "".join(family.text(self._max_series) for family in self._families()).encode(errors="replace")

    def _families(self) -> Iterator[Family]:
        begun_s, now_ms = time.monotonic(), self._now_ms()
        up, left_out = [], []
        for name, source in self._sources.items():
            missing = 0
            try:
                found = list(source(self._lake, now_ms))
            except Exception:
                # Logged when it starts, not at every scrape.
                if name not in self._failed:
                    _log.exception("the metrics of %s cannot be read", name)
                self._failed.add(name)
                up.append((label_text({"source": name}), 0.0))
            else:
                self._failed.discard(name)
                up.append((label_text({"source": name}), 1.0))
                missing = sum(max(0, len(family.samples) - self._max_series) for family in found)
                yield from found
            left_out.append((label_text({"source": name}), float(missing)))
        yield described("throttlescope_metrics_source_up", up)
        yield described(
            "throttlescope_metrics_left_out_series",
            left_out,
        )
        yield described(
            "throttlescope_metrics_collected_seconds",
            [("", time.monotonic() - begun_s)],
        )
        yield described(
            "throttlescope_build_info",
            [(label_text({"version": version("throttlescope")}), 1.0)],
        )
