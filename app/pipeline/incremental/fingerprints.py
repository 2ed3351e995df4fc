"""Fingerprints of what goes into an hour, and of what came out. In: a lake. Out: text per UTC hour; equal text, equal input.

Files are named by their content, so their names identify it. Limits, statistics and policies grow with every snapshot: of those
only what was known of the hour counts, row by row.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import xxhash

from throttlescope.app.pipeline.incremental.lake_view import RecomputeView
from throttlescope.app.pipeline.incremental.snapshots import KnownSnapshots
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.ingest.lake import DataFile
from throttlescope.models.diagnosis.history import HISTORY_MS
from throttlescope.models.diagnosis.verdict import RULES_VERSION
from throttlescope.models.forecast.apply import LOOK_BACK_MS
from throttlescope.transforms.deadlines import SCOPES

if TYPE_CHECKING:
    from throttlescope.app.config import Settings

#: Which column decides the hour of a table's files.
TIME_COLUMNS = {"signals": "minute_ms", "verdicts": "window_start_ms", "forecasts": "made_at_ms"}

Hours = Iterable[int]


class Inputs:
    """Fingerprints of one cluster, as the lake is now.

    Parameters
    ----------
    first_ms, last_ms : int
        UTC hours [first, last) that will be requested.
    """

    def __init__(
        self, view: RecomputeView, cluster: str, first_ms: int, last_ms: int, settings: Settings
    ) -> None:
        self.view, self.cluster, self.settings = view, cluster, settings
        self.first_ms, self.last_ms = first_ms, last_ms

    # -- what goes in ----------------------------------------------------------------------

    def signals(self, hours: Hours) -> dict[int, str]:
        """Blocks of the hour and of the one before it, what was known of limits, and where the samples end."""
        newest_ms = self.view.newest_ms(self.cluster)
        return {
            hour_ms: _text(
                "signals", _form("signals"), self._blocks.get(hour_ms - BLOCK_MS, ()), self._blocks.get(hour_ms, ()),
                self._limits.text(hour_ms), self._stats.text(hour_ms),
                # Behind the newest sample there is no minute; what comes later than the hour says nothing of it.
                min(newest_ms, hour_ms + BLOCK_MS),
            )
            for hour_ms in hours
        }  # fmt: skip

    def verdicts(self, hours: Hours) -> dict[int, str]:
        """Signals of the day before, of the hour, and of those that its last window reaches into."""
        files = self._hour_files("signals", HISTORY_MS, self.settings.window)
        rules = (RULES_VERSION, self.settings.window, self.settings.every)
        return {
            hour_ms: _text(
                "verdicts", _form("verdicts"), rules,
                [
                    (at_ms, names) for at_ms, names in files.items()
                    if hour_ms - HISTORY_MS <= at_ms < hour_ms + BLOCK_MS + self.settings.window
                ],
            )
            for hour_ms in hours
        }  # fmt: skip

    def forecasts(self, hours: Hours) -> dict[int, str]:
        """Signals of the day before and of the hour, and the policies with a deadline that were known."""
        files = self._hour_files("signals", LOOK_BACK_MS, 0)
        return {
            hour_ms: _text(
                "forecasts", _form("forecasts"), self.settings.forecast_every, self._deadlines.text(hour_ms),
                [(at_ms, names) for at_ms, names in files.items() if hour_ms - LOOK_BACK_MS <= at_ms <= hour_ms],
            )
            for hour_ms in hours
        }  # fmt: skip

    def results(self, hours: Hours) -> dict[int, str]:
        """Signals and verdicts of the hour, and whose weeks are compared."""
        signals, verdicts = self._hour_files("signals", 0, 0), self._hour_files("verdicts", 0, 0)
        known = self.settings.clusters.get(self.cluster)
        zone = "UTC" if known is None else known.time_zone
        return {
            hour_ms: _text(
                "results", _form("episodes"), _form("anomalies"), zone, signals.get(hour_ms, ()), verdicts.get(hour_ms, ())
            )
            for hour_ms in hours
        }  # fmt: skip

    # -- what came out ---------------------------------------------------------------------

    def outputs(self, table: str, hours: Hours) -> dict[int, str]:
        """Names of the hour's files; empty text where there is none."""
        files = self._hour_files(table, 0, 0)
        return {hour_ms: _text(files[hour_ms]) if hour_ms in files else "" for hour_ms in hours}

    # -- of the lake -----------------------------------------------------------------------

    @cached_property
    def _blocks(self) -> dict[int, list[str]]:
        """Names of the files of ``samples`` that signals are made of, by hour."""
        blocks = self.view.blocks(self.cluster)
        hour_ms = blocks["hour_ms"]
        mine = pc.and_(pc.greater_equal(hour_ms, self.first_ms - BLOCK_MS), pc.less(hour_ms, self.last_ms))
        found: dict[int, list[str]] = {}
        for row in blocks.filter(mine).sort_by("relative_path").to_pylist():
            found.setdefault(row["hour_ms"], []).append(row["relative_path"])
        return found

    def _hour_files(self, table: str, before_ms: int, after_ms: int) -> dict[int, list[str]]:
        time_column = TIME_COLUMNS[table]
        by_hour: dict[int, list[DataFile]] = {}
        for file in self.view.files(table, self.cluster):
            if (
                self.first_ms - before_ms <= file.maximum[time_column]
                and file.minimum[time_column] < self.last_ms + after_ms
            ):
                by_hour.setdefault(block_start(file.minimum[time_column]), []).append(file)
        return {hour_ms: _names(mine) for hour_ms, mine in sorted(by_hour.items())}

    @cached_property
    def _limits(self) -> KnownSnapshots:
        return self._known("limits", SUBSCRIPTION_KEY_NAMES)

    @cached_property
    def _stats(self) -> KnownSnapshots:
        return self._known("topic_stats", SUBSCRIPTION_KEY_NAMES)

    @cached_property
    def _deadlines(self) -> KnownSnapshots:
        return self._known("policies", ("scope", "key"), pc.field("scope").isin(SCOPES))

    def _known(self, table: str, key: tuple[str, ...], where: pc.Expression | None = None) -> KnownSnapshots:
        with self.view.known(table, self.cluster, self.first_ms, self.last_ms, where) as rows:
            return KnownSnapshots.of(rows, key)


def _names(files: Iterable[DataFile]) -> list[str]:
    return sorted(file.relative_path for file in files)


def _form(table: str) -> tuple:
    """What else a row depends on: this release, and the columns that it has."""
    contract = TABLES[table]
    return (
        version("throttlescope"),
        contract.format_version,
        tuple(column.name for column in contract.columns),
    )


def _text(*parts: object) -> str:
    return xxhash.xxh3_128_hexdigest(repr(parts).encode())
