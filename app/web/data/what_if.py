"""Windows to replay. In: a lake and an address. Out: what was read and fitted, cached for the next move of a slider.

The samples at scrape resolution are read by ``models/throttling/replay``, which knows them. Reading and fitting a day takes seconds, so a
few windows are cached in each worker, by the version of the tables that they were read from.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property

from throttlescope.app.services.whatif.window import read_ground
from throttlescope.app.web.address.what_if import LONGEST_MS, WhatIfAddress
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.replay import Change, Ground, Outlook, ReplayAnswer, flow, newest_ms
from throttlescope.models.throttling.replay.flow import as_it_was, error_share
from throttlescope.models.throttling.replay.replay import drained_below

#: Tables that a replay is made from.
TABLES = ("series", "samples", "limits", "topic_stats", "policies")
DEFAULT_MS = 30 * MINUTE_MS
#: Windows of a worker; one of a day with its replays takes up to some ten megabytes.
MOST_WINDOWS = 6


@dataclass(frozen=True, eq=False)
class LabWindow:
    """A window, read and fitted.

    Attributes
    ----------
    ground : Ground
        What all of its replays are based on.
    start_ms, end_ms : int
        [start, end), as requested.
    newest_ms : int
        Of the subscription's samples in the lake.
    drained_below_entries : int
        What counts as drained in every run, so that they can be compared.
    """

    ground: Ground
    start_ms: int
    end_ms: int
    newest_ms: int
    drained_below_entries: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def replayed(self) -> Outlook:
        """The window as it was, replayed."""
        with self._lock:
            return as_it_was(self.ground)

    @cached_property
    def error_share(self) -> float:
        """How far that is from the recorded backlog on average, over the recorded peak."""
        with self._lock:
            return error_share(self.ground)

    def answer(self, change: Change, when: str, ahead_s: int) -> ReplayAnswer:
        """Replay with a change from the window's ``end`` or ``start`` on.

        Raises
        ------
        InputError
            The change makes no sense here, or would take too long.
        """
        with self._lock:
            return flow(
                self.ground,
                change,
                when,
                horizon_s=ahead_s,
                drained_below_entries=self.drained_below_entries,
            )


class Windows:
    """The most recently used windows of one lake. Safe to share between threads."""

    def __init__(self, lake_path: str, most: int = MOST_WINDOWS) -> None:
        self.lake_path = lake_path
        self._lake = Lake(lake_path)
        self._most = most
        self._lock = threading.Lock()
        self._cached: OrderedDict[tuple, _Cached] = OrderedDict()

    def of(self, address: WhatIfAddress) -> LabWindow:
        """The window of an address.

        Raises
        ------
        InputError
            It has no samples, or is too long or too short to be replayed.
        """
        key = (self.versions(), address.subscription, address.start_ms, address.end_ms)
        with self._lock:
            entry = self._cached.pop(key, None) or _Cached()
            self._cached[key] = entry
            while len(self._cached) > self._most:
                self._cached.popitem(last=False)
        with entry.lock:
            if entry.window is None:
                entry.window = self._read(address)
            return entry.window

    def versions(self) -> tuple:
        """Of the tables that a replay is made from."""
        return tuple(self._lake.version(table) for table in TABLES)

    def _read(self, address: WhatIfAddress) -> LabWindow:
        selector, cluster = str(address.name), address.subscription.cluster
        newest = newest_ms(self._lake, selector, cluster)
        start_ms, end_ms = chosen_range(address, newest)
        ground = read_ground(self._lake, selector, cluster, start_ms, end_ms)
        below = drained_below(ground.observed, Change(), ground.arrivals)
        return LabWindow(ground, start_ms, end_ms, newest, below)


@dataclass
class _Cached:
    lock: threading.Lock = field(default_factory=threading.Lock)
    window: LabWindow | None = None


def chosen_range(address: WhatIfAddress, newest: int) -> tuple[int, int]:
    """The address's range; by default the newest half hour.

    Raises
    ------
    InputError
        It is empty, or longer than can be replayed.
    """
    end_ms = newest + 1 if address.end_ms is None else address.end_ms
    start_ms = end_ms - DEFAULT_MS if address.start_ms is None else address.start_ms
    if not MINUTE_MS <= end_ms - start_ms <= LONGEST_MS:
        raise InputError(
            "This window cannot be replayed", got=f"{format_time(start_ms)} to {format_time(end_ms)}",
            expected="from one minute to seven days",
            fix=f"the newest sample is of {format_time(newest)}: choose from and to before it",
        )  # fmt: skip
    return start_ms, end_ms
