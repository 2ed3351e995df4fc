"""One source, followed. In: cycles, each with a time. Out: tables of the lake up to that time, and what the cycle did.

A cycle takes whole minutes only, at most an hour of them, so that what was missed is caught up hour by hour. Signals and verdicts
are committed with every cycle. Samples, which are many files, are kept in memory and go into the lake four times an hour; what a
kill takes with it is read again. Ten minutes after its end an hour is read once more, whole, and closed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from throttlescope.app.pipeline.follow.limits import LimitsWatch
from throttlescope.app.pipeline.follow.lookback import load_hour
from throttlescope.app.pipeline.follow.signals import HourlySignals
from throttlescope.app.pipeline.follow.stats import StatsWatch
from throttlescope.app.pipeline.follow.storing import store_refused, store_samples
from throttlescope.app.pipeline.follow.tail import Tail
from throttlescope.app.pipeline.follow.verdicts import judge_changed
from throttlescope.app.pipeline.sources.prometheus import ClusterSource
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.admin import PAUSED_MS
from throttlescope.ingest.spark.task_executor import InProcessExecutor
from throttlescope.transforms.sample_window import SampleWindow

#: Scrapes of a minute have come so long after its end.
ARRIVED_MS = 5_000
#: An hour is closed so long after its end.
CLOSED_MS = 10 * MINUTE_MS
STORED_MS = 15 * MINUTE_MS
#: The first cycle waits for limits so long: with a thousand topics a round takes many minutes.
LIMITS_WAIT_S = 60.0
#: What holds everything now, episodes and forecasts take no more than this share of the time, each.
_BESIDE_SHARE = 0.1
#: Stats are sampled for minutes that ended no longer ago, and for topics that had a backlog since then.
_FRESH_MS = 2 * MINUTE_MS
_PERMITS = "pulsar_consumer_available_permits"


@dataclass
class Cycle:
    """What a cycle did.

    Attributes
    ----------
    until_ms : int
        What is older was read.
    newest_sample_ms, newest_verdict_ms : int, optional
        Newest sample of a backlog; end of the newest window that was judged.
    age_s : float, optional
        From the newest verdict to the moment at which the cycle was over.
    behind : bool
        There is more to read: the next cycle begins at once.
    """

    source: str
    until_ms: int
    newest_sample_ms: int | None = None
    newest_verdict_ms: int | None = None
    age_s: float | None = None
    behind: bool = False
    samples: int = 0
    signals: int = 0
    verdicts: int = 0
    episodes: int | None = None
    forecasts: int | None = None
    samples_written: int | None = None
    requests: int = 0
    admin_requests: int = 0
    bytes: int = 0
    took_s: float = 0.0
    parts_s: dict[str, float] = field(default_factory=dict)


class Follower:
    """Follows one source into a lake.

    Parameters
    ----------
    first_ms : int
        Where to begin; the whole UTC hour is taken.
    window_ms, every_ms : int
        Windows of verdicts.
    forecast_every_ms : int
        Distance of two forecasts.
    say : callable
        For what a person should know in addition to the cycles.
    stopping : callable
        Called before anything is begun; true: stop.
    now_ms : callable
        The clock.
    """

    def __init__(
        self,
        lake: Lake,
        source: ClusterSource,
        first_ms: int,
        run_id: str,
        *,
        window_ms: int,
        every_ms: int,
        forecast_every_ms: int,
        say: Callable[[str], None] = lambda text: None,
        stopping: Callable[[], bool] = lambda: False,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        first_ms = block_start(first_ms)
        self.lake, self.source, self.run_id = lake, source, run_id
        self.window_ms, self.every_ms, self.forecast_every_ms = window_ms, every_ms, forecast_every_ms
        self.first_ms = self.read_ms = self.open_ms = first_ms
        self.recent = SampleWindow()
        self.tail = Tail(source.prometheus, source.selectors, self.recent, first_ms, stopping)
        self.limits = self.stats = None
        if source.admin is not None:
            named = source.prometheus.mapping.cluster is not None
            self.limits = LimitsWatch(lake, source.admin, run_id, say, named_by_user=named, now_ms=now_ms)
            self.stats = StatsWatch(lake, source.admin, run_id, say)
        self.signals = HourlySignals(lake, self.recent, run_id, self.stats)
        self.totals = {"cycles": 0, "samples_written": 0, "rows_quarantined": 0, "verdicts": 0}
        self._now_ms, self._stopping = now_ms, stopping
        self._stored_ms = first_ms
        # From when on something was read that is not in signals yet: left over where a cycle broke off.
        self._dirty_ms: int | None = None
        # Hours of which something was read before they were to be closed.
        self._young: set[int] = set()
        self._looked_back = self._limits_looked = False
        self._newest_verdict_ms: int | None = None
        # Newest sample of a backlog of every cluster that was seen; it outlives the samples in memory.
        self._newest_sample_ms: dict[str, int] = {}
        # Verdicts were made that `verdict_latest` does not know of.
        self._latest_due = False
        self._forecast_ms = 0
        # From when on verdicts have changed that a part has not seen.
        self._changed_ms = {"episodes": first_ms, "forecasts": first_ms}
        self._free_s: dict[str, float] = {}

    def cycle(self) -> Cycle | None:
        """Bring the lake up to the last whole minute, or an hour further where it is far behind.

        Returns
        -------
        Cycle or None
            None where no minute has passed since the last one.

        Raises
        ------
        InputError
            The source has no Pulsar metric, or the selectors name none.
        SourceError
            The source is away. Nothing was changed; the next cycle reads what this one did not.
        StoppedError
            A stop was requested, and nothing was begun that had to be committed.
        """
        begun_s = time.monotonic()
        now_ms = self._now_ms()
        newest_ms = (now_ms - ARRIVED_MS) // MINUTE_MS * MINUTE_MS
        until_ms = min(newest_ms, block_start(self.read_ms) + BLOCK_MS)
        if until_ms <= self.read_ms:
            return None
        done = Cycle(self.source.name, until_ms, behind=until_ms < newest_ms)
        requests, size, samples = self.tail.meter.requests, self.tail.meter.bytes, self.tail.samples
        admin_requests = self.limits.requests if self.limits else 0

        self._part(done, "read", lambda: self._read(until_ms, now_ms))
        self._part(done, "signals", self._make_signals)
        done.signals = self.signals.rows
        changed_ms = min(self.signals.changed.values(), default=until_ms)
        self._changed_ms = {part: min(changed_ms, at_ms) for part, at_ms in self._changed_ms.items()}
        done.verdicts = self._part(done, "verdicts", self._judge)
        if not self._stopping() and not done.behind:
            self._follow_up(done, until_ms)
        if until_ms - self._stored_ms >= STORED_MS and not self._stopping():
            done.samples_written = self._part(done, "store", self.store)
        self._close(until_ms, now_ms)

        done.samples = self.tail.samples - samples
        done.requests, done.bytes = self.tail.meter.requests - requests, self.tail.meter.bytes - size
        done.admin_requests = (self.limits.requests if self.limits else 0) - admin_requests
        done.newest_sample_ms = max(self._newest_sample_ms.values(), default=None)
        done.newest_verdict_ms = self._newest_verdict_ms
        if done.newest_verdict_ms is not None:
            done.age_s = (self._now_ms() - done.newest_verdict_ms) / 1000
        done.took_s = time.monotonic() - begun_s
        self.totals["cycles"] += 1
        self.totals["verdicts"] += done.verdicts
        return done

    @property
    def clusters(self) -> list[str]:
        """All that were seen, whether or not samples of them are in memory."""
        return sorted(self._newest_sample_ms)

    def store(self) -> int:
        """Commit the samples in memory of hours that are not closed."""
        written = 0
        if self.stats is not None:
            self.stats.store()
        if self.read_ms > self.open_ms:
            written = store_samples(
                self.lake, self.recent, self.tail, self.open_ms, self.read_ms, self.run_id
            )
        self._stored_ms = self.read_ms
        self.totals["samples_written"] += written
        return written

    def update_latest(self) -> None:
        """Update ``verdict_latest`` where verdicts have changed."""
        from throttlescope.models.diagnosis.latest import build_latest

        if self._latest_due:
            build_latest(self.lake, self.clusters, self.run_id)
            self._latest_due = False

    # -- steps -----------------------------------------------------------------------------

    def _read(self, until_ms: int, now_ms: int) -> None:
        before_ms = self.read_ms
        dirty_ms = self.tail.read(until_ms)
        self._dirty_ms = dirty_ms if self._dirty_ms is None else min(dirty_ms, self._dirty_ms)
        self.read_ms = until_ms
        for hour_ms in range(block_start(before_ms), until_ms, BLOCK_MS):
            if now_ms < hour_ms + BLOCK_MS + CLOSED_MS:
                self._young.add(hour_ms)
        newest_ms = self.recent.newest_ms()
        self._newest_sample_ms |= newest_ms
        clusters = sorted(newest_ms)
        if not self._looked_back:
            # What a rate looks back to from the first hour is what a run finds in the lake.
            load_hour(self.lake, self.recent, clusters, self.first_ms - BLOCK_MS)
            self._looked_back = True
        if self.limits is not None and clusters:
            cluster = self._admin_cluster(clusters)
            topics = self.recent.topics_with_backlog(cluster, until_ms - BLOCK_MS)
            paused = self.recent.topics_with_pauses(cluster, until_ms - PAUSED_MS)
            # The first verdicts wait a while for the limits, later ones take those that are known.
            wait_s = 0.0 if self._limits_looked else LIMITS_WAIT_S
            self.limits.look(
                cluster, topics, publishers=paused, scraped=self.recent.instances(cluster), wait_s=wait_s
            )
            self._limits_looked = True
            # An answer of now says nothing of minutes that are long over.
            is_fresh = now_ms - until_ms <= _FRESH_MS and not self.limits.of_other_cluster
            # Who shares a paused connection is in no metric.
            if is_fresh and (paused or not self.recent.of_metric(_PERMITS)):
                waiting = self.recent.topics_with_backlog(cluster, until_ms - _FRESH_MS)
                self.stats.look(cluster, waiting, publishers=paused)

    def _make_signals(self) -> None:
        """Recompute the open hours that anything was read of."""
        first_ms = block_start(max(self.open_ms, min(self._dirty_ms or self.open_ms, self.read_ms - 1)))
        hours_ms = range(first_ms, self.read_ms, BLOCK_MS)
        self.signals.build(hours_ms)
        self._dirty_ms = None

    def _admin_cluster(self, clusters: list[str]) -> str:
        if self.tail.cluster in clusters:
            return self.tail.cluster
        if len(clusters) == 1:
            return clusters[0]
        raise InputError(
            "The admin API belongs to one cluster, the Prometheus shows several",
            got=", ".join(clusters),
            fix="name the admin API's one with --cluster NAME, or narrow with --match '{cluster=\"NAME\"}'",
        )

    def _judge(self) -> int:
        if not self.signals.changed:
            return 0
        made = judge_changed(
            self.lake,
            self.signals.changed,
            self.read_ms,
            self.run_id,
            window_ms=self.window_ms,
            every_ms=self.every_ms,
        )
        self.signals.changed = {}
        if made:
            self._latest_due = True
            newest_ms = max(self._newest_sample_ms.values())
            end_ms = min(self.read_ms, newest_ms - newest_ms % MINUTE_MS + MINUTE_MS)
            grid_ms = (end_ms - self.window_ms) // self.every_ms * self.every_ms
            self._newest_verdict_ms = grid_ms + self.window_ms
        return made

    def _follow_up(self, done: Cycle, until_ms: int) -> None:
        """What holds everything now, episodes and forecasts, as often as their share of the time allows."""
        from throttlescope.models.episodes.apply import build_episodes
        from throttlescope.models.forecast.apply import build_forecasts

        executor = InProcessExecutor()
        if self._latest_due and self._may("latest"):
            self._part(done, "latest", self.update_latest)
        clusters = self.clusters
        # Hours that were caught up, and cycles in which a part was left out, are made good here.
        start_ms = {
            part: min(block_start(at_ms), until_ms - MINUTE_MS) for part, at_ms in self._changed_ms.items()
        }
        if clusters and self._may("episodes"):
            done.episodes = self._part(
                done,
                "episodes",
                lambda: build_episodes(
                    executor, self.lake, clusters, start_ms["episodes"], until_ms, self.run_id
                ),
            )
            self._changed_ms["episodes"] = until_ms
        # One that is made on the minute up to which was read belongs to the hour that begins there.
        grid_ms = (until_ms - 1) // self.forecast_every_ms * self.forecast_every_ms
        if clusters and grid_ms > self._forecast_ms and self._may("forecasts"):
            done.forecasts = self._part(
                done,
                "forecasts",
                lambda: build_forecasts(
                    executor,
                    self.lake,
                    clusters,
                    start_ms["forecasts"],
                    until_ms,
                    self.run_id,
                    every_ms=self.forecast_every_ms,
                ),
            )
            self._forecast_ms = grid_ms
            self._changed_ms["forecasts"] = until_ms

    def _close(self, until_ms: int, now_ms: int) -> None:
        """Close the hours that ended long enough ago; what came late for them is in them then."""
        while self.open_ms + BLOCK_MS <= until_ms and now_ms >= self.open_ms + BLOCK_MS + CLOSED_MS:
            hour_ms = self.open_ms
            if self._stopping():
                return
            # One that was read when it was long over has come whole at once.
            if hour_ms in self._young:
                refused = self.tail.read_again(hour_ms, hour_ms + BLOCK_MS)
                self.totals["rows_quarantined"] += store_refused(self.lake, refused, self.run_id)
                self._dirty_ms = hour_ms
                self._make_signals()
                self.signals.note_all_of(hour_ms)
                self._judge()
            self.store()
            self._young.discard(hour_ms)
            self.open_ms = hour_ms + BLOCK_MS
            self.signals.forget_before(self.open_ms)
            # The hour before an open one is looked back to.
            self.recent.forget_before(hour_ms)
            self.tail.first_ms = max(self.tail.first_ms, self.open_ms)

    # -- time ------------------------------------------------------------------------------

    def _may(self, part: str) -> bool:
        return time.monotonic() >= self._free_s.get(part, 0.0)

    def _part(self, done: Cycle, name: str, work: Callable[[], Any]) -> Any:
        begun_s = time.monotonic()
        found = work()
        took_s = time.monotonic() - begun_s
        done.parts_s[name] = round(took_s, 3)
        self._free_s[name] = time.monotonic() + took_s * (1 / _BESIDE_SHARE - 1)
        return found
