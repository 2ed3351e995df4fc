"""The plan of a pull: in, metrics and a range; out, items of one metric and a few hours, each small enough for a task.

Chunks of hours lie on a grid counted from the epoch, so that a later pull of another range, or the same one repeated
after it was killed, finds the same items again.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.metrics import BACKLOG_METRICS
from throttlescope.ingest.core.selector import EQUAL, NAME_LABEL, REGEX, Matcher, Selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, SECOND_MS, check_range, format_time
from throttlescope.ingest.pull.wanted_metrics import WantedMetrics
from throttlescope.ingest.sources.json_shapes import number_of
from throttlescope.ingest.sources.prometheus_api import PrometheusApi

#: What one item should bring. A task holds twice as many before it goes to scratch.
SAMPLES_PER_ITEM = 2_000_000
_HOURS = (24, 12, 8, 6, 4, 3, 2, 1)
_DEFAULT_INTERVAL_MS = 15 * SECOND_MS
_COUNTED_MOMENTS = 5


@dataclass(frozen=True)
class PullItem:
    """One metric of one source in one span of time.

    Attributes
    ----------
    source : str
        Name of the source among those of the pull.
    selectors : tuple of Selector
        Read one after the other; a series that two of them name is taken once.
    expected_samples : int
        From a count of series; decides the order of work only.
    """

    source: str
    metric_name: str
    selectors: tuple[Selector, ...]
    start_ms: int
    end_ms: int
    expected_samples: int = 0

    @property
    def key(self) -> str:
        """Name of the item's note: what is requested, not when or how."""
        requested = [
            self.source,
            self.metric_name,
            [str(s) for s in self.selectors],
            self.start_ms,
            self.end_ms,
        ]
        return hashlib.sha256(json.dumps(requested).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Sizes:
    """What is known of a metric before it is read."""

    series: int
    hours_per_item: int

    def to_json(self) -> dict:
        return asdict(self)


def widened(start_ms: int, end_ms: int, now_ms: int) -> tuple[int, int]:
    """The range widened to whole UTC hours, clipped at now."""
    start_ms -= start_ms % BLOCK_MS
    end_ms += -end_ms % BLOCK_MS
    return start_ms, min(end_ms, now_ms)


def range_to_read(start_ms: int, end_ms: int, now_ms: int) -> tuple[int, int]:
    """The range widened, of which something is over.

    Raises
    ------
    InputError
        It runs backwards, or lies in the future.
    """
    check_range(start_ms, end_ms)
    start_ms, end_ms = widened(start_ms, end_ms, now_ms)
    if start_ms >= end_ms:
        raise InputError(
            "The range lies in the future",
            got=f"start {format_time(start_ms)}",
            fix="choose an earlier --start",
        )
    return start_ms, end_ms


def measure(
    api: PrometheusApi, wanted: WantedMetrics, start_ms: int, end_ms: int, meter: Meter
) -> dict[str, Sizes]:
    """Size of every metric, from counts at a few moments; the largest counts.

    A server that does not answer such counts is read an hour at a time.
    """
    try:
        counts = _counts(api, wanted, start_ms, end_ms, meter)
        interval_ms = interval_of(api, start_ms, end_ms, meter)
    except SourceError:
        return {name: Sizes(0, 1) for name in wanted.selectors_of}
    per_hour = BLOCK_MS / interval_ms
    sizes = {}
    for name in wanted.selectors_of:
        series = counts.get(name, 0)
        hours = next((h for h in _HOURS if series * per_hour * h <= SAMPLES_PER_ITEM), 1)
        sizes[name] = Sizes(series, hours)
    return sizes


def items_of(
    source: str, wanted: WantedMetrics, sizes: dict[str, Sizes], start_ms: int, end_ms: int
) -> list[PullItem]:
    """Cut metrics and range into items: day by day, the largest first."""
    items = []
    for name, selectors in wanted.selectors_of.items():
        size = sizes[name]
        chunk_ms = size.hours_per_item * BLOCK_MS
        for low in range(start_ms - start_ms % chunk_ms, end_ms, chunk_ms):
            inside = max(low, start_ms), min(low + chunk_ms, end_ms)
            expected = size.series * (inside[1] - inside[0]) // _DEFAULT_INTERVAL_MS
            items.append(PullItem(source, name, selectors, *inside, expected))
    return sorted(
        items,
        key=lambda item: (item.start_ms // DAY_MS, -item.expected_samples, item.metric_name, item.start_ms),
    )


def count_subscriptions(
    api: PrometheusApi, selectors: Sequence[Selector], start_ms: int, end_ms: int, meter: Meter
) -> int | None:
    """Series of a backlog that some selectors match: the larger count of two moments of [start_ms, end_ms).

    Returns
    -------
    int or None
        None: the server does not answer such counts.
    """
    narrowed = tuple(
        Selector(tuple(matcher for matcher in one.matchers if matcher.name != NAME_LABEL))
        for one in (selectors or (Selector(()),))
    )
    wanted = WantedMetrics(dict.fromkeys(BACKLOG_METRICS, tuple(dict.fromkeys(narrowed))), ())
    try:
        return sum(_counts(api, wanted, start_ms, end_ms, meter, moments=2).values())
    except SourceError:
        return None


def _counts(
    api: PrometheusApi,
    wanted: WantedMetrics,
    start_ms: int,
    end_ms: int,
    meter: Meter,
    *,
    moments: int = _COUNTED_MOMENTS,
) -> dict[str, int]:
    """Series per metric: the largest count among a few moments, selectors added up."""
    by_matchers: dict[tuple[Matcher, ...], list[str]] = {}
    for name, selectors in wanted.selectors_of.items():
        for selector in selectors:
            rest = tuple(m for m in selector.matchers if m.name != NAME_LABEL)
            by_matchers.setdefault(rest, []).append(name)
    times_ms = np.linspace(start_ms, end_ms - 1, moments + 1, dtype=np.int64)[1:].tolist()
    counts: dict[str, int] = {}
    for rest, names in by_matchers.items():
        any_name = Matcher(NAME_LABEL, REGEX, "|".join(re.escape(name) for name in names))
        largest: dict[str, int] = {}
        for time_ms in dict.fromkeys(times_ms):
            found = api.query(f"count by (__name__) ({Selector((any_name, *rest))})", time_ms, meter)
            for item in found:
                name = item["metric"].get(NAME_LABEL, "")
                count = number_of(item)
                if math.isfinite(count):
                    largest[name] = max(largest.get(name, 0), int(count))
        for name, count in largest.items():
            counts[name] = counts.get(name, 0) + count
    return counts


def interval_of(api: PrometheusApi, start_ms: int, end_ms: int, meter: Meter) -> int:
    """Distance of two scrapes at the end of a range, as ``up`` shows it; 15 s where nothing does."""
    up = Selector((Matcher(NAME_LABEL, EQUAL, "up"),))
    found = api.scrape_interval_ms(up, max(start_ms, end_ms - BLOCK_MS), end_ms, meter)
    return max(found, SECOND_MS) if found else _DEFAULT_INTERVAL_MS
