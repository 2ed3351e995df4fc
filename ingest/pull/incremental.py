"""One read of a Prometheus that knows what was read before. In: a source and a range. Out: samples, watermarks and gaps in the lake.

The order makes a crash harmless: samples first, then the book of gaps, the watermarks last. A run that is killed in between reads
the same hours again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from throttlescope.ingest import gaps
from throttlescope.ingest.contracts.incremental import ALL
from throttlescope.ingest.core.errors import EmptyRangeError, SourceError
from throttlescope.ingest.core.selector import EQUAL, NAME_LABEL, Matcher, Selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.times import BLOCK_MS, block_start, format_time
from throttlescope.ingest.gaps.find import SIGN_OF_LIFE
from throttlescope.ingest.pull import watermarks
from throttlescope.ingest.pull.plan import range_to_read
from throttlescope.ingest.pull.watermarks import SourceKey

if TYPE_CHECKING:
    from throttlescope.ingest.gaps import Gap
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.pull.pull import PullResult
    from throttlescope.ingest.sources.prometheus import PrometheusSource

#: Reads [start, end).
Pull = Callable[[int, int], "PullResult"]


@dataclass
class ReadResult:
    """What a read brought.

    Attributes
    ----------
    pulled : PullResult or None
        None: the source answered and had nothing of the range.
    repaired : list of (clusters, start_ms, end_ms)
        Hours of which samples came that were missing.
    findings : list of dict
        Rows of ``quality`` for gaps that were found.
    """

    pulled: PullResult | None
    clusters: tuple[str, ...]
    repaired: list[tuple[tuple[str, ...], int, int]] = field(default_factory=list)
    closed: int = 0
    findings: list[dict[str, Any]] = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)


@dataclass
class Reader:
    """Reads one source into one lake.

    Parameters
    ----------
    selectors : sequence of Selector
        What is read; none is the default set.
    configured_retention_ms : int, optional
        How long the source keeps samples, where it does not say.
    """

    lake: Lake
    prometheus: PrometheusSource
    selectors: Sequence[Selector]
    run_id: str
    configured_retention_ms: int | None = None
    reset: bool = False
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000

    def key(self, clusters: Iterable[str] = ()) -> SourceKey:
        """The source's name in the books; its cluster is known once it was read."""
        clusters = sorted(set(clusters))
        cluster = self.prometheus.mapping.cluster or (clusters[0] if len(clusters) == 1 else None)
        return SourceKey.of(self.prometheus.samples.address, self.selectors, cluster)

    def read(self, pull: Pull, start_ms: int, end_ms: int) -> ReadResult:
        """Try open gaps again, then read [start, end), and write down how far the source was read and what is missing.

        Raises
        ------
        EmptyRangeError
            The source has nothing of the range, and was never read before: most likely it is not the right one.
        SourceError
            It failed; if it is known, the range is written down as a gap.
        """
        mark = watermarks.watermark(self.lake, self.key())
        known = self.key() if mark is None else self.key([mark.cluster])
        meter = Meter()
        kept_since_ms = self.now_ms() - self.retention_ms(meter)
        done = ReadResult(None, () if mark is None or mark.cluster == ALL else (mark.cluster,), meter=meter)
        start_ms, end_ms = range_to_read(start_ms, end_ms, self.now_ms())
        try:
            if mark is not None:
                self._retry(pull, known, start_ms, end_ms, kept_since_ms, done)
            done.pulled = pull(start_ms, end_ms)
        except EmptyRangeError:
            if mark is None:
                raise
            missing = [gaps.MissingStretch(known.cluster, ALL, start_ms, end_ms)]
            self._settle(known, missing, (), start_ms, end_ms, kept_since_ms, done)
            return done
        except SourceError:
            if mark is not None:
                gaps.record(
                    self.lake, known, start_ms, end_ms, "source_down", now_ms=self.now_ms(), run_id=self.run_id
                )  # fmt: skip
            raise
        pulled = done.pulled
        done.clusters = pulled.clusters
        missing = gaps.find_missing(
            self.lake, pulled.clusters, pulled.metrics, pulled.start_ms, pulled.end_ms
        )
        metrics = {*pulled.metrics, *pulled.missing_metrics}
        self._settle(
            self.key(pulled.clusters), missing, metrics, pulled.start_ms, pulled.end_ms, kept_since_ms, done
        )
        return done

    def retention_ms(self, meter: Meter | None = None) -> int:
        """How long the source keeps samples: as it says, as configured, or as is usual."""
        found = gaps.retention_ms(self.prometheus.api, meter)
        return found or self.configured_retention_ms or gaps.DEFAULT_RETENTION_MS

    def _settle(
        self,
        key: SourceKey,
        missing: list[gaps.MissingStretch],
        metrics: Iterable[str],
        start_ms: int,
        end_ms: int,
        kept_since_ms: int,
        done: ReadResult,
    ) -> None:
        now_ms = self.now_ms()
        about = {"now_ms": now_ms, "run_id": self.run_id, "kept_since_ms": kept_since_ms}
        done.closed += len(gaps.settle(self.lake, key, missing, start_ms, end_ms, **about))
        watermarks.advance(self.lake, key, metrics, start_ms, end_ms, reset=self.reset, **about)
        done.findings += [_finding(cluster, missing) for cluster in sorted({one.cluster for one in missing})]

    def _retry(
        self, pull: Pull, key: SourceKey, start_ms: int, end_ms: int, kept_since_ms: int, done: ReadResult
    ) -> None:
        """Look for samples of open gaps outside the range, oldest first; what is there by now is read, by whole hours."""
        due = [
            gap
            for gap in gaps.due(self.lake, key, self.now_ms(), kept_since_ms)
            if not (start_ms <= gap.start_ms and gap.end_ms <= end_ms)
        ]
        for low_ms, high_ms, some in _by_hours(due):
            about = {"now_ms": self.now_ms(), "run_id": self.run_id, "kept_since_ms": kept_since_ms}
            pulled = None
            if any(self._has_samples(gap, done.meter) for gap in some):
                with contextlib.suppress(EmptyRangeError):
                    pulled = pull(low_ms, high_ms)
            if pulled is None:
                still = [
                    gaps.MissingStretch(gap.cluster, gap.metric_name, gap.start_ms, gap.end_ms)
                    for gap in some
                ]
                gaps.settle(self.lake, key, still, low_ms, high_ms, **about)
                continue
            missing = gaps.find_missing(
                self.lake, pulled.clusters, pulled.metrics, pulled.start_ms, pulled.end_ms
            )
            own = self.key(pulled.clusters)
            closed = gaps.settle(self.lake, own, missing, pulled.start_ms, pulled.end_ms, **about)
            done.closed += len(closed)
            done.repaired.append((pulled.clusters, pulled.start_ms, pulled.end_ms))
            done.meter.requests += pulled.requests
            done.meter.bytes += pulled.bytes

    def _has_samples(self, gap: Gap, meter: Meter) -> bool:
        """One query: whether the source has any sample of a gap by now."""
        name = SIGN_OF_LIFE if gap.metric_name == ALL else gap.metric_name
        selectors = [
            Selector((Matcher(NAME_LABEL, EQUAL, name), *(m for m in one.matchers if m.name != NAME_LABEL)))
            for one in (self.selectors or (Selector(()),))
        ]
        # Its window is open on the left, as the gap is.
        window_ms = gap.end_ms - gap.start_ms
        return any(
            self.prometheus.api.query(f"count(count_over_time({one}[{window_ms}ms]))", gap.end_ms - 1, meter)
            for one in selectors
        )


def _by_hours(found: Iterable[Gap]) -> list[tuple[int, int, list[Gap]]]:
    """Gaps whose hours touch, and the whole hours around them."""
    groups: list[tuple[int, int, list[Gap]]] = []
    for gap in sorted(found, key=lambda gap: gap.start_ms):
        low_ms, high_ms = block_start(gap.start_ms), gap.end_ms + -gap.end_ms % BLOCK_MS
        if groups and low_ms <= groups[-1][1]:
            before = groups[-1]
            groups[-1] = before[0], max(before[1], high_ms), [*before[2], gap]
        else:
            groups.append((low_ms, high_ms, [gap]))
    return groups


def _finding(cluster: str, missing: Sequence[gaps.MissingStretch]) -> dict[str, Any]:
    """The row of ``quality`` for what a source did not have."""
    mine = [one for one in missing if one.cluster == cluster]
    first = mine[0]
    what = "all metrics" if first.metric_name == ALL else first.metric_name
    return {
        "cluster": None if cluster == ALL else cluster,
        "gate": "door",
        "check": "source_has_no_gap",
        "table": "samples",
        "severity": "warning",
        "success": False,
        "observed": f"{len(mine)} stretch{'' if len(mine) == 1 else 'es'} without samples, such as {what} from "
        f"{format_time(first.start_ms)} to {format_time(first.end_ms)}",
        "expected": "samples at every scrape; gaps are tried again as long as the source keeps their time",
        "rows": len(mine),
        "example": None,
    }
